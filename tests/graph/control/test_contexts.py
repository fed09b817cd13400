"""Contexts: captures, nesting, attributes, and clean state after errors."""

import threading

import numpy as np
import pytest

import kinetograph as kg
from kinetograph.graph.control.contexts import current_context
from kinetograph.graph.node import CURRENT


def contexts_of(array):
    return array.node.parents[0].contexts


def test_a_value_used_often_is_captured_once():
    x, y = kg.placeholder(name="x"), kg.placeholder(name="y")
    z = kg.cond(x > 0, lambda: x * x + x, lambda: y)
    no, yes = contexts_of(z)
    assert list(yes.external_values) == [x.node]
    assert list(no.external_values) == [y.node]
    inner = yes.external_values[x.node]
    assert inner.context is yes
    assert set(z.node.parents[0].parents[1:]) == {x.node, y.node}


def test_what_a_branch_context_knows():
    x = kg.placeholder(name="x")
    seen = {}

    def yes():
        seen["context"] = current_context()
        seen["constant"] = kg.data(3.0)
        return x * seen["constant"]

    pred = x > 0
    z = kg.cond(pred, yes, lambda: x, name="pick")
    no, yes_ = contexts_of(z)
    assert seen["context"] is yes_
    assert isinstance(yes_, kg.CondContext)
    assert yes_.pred is pred.node
    assert (yes_.branch, no.branch) == (1, 0)
    assert yes_.pivot != no.pivot
    assert yes_.name == no.name == "pick"
    assert yes_.outer_context is None
    assert yes_.nested_contexts == ()
    assert seen["constant"].node.context is yes_
    assert seen["constant"].node in yes_.values
    assert all(node.context is yes_ for node in yes_.values)
    assert yes_.site.filename == __file__
    assert current_context() is None


def test_nesting_captures_through_every_level_once():
    x, y = kg.placeholder(name="x"), kg.placeholder(name="y")
    chain = {}

    def innermost():
        chain["contexts"] = list(current_context().enclosing())
        return x * x

    def middle(v):
        return (kg.cond(v > 1, innermost, lambda: x),)

    z = kg.cond(y > 0, lambda: kg.while_loop(lambda v: v < 10, middle, [y])[0], lambda: y)
    inner, loop, outer = chain["contexts"]
    assert isinstance(loop, kg.WhileContext)
    assert inner.outer_context is loop
    assert loop.outer_context is outer
    assert outer.outer_context is None
    assert inner in loop.nested_contexts
    assert loop.nested_contexts[-1].branch == 0  # the other branch
    assert outer.nested_contexts == (loop,)
    first = outer.external_values[x.node]
    second = loop.external_values[first]
    third = inner.external_values[second]
    assert third.outer is second
    assert second.outer is first
    assert first.outer is x.node
    for context in (inner, loop, outer):
        assert len(context.external_values) == 1 + (context is outer)
    assert contexts_of(z)[1] is outer


def test_a_node_knows_its_innermost_context():
    x = kg.placeholder()
    made = []

    def body(v):
        made.append(v + 1)
        return kg.cond(v > 0, lambda: made.append(v * 2) or made[-1], lambda: v)

    kg.while_loop(lambda v: v < 3, body, [x])
    first, second = (m.node.context for m in made)
    assert isinstance(first, kg.WhileContext)
    assert isinstance(second, kg.CondContext)
    assert second.outer_context is first


def test_what_a_loop_context_knows():
    x = kg.placeholder(name="x")
    i, y = kg.while_loop(
        lambda i, y: i < 3,
        lambda i, y: (i + 1, y * 2),
        (0, x),
        5,
        "stack",
        parallel_iterations=3,
        swap_memory=True,
        name="double",
    )
    context = y.loop.context
    assert context is i.loop.context
    assert context.name == "double"
    assert [v.name for v in context.loop_variables] == ["i", "y"]
    assert (context.maximum_iterations, context.grad, context.back_prop) == (5, "stack", True)
    assert (context.parallel_iterations, context.swap_memory) == (3, True)
    assert context.external_values == {}


