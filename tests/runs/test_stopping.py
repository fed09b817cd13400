"""Ctrl-C returns what has been drawn; another error in the progress ends the run."""

import signal
import threading
import time
import warnings

import numpy as np
import pytest
from tests.runs.models import run, schools

import kinetograph as kg
import kinetograph.runs.run as runs
from kinetograph.results import diagnostics
from kinetograph.runs.progress.display import SilentProgress
from kinetograph.runs.stash import stashed

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


class Finalised:
    """Receives Ctrl-C while it is finalised: Python drops the exception."""

    def __del__(self):
        signal.raise_signal(signal.SIGINT)


class LosingPoints(dict):
    """Starting points; Ctrl-C is lost while they are read."""

    def items(self):
        Finalised()
        return super().items()

    def __getitem__(self, key):
        Finalised()
        return super().__getitem__(key)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_ctrl_c_that_is_lost_before_the_run_stops_it():
    with pytest.raises(KeyboardInterrupt):
        run(schools(), initial=LosingPoints(mu=0.0), draws=50, chains=1)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


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


class OwnWalk(kg.samplers.RandomWalk):
    """A sampler that results do not restore."""


def first_of_q(step):
    """An observable that results do not restore."""
    return step.q[0]


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ({"sampler": OwnWalk()}, ", sampler=..."),
        ({"sampler": [kg.samplers.RandomWalk(scale=s) for s in (1, 2)]}, ", sampler=..."),
        (
            {"sampler": OwnWalk(), "observables": [first_of_q], "averages": [first_of_q]},
            ", sampler=..., observables=..., averages=...",
        ),
        ({"observables": [kg.observables.gradient_norm, first_of_q]}, ", observables=..."),
        ({"observables": [kg.observables.gradient_norm]}, ""),
        ({"averages": [kg.observables.gradient_norm]}, ""),
    ],
)
def test_the_way_to_continue_names_all_arguments_that_it_needs(options, arguments):
    options = {"sampler": kg.samplers.RandomWalk(), "chains": 2, **options}
    with pytest.warns(kg.SamplingWarning) as caught:
        run(schools(), draws=ENDLESS, progress=Raising(KeyboardInterrupt()), **options)
    call = f"kg.extra_samples(results, model{arguments}) continues the run"
    assert any(call in str(warning.message) for warning in caught)


class StoppingAtStart(SilentProgress):
    """Sends Ctrl-C when sampling begins, before any chain does."""

    def start(self, chains, lengths, at_once):
        signal.raise_signal(signal.SIGINT)


def test_ctrl_c_between_compiling_and_the_first_draw_stops_the_run():
    before = workers()
    with pytest.raises(KeyboardInterrupt):
        run(schools(), draws=10, warmup=2_000_000, progress=StoppingAtStart())
    deadline = time.monotonic() + 20
    while workers() > before + 1 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert workers() <= before + 1


def test_an_error_in_the_progress_ends_the_run_and_its_threads():
    before = workers()
    progress = Raising(RuntimeError("the terminal is gone"))
    begun = time.perf_counter()
    with pytest.raises(RuntimeError, match="the terminal is gone"):
        run(schools(), draws=200_000, chains=4, progress=progress)
    assert time.perf_counter() - begun < 30
    assert workers() <= before + 1
    assert progress.finished


@pytest.fixture(autouse=True)
def usual_signals():
    """Signals as in a script, also where the tests run in the background."""
    usual = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    yield
    for number, handler in usual.items():
        signal.signal(number, handler)


class Signalling(SilentProgress):
    """Raises a signal some times at a moment of a run: "warm-up", "sampling" or "finish"."""

    def __init__(self, number, moment, times=1):
        self.number, self.moment, self.times = number, moment, times

    def signal(self):
        times, self.times = self.times, 0
        for _ in range(times):
            signal.raise_signal(self.number)

    def start(self, chains, lengths, at_once):
        self.chains = chains

    def update(self):
        least = min(chain.kept for chain in self.chains)
        if (self.moment == "warm-up" and not least) or (self.moment == "sampling" and least > 200):
            self.signal()

    def finish(self):
        if self.moment == "finish":
            self.signal()


def signalled(monkeypatch, number, moment, times=1, **options):
    """A run at a moment of which a signal comes."""
    progress = Signalling(number, moment, times)

    def before(function):
        def called(*arguments, **keywords):
            progress.signal()
            return function(*arguments, **keywords)

        return called

    places = {
        "compiling": (runs, "build"),
        "results": (runs, "as_tree"),
        "advice": (diagnostics, "rhat_and_ess_bulk"),
    }
    if moment in places:
        module, name = places[moment]
        monkeypatch.setattr(module, name, before(getattr(module, name)))
    options = {"draws": ENDLESS if moment == "sampling" else 120} | options
    if moment == "warm-up":
        options["warmup"] = 2_000_000
    return run(schools(), progress=progress, **options)


