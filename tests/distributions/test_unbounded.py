"""Unknowns of the whole line where a parameter must be positive, or a probability."""

import warnings

import numpy as np
import pytest

import kinetograph as kg

ONES = np.ones(3)
B, S, C = kg.normal(0, 1), kg.half_normal(1), kg.normal(0, 1, shape=3)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda x: kg.normal(0, x), r"normal: sd must be positive, and x may .*write kg\.exp\(x\)"),
        (lambda x: kg.poisson(x), r"poisson: rate must be at least 0.*kg\.exp\(x\)"),
        (lambda x: kg.bernoulli(x), r"bernoulli: prob must be between 0 and 1.*kg\.ilogit\(x\)"),
        (
            lambda x: kg.bernoulli(x + B * ONES),
            r"prob .* x \+ B \* ONES may .*ilogit\(x \+ B \* ONES\)",
        ),
        (lambda x: kg.poisson(S - x / 2.0), r"rate must be .*kg\.exp\(S - x / 2"),
        (lambda x: kg.normal(0, S + x * ONES), "sd must be positive"),
        (lambda x: kg.poisson(ONES @ C), "rate must be at least 0"),
        (lambda x: kg.gamma(2, x, truncation=(1, None)), "gamma: rate must be positive"),
    ],
)
def test_what_may_be_any_number_is_told(make, said):
    x = kg.normal(0, 1)
    with pytest.warns(kg.KinetographWarning, match=said) as seen:
        make(x)
    assert len(seen) == 1
    assert seen[0].filename == __file__


@pytest.mark.parametrize(
    "make",
    [
        lambda x: kg.normal(x, 1),
        lambda x: kg.normal(0, kg.exp(x)),
        lambda x: kg.normal(0, kg.normal(0, 1, truncation=(0, None))),
        lambda x: kg.normal(0, kg.variable(lower=0)),
        lambda x: kg.normal(0, kg.half_normal(1)),
        lambda x: kg.normal(0, kg.data(np.ones(2))),
        lambda x: kg.bernoulli(logit=x),
        lambda x: kg.bernoulli(logit=x + B * ONES),
        lambda x: kg.poisson(kg.exp(x + B * ONES)),
        lambda x: kg.poisson(x + abs(x)),
        lambda x: kg.normal(0, (x + S) - x),
        lambda x: kg.poisson(x * x),
        lambda x: kg.poisson(2.0 / x),
        lambda x: kg.normal(0, S + 0.0 * x),
        lambda x: kg.normal(0, S * ONES + 1),
        lambda x: kg.normal(x + B * ONES, 1),
        lambda x: kg.bernoulli(kg.uniform(0, 1)),
        lambda x: kg.random.normal(0, kg.placeholder()),
        lambda x: kg.ordered_logistic(x, [0.0, 1.0]),
        lambda x: kg.multivariate_normal(kg.normal(0, 1, shape=2), np.eye(2)),
    ],
)
def test_what_may_not_is_not(make):
    x = kg.normal(0, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make(x)