def test_contexts_cannot_be_changed():
    x = kg.placeholder()
    z = kg.cond(x > 0, lambda: x, lambda: -x)
    (y,) = kg.while_loop(lambda v: v < 3, lambda v: v + 1, [x])
    branch, loop = contexts_of(z)[1], y.loop.context
    fields = {branch: ["pred", "pivot", "branch"], loop: ["maximum_iterations", "grad"]}
    for context, own in fields.items():
        common = ["name", "values", "external_values", "outer_context", "nested_contexts", "new"]
        for name in [*own, *common]:
            with pytest.raises(AttributeError, match=name):
                setattr(context, name, None)
        with pytest.raises(TypeError):
            context.external_values[x.node] = x.node
    for name in ("pred", "pivot", "branch", "values", "name"):
        with pytest.raises(AttributeError, match=name):
            delattr(branch, name)


@pytest.mark.parametrize("where", ["true_fn", "false_fn", "cond", "body", "scan", "vmap", "switch"])
def test_an_exception_restores_the_outer_context(where):
    x = kg.placeholder((2,))
    s = kg.state(0.0, name="s")

    def fail(*arguments):
        s.assign(5.0)
        raise ZeroDivisionError

    builds = {
        "true_fn": lambda: kg.cond(x[0] > 0, fail, lambda: x),
        "false_fn": lambda: kg.cond(x[0] > 0, lambda: x, fail),
        "cond": lambda: kg.while_loop(fail, lambda v: v, [x]),
        "body": lambda: kg.while_loop(lambda v: v[0] > 0, fail, [x]),
        "scan": lambda: kg.scan(fail, 0.0, x),
        "vmap": lambda: kg.vmap(fail)(x),
        "switch": lambda: kg.switch(0, [fail]),
    }
    with pytest.raises(ZeroDivisionError):
        builds[where]()
    assert CURRENT.context is None
    with pytest.raises(ZeroDivisionError):
        kg.cond(x[0] > 0, lambda: builds[where](), lambda: x)
    assert CURRENT.context is None
    # The next graph builds cleanly, and the failed assignment has no effect.
    y = kg.cond(x[0] > 0, lambda: x * 2, lambda: s + x)
    f = kg.compile([x], y)
    assert f([1, 2]).tolist() == [2, 4]
    assert f([-1, 2]).tolist() == [-1, 2]


@pytest.mark.parametrize("error", [TypeError, ValueError])
def test_a_refused_construct_restores_the_outer_context(error):
    x = kg.placeholder((2,))
    builds = {
        TypeError: lambda: kg.cond(x[0] > 0, lambda: (x, x), lambda: x),
        ValueError: lambda: kg.while_loop(lambda v: v[0] > 0, lambda v: kg.stack([v, v]), [x]),
    }
    with pytest.raises(error):
        builds[error]()
    assert CURRENT.context is None


def test_enter_and_exit_can_be_used_by_hand_and_nest():
    x = kg.placeholder()
    context = contexts_of(kg.cond(x > 0, lambda: x, lambda: x))[0]
    context.enter()
    context.enter()
    context.exit()
    assert current_context() is context
    context.exit()
    assert current_context() is None


def test_threads_build_on_their_own():
    x = kg.placeholder()
    found = []

    def other():
        found.append(current_context())
        y = kg.placeholder()
        found.append(kg.compile([y], kg.cond(y > 0, lambda: y, lambda: -y))(-2.0))

    def yes():
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        return x

    z = kg.cond(x > 0, yes, lambda: -x)
    assert found == [None, 2]
    assert kg.compile([x], z)(-3.0) == 3


def test_invariants_are_captured_and_loop_variables_are_not():
    w, x = kg.placeholder(name="w"), kg.placeholder(name="x")
    _i, y = kg.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * w + w), (0, x))
    assert list(y.loop.context.external_values) == [w.node]
    np.testing.assert_equal(kg.compile([x, w], y)(1.0, 2.0), 22)
