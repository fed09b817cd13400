"""Losses of one row, against NumPy in extended precision and scikit-learn."""

import re
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import kinetograph as kg
from kinetograph.neural.activations import ACTIVATIONS
from kinetograph.neural.losses import LOSSES, loss


def softplus(z: np.ndarray) -> np.ndarray:
    z = np.asarray(z, np.longdouble)
    return np.maximum(z, 0) + np.log1p(np.exp(-np.abs(z)))


def log_softmax(z: np.ndarray) -> np.ndarray:
    z = np.asarray(z, np.longdouble)
    z = z - z.max()
    return z - np.log(np.exp(z).sum())


REFERENCES = {
    "mean_squared": ([1.0, -2.0], [0.5, 1.0], lambda z, y: ((z - y) ** 2).mean()),
    "absolute_difference": ([1.0, -2.0], [0.5, 1.0], lambda z, y: abs(z - y).mean()),
    "log_loss": (
        [0.2, 0.9],
        [1.0, 0.0],
        lambda z, y: (-y * np.log(z + 1e-7) - (1 - y) * np.log(1 - z + 1e-7)).mean(),
    ),
    "hinge": ([0.3, 4.0], [1.0, 0.0], lambda z, y: np.maximum(0, 1 - (2 * y - 1) * z).mean()),
    "signed_hinge": ([0.3, 4.0], [1.0, -1.0], lambda z, y: np.maximum(0, 1 - y * z).mean()),
    "cosine_distance": (
        [3.0, 4.0],
        [1.0, 2.0],
        lambda z, y: 1 - z @ y / np.linalg.norm(z) / np.linalg.norm(y),
    ),
    "sigmoid_cross_entropy": (
        [1e4, -1e4, 0.3],
        [1.0, 1.0, 0.0],
        lambda z, y: (softplus(z) - z * y).mean(),
    ),
    "softmax_cross_entropy": (
        [1e4, -1e4, 0.3],
        [0.0, 1.0, 0.0],
        lambda z, y: -(y * log_softmax(z)).sum(),
    ),
    "categorical": ([1e4, -1e4, 0.3], [2.0], lambda z, y: -log_softmax(z)[int(y[0])]),
    "gaussian": (
        [0.5, -1.0, 0.3, -2.0],
        [0.7, 2.0],
        lambda z, y: -stats.norm(z[:2], np.log1p(np.exp(z[2:]))).logpdf(y).sum(),
    ),
    "poisson": ([0.5, -1.0], [3.0, 0.0], lambda z, y: -stats.poisson(np.exp(z)).logpmf(y).sum()),
}


def test_formulas_of_the_documentation():
    page = (Path(__file__).parents[2] / "docs" / "neural-simulation.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| `(.+?)` \|", page, re.M)
    assert [name for name, _ in rows] == list(LOSSES)
    names = {"abs": abs, "normal": stats.norm, "poisson": stats.poisson, "k": 2}
    names |= {n: getattr(np, n) for n in ("mean", "log", "exp", "maximum", "sum", "sqrt")}
    for name, formula in rows:
        z, y, _ = REFERENCES[name]
        z, y = np.clip(z, -3, 3), np.array(y)
        label = int(y[0]) if name == "categorical" else y
        expected = eval(formula, names | {"z": z, "y": label})
        assert LOSSES[name].function(jnp.array(z), jnp.array(y)) == pytest.approx(
            expected, rel=1e-5
        )


def test_every_loss_has_a_reference():
    assert set(REFERENCES) == set(LOSSES)


