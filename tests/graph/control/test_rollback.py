"""Rollback to a mark undoes everything that was built since the mark."""

import pickle
import threading
import warnings

import numpy as np
import pytest

import kinetograph as kg
from kinetograph.graph.control.rollback import mark, rollback
from kinetograph.graph.control.state import new_program, top_level
from kinetograph.graph.node import CURRENT


@pytest.fixture(autouse=True)
def _own_program():
    before = new_program()
    yield
    new_program(before)


def branch(function):
    """The result of a conditional's branch that is always taken."""
    x = kg.placeholder(name="x")
    return x, kg.cond(x < np.inf, function, lambda: 0.0)


def test_assignments_are_taken_back():
    s = kg.state(1.0)
    s.assign_add(1.0)
    moment = mark()
    s.assign_add(10.0)
    rollback(moment)
    assert float(kg.compile([], s + 0)()) == 2


def test_without_rollback_they_are_kept():
    s = kg.state(1.0)
    s.assign_add(1.0)
    s.assign_add(10.0)
    assert float(kg.compile([], s + 0)()) == 12


def test_states_first_used_since_then_are_unknown_again():
    s = kg.state(1.0)
    moment = mark()
    s.assign_add(10.0)
    rollback(moment)
    assert not top_level().latest
    assert not top_level().entered
    assert not top_level().assigned


def test_a_mark_can_be_gone_back_to_twice():
    s = kg.state(1.0)
    moment = mark()
    for _ in range(2):
        s.assign_add(10.0)
        rollback(moment)
    assert float(kg.compile([], s.assign_add(1.0))()) == 2


def test_a_program_that_was_begun_since_then_is_left():
    s = kg.state(1.0)
    s.assign_add(1.0)
    moment = mark()
    kg.compile([], s + 0)  # ends the program
    rollback(moment)
    assert float(kg.compile([], s + 0)()) == 2


def test_notes_of_contexts_are_taken_back():
    seen = []
    outer = kg.placeholder(name="outer")

    def inside():
        context = CURRENT.context
        first = outer * 2  # captures outer
        before = (context.values, dict(context.external_values), context.nested_contexts)
        moment = mark()
        kg.cond(first > 0, lambda: outer * other, lambda: s.assign_add(1.0))
        seen.append(len(context.values) > len(before[0]))
        rollback(moment)
        seen.append(
            (context.values, dict(context.external_values), context.nested_contexts) == before
        )
        return first

    other, s = kg.placeholder(name="other"), kg.state(0.0)
    x, y = branch(inside)
    assert seen == [True, True]
    f = kg.compile([x, outer], y)  # `other` is not needed any more
    assert float(f(1.0, 3.0)) == 6


def test_states_inside_and_around_a_branch():
    s, t = kg.state(1.0), kg.state(1.0)

    def inside():
        s.assign_add(1.0)
        moment = mark()
        s.assign_add(10.0)
        t.assign_add(10.0)
        rollback(moment)
        return s + 0

    x, y = branch(inside)
    assert t.cell not in top_level().latest
    f = kg.compile([x], y)
    assert float(f(0.0)) == 2
    assert float(f(0.0)) == 3


def test_rows_of_a_batch_keep_their_numbers():
    streams = kg.RandomStreams(5)

    def row(v, attempts):
        for _ in range(attempts):
            moment = mark()
            streams.normal(shape=(2,))
            rollback(moment)
        return v + streams.normal(shape=(2,))

    x = kg.placeholder((4,))
    found = []
    for attempts in (0, 2):
        streams = kg.RandomStreams(5)
        f = kg.compile([x], kg.vmap(lambda v: row(v, attempts))(x))
        found.append(f(np.zeros(4)))
    assert np.array_equal(*found)
    assert len(np.unique(found[0])) == 8


def test_draws_are_taken_back():
    plain, streams = kg.RandomStreams(3), kg.RandomStreams(3)
    expected = [plain.normal(), plain.normal(name="n"), plain.normal()]
    first = streams.normal()
    moment = mark()
    for name in ("n", None):
        streams.normal(name=name)
        streams.normal()
        rollback(moment)
    again = [first, streams.normal(name="n"), streams.normal()]
    assert len(list(streams.results())) == 3
    values = [kg.compile([], list(arrays))() for arrays in (expected, again)]
    assert np.array_equal(*values)


def test_draws_of_other_threads_stay():
    streams = kg.RandomStreams(3)
    moment = mark()
    mine = streams.normal()
    other = []
    thread = threading.Thread(target=lambda: other.append(streams.normal()))
    thread.start()
    thread.join()
    rollback(moment)
    assert other[0] in streams
    later = streams.normal()
    members = {a.rng.member for a in (mine, other[0], later)}
    assert len(members) == 3


def test_numbers_of_other_threads_are_not_given_twice():
    streams = kg.RandomStreams(3)
    moment = mark()
    mine = streams._stream(None)  # this thread is interrupted in the middle of a draw
    other = []
    thread = threading.Thread(target=lambda: other.append(streams.normal()))
    thread.start()
    thread.join()
    array = kg.RandomStreams(3).normal()
    array.node.stream = mine
    streams._keep(array.node)
    rollback(moment)
    assert streams.normal().rng.member not in {other[0].rng.member}


def test_states_of_explicit_streams_can_be_used_again():
    rng = kg.placeholder((6,), dtype="uint32", name="rng")
    moment = mark()
    kg.streams.draw("normal", rng, 0.0, 1.0)
    rollback(moment)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kg.streams.draw("normal", rng, 0.0, 1.0)
    with pytest.warns(kg.KinetographWarning, match="used for a draw already"):
        kg.streams.draw("normal", rng, 0.0, 1.0)


def test_streams_are_pickled_without_their_thread():
    f = kg.compile([], kg.RandomStreams(3).normal())
    loaded = pickle.loads(pickle.dumps(f))
    assert float(loaded()) == float(f())


def test_rollback_leaves_contexts_that_an_error_has_not():
    moment = mark()
    context = kg.CondContext(kg.placeholder(dtype=bool).node, 1)
    context.enter()
    rollback(moment)
    assert CURRENT.context is None


def test_effects_are_taken_back():
    x = kg.placeholder(name="x")
    kg.check(x < 10, "first")
    moment = mark()
    kg.check(x < 5, "second")
    rollback(moment)
    f = kg.compile([x], x + 0)
    assert float(f(7.0)) == 7
    with pytest.raises(kg.CheckError, match="first"):
        f(11.0)
