"""Compiled and staged functions in many threads, copied and pickled."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import jax
import numpy as np

import kinetograph as kg


def powers():
    x, w = kg.placeholder(name="x"), kg.placeholder(name="w")
    (y,) = kg.while_loop(lambda v: v < 100, lambda v: v * w, [x])
    return kg.compile([x, w], [y, kg.gradients(y, w)])


def at_once(call, arguments):
    with ThreadPoolExecutor(8) as pool:
        return list(pool.map(call, arguments))


def test_loops_that_need_more_room_in_some_threads():
    f = powers()
    w = [1.01, 1.1, 1.5, 2.0] * 8  # 463, 49, 12 and 7 trips from 1
    n = np.ceil(np.log(100) / np.log(w))
    found = np.array(at_once(lambda w: f(1.0, w), w))
    np.testing.assert_allclose(found[:, 0], w**n, rtol=1e-12)  # 463 roundings
    np.testing.assert_allclose(found[:, 1], n * w ** (n - 1), rtol=1e-12)


def test_no_change_of_a_state_is_lost():
    total, x = kg.state(0.0), kg.placeholder(name="x")
    add = kg.compile([x], total.assign_add(x))
    sums = at_once(add, [1.0] * 200)
    assert sorted(map(float, sums)) == list(range(1, 201))
    assert add.state[total] == 200


def test_first_calls_of_a_staged_function_make_one_graph():
    @kg.function
    def halvings(x):
        n = 0
        while x > 1:
            x = x / 2
            n += 1
        return n

    found = at_once(halvings, [float(2**k) for k in range(32)])
    assert list(map(int, found)) == list(range(32))
    assert halvings.traces == 1


def test_calls_in_and_out_of_jax_at_once():
    x = kg.placeholder((3,), name="x")
    f = kg.compile(x, (x * x).sum())
    slope = jax.jit(jax.grad(f))

    def both(k):
        return float(f(np.full(3, k))), slope(np.full(3, k)).tolist()

    for k, found in enumerate(at_once(both, map(float, range(16)))):
        assert found == (3 * k * k, [2 * k] * 3)


def test_copies_and_pickles_after_use_in_jax():
    total, x = kg.state(0.0, name="total"), kg.placeholder(name="x")
    f = kg.compile([x], total.assign_add(x))
    f(1.0)
    result, _ = jax.jit(f.pure)(f.state.copy(), 2.0)
    assert result == 3
    for other in (copy.deepcopy(f), copy.copy(f), pickle.loads(pickle.dumps(f))):
        assert other(4.0) == 5
        result, _ = other.pure(other.state.copy(), 2.0)
        assert result == 7
    assert f(1.0) == 2
