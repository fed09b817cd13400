"""Normal distributions with a low-rank part, against SciPy with full matrices."""

import numpy as np
import pytest
from scipy import stats

from kinetograph.approximations.low_rank import LowRankNormal, LowRankStudent


@pytest.mark.parametrize(("size", "rank"), [(5, 2), (3, 3), (2, 5), (1, 1)])
def test_density_and_draws(size, rank):
    rng = np.random.default_rng(size)
    mean, scale = rng.normal(size=size), rng.uniform(0.5, 2.0, size=size)
    loadings, root = rng.normal(size=(size, rank)), rng.normal(size=(rank, rank))
    inner = root @ root.T - 0.1 * np.eye(rank) / (1 + np.linalg.norm(loadings) ** 2)
    normal = LowRankNormal.of(mean, scale, loadings, inner)
    covariance = scale[:, None] * (np.eye(size) + loadings @ inner @ loadings.T) * scale
    x = rng.normal(size=(7, size))
    expected = stats.multivariate_normal(mean, covariance).logpdf(x)
    np.testing.assert_allclose(normal.log_density(x), expected, rtol=1e-9)
    np.testing.assert_allclose(normal.deviations, np.sqrt(np.diag(covariance)), rtol=1e-9)
    # Draws are an affine function of their numbers; its matrix is a root of the covariance.
    matrix = normal.draws(np.eye(size)) - mean
    np.testing.assert_allclose(matrix.T @ matrix, covariance, rtol=1e-9, atol=1e-12)


def test_what_is_not_positive_definite():
    with pytest.raises(np.linalg.LinAlgError):
        LowRankNormal.of(np.zeros(2), np.ones(2), np.ones((2, 1)), np.array([[-0.6]]))


def test_the_covariance_of_rows():
    rows = np.random.default_rng(1).normal(size=(9, 4)) * [1.0, 0.01, 30.0, 2.0]
    mean = np.arange(4.0)
    normal = LowRankNormal.of_rows(mean, rows)
    x = mean + rows[:3]
    expected = stats.multivariate_normal(mean, rows.T @ rows).logpdf(x)
    np.testing.assert_allclose(normal.log_density(x), expected, rtol=1e-9)
    for singular in (rows[:3], rows * [1, 0, 1, 1], rows[:, [0, 1, 2, 2]]):
        with pytest.raises(np.linalg.LinAlgError):
            LowRankNormal.of_rows(mean, singular)


def test_a_student_distribution():
    rows = np.random.default_rng(2).normal(size=(5, 3))
    student = LowRankStudent(LowRankNormal.of_rows(np.ones(3), rows), 2.0, 4)
    exact = stats.multivariate_t(np.ones(3), 4 * rows.T @ rows, df=4)
    x = exact.rvs(20, random_state=np.random.default_rng(3))
    np.testing.assert_allclose(student.log_density(x), exact.logpdf(x), rtol=1e-9)
    numbers = np.random.default_rng(4).normal(size=(4000, student.width))
    # The squared distance over 3 has an F distribution with 3 and 4 degrees.
    distance = student.normal.square(student.draws(numbers)) / 4 / 3
    assert stats.kstest(distance, stats.f(3, 4).cdf).pvalue > 1e-6
