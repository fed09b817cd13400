"""Ctrl-C returns what has been drawn; another error in the progress ends the run."""

import signal
import threading
import time

import numpy as np
import pytest
from tests.runs.models import run, schools

import kinetograph as kg
from kinetograph.runs.progress import SilentProgress

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")
ENDLESS = 1_000_000


class Raising(SilentProgress):
    """Raises once every chain has so many draws."""

    def __init__(self, error: BaseException, draws: int = 300):
        self.error, self.draws, self.finished = error, draws, False

    def start(self, chains, lengths, at_once):
        self.chains = chains

    def update(self):
        if min(chain.kept for chain in self.chains) >= self.draws:
            raise self.error

    def finish(self):
        self.finished = True


def interrupted(**options):
    progress = Raising(KeyboardInterrupt())
    return run(schools(), progress=progress, **({"draws": 200_000} | options)), progress


def workers() -> int:
    return threading.active_count()


def test_an_interrupted_run_returns_its_draws():
    before = workers()
    tree, progress = interrupted(chains=3)
    draws = tree["posterior"].sizes["draw"]
    assert 300 <= draws < 200_000
    assert tree["posterior"]["theta"].shape == (3, draws, 8)
    assert tree["sample_stats"]["lp"].shape == (3, draws)
    assert tree.attrs["interrupted"] == 1
    assert progress.finished
    assert workers() <= before + 1
    full = run(schools(), draws=draws, chains=3)
    assert np.array_equal(tree["posterior"]["tau"], full["posterior"]["tau"])
    assert len(kg.summary(tree)) == 10


@pytest.mark.parametrize("threads", [1, 2])
def test_chains_that_outnumber_threads_take_turns(threads):
    """So that an interruption finds draws of all of them, about equally many."""
    progress = Raising(KeyboardInterrupt())
    tree = run(schools(), draws=ENDLESS, chains=5, threads=threads, progress=progress)
    kept = [chain.kept for chain in progress.chains]
    assert tree["posterior"].sizes["draw"] == min(kept) >= 300
    made = run(schools(), draws=min(kept), chains=5)
    assert np.array_equal(tree["posterior"]["tau"], made["posterior"]["tau"])


def test_an_interruption_keeps_averages_of_chains_that_outnumber_threads():
    x = kg.normal(0, 1, name="x")
    progress = Raising(KeyboardInterrupt())
    options = {"threads": 1, "progress": progress, "averages": [x], "keep": False}
    tree = run(kg.model(x), draws=ENDLESS, chains=4, **options)
    assert (tree["averages/count"] >= 300).all()


def test_an_interruption_before_the_first_draw_is_raised():
    with pytest.raises(KeyboardInterrupt):
        run(schools(), draws=10, warmup=2_000_000, progress=Raising(KeyboardInterrupt(), draws=0))


def test_an_error_in_the_progress_ends_the_run_and_its_threads():
    before = workers()
    progress = Raising(RuntimeError("the terminal is gone"))
    begun = time.perf_counter()
    with pytest.raises(RuntimeError, match="the terminal is gone"):
        run(schools(), draws=200_000, chains=4, progress=progress)
    assert time.perf_counter() - begun < 30
    assert workers() <= before + 1
    assert progress.finished


class Impatient(Raising):
    """Presses Ctrl-C, and again while the results are being made."""

    def __init__(self, times: int):
        super().__init__(KeyboardInterrupt())
        self.times = times

    def finish(self):
        for _ in range(self.times):
            signal.raise_signal(signal.SIGINT)


def test_ctrl_c_once_more_loses_nothing():
    """But who asks again and again is heard."""
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        tree = run(schools(), draws=ENDLESS, progress=Impatient(2))
        assert tree["posterior"].sizes["draw"] >= 300
        with pytest.raises(KeyboardInterrupt):
            run(schools(), draws=ENDLESS, progress=Impatient(5))
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, usual)


@pytest.mark.slow
def test_ctrl_c_is_answered_while_a_gradient_takes_a_second():
    """XLA cannot be interrupted: what it computes then is not waited for."""
    rng = np.random.default_rng(0)
    x = kg.normal(0, 1, shape=20, name="x")
    matrix = kg.data(rng.normal(size=(1500, 1500)) / 40, name="matrix")
    product = matrix * kg.exp(0.01 * x[0])
    for _ in range(6):
        product = kg.tanh(product @ matrix)
    kg.observe(kg.data(1.0), kg.normal(1e-3 * product.sum() + x.sum(), 1))
    model = kg.model(x)
    asked = []

    class Asking(SilentProgress):
        def start(self, chains, lengths, at_once):
            self.begun = time.perf_counter()

        def update(self):
            if not asked and time.perf_counter() - self.begun > 1.0:  # within the first block
                asked.append(time.perf_counter())
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt, match="stopped by Ctrl-C before"):
        run(model, draws=None, chains=2, progress=Asking())
    assert time.perf_counter() - asked[0] < 2.0
