"""Draws as nodes: many are compiled as one, and none depends on what else is drawn."""

from dataclasses import replace

import numpy as np
import pytest

import kinetograph as kg
from kinetograph.distributions.declaration import DISTRIBUTIONS
from kinetograph.streams import methods, operations


@pytest.fixture
def calls(monkeypatch):
    """How often the sampler of normal numbers is lowered."""
    made = []
    normal = DISTRIBUTIONS["normal"].family

    def counted(source, *parameters):
        made.append(source.shape)
        return normal.draw(source, *parameters)

    counting = replace(DISTRIBUTIONS["normal"], family=replace(normal, draw=counted))
    monkeypatch.setattr(methods.Draws, "normal", methods._method("normal", counting))
    return made


def alone(member, *parameters, shape=()):
    """The first numbers of a member's stream in a function of their own."""
    r = kg.RandomStreams(3)
    draws = [r.normal(*parameters, shape=shape) for _ in range(member + 1)]
    f = kg.compile([], draws[-1])
    return [f(), f()]


def test_draws_of_a_kind_and_shape_are_compiled_once(calls):
    r = kg.RandomStreams(3)
    some = [r.normal() for _ in range(5)]
    others = [r.normal(some[1]), r.normal(0.0, some[2] ** 2)]
    long = r.normal(shape=(3,))
    f = kg.compile([], [*some, *others, long])
    first, second = f(), f()
    # The five, the two that need some of them, and the three.
    assert sorted(calls) == [(), (), (3,)]
    for member in (0, 4):
        np.testing.assert_array_equal([first[member], second[member]], alone(member))
    np.testing.assert_array_equal([first[7], second[7]], alone(7, shape=(3,)))
    assert first[5] - first[1] == pytest.approx(alone(5)[0], abs=1e-12)


def test_long_draws_are_compiled_one_by_one(calls, monkeypatch):
    monkeypatch.setattr(operations, "_LONG", 3)
    r = kg.RandomStreams(3)
    a, b = kg.compile([], [r.normal(shape=(4,)), r.normal(shape=(4,))])()
    assert calls == [(4,), (4,)]
    np.testing.assert_array_equal(a, alone(0, shape=(4,))[0])
    np.testing.assert_array_equal(b, alone(1, shape=(4,))[0])


def test_draws_in_loops_and_rows_are_compiled_once(calls):
    """However often the body of the loop is looked at: three draws take no more than one."""
    r = kg.RandomStreams(3)

    def rows(weights):
        def twice(x):
            def body(i, total):
                return i + 1, total + sum(w * r.normal() for w in weights)

            return kg.while_loop(lambda i, t: i < 2, body, [0, x])[1]

        x = kg.placeholder((2,), name="x")
        f = kg.compile(x, kg.vmap(twice)(x))
        calls.clear()
        return f([0.0, 0.0]), list(calls)

    found, lowered = rows([1, 10, 100])
    assert set(lowered) == {()}
    a, b, c = (np.sum(alone(member)) for member in range(3))
    assert found[0] == pytest.approx(a + 10 * b + 100 * c, rel=1e-12)
    assert found[1] != found[0]
    assert len(lowered) == len(rows([1])[1]) > 0


def test_gradients_through_draws_of_a_kind():
    r = kg.RandomStreams(3)
    scale = kg.placeholder((3,), name="scale")
    draws = [r.normal(0.0, scale[i]) for i in range(3)]
    total = draws[0] + 2 * draws[1] + 3 * draws[2]
    f = kg.compile(scale, [*draws, kg.gradients(total, [scale])[0]])
    *values, gradient = f([1.0, 2.0, 4.0])
    np.testing.assert_allclose(gradient, np.array(values) * [1, 2 / 2, 3 / 4], rtol=1e-13)


def test_rows_of_nested_batches_draw_numbers_of_their_own():
    r = kg.RandomStreams(3)
    z = kg.vmap(lambda row: kg.vmap(lambda a: a + r.uniform())(row))(np.zeros((3, 4)))
    f = kg.compile([], z)
    drawn = np.concatenate([f().ravel(), f().ravel()])
    assert len(set(drawn)) == 24


def test_after_a_ragged_batch_the_stream_goes_on_behind_all_that_was_drawn():
    r = kg.RandomStreams(3)
    u = []

    def body(i, x):
        u.append(r.uniform())
        return i + 1, x.at[i].set(u[-1])

    def row(count):
        return kg.while_loop(lambda i, x: i < count, body, [0, np.zeros(3)])[1]

    counts = np.array([1, 3, 0, 2])
    f = kg.compile([], kg.vmap(row)(counts))
    drawn = np.concatenate([f().ravel() for _ in range(3)])
    assert len(set(drawn[drawn > 0])) == 3 * counts.sum()
    (handle,) = [f.state[draw.rng] for draw in r.results()]
    assert handle.counter == 3 * 2**32
