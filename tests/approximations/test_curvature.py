"""The factored inverse Hessian, against the BFGS formula on full matrices."""

import numpy as np
import pytest

from kinetograph.approximations.curvature import Curvature


def bfgs(matrix: np.ndarray, s: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The BFGS update of an inverse Hessian."""
    rho = 1 / (y @ s)
    left = np.eye(s.size) - rho * np.outer(s, y)
    return left @ matrix @ left.T + rho * np.outer(s, s)


def diagonal_after(a: np.ndarray, s: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The updated diagonal of the inverse Hessian, rescaled.

    It is the inverse of the diagonal of the BFGS update of the Hessian diag(1 / a).
    """
    b = np.diag(1 / (a * (y @ s) / (y @ (a * y))))
    updated = b - np.outer(b @ s, b @ s) / (s @ b @ s) + np.outer(y, y) / (y @ s)
    return 1 / np.diag(updated)


@pytest.mark.parametrize(("size", "memory"), [(6, 3), (2, 6), (4, 1)])
def test_as_the_bfgs_formula(size, memory):
    rng = np.random.default_rng(size)
    root = rng.normal(size=(size, size))
    hessian = root @ root.T + np.eye(size)
    curvature, expected, pairs = Curvature(size, memory), np.ones(size), []
    for _ in range(5):
        s = rng.normal(size=size)
        y = hessian @ s
        curvature.after(s, y)
        expected = diagonal_after(expected, s, y)
        pairs.append((s, y))
    np.testing.assert_allclose(curvature.diagonal, expected, rtol=1e-10)
    matrix = np.diag(expected)
    for s, y in pairs[-memory:]:
        matrix = bfgs(matrix, s, y)
    free, gradient = rng.normal(size=size), rng.normal(size=size)
    normal = curvature.normal(free, gradient)
    made = normal.draws(np.eye(size)) - normal.mean
    np.testing.assert_allclose(made.T @ made, matrix, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(normal.mean, free - matrix @ gradient, rtol=1e-8)


def test_steps_that_tell_nothing():
    curvature = Curvature(2, 3)
    curvature.after(np.array([1.0, 0.0]), np.array([-1.0, 0.0]))
    curvature.after(np.zeros(2), np.zeros(2))
    curvature.after(np.array([1e-8, 0.0]), np.array([1e-8, 0.0]), noise=1e-15)
    assert not curvature.steps
    np.testing.assert_array_equal(curvature.diagonal, 1.0)
