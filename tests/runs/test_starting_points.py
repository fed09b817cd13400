"""Starting points: where they come from, and what is said when there is none."""

import inspect
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats
from tests.runs.models import gaussian, run, schools, weights

import kinetograph as kg
from kinetograph.bits.draws import chain_key
from kinetograph.graph.precision import x64
from kinetograph.models import starting_points
from kinetograph.models.starting_points import random_point
from kinetograph.programs import engine as engines
from kinetograph.programs.program import Program
from kinetograph.runs.chain import RunningChain
from kinetograph.runs.control import beginnings

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")
CHEAP = kg.samplers.SGLD(1e-3)  # to compile; the search for a start is the same for all samplers


def first_draws(model, **options):
    """Draws with a step so short that the chain stays where it starts."""
    return short(model, **options)["posterior"].dataset


def short(model, **options):
    sampler = kg.samplers.NUTS(step_size=1e-15)
    return run(model, sampler=sampler, draws=1, warmup=0, **options)


def test_random_points_are_uniform_on_minus_2_to_2():
    """Where that is asked for."""
    tree = short(schools(), chains=40, initial="random")
    points = tree["sampler_state"]["start_position_q"].values
    assert (tree["sampler_state"]["start_gradients"] == 1).all()
    assert len(np.unique(points)) == 400
    assert stats.kstest(points.ravel(), stats.uniform(-2, 4).cdf).pvalue > 1e-4


def climbed(density, q, size):
    """The end of an ascent, its log density, and the evaluations it took: in plain NumPy."""
    value, slope = density(q)
    rate, spent = np.full(size, 0.1), 1
    while spent < 21:
        spent += 1
        new = q + rate * np.sign(slope)
        there, slope_there = density(new)
        if not there > value:
            rate = 0.3 * rate
            continue
        rate = np.minimum(0.5, rate * np.where(slope * slope_there > 0, 1.5, 0.5))
        curvature = np.abs((slope_there - slope) / (new - q))
        gained, q, value, slope = there - value, new, there, slope_there
        if gained < 0.3 * size:
            break
    return value, 1 / np.sqrt(np.abs(slope) + curvature), spent


def test_ascents_are_those_of_a_loop_in_numpy():
    sd, center = np.array([0.05, 0.5, 20.0]), np.array([1.0, -1.0, 0.0])
    model = kg.model(kg.normal(center, sd, shape=3, name="x"))
    tree = run(model, sampler=CHEAP, chains=3, draws=1, warmup=0, seed=5)

    def density(q):
        z = (q - center) / sd
        return -0.5 * np.sum(z**2) - np.sum(np.log(sd)) - 1.5 * np.log(2 * np.pi), -z / sd

    state = tree["sampler_state"].dataset
    for chain in range(3):
        own, key = state.sel(chain=chain), chain_key(5, chain)
        points = [random_point(model, key, attempt) for attempt in range(1, 13)]
        begins = [density(q)[0] for q in points]
        ends, scales, spent = zip(*(climbed(density, q, 3) for q in points))
        np.testing.assert_allclose(own["start_begins"], begins, rtol=1e-10)
        np.testing.assert_allclose(own["start_ends"], ends, rtol=1e-10)
        taken = int(own["start_taken"])
        np.testing.assert_allclose(own["start_scale"], scales[taken], rtol=1e-8)
        assert float(own["start_position_log_density"]) == own["start_ends"].values[taken]
        assert int(own["start_gradients"]) == sum(spent)
        assert max(begins) < max(ends)


def test_ends_are_taken_in_proportion_to_their_density():
    """Two wells, one of five times the density: chains take its ends five times as often."""
    x = kg.uniform(-10, 10, name="x")
    wells = kg.logaddexp(-50 * (x - 4) ** 2, kg.log(5) - 50 * (x + 4) ** 2)
    model = kg.model(x, factors=[wells])
    tree = run(model, sampler=CHEAP, chains=600, draws=1, warmup=0, seed=2)
    state = tree["sampler_state"].dataset
    ends, at = state["start_ends"].values, state["start_position_log_density"].values
    assert np.isin(at, ends).all()
    weights = np.exp(ends - ends.max(1, keepdims=True))
    dense = ends > ends.max() - 0.8
    chance = (weights * dense).sum(1) / weights.sum(1)
    took = at > ends.max() - 0.8
    error = (took.sum() - chance.sum()) / np.sqrt(np.sum(chance * (1 - chance)))
    assert abs(error) < 5
    # Neither the last end nor the best one is always taken.
    assert dense.mean() + 0.1 < took.mean() < dense.any(1).mean() - 0.05


