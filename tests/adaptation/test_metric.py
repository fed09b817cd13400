"""The diagonal metric from draws and gradients."""

import jax
import numpy as np
import pytest

import kinetograph as kg
from kinetograph.adaptation.metric import FisherMetric, first_scale
from kinetograph.graph.precision import x64


def fed(draws, gradients, switches=()) -> FisherMetric:
    with x64():
        update = jax.jit(FisherMetric.update)
        metric = FisherMetric.start(draws.shape[1], np.float64)
        for i, (q, g) in enumerate(zip(draws, gradients)):
            metric = update(metric, q, g, np.bool_(i in switches))
    return metric


def scale(metric: FisherMetric, fallback: float = 1.0) -> np.ndarray:
    with x64():
        return np.asarray(metric.estimate(np.full(metric.current.mean.shape[1], fallback)))


@pytest.mark.parametrize("count", [3, 10])
def test_exact_for_a_diagonal_gaussian_from_any_few_draws(count):
    """The gradient is -(q - mean) / sd^2: no draw need come from the Gaussian itself."""
    sd = np.logspace(-3, 3, 7)
    draws = np.random.default_rng(1).uniform(-2, 5, (count, 7))
    np.testing.assert_allclose(scale(fed(draws, -(draws - 1) / sd**2)), sd, rtol=1e-10)


def test_is_the_root_of_the_ratio_of_variances():
    rng = np.random.default_rng(2)
    draws, gradients = rng.gamma(2.0, size=(2, 40, 3))
    expected = np.sqrt(np.sqrt(draws.var(0) / gradients.var(0)))
    np.testing.assert_allclose(scale(fed(draws, gradients)), expected, rtol=1e-12)


def test_a_switch_forgets_what_came_before_the_younger_window():
    rng = np.random.default_rng(3)
    draws, gradients = rng.normal(size=(2, 60, 2)) * np.array([1.0, 5.0])
    metric = fed(draws, gradients, switches=(19, 39))
    # The window in use was opened by the switch after draw 19.
    used = slice(20, 60)
    expected = np.sqrt(np.sqrt(draws[used].var(0) / gradients[used].var(0)))
    np.testing.assert_allclose(scale(metric), expected, rtol=1e-12)
    assert float(metric.current.count) == 40
    assert float(metric.next.count) == 20


def test_falls_back_where_nothing_is_known():
    metric = fed(np.ones((5, 2)), np.array([[1.0, 2.0]] * 5))
    assert scale(metric, 0.25).tolist() == [0.25, 0.25]
    one = fed(np.ones((1, 2)), np.ones((1, 2)))
    assert scale(one, 0.5).tolist() == [0.5, 0.5]


def test_slopes_that_differ_by_rounding_tell_nothing():
    """The slope of a Laplace law is constant on each side of its centre."""
    draws = np.random.default_rng(5).normal(size=(8, 2))
    slopes = np.nextafter(-1.0, np.resize([0.0, -2.0], 8))
    assert np.ptp(slopes) > 0
    got = scale(fed(draws, np.stack([slopes, -draws[:, 1]], -1)), 0.5)
    assert got[0] == 0.5
    assert got[1] == pytest.approx(1.0)


def test_scales_out_of_range_are_not_taken():
    """Of coordinates whose draws or gradients do not vary, or hardly do."""
    x = np.array([1.0, 2.0, 4.0])
    draws = np.stack([x, x, 0 * x, x * 1e-11, x * 1e-9, x * 1e9, x * 1e11], -1)
    gradients = np.stack([x, 0 * x, x, x * 1e11, x * 1e9, x * 1e-9, x * 1e-11], -1)
    expected = [1.0, 0.5, 0.5, 0.5, 1e-9, 1e9, 0.5]
    np.testing.assert_allclose(scale(fed(draws, gradients), 0.5), expected, rtol=1e-10)


def test_values_that_are_not_finite_do_not_become_a_scale():
    draws = np.random.default_rng(4).normal(size=(6, 2))
    gradients = -draws.copy()
    gradients[3, 0] = np.nan
    got = scale(fed(draws, gradients), 0.5)
    assert got[0] == 0.5
    assert got[1] == pytest.approx(1.0)


@pytest.mark.parametrize("count", [2, 10, 80])
def test_few_draws_change_the_scale_a_little(count):
    """As if the scale before were worth five draws."""
    draws = np.random.default_rng(5).normal(size=(count, 2))
    metric = fed(draws, -draws / 4.0)
    with x64():
        shrunk = np.asarray(metric.scale(np.array([8.0, 2.0])))
    share = count / (count + 5)
    np.testing.assert_allclose(shrunk, [8.0 * (2.0 / 8.0) ** share, 2.0], rtol=1e-10)


def test_first_guess_comes_from_gradient_and_curvature():
    with x64():
        guess = np.asarray(first_scale(np.array([1e8, 1.0, 1e-30, -4.0])))
        curved = np.asarray(first_scale(np.array([0.0, 1.0, -2.0]), np.array([25.0, -3.0, 2.0])))
    np.testing.assert_allclose(guess, [1e-3, 1.0, 1e3, 0.5], rtol=1e-9)
    np.testing.assert_allclose(curved, [0.2, 0.5, 0.5], rtol=1e-9)


SD = np.logspace(0, 2, 50)
QUIET = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")


@pytest.fixture(scope="module")
def gaussian():
    """Of condition 1e4, and a run that tunes scales, too."""
    model = kg.model(x=kg.normal(0, kg.data(SD, name="sd"), shape=50))
    return model, kg.mcmc(model, draws=200, seed=2, progress=False)


@QUIET
def test_a_run_finds_the_scales_of_a_gaussian(gaussian):
    found = gaussian[1]["sampler_state"]["hyper_scale"].values
    np.testing.assert_allclose(found, np.broadcast_to(SD, found.shape), rtol=1e-8)


@QUIET
@pytest.mark.slow
def test_scales_pay(gaussian):
    """Without them a Gaussian of condition 1e4 costs many more gradients a transition."""
    model, tuned = gaussian
    plain = kg.mcmc(model, kg.samplers.NUTS(tune="step_size"), draws=200, seed=2, progress=False)
    plain, tuned = (float(tree["sample_stats"]["n_steps"].mean()) for tree in (plain, tuned))
    assert plain > 10 * tuned


def test_a_scale_that_is_given_is_where_warm_up_starts():
    """And where it stays without one."""
    model = kg.model(kg.normal(0, 1, shape=2, name="q"))
    given = kg.samplers.RandomWalk(0.1, scale=[5.0, 7.0])
    np.testing.assert_array_equal(kg.chain(model, given, seed=1).hyper["scale"], [5.0, 7.0])
    free = kg.samplers.RandomWalk(0.1)
    assert (kg.chain(model, free, seed=1).hyper["scale"] < 2.0).all()
