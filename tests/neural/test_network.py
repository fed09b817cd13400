"""Networks of every origin compute what they compute by themselves."""

from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kinetograph as kg

KEY = jax.random.key(3)
ROW = np.array([0.4, -1.0, 2.0])


def plain(weights, bias, x):
    """A perceptron with tanh, in NumPy."""
    for k, (w, b) in enumerate(zip(weights, bias, strict=True)):
        x = x @ np.asarray(w) + np.asarray(b)
        x = np.tanh(x) if k < len(weights) - 1 else x
    return x


@given(st.lists(st.integers(0, 5), max_size=3), st.integers(1, 4), st.integers(1, 3))
@settings(deadline=None, max_examples=4)
def test_perceptrons_have_the_size_and_outputs_of_their_layers(hidden, inputs, outputs):
    network = kg.neural.mlp(hidden, "tanh", initial="normal")
    row = np.linspace(-1, 1, inputs)
    parameters = network.start(KEY, row, outputs)
    widths = [inputs, *(w for w in hidden if w), outputs]
    size = sum(a * b + b for a, b in pairwise(widths))
    assert kg.neural.ParameterLayout(parameters).size == size
    expected = plain(parameters.weights, parameters.bias, row)
    np.testing.assert_allclose(network.row(parameters, row), expected, rtol=1e-4, atol=1e-5)
    rows = np.stack([row, -row])
    expected = plain(parameters.weights, parameters.bias, rows)
    np.testing.assert_allclose(network.outputs(parameters, rows), expected, rtol=1e-4, atol=1e-5)


def test_an_activation_of_all_units_of_a_layer():
    network = kg.neural.mlp([4], jax.nn.softmax)
    parameters = network.start(KEY, ROW, 1)
    rows = np.stack([ROW, 2 * ROW])
    each = [network.row(parameters, row) for row in rows]
    np.testing.assert_allclose(network.outputs(parameters, rows), each, rtol=1e-5)


def test_initial_weights():
    start = kg.neural.mlp([50], initial="uniform").start(KEY, ROW, 2)
    weights = np.concatenate([np.ravel(w) for w in start.weights])
    assert abs(weights).max() <= 0.5
    assert abs(weights.mean()) < 0.15  # 5 standard errors of 250 uniform numbers are 0.09
    assert all((np.asarray(b) == np.float32(0.1)).all() for b in start.bias)
    again = kg.neural.mlp([50], initial="uniform").start(KEY, ROW, 2)
    np.testing.assert_array_equal(start.weights[0], again.weights[0])
    other = kg.neural.mlp([50], initial="uniform").start(jax.random.key(4), ROW, 2)
    assert (np.asarray(start.weights[0]) != np.asarray(other.weights[0])).all()


@pytest.mark.parametrize(
    ("initial", "variance"), [("glorot", 2 / 500), ("he", 2 / 400), ("normal", 1.0)]
)
def test_rules_of_initial_weights(initial, variance):
    """Of 400 units that follow 100 units: Glorot's rule, and He's of the next layer."""
    start = kg.neural.mlp([100, 400, 100], initial=initial).start(KEY, ROW, 1)
    weights = np.asarray(start.weights[1 if initial == "glorot" else 2], float).ravel()
    assert abs(weights.var() / variance - 1) < 5.5 * np.sqrt(2 / weights.size)
    assert abs(weights.mean()) < 5.5 * np.sqrt(variance / weights.size)
    assert all((np.asarray(b) == 0).all() for b in start.bias)


def test_convolutions_residuals_and_normalisations():
    """A module of flax, with the values of flax."""
    linen = pytest.importorskip("flax.linen")

    class Images(linen.Module):
        @linen.compact
        def __call__(self, x):
            x = x.reshape(*x.shape[:-1], 4, 4, 1)
            x = linen.tanh(linen.LayerNorm()(linen.Conv(2, (3, 3))(x)))
            x = x + linen.Conv(2, (3, 3))(x)
            return linen.Dense(1)(x.reshape(*x.shape[:-3], -1))

    module, rng = Images(), np.random.default_rng(1)
    x = rng.normal(size=(12, 16))
    nn = kg.neural.Simulation([x, x[:, 0]], module, seed=1, max_steps=50, learning_rate=0.01)
    assert nn.num_parameters() == (9 * 2 + 2) + 2 * 2 + (9 * 2 * 2 + 2) + (32 + 1)
    before = nn.loss()
    nn.fit()
    assert nn.loss() < 0.9 * before
    layout = nn.landscape.layout
    tree = layout.tree(layout.filled(np.asarray(nn.parameters)))
    expected = module.apply({"params": tree}, jnp.array(x, jnp.float32))
    np.testing.assert_allclose(nn.predict(x), expected, rtol=1e-4, atol=1e-5)
    # The gradient by central differences of the losses of flax, along one direction.
    w, v = np.asarray(nn.parameters, float), rng.normal(size=nn.num_parameters())

    def loss(w):
        z = module.apply({"params": layout.tree(w)}, jnp.array(x))
        return float(np.mean((np.asarray(z)[:, 0] - x[:, 0]) ** 2))

    with jax.enable_x64(True):
        slope = (loss(w + 1e-5 * v) - loss(w - 1e-5 * v)) / 2e-5
    assert nn.gradients() @ v == pytest.approx(slope, rel=1e-3)


