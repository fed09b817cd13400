"""Branches that compute nothing, joined by `where` of two values."""

import numpy as np
import pytest

import kinetograph as kg
from kinetograph.graph.control.branches import join
from kinetograph.graph.control.conditional import Cond
from kinetograph.graph.control.contexts import CondContext
from kinetograph.graph.control.results import collect
from kinetograph.graph.node import ancestors


def built(pred, false_fn, true_fn, flat=True):
    """The results of two branches, joined."""
    contexts, outputs = [], []
    for number, function in enumerate((false_fn, true_fn)):
        context = CondContext(pred.node, number)
        outputs.append(collect(context.call(function), context, "branch").nodes)
        contexts.append(context)
    return join(pred.node, contexts, outputs, flat=flat)


def is_flat(arrays):
    return not any(isinstance(node, Cond) for node in ancestors([a.node for a in arrays]))


X = kg.placeholder(name="x")
ROW = kg.placeholder((2,), name="row")
FLAT = {
    "numbers": (lambda: [1, 2.5, True], lambda: [2, 0.5, False]),
    "captured": (lambda: [X, ROW], lambda: [X, ROW]),
    "mixed": (lambda: [X, ROW], lambda: [1.0, np.array([3.0, 4.0])]),
    "converted": (lambda: [X], lambda: [_one().astype(float)]),
}


def _one():
    from kinetograph.graph.operations.operands import as_node

    return kg.Array(as_node(1))


@pytest.mark.parametrize("case", FLAT)
def test_values_are_those_of_a_conditional(case):
    no, yes = FLAT[case]
    chosen, conditional = (built(X > 0, no, yes, flat) for flat in (True, False))
    assert is_flat(chosen)
    assert not is_flat(conditional)
    assert [a.dtype for a in chosen] == [a.dtype for a in conditional]
    f = kg.compile([X, ROW], [*chosen, *conditional])
    for value in (1.0, -1.0):
        results = f(value, [5.0, np.inf])
        for a, b in zip(results[: len(chosen)], results[len(chosen) :], strict=True):
            np.testing.assert_array_equal(a, b)


def test_derivatives_are_those_of_a_conditional():
    y = kg.placeholder(name="y")
    f = kg.compile(
        [X, y],
        [
            g
            for flat in (True, False)
            for g in kg.gradients(built(X > 0, lambda: [X], lambda: [y], flat)[0] * X, [X, y])
        ],
    )
    assert f(2.0, 3.0) == [3.0, 2.0, 3.0, 2.0]
    assert f(-2.0, 3.0) == [-4.0, 0.0, -4.0, 0.0]
    assert f(2.0, np.inf)[:2] == [np.inf, 2.0]
    assert f(-2.0, np.inf)[:2] == [-4.0, 0.0]


def test_what_is_computed_stays_in_its_branch():
    assert not is_flat(built(X > 0, lambda: [X], lambda: [X + 1]))


def test_effects_and_states_stay_in_their_branch(capsys):
    def effect():
        kg.print("taken")
        return [1.0]

    s = kg.state(0.0)

    def assignment():
        s.assign(1.0)
        return [1.0]

    for branch, text in ((effect, "taken\n"), (assignment, "")):
        results = built(X > 0, lambda: [2.0], branch)
        assert not is_flat(results)
        f = kg.compile(X, results)
        f(-1.0)
        assert capsys.readouterr().out == ""
        f(1.0)
        assert capsys.readouterr().out == text
    assert f.state[s] == 1.0


def test_a_value_inside_of_another_branch():
    y = kg.cond(X > 0, lambda: built(X > 1, lambda: [X], lambda: [1.0])[0], lambda: X)
    f = kg.compile(X, y)
    assert [f(v) for v in (2.0, 0.5, -1.0)] == [1.0, 0.5, -1.0]


def test_equal_values_need_no_choice():
    (same,) = built(X > 0, lambda: [ROW], lambda: [ROW])
    assert same.node is ROW.node
