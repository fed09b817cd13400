"""Truncation and censoring of every family: values and slopes at every point of a small support.

Counts against enumeration, whose derivatives are those of a complex step; other numbers against
SciPy's distribution functions and difference quotients of them.
"""

from itertools import pairwise

import jax
import numpy as np
import pytest
from tests.distributions.cases.every import CASES, with_part
from tests.distributions.cases.reals import REALS

from kinetograph.distributions.censoring import censored, interval_censored
from kinetograph.distributions.family import FAMILIES
from kinetograph.distributions.truncation import truncated
from kinetograph.graph.precision import x64

BOTH = ("lower", "upper")
KINDS = {
    "truncation": lambda base: truncated(base, BOTH),
    "truncation below": lambda base: truncated(base, BOTH[:1]),
    "truncation above": lambda base: truncated(base, BOTH[1:]),
    "censoring": lambda base: censored(base, BOTH),
    "censoring below": lambda base: censored(base, BOTH[:1]),
    "censoring above": lambda base: censored(base, BOTH[1:]),
    "interval": interval_censored,
}
STEP = 1e-30
CONTINUOUS = with_part("sets", REALS)
COUNTS = {name: CASES[name].counts for name in with_part("counts")}
WHOLE_PARAMETERS = {"size", "min", "max", "m", "n", "k"}
LOWS = (-np.inf, -3.0, 0.0, 0.5, 1.0, 2.0, 2.5, 7.0)
HIGHS = (0.0, 0.5, 1.0, 2.5, 3.0, 6.0, 20.0, np.inf)


def test_every_family_with_tails_is_here():
    with_tails = {name for name, family in FAMILIES.items() if family.tails is not None}
    assert with_tails == set(COUNTS) | set(CONTINUOUS)


def pairs_of(kind, lows, highs):
    """The bounds that a kind has, with infinity where it has none."""
    lows = (-np.inf,) if "above" in kind else lows
    highs = (np.inf,) if "below" in kind else highs
    return [(low, high) for low in lows for high in highs if low < high]


def rows_of(kind, points, lows, highs):
    """What is seen and the bounds, in rows."""
    pairs = pairs_of(kind, lows, highs)
    if kind == "interval":
        some = [pair for pair in pairs if np.isfinite(pair).any()]
        return np.array([(0.0, *pair) for pair in [*some, *((x, x) for x in points)]])
    cut = kind.startswith("truncation")
    rows = [(x, *pair) for pair in pairs for x in points if cut or pair[0] <= x <= pair[1]]
    return np.array(rows)


def found(kind, family, parameters, rows, forward=False):
    """Values at the rows, and slopes by each number of the parameters in a column.

    Whole numbers, by which a slope may be infinite, are constants.
    """
    bounded = KINDS[kind](family)
    shapes = [np.shape(p) for p in parameters]
    ends = np.cumsum([0, *(int(np.prod(shape)) for shape in shapes)])
    flat = np.concatenate([np.ravel(p) for p in parameters]).astype(float)
    whole_table = np.tile(flat, (len(rows), 1))

    def values(table):
        whole = [parameter.name in WHOLE_PARAMETERS for parameter in family.parameters]
        tables = [whole_table if each else table for each in whole]
        parts = [of[:, a:b] for of, (a, b) in zip(tables, pairwise(ends), strict=False)]
        given = [part.reshape(-1, *shape) for part, shape in zip(parts, shapes, strict=True)]
        if kind == "interval":
            return bounded.log_density(rows[:, 1:], *given)
        bounds = dict(zip(BOTH, rows[:, 1:].T, strict=True))
        return bounded.log_density(rows[:, 0], *given, *(bounds[side] for side in bounded.sides))

    @jax.jit
    def backward(table):
        out, slopes = jax.vjp(values, table)
        return out, slopes(np.ones(len(rows)))[0]

    @jax.jit
    def along(table, move):
        return jax.jvp(values, (table,), (move,))

    with x64():
        table = whole_table
        if not forward:
            return tuple(map(np.asarray, backward(table)))
        moves = [np.tile(move, (len(rows), 1)) for move in np.eye(len(flat))]
        pairs = [along(table, move) for move in moves]
        return np.asarray(pairs[0][0]), np.stack([slope for _, slope in pairs], -1)


def enumerated(kind, probabilities, row):
    """The logarithm of the probability of what is seen."""
    x, low, high = row
    k = np.arange(len(probabilities))
    among = (k >= low) & (k <= high) if kind.startswith("truncation") else k >= 0
    if kind == "interval":
        seen = (k >= low) & (k <= high)
    elif kind.startswith("censoring") and (x <= low or x >= high):
        seen = k <= low if x <= low else k >= high
    else:
        seen = k == x
    if not (seen & among).any():
        return -np.inf
    rest = 0.0 if among.all() else np.log(probabilities[among].sum())
    return np.log(probabilities[seen & among].sum()) - rest