def test_modules_of_flax_and_equinox():
    equinox = pytest.importorskip("equinox")
    linen = pytest.importorskip("flax.linen")
    from flax import nnx

    class Linen(linen.Module):
        @linen.compact
        def __call__(self, x):
            return linen.Dense(2)(linen.tanh(linen.Dense(4)(x)))

    class Nnx(nnx.Module):
        def __init__(self, rngs):
            self.first, self.last = nnx.Linear(3, 4, rngs=rngs), nnx.Linear(4, 2, rngs=rngs)

        def __call__(self, x):
            return self.last(nnx.tanh(self.first(x)))

    module = Linen()
    network = kg.neural.network(module)
    parameters = network.start(KEY, ROW, 2)
    expected = module.apply({"params": parameters}, jnp.array(ROW))
    np.testing.assert_allclose(network.row(parameters, ROW), expected, rtol=1e-6)

    for made, factory in (
        (Nnx(nnx.Rngs(0)), lambda key: Nnx(nnx.Rngs(params=key))),
        (
            equinox.nn.MLP(3, 2, 4, 1, key=KEY),
            lambda key: equinox.nn.MLP(3, 2, 4, 1, key=key),
        ),
    ):
        network = kg.neural.network(made)
        own = network.start(KEY, ROW, 2)
        np.testing.assert_allclose(network.row(own, ROW), made(jnp.array(ROW)), rtol=1e-6)
        layout = kg.neural.ParameterLayout(own)
        moved = layout.tree(layout.vector(own) + 0.1)
        assert not np.allclose(network.row(moved, ROW), network.row(own, ROW))
        fresh = kg.neural.network(factory)
        starts = [layout.vector(fresh.start(jax.random.key(i), ROW, 2)) for i in range(2)]
        assert not np.allclose(*starts)


def test_modules_with_other_states_are_refused():
    linen = pytest.importorskip("flax.linen")

    class Normalised(linen.Module):
        @linen.compact
        def __call__(self, x):
            return linen.Dense(1)(linen.BatchNorm(use_running_average=False)(x))

    network = kg.neural.network(Normalised())
    with pytest.raises(
        TypeError, match="Normalised keeps batch_stats in addition to its parameters"
    ):
        network.start(KEY, ROW[None], 1)
    dropped = kg.neural.network(linen.Sequential([linen.Dense(3), linen.Dropout(0.5)]))
    with pytest.raises(
        TypeError, match=r"Sequential has dropout, .*Dropout\(rate, deterministic=T"
    ):
        dropped.start(KEY, ROW, 1)
    off = linen.Sequential([linen.Dense(3), linen.Dropout(0.5, deterministic=True)])
    assert kg.neural.network(off).start(KEY, ROW, 1)["layers_0"]["bias"].shape == (3,)


def test_pairs_the_wrong_way_round():
    with pytest.raises(
        TypeError, match=r"got tuple .*; the function comes first: write \(function,"
    ):
        kg.neural.network(({"w": ROW}, lambda w, x: x @ w["w"]))
    swapped = (lambda x, w: x @ w["w"], {"w": np.ones((2, 1))})
    data = [np.ones((4, 2)), np.ones(4)]
    with pytest.raises(kg.ShapeError, match=r"is called as function\(parameters, row\)"):
        kg.neural.Simulation(data, swapped).loss()


@pytest.mark.parametrize("value", ["mlp", 3, None, np.sin, {"a": 1}])
def test_other_values(value):
    with pytest.raises(TypeError, match=r"network: expected kg.neural.mlp\(...\), the widths"):
        kg.neural.network(value)


def test_wrong_layers():
    with pytest.raises(ValueError, match="2 activations for 1 hidden layers"):
        kg.neural.mlp([3], ["relu", "tanh"])
    with pytest.raises(ValueError, match=r"unknown name 'tanhh'.*did you mean 'tanh'"):
        kg.neural.mlp([3], "tanhh")
    with pytest.raises(ValueError, match="must not be negative"):
        kg.neural.mlp([-1])
