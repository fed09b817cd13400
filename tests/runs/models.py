"""Small models for the tests of runs."""

from functools import cache
from typing import Any

import numpy as np

import kinetograph as kg

__all__ = [
    "centred_schools",
    "check_alike",
    "gaussian",
    "run",
    "same_draws",
    "schools",
    "weights",
]

# As in the documentation and the example, whose compiled programs the tests share.
EFFECTS = [28, 8, -3, 7, -1, 1, 18, 12]
ERRORS = [15, 10, 16, 11, 9, 11, 10, 18]
NAMES = ["Choate", "Deerfield", "Andover", "Exeter", "Hotchkiss", "Lawrenceville", "Paul's", "Mt."]


def _schools(centred: bool) -> kg.Model:
    effects = kg.data(EFFECTS, dims="school")
    errors = kg.data(ERRORS, dims="school")
    mu = kg.normal(0, 5)
    tau = kg.half_cauchy(5)
    if centred:
        theta = kg.normal(mu, tau, shape=8, dims="school")
    else:
        z = kg.normal(0, 1, shape=8, dims="school")
        theta = mu + tau * z
    kg.observe(effects, kg.normal(theta, errors))
    return kg.model(mu, tau, theta, coords={"school": NAMES})


@cache
def schools() -> kg.Model:
    """Eight schools, non-centred, with named schools."""
    return _schools(False)


@cache
def centred_schools() -> kg.Model:
    """The same with theta ~ normal(mu, tau): a funnel."""
    return _schools(True)


@cache
def gaussian() -> kg.Model:
    """x ~ normal(1, 2) alone."""
    x = kg.normal(1, 2)
    return kg.model(x)


@cache
def weights() -> kg.Model:
    """A simplex, an ordered vector and a positive number, observed nothing."""
    share = kg.dirichlet([2.0, 3.0, 4.0])
    rate = kg.gamma(3.0, 2.0)
    return kg.model(share, rate)


def run(model: kg.Model, **options: Any) -> Any:
    """A short run in silence."""
    settings = {"draws": 60, "warmup": 80, "chains": 2, "seed": 5, "progress": False}
    return kg.mcmc(model, **(settings | options))


def same_draws(a: Any, b: Any, groups: tuple[str, ...] = ("posterior", "sample_stats")) -> bool:
    """Whether all variables of these groups are equal to the last bit."""
    for group in groups:
        left, right = a[group].dataset, b[group].dataset
        if list(left.data_vars) != list(right.data_vars):
            return False
        for name in left.data_vars:
            x, y = left[name].values, right[name].values
            if not np.array_equal(x, y, equal_nan=x.dtype.kind == "f"):
                return False
    return True


def check_alike(a: Any, b: Any, rtol: float = 1e-8) -> None:
    """That results have the same groups, and variables that differ by rounding alone."""
    assert set(a.children) == set(b.children)
    for group in a.children:
        left, right = a[group].dataset, b[group].dataset
        assert list(left.data_vars) == list(right.data_vars)
        for name in left.data_vars:
            x, y = left[name].values, right[name].values
            assert (x.shape, x.dtype) == (y.shape, y.dtype), name
            np.testing.assert_allclose(x, y, rtol=rtol, atol=rtol, err_msg=f"{group}/{name}")