def check_counts(name, kind, forward=False):
    parameters, probabilities = COUNTS[name]
    flat = np.concatenate([np.ravel(p) for p in parameters])
    rows = rows_of(kind, POINTS[: len(probabilities(*(flat + 0j)))], LOWS, HIGHS)
    values, slopes = found(kind, FAMILIES[name], parameters, rows, forward)
    names = [p.name for p, v in zip(FAMILIES[name].parameters, parameters) for _ in np.ravel(v)]
    wanted = np.array([enumerated(kind, probabilities(*(flat + 0j)), row) for row in rows])
    np.testing.assert_allclose(values, wanted.real, rtol=1e-11, atol=1e-12, err_msg=str(rows))
    for place in (k for k, each in enumerate(names) if each not in WHOLE_PARAMETERS):
        moved = probabilities(*(flat + 1j * STEP * (np.arange(len(flat)) == place)))
        wanted = [np.imag(enumerated(kind, moved, row)) / STEP for row in rows]
        got = np.where(np.isneginf(values) & np.isfinite(slopes[:, place]), 0.0, slopes[:, place])
        np.testing.assert_allclose(got, wanted, rtol=1e-8, atol=1e-10)


POINTS = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
TWO_SIDED = ("truncation", "censoring", "interval")
DAILY = [
    ("poisson", "censoring"),
    ("beta_binomial", "truncation"),
    ("binomial", "interval"),
    ("geometric", "truncation"),
    ("bernoulli_logit", "interval"),
    ("discrete_uniform", "censoring"),
    ("zero_inflated_poisson", "interval"),
    ("hurdle_poisson", "censoring"),
    ("ordered_logistic", "truncation"),
    ("ordered_probit", "censoring"),
]


@pytest.mark.parametrize(("name", "kind"), DAILY)
def test_counts(name, kind):
    check_counts(name, kind)


@pytest.mark.slow
@pytest.mark.parametrize("forward", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", COUNTS)
def test_counts_by_all_bounds(name, kind, forward):
    check_counts(name, kind, forward)


class Bounded:
    """Logarithms of probabilities by SciPy's distribution functions, from the smaller side."""

    def __init__(self, law):
        self.law = law
        self.bottom, self.top = law.support()

    def below(self, x):
        p = self.law.cdf(x).item()
        return float(np.log(p)) if p > 0 else -np.inf

    def above(self, x):
        return float(np.log(self.law.sf(x).item())) if x < self.top else -np.inf

    def between(self, low, high):
        if low > self.bottom and self.law.cdf(low).item() > 0.5:
            return np.log(np.exp(self.above(low)) - np.exp(self.above(high)))
        upper = self.law.cdf(high).item() if high < self.top else 1.0
        return np.log(upper - (self.law.cdf(low).item() if low > self.bottom else 0.0))


def by_scipy(kind, law, row, log_density):
    """The logarithm of the density or probability of what is seen."""
    x, low, high = row
    probability = Bounded(law)
    if kind == "interval":
        return log_density if low == high else probability.between(low, high)
    if kind.startswith("truncation"):
        return log_density - probability.between(low, high) if low <= x <= high else -np.inf
    if x <= low:
        return probability.below(low)
    return probability.above(high) if x >= high else log_density


def check_continuous(name, kind):
    make, parameters = CASES[name].tail_law, CASES[name].sets[0]
    law = make(*parameters)
    points = np.ravel(law.ppf([0.1, 0.35, 0.6, 0.85]))
    bottom, top = law.support()
    lows = [-np.inf, *np.ravel(law.ppf([0.1, 0.5])), *([bottom - 1.0] if bottom > -np.inf else [])]
    highs = [np.inf, *np.ravel(law.ppf([0.6, 0.97])), *([top + 1.0] if top < np.inf else [])]
    rows = rows_of(kind, points, lows, highs)
    if kind.startswith("censoring"):  # a bound beyond the support is the support's when it is made
        rows = np.array([(x, max(low, bottom), min(high, top)) for x, low, high in rows])
    values, slopes = found(kind, FAMILIES[name], parameters, rows)

    @jax.jit
    def densities(given):
        return FAMILIES[name].log_density(rows[:, 1 if kind == "interval" else 0], *given)

    def wanted(given):
        with x64():
            density = np.asarray(densities(tuple(given)))
        law = make(*given)
        return np.array([by_scipy(kind, law, *pair) for pair in zip(rows, density, strict=True)])

    exact = wanted(parameters)
    np.testing.assert_allclose(values, exact, rtol=1e-7, atol=1e-9)
    inside = np.isfinite(exact)
    for place, parameter in enumerate(parameters):
        step = 2e-6 * max(abs(parameter), 0.1)  # quotients may lie across a kink of the density
        at = [[*parameters[:place], parameter + k * step, *parameters[place + 1 :]] for k in STEPS]
        quotient = sum(w * wanted(given) for w, given in zip(WEIGHTS, at, strict=True)) / step
        assert np.isfinite(slopes[:, place]).all()
        np.testing.assert_allclose(slopes[inside, place], quotient[inside], rtol=2e-5, atol=2e-6)


STEPS, WEIGHTS = (-2, -1, 1, 2), (1 / 12, -2 / 3, 2 / 3, -1 / 12)


@pytest.mark.parametrize(
    ("name", "kind"),
    [("gamma", "interval"), ("student", "truncation"), ("skew_normal", "interval")],
)
def test_continuous(name, kind):
    check_continuous(name, kind)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous_by_all_bounds(name, kind):
    check_continuous(name, kind)
