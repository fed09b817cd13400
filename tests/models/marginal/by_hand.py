"""Marginal log densities, compared with sums that are written out."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from kinetograph.graph.precision import x64

STEP = 1e-5


def check_density_and_gradient(
    model: Any, points: np.ndarray, expected: Callable[[np.ndarray], float]
) -> None:
    """Compare the log density with `expected`, and its gradient with difference quotients."""
    with x64():
        data = model.bind([jnp.asarray(v) for v in model.argument_values]).data
        both = jax.value_and_grad(lambda free: model.density.log_density(free, data))
        values, slopes = map(np.asarray, jax.jit(jax.vmap(both))(points))
    for u, value, slope in zip(points, values, slopes, strict=True):
        np.testing.assert_allclose(value, expected(u), rtol=1e-12)
        sides = [[expected(u + sign * m) for sign in (1, -1)] for m in np.eye(len(u)) * STEP]
        quotients = [(up - down) / (2 * STEP) for up, down in sides]
        np.testing.assert_allclose(slope, quotients, rtol=1e-6, atol=1e-7)
