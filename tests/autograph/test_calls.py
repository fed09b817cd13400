"""Calls in converted code and of it."""

import functools
import inspect
import math

import numpy as np
import pytest
from tests.autograph.refusals import refused

import kinetograph as kg


def relu(x):
    """Positive part."""
    if x > 0:
        return x
    return 0.0


class Base:
    scale = 2.0

    def act(self, x):
        return x * self.scale if x > 0 else x


class Derived(Base):
    def act(self, x):
        y = super().act(x)
        return y + 1 if y < 0 else y

    @classmethod
    def made(cls, x):
        return cls().act(x)

    @staticmethod
    def plain(x):
        return relu(-x)

    @property
    def half(self):
        return self.scale / 2

    def __call__(self, x):
        return self.act(x) if x > 1 else x


def doubled(f):
    @functools.wraps(f)
    def inner(*args, **kwargs):
        return 2 * f(*args, **kwargs)

    return inner


@doubled
def decorated(x):
    return x if x > 0 else -x


def parameters(a, /, b=2.0, *rest, d=3.0, **more):
    if a > 0:
        return a * b + d + sum(rest)
    return a - more.get("z", 0.0)


DERIVED = Derived()
CASES = {
    "function": relu,
    "lambda": lambda x: x if x > 0 else -x,
    "method": DERIVED.act,
    "class method": Derived.made,
    "static method": Derived.plain,
    "callable object": DERIVED,
    "decorated": decorated,
    "partial": functools.partial(parameters, b=5.0),
    "defaults": parameters,
}


@pytest.mark.parametrize("name", CASES)
def test_what_can_be_staged(name):
    """A31"""
    f = CASES[name]
    staged = kg.function(f)
    for x in (3.0, -3.0, 0.5):
        assert staged(x) == f(x)
    converted = kg.autograph.convert(f)
    x = kg.placeholder(name="x")
    assert kg.compile([x], converted(x))(3.0) == f(3.0)


@pytest.mark.parametrize("name", CASES)
def test_what_can_be_called(name):
    """A29, A31"""
    g = CASES[name]

    def f(x):
        return g(x) + 1 if x > -10 else x

    staged = kg.function(f)
    for x in (3.0, -3.0, -20.0):
        assert staged(x) == f(x)


def test_every_kind_of_parameter():
    """A31"""

    @kg.function
    def f(x):
        return (
            parameters(x)
            + parameters(x, 1.0, 5.0, d=2.0, z=9.0)
            + functools.partial(parameters, x, d=1.0)(z=4.0)
            + parameters(x, *[1.0, 2.0], **dict(z=x))
        )

    def python(x):
        return (
            parameters(x)
            + parameters(x, 1.0, 5.0, d=2.0, z=9.0)
            + functools.partial(parameters, x, d=1.0)(z=4.0)
            + parameters(x, *[1.0, 2.0], **dict(z=x))
        )

    for x in (3.0, -3.0):
        assert f(x) == python(x)


def test_signature_name_and_text_stay():
    """A31"""
    converted = kg.autograph.convert(relu)
    assert converted.__name__ == "relu"
    assert converted.__qualname__ == "relu"
    assert converted.__doc__ == "Positive part."
    assert converted.__wrapped__ is relu
    assert inspect.signature(converted) == inspect.signature(relu)
    kept = kg.autograph.convert(parameters)
    assert inspect.signature(kept) == inspect.signature(parameters)


def test_equal_lambdas_on_one_line():
    """A31"""
    f, g = (lambda x: x if x > 0 else 1.0), (lambda x: x if x > 0 else 2.0)
    outer = lambda x: (lambda x: x + 1 if x > 0 else 0.0)(x) * 10 if x > 1 else 7.0
    assert (kg.function(f)(-1.0), kg.function(g)(-1.0)) == (1, 2)
    assert (kg.function(outer)(2.0), kg.function(outer)(0.0)) == (30, 7)


def test_closures_see_their_variables_as_they_are():
    """A31"""

    @kg.function
    def f(x):
        y = 1.0

        def read():
            return y

        if x > 0:
            y = 2 * x
            z = read()
        else:
            z = -read()
        y = y + 1
        return z, read()

    assert f(3.0) == (6, 7)
    assert f(-3.0) == (-1, 2)


