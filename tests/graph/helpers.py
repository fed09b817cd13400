"""Helpers of the graph's tests: evaluation, derivatives and differences."""

import jax
import numpy as np

import kinetograph as kg
from kinetograph.graph.lower import evaluate
from kinetograph.graph.node import Placeholder
from kinetograph.graph.precision import x64


def value(array, values=None):
    """The value of an array by the interpreter; checks shape and dtype."""
    with x64():
        given = {a.node: jax.numpy.asarray(v) for a, v in (values or {}).items()}
        result = np.asarray(evaluate([array.node], given)[array.node])
    assert result.shape == array.shape, (result.shape, array.shape)
    assert result.dtype == array.dtype, (result.dtype, array.dtype)
    return result


def unknown(x):
    """A placeholder for a value that is unknown at build time."""
    x = np.asarray(x)
    return kg.placeholder(x.shape, x.dtype)


def apply(function, *values):
    """Compute function(*values) in a graph built with unknown values."""
    arrays = [unknown(v) for v in values]
    return value(function(*arrays), dict(zip(arrays, values, strict=True)))


def gradient(output, x, at, weights=None):
    """The gradient of sum(weights * output) by x, and the function."""
    assert isinstance(x.node, Placeholder)
    if weights is None:
        weights = np.cos(np.arange(output.size)).reshape(output.shape)

    # One program, because compiling each operation alone takes many times as long.
    @jax.jit
    @jax.value_and_grad
    def weighted(tensor):
        return (evaluate([output.node], {x.node: tensor})[output.node] * weights).sum()

    with x64():
        slope = np.asarray(weighted(jax.numpy.asarray(at))[1])
    return slope, lambda tensor: weighted(tensor)[0]


def check_gradient(function, at, rtol=1e-6, step=1e-5):
    """Compare the gradient with central differences, in a few random directions."""
    at = np.asarray(at, float)
    x = kg.placeholder(at.shape)
    slope, weighted = gradient(function(x), x, at)
    assert slope.shape == at.shape
    rng = np.random.default_rng(1)
    with x64():
        for _ in range(3):
            direction = rng.standard_normal(at.shape)
            # Richardson extrapolation: the quadratic error of the step cancels.
            d1, d2 = (
                float(weighted(at + h * direction) - weighted(at - h * direction)) / (2 * h)
                for h in (step, 2 * step)
            )
            np.testing.assert_allclose(
                np.sum(slope * direction), (4 * d1 - d2) / 3, rtol=rtol, atol=1e-7
            )
