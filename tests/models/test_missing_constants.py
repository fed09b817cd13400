"""Missing values of constants are found when a model is made."""

import warnings

import numpy as np
import pandas as pd
import pytest

import kinetograph as kg

Y = pd.Series(np.arange(6.0), name="y")
SHIFTED = Y.shift(1)


@pytest.mark.parametrize(
    "mean",
    [
        lambda rho: rho * SHIFTED,
        lambda rho: kg.exp(rho + SHIFTED.to_numpy()),
        lambda rho: np.c_[np.ones(6), SHIFTED] @ kg.stack([rho, 1.0]),
        lambda rho: kg.scan(lambda level, x: (rho * level + x,) * 2, 0.0, SHIFTED)[1],
        lambda rho: kg.normal(rho * SHIFTED, 1),
    ],
    ids=["product", "sum", "matrix", "scan", "unknown"],
)
def test_a_missing_value_of_a_term_is_refused(mean):
    rho = kg.normal(0, 1)
    kg.observe(Y, kg.normal(mean(rho), 1))
    with pytest.raises(kg.DataError, match=r"\(written at .*\): nan at index .* is nan"):
        kg.model(rho)


def test_the_constant_its_line_and_the_way_out_are_named():
    rho = kg.normal(0, 1)
    mean = rho * Y.shift(2)
    kg.observe(Y, kg.normal(mean, 1))
    line = test_the_constant_its_line_and_the_way_out_are_named.__code__.co_firstlineno + 2
    text = (
        rf"model: y \(written at test_missing_constants.py:{line}\): nan at index 0 and 1 more "
        r"missing value, so that the log density of Y ~ normal\(mean, 1\) is nan for all values of "
        r"the unknowns \(test_missing_constants.py:\d+\); .*; for a lag, write y\[1:\] and y\[:-1\]"
    )
    with pytest.raises(kg.DataError, match=text):
        kg.model(rho)


@pytest.mark.parametrize(
    "mean",
    [
        lambda rho: kg.where(np.isnan(SHIFTED), 0.0, rho * SHIFTED),
        lambda rho: kg.concatenate([[0.0], (rho * SHIFTED)[1:]]),
        lambda rho: rho * np.where(np.isnan(SHIFTED), 0.0, SHIFTED),
        lambda rho: rho * kg.where(np.arange(6) < 1, -np.inf, 1.0),
    ],
    ids=["where", "part", "NumPy", "infinite"],
)
def test_values_that_no_term_depends_on_may_be_missing(mean):
    rho = kg.half_normal(1)
    kg.observe(Y[1:], kg.normal(mean(rho)[1:], 1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isfinite(kg.model(rho).log_prob([0.5]))


def test_missing_values_of_targets_alone_are_not_refused():
    rho = kg.normal(0, 1)
    kg.observe(Y, kg.normal(rho, 1))
    shares = rho * SHIFTED
    assert kg.model(rho, shares).free_size == 1


def test_a_missing_value_of_a_parameter_alone_is_refused_where_it_is_written():
    with pytest.raises(ValueError, match=r"got nan at index 0 in y \(.*\); drop or fill missing"):
        kg.normal(SHIFTED, 1)