def test_no_chain_starts_where_the_density_is_absurd():
    """A scale of exp(exp(x)): the log density is finite and as low as -1e4 at random points."""
    x = kg.normal(0, 1, name="x")
    y = kg.data(np.full(20, 3.0))
    kg.observe(y, kg.normal(3.0, kg.exp(-kg.exp(2 * x))))
    model = kg.model(x)
    starts = {
        way: run(model, sampler=CHEAP, chains=30, draws=1, warmup=0, initial=way)
        for way in (None, "random")
    }
    low = {
        way: float(t["sampler_state"]["start_position_log_density"].min())
        for way, t in starts.items()
    }
    assert low["random"] < low[None] - 20


def test_an_unknown_way_to_start_is_refused():
    with pytest.raises(ValueError, match=r"mcmc: initial must be .*, or \"prior\"; got 'prio'"):
        run(gaussian(), initial="prio")


def test_a_dictionary_is_for_all_chains():
    point = {"mu": 3.0, "tau": 2.0, "z": np.arange(8) / 4}
    posterior = first_draws(schools(), initial=point, chains=3)
    np.testing.assert_allclose(posterior["mu"], 3.0, rtol=1e-9)
    np.testing.assert_allclose(posterior["tau"], 2.0, rtol=1e-9)
    np.testing.assert_allclose(posterior["theta"][1, 0], 3 + np.arange(8) / 2, rtol=1e-9)


def test_what_a_dictionary_leaves_out_is_random():
    posterior = first_draws(schools(), initial={"mu": 3.0}, chains=3)
    np.testing.assert_allclose(posterior["mu"], 3.0, rtol=1e-9)
    assert len(np.unique(posterior["tau"].values.round(9))) == 3


def test_a_list_has_a_point_for_each_chain():
    points = [{"mu": 1.0, "tau": 1.0}, {"mu": 2.0, "tau": 3.0}]
    posterior = first_draws(schools(), initial=points)
    np.testing.assert_allclose(posterior["mu"][:, 0], [1, 2], rtol=1e-9)
    np.testing.assert_allclose(posterior["tau"][:, 0], [1, 3], rtol=1e-9)


def test_an_array_is_of_free_states():
    free = np.random.default_rng(1).normal(size=(2, 10))
    posterior = first_draws(schools(), initial=free)
    expected = schools().transform(free)
    np.testing.assert_allclose(posterior["tau"][:, 0], expected["tau"], rtol=1e-9)
    one = first_draws(schools(), initial=free[0].tolist())
    np.testing.assert_allclose(one["tau"][:, 0], expected["tau"][0], rtol=1e-9)


def test_structured_unknowns_start_where_they_are_told_to():
    share = np.array([0.2, 0.3, 0.5])
    posterior = first_draws(weights(), initial={"share": share, "rate": 2.5})
    np.testing.assert_allclose(posterior["share"][:, 0], [share, share], rtol=1e-9)


def test_points_with_no_density_are_tried_again():
    """Half of the line has none: about half of 40 chains need another try."""
    x = kg.normal(0, 1)
    gate = kg.log(x)  # NaN for negative x
    model = kg.model(x, factors=[0.0 * gate])
    tree = run(model, sampler=CHEAP, chains=40, draws=5, warmup=5)
    assert np.all(tree["sampler_state"]["start_position_q"] > 0)
    attempts = tree["sampler_state"]["start_attempts"].values
    np.testing.assert_array_equal(np.isnan(tree["sampler_state"]["start_ends"]).sum(), 0)
    assert attempts.min() >= 12
    # A point is tried until twelve were good: a negative binomial number, 24 on average.
    assert abs(attempts.mean() - 24) < 5 * np.sqrt(24 / 40)


def test_no_start_names_the_terms_and_lines_that_are_not_finite():
    x = kg.normal(0, 1)
    scale = kg.exp(x) - 100.0
    y = kg.data([0.5, 1.5])
    kg.observe(y, kg.normal(x, scale))
    line = inspect.currentframe().f_lineno - 1
    fine = kg.normal(x, 1)
    with pytest.raises(kg.StartError) as caught:
        run(kg.model(x, fine), sampler=CHEAP, chains=1)
    text = str(caught.value)
    assert "chain 0: no finite log density and gradient in 100 random starting points" in text
    assert re.search(r"y ~ normal\(x, (scale|exp\(x\) - 100)\)", text)
    assert f"test_starting_points.py:{line}" in text
    assert re.search(r"sd .* = -\d+", text)
    assert "fine ~" not in text
    assert "initial=" in text


@pytest.mark.parametrize("covariate", [[0.5, np.nan], [0.5, -1.0]])
def test_a_nan_of_the_data_is_not_repaired_by_starting_values(covariate):
    x = kg.normal(0, 1)
    known = np.array(covariate)
    kg.observe([0.5, 1.5], kg.normal(x * kg.log(known), 1))
    with pytest.raises(kg.StartError, match=r"not depend on .*drop or replace") as caught:
        run(kg.model(x), sampler=CHEAP, chains=1)
    assert "initial=" not in str(caught.value)


