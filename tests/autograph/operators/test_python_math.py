"""Python's `math` in converted code."""

import math

import numpy as np
import pytest

import kinetograph as kg
from kinetograph.autograph.operators.python_math import MATH

POINTS = {"acosh": 1.5, "lgamma": -2.5, "floor": -2.5, "ceil": -2.5, "trunc": -2.5, "fabs": -2.5}
PAIRS = {
    "fmod": (-7.5, 2.0),
    "copysign": (2.0, -3.0),
    "atan2": (-0.5, -2.0),
    "hypot": (3.0, -4.0),
    "pow": (0.7, -2),
    "log": (8.0, 2),
}


def test_every_function_is_python_s():
    calls = {f: PAIRS.get(f.__name__, (POINTS.get(f.__name__, 0.7),)) for f in MATH}

    @kg.function
    def f(x):
        return [g(x + arguments[0], *arguments[1:]) for g, arguments in calls.items()]

    for got, (function, arguments) in zip(f(0.0), calls.items(), strict=True):
        expected = function(*arguments)
        assert got == pytest.approx(expected, rel=1e-12), function
        assert got.dtype == np.asarray(expected).dtype, function


def test_second_arguments_of_the_graph():
    @kg.function
    def f(x):
        return math.log(8.0, x), math.log(x), math.atan2(1, x), math.pow(2, x), math.hypot(x, x)

    expected = [3.0, math.log(2), math.atan2(1, 2), 4.0, math.hypot(2, 2)]
    np.testing.assert_allclose(f(2.0), expected, rtol=1e-12)


def test_numbers_stay_python_s_and_arrays_are_refused():
    @kg.function
    def f(x):
        return math.exp(x) + math.floor(2.5) * len([0] * math.isqrt(9))

    assert f(0.0) == 7.0
    with pytest.raises(TypeError, match=r"math.exp\(x\) .*shape \(2,\), expected a single number"):
        f([1.0, 2.0])
    with pytest.raises(kg.SymbolicTruthError, match=r"kg\.exp in place of math\.exp"):
        math.exp(kg.placeholder())
