"""What a run says while it runs."""

import io
import sys

import numpy as np
import pytest
from tests.runs.models import gaussian, run, schools

import kinetograph as kg
from kinetograph.runs.chain import Chain, Lengths
from kinetograph.runs.progress import PlainProgress, TerminalProgress, make_progress
from kinetograph.runs.warming import Tuner

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")


def half_way(transition=750, seconds=2.0, divergences=3, kept=250, length=500):
    """A chain, as progress sees it."""
    chain = Chain(np.zeros(4, np.uint32), tuner=Tuner(length, True))
    chain.transition, chain.seconds, chain.divergences = transition, seconds, divergences
    chain.sink.count, chain.step_size, chain.gradients = kept, 0.4321, 5000
    return chain


LENGTHS = Lengths(500, 1000, 1)


def test_silence(capfd):
    run(gaussian(), progress=False)
    assert capfd.readouterr() == ("", "")


def test_plain_lines_where_there_is_no_terminal(capfd):
    run(gaussian(), progress=True)
    out, err = capfd.readouterr()
    assert out == ""
    assert "compil" in err
    assert "120 draws of 2 chains" in err
    assert "\x1b" not in err


def test_plain_lines_say_where_the_slowest_chain_is():
    stream = io.StringIO()
    progress = PlainProgress(stream)
    progress.start([half_way(), half_way(transition=300, kept=0, divergences=0)], LENGTHS)
    progress.update()
    assert stream.getvalue() == ""  # not so soon
    progress.last -= 10
    progress.update()
    line = stream.getvalue()
    assert "35 %  slowest chain 300 of 1500 (warm-up), 3 divergences, 150/s, 00:08 left" in line


def test_of_a_warm_up_whose_end_is_not_known_the_longest_is_told():
    stream = io.StringIO()
    progress = PlainProgress(stream)
    progress.start([half_way(transition=100, length=None)], Lengths(None, 1000, 1))
    progress.last -= 10
    progress.update()
    assert "3 %  slowest chain 100 of 3000 (warm-up)" in stream.getvalue()


def test_a_table_in_a_terminal():
    from rich.console import Console

    progress = TerminalProgress()
    stream = io.StringIO()
    progress.console = Console(file=stream, force_terminal=True, width=100)
    progress.start([half_way(), half_way(transition=1500, kept=1000, divergences=0)], LENGTHS)
    progress.last -= 1
    progress.update()
    progress.finish()
    text = stream.getvalue()
    for part in ("750/1500", "sampling", "1500/1500", "done", "0.432", "375/s", "00:02"):
        assert part in text


def test_the_terminal_gets_the_table(monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert isinstance(make_progress(True), TerminalProgress)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False, raising=False)
    assert isinstance(make_progress(True), PlainProgress)


def test_a_progress_of_ones_own_is_told_everything():
    class Own:
        def __init__(self):
            self.seen = []

        def say(self, text):
            self.seen.append("say")

        def start(self, chains, lengths):
            self.seen.append(("start", len(chains), lengths.draws))

        def update(self):
            self.seen.append("update")

        def finish(self):
            self.seen.append("finish")

    own = Own()
    run(schools(), progress=own)
    assert ("start", 2, 60) in own.seen
    assert own.seen[-1] == "finish"
    assert "update" in own.seen


def test_divergences_are_counted_after_warm_up_only():
    from tests.runs.models import centred_schools

    tree = run(centred_schools(), draws=300)
    counted = tree["sampler_state"]["divergences"].values
    assert counted.tolist() == tree["sample_stats"]["diverging"].sum("draw").values.tolist()
    assert kg.diagnose(tree)
