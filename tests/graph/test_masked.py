"""Masked elements are refused wherever an array is accepted."""

import numpy as np
import pandas as pd
import pytest

import kinetograph as kg

MASKED = np.ma.masked_array([1.0, 99.0, 3.0], [False, True, False])
PLACES = np.ma.masked_array([0, 2, 1], [False, True, False])


def model():
    a = kg.normal(0, 1, shape=3, name="a")
    kg.observe(np.zeros(3), kg.normal(a, 1), name="y")
    return kg.model(a)


ENTRANCES = {
    "input": lambda x: kg.compile([x], x.sum())(MASKED),
    "nullable input": lambda x: kg.compile([x], x)(pd.array([1.0, None, 3.0])),
    "nullable operand": lambda x: x + pd.array([1, None, 3]),
    "operand": lambda x: x + MASKED,
    "ufunc": lambda x: np.add(x, MASKED),
    "reduction": lambda x: kg.sum(MASKED),
    "where": lambda x: kg.where(x > 0, 1.0, MASKED),
    "write": lambda x: x.at[:].set(MASKED),
    "index": lambda x: x[PLACES],
    "parameter": lambda x: kg.normal(MASKED, 1.0),
    "value": lambda x: kg.log_density(kg.normal(0, 1), MASKED),
    "scan": lambda x: kg.scan(lambda c, v: (c + v, c), 0.0, MASKED),
    "state": lambda x: kg.state(MASKED),
    "times": lambda x: kg.ode.solve(lambda t, y: -y, 1.0, np.ma.array([0.0, 1, 2], mask=[0, 1, 0])),
    "points": lambda x: kg.gp.rbf(1.0)(MASKED),
    "length": lambda x: kg.gp.rbf(MASKED)(np.zeros((2, 3))),
    "point": lambda x: model().log_prob({"a": MASKED}),
    "free state": lambda x: model().log_prob(MASKED),
    "condition": lambda x: kg.condition(model(), a=MASKED),
    "start": lambda x: kg.opt(model(), initial={"a": MASKED}),
    "free start": lambda x: kg.opt(model(), initial=MASKED),
    "calculate": lambda x: kg.calculate((a := kg.normal(0, 1, shape=3)) + 1, values={a: MASKED}),
}


@pytest.mark.parametrize("entrance", ENTRANCES)
def test_masked_elements_are_refused(entrance):
    with pytest.raises(kg.DataError, match="masked at index 1") as told:
        ENTRANCES[entrance](kg.placeholder((3,), name="x"))
    assert "99" not in str(told.value)


def test_a_mask_that_hides_nothing_is_none():
    whole = np.ma.masked_array([1.0, 2.0, 3.0], [False] * 3)
    x = kg.placeholder((3,), name="x")
    np.testing.assert_array_equal(kg.compile([x], x + whole)(whole), [2.0, 4.0, 6.0])
    assert model().log_prob({"a": whole}) == model().log_prob({"a": [1.0, 2.0, 3.0]})
