"""Which calls run the original function, because nothing symbolic can reach them."""

import re
import sys

import numpy as np
import pytest
from tests.autograph.sources import module

import kinetograph as kg
from kinetograph.autograph.plain_calls import plain_check
from kinetograph.autograph.transform import is_converted


def me():
    """Whether the calling code came out of a conversion."""
    return is_converted(sys._getframe(1).f_code)


@pytest.fixture
def _library(monkeypatch):
    """`me` counts as a function of a library, so that it does not stand in the way itself."""
    from kinetograph.autograph import plain_calls, skipped_libraries

    roots = skipped_libraries._ROOTS | {"own_tests"}
    monkeypatch.setattr(skipped_libraries, "_ROOTS", roots)
    assert plain_calls.is_library is skipped_libraries.is_library


pytestmark = pytest.mark.usefixtures("_library")


def who(source, name="f", **names):
    library = type(me)(me.__code__, {"__name__": "own_tests", "sys": sys, **globals_of_me()})
    made = module(source, me=library, **names)
    return kg.autograph.convert(made[name]), made


def globals_of_me():
    return {"is_converted": is_converted}


X = kg.placeholder(name="x")


def test_the_test_itself():
    f, _ = who("def f(*args): return me()")
    assert f(X) is True
    assert f(1) is False
    assert kg.autograph.convert(f.__wrapped__, fast=False)(1) is True


PLAIN = [
    *(1, 2.5, True, None, "text", b"bytes", 1j, ..., range(3), slice(1)),
    *(np.float32(1), np.int64(2), np.zeros(3), np.zeros((100, 100))),
    *([1, 2], (1, "a"), {"k": 1}, {1, 2}, frozenset([1]), []),
]
NOT_PLAIN = [X, [X], (1, X), {"k": X}, object(), [[1]], [1] * 17, np.array([None])]


@pytest.mark.parametrize(
    ("value", "converted"),
    [*((value, False) for value in PLAIN), *((value, True) for value in NOT_PLAIN)],
    ids=lambda value: re.sub(" at 0x.*", "", repr(value)),
)
def test_arguments(value, converted):
    f, _ = who("def f(*args, **kwargs): return me()")
    assert f(value) is converted
    assert f(k=value) is converted


@pytest.mark.parametrize(
    ("source", "converted"),
    [
        ("import math\ndef f(x): math.sqrt(4); return me()", False),
        ("import numpy as np\ndef f(x): np.exp(1.0); np.fft; return me()", False),
        ("import numpy as np\ndef f(x): np.random; return me()", True),
        ("import random\ndef f(x): random; return me()", True),
        ("from numpy import random as r\ndef f(x): r; return me()", True),
        ("from scipy.stats import norm\ndef f(x): norm.rvs; return me()", True),
        ("N = 3\ndef f(x): N; return me()", False),
        ("def g(x): return x\ndef f(x): g(x); return me()", False),
        ("def f(x): len([1]); sorted([2]); isinstance(x, int); return me()", False),
        ("def f(x): return [me() for _ in range(1)][0]", False),
        ("def f(x): return (lambda: me())()", False),
        ("def f(n): return f(n - 1) if n > 0 else me()", False),
        ("import kinetograph as kg\ndef f(x): kg; return me()", True),
        ("from kinetograph import exp\ndef f(x): exp; return me()", True),
        ("Y = X\ndef f(x): Y; return me()", True),
        ("def g(x): return X\ndef f(x): g; return me()", True),
        ("L = [1]\ndef f(x): L; return me()", True),
        ("class A: pass\ndef f(x): A; return me()", True),
        ("def f(x): eval('1'); return me()", True),
        ("def f(x): getattr(x, 'real'); return me()", True),
        ("def f(x): globals(); return me()", True),
        ("def f(x):\n import math\n return me()", True),
        ("def f(x):\n class A: pass\n return me()", True),
        ("def f(x, y=X): return me()", True),
        ("def f(x, *, y=X): return me()", True),
        ("def f(x, y=[1, 2]): return me()", False),
        ("def f(x):\n def g(): yield 1\n return me()", True),
        ("def f(x): return me() if x else missing", True),
        ("def f(x):\n global Z\n Z = 1\n return me()", True),
    ],
)
def test_what_a_function_reads(source, converted):
    f, _ = who(source, X=X)
    assert f(1) is converted


def test_globals_bound_anew():
    f, names = who("N = 3\ndef f(x): N; return me()")
    assert f(1) is False
    names["N"] = X
    assert f(1) is True
    names["N"] = 3
    assert f(1) is False


def test_functions_bound_anew():
    f, names = who("def g(x): return h(x)\ndef h(x): return 1\ndef f(x): g(x); return me()")
    assert f(1) is False
    names["h"] = lambda x: X
    assert f(1) is True


def test_builtins_hidden_by_a_global():
    f, names = who("def f(x): len([1]); return me()")
    assert f(1) is False
    names["len"] = lambda x: X
    assert f(1) is True


def test_cells_bound_anew():
    f, names = who(
        """
        def make():
            n = 3
            def set(value):
                nonlocal n
                n = value
            def f(x):
                n
                return me()
            return f, set
        f, put = make()
        """
    )
    assert f(1) is False
    names["put"](X)
    assert f(1) is True


def test_cells_not_bound_yet():
    _, names = who(
        "def make():\n f = lambda x: later\n g = plain(f)\n later = 1\n return g",
        "make",
        plain=plain_check,
    )
    assert names["make"]() is None


def test_callees_of_converted_code():
    """A callee runs as it is where it gets plain values, even if the caller got others."""
    f, _ = who("def g(x): return me()\ndef f(x): return g(1), g(x), me()")
    assert f(X) == (False, True, True)


def test_generators_are_never_plain():
    def generator():
        yield 1

    assert plain_check(generator) is None
