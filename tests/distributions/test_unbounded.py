"""Unknowns of the whole line where a parameter must be positive, or a probability."""

import tracemalloc
import warnings

import numpy as np
import pytest

import kinetograph as kg
from kinetograph.distributions.unbounded import Values, values_of

ONES, TURNS = np.ones(3), np.array([1.0, -1.0, 0.0])
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
        (lambda x: kg.poisson(x * B), r"x \* B may be any real number"),
        (lambda x: kg.poisson(-S), r"-S may be negative .*: .* write kg\.exp\(-S\)"),
        (lambda x: kg.poisson(-S * kg.exp(x)), "may be negative"),
        (lambda x: kg.poisson(kg.ilogit(x) * -S), "may be negative"),
        (lambda x: kg.poisson(ONES @ (S * C)), "may be any real number"),
        (lambda x: kg.poisson(C[np.array([0, 1])] / S), "may be any real number"),
        (lambda x: kg.poisson(ONES @ C.reshape(3, 1)), "may be any real number"),
        (lambda x: kg.poisson(x * TURNS * (ONES + 1)), "may be any real number"),
        (lambda x: kg.poisson(-2.0 * S), "may be negative"),
        (lambda x: kg.bernoulli(-2.0 * -S), "may be above 1"),
        (lambda x: kg.poisson(x**3), "may be any real number"),
        (lambda x: kg.poisson(1 - x**2), "may be negative"),
        (
            lambda x: kg.bernoulli(kg.exp(x + B * ONES)),
            r"prob .*exp\(x \+ B \* ONES\) may be above 1 .*write kg\.ilogit\(x \+ B \* ONES\), or",
        ),
        (lambda x: kg.binomial(9, S), r"S may be above 1 .*write an unknown such as kg\.beta"),
        (lambda x: kg.bernoulli(S * ONES), r"above 1 .*write kg\.ilogit of a real number, or"),
        (lambda x: kg.bernoulli(abs(x)), "may be above 1"),
        (lambda x: kg.bernoulli(x**2), "may be above 1"),
        (lambda x: kg.bernoulli(kg.sqrt(S + kg.exp(x))), "may be above 1"),
        (lambda x: kg.bernoulli(S / kg.exp(x)), "may be above 1"),
        (
            lambda x: kg.bernoulli(2 * kg.ilogit(x)),
            r"2 \* expit\(x\) may be between 0 and 2 .*write kg\.ilogit of a real number, or",
        ),
        (lambda x: kg.bernoulli(kg.ilogit(x * ONES)[0] / 0.5), "may be between 0 and 2"),
        (lambda x: kg.bernoulli(1 - 2 * kg.ilogit(x)), "may be between -1 and 1"),
        (lambda x: kg.binomial(9, 0.5 - -kg.ilogit(x)), "may be between 0.5 and 1.5"),
        (lambda x: kg.bernoulli(kg.tanh(x)), "may be between -1 and 1"),
        (lambda x: kg.normal(0, kg.tanh(x)), "sd must be positive, and tanh"),
        (lambda x: kg.bernoulli(2 * kg.beta(1, 1)), "may be between 0 and 2"),
        (lambda x: kg.bernoulli(kg.uniform(0, 3)), "may be between 0 and 3 .*: .* write an unkno"),
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
        lambda x: kg.poisson(x**2 + S),
        lambda x: kg.poisson(S * kg.beta(2, 2)),
        lambda x: kg.poisson(S * TURNS * TURNS),
        lambda x: kg.poisson((x * TURNS) ** 2 * np.array([0.0, 0.0, -1.0])),
        lambda x: kg.poisson(kg.sqrt(S * TURNS) * -TURNS),
        lambda x: kg.poisson((S + x**2 * TURNS) * TURNS),
        lambda x: kg.poisson(TURNS @ (x * ONES)),
        lambda x: kg.poisson(TURNS @ kg.broadcast_to(x, (3,))),
        lambda x: kg.poisson(TURNS @ (np.ones((3, 3)) @ C)),
        lambda x: kg.poisson(S / kg.exp(x)),
        lambda x: kg.poisson(ONES @ kg.stack([x, -x, S])),
        lambda x: kg.bernoulli(kg.exp(-S)),
        lambda x: kg.bernoulli(1 - kg.exp(-S * ONES)),
        lambda x: kg.bernoulli(kg.exp(x - x)),
        lambda x: kg.bernoulli(kg.minimum(S, 1)),
        lambda x: kg.bernoulli(S / (S + 1)),
        lambda x: kg.bernoulli(S * (1 / (1 + S))),
        lambda x: kg.bernoulli(x**-2),
        lambda x: kg.bernoulli(kg.half_normal(1, truncation=(None, 1))),
        lambda x: kg.bernoulli(kg.variable(lower=0, upper=S)),
        lambda x: kg.beta_binomial(9, S, S),
        lambda x: kg.normal(0, S * ONES + 1),
        lambda x: kg.normal(x + B * ONES, 1),
        lambda x: kg.bernoulli(kg.uniform(0, 1)),
        lambda x: kg.bernoulli(0.1 + 0.9 * kg.ilogit(x)),
        lambda x: kg.bernoulli(1 - kg.ilogit(-x) / 2),
        lambda x: kg.bernoulli((1 + kg.tanh(x)) / 2),
        lambda x: kg.bernoulli(kg.uniform(0, 100) / 100),
        lambda x: kg.bernoulli(np.array([0.5, 1.0]) * kg.ilogit(x) + np.array([0.5, 0.0])),
        lambda x: kg.bernoulli(2 * kg.ilogit(-S)),
        lambda x: kg.normal(0, 1 + kg.tanh(x)),
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


@pytest.mark.parametrize(
    ("numbers", "negative", "positive", "uneven"),
    [
        ([1.0, 2.0], False, True, False),
        ([-1, -2], True, False, False),
        ([-1.0, 2.0], True, True, True),
        ([0.0, 2.0], False, True, True),
        ([False, False], False, False, True),
        ([], False, False, False),
    ],
)
def test_signs_of_numbers(numbers, negative, positive, uneven):
    node = kg.data(np.array(numbers)).node
    assert values_of(node) == Values(negative=negative, positive=positive, uneven=uneven)


def test_signs_of_many_numbers_take_no_memory():
    """The numbers may be in a file that is larger than memory."""
    node = kg.data(np.arange(1_000_000.0)).node
    tracemalloc.start()
    values_of(node)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100_000
