"""Models whose data are all censored warn, as bounds equal to the data are usually a mistake."""

import numpy as np
import pytest

import kinetograph as kg

TIMES = np.array([1.0, 2.0, 3.0, 2.5])


@pytest.mark.parametrize(
    ("times", "censoring", "words"),
    [
        (TIMES, (None, TIMES), r"all 4 values of times are right-censored .*np\.where"),
        (TIMES, (TIMES, None), r"all 4 values of times are left-censored .*-np\.inf"),
        (TIMES, (0.5, TIMES), "right-censored"),
        (np.full(3, 5.0), (None, 5.0), "all 3 values of times are right-censored"),
        (np.stack([TIMES, TIMES * np.inf], -1), "interval", "all 4 values .* is open"),
    ],
)
def test_all_values_at_their_bounds(times, censoring, words):
    mu = kg.normal(0, 1)
    kg.observe(times, kg.normal(mu, 1, censoring=censoring))
    with pytest.warns(kg.KinetographWarning, match=words):
        kg.model(mu)


@pytest.mark.parametrize(
    ("times", "censoring"),
    [
        (TIMES, (None, np.where(TIMES == 3.0, TIMES, np.inf))),
        (TIMES, (None, np.full(4, np.inf))),
        (TIMES, (None, 3.0)),
        (TIMES[:1], (None, TIMES[:1])),  # rows may be observed one by one
        (np.stack([TIMES, TIMES + 1], -1), "interval"),
    ],
)
def test_other_values(times, censoring):
    mu = kg.normal(0, 1)
    kg.observe(times, kg.normal(mu, 1, censoring=censoring))
    assert kg.model(mu).names == ("mu",)


def test_a_second_likelihood_has_the_values_that_are_not_censored():
    mu = kg.normal(0, 1)
    kg.observe(TIMES[:2], kg.normal(mu, 1))
    kg.observe(TIMES[2:], kg.normal(mu, 1, censoring=(None, TIMES[2:])))
    assert kg.model(mu).names == ("mu",)


def test_a_likelihood_of_another_family_does_not():
    mu = kg.normal(0, 1)
    kg.observe([2], kg.poisson(kg.exp(mu)))
    kg.observe(TIMES, kg.normal(mu, 1, censoring=(None, TIMES)))
    with pytest.warns(kg.KinetographWarning, match="values of TIMES are right-censored"):
        kg.model(mu)


def test_a_likelihood_of_other_unknowns_does_not():
    mu, nu = kg.normal(0, 1), kg.normal(0, 1)
    kg.observe(TIMES[:2] - 9, kg.normal(nu, 1))
    kg.observe(TIMES, kg.normal(mu, 1, censoring=(None, TIMES)))
    with pytest.warns(kg.KinetographWarning, match="values of TIMES are right-censored"):
        kg.model(mu, nu)


def test_a_formula_whose_rows_are_all_censored():
    table = {"y": [1.0, 2.0, 3.0], "c": [1, 1, 1]}
    with pytest.warns(kg.KinetographWarning, match=r"values of y are right-censored.*cens\(c\)"):
        kg.formula("y | cens(c) ~ 1", table)


@pytest.mark.parametrize("flags", [np.array([1, 0, 1, 1]), TIMES > 1])
@pytest.mark.parametrize("side", [0, 1])
def test_flags_are_not_bounds(flags, side):
    censoring = (flags, None) if side == 0 else (None, flags)
    with pytest.raises(TypeError, match=r"look like flags; a bound .*np\.where"):
        kg.weibull(2, 1, censoring=censoring)


def test_bounds_of_counts_may_be_0_and_1():
    bounds = np.array([0, 1, 1])
    mu = kg.normal(0, 1)
    kg.observe([0, 2, 1], kg.poisson(kg.exp(mu), censoring=(bounds, None)))
    assert kg.model(mu).names == ("mu",)
