"""The metric with directions: exact where it must be, and nothing where there is nothing."""

import numpy as np
import pytest

from kinetograph.adaptation.low_rank import (
    LowRank,
    divergence,
    least_divergence,
    low_rank,
    refined,
)


def covariance(metric: LowRank) -> np.ndarray:
    """S S^T."""
    turned = metric.vectors.T * (metric.stretches - 1)
    s = np.diag(metric.scale) @ (np.eye(len(metric.scale)) + turned @ metric.vectors)
    return s @ s.T


def gaussian(covariance: np.ndarray, draws: np.ndarray, mean: float = 1.0):
    return draws, -np.linalg.solve(covariance, (draws - mean).T).T


def far_apart(size: int, seed: int = 1) -> np.ndarray:
    """A covariance whose eigenvalues span three orders of magnitude, in no particular direction."""
    rng = np.random.default_rng(seed)
    turned, _ = np.linalg.qr(rng.normal(size=(size, size)))
    found: np.ndarray = turned * np.geomspace(0.1, 100, size) @ turned.T
    return found


def test_a_gaussian_is_known_from_one_draw_more_than_it_has_dimensions():
    """Of whatever distribution the draws are."""
    true, rng = far_apart(20), np.random.default_rng(2)
    draws = rng.normal(size=(21, 20)) * rng.uniform(0.1, 5.0, size=(21, 1)) + 3.0
    found = low_rank(*gaussian(true, draws), np.ones(20), 20, cutoff=1.0)
    np.testing.assert_allclose(covariance(found), true, rtol=0, atol=1e-2 * np.abs(true).max())
    assert divergence(found, *gaussian(true, draws)) < 1e-3 * 20


def test_of_many_dimensions_two_long_directions_are_found():
    size, rng = 500, np.random.default_rng(3)
    long, _ = np.linalg.qr(rng.normal(size=(size, 2)))
    true = np.eye(size) + 999 * long @ long.T
    draws = rng.multivariate_normal(np.zeros(size), true, size=60, method="cholesky")
    found = low_rank(*gaussian(true, draws, 0.0), np.ones(size), 32)
    assert len(found.stretches) >= 2
    largest = np.argsort(found.stretches)[-2:]
    np.testing.assert_allclose(np.linalg.norm(found.vectors[largest] @ long, axis=1), 1, atol=0.02)
    before = divergence(
        low_rank(*gaussian(true, draws, 0.0), np.ones(size), 0), *gaussian(true, draws)
    )
    assert divergence(found, *gaussian(true, draws)) < 0.3 * before


@pytest.mark.parametrize("count", [10, 30, 200])
def test_where_the_scales_say_all_there_is_no_direction(count):
    scales, rng = np.geomspace(0.01, 100, 30), np.random.default_rng(4)
    draws = rng.normal(size=(count, 30)) * scales
    found = low_rank(*gaussian(np.diag(scales**2), draws, 0.0), np.ones(30), 30)
    assert len(found.stretches) == 0
    np.testing.assert_allclose(found.scale, scales, rtol=1e-6)


def test_as_many_directions_as_there_is_room_for_the_farthest_first():
    true, rng = far_apart(10), np.random.default_rng(5)
    known = gaussian(true, rng.normal(size=(40, 10)))
    assert len(low_rank(*known, np.ones(10), 10).stretches) > 3
    few = low_rank(*known, np.ones(10), 3)
    np.testing.assert_allclose(few.vectors @ few.vectors.T, np.eye(3), atol=1e-9)
    left = np.linalg.inv(few.transpose(np.eye(10)))
    values = np.linalg.eigvalsh(left.T @ true @ left)
    assert np.abs(np.log(values)).max() < 2 * np.abs(np.log(few.stretches)).min()


def test_long_directions_do_not_widen_the_scales():
    """Of most coordinates, 1 wide where two long directions are known that go through all."""
    size, rng = 60, np.random.default_rng(8)
    long, _ = np.linalg.qr(rng.normal(size=(size, 2)))
    true = np.eye(size) + 9999 * long @ long.T
    draws = rng.multivariate_normal(np.zeros(size), true, size=100, method="cholesky")
    known = gaussian(true, draws, 0.0)
    found, alone = (low_rank(*known, np.ones(size), most) for most in (8, 0))
    assert np.median(found.scale) < 1.1 < 3 < np.median(alone.scale)
    assert divergence(found, *known) < 1


