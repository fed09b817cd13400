"""Tests of the joint law: right samplers pass, and each fault of a sampler is found."""

import numpy as np
import pytest
from scipy import stats

from kinetograph import laws


def prior(rng, n):
    """A location and a log scale."""
    return rng.normal(size=(n, 2)) * [1.0, 0.5]


def simulate(rng, theta):
    return theta[:, :1] + np.exp(theta[:, 1:]) * rng.normal(size=(len(theta), 3))


def log_density(theta, y, weight=1.0):
    z = (y - theta[:, :1]) / np.exp(theta[:, 1:])
    return (
        -0.5 * weight * (theta[:, 0] ** 2 + 4 * theta[:, 1] ** 2)
        - 0.5 * (z**2).sum(1)
        - 3 * theta[:, 1]
    )


def random_walk(rng, theta, y, mutant=None):
    """Metropolis's random walk, four transitions."""
    weight = 0.0 if mutant == "prior left out" else 1.0
    for _ in range(4):
        shift = 0.7 * rng.normal(size=theta.shape)
        proposal = theta + shift * (1 + 0.5 * np.tanh(theta) * (mutant == "not symmetric"))
        gain = log_density(proposal, y, weight) - log_density(theta, y, weight)
        accepted = np.log(rng.uniform(size=len(theta))) < gain
        if mutant == "always":
            accepted = accepted | (rng.uniform(size=len(theta)) < 0.1)
        theta = np.where(accepted[:, None], proposal, theta)
    return theta


def geweke(mutant=None, **more):
    return laws.geweke_test(
        prior,
        simulate,
        lambda rng, theta, y: random_walk(rng, theta, y, mutant),
        seed=3,
        **{"steps": 20, **more},
    )


def test_a_right_sampler_keeps_the_joint_law():
    functions = {
        "mean of the data": lambda theta, y: y.mean(1),
        "product": lambda t, y: t[:, 0] * y[:, 0],
    }
    found = geweke(functions=functions)
    assert found.passed(0.01)
    assert set(found.p_values) >= {"parameters[0]", "parameters[1]", "product"}


@pytest.mark.parametrize("mutant", ["prior left out", "not symmetric", "always"])
def test_wrong_samplers_do_not(mutant):
    assert not geweke(mutant).passed()


def test_the_false_alarm_rate_of_the_joint_test():
    """p-values of a perfect sampler; those of a parameter and of its distance are nearly free."""
    posterior = lambda rng, mu, y: y.sum(1) / 3 + rng.normal(size=len(mu)) / 3**0.5
    p = [
        laws.geweke_test(
            lambda rng, n: rng.normal(size=n),
            lambda rng, mu: mu[:, None] + rng.normal(size=(len(mu), 2)),
            posterior,
            replicas=200,
            steps=3,
            seed=i,
        ).p_values["parameters"]
        for i in range(50)
    ]
    assert stats.kstest(p, "uniform").pvalue > 1e-6


def test_what_does_not_fit_is_refused():
    stay = lambda rng, theta, y: theta
    with pytest.raises(ValueError, match=r"the prior returns the shape \(2,\) for 50 replicas"):
        laws.geweke_test(lambda rng, n: np.zeros(2), simulate, stay, replicas=50, seed=1)
    with pytest.raises(ValueError, match=r"turns \(50, 2\) into \(50,\)"):
        laws.geweke_test(prior, simulate, lambda r, t, y: t[:, 0], replicas=50, seed=1)
    with pytest.raises(ValueError, match=r"50 values of parameters\[1\] are not finite"):
        laws.geweke_test(prior, simulate, lambda r, t, y: t * [1, np.nan], replicas=50, seed=1)
    with pytest.raises(ValueError, match="best has the shape"):
        geweke(replicas=50, steps=1, functions={"best": lambda theta, y: theta.max()})


# Eight groups with known errors; the means' posterior given their spread is normal, and so exact.
ERRORS = np.array([15.0, 10, 16, 11, 9, 11, 10, 18])


def conjugate(draws, narrow=1.0, shift=0.0):
    """Draws of eight independent normal means, N(5, 10^2) before the data."""
    precision = 1 / 100 + 1 / ERRORS**2

    def sample(rng, y):
        mean = (5 / 100 + y / ERRORS**2) / precision
        noise = rng.normal(size=(draws, 8)) / np.sqrt(precision)
        return mean + shift / np.sqrt(precision) + narrow * noise

    return laws.simulation_based_calibration(
        lambda rng: 5 + 10 * rng.normal(size=8),
        lambda rng, theta: theta + ERRORS * rng.normal(size=8),
        sample,
        simulations=600,
        seed=2,
    )


def test_calibration_of_exact_draws():
    found = conjugate(draws=99)
    assert found.passed(0.001)
    assert found.ranks.shape == (600, 8)
    assert found.ranks.max() <= 99


@pytest.mark.parametrize("fault", [{"narrow": 0.7}, {"shift": 0.5}])
def test_calibration_finds_wrong_draws(fault):
    assert not conjugate(draws=99, **fault).passed()


def test_ranks_of_discrete_parameters_are_uniform():
    found = laws.simulation_based_calibration(
        lambda rng: rng.integers(0, 3),
        lambda rng, theta: None,
        lambda rng, y: rng.integers(0, 3, size=9),
        simulations=1000,
        seed=1,
    )
    assert found.passed(1e-3)


def test_uneven_classes_of_ranks():
    """Eleven ranks in four classes."""
    ranks = np.random.default_rng(1).integers(0, 11, size=(4000, 2))
    assert laws.rank_test(ranks, 10, bins=4).passed(1e-3)
    ranks[:, 1] = np.minimum(ranks[:, 1] + (ranks[:, 1] < 1), 10)
    found = laws.rank_test(ranks, 10)
    assert not found.passed()
    assert found.worst_name == "[1]"


def test_bad_ranks():
    with pytest.raises(ValueError, match="whole numbers from 0 to 10"):
        laws.rank_test([0, 11], 10)
    with pytest.raises(ValueError, match="39 ranks are too few"):
        laws.rank_test(np.zeros(39, int), 10)
    with pytest.raises(ValueError, match="the first axis must count the draws"):
        laws.simulation_based_calibration(
            lambda rng: 0.0, lambda rng, t: t, lambda rng, y: 0.0, simulations=2, seed=1
        )
    sizes = iter([1, 2])
    sample = lambda rng, y: np.zeros(next(sizes))
    with pytest.raises(ValueError, match=r"got \[1, 2\]"):
        laws.simulation_based_calibration(
            lambda rng: 0.0, lambda rng, t: t, sample, simulations=2, seed=1
        )
