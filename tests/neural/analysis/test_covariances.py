"""Covariances at once, streaming and of low rank."""

import numpy as np
import pytest

from kinetograph.neural import analysis


@pytest.fixture
def draws():
    random = np.random.default_rng(1)
    return 100 + random.standard_normal((3, 80, 4)) @ random.standard_normal((4, 4))


def test_the_covariance_is_that_of_numpy(draws):
    pooled = analysis.covariance(draws)
    assert pooled == pytest.approx(np.cov(draws.reshape(-1, 4).T), rel=1e-10)
    separate = analysis.covariance(draws, walkers="separate")
    assert separate.shape == (3, 4, 4)
    for each, chain in zip(separate, draws, strict=True):
        assert each == pytest.approx(np.cov(chain.T), rel=1e-10)


def test_the_streaming_covariance_is_that_of_all_rows(draws):
    rows = draws.reshape(-1, 4)
    total = analysis.CovarianceSum()
    for part in np.split(rows, [1, 7, 7, 100]):
        total.add(part)
    total.add(np.array([1.0, 2.0, 3.0, 4.0]))
    rows = np.vstack([rows, [1.0, 2.0, 3.0, 4.0]])
    assert total.count == len(rows)
    assert total.mean == pytest.approx(rows.mean(0), rel=1e-12)
    assert total.matrix == pytest.approx(np.cov(rows.T), rel=1e-10)


def test_eigenpairs_descend_and_have_signs(draws):
    matrix = np.cov(draws.reshape(-1, 4).T)
    pairs = analysis.eigenpairs(matrix)
    assert (np.diff(pairs.values) < 0).all()
    assert pairs.vectors * pairs.values @ pairs.vectors.T == pytest.approx(matrix)
    largest = np.abs(pairs.vectors).argmax(0)
    assert (pairs.vectors[largest, range(4)] > 0).all()
    first = analysis.eigenpairs(matrix, 2)
    assert first.values == pytest.approx(pairs.values[:2])
    assert first.vectors == pytest.approx(pairs.vectors[:, :2])


def test_low_rank_is_exact_where_the_rank_is_low():
    random = np.random.default_rng(2)
    draws = 5 + random.standard_normal((2, 60, 3)) @ random.standard_normal((3, 100))
    exact = analysis.eigenpairs(np.cov(draws.reshape(-1, 100).T), 3)
    pairs = analysis.low_rank_covariance(draws, 3)
    assert pairs.values == pytest.approx(exact.values, rel=1e-10)
    assert pairs.vectors == pytest.approx(exact.vectors, abs=1e-10)


def test_low_rank_approximates_a_decaying_spectrum():
    random = np.random.default_rng(3)
    draws = random.standard_normal((1, 400, 100)) / np.arange(1, 101)
    exact = np.linalg.eigvalsh(np.cov(draws[0].T))[::-1]
    assert analysis.low_rank_covariance(draws, 5).values == pytest.approx(exact[:5], rel=1e-6)


@pytest.mark.slow
def test_low_rank_of_many_parameters():
    random = np.random.default_rng(4)
    scales = np.ones(100_000)
    scales[:3] = 3000, 2000, 1000
    draws = random.standard_normal((1, 200, 100_000)) * scales
    rows = draws[0] - draws[0].mean(0)
    exact = np.linalg.eigvalsh(rows @ rows.T / 199)[::-1]
    pairs = analysis.low_rank_covariance(draws, 3)
    assert pairs.vectors.shape == (100_000, 3)
    assert pairs.values == pytest.approx(exact[:3], rel=1e-6)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: analysis.CovarianceSum().matrix, "two rows or more, got 0; call add"),
        (lambda: analysis.CovarianceSum().add([np.inf]), "1 of the 1 values of rows"),
        (lambda: analysis.covariance(np.zeros((2, 3))), r"write draws\[None\] for one chain"),
        (lambda: analysis.covariance(np.zeros((1, 3, 1)), walkers="all"), "got 'all'"),
        (lambda: analysis.eigenpairs([[1.0, 2.0]]), r"symmetric matrix, got an array of shape"),
        (lambda: analysis.eigenpairs(np.eye(2), 3), "between 1 and 2, got 3"),
        (lambda: analysis.low_rank_covariance(np.zeros((1, 4, 9)), 4), "between 1 and 3, got 4"),
    ],
)
def test_bad_input_is_named(call, text):
    with pytest.raises(ValueError, match=text):
        call()


def test_parts_of_another_width_are_refused():
    total = analysis.CovarianceSum()
    total.add([[1.0, 2.0]])
    with pytest.raises(ValueError, match=r"rows of shape \(row, 2\), got \(1, 3\)"):
        total.add([[1.0, 2.0, 3.0]])
