"""Runs that look at their draws while they are made: `until=`, `callback=`, and the stash."""

import numpy as np
import pytest
from tests.runs.models import gaussian, run, same_draws, schools

import kinetograph as kg
from kinetograph.programs import pace
from kinetograph.results import diagnostics
from kinetograph.runs.until import Until

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")


def sizes(tree):
    for values in tree["posterior"].dataset.data_vars.values():
        draws = values.values
        yield diagnostics.ess_bulk(draws).min(), diagnostics.ess_tail(draws).min()
        yield -diagnostics.rhat(draws).max(), -diagnostics.rhat(draws).max()


def reached(tree, ess, r_hat):
    return all(min(pair) >= (ess if pair[0] > 0 else -r_hat) for pair in sizes(tree))


def test_it_ends_at_the_first_look_at_which_there_is_enough(monkeypatch):
    looks = [100]
    while looks[-1] < 5000:
        looks.append(Until(1, 2).looks(looks[-1]))
    assert looks[:8] == [100, 150, 200, 250, 300, 400, 500, 600]
    options = {"chains": 4, "warmup": 300}
    tree = run(schools(), draws=5000, until=kg.until(ess=800), **options)
    count = tree["posterior"].sizes["draw"]
    assert count in looks
    whole = run(schools(), draws=5000, **options)
    assert same_draws(tree, whole.isel(draw=slice(count), missing_dims="ignore"))
    for look in looks[: looks.index(count) + 1]:
        enough = reached(whole.isel(draw=slice(look), missing_dims="ignore"), 800, 1.01)
        assert enough == (look == count)
    monkeypatch.setattr(pace, "MOST_GRADIENTS", 200)  # in other blocks, without an end: the same
    again = run(schools(), draws=None, until=kg.until(ess=800), threads=1, **options)
    assert same_draws(again, tree)
    assert again.attrs["interrupted"] == 0
    rest = kg.extra_samples(again, schools(), 5000 - count, progress=False)
    assert same_draws(rest, whole)


@pytest.mark.parametrize("r_hat", [1.003, 2.0])
def test_ensembles_end_by_the_numbers_of_their_summary(r_hat):
    """Each walker is a chain of the effective sample sizes; R-hat compares the ensembles."""
    options = {"sampler": kg.samplers.Stretch(walkers=8), "chains": 3, "warmup": 100}
    tree = run(gaussian(), draws=4000, until=kg.until(ess=1000, r_hat=r_hat), **options)
    count = tree["posterior"].sizes["draw"]
    assert 100 < count < 4000
    looks = [100]
    while looks[-1] < count:
        looks.append(Until(1, 2).looks(looks[-1]))
    for look in looks:
        table = kg.summary(tree.isel(draw=slice(look), missing_dims="ignore"))
        sizes = min(table["ess_bulk"].min(), table["ess_tail"].min())
        assert (sizes >= 1000 and table["r_hat"].max() <= r_hat) == (look == count)


def test_without_luck_it_draws_all():
    tree = run(schools(), draws=150, until=kg.until(ess=500))
    assert tree["posterior"].sizes["draw"] == 150


def test_what_never_moves_tells_nothing():
    x = kg.normal(0, 1, name="x")
    tree = run(kg.model(x, constant=0 * x + 1), draws=2000, until=kg.until(ess=100))
    assert tree["posterior"].sizes["draw"] < 2000


def test_what_cannot_be_reached_is_refused(monkeypatch):
    monkeypatch.setattr("kinetograph.runs.run.build", lambda *a: pytest.fail("compiled"))
    none = {"until": kg.until(), "keep": False, "averages": [kg.observables.virial]}
    for error, said, options in [
        (ValueError, "cannot be reached by 2 chains of 1000 draws", {"until": kg.until(ess=1e6)}),
        (ValueError, "examines 100 draws .*, got draws=99", {"until": kg.until(), "draws": 99}),
        (ValueError, "until= examines draws, but keep=False keeps none", none),
        (TypeError, r"until must be made by kg.until, got 400 .*kg.until\(ess=400", {"until": 400}),
    ]:
        with pytest.raises(error, match=said):
            run(gaussian(), **{"draws": 1000, **options})
    for error, said, options in [
        (ValueError, "r_hat must be .* above 1, because chains that agree", {"r_hat": 1.0}),
        (ValueError, "ess must be a finite number above 0, got nan", {"ess": np.nan}),
        (TypeError, "ess must be a number, got '400'", {"ess": "400"}),
    ]:
        with pytest.raises(error, match=said):
            kg.until(**options)


def test_a_callback_sees_draws_and_may_stop(monkeypatch):
    monkeypatch.setattr(pace, "MOST_GRADIENTS", 100)
    seen = []

    def look(so_far):
        seen.append((so_far, so_far.results()))
        return so_far.draws >= 200

    tree = run(schools(), draws=None, callback=look)
    counts = [so_far.draws for so_far, _ in seen]
    assert counts == sorted(set(counts))
    assert all(min(so_far.by_chain) == so_far.draws for so_far, _ in seen)
    assert counts[-1] >= 200 > max([0, *counts[:-1]])
    for so_far, results in seen:
        assert same_draws(results, run(schools(), draws=so_far.draws))
    assert tree["posterior"].sizes["draw"] >= counts[-1]


def test_a_callback_that_returns_a_number_does_not_stop_the_run(monkeypatch):
    """Only True stops the run."""
    monkeypatch.setattr(pace, "MOST_GRADIENTS", 100)

    def look(so_far):
        return True if so_far.draws >= 1000 else so_far.draws

    assert run(schools(), draws=None, callback=look)["posterior"].sizes["draw"] >= 1000


