"""Errors in user code: the lines that led to them, and their types."""

import sys
import traceback

import jax.numpy as jnp
import pytest
from tests.autograph.sources import function, module

import kinetograph as kg
from kinetograph.autograph.user_errors import explain_in_user_code


class Plain(Exception):
    """An exception of a text."""


class Coded(Exception):
    """An exception that is made of something else."""

    def __init__(self, code, *, hint):
        super().__init__(f"code {code}")
        self.code, self.hint = code, hint


class Shown(ValueError):
    """An exception with a text of its own."""

    def __str__(self):
        return f"shown {self.args}"


SOURCE = """
import kinetograph as kg

@kg.autograph.do_not_convert
def unconverted(x, error):
    raise error

def inner(x, error):
    y = 1 if x > 0 else 2
    return unconverted(y, error)

def outer(x, error):
    if x > 0:
        return inner(x, error)
    return x
"""


def raised(error, staged=True, source=SOURCE):
    """The exception that leaves a converted function in which another one is raised."""
    names = module(source)
    made = kg.autograph.convert(names["outer"], fast=False)
    with pytest.raises(Exception) as caught:
        made(kg.placeholder(name="x") if staged else 1.0, error)
    return caught.value


def test_text():
    error = raised(ValueError("the reason"))
    lines = str(error).splitlines()
    file = lines[2].strip().partition(":")[0]
    assert lines == [
        "in user code:",
        "",
        f"    {file}:13 outer  *",
        "        if x > 0:",
        f"    {file}:14 outer  *",
        "        return inner(x, error)",
        f"    {file}:10 inner  *",
        "        return unconverted(y, error)",
        f"    {file}:6 unconverted  **",
        "        raise error",
        "",
        "    ValueError: the reason",
        "",
        f"    It left a staged `if` ({file}:13). All branches are built, whichever is taken.",
    ]


@pytest.mark.parametrize(
    "error",
    [
        ValueError("reason"),
        KeyError("reason"),
        Plain("reason"),
        NotImplementedError(),
        ZeroDivisionError("division"),
        AttributeError("reason", name="n", obj=3),
        StopIteration(3),
        AssertionError("reason"),
    ],
    ids=repr,
)
def test_type_is_kept(error):
    got = raised(error)
    assert type(got) is type(error)
    assert got is error
    assert str(got).startswith("in user code:\n")
    assert f"{type(error).__name__}: " in str(got)


@pytest.mark.parametrize(
    "error",
    [
        Coded(3, hint="none"),
        Shown("text"),
        OSError(2, "No such file", "name.txt"),
        FileNotFoundError(2, "No such file"),
        UnicodeDecodeError("utf-8", b"x", 0, 1, "reason"),
        ValueError("one", "two"),
    ],
    ids=repr,
)
def test_constructors_of_other_arguments(error):
    got = raised(error)
    assert isinstance(got, kg.StagingError)
    assert isinstance(got, type(error)) or type(got) is kg.StagingError
    assert str(got).startswith("in user code:\n")
    assert got.__cause__ is error


def test_attributes_of_other_constructors():
    got = raised(Coded(3, hint="none"))
    assert isinstance(got, Coded)
    assert (got.code, got.hint) == (3, "none")


def test_python_runs_are_left_alone():
    """Only where a graph is built does an error get lines; elsewhere it is the very same."""
    for error in (ValueError("reason"), Coded(3, hint="none"), OSError(2, "No such file")):
        text = str(error)
        got = raised(error, staged=False)
        assert got is error
        assert str(got) == text


def test_chained_exceptions():
    source = SOURCE.replace(
        "    raise error",
        "    try: {}['key']\n    except KeyError as cause: raise error from cause",
    )
    got = raised(ValueError("reason"), source=source)
    assert isinstance(got.__cause__, KeyError)
    assert str(got.__cause__) == "'key'"
    implicit = source.replace(" from cause", "")
    assert isinstance(raised(ValueError("reason"), source=implicit).__context__, KeyError)


def test_told_once():
    """A function inside another one adds nothing."""
    names = module(SOURCE.replace("def inner", "@kg.autograph.convert\ndef inner"))
    made = kg.autograph.convert(names["outer"])
    with pytest.raises(ValueError) as caught:
        made(kg.placeholder(name="x"), ValueError("reason"))
    assert str(caught.value).count("in user code:") == 1


def test_other_errors_are_for_everyone():
    for error in (KeyboardInterrupt(), SystemExit(3)):
        names = module(SOURCE)
        with pytest.raises(type(error)) as caught:
            kg.autograph.convert(names["outer"])(kg.placeholder(name="x"), error)
        assert caught.value is error


def test_traceback_has_the_users_frames_alone():
    error = raised(ValueError("reason"))
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if "/autograph/" in f.filename and "/tests/" not in f.filename]
    users = [(f.name, f.lineno) for f in frames if f.filename.startswith("<source")]
    assert users == [("outer", 13), ("outer", 14), ("inner", 10), ("unconverted", 6)]
    assert all(f.name == "entry" for f in own)
    assert not any(f.name.startswith(("if_body", "else_body", "ag__")) for f in frames)


def test_functions_of_jax():
    made = kg.autograph.convert(jnp_exp)
    text = r"jax\.numpy\.exp computes with numbers, and the value of x is not known.*write kg\.exp"
    with pytest.raises(kg.StagingError, match=text):
        made(kg.placeholder(name="x"))


def jnp_exp(x):
    return jnp.exp(x)


def test_recursion_without_a_python_base_case():
    f = function(
        "def f(n):\n    if n <= 1:\n        return 1\n    return n * f(n - 1)\n",
    )
    made = kg.autograph.convert(f)
    assert made(5) == 120
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(600)
    try:
        with pytest.raises(RecursionError, match=r"call of f \(.*:4\) never reaches a Python base"):
            made(kg.placeholder(name="n", dtype=int))
    finally:
        sys.setrecursionlimit(limit)


def test_recursion_of_code_that_is_not_converted():
    error = RecursionError("maximum recursion depth exceeded")
    assert explain_in_user_code(error, True) is error
