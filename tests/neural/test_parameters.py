"""Vectors of parameters: order, names, fixed entries."""

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kinetograph as kg


def layout(hidden=(4,), inputs=3, outputs=2, bias=True):
    network = kg.neural.mlp(hidden, bias=bias)
    return kg.neural.ParameterLayout(network.start(jax.random.key(1), np.zeros(inputs), outputs))


@given(st.lists(st.integers(1, 4), max_size=2), st.booleans())
@settings(deadline=None, max_examples=20)
def test_vectors_and_trees_are_inverse(hidden, bias):
    parts = layout(hidden, bias=bias)
    vector = np.arange(float(parts.size))
    np.testing.assert_array_equal(parts.vector(parts.tree(vector)), vector)
    names = parts.by_name(vector[None])
    assert [array.shape[1:] for array in names.values()] == list(parts.shapes.values())
    np.testing.assert_array_equal(np.concatenate([a.ravel() for a in names.values()]), vector)


def test_weights_come_before_biases_in_row_major_order():
    parts = layout()
    tree = parts.tree(np.arange(26.0))
    np.testing.assert_array_equal(tree.weights[0], np.arange(12.0).reshape(3, 4))
    np.testing.assert_array_equal(tree.bias[1], [24.0, 25.0])
    assert list(parts.shapes) == ["layer0/weights", "layer1/weights", "layer0/bias", "layer1/bias"]
    assert parts.columns == [f"weight{i}" for i in range(20)] + [f"bias{i}" for i in range(6)]


def test_a_gradient_is_one_concatenation():
    parts = layout()

    def total(vector):
        return sum(np.sum(leaf**2) for leaf in jax.tree.leaves(parts.tree(vector)))

    vector = np.arange(26.0, dtype=np.float32)
    names = str(jax.make_jaxpr(jax.grad(total))(vector))
    assert names.count("concatenate") == 1
    assert " pad[" not in names
    np.testing.assert_array_equal(jax.grad(total)(vector), 2 * vector)
    np.testing.assert_allclose(jax.hessian(total)(vector), 2 * np.eye(26), atol=1e-6)


def test_fixed_numbers_stay():
    parts = layout().fixing({"layer1/bias": 0.5, "layer0/weights": np.full((3, 4), np.nan)})
    assert parts.free.tolist() == list(range(24))
    some = np.full((3, 4), np.nan)
    some[1, 2] = 7.0
    both = parts.fixing({"layer0/weights": some})
    filled = np.asarray(both.filled(np.arange(23.0)))
    assert filled[[6, 24, 25]].tolist() == [7.0, 0.5, 0.5]
    np.testing.assert_array_equal(np.delete(filled, [6, 24, 25]), np.arange(23.0))


@pytest.mark.parametrize("make", [np.asarray, np.float32, np.ndarray.tolist, jax.numpy.asarray])
def test_arrays_of_vectors_are_filled(make):
    parts, free = layout((2,)).fixing({"weight1": 0.25}), np.arange(26.0).reshape(2, 13)
    wanted = np.insert(free, 1, 0.25, axis=1)
    np.testing.assert_array_equal(parts.filled(make(free)), wanted)
    np.testing.assert_array_equal(parts.filled(make(free[0])), wanted[0])
    assert parts.filled(np.arange(13))[1] == 0.25


def test_the_layout_of_records_fills_vectors():
    """Also after a run, which has used it in double precision."""
    x = np.arange(6.0).reshape(3, 2)
    options = {"seed": 1, "max_steps": 2, "fix_parameters": {"weight1": 0.25}}
    records = kg.neural.Simulation([x, x[:, 0]], **options).sample()
    fill, free = records.layout.filled, records.parameters[0, 0]
    wanted = np.insert(free, 1, 0.25)
    for filled in (fill(free), jax.jit(fill)(free), fill(jax.numpy.asarray(free))):
        np.testing.assert_array_equal(filled, wanted)


def test_wrong_fixed_numbers():
    parts = layout()
    with pytest.raises(
        ValueError, match=r"unknown name 'layer2/bias'.*the names are layer0/weights"
    ):
        parts.fixing({"layer2/bias": 0.0})
    with pytest.raises(ValueError, match=r"layer0/bias has shape \(4,\), got values of shape \(3,"):
        parts.fixing({"layer0/bias": np.zeros(3)})
    with pytest.raises(ValueError, match="no number stays free"):
        parts.fixing(dict.fromkeys(parts.shapes, 0.0))
    with pytest.raises(ValueError, match="expected arrays of shapes"):
        parts.vector((np.zeros(3),))


def test_a_larger_network_computes_the_same_function():
    rows = np.linspace(-1, 1, 12).reshape(4, 3)
    networks = [kg.neural.mlp([width], "tanh") for width in (4, 7)]
    small, large = (n.start(jax.random.key(2), rows[0], 2) for n in networks)
    parts = [kg.neural.ParameterLayout(tree) for tree in (small, large)]
    vector = parts[0].vector(small) + 0.1
    expected = networks[0].outputs(parts[0].tree(vector), rows)
    for start in (None, parts[1].vector(large) + 0.3):
        moved = parts[1].transferred(parts[0], vector, start)
        got = networks[1].outputs(parts[1].tree(moved), rows)
        np.testing.assert_allclose(got, expected, rtol=1e-5)
    weights = parts[1].tree(moved).weights[0]
    np.testing.assert_allclose(weights[:, 4:], large.weights[0][:, 4:] + 0.3, rtol=1e-5)


def test_arrays_without_a_place():
    with pytest.raises(ValueError, match=r"layer0/weights has shape \(3, 4\), which is not in"):
        layout((2,)).transferred(layout(), np.zeros(26))
    other = kg.neural.ParameterLayout({"a": np.zeros(2)})
    with pytest.raises(ValueError, match="expected names that"):
        layout().transferred(other, np.zeros(2))
