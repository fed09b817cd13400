"""`return`."""

import numpy as np
import pytest
from tests.autograph.refusals import refused

import kinetograph as kg


def test_early_returns_with_code_after():
    """A26"""

    def f(x):
        if x < -2:
            return 1.0
        y = x * 2
        if y < 0:
            z = y - 1
            return z
        if x > 5:
            if x > 6:
                return 4.0
            x = x + 100
        y = y + x
        return y

    staged = kg.function(f)
    for x in (-3.0, -1.0, 0.0, 5.5, 7.0):
        assert staged(x) == f(x)
    assert staged.traces == 1


def test_returns_in_both_branches():
    """A26"""

    @kg.function
    def f(x):
        if x > 0:
            return x, {"a": [x]}
        else:
            return 0.0, {"a": [1.0]}

    assert f(2.0) == (2, {"a": [2]})
    assert f(-2.0) == (0, {"a": [1]})


def test_no_return_value_is_none():
    """A26"""

    @kg.function
    def f(x):
        if x > 0:
            return
        x = x + 1

    @kg.function
    def g(x):
        if x > 0:
            x = x + 1

    assert f(1.0) is None
    assert g(1.0) is None


def test_a_path_without_a_return_value():
    """A26, S8"""

    def f(x):
        if x > 0:  # here
            return x

    def g(x):
        if x > 0:  # here
            return x
        x = x + 1

    for function in (f, g):
        refused(ValueError, function, (1.0,), "else branch", "return", "also be returned")


def test_a_path_that_returns_none():
    """A26, S8"""

    def f(x):
        if x > 0:  # here
            return x
        return None

    refused(ValueError, f, (1.0,), "else branch", "return")


def test_return_values_must_be_alike():
    """A8, A9"""

    def dtypes(x):
        if x > 0:  # here
            return x
        return kg.data(np.float32(1)).astype("int32")

    def shapes(x):
        if x > 0:  # here
            return x
        return kg.stack([x, x])

    def structures(x):
        if x > 0:  # here
            return x, x
        return x

    refused(TypeError, dtypes, (1,), "the return value has dtype int64 in the main branch")
    refused(ValueError, shapes, (1.0,), r"the return value has shape \(\) in the main branch")
    refused(TypeError, structures, (1.0,), "the return value must have the same nested structure")


def returning(n, kind):
    s = 0
    for i in kg.range(n):
        if i == 4:
            if kind == "tuple":
                return i, s
            if kind == "dict":
                return {"i": i, "s": [s, 1.5]}
            if kind == "float":
                return 2.5
            if kind == "bool":
                return True
            return kg.stack([i, s])
        s = s + i
    if kind == "tuple":
        return -1, s
    if kind == "dict":
        return {"i": -1, "s": [s, 0.0]}
    if kind == "float":
        return 1
    if kind == "bool":
        return False
    return kg.stack([s, s])


@pytest.mark.parametrize(
    ("kind", "late", "early"),
    [
        ("tuple", (-1, 3), (4, 6)),
        ("dict", {"i": -1, "s": [3, 0]}, {"i": 4, "s": [6, 1.5]}),
        ("float", 1, 2.5),
        ("bool", False, True),
        ("array", (3, 3), (4, 6)),
    ],
)
def test_returns_in_staged_loops(kind, late, early):
    """A27"""
    f = kg.function(returning, static_argnames="kind")
    for n, expected in ((3, late), (9, early)):
        got = f(n, kind)
        assert (tuple(got) if kind == "array" else got) == expected


def test_returns_in_nested_loops():
    """A27"""

    def f(n, loops=kg.range):
        s = 0
        for i in loops(n):
            if i % 2 == 0:
                continue
            j = 0
            while j < i:
                j += 1
                if j == 5:
                    break
                if s > 40:
                    return -s
                s += j
            else:
                s += 10
        return s

    staged = kg.function(f, static_argnames="loops")
    for n in (0, 2, 5, 9):
        assert staged(n) == f(n, range)


def test_texts_are_not_returned_from_loops():
    """A27"""

    def f(x):
        while x < 5:
            if x > 2:
                return "text"
            x = x + 1
        return "other"

    gist = "the return value from a .*loop may only be a.*; got "
    refused(TypeError, f, (1.0,), gist, at=None)


def test_a_loop_that_may_end_without_a_return_value():
    """A27, S8"""

    def f(x):
        while x < 5:
            if x > 2:
                return x
            x = x + 1

    refused(ValueError, f, (1.0,), "return", at=None)


def test_returns_in_with_and_try():
    """A42"""

    def f(x):
        log = 0.0
        try:
            if x > 0:
                return log + 1.0
            log = 2.0
        finally:
            log = log + 5
        return log

    staged = kg.function(f)
    assert (staged(1.0), staged(-1.0)) == (f(1.0), f(-1.0)) == (1, 7)


def test_many_returns_deep_inside():
    """A26"""

    def f(x):
        if x > 0:
            if x > 1:
                if x > 2:
                    if x > 3:
                        if x > 4:
                            return 5.0
                        return 4.0
                    return 3.0
                x = x * 10
                if x > 15:
                    return 2.0 * x
            elif x > 0.5:
                return 1.0
            x = x + 0.25
        else:
            while x < 0:
                if x == -3:
                    return -33.0
                x = x + 2
        return x

    staged = kg.function(f)
    for x in (4.5, 3.5, 2.5, 1.9, 1.1, 0.75, 0.25, 0.0, -1.0, -4.0, -5.0, -3.0):
        assert staged(x) == f(x)
