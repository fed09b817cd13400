"""The host's part of a warm-up."""

from functools import cache
from typing import Any

import jax
import numpy as np
import pytest
from tests.runs.models import run, same_draws, schools

import kinetograph as kg
from kinetograph.adaptation import host_warmup, metric_search
from kinetograph.adaptation.host_warmup import LONGEST, SHORTEST, Tuner, drifts
from kinetograph.adaptation.low_rank import divergence, low_rank
from kinetograph.adaptation.metric_search import (
    DIAGONAL,
    LIMIT,
    NEW,
    USED,
    Tuned,
    judged,
    retuned,
)
from kinetograph.adaptation.schedule import Adaptation
from kinetograph.adaptation.step_size import DualAveraging
from kinetograph.kernels.directions import Directions

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")

YEARS = np.arange(1960.0, 2010.0)


@cache
def years() -> kg.Model:
    """A line over years that are not centred: intercept and slope are nearly one direction."""
    a, b = kg.normal(0, 1000), kg.normal(0, 10)
    values = 0.03 * (YEARS - 1985) + 12 + 0.3 * np.sin(7 * YEARS)
    kg.observe(kg.data(values), kg.normal(a + b * kg.data(YEARS), 0.3))
    return kg.model(a, b)


@cache
def line() -> Any:
    return kg.mcmc(years(), seed=1, progress=False)


@cache
def line_of_a_batch() -> Any:
    return kg.mcmc(years(), seed=1, progress=False, chain_method="batch")


def tuned(size: int, step: float = 0.5, directions: bool = True) -> Tuned:
    hyper = {"step_size": np.float64(step), "scale": np.ones(size)}
    if directions:
        hyper["directions"] = Directions.none(size, size, np.float64)
    log = np.log(step)
    zero = np.float64(0)
    return Tuned(hyper, Adaptation(DualAveraging(log, zero, log, log, zero, zero), None))


def rows(covariance, count: int, seed: int = 1):
    rng = np.random.default_rng(seed)
    draws = rng.multivariate_normal(np.zeros(len(covariance)), covariance, size=count)
    return draws, -np.linalg.solve(covariance, draws.T).T


ROUND, LONG = np.eye(3), np.array([[1, 0.999, 0], [0.999, 1, 0], [0, 0, 1]])


def warmed(tuner: Tuner, covariance, until: int = 3000, drift: float = 0.0, state=None, each=7):
    """What is tuned when a warm-up that meets such draws has ended, and when that was.

    Each of them takes so many gradients.
    """
    draws, slopes = rows(covariance, until)
    draws = draws + drift * np.arange(until)[:, None]
    state, done = state or tuned(len(covariance)), 0
    while done < min(tuner.end, until):
        stop = stop_of(tuner.phases(done, 1000), each)
        tuner.add(draws[done:stop], slopes[done:stop])
        done = stop
        if tuner.stops_at(done, each * done):
            state = tuner.look(done, each * done, state)
    return state, done