def test_a_metric_is_refined_by_what_it_does_not_fit():
    """One long direction is known, half of its length, another not: then both are, exactly."""
    size, rng = 200, np.random.default_rng(9)
    scale = rng.uniform(0.5, 2.0, size)
    long = np.linalg.qr(rng.normal(size=(size, 2)))[0].T
    true = scale[:, None] * (np.eye(size) + 999 * long.T @ long) * scale
    draws = rng.multivariate_normal(np.zeros(size), true, size=201, method="cholesky")
    known = gaussian(true, draws, 0.0)
    tilted = (long[0] + 0.3 * long[1]) / np.hypot(1, 0.3)
    used = LowRank(scale, tilted[None], np.array([16.0]))
    found = refined(used, *known, 8)
    assert found.scale is used.scale
    np.testing.assert_allclose(
        found.vectors @ found.vectors.T, np.eye(len(found.vectors)), atol=1e-9
    )
    assert divergence(found, *known) < 1e-2 < 1 < divergence(used, *known)
    np.testing.assert_allclose(np.sort(found.stretches)[-2:], np.sqrt(1000), rtol=0.05)
    exact = LowRank(scale, long, np.full(2, np.sqrt(1000)))
    assert refined(exact, *known, 8) is exact
    assert len(refined(used, *known, 1).stretches) == 1


def test_a_coordinate_that_has_not_moved_keeps_its_scale():
    rng = np.random.default_rng(6)
    draws = rng.normal(size=(30, 3))
    draws[:, 1] = 7.0
    found = low_rank(draws, -draws, np.array([5.0, 6.0, 7.0]), 3)
    np.testing.assert_allclose(found.scale, [1.0, 6.0, 1.0])
    assert np.isfinite(found.vectors).all()


def test_the_inverse_and_the_transpose_are_those():
    rng = np.random.default_rng(7)
    vectors = np.linalg.qr(rng.normal(size=(5, 2)))[0].T
    metric = LowRank(rng.uniform(0.5, 2, 5), vectors, np.array([0.1, 7.0]))
    s = np.diag(metric.scale) @ (np.eye(5) + vectors.T * (metric.stretches - 1) @ vectors)
    x = rng.normal(size=(4, 5))
    np.testing.assert_allclose(metric.inverse(x), np.linalg.solve(s, x.T).T, rtol=1e-10)
    np.testing.assert_allclose(metric.transpose(x), x @ s, rtol=1e-10)


def test_the_divergences_of_a_stack_are_those_of_each():
    rng = np.random.default_rng(8)
    draws, gradients = rng.normal(size=(2, 3, 12, 4))
    vectors = np.linalg.qr(rng.normal(size=(3, 4, 4)))[0][:, :2]
    metrics = LowRank(rng.uniform(0.5, 2, (3, 4)), vectors, rng.uniform(0.5, 2, (3, 2)))
    each = [
        divergence(LowRank(*(part[i] for part in metrics)), draws[i], gradients[i])
        for i in range(3)
    ]
    np.testing.assert_allclose(divergence(metrics, draws, gradients), each, rtol=1e-12)


def test_no_metric_comes_below_the_least_divergence():
    rng = np.random.default_rng(8)
    for seed in range(5):
        true = far_apart(4, seed)
        draws = rng.normal(size=(40, 4)) @ np.linalg.cholesky(true).T
        slopes = -np.linalg.solve(true, draws.T).T + 0.3 * rng.normal(size=(40, 4))
        least = least_divergence([(draws, slopes)])
        best = divergence(low_rank(draws, slopes, np.ones(4), 4, cutoff=1.0), draws, slopes)
        assert least * (1 - 1e-9) <= best <= 1.001 * least  # of all directions it is reached
        halves = [(draws[:20], slopes[:20]), (draws[20:], slopes[20:])]
        both = least_divergence(halves)
        for metric in (low_rank(*half, np.ones(4), 4, cutoff=1.0) for half in halves):
            assert both <= sum(divergence(metric, *half) for half in halves)


def test_of_too_few_draws_the_least_divergence_is_none():
    draws, slopes = np.ones((5, 3)), np.zeros((5, 3))
    assert least_divergence([(draws, slopes)]) == 0.0
    assert least_divergence([(1e300 * np.eye(3), 1e300 * np.eye(3))]) == 0.0
