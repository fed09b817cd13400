"""What a run says to Python's logging."""

import logging
import re
import sys
import warnings

import pytest
from tests.runs.models import gaussian, run
from tests.runs.progress.test_display import LENGTHS, chain_at, gone_on
from tests.runs.test_stopping import Raising

import kinetograph as kg
from kinetograph.runs.progress.display import SilentProgress
from kinetograph.runs.progress.reporting import LoggedProgress

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")


def test_a_run_is_logged(caplog):
    caplog.set_level(logging.INFO, "kinetograph")
    tree = run(gaussian(), progress=False, warmup=None, chains=2)
    assert {record.name for record in caplog.records} == {"kinetograph.runs"}
    assert {record.levelno for record in caplog.records} == {logging.INFO}
    first, traced, begins, *ended, last = caplog.messages
    assert first == "mcmc: compiling ..."
    assert re.match(r"mcmc: 1 free numbers; traced in .* s, (loaded|compiled) in .* s$", traced)
    assert begins.startswith("mcmc: sampling begins: 2 chains, ")
    assert begins.endswith(" at once, 60 draws each")
    warmup = tree.attrs["warmup"]
    lengths = [warmup] * 2 if isinstance(warmup, int) else warmup
    steps = tree["sample_stats/step_size"].values[:, -1]
    assert sorted(ended) == [
        f"mcmc: chain {i}: warm-up ended after {n} transitions, step size {step:.3g}"
        for i, (n, step) in enumerate(zip(lengths, steps, strict=True))
    ]
    assert re.match(r"mcmc: 120 draws of 2 chains in .* s, 0 divergences$", last)


def test_warm_ups_are_told_as_they_end(caplog):
    caplog.set_level(logging.INFO, "kinetograph")
    chains = [chain_at(i) for i in range(3)]
    told = LoggedProgress(SilentProgress(), "mcmc")
    told.start(chains, LENGTHS, 3)
    for number, expected in ((1, [1]), (2, [1, 2]), (0, [1, 2, 0])):
        gone_on(chains[number], transition=510)
        told.update()
        found = [text for text in caplog.messages if "warm-up ended" in text]
        assert found == [
            f"mcmc: chain {i}: warm-up ended after 500 transitions, step size 0.432"
            for i in expected
        ]


class Gone(SilentProgress):
    """What it shows can no longer be written, from some call on."""

    may_be_lost = True

    def __init__(self, error, call):
        self.error, self.call, self.finished = error, call, 0

    def say(self, text):
        self._write("say")

    def start(self, chains, lengths, at_once):
        self._write("start")

    def update(self):
        self._write("update")

    def finish(self):
        self.finished += 1
        self._write("finish")

    def _write(self, call):
        if call == self.call:
            raise self.error


@pytest.mark.parametrize("call", ["say", "start", "update", "finish"])
def test_a_progress_that_nobody_can_see_ends_no_run(call, caplog):
    caplog.set_level(logging.INFO, "kinetograph.runs")
    progress = Gone(OSError(28, "No space left on device"), call)
    tree = run(gaussian(), progress=progress)
    assert tree["posterior"].sizes["draw"] == 60
    assert progress.finished == 1 + (call == "finish")
    [said] = [text for text in caplog.messages if "no longer" in text]
    assert said == "mcmc: progress can no longer be shown: [Errno 28] No space left on device"


def test_a_progress_of_somebody_else_ends_it():
    progress = Gone(ValueError("wrong"), "update")
    progress.may_be_lost = False
    with pytest.raises(ValueError, match="wrong"):
        run(gaussian(), progress=progress)


def test_a_standard_error_that_is_lost_ends_no_run(monkeypatch, tmp_path):
    """Closed before the run, within it, or never there."""
    streams = [None, open(tmp_path / "log", "w"), open(tmp_path / "other", "w")]
    streams[1].close()
    for stream in streams:
        monkeypatch.setattr(sys, "stderr", stream)
        close = None if stream is None else lambda _, stream=stream: stream.close()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = run(gaussian(), progress=True, callback=close)
        assert tree["posterior"].sizes["draw"] == 60


def test_nothing_is_shown_unless_asked_for(capfd):
    run(gaussian(), progress=False)
    assert capfd.readouterr() == ("", "")


def test_who_stopped_a_run_is_logged_and_still_a_warning(caplog):
    caplog.set_level(logging.INFO, "kinetograph.runs")
    with pytest.warns(kg.SamplingWarning, match="stopped by Ctrl-C after"):
        run(gaussian(), draws=10**6, progress=Raising(KeyboardInterrupt(), 50))
    assert re.match(r"mcmc: stopped by Ctrl-C after \d+ draws of each chain", caplog.messages[-1])


def test_errors_are_logged_with_what_is_kept(caplog):
    caplog.set_level(logging.INFO, "kinetograph.runs")
    with pytest.raises(OSError, match="no room"):
        run(gaussian(), draws=10**6, progress=Raising(OSError("no room"), 50))
    assert re.match(r"mcmc: ended by OSError: no room; kept: \d+ draws", caplog.messages[-1])
