"""Factors and solutions that are written out, against NumPy and the linear algebra library."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kinetograph.graph.numerics.small_matrices import (
    SMALL,
    small_cholesky,
    triangular_solve,
    vector_solve,
)
from kinetograph.graph.precision import x64

SIZES = [1, 2, 3, SMALL, SMALL + 1]


def positive(n, *batch, seed=1):
    root = np.random.default_rng(seed).normal(size=(*batch, n, n + 2))
    return root @ np.swapaxes(root, -1, -2)


def symmetric(function):
    """A function of the lower triangle, by the library."""
    return lambda a: function(jnp.tril(a) + jnp.tril(a, -1).mT)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("batch", [(), (3, 2)])
def test_the_factor(n, batch):
    """Only the lower triangle is read."""
    a = positive(n, *batch)
    expected = np.linalg.cholesky(a)
    with x64():
        np.testing.assert_allclose(small_cholesky(jnp.tril(a)), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("n", SIZES)
def test_the_derivatives_of_the_factor(n):
    """In both directions, of the first and the second order."""
    a, t = positive(n), np.random.default_rng(2).normal(size=(n, n))
    weights = np.random.default_rng(3).normal(size=(n, n))
    library = symmetric(lambda full: jax.lax.linalg.cholesky(full, symmetrize_input=False))

    def number(function):
        return lambda a: jnp.sum(weights * function(a) ** 2)

    with x64():
        got, expected = (jax.jvp(f, (a,), (t,))[1] for f in (small_cholesky, library))
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-11)
        got, expected = (jax.grad(number(f))(a) for f in (small_cholesky, library))
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-10)
        got, expected = (jax.hessian(number(f))(a) for f in (small_cholesky, library))
        np.testing.assert_allclose(got, expected, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("transposed", [False, True])
def test_the_solution_for_a_vector(n, transposed):
    lower = np.tril(positive(n))
    right = np.random.default_rng(4).normal(size=(5, n))
    matrix = lower.T if transposed else lower

    def solved(lower, right):
        return vector_solve(lower, right, transposed=transposed)

    def general(lower, right):
        lower = jnp.tril(lower)
        return jnp.linalg.solve(lower.mT if transposed else lower, right.T).T

    def number(function):
        return lambda *arguments: jnp.sum(function(*arguments) ** 2)

    with x64():
        expected = np.linalg.solve(matrix, right.T).T
        np.testing.assert_allclose(solved(lower, right), expected, rtol=1e-10, atol=1e-12)
        slopes = [jax.grad(number(f), (0, 1))(lower, right) for f in (solved, general)]
        for got, other in zip(*slopes, strict=True):
            np.testing.assert_allclose(got, other, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("n", SIZES)
def test_solutions_of_nearly_singular_matrices_have_small_residuals(n):
    """The rows of the factor have very different sizes, as with a smooth Gaussian process."""
    points = np.linspace(0, 1, n)
    kernel = np.exp(-0.5 * (points[:, None] - points) ** 2 / 4) + 1e-9 * np.eye(n)
    lower = np.linalg.cholesky(kernel)
    z = np.random.default_rng(5).normal(size=n)
    with x64():
        for solution in (
            vector_solve(lower, lower @ z),
            triangular_solve(lower, (lower @ z)[:, None])[:, 0],
        ):
            np.testing.assert_allclose(solution, z, rtol=1e-7, atol=1e-7)


def test_an_empty_matrix():
    with x64():
        assert small_cholesky(np.zeros((2, 0, 0))).shape == (2, 0, 0)
        assert triangular_solve(np.zeros((0, 0)), np.zeros((0, 3))).shape == (0, 3)
        assert vector_solve(np.zeros((0, 0)), np.zeros((4, 0))).shape == (4, 0)
