"""Starting points: where they come from, and what is said when there is none."""

import inspect
import re

import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats
from tests.runs.models import gaussian, run, schools, weights

import kinetograph as kg

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")
CHEAP = kg.samplers.SGLD(1e-3)  # to compile; the search for a start is the same for all samplers


def first_draws(model, **options):
    """Draws with a step so short that the chain stays where it starts."""
    return short(model, **options)["posterior"].dataset


def short(model, **options):
    sampler = kg.samplers.NUTS(step_size=1e-15)
    return run(model, sampler=sampler, draws=1, warmup=0, **options)


def test_random_points_are_uniform_on_minus_2_to_2():
    points = short(schools(), chains=40)["sampler_state"]["position_q"].values
    assert len(np.unique(points)) == 400
    assert stats.kstest(points.ravel(), stats.uniform(-2, 4).cdf).pvalue > 1e-4


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
    attempts = tree["sampler_state"]["attempts"].values
    assert 5 < np.sum(attempts > 1) < 35
    assert np.all(tree["posterior"]["x"] > 0)


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
    assert f"test_start.py:{line}" in text
    assert re.search(r"sd .* = -\d+", text)
    assert "fine ~" not in text
    assert "initial=" in text


def test_a_factor_that_is_not_finite_is_named_with_its_line():
    x = kg.normal(0, 1)
    gate = kg.log(x - 100.0)
    with pytest.raises(kg.StartError, match=r"(?s)2 of 2 chains.*factor.*test_start\.py:\d+"):
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
