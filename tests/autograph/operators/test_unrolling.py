"""The watch over Python loops that write into the graph again and again."""

import warnings

import pytest
from tests.autograph.sources import function

import kinetograph as kg
from kinetograph.autograph.operators import unrolling
from kinetograph.autograph.operators.unrolling import Unrolling
from kinetograph.graph.rewriting import stacked_steps

FOR = "def f(x, n):\n    for i in range(n):\n        x = x + i\n    return x\n"
WHILE = "def f(x, n):\n    while n > 0:\n        n = n - 1\n        x = x + n\n    return x\n"


@pytest.mark.parametrize(("source", "word"), [(FOR, "for"), (WHILE, "while")])
def test_one_warning(source, word):
    f = function(source)
    with pytest.warns(kg.AutographWarning, match=f"Large unrolled loop .*this `{word}`") as caught:
        kg.autograph.convert(f)(kg.placeholder(name="x"), 60)
    assert len(caught) == 1
    assert ("kg.range(...) in place of range(...)" if word == "for" else "kg.data(") in str(
        caught[0].message
    )
    assert caught[0].filename == f.__code__.co_filename
    assert f"({f.__code__.co_filename}:" in str(caught[0].message)
    alike = "compiled together if they are alike and their results are stacked or observed, other"
    assert alike in str(caught[0].message)


def test_loops_that_are_warned_of_are_long_enough_to_be_compiled_together():
    """As the message says: of a stack, and of values that are observed."""
    assert unrolling.UNROLLED_ITERATIONS >= stacked_steps.FEWEST


def test_loops_that_add_nothing_or_little():
    f = function(FOR)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kg.autograph.convert(f, fast=False)(1, 3000)
        kg.autograph.convert(f)(kg.placeholder(name="x"), 40)


def test_limit(monkeypatch):
    monkeypatch.setattr(unrolling, "ITERATION_LIMIT", 100)
    f = function("def f(x):\n    while True:\n        x = x + 1\n    return x\n")
    with pytest.raises(kg.StagingError, match=r"iteration limit exceeded.*100 times"):
        kg.autograph.convert(f, fast=False)(1)


def test_steps_without_nodes_are_cheap():
    count = Unrolling("for")
    for _ in range(1000):
        count.step()
    assert (count.count, count.adding) == (1000, 0)
