"""Draws of the prior as free states."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import kinetograph as kg
from kinetograph.tempering.prior import AT_ONCE, PriorDraws


def test_draws_continue_and_do_not_repeat():
    sd = kg.exponential(2.0, name="sd")
    kg.observe(0.0, kg.normal(0, sd))
    model = kg.model(sd)
    draws = PriorDraws(model, 1, "temper")
    parts = np.concatenate([draws(n) for n in (3, AT_ONCE, 2000)])
    assert len(np.unique(parts)) == 2003 + AT_ONCE
    np.testing.assert_array_equal(parts, PriorDraws(model, 1, "temper")(len(parts)))
    assert stats.kstest(np.exp(parts[:, 0]), stats.expon(scale=0.5).cdf).pvalue > 1e-6
    later = PriorDraws(model, 1, "temper", 1000)(500)
    assert not np.isin(later, parts).any()


FLAT = [
    (lambda: kg.variable(), "variable", "kg.normal(0, 10)"),
    (lambda: kg.variable(lower=0), "variable", "kg.half_normal(10)"),
    (lambda: kg.variable(lower=2), "variable", "kg.normal(0, 10, truncation=(2, None))"),
    (lambda: kg.variable(upper=3), "variable", "kg.normal(0, 10, truncation=(None, 3))"),
    (lambda: kg.variable(0, 1), "variable", "kg.uniform(0, 1)"),
    (lambda: kg.simplex_variable(3), "simplex_variable", "kg.dirichlet(np.ones(3))"),
    (lambda: kg.correlation_variable(3), "correlation_variable", "kg.lkj_correlation(2, 3)"),
    (
        lambda: kg.cholesky_variable(3, correlation=True),
        "cholesky_variable",
        "kg.lkj_cholesky(2, 3)",
    ),
    (
        lambda: kg.cholesky_variable(3),
        "cholesky_variable",
        "sd[:, None] * kg.lkj_cholesky(2, 3) with sd = kg.half_normal(10, shape=3)",
    ),
    (
        lambda: kg.covariance_variable(3),
        "covariance_variable",
        "sd[:, None] * sd * kg.lkj_correlation(2, 3) with sd = kg.half_normal(10, shape=3)",
    ),
    (
        lambda: kg.ordered_variable((2, 3)),
        "ordered_variable",
        "kg.sort(kg.normal(0, 10, shape=(2, 3)))",
    ),
    (
        lambda: kg.ordered_variable(3, positive=True),
        "ordered_variable",
        "kg.sort(kg.half_normal(10, shape=3))",
    ),
]


@pytest.mark.parametrize(("make", "maker", "example"), FLAT)
def test_a_flat_prior_is_answered_with_one_of_its_support(make, maker, example):
    v = make()
    model = kg.model(v, factors=[-(v**2).sum()])
    with pytest.raises(kg.ModelError) as caught:
        kg.temper(model, particles=100)
    text = str(caught.value)
    assert f"is a kg.{maker}, whose" in text
    found = re.search(r"in its place, such as (.*?)(, with the mean|$)", text)[1]
    assert found == example
    # Draws of the example lie in the support of the variable.
    expression, _, sd = found.partition(" with sd = ")
    names = {"kg": kg, "np": np, "sd": eval(sd, {"kg": kg}) if sd else None}
    prior = eval(expression, names)
    (values,) = kg.calculate(prior, draws=20, seed=1).values()
    assert v.node.support.contains(values).all()


def test_flat_priors_of_a_formula_are_replaced_by_prior():
    frame = pd.DataFrame({"x": [0.0, 1.0, 2.0, 4.0], "y": [1.0, 0.0, 2.0, 3.0]})
    formulas = ["y ~ x", "sigma ~ x"]
    for given, key, more in (
        ({}, "b_x", ", or {'b': kg.normal(0, 10)} for all slopes"),
        ({"b": kg.normal(0, 1)}, "b_sigma_x", ""),
        ({"b": kg.normal(0, 1), "b_sigma": kg.normal(0, 1)}, None, None),
    ):
        model = kg.formula(formulas, frame, default_priors="brms", prior=given)
        if key is None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                kg.temper(model, particles=50, progress=False, seed=1)
            continue
        with pytest.raises(kg.ModelError) as caught:
            kg.temper(model, particles=50)
        assert str(caught.value).endswith(f"such as prior={{{key!r}: kg.normal(0, 10)}}{more}")
