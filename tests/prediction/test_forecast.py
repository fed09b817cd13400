"""Forecasts of series: future states and values against their exact laws."""

import numpy as np
import pytest

import kinetograph as kg

NOISE, DRIFT, AHEAD = 1.0, 0.5, 4
SERIES = np.array([0.3, 1.1, 0.2, 1.9, 1.4, 2.6, 2.2, 3.1])
ERRORS = 6.0  # standard errors: exceeded once in 10^9

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")


def filtered(series: np.ndarray, mean: float, variance: float) -> tuple[float, float]:
    """Mean and variance of the last level, by Kalman's recursion."""
    for t, value in enumerate(series):
        variance += DRIFT**2 * (t > 0)
        gain = variance / (variance + NOISE**2)
        mean, variance = mean + gain * (value - mean), variance * (1 - gain)
    return mean, variance


@pytest.fixture(scope="module")
def local_level():
    start, steps = kg.normal(0, 2, name="start"), kg.normal(0, 1, shape=7, name="steps")
    level = start + DRIFT * kg.concatenate([[0.0], kg.cumsum(steps)])
    kg.observe(SERIES, kg.normal(level, NOISE), name="y")
    model = kg.model(start, steps, level=level)
    drawn = kg.mcmc(model, draws=2000, chains=2, warmup=300, seed=1, progress=False)
    walk = kg.random_walk(DRIFT, AHEAD, init_mean=level[-1], init_sd=DRIFT)
    return kg.predict(model, drawn, walk=walk, values=kg.normal(walk, NOISE), seed=2)["predictions"]


@pytest.mark.parametrize("name", ["walk", "values"])
def test_a_local_level_is_forecast_as_by_the_kalman_filter(local_level, name):
    mean, variance = filtered(SERIES, 0.0, 4.0)
    draws = local_level[name].values.reshape(-1, AHEAD)
    variances = variance + DRIFT**2 * np.arange(1, AHEAD + 1) + NOISE**2 * (name == "values")
    independent = 1000  # at least, of 4000 draws
    errors = np.sqrt(variances / independent)
    assert (abs(draws.mean(0) - mean) < ERRORS * errors).all()
    assert (abs(draws.var(0) / variances - 1) < ERRORS * np.sqrt(2 / independent)).all()
    assert (np.diff(draws.var(0)) > 0).all()


def test_future_states_are_one_path(local_level):
    steps = np.diff(local_level["walk"].values.reshape(-1, AHEAD), axis=1)
    count = steps.size
    assert abs(steps.std() / DRIFT - 1) < ERRORS / np.sqrt(2 * count)
    correlation = np.corrcoef(steps.T)[np.triu_indices(AHEAD - 1, 1)]
    assert (abs(correlation) < ERRORS / np.sqrt(len(steps))).all()


def test_an_autoregression_is_continued_from_its_last_values():
    rho, sd, last = np.array([1.2, -0.6]), 0.3, np.array([0.4, 1.0])
    scale = kg.half_normal(1, name="scale")
    kg.observe(np.array([0.1, 0.2]), kg.normal(0, scale), name="y")
    model = kg.model(scale)
    drawn = kg.mcmc(model, draws=2000, chains=1, warmup=100, seed=1, progress=False)
    path = [*last]
    for _ in range(AHEAD):
        path.append(kg.normal(rho[0] * path[-1] + rho[1] * path[-2], sd))
    future = kg.predict(model, drawn, future=kg.stack(path[2:]), seed=3)["predictions"]["future"]
    draws = future.values.reshape(-1, AHEAD)

    means, weights = [*last], [1.0, rho[0]]
    for _ in range(AHEAD):
        means.append(rho[0] * means[-1] + rho[1] * means[-2])
        weights.append(rho[0] * weights[-1] + rho[1] * weights[-2])
    variances = sd**2 * np.cumsum(np.square(weights[:AHEAD]))
    assert (abs(draws.mean(0) - means[2:]) < ERRORS * np.sqrt(variances / 2000)).all()
    assert (abs(draws.var(0) / variances - 1) < ERRORS * np.sqrt(2 / 2000)).all()