DRAWN = ["sampling", "finish", "results", "advice"]  # moments at which there are draws


@pytest.mark.parametrize("moment", DRAWN)
def test_ctrl_c_returns_the_draws_at_every_moment(monkeypatch, moment):
    tree = signalled(monkeypatch, signal.SIGINT, moment)
    draws = tree["posterior"].sizes["draw"]
    assert draws > 200 if moment == "sampling" else draws == 120
    assert (tree.attrs["interrupted"], tree.attrs["stopped_by"]) == (1, "Ctrl-C")
    assert kg.stashed_samples() is tree
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("moment", ["compiling", "warm-up", *DRAWN])
def test_sigterm_ends_the_process_at_every_moment(monkeypatch, moment):
    """By an exception; the draws are in the stash."""
    before = stashed()
    with (
        pytest.raises(SystemExit) as ended,
        pytest.warns(kg.SamplingWarning, match="mcmc: stopped by SIGTERM"),
    ):
        signalled(monkeypatch, signal.SIGTERM, moment)
    assert ended.value.code == 143
    if moment == "compiling":
        assert stashed() is before
        return
    tree = stashed()
    assert tree is not before
    draws = tree["posterior"].sizes["draw"]
    assert {"warm-up": draws == 0, "sampling": draws > 200}.get(moment, draws == 120)
    assert tree.attrs["stopped_by"] == "SIGTERM"


@pytest.mark.parametrize("moment", DRAWN)
def test_a_run_returns_at_sigterm_where_it_is_asked_to(monkeypatch, moment):
    tree = signalled(monkeypatch, signal.SIGTERM, moment, on_sigterm="return")
    assert tree["posterior"].sizes["draw"] >= 120
    assert tree.attrs["stopped_by"] == "SIGTERM"


def test_sigterm_between_runs_ends_the_process():
    run(schools(), draws=20)
    with pytest.raises(SystemExit) as ended:
        signal.raise_signal(signal.SIGTERM)
    assert ended.value.code == 143


def test_a_handler_of_the_users_stays():
    heard = []
    signal.signal(signal.SIGTERM, lambda *_: heard.append(1))
    run(schools(), draws=120, progress=Signalling(signal.SIGTERM, "finish"))
    assert heard == [1]


@pytest.mark.parametrize("wanted", ["ignore", None])
def test_what_sigterm_may_do(wanted):
    with pytest.raises((TypeError, ValueError), match="mcmc: on_sigterm"):
        run(schools(), on_sigterm=wanted)


def test_who_asks_again_and_again_is_heard(monkeypatch):
    """While results are being made; once or twice more loses nothing."""
    tree = signalled(monkeypatch, signal.SIGINT, "results", 3)
    assert tree["posterior"].sizes["draw"] == 120
    with pytest.raises(KeyboardInterrupt):
        signalled(monkeypatch, signal.SIGINT, "results", 5)


def test_a_warning_that_is_an_error_loses_no_draws():
    few = {"draws": 20, "warmup": 30, "chains": 2, "seed": 5, "progress": False}
    with warnings.catch_warnings():
        warnings.simplefilter("error", kg.SamplingWarning)
        with pytest.raises(kg.SamplingWarning) as caught:
            kg.mcmc(schools(), **few)
        assert caught.value.__notes__[0].startswith("kept: 20 draws of each chain, in kg.stashed")
        tree = kg.stashed_samples()
        assert tree["posterior"].sizes["draw"] == 20
        with pytest.raises(kg.SamplingWarning):
            kg.extra_samples(tree, schools(), 5, progress=False)
        assert kg.stashed_samples()["posterior"].sizes["draw"] == 25


@pytest.mark.parametrize("where", ["advice", "finish"])
def test_an_error_after_the_last_draw_loses_no_draws(monkeypatch, where):
    def wrong(*arguments):
        raise ZeroDivisionError("wrong")

    progress = SilentProgress()
    monkeypatch.setattr(*((runs, "findings") if where == "advice" else (progress, "finish")), wrong)
    with pytest.raises(ZeroDivisionError) as caught:
        run(schools(), draws=120, progress=progress)
    assert caught.value.__notes__[0].startswith("kept: 120 draws of each chain")
    assert kg.stashed_samples()["posterior"].sizes["draw"] == 120


def test_a_run_that_ended_well_is_not_in_the_stash():
    before = stashed()
    tree = run(schools(), draws=120)
    assert stashed() is before
    assert tree.attrs["interrupted"] == 0


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
