"""Hyper-parameters given as expressions of the graph."""

import numpy as np
import pytest

import kinetograph as kg
from kinetograph import samplers


def test_an_expression_of_data_and_numbers_is_its_value():
    variance = kg.data([1.0, 4.0])
    made = samplers.HMC(kg.sqrt(kg.data(0.01)), n_steps=kg.data(3) + 1, scale=kg.sqrt(variance))
    assert made == samplers.HMC(0.1, n_steps=4, scale=[1.0, 2.0])
    assert type(made.step_size) is float
    np.testing.assert_array_equal(samplers.BAOAB(0.1 * variance).step_size, [0.1, 0.4])
    made.step_size = 2 * kg.data(0.3)
    assert made.step_size == 0.6
    x = kg.normal(0.0, 1.0, name="x")
    y = kg.data(0.3, "y")
    kg.observe(y, kg.normal(x, 1.0))
    chain = kg.chain(kg.model(x), samplers.BAOAB(0.1), seed=1)
    chain.hyper["step_size"] = 0.5 * y
    assert chain.hyper["step_size"] == 0.15


@pytest.mark.parametrize(
    ("expression", "name"),
    [
        (lambda: 2 * kg.normal(0.0, 1.0, name="x"), "x"),
        (lambda: kg.exp(kg.placeholder(name="p")), "p"),
        (lambda: kg.random.uniform(), "state"),
    ],
    ids=["unknown", "placeholder", "random"],
)
def test_other_expressions_have_no_value(expression, name):
    value = expression()
    with pytest.raises(TypeError, match=rf"HMC: step_size may .*depends on {name}.*has no value"):
        samplers.HMC(value)


def test_its_value_is_checked():
    with pytest.raises(ValueError, match="HMC: step_size must be positive"):
        samplers.HMC(kg.data(1.0) - 2.0)
    with pytest.raises(TypeError, match="HMC: n_steps must be a whole number"):
        samplers.HMC(n_steps=kg.data(1.5))
