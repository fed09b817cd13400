"""Losses, accuracies and derivatives at points, against NumPy and linear regression."""

import jax
import numpy as np
import pytest

import kinetograph as kg
from kinetograph.graph.errors import ShapeError
from kinetograph.neural import batched
from kinetograph.neural import landscape as module

RNG = np.random.default_rng(1)
X = RNG.normal(size=(40, 2))
SIGNS = np.sign(X[:, :1] + 0.3 * RNG.normal(size=(40, 1)))


def tanh_loss(w, y=SIGNS):
    """Loss and accuracy of a 2-2-1 net in NumPy."""
    hidden = np.tanh(X @ w[:4].reshape(2, 2) + w[6:8])
    outputs = np.tanh(hidden @ w[4:6, None] + w[8])
    return np.mean((outputs - y) ** 2), np.mean(np.sign(outputs) == y)


def layout_of(network, x=X, width=1):
    return kg.neural.ParameterLayout(network.start(jax.random.key(0), x[0], width))


@pytest.fixture(scope="module")
def tanh():
    network = kg.neural.mlp([2], "tanh", "tanh")
    return kg.neural.Landscape(network, layout_of(network), "mean_squared", X, SIGNS)


@pytest.fixture(scope="module")
def linear():
    """A regression of Hessian 2 X^T X / n, and its labels."""
    network = kg.neural.mlp([], bias=False)
    y = X @ [[1.0], [-0.5]] + 0.1
    return kg.neural.Landscape(network, layout_of(network), "mean_squared", X, y), y


def test_losses_and_accuracies_of_many_points(tanh, monkeypatch):
    points = RNG.normal(size=(5, 9, 9))
    expected = np.array([[tanh_loss(w) for w in row] for row in points])
    np.testing.assert_allclose(tanh.loss(points), expected[..., 0], rtol=1e-12)
    np.testing.assert_allclose(tanh.accuracy(points), expected[..., 1], rtol=1e-12)
    monkeypatch.setattr(batched, "NUMBERS", 400)  # four points at once
    small = kg.neural.Landscape(tanh.network, tanh.layout, "mean_squared", X, SIGNS)
    loss, accuracy = small.loss_and_accuracy(points)
    assert small._functions["both"]._part([points[0]], (small.x, small.y)) <= 8
    np.testing.assert_allclose(loss, expected[..., 0], rtol=1e-12)
    np.testing.assert_allclose(accuracy, expected[..., 1], rtol=1e-12)
    assert tanh.loss(points[:0]).shape == (0, 9)


def test_derivatives_of_a_regression(linear):
    landscape, y = linear
    matrix, points = 2 * X.T @ X / 40, RNG.normal(size=(3, 2))
    slopes = 2 * (points @ X.T - y.T) @ X / 40
    np.testing.assert_allclose(landscape.gradient(points), slopes, rtol=1e-11)
    np.testing.assert_allclose(landscape.hessian(points), np.stack([matrix] * 3), rtol=1e-11)
    products = landscape.hessian_vector(points[0], np.eye(2))
    np.testing.assert_allclose(products, matrix, rtol=1e-11)