def stop_of(phases, each: int) -> int:
    """Where a block ends."""
    earlier = max(int(phases.glance), -(-int(phases.worth) // each))
    return min(int(phases.stop), earlier)


def test_where_all_fits_it_ends_soon():
    state, done = warmed(Tuner(None, True), ROUND)
    assert done == 200
    assert state.hyper["directions"].count == 0


def test_a_strong_correlation_is_followed_early_and_the_step_grows_with_it():
    tuner = Tuner(None, True)
    draws, slopes = rows(LONG, 10)
    tuner.add(draws, slopes)
    assert not tuner.stops_at(10, 499)
    assert not tuner.stops_at(9, 500)
    assert tuner.stops_at(10, 500)
    state = tuner.look(10, 500, tuned(3, step=0.02))
    assert state.hyper["directions"].count == 2
    # The sharpest direction was sqrt(1 / 0.001) = 32 times as sharp as that of the new metric,
    # and in a few draws a third of it.
    assert 0.1 < float(state.hyper["step_size"]) < 1.0
    np.testing.assert_allclose(state.adaptation.step.log_step, np.log(state.hyper["step_size"]))
    assert not tuner.stops_at(10, 5000)  # once is enough


def test_draws_that_drift_keep_it_going_up_to_the_longest():
    _, done = warmed(Tuner(None, True), ROUND, drift=0.05)
    assert done == LONGEST


def test_a_step_size_that_has_not_settled_keeps_it_going():
    tuner, (draws, slopes) = Tuner(None, True), rows(ROUND, 400)
    for number, stop in enumerate([100, 150, 200, 250, 300]):
        begun = [0, 100, 150, 200, 250][number]
        tuner.add(draws[begun:stop], slopes[begun:stop])
        tuner.look(stop, 7 * stop, tuned(3, step=0.5 * 2.0 ** min(number, 3)))
        assert (tuner.end < 2**30) == (number == 4)
    assert (tuner.late, tuner.end) == (300, 350)


def test_a_divergence_keeps_it_going_for_a_while():
    """What the program tells of it is a target that has risen."""
    tuner, (draws, slopes) = Tuner(None, True), rows(ROUND, 600)
    state, done = tuned(3), 0
    hyper = dict(state.hyper) | {"target_limit": 0.99}
    while tuner.end > 600:
        stop = tuner.next_stop(done)
        tuner.add(draws[done:stop], slopes[done:stop])
        done = stop
        target = 0.8 if done < 150 else 0.84
        tuner.look(done, 7 * done, state._replace(hyper=hyper | {"target_acceptance": target}))
    assert (tuner.late, tuner.end) == (300, 350)


def test_of_a_curved_posterior_a_diagonal_is_kept():
    """Along a banana directions that hold on average are wrong in places."""
    rng = np.random.default_rng(6)
    a = 3 * rng.normal(size=200)
    b = a**2 + 0.1 * rng.normal(size=200) + 2 * a
    slope = (b - a**2 - 2 * a) / 0.01
    draws, slopes = np.stack([a, b], 1), np.stack([-a / 9 + slope * (2 * a + 2), -slope], 1)
    found, _ = retuned(tuned(2), draws, slopes)
    assert found.hyper["directions"].count == 0
    early, _ = retuned(tuned(2), *rows(LONG[:2, :2], 20))
    assert early.hyper["directions"].count > 0
    assert retuned(early, draws, slopes)[0].hyper["directions"].count == 0
    assert retuned(tuned(2), draws, slopes, dense=True)[0].hyper["directions"].count == 2


@pytest.mark.parametrize("length", [0, 1, 9, 10, 11, 100, 1000])
@pytest.mark.parametrize("each", [7, 1000])
def test_a_given_length_is_kept(length, each):
    _, done = warmed(Tuner(length, True), LONG, each=each)
    assert done == length


def test_the_host_looks_at_no_stop_from_where_the_metric_is_fixed():
    tuner = Tuner(200, True)
    assert [int(tuner.phases(t, 7).stop) for t in (0, 99, 100, 149, 150, 170, 199, 200)] == [
        *(100, 100, 150, 150, 200, 200, 200, 207)
    ]
    assert [tuner.stops_at(t, 10**6) for t in (9, 10, 150, 169, 170, 200)] == [
        *(False, True, True, True, False, False)
    ]
    assert tuner.phases(169, 7).glance == 10
    assert tuner.phases(170, 7).glance > 10**9


def test_the_more_gradients_draws_take_the_earlier_they_are_looked_at():
    def looks(each: int) -> list[int]:
        tuner, found = Tuner(None, True), []
        draws, slopes = rows(ROUND, 200)
        done = 0
        while done < 200:
            stop = stop_of(tuner.phases(done, 0), each)
            tuner.add(draws[done:stop], slopes[done:stop])
            done = stop
            if tuner.stops_at(done, each * done):
                found.append(done)
                tuner.look(done, each * done, tuned(3))
        return found

    assert looks(3) == [100, 150]
    assert looks(15) == [34, 68, 100, 150]
    assert looks(1000) == [10, 20, 30, 45, 67, 100, 150]


def test_a_metric_that_fits_is_kept_and_one_that_does_not_is_not():
    draws, slopes = rows(LONG, 100)
    found, kept = retuned(tuned(3), draws, slopes)
    assert not kept
    again, kept = retuned(found, *rows(LONG, 100, seed=2))
    assert kept
    assert again is found
    round_again, kept = retuned(found, *rows(ROUND, 100, seed=3))
    assert not kept
    assert round_again.hyper["directions"].count == 0


def test_a_dense_metric_has_all_directions_and_a_diagonal_one_none():
    covariance = np.diag([1.0, 1.0, 1.0]) + 0.2
    draws, slopes = rows(covariance, 100)
    auto, _ = retuned(tuned(3), draws * [1, 1, 9], slopes / [1, 1, 9])
    dense, _ = retuned(tuned(3), draws * [1, 1, 9], slopes / [1, 1, 9], dense=True)
    none, kept = retuned(tuned(3, directions=False), *rows(LONG, 100))
    assert auto.hyper["directions"].count == 0
    assert dense.hyper["directions"].count == 3
    assert not kept
    assert "directions" not in none.hyper


def test_halves_of_draws_that_are_apart_drift():
    rng = np.random.default_rng(5)
    assert not any(drifts(rng.normal(size=(100, 4))) for _ in range(20))
    assert drifts(rng.normal(size=(100, 4)) + np.linspace(0, 3, 100)[:, None])
    assert not drifts(np.ones((10, 2)))  # nothing has moved, so nothing can be said


@pytest.mark.parametrize("method", ["threads", "batch"])
def test_a_line_over_years_is_followed(method):
    tree = line() if method == "threads" else line_of_a_batch()
    state = tree["sampler_state"]
    assert (state["hyper_directions_count"] > 0).all()
    # With a scale for each coordinate alone it takes a hundred times as many.
    assert tree.attrs["gradients"] < 40_000
    covariance = np.linalg.inv(
        np.array([[len(YEARS), YEARS.sum()], [YEARS.sum(), (YEARS**2).sum()]]) / 0.09
        + np.diag([1e-6, 1e-2])
    )
    for name, variance in zip(("a", "b"), np.diagonal(covariance), strict=True):
        sd = float(tree["posterior"][name].std())
        assert sd == pytest.approx(np.sqrt(variance), rel=0.15)


def test_the_results_tell_how_long_it_took():
    tree = line()
    told = np.broadcast_to(tree.attrs["warmup"], 4)
    np.testing.assert_array_equal(told, tree["sampler_state"]["phases_end"])
    assert ((told >= 200) & (told <= LONGEST)).all()
    np.testing.assert_array_equal(tree["sampler_state"]["transition"], told + 1000)
    assert run(schools(), warmup=37).attrs["warmup"] == 37


def test_a_chain_by_hand_ends_its_warm_up_where_that_of_a_run_does():
    chain = kg.chain(years(), seed=1, index=2, warmup=None)
    assert chain.iteration == np.broadcast_to(line().attrs["warmup"], 4)[2]
    rows = chain.step(20)
    np.testing.assert_array_equal(rows.posterior["a"], line()["posterior"]["a"][2, :20])


def test_chains_end_for_themselves_and_so_do_those_of_a_batch():
    two = kg.mcmc(years(), seed=1, chains=2, progress=False)
    assert same_draws(two, line().isel(chain=slice(0, 2)), ["posterior"])
    # Rounding errors grow, so chains of a batch may part from those of threads.
    ends = np.asarray(line_of_a_batch()["sampler_state"]["phases_end"])
    assert ((ends >= SHORTEST) & (ends < LONGEST)).all()


def test_a_metric_with_directions_is_taken_over():
    tree = line()
    last = tree["sampler_state/position_q"]
    more = kg.mcmc(years(), warmup=0, tuned=tree, initial=last, seed=2, draws=200, progress=False)
    assert more.attrs["gradients"] < 4 * 200 * 10
    with pytest.raises(ValueError, match="has directions, and the metric of NUTS"):
        kg.mcmc(years(), kg.samplers.NUTS(metric="diagonal"), tuned=tree, progress=False)


def test_hyper_parameters_of_a_chain_hold_the_directions():
    chain = kg.chain(years(), seed=1, warmup=100)
    held = chain.hyper["directions"]
    assert held.count == 2
    chain.hyper["directions"] = held._replace(count=0)
    with pytest.raises(ValueError, match="from 0 to 2, got 3"):
        chain.hyper["directions"] = held._replace(count=3)


def test_a_sampler_that_tunes_nothing_warms_up_as_long_as_ever():
    tree = run(schools(), sampler=kg.samplers.GLA2(0.1), warmup=None, draws=10)
    assert tree.attrs["warmup"] == 500


def test_a_metric_that_is_none_is_refused():
    with pytest.raises(ValueError, match="'auto' or 'diagonal' or 'dense', got 'full'"):
        kg.samplers.NUTS(metric="full")


def test_a_warm_up_longer_than_any_that_ends_by_itself_is_made_whole():
    tree = run(schools(), warmup=LONGEST + 500, draws=20)
    assert tree["posterior"].sizes["draw"] == 20
    assert tree.attrs["warmup"] == LONGEST + 500


@pytest.mark.parametrize(
    ("draws", "slopes"),
    [
        (np.ones((50, 3)), np.zeros((50, 3))),
        (np.arange(150.0).reshape(50, 3), np.zeros((50, 3))),
        (1e200 * np.arange(150.0).reshape(50, 3), np.ones((50, 3))),
        (np.arange(150.0).reshape(50, 3), 1e306 * np.arange(150.0).reshape(50, 3)),
    ],
)
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_draws_that_say_nothing_change_nothing(draws, slopes):
    state, tuner = tuned(3), Tuner(None, True)
    tuner.add(draws, slopes)
    assert tuner.look(50, 500, state) is state


@pytest.mark.slow
def test_a_plateau_is_sampled():
    """Between walls there is no gradient at all."""
    x = kg.variable(shape=3)
    kg.wall(x, -10, 10)
    tree = kg.mcmc(kg.model(x), draws=50, chains=2, seed=1, progress=False)
    assert np.isfinite(tree["posterior"]["x"]).all()


def test_few_draws_of_many_unknowns_are_not_enough_to_say_that_a_metric_fits():
    """A random walk of 60 unknowns, whose metric a window of 50 draws cannot tell."""
    steps = np.tril(np.ones((60, 60)))
    covariance = steps @ steps.T
    state = tuned(60)
    assert not retuned(state, *rows(covariance, 40))[1]


def test_what_is_kept_of_the_draws_is_bounded_and_goes_with_the_last_look():
    tuner = Tuner(1000, True)
    draws, slopes = rows(ROUND, 1000)
    done = 0
    while done < 1000:
        stop = tuner.next_stop(done)
        tuner.add(draws[done:stop], slopes[done:stop])
        assert sum(map(len, tuner.draws)) <= 250
        done = stop
        if tuner.stops_at(done, 7 * done):
            tuner.look(done, 7 * done, tuned(3))
    assert (tuner.draws, tuner.slopes) == ([], [])


@pytest.mark.slow
def test_two_long_directions_among_many_cost_little():
    """Fifty times the effective draws a gradient of a metric that has no directions, at least."""
    size, rng = 500, np.random.default_rng(1)
    long, _ = np.linalg.qr(rng.normal(size=(size, 2)))
    x = kg.normal(0, 1, shape=size)
    along = kg.data(long.T) @ x
    model = kg.model(x=x, along=along, factors=[0.5 * 0.999 * kg.sum(along**2)])  # variance 1000

    def worth(metric: str) -> float:
        sampler = kg.samplers.NUTS(metric=metric)
        tree = kg.mcmc(model, sampler, draws=500, seed=1, progress=False)
        table = kg.summary(tree)
        least = min(table["ess_bulk", f"along[{i}]"] for i in range(2))
        variance = float(tree["posterior"]["along"].var())
        assert abs(variance - 1000) < 6 * 1000 * np.sqrt(2 / (2 * least))
        return float(least / tree.attrs["gradients"])

    assert worth("auto") > 50 * worth("diagonal")


def test_what_is_known_of_a_stack_of_chains_is_what_each_finds_by_itself():
    """Chains with directions and without, with long and short windows, and with too few draws."""
    states, windows = [], []
    for number, count in enumerate([40, 40, 7, 60, 60, 40]):
        covariance = LONG if number % 2 else ROUND
        state, _ = retuned(tuned(3), *rows(covariance, 100)) if number != 5 else (tuned(3), False)
        states.append(state)
        windows.append(rows(covariance if number != 3 else ROUND, count, seed=number))
    hyper = {
        "scale": np.stack([state.hyper["scale"] for state in states]),
        "directions": Directions(
            *map(np.stack, zip(*(state.hyper["directions"] for state in states), strict=True))
        ),
    }
    np.testing.assert_array_equal(hyper["directions"].count > 0, [0, 1, 0, 1, 0, 0])
    known = judged(hyper, windows)
    beyond = [[], [], None, [DIAGONAL], [], [DIAGONAL, NEW]]
    assert [list(told) for told in known] == [
        [] if more is None else [USED, LIMIT, *more] for more in beyond
    ]
    for state, window, told in zip(states, windows, known, strict=True):
        if told:
            again, kept = retuned(state, *window)
            by_known, also_kept = retuned(state, *window, divergences=told)
            assert kept == also_kept
            assert kept == (told[USED] < 2)
            assert all(map(np.array_equal, jax.tree.leaves(again), jax.tree.leaves(by_known)))
    # By hand, of the last.
    first, second = ([x[half] for x in windows[-1]] for half in (slice(20), slice(20, None)))
    for way, room in [(DIAGONAL, 0), (NEW, 3)]:
        metrics = [low_rank(*half, np.ones(3), room) for half in (first, second)]
        value = divergence(metrics[0], *second) + divergence(metrics[1], *first)
        np.testing.assert_allclose(known[-1][way], value)
    assert judged({}, windows) == [{}] * 6


def noisy(count: int, noise: float, seed: int = 1):
    """Draws of a round normal whose gradients are noisy, so that no metric fits them."""
    rng = np.random.default_rng(seed)
    draws = rng.normal(size=(count, 3))
    return draws, -draws + noise * rng.normal(size=(count, 3))


def test_where_no_metric_whatever_is_better_none_is_fitted(monkeypatch):
    draws, slopes = noisy(100, 2.0)
    state = tuned(3)
    state.hyper["scale"] = np.sqrt(np.sqrt(draws.var(0) / slopes.var(0)))  # no scale is better
    monkeypatch.setattr(metric_search, "low_rank", None)
    assert retuned(state, draws, slopes) == (state, True)


def test_directions_that_are_worse_in_one_half_are_not_fitted_to_the_other(monkeypatch):
    """Directions of as few draws as that are worse than none, which is the truth."""
    asked = []

    def counted(draws, *others):
        asked.append(others[2])  # the most directions
        return low_rank(draws, *others)

    monkeypatch.setattr(metric_search, "low_rank", counted)
    rng = np.random.default_rng(4)
    draws = rng.normal(size=(40, 60))
    state = tuned(60)
    assert retuned(state, draws, -draws + rng.normal(size=draws.shape))[0] is state
    assert asked == [0, 0, 60]  # the diagonal in both halves, directions in one


def test_after_a_look_in_vain_no_metric_is_looked_for_until_half_as_many_transitions_more(
    monkeypatch,
):
    asked = []

    def counted(*arguments):
        asked.append(1)
        return retuned(*arguments)

    monkeypatch.setattr(host_warmup, "retuned", counted)
    tuner, state = Tuner(1000, True), tuned(3)
    looks = [(100, 2.0, 1), (120, 2.0, 1), (149, 2.0, 1), (150, 2.0, 2), (160, 2.0, 2)]
    for seed, (transition, noise, times) in enumerate([*looks, (170, 20.0, 3)]):
        state = tuner.examined(transition, 0, noisy(100, noise, seed), state)
        assert len(asked) == times, transition