@pytest.mark.parametrize("name", LOSSES)
def test_values_and_derivatives(name):
    z, y, reference = REFERENCES[name]
    z, y = np.array(z), np.array(y)
    with jax.enable_x64(True):
        value = float(LOSSES[name].function(jnp.array(z), jnp.array(y)))
        slope = np.asarray(jax.grad(LOSSES[name].function)(jnp.array(z), jnp.array(y)))
    np.testing.assert_allclose(value, float(reference(z, y)), rtol=1e-12)
    assert np.isfinite(slope).all()
    for i in range(len(z)):  # steps of 1e-4 are within rounding at outputs of 1e4
        if abs(z[i]) < 100:
            step = 1e-4 * (np.arange(len(z)) == i)
            differences = [float(reference(z + sign * step, y)) for sign in (1, -1)]
            expected = (differences[0] - differences[1]) / 2e-4
            np.testing.assert_allclose(slope[i], expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "at", "slope"),
    [("absolute_difference", 2.0, 0.0), ("sigmoid_cross_entropy", 0.0, 0.5)],
)
def test_derivatives_where_a_formula_has_a_corner(name, at, slope):
    """At a difference of 0, and at a logit of 0 with the label 0."""
    function = LOSSES[name].function
    assert jax.grad(function)(jnp.array([at]), jnp.array([at])) == slope


def test_cosine_distance_of_nothing_has_a_slope():
    with jax.enable_x64(True):
        slope = jax.grad(LOSSES["cosine_distance"].function)(jnp.zeros(2), jnp.ones(2))
    assert np.isfinite(np.asarray(slope)).all()


def test_names_and_functions():
    with pytest.raises(ValueError, match=r"fit: loss: unknown name 'mean_square'; did you mean"):
        loss("mean_square", "fit")
    with pytest.raises(TypeError, match="expected a name, got 3"):
        loss(3, "fit")
    mine = loss(lambda z, y: (z - y) ** 4, "fit")
    assert isinstance(mine, kg.neural.Loss)
    assert loss(mine, "fit") is mine


X = np.array([-7.0, -1.5, -0.2, 0.0, 0.3, 2.0, 6.5])
FORMULAS = {
    "linear": lambda x: x,
    "relu": lambda x: np.maximum(x, 0),
    "relu6": lambda x: np.clip(x, 0, 6),
    "leaky_relu": lambda x: np.where(x > 0, x, 0.01 * x),
    "elu": lambda x: np.where(x >= 0, x, np.expm1(x)),
    "gelu": lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
    "silu": lambda x: x / (1 + np.exp(-x)),
    "softplus": lambda x: np.log1p(np.exp(x)),
    "softsign": lambda x: x / (1 + abs(x)),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "tanh": np.tanh,
}
CORNERS = ("relu", "relu6", "leaky_relu")  # at 0


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_and_their_derivatives(name):
    formula = FORMULAS[name]
    with jax.enable_x64(True):
        values = np.asarray(ACTIVATIONS[name](jnp.array(X)))
        slopes = np.asarray(jax.vmap(jax.grad(ACTIVATIONS[name]))(jnp.array(X)))
    np.testing.assert_allclose(values, formula(X), rtol=1e-10, atol=1e-15)
    differences = (formula(X + 1e-5) - formula(X - 1e-5)) / 2e-5
    smooth = X != 0
    np.testing.assert_allclose(slopes[smooth], differences[smooth], rtol=1e-7, atol=1e-9)
    if name in CORNERS:
        assert 0 <= slopes[~smooth] <= 1
    else:  # second derivatives may jump
        np.testing.assert_allclose(slopes[~smooth], differences[~smooth], atol=2e-5)


def test_a_loss_is_a_function_of_outputs_and_label():
    for wrong in (lambda z: z[0], lambda z, y, w: z[0]):
        with pytest.raises(TypeError, match=r"^Loss: <lambda>: expected a function of two argum"):
            kg.neural.Simulation([np.ones((4, 2)), np.ones(4)], loss=wrong).loss()
    for right in (jax.jit(lambda z, y: z[0]), lambda z, y, p=2: z[0] ** p, lambda *all: all[0][0]):
        assert loss(right, "test").function is right
    for option in ({"labels": "class"}, {"outputs": "logit"}):
        (name,) = option
        with pytest.raises(ValueError, match=rf"^Loss: {name}: unknown name .*; did you mean"):
            kg.neural.Loss("mine", lambda z, y: z[0], **option)