def test_derivatives_are_those_of_differences(tanh):
    """Of the NumPy loss of a network with a hidden layer."""
    w, h = RNG.normal(size=9), 1e-4
    units = h * np.eye(9)
    loss = lambda w: tanh_loss(w)[0]
    slope = lambda w: np.array([loss(w + e) - loss(w - e) for e in units]) / (2 * h)
    second = np.array([slope(w + e) - slope(w - e) for e in units]) / (2 * h)
    np.testing.assert_allclose(tanh.gradient(w), slope(w), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(tanh.hessian(w), second, rtol=1e-5, atol=1e-6)
    v = RNG.normal(size=9)
    np.testing.assert_allclose(tanh.hessian_vector(w, v), second @ v, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("which", ["largest", "smallest"])
def test_extreme_eigenpairs_by_lanczos(tanh, which, monkeypatch):
    monkeypatch.setattr(module, "DENSE", 0)
    point = RNG.normal(size=9)
    dense = np.linalg.eigvalsh(tanh.hessian(point))[::-1]
    pairs = tanh.hessian_eigenpairs(point, 3, which)
    expected = dense[:3] if which == "largest" else dense[-3:]
    np.testing.assert_allclose(pairs.values, expected, rtol=1e-8, atol=1e-10)
    moved = tanh.hessian_vector(point, pairs.vectors.T)
    np.testing.assert_allclose(moved, pairs.values[:, None] * pairs.vectors.T, atol=1e-7)


def test_the_potential_is_minus_the_log_density(tanh):
    """A prior, the sum as scale, and a fixed bias."""
    fixed = tanh.layout.fixing({"layer1/bias": 0.5})
    made = kg.neural.Landscape(
        tanh.network, fixed, "mean_squared", X, SIGNS, prior=2.0, scale="sum"
    )
    w = RNG.normal(size=8)
    assert (made.size, made.names[-1]) == (8, "bias1")
    prior = -0.5 * np.sum((w / 2) ** 2) - 8 * np.log(2 * np.sqrt(2 * np.pi))
    np.testing.assert_allclose(made.potential(w), 40 * tanh_loss(np.append(w, 0.5))[0] - prior)
    np.testing.assert_allclose(made.potential(w), -made.model.log_prob({"parameters": w}))


def test_accuracies_by_labels():
    """Logits, probabilities, one-hot rows, classes; none for a regression."""
    linear = kg.neural.mlp([])
    z = X @ [[1.0, -1.0], [0.5, 2.0]] + [0.1, -0.2]
    w = np.array([1.0, -1.0, 0.5, 2.0, 0.1, -0.2])
    classes = RNG.integers(0, 2, 40)
    one_hot = np.eye(2)[classes]
    right = np.mean(z.argmax(1) == classes)
    cases = [
        (linear, "categorical", classes, right),
        (linear, "softmax_cross_entropy", one_hot, right),
        (linear, "mean_squared", one_hot, right),
        (linear, "sigmoid_cross_entropy", one_hot, np.mean((z > 0) == (one_hot > 0))),
        (kg.neural.mlp([], (), "sigmoid"), "log_loss", one_hot, np.mean((z > 0) == (one_hot > 0))),
        (linear, "signed_hinge", 2 * one_hot - 1, np.mean((z > 0) == (one_hot > 0))),
        (linear, "mean_squared", z, np.nan),
    ]
    for network, loss, labels, expected in cases:
        made = kg.neural.Landscape(network, layout_of(linear, width=2), loss, X, labels)
        np.testing.assert_allclose(made.accuracy(w), expected, err_msg=loss)


def test_other_data_and_copies(tanh):
    w = RNG.normal(size=9)
    np.testing.assert_allclose(tanh.on(X, -SIGNS).loss(w), tanh_loss(w, -SIGNS)[0])
    np.testing.assert_allclose(tanh.on(X[:7], SIGNS[:7]).outputs(w, X), tanh.outputs(w, X))
    assert np.isnan(tanh.on(X, 2 * SIGNS).accuracy(w))
    with kg.precision("float32"):
        single = kg.neural.Landscape(tanh.network, tanh.layout, "mean_squared", X, SIGNS)
    assert single.loss(w).dtype == single.gradient(w).dtype == np.float32
    np.testing.assert_allclose(single.loss(w), tanh_loss(w)[0], rtol=1e-5)


def test_wrong_arguments(tanh):
    with pytest.raises(ShapeError, match=r"expected points of shape \(..., 9\)"):
        tanh.loss(np.zeros(8))
    with pytest.raises(ShapeError, match="got 40 rows of inputs and 3 labels"):
        tanh.on(X, SIGNS[:3])
    with pytest.raises(ShapeError, match=r"outputs: expected rows .* shape \(2,\), got .*\(4, 3\)"):
        tanh.outputs(np.zeros(9), np.zeros((4, 3)))
    with pytest.raises(ShapeError, match=r"on: expected rows .* shape \(2,\), got .*\(40, 1\)"):
        tanh.on(X[:, :1], SIGNS)
    for make in (kg.neural.Landscape, kg.neural.posterior):
        for loss in ("mean_squared", lambda z, y: z[0]):
            with pytest.raises(ShapeError, match="the network does not take inputs"):
                make(tanh.network, tanh.layout, loss, X[:, :1], SIGNS)
    with pytest.raises(ValueError, match="which='largest' or 'smallest'"):
        tanh.hessian_eigenpairs(np.zeros(9), 1, "middle")
    with pytest.raises(ValueError, match="scale must be"):
        kg.neural.Landscape(tanh.network, tanh.layout, "mean_squared", X, SIGNS, scale="most")


def test_the_model_of_other_data(tanh):
    w = np.full(9, 0.1)
    assert tanh.model.log_prob(w) == pytest.approx(-tanh.potential(w))  # made before
    other = tanh.on(X[:7], SIGNS[:7])
    assert other.model.log_prob(w) == pytest.approx(-other.potential(w))
    assert other.row_values.gradients(w).shape == (7, 9)
