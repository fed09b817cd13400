"""Posteriors of networks, against linear regression in closed form."""

import jax
import numpy as np
import pytest

import kinetograph as kg
from kinetograph.neural.losses import LOSSES

NOISE = 0.3


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(60, 3)) @ np.diag([1.0, 2.0, 0.5])
    return x, x @ np.array([[1.0], [-0.5], [2.0]]) + NOISE * rng.normal(size=(60, 1))


def model(data, **settings):
    network = kg.neural.mlp([], bias=False)
    layout = kg.neural.ParameterLayout(network.start(jax.random.key(0), data[0][0], 1))
    loss = LOSSES["mean_squared"]
    return kg.neural.posterior(network, layout, loss, *data, **settings)


def gaussian(data, precision=0.0):
    """Mean and covariance of the posterior."""
    x, y = data
    inverse = x.T @ x / NOISE**2 + precision * np.eye(3)
    covariance = np.linalg.inv(inverse)
    return (covariance @ x.T @ y / NOISE**2).ravel(), covariance


@pytest.mark.parametrize("sd", [None, 0.5])
def test_the_density_is_that_of_a_regression(data, sd):
    """A squared loss times n / (2 sd^2) is a normal likelihood."""
    made = model(data, prior=sd, scale=60 / (2 * NOISE**2))
    mean, covariance = gaussian(data, 0.0 if sd is None else sd**-2)
    hessian = made.hessian({"parameters": np.zeros(3)})
    np.testing.assert_allclose(hessian, -np.linalg.inv(covariance), rtol=1e-6)
    np.testing.assert_allclose(made.gradient({"parameters": mean}), np.zeros(3), atol=1e-6)


def test_a_mean_loss_at_an_inverse_temperature_is_the_same_posterior(data):
    """Sums, or means at beta = n / T."""
    beta, factor = kg.neural.posterior_scale(60, 1.0)
    whole = model(data, prior=2.0, scale=60 / (2 * NOISE**2))
    mean = model(
        data,
        prior=lambda tree: -factor * 0.5 * sum((w**2).sum() for w in tree.weights) / 4,
        scale=1 / (2 * NOISE**2),
    )
    for at in (np.zeros(3), np.array([1.0, -2.0, 0.5])):
        slopes = [m.gradient({"parameters": at}) for m in (whole, mean)]
        np.testing.assert_allclose(slopes[0], beta * np.asarray(slopes[1]), rtol=1e-6, atol=1e-7)


def test_fixed_parameters_are_conditions(data):
    network = kg.neural.mlp([], bias=False)
    layout = kg.neural.ParameterLayout(network.start(jax.random.key(0), data[0][0], 1))
    fixed = layout.fixing({"layer0/weights": np.array([[np.nan], [-0.5], [np.nan]])})
    loss = LOSSES["mean_squared"]
    whole = kg.neural.posterior(network, layout, loss, *data, prior=None)
    part = kg.neural.posterior(network, fixed, loss, *data, prior=None)
    assert part.free_size == 2
    value = part.log_prob({"parameters": [1.0, 2.0]})
    np.testing.assert_allclose(value, whole.log_prob({"parameters": [1.0, -0.5, 2.0]}), rtol=1e-9)


def test_wrong_scales(data):
    with pytest.raises(ValueError, match="scale must be 'sum', 'mean' or a positive number"):
        model(data, scale="total")
    with pytest.raises(ValueError, match=r"expected a positive standard deviation .*, got -1"):
        model(data, prior=-1)
    with pytest.raises(ValueError, match="posterior_scale: expected a positive number of rows"):
        kg.neural.posterior_scale(0)


@pytest.mark.parametrize(
    ("loss", "labels", "text"),
    [
        ("sigmoid_cross_entropy", [0, 1, 2], "labels that are 0 or 1.*the label of row 2 is 2"),
        ("signed_hinge", [1, -1, 0], "labels that are -1 or 1.*the label of row 2 is 0"),
        ("categorical", [0, 1.5, 1], "whole numbers from 0.*the label of row 1 is 1.5"),
        ("softmax_cross_entropy", [[1, 0], [1, 1], [0, 1]], r"the label of row 1 is \[1, 1\]"),
        ("mean_squared", [0.0, np.nan, np.inf], "finite numbers.*the label of row 1 is nan"),
    ],
)
def test_labels_that_a_loss_is_not_made_for(loss, labels, text):
    network = kg.neural.mlp([])
    layout = kg.neural.ParameterLayout(network.start(jax.random.key(0), np.zeros(1), 2))
    with pytest.raises(kg.DataError, match=text):
        kg.neural.posterior(network, layout, loss, np.zeros((3, 1)), np.array(labels))


@pytest.mark.parametrize(
    ("loss", "activation", "text"),
    [
        ("sigmoid_cross_entropy", "sigmoid", "takes outputs before an activation.*'linear'"),
        ("log_loss", "tanh", "needs outputs between 0 and 1.*output_activation='sigmoid'"),
    ],
)
def test_activations_that_do_not_fit_a_loss(loss, activation, text):
    network = kg.neural.mlp([], output_activation=activation)
    layout = kg.neural.ParameterLayout(network.start(jax.random.key(0), np.zeros(1), 1))
    with pytest.raises(ValueError, match=text):
        kg.neural.posterior(network, layout, loss, np.zeros((2, 1)), np.array([0, 1]))
