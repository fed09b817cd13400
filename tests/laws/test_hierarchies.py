"""Laws of larger models: two ways of writing one posterior, and priors with known marginals."""

from typing import Any

import numpy as np
import pytest
from scipy import stats
from tests.laws import posteriors
from tests.laws.helpers import assert_mean, assert_moments, ess
from tests.selection import thinned

import kinetograph as kg

pytestmark = pytest.mark.slow


def radon(centred: bool) -> kg.Model:
    """Intercepts of 85 counties, partially pooled, and one slope."""
    d = posteriors.data("radon_mn")
    county, floor = kg.data(d["county_idx"] - 1), kg.data(d["floor_measure"])
    y = kg.data(d["log_radon"])
    mu, beta = kg.normal(0, 10), kg.normal(0, 10)
    spread, sigma = kg.half_normal(1), kg.half_normal(1)
    if centred:
        alpha = kg.normal(mu, spread, shape=d["J"])
    else:
        z = kg.normal(0, 1, shape=d["J"])
        alpha = mu + spread * z
    kg.observe(y, kg.normal(alpha[county] + beta * floor, sigma))
    return kg.model(mu, beta, spread, sigma, alpha)


def agree(a: Any, b: Any) -> None:
    """The means of every quantity differ by less than 5 standard errors of both."""
    left, right = posteriors.quantities(a), posteriors.quantities(b)
    assert list(left) == list(right)
    for name, x in left.items():
        y = right[name]
        assert_mean(x, y.mean(), truth_error=y.std() / np.sqrt(ess(y)), what=f"mean of {name}")


def test_centred_and_non_centred_radon_agree():
    """89 quantities, two samples: fixed seeds."""
    trees = [
        kg.mcmc(radon(centred), draws=2000, seed=40 + centred, progress=False)
        for centred in (True, False)
    ]
    agree(*trees)
    for tree in trees:
        assert int(tree["sample_stats"]["diverging"].sum()) == 0
    shifted = trees[1].copy(deep=True)
    shifted["posterior"]["spread"].values[:] *= 1.05
    with pytest.raises(AssertionError, match="mean of spread is off"):
        agree(trees[0], shifted)


@pytest.mark.parametrize(("dimension", "eta"), thinned([(3, 2.0), (4, 0.5), (2, 1.0)], 3))
def test_lkj_correlations_have_their_beta_marginals(dimension, eta):
    """(r + 1) / 2 ~ Beta(b, b), b = eta - 1 + dimension / 2, for every pair."""
    omega = kg.lkj_correlation(eta, dimension)
    tree = kg.mcmc(kg.model(omega), draws=3000, seed=42, progress=False)
    draws = tree["posterior"]["omega"].values
    b = eta - 1 + dimension / 2
    law = stats.beta(b, b, loc=-1, scale=2)
    pairs = np.stack([draws[..., i, j] for i in range(dimension) for j in range(i)], -1)
    assert_moments(pairs, 0.0, law.std())
    for i in range(pairs.shape[-1]):
        for p in (0.1, 0.9):
            assert_mean((pairs[..., i] < law.ppf(p)).astype(float), p, what=f"share below {p}")
    with pytest.raises(AssertionError, match="standard errors"):
        assert_moments(pairs, 0.0, stats.beta(b + 0.5, b + 0.5, loc=-1, scale=2).std())


CONCENTRATION = np.array([1.0, 2.0, 5.0])
VALUES = np.array([0.8, 1.9, 1.4, 0.3, 2.2])


@pytest.fixture(scope="module")
def posterior():
    """Of independent unknowns in one model."""
    share = kg.dirichlet(CONCENTRATION)
    mu = kg.normal(0, 2)
    y = kg.data(VALUES)
    kg.observe(y, kg.normal(mu, 1))
    chance = kg.beta(2, 3)
    successes = kg.data([7, 4, 9])
    kg.observe(successes, kg.binomial(12, chance))
    a = kg.variable(lower=0, upper=1)
    b = kg.variable(lower=0, upper=1 - a)
    flat = kg.normal(0, 1)
    model = kg.model(share, mu, chance, a, b, factors=[0.0 * flat])
    tree = kg.mcmc(model, draws=4000, seed=43, progress=False)
    return {name: draws.values for name, draws in tree["posterior"].items()}


def test_dirichlet_prior(posterior):
    law = stats.dirichlet(CONCENTRATION)
    assert_moments(posterior["share"], law.mean(), np.sqrt(law.var()))


def test_conjugate_normal_model_with_known_answer(posterior):
    """mu ~ N(0, 2), y ~ N(mu, 1): precision-weighted mean, checked with its variance."""
    precision = 1 / 4 + len(VALUES)
    assert_moments(posterior["mu"], VALUES.sum() / precision, precision**-0.5)


def test_beta_binomial_with_known_answer(posterior):
    law = stats.beta(2 + 20, 3 + 36 - 20)
    assert_moments(posterior["chance"], law.mean(), law.std())


def test_bounded_unknowns_are_uniform(posterior):
    """A flat unknown between bounds, one of them unknown itself: uniform on a triangle."""
    for name in ("a", "b"):
        assert_moments(posterior[name], 1 / 3, np.sqrt(1 / 18))