def test_an_error_in_a_callback_keeps_the_draws():
    def wrong(so_far):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine") as raised:
        run(schools(), draws=500_000, callback=wrong)
    (note,) = raised.value.__notes__
    tree = kg.stashed_samples()
    count = tree["posterior"].sizes["draw"]
    assert note.startswith(f"kept: {count} draws of each chain, in kg.stashed_samples()")
    assert count > 0
    assert same_draws(tree, run(schools(), draws=count))
    assert tree.attrs["interrupted"] == 1


def test_an_error_in_the_model_keeps_the_draws():
    """A loop that gives up at some draw: those before it are there."""
    x = kg.normal(0, 1, name="x")
    (n,) = kg.while_loop(
        lambda v: v < x, lambda v: v + 0.5, [kg.data(0.0)], maximum_iterations=5, on_limit="error"
    )
    model = kg.model(x, n=n)
    walk = kg.samplers.RandomWalk(2.0)
    with pytest.raises(kg.LoopError) as raised:
        run(model, sampler=walk, draws=500_000, initial={"x": 0.0}, warmup=0)
    assert raised.value.__notes__[0].startswith("kept: ")
    tree = kg.stashed_samples()
    assert float(tree["posterior"]["x"].max()) < 3.0


def test_a_stash_of_nothing(monkeypatch):
    monkeypatch.setattr("kinetograph.runs.stash._LAST", [])
    with pytest.raises(kg.KinetographError, match="no run of this process has been stopped"):
        kg.stashed_samples()


def test_chains_by_their_numbers():
    every = run(schools(), chains=5)
    some = run(schools(), chains=range(3, 5))
    assert some["posterior"]["chain"].values.tolist() == [3, 4]
    np.testing.assert_array_equal(some["posterior"]["tau"], every["posterior"]["tau"][3:])
    with pytest.raises(ValueError, match="numbers of chains must not be negative"):
        run(schools(), chains=range(0))


@pytest.mark.parametrize(
    ("error", "said", "keep"),
    [
        (kg.ModelError, "keep: 'tao' is not a target of the model, .* did you mean 'tau'", ["tao"]),
        (TypeError, "keep must be True, False, or a list of targets", 3),
        (TypeError, "keep: expected a target or its name, got 3", [3]),
        (ValueError, r"keep=\[\] keeps nothing", []),
    ],
)
def test_what_can_be_kept(error, said, keep):
    with pytest.raises(error, match=said):
        run(schools(), keep=keep)


def test_quick_runs_are_looked_at(monkeypatch):
    """All draws may be there before anybody has looked."""

    class AtOnce:
        def __init__(self, work):
            self.start = work

        def is_alive(self):
            return False

        def join(self, seconds=None):
            pass

    expected = run(schools(), draws=3000, until=kg.until(ess=500, r_hat=1.1))
    monkeypatch.setattr("kinetograph.runs.chains.thread", AtOnce)
    seen = []
    options = {"callback": lambda so_far: seen.append(so_far.draws)}
    tree = run(schools(), draws=3000, until=kg.until(ess=500, r_hat=1.1), **options)
    assert same_draws(tree, expected)
    assert tree["posterior"].sizes["draw"] < 3000
    assert seen == [3000]


ENOUGH, MORE = kg.until(ess=30, r_hat=1.2), kg.until(ess=700, r_hat=1.2)


def draws_of(tree):
    return tree["posterior"].sizes["draw"]


@pytest.mark.parametrize("stored", [False, True])
def test_a_run_that_goes_on_never_has_fewer_draws_than_before(stored, tmp_path):
    """It is looked at what there is first, and then each time there are a fifth more."""
    options = {"draws": 450, "chains": 2, "warmup": 200}
    path = tmp_path / "run.zarr"
    tree = run(gaussian(), **options, **({"store": path} if stored else {}))
    whole = run(gaussian(), **(options | {"draws": 5000}))

    def more(until):
        if stored:
            return kg.resume(path, draws=5000, until=until, progress=False)
        return kg.extra_samples(tree, gaussian(), 4550, until=until, progress=False)

    looks = [450]
    while not reached(whole.isel(draw=slice(looks[-1]), missing_dims="ignore"), 700, 1.2):
        looks.append(Until(1, 2).looks(looks[-1]))
    assert len(looks) > 1
    if not stored:  # the next one begins with these
        assert draws_of(more(ENOUGH)) == 450
    assert draws_of(more(MORE)) == looks[-1]


@pytest.mark.parametrize(
    ("there", "ended", "first"),
    [
        *[(0, False, 100), (170, False, 200), (200, False, 200), (3000, False, 3500)],
        *[(40, True, 100), (100, True, 100), (170, True, 170), (3000, True, 3000)],
    ],
)
def test_the_first_look(there, ended, first):
    """At what is there, or where a run that was never stopped is looked at."""
    assert Until(400, 1.01).first(there, ended) == first


def test_results_that_were_stopped_are_looked_at_where_others_are(monkeypatch):
    monkeypatch.setattr("kinetograph.runs.until._Watching._reached", lambda self, count: True)
    tree = run(gaussian(), draws=170)
    for interrupted, count in ((0, 170), (1, 200)):
        tree.attrs["interrupted"] = interrupted
        more = kg.extra_samples(tree, gaussian(), 900, until=ENOUGH, progress=False)
        assert draws_of(more) == count
