"""Dropout: random hidden units in training, none in values."""

import warnings

import jax
import numpy as np
import pytest

import kinetograph as kg
from kinetograph.graph.precision import x64

RNG = np.random.default_rng(1)
X = RNG.normal(size=(30, 2))
Y = np.sin(X[:, :1])


def simulation(**options):
    settings = {"hidden_dimension": [3], "hidden_activation": "tanh", "dropout": 0.4, "seed": 2}
    return kg.neural.Simulation([X, Y], **settings | {"precision": "float64"} | options)


def test_units_are_dropped_at_the_rate_and_outputs_keep_their_mean():
    network = kg.neural.mlp([1, 50], "linear", bias=False, dropout=0.25)
    w = network.start(jax.random.key(0), X[0], 1)
    w = w._replace(weights=tuple(np.ones(m.shape) for m in w.weights))
    words = np.arange(1, 4001)
    rows = np.ones((4000, 2))
    got = np.asarray(jax.jit(network.noisy_outputs)(w, rows, words))[:, 0]
    wanted = float(network.row(w, rows[0])[0])  # 2 * 50
    first = got != 0  # the unit of the first layer stays
    share = got[first] * 0.75**2 / 2 / 50  # of the units of the second layer that stay
    for values, mean, sd in (
        (first, 0.75, np.sqrt(0.25 * 0.75)),
        (share, 0.75, np.sqrt(0.25 * 0.75 / 50)),
        (got / wanted, 1.0, np.std(got / wanted)),
    ):
        assert abs(values.mean() - mean) < 5.5 * sd / np.sqrt(len(values))
    np.testing.assert_allclose(network.noisy_outputs(w, rows[:2], np.zeros(2, int))[:, 0], wanted)


def test_a_step_of_training_is_numpys_with_the_units_of_its_words():
    nn = simulation(batch_size=8, max_steps=1, optimizer="gradient_descent", learning_rate=0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # training does not warn
        nn.fit()  # from the start, whose gradient has no dropout
    walkers, model = nn._walkers("training"), nn._model.model
    with x64():
        words, pairs = (np.asarray(model.batch.rows_of(walkers.keys[0], i)) for i in (0, 1))
    assert len(set(pairs[:, 1])) == len(pairs)
    before = np.asarray(nn.parameters)
    slope = walkers.chains[0].gradient
    np.testing.assert_allclose(-slope, numpy_slope(before, words), rtol=1e-10)
    info = nn.fit().run_info
    np.testing.assert_allclose(np.asarray(nn.parameters), before + 0.1 * slope, rtol=1e-12)
    rows = pairs[:, 0]
    loss = np.mean((nn.predict(X[rows]) - Y[rows]) ** 2)  # without dropout
    assert info["loss"].iloc[-1] == pytest.approx(loss, rel=1e-12)
    assert not (words[:, 1] == pairs[:, 1]).any()


def numpy_slope(w, pairs):
    """The gradient of the mean squared loss, by hand, with the units that the words drop."""
    first, last, bias = w[:6].reshape(2, 3), w[6:9], w[9:12]
    total = np.zeros(13)
    for row, word in pairs:
        key = jax.random.fold_in(jax.random.key(word), 0)
        stays = (np.asarray(jax.random.uniform(key, (3,), np.float32)) >= 0.4) / 0.6
        x, hidden = X[row], np.tanh(X[row] @ first + bias)
        error = 2 * (hidden * stays @ last + w[12] - Y[row, 0])
        inner = error * last * stays * (1 - hidden**2)
        total += np.concatenate(
            [np.outer(x, inner).ravel(), error * hidden * stays, inner, [error]]
        )
    return total / len(pairs)


def test_values_are_without_dropout():
    plain, nn = simulation(dropout=None), simulation()
    np.testing.assert_array_equal(nn.loss(), plain.loss())
    np.testing.assert_allclose(nn.gradients(), plain.gradients(), rtol=1e-12)


def test_sampling_warns_and_a_metropolis_test_is_refused():
    nn = simulation(max_steps=2)
    with pytest.warns(kg.SamplingWarning, match=r"dropout makes the potential random .*BAOAB"):
        nn.sample()
    nn.set_options(sampler="HMC")
    with pytest.raises(kg.ModelError, match=r"HMC compares values .*dropout=None"):
        nn.sample()


@pytest.mark.parametrize("sampler", ["GHMC", "MALA", "MAMS", "NUTS", "RandomWalk"])
def test_every_metropolis_test_is_refused(sampler):
    with pytest.raises(kg.ModelError, match=rf"{sampler} compares values .*dropout=None"):
        simulation(sampler=sampler).sample()


def test_features_and_batches_keep_the_dropout():
    nn = simulation(input_columns=["x1", "x2^2"], batch_size=4)
    assert nn._model.noise == "dropout"
    assert nn._model.model.batch.size == 4
    network, plain = nn._network.network, kg.neural.mlp([3], "tanh", dropout=0.4)
    w = network.start(jax.random.key(0), X[0], 1)
    features = np.column_stack([X[:, 0], X[:, 1] ** 2])
    words = np.arange(1, 31)
    np.testing.assert_allclose(
        network.noisy_outputs(w, X, words), plain.noisy_outputs(w, features, words), rtol=1e-5
    )


def test_dropout_that_does_not_fit():
    with pytest.raises(ValueError, match=r"dropout: expected a number of at least 0 and below 1"):
        simulation(dropout=1.0)
    with pytest.raises(ValueError, match=r"mlp: dropout: expected a number from 0 to below 1"):
        kg.neural.mlp([3], dropout=-0.1)
    with pytest.raises(ValueError, match=r"dropout: the option is for the perceptron"):
        kg.neural.Simulation([X, Y], kg.neural.mlp([3]), dropout=0.1).loss()
    with pytest.raises(ValueError, match=r"members of an ensemble .*without dropout"):
        kg.neural.EnsembleRegressor(kg.neural.mlp([3], dropout=0.1)).fit(X, Y[:, 0])
    assert kg.neural.mlp([3], dropout=0.0).noise is None
    assert kg.neural.mlp([], dropout=0.5).noise is None