def test_closures_of_a_loop():
    """A31"""

    @kg.function
    def f(n):
        s = 0
        for i in kg.range(n):
            late = lambda: 10 * i
            early = lambda k=i: k
            i = i + 1
            s = s + late() + early()
        return s

    assert [int(f(n)) for n in (0, 1, 3)] == [0, 10, 63]


def test_nonlocal_and_global():
    """A31"""

    @kg.function
    def f(n):
        total = 0

        def add(k):
            nonlocal total
            if k % 2 == 0:
                total += k
            return total

        add(2)
        for _ in kg.range(n):
            total = total + 1
        add(n)
        return total

    assert [int(f(n)) for n in (0, 3, 4)] == [2, 5, 10]


def test_functions_that_stay_as_they_are():
    """A29"""

    @functools.lru_cache
    def cached(k):
        return k * 2

    def generate(k):
        yield k
        yield k + 1

    class Made:
        def __init__(self, value):
            self.value = value

    @kg.function
    def f(x):
        made = Made(x)
        return np.sin(made.value) + math.pi + cached(2) + sum(generate(x)) + len([1])

    assert np.isclose(f(0.5), np.sin(0.5) + math.pi + 4 + 2 + 1, rtol=1e-12)


def test_methods_of_classes_made_inside():
    """A29"""

    @kg.function
    def f(x):
        class Pos:
            def __init__(self, value):
                self.value = value

            def get(self):
                return self.value if self.value > 0 else 0.0

        return Pos(x).get()

    assert (f(2.0), f(-2.0)) == (2, 0)


def test_recursion_with_a_python_base_case():
    """A30"""

    def power(x, n):
        if n == 0:
            return 1.0
        y = power(x, n // 2)
        if x > 1:
            return y * y * (x if n % 2 else 1.0)
        return y * y * (x if n % 2 else 1.0)

    staged = kg.function(power, static_argnames="n")
    assert staged(3.0, 5) == 243
    assert staged(0.5, 3) == 0.125


def test_recursion_without_a_python_base_case():
    """A30"""

    def f(n):
        if n <= 0:
            return 0.0
        return f(n - 1) + 1  # here

    gist = r"recursive call of f \(.*\) never reaches a Python base case during tracing"
    refused(RecursionError, f, (3.0,), gist)


def test_module_recursion():
    """A30"""
    assert kg.function(factorial, static_argnames="n")(2.0, 4) == 48


def factorial(x, n):
    return x if n == 0 else n * factorial(x, n - 1)


def test_staged_functions_inline_in_branches_and_loops():
    inner = kg.function(relu)

    @kg.function
    def f(x):
        s = 0.0
        for i in kg.range(4):
            if inner(x - i) > 0.5:
                s = s + inner(x)
        return s

    assert [float(f(x)) for x in (-1.0, 0.6, 2.6)] == [0, 0.6, 2.6 * 3]
    assert inner.traces == 0


def test_functions_chosen_in_a_branch():
    def f(x):
        if x > 0:  # here

            def h(t):
                return 2 * t
        else:

            def h(t):
                return 3 * t

        return h(x)

    refused(TypeError, f, (1.0,), "'h' is a function in the main branch")


def test_sorting_with_a_key():
    def f(x):
        return sorted([x, 2.0], key=lambda t: -t)  # here

    refused(NotImplementedError, f, (1.0,), "sorted of symbolic values with a key")


def test_python_values_are_constants_of_the_graph():
    """A49"""
    settings = {"scale": 2.0}

    @kg.function
    def f(x):
        if settings["scale"] > 1:
            return settings["scale"] * x
        return x

    assert f(1.0) == 2
    settings["scale"] = 0.5
    assert f(1.0) == 2
    assert f([1.0, 1.0])[0] == 1  # another signature, traced now


def test_do_not_convert():
    """A36"""

    @kg.autograph.do_not_convert
    def raw(x):
        return x if x > 0 else -x

    def f(x):
        return raw(x)  # here

    refused(kg.SymbolicTruthError, f, (1.0,), "Python bool is not allowed")

    def g(x):
        with kg.autograph.do_not_convert():
            return relu(x)  # here

    refused(kg.SymbolicTruthError, g, (1.0,), "Python bool is not allowed")
