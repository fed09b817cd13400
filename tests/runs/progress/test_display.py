"""What a run says while it runs."""

import io
import sys

import numpy as np
import pytest
from tests.runs.models import gaussian, run, schools

import kinetograph as kg
from kinetograph.adaptation.host_warmup import Tuner
from kinetograph.runs.chain import Lengths, RunningChain
from kinetograph.runs.progress.display import (
    PlainProgress,
    further_text,
    row_of_all,
    rows_of_chains,
)
from kinetograph.runs.progress.forecast import Forecast
from kinetograph.runs.progress.reporting import make_progress
from kinetograph.runs.progress.terminal import TerminalProgress

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")


def chain_at(number=0, length=500):
    """A chain, as progress sees it."""
    return RunningChain(np.zeros(4, np.uint32), number=number, tuner=Tuner(length, True))


def gone_on(chain, transition=750, seconds=2.0, divergences=3, kept=250):
    """What has become of it."""
    chain.transition, chain.seconds, chain.divergences = transition, seconds, divergences
    chain.sink.count, chain.step_size, chain.gradients = kept, 0.4321, 5000


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


def plain(chains, lengths=LENGTHS, **gone):
    """A line in a log, of chains of which the last has fallen behind."""
    stream = io.StringIO()
    progress = PlainProgress(stream)
    progress.start(chains, lengths, len(chains))
    for chain in chains[:-1]:
        gone_on(chain)
    gone_on(chains[-1], **gone)
    progress.update()
    assert stream.getvalue() == ""  # not so soon
    progress.last -= 10
    progress.forecast.begun -= 10
    progress.update()
    return stream.getvalue()


def test_plain_lines_say_where_the_slowest_chain_is():
    line = plain([chain_at(), chain_at(1)], transition=300, kept=0, divergences=0)
    for part in (" 35 %  slowest chain 300 of 1,500 (warm-up), 3 divergences, 105/s", "00:08 left"):
        assert part in line


def test_of_a_warm_up_that_ends_by_itself_a_guess_is_told():
    line = plain([chain_at(length=None)], Lengths(None, 1000, 1), transition=100, kept=0)
    assert "slowest chain 100 of about 1,296 (warm-up)" in line


def test_of_a_run_without_an_end_nothing_is_guessed():
    line = plain([chain_at()], Lengths(500, None, 1))
    assert line.startswith(
        "slowest chain 750 (sampling), 3 divergences, 75/s in all, until the run"
    )


def test_a_run_that_goes_on_has_the_speed_of_this_session():
    chain = chain_at()
    gone_on(chain, 10_000, 0.0)
    progress = PlainProgress(io.StringIO())
    progress.start([chain], Lengths(500, 2000, 1, before=9500), 1)
    gone_on(chain, 11_000, 10.0)
    progress.update()
    (row,) = rows_of_chains(progress.forecast)
    assert (row.speed, row.left, row.transitions) == ("100/s", "00:10", "11,000/12,000")
    assert row_of_all(progress.forecast).transitions == "50 %"


def test_a_table_in_a_terminal():
    from rich.console import Console

    progress = TerminalProgress()
    stream = io.StringIO()
    progress.console = Console(file=stream, force_terminal=True, width=120)
    chains = [chain_at(0), chain_at(7)]
    progress.start(chains, LENGTHS, 2)
    gone_on(chains[0])
    gone_on(chains[1], 1500, kept=1000, divergences=0)
    progress.last -= 1
    progress.update()
    progress.finish()
    text = stream.getvalue()
    for part in ("750/1,500", "sampling", "1,500/1,500", "done", "0.432", "375/s", "00:02", " 7 "):
        assert part in text
    last = text[text.rindex("all") :]
    assert "75 %" in last
    assert "3" in last
    assert "00:02" in last
    assert "1,250 draws of 2 chains" in last


def test_several_fits_have_one_row():
    chains = [chain_at(number) for _ in range(3) for number in range(2)]
    line = plain(chains)
    assert "0 of 3 fits done" in line
    assert "slowest chain" not in line
    progress = TerminalProgress()
    progress.forecast = Forecast(chains, LENGTHS, 6)
    for chain in chains[:3]:
        gone_on(chain, transition=1500, kept=1000)
    assert rows_of_chains(progress.forecast) == []
    assert further_text(progress.forecast) == ""
    assert row_of_all(progress.forecast).phase == "1 of 3 fits done"


def test_a_table_has_room_for_some_chains():
    from rich.console import Console

    progress = TerminalProgress()
    stream = io.StringIO()
    progress.console = Console(file=stream, force_terminal=True, width=120)
    progress.start([chain_at(i) for i in range(1000)], LENGTHS, 1000)
    progress.finish()
    assert "984 further chains" in stream.getvalue()
    assert stream.getvalue().count("0/1,500") <= 2 * 16


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

        def start(self, chains, lengths, at_once):
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
