"""Numbers that enter a compiled program and leave it as one array."""

import jax
import numpy as np

import kinetograph as kg
from kinetograph.graph.compiling.packing import Packing
from kinetograph.graph.precision import x64


def arrays_of(function, *values):
    """The numbers of arrays that enter and leave a call."""
    packed = function._entering.pack([*values, *function._state_values()])
    return len(packed), len(jax.tree.leaves(function._execute(packed)))


def test_numbers_of_a_type_are_one_array():
    x, y = kg.placeholder(name="x"), kg.placeholder(name="y")
    i, b = kg.placeholder(dtype=int, name="i"), kg.placeholder(dtype=bool, name="b")
    v = kg.placeholder((2,), name="v")
    outputs = [i + 1, x * y, v * x, kg.where(b, x, y), i * 1.5, ~b, v.sum()]
    f = kg.compile([x, i, v, y, b], outputs)
    for values in (
        (1.5, 7, [1.0, 2.0], 2.5, False),
        (np.float64(1.5), np.array(7), np.array([1.0, 2.0]), 2.5, np.bool_(False)),
        (np.float32(1.5), np.int8(7), [1, 2], np.array(2.5), np.array(False)),
    ):
        found = f(*values)
        assert [r.dtype.kind for r in found] == list("iffffbf")
        assert [r.shape for r in found] == [(), (), (2,), (), (), (), ()]
        assert [r.tolist() for r in found] == [8, 3.75, [1.5, 3.0], 2.5, 10.5, True, 3.0]
    assert arrays_of(f, 1.5, 7, np.array([1.0, 2.0]), 2.5, False) == (4, 4)


def test_what_a_call_tells_travels_with_the_numbers():
    x = kg.placeholder(name="x")
    y = x
    for limit in (10.0, 20.0):
        (y,) = kg.while_loop(lambda v, limit=limit: v < limit, lambda v: v * 2, [y])
        kg.check(y < 1e6, "too large")
    f = kg.compile([x], y)
    assert f(3.0) == 24
    assert arrays_of(f, 3.0) == (1, 1)
    whole = kg.compile([x], (y > 3).astype(int))
    assert whole(3.0) == 1
    assert arrays_of(whole, 3.0) == (1, 2)


def test_states_are_numbers_too():
    total, count = kg.state(0.0, name="total"), kg.state(0, name="count")
    seen = kg.state(np.zeros(2), name="seen")
    x = kg.placeholder(name="x")
    both = kg.stack([1.0, x])
    f = kg.compile([x], [total.assign_add(x), count.assign_add(1), seen.assign_add(both)])
    for _ in range(3):
        found = f(2.0)
    assert [r.tolist() for r in found] == [6.0, 3, [3.0, 6.0]]
    assert [f.state[s].tolist() for s in (total, count, seen)] == [6.0, 3, [3.0, 6.0]]
    assert arrays_of(f, 2.0) == (3, 4)  # the vector is a result and a state


def test_functions_of_single_precision_take_numbers():
    with kg.precision("float32"):
        x = kg.placeholder(name="x")
        f = kg.compile([x], x / 3)
        assert f(1.0).dtype == np.float32
        assert f(1.0) == np.float32(1) / np.float32(3)
        g = kg.function(lambda x: x / 3)
        assert g(1.0) == np.float32(1) / np.float32(3)
    assert g(1.0) == 1.0 / 3.0
    assert g.traces == 2


def test_numbers_may_have_axes_before_them():
    """As the draws and chains of a block have."""
    nodes = [kg.placeholder(shape, dtype).node for shape, dtype in (((), float), ((2, 3), float))]
    nodes += [kg.placeholder((), bool).node, kg.placeholder((), float).node]
    packing, rng = Packing(nodes), np.random.default_rng(0)
    values = [rng.normal(size=(5, 4, *node.shape)).astype(node.dtype) for node in nodes]
    with x64():
        packed = jax.vmap(jax.vmap(lambda *each: packing.pack_tensors(each, ())))(*values)
        tensors = packing.unpack_tensors(packed)
    assert [x.shape for x in packed] == [(5, 4, 2), (5, 4, 1), (5, 4, 2, 3)]
    arrays, extras = packing.unpack(packed)
    assert extras == []
    for value, tensor, array in zip(values, tensors, arrays, strict=True):
        np.testing.assert_array_equal(value, array)
        np.testing.assert_array_equal(value, tensor)


def test_no_numbers():
    packing = Packing([])
    assert packing.unpack(packing.pack_tensors([], [])) == ([], [])
