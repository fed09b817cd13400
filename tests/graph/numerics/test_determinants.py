import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kinetograph.graph.numerics.determinants import determinant
from kinetograph.graph.precision import x64


def minor(a, rows, columns):
    return np.linalg.det(np.delete(np.delete(a, rows, 0), columns, 1))


def slopes(a):
    n = len(a)
    return [[(-1) ** (i + j) * minor(a, i, j) for j in range(n)] for i in range(n)]


def curvatures(a):
    n = len(a)
    result = np.zeros((n, n, n, n))
    for i, j, k, m in itertools.product(range(n), repeat=4):
        if i != k and j != m:
            sign = (-1) ** (i + j + k + m) * (1 if (i < k) == (j < m) else -1)
            result[i, j, k, m] = sign * minor(a, [i, k], [j, m])
    return result


def test_values_of_small_matrices():
    rng = np.random.default_rng(2)
    with x64():
        for n in range(6):
            a = rng.normal(size=(7, n, n))
            np.testing.assert_allclose(determinant(jnp.asarray(a)), np.linalg.det(a), atol=1e-12)


SLOW = [pytest.param(n, marks=pytest.mark.slow) for n in (1, 3, 4, 7)]


@pytest.mark.parametrize("n", [2, 5, *SLOW])
def test_derivatives_at_any_rank(n):
    rng = np.random.default_rng(n)
    full = rng.integers(-3, 4, (n, n)).astype(float)
    matrices = [full, np.eye(n), np.diag(np.arange(n) + 0.0), np.zeros((n, n)), np.ones((n, n))]
    for rank in range(1, n):
        factors = rng.integers(-2, 3, (2, n, rank))
        matrices.append((factors[0] @ factors[1].T).astype(float))
    matrices = np.array(matrices)
    with x64():
        gradient = jax.value_and_grad(determinant)
        both = jax.jit(jax.vmap(lambda a: (*gradient(a), jax.jacrev(jax.grad(determinant))(a))))
        value, slope, curvature = both(matrices)
    size = max(1.0, np.abs(matrices).max()) ** n
    np.testing.assert_allclose(value, [minor(a, [], []) for a in matrices], atol=1e-12 * size)
    np.testing.assert_allclose(slope, [slopes(a) for a in matrices], atol=1e-12 * size)
    np.testing.assert_allclose(curvature, [curvatures(a) for a in matrices], atol=1e-12 * size)


def test_derivatives_of_badly_scaled_matrices():
    scales = np.array([1e-40, 1e30, 1.0, 1e20, 1e-15])
    a = np.random.default_rng(1).normal(size=(5, 5)) + 3 * np.eye(5)
    with x64():
        gradient = jax.jit(jax.grad(determinant))
        found, plain = map(gradient, (a * scales[:, None] * scales[::-1], a))
    whole = np.prod(scales) ** 2
    wanted = np.asarray(plain) * whole / (scales[:, None] * scales[::-1])
    np.testing.assert_allclose(found, wanted, rtol=1e-9)
    inverse = np.linalg.inv(a).T * np.linalg.det(a)
    np.testing.assert_allclose(plain, inverse, rtol=1e-10, atol=1e-10 * np.abs(inverse).max())
