"""Long loops over Python's range: the same numbers as Python, from a loop of the graph."""

import warnings
from collections import deque
from io import StringIO

import numpy as np
import pytest
from tests.autograph.sources import function

import kinetograph as kg

Y = np.random.default_rng(1).normal(size=70)

STAGED = {
    "recursion": "for t in range(1, len(y)):\n  s = 0.5 * s + (y[t] - y[t - 1]) ** 2",
    "negative index": "for t in range(60):\n  s = 0.9 * s + y[-t - 1] * y[t - 60]",
    "steps down": "for t in range(69, 2, -1):\n  s = 0.9 * s + y[t]",
    "conditions": "for t in range(70):\n  s = s + y[t] if t % 3 == 1 or s > 2 else s * x",
    "no index": "for _ in range(60):\n  s = np.sin(s) + x",
    "first bound in the loop": "for t in range(70):\n  d = y[t] - x\n  s = s + d * d\ns = s + d",
    "type changes in the first trip": "s = 0\nfor t in range(70):\n  s = s + y[t] * x",
    "none before": "p = None\nfor t in range(70):\n"
    "  p = y[t] if p is None else p * x + y[t]\ns = p",
    "writes": "z = np.zeros(70)\nfor t in range(1, 70):\n  z[t] = z[t - 1] * 0.5 + x\ns = z.sum()",
    "nested": "for t in range(60):\n  for k in range(3):\n    s = 0.9 * s + y[t + k] * x",
    "a list of arrays": "w = [x, 2 * x]\nfor t in range(60):\n  s = 0.9 * s + w[t % 2]",
    "tuples": "c = x\nfor t in range(60):\n  s, c = 0.5 * c + y[t], 0.9 * s",
    "helper": "h = lambda a, b: 0.5 * a + np.cos(b)\nfor t in range(60):\n  s = h(s, y[t])",
    "continue": "for t in range(60):\n  if t < 5:\n    continue\n  s = 0.9 * s + y[t] * x",
    "inside a branch": "if x > 0:\n  for t in range(60):\n    s = 0.9 * s + y[t]",
    "a while inside": "for t in range(60):\n  while s > 1:\n    s = s / 2\n  s = s + y[t] ** 2",
}
IN_PYTHON = {
    "arithmetic": "for t in range(60):\n  s = s + x ** t",
    "appended": "z = []\nfor t in range(60):\n  z.append(x * y[t])\ns = sum(z)",
    "appended by a helper": "z = []\ng = z.append\nfor t in range(60):\n  g(x * y[t])\ns = sum(z)",
    "keys": "z = {}\nfor t in range(60):\n  z[t] = x * y[t]\ns = sum(z.values())",
    "an iterator": "i = iter(range(99))\nfor t in range(60):\n  s = 0.9 * s + x * next(i)",
    "keys of text": "z = {f'{t}': x + t for t in range(60)}\n"
    "for t in range(60):\n  s = s + z[f'{t}']",
    "growing shapes": "z = np.array([1.0])\nfor t in range(60):\n  z = np.append(z, x)\n"
    "s = z.sum()",
    "a counter": "k = 0\nfor _ in range(80):\n  s = s + x / 2**k\n  k += 1",
    "exact whole numbers": "h = 1\nfor _ in range(60):\n  h = h * 33 + 7\n  s = s + x * (h % 101)",
    "text": "k = 0\nfor _ in range(60):\n  k += 1\n  s = s + x * len(f'{k}')",
    "a queue": "z = deque()\nfor _ in range(60):\n  z += [1]\n  s = s + x\ns = s + len(z)",
    "a set": "z = set()\nfor t in range(60):\n  z |= {len(z)}\n  s = s + x\ns = s + len(z)",
    "bytes": "z = bytearray()\nfor t in range(60):\n  z += b'1'\n  s = s + x\ns = s + len(z)",
    "a property": "for t in range(60):\n  s = s + x * Counting.made.count",
    "an operator": "for t in range(60):\n  s = s + x * (Counting.made + 1)",
    "an array in place": "def g(z):\n  q = 0 * x\n  for t in range(60):\n    z += 1\n"
    "    q = q + y[t]\n  return q\nz = np.zeros(3)\ns = g(z) + z.sum()",
    "a helper that calls a library": "z = StringIO()\ndef g(a):\n  print('x', file=z)\n"
    "  return a\nfor t in range(60):\n  s = s + g(x)\ns = s + len(z.getvalue())",
    "a comparison": "for t in range(60):\n  s = s + (x if (t > 3) is True else 0.0)",
    "an inverted comparison": "for t in range(60):\n  s = s + x * ~(t > 3)",
    "a function with an effect": "z = [0]\ndef g(a):\n  z[0] += 1\n  return a * x\n"
    "for t in range(60):\n  s = g(s) + 0.1\ns = s + z[0]",
}


class Counting:
    """An object whose property and operator count."""

    def __init__(self):
        self.number = 0

    @property
    def count(self):
        self.number += 1
        return self.number

    def __add__(self, other):
        return self.count + other


def _program(body):
    Counting.made = Counting()
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    names = {"np": np, "kg": kg, "deque": deque, "StringIO": StringIO, "Counting": Counting}
    return function(f"def f(x, y):\n    s = 0.1 * x\n{lines}    return s\n", **names)


@pytest.mark.parametrize("name", STAGED)
def test_staged_loops_give_pythons_numbers(name):
    f = _program(STAGED[name])
    with warnings.catch_warnings():
        warnings.simplefilter("error", kg.AutographWarning)  # unrolled loops warn
        value = kg.function(f)(0.7, Y)
    expected = f(0.7, Y)
    np.testing.assert_allclose(value, expected, rtol=1e-12)


@pytest.mark.parametrize("name", IN_PYTHON)
def test_loops_with_other_uses_run_in_python(name):
    f = _program(IN_PYTHON[name])
    with pytest.warns(kg.AutographWarning, match="Large unrolled loop"):
        value = kg.function(f)(0.7, Y)
    np.testing.assert_allclose(value, _program(IN_PYTHON[name])(0.7, Y), rtol=1e-12)


def test_derivatives():
    body = STAGED["recursion"].replace("0.5", "x")
    f = _program(body)
    derivative = kg.function(lambda x: kg.gradients(f(x, Y), [x])[0])(0.3)
    h = 1e-6
    expected = (f(0.3 + h, Y) - f(0.3 - h, Y)) / (2 * h)
    np.testing.assert_allclose(derivative, expected, rtol=1e-6)


def test_an_index_behind_the_end_is_an_error():
    f = _program("for t in range(70):\n  s = s + x * y[t + 1]")
    with pytest.raises(kg.ShapeError, match="index 70 is out of bounds"):
        kg.function(f)(0.7, Y)


def test_the_number_after_the_loop_is_pythons():
    f = function("def f(x):\n  for t in range(60):\n    x = 0.9 * x\n  return x, t\n")
    with pytest.warns(kg.AutographWarning, match="Large unrolled loop"):
        _, t = kg.autograph.convert(f)(kg.placeholder(name="x"))
    assert t == 59
    assert type(t) is int


def test_loops_without_arrays_stay_in_python():
    f = _program(STAGED["recursion"])
    value = kg.autograph.convert(f, fast=False)(0.7, Y)
    assert type(value) is np.float64
    assert value == f(0.7, Y)