def test_a_nan_of_the_data_that_is_not_used_is_not_blamed():
    x = kg.normal(0, 1)
    known = np.array([0.5, np.nan])
    kg.observe([0.5, 1.5], kg.normal(kg.where(np.isnan(known), 0.0, known) * kg.log(-(x**2)), 1))
    with pytest.raises(kg.StartError, match="initial="):
        run(kg.model(x), sampler=CHEAP, chains=1)


def test_a_factor_that_is_not_finite_is_named_with_its_line():
    x = kg.normal(0, 1)
    gate = kg.log(x - 100.0)
    with pytest.raises(
        kg.StartError, match=r"(?s)2 of 2 chains.*factor.*test_starting_points\.py:\d+"
    ):
        run(kg.model(x, factors=[gate]), sampler=CHEAP)


def test_a_given_point_is_not_replaced_by_another():
    x = kg.normal(0, 1)
    gate = 0.0 * kg.log(x)
    model = kg.model(x, factors=[gate])
    with pytest.raises(kg.StartError, match="chain 1: the given initial point has no finite"):
        run(model, sampler=CHEAP, initial=[{"x": 1.0}, {"x": -1.0}])


def test_a_gradient_that_is_not_finite_is_told_apart():
    @kg.lift
    def kink(v):
        return jnp.sqrt(0.0 * v)

    x = kg.normal(0, 1)
    with pytest.raises(kg.StartError, match="its gradient is not"):
        run(kg.model(x, factors=[kink(x)]), sampler=CHEAP, chains=1)


def test_failure_in_one_chain_stops_the_run():
    with pytest.raises(kg.StartError, match="chain 1"):
        run(gaussian(), initial=[{"x": 0.0}, {"x": 1e200}], chains=2)


def test_a_search_in_pieces_finds_the_same_and_can_be_stopped(monkeypatch):
    """It gives way after each few gradients, so that Ctrl-C is seen during it, too."""
    monkeypatch.setattr(engines, "SEARCH_GRADIENTS", 1)
    model = weights()
    program = Program(model, kg.samplers.NUTS(), model.targets)
    chain = RunningChain(chain_key(5, 0))
    (arguments,) = beginnings(program, [chain])
    calls = []

    def found(gradients, calls_allowed=10**6):
        engine = engines.build(program)

        def ends():
            engine.compiled.pace.gradients = gradients
            calls.append(None)
            return len(calls) > calls_allowed

        calls.clear()
        with x64():
            return engine.find(arguments, model.argument_values, ends)

    whole = found(10**6)
    assert len(calls) == 1
    pieces = found(1)
    assert len(calls) == int(whole.start.gradients) > 20
    for one, other in zip(*map(jax.tree.leaves, (whole, pieces)), strict=True):
        np.testing.assert_array_equal(one, other)
    assert found(1, 5) is None
    assert len(calls) == 6


def test_starts_drawn_from_the_prior():
    """Whose distributions may be far from where uniform(-2, 2) is."""
    a = kg.normal(50, 1, name="a")
    b = kg.gamma(3.0, 2.0, shape=2, name="b")
    kg.observe(np.zeros(2), kg.normal(a - 50, b))
    model = kg.model(a, b)
    tree = short(model, chains=80, initial="prior")
    points = model.transform(tree["sampler_state"]["start_position_q"].values)
    assert stats.kstest(points["a"] - 50, "norm").pvalue > 1e-6
    assert stats.kstest(points["b"].ravel(), stats.gamma(3, scale=0.5).cdf).pvalue > 1e-6
    few = short(model, chains=2, initial="prior")  # chain k stays chain k
    at = "start_position_q"
    np.testing.assert_array_equal(few["sampler_state"][at], tree["sampler_state"][at][:2])
    walkers = kg.chain(model, kg.samplers.Stretch(walkers=20), seed=1, initial="prior").q
    assert walkers.shape == (20, 3)
    assert len(np.unique(walkers)) == 60


def test_as_many_draws_of_the_prior_as_are_needed_suffice(monkeypatch):
    monkeypatch.setattr(starting_points, "START_ATTEMPTS", 1)
    model = kg.model(kg.normal(0, 1, shape=2, name="x"))
    assert starting_points.prior_points(model, chain_key(1, 0), 3, "mcmc").shape == (3, 2)


def test_a_prior_that_cannot_start_a_chain():
    x = kg.normal(0, 1, name="x")
    hopeless = kg.model(x, factors=kg.log(-1.0 - x**2))
    with pytest.raises(kg.StartError, match="of 100 draws from the prior only 0 have a finite"):
        run(hopeless, initial="prior")
    half = kg.model(x, factors=kg.log(x))  # the first finite one is taken
    assert (first_draws(half, chains=20, initial="prior")["x"] > 0).all()
    flat = kg.variable(name="flat")
    with pytest.raises(kg.ModelError, match=r"mcmc: flat .*without a distribution"):
        run(kg.model(flat, factors=-(flat**2)), initial="prior")
    with pytest.raises(ValueError, match='"random", or "prior"; got \'posterior\''):
        run(kg.model(x), initial="posterior")
