"""The metric with directions, estimated from draws and gradients.

Take centred draws x and gradients s in the coordinates that the diagonal metric has scaled. The
Fisher divergence between the posterior and a normal distribution is smallest for the covariance
Sigma with

    Sigma C_s Sigma = C_x,    C_x = cov(x) + g I,    C_s = cov(s) + g I

in the span of draws and gradients, and 1 elsewhere. For a Gaussian of n dimensions it is exact from
n + 1 draws of any distribution. The directions of the metric are the eigenvectors of Sigma whose
eigenvalue is above 2 or below 1/2. A long direction through many coordinates increases the spread
of all of them. So the scale of each coordinate is estimated again with the directions removed, and
then the directions are estimated again.

Source: A. Seyboldt, E. Carlson, B. Carpenter, Preconditioning Hamiltonian Monte Carlo by minimising
the Fisher divergence, arXiv:2603.18845.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

__all__ = ["CUTOFF", "LowRank", "divergence", "least_divergence", "low_rank", "refined"]

CUTOFF = 2.0
RIDGE, TINY = 1e-5, 1e-14  # g relative to the mean variance, for few draws and for enough draws
REFITS = 2  # estimates of the scale with the directions removed
LEAST = 1e-10  # scales that are smaller, relative to the previous ones, are ignored


class LowRank(NamedTuple):
    """A scale D P of a diagonal D and directions in P.

    P = I + sum_j (r_j - 1) v_j v_j^T. The arrays may also be stacks for several scales, with r_j =
    1 for directions that one of them lacks.
    """

    scale: np.ndarray  # the diagonal of D, the scales of the coordinates
    vectors: np.ndarray  # the directions v_j as rows
    stretches: np.ndarray  # the r_j

    def inverse(self, x: np.ndarray) -> np.ndarray:
        """Apply (D P)^-1 to each row of x."""
        y: np.ndarray = x / self.scale[..., None, :]
        return y + (y @ self.vectors.mT) * (1 / self.stretches - 1)[..., None, :] @ self.vectors

    def transpose(self, s: np.ndarray) -> np.ndarray:
        """Apply (D P)^T to each row of s."""
        y: np.ndarray = s * self.scale[..., None, :]
        return y + (y @ self.vectors.mT) * (self.stretches - 1)[..., None, :] @ self.vectors


def low_rank(
    draws: np.ndarray,
    gradients: np.ndarray,
    before: np.ndarray,
    most: int,
    cutoff: float = CUTOFF,
) -> LowRank:
    """Estimate the metric from rows of draws and gradients.

    It has at most `most` directions. Coordinates that have not moved keep the scale `before`. If
    draws and gradients are stacks, so is the result.
    """
    draws, gradients = draws.astype(float), gradients.astype(float)
    with np.errstate(all="ignore"):  # overflows are detected below
        scale = _scale(draws, gradients, before, before)
        metric = _directions(draws, gradients, scale, most, cutoff)
        for _ in range(REFITS):
            has_directions = (metric.stretches != 1).any(-1, keepdims=True)
            if not has_directions.any():
                break
            x, s = metric.inverse(draws), metric.transpose(gradients)
            refitted = scale * _scale(x, s, np.ones_like(scale), before / scale)
            scale = np.where(has_directions, refitted, scale)
            metric = _directions(draws, gradients, scale, most, cutoff)
    return metric


def refined(
    metric: LowRank, draws: np.ndarray, gradients: np.ndarray, most: int, cutoff: float = CUTOFF
) -> LowRank:
    """Add directions to a metric where it does not fit.

    The scale does not change. With Q the directions that are estimated in the coordinates of the
    metric, the result is D (P Q^2 P)^1/2.
    """
    with np.errstate(all="ignore"):
        x, s = metric.inverse(draws.astype(float)), metric.transpose(gradients.astype(float))
        remaining = _directions(x, s, np.ones(draws.shape[1]), most, cutoff)
    if not len(remaining.stretches):
        return metric
    span = np.linalg.qr(np.concatenate([metric.vectors, remaining.vectors]).T)[0].T
    p, q = ((v @ span.T, r) for v, r in (metric[1:], remaining[1:]))
    p, q = (np.eye(len(span)) + (v.T * (r**k - 1)) @ v for (v, r), k in ((p, 1), (q, 2)))
    values, vectors = np.linalg.eigh(p @ q @ p)
    chosen, is_far = _farthest(values, most, 1.0)
    chosen = chosen[is_far]
    return LowRank(metric.scale, vectors[:, chosen].T @ span, np.sqrt(values[chosen]))


def _farthest(values: np.ndarray, most: int, cutoff: float) -> tuple[np.ndarray, np.ndarray]:
    """The eigenvalues farthest from 1, and whether each is beyond the cutoff."""
    distance = np.abs(np.log(values))
    chosen = np.argsort(distance)[..., ::-1][..., :most]
    return chosen, np.take_along_axis(distance, chosen, -1) > np.log(cutoff)


def _scale(x: np.ndarray, s: np.ndarray, unmoved: np.ndarray, before: np.ndarray) -> np.ndarray:
    """The scale of each coordinate by itself: (var x / var s)^(1/4)."""
    scale = np.sqrt(np.sqrt(x.var(-2) / s.var(-2)))
    usable = np.isfinite(scale) & (scale > LEAST * before) & (scale * LEAST < before)
    return np.where(usable, scale, unmoved)


def _directions(
    draws: np.ndarray,
    gradients: np.ndarray,
    scale: np.ndarray,
    most: int,
    cutoff: float,
) -> LowRank:
    """Estimate the directions in the coordinates of a scale."""
    (count, size), lead = draws.shape[-2:], scale.shape[:-1]
    none = LowRank(scale, np.zeros((*lead, 0, size)), np.zeros((*lead, 0)))
    if most == 0:
        return none
    root_count = np.sqrt(count - 1)
    x = (draws - draws.mean(-2, keepdims=True)) / scale[..., None, :] / root_count
    s = (gradients - gradients.mean(-2, keepdims=True)) * scale[..., None, :] / root_count
    is_usable = np.ones(lead, bool)
    for part in (x, s):
        is_usable &= np.isfinite(part).all((-2, -1)) & part.any((-2, -1))
    if not is_usable.any():
        return none
    x[~is_usable], s[~is_usable] = x[is_usable][0], s[is_usable][0]  # placeholders, not used below
    basis = None
    if 2 * count < size:
        basis = np.linalg.qr(np.concatenate([x, s], -2).mT)[0]
        x, s = x @ basis, s @ basis
    ridge = RIDGE if count <= size else TINY
    try:
        values, vectors = _mean(_with_ridge(x.mT @ x, ridge), _with_ridge(s.mT @ s, ridge))
    except np.linalg.LinAlgError:
        return none
    values = np.where(values > TINY, values, 1.0)  # smaller values are rounding errors
    chosen, far = _farthest(values, most, cutoff)
    far &= is_usable[..., None]
    room = int(far.sum(-1).max())  # the farthest values come first
    chosen, far = chosen[..., :room], far[..., :room]
    directions = np.take_along_axis(vectors.mT, chosen[..., None], -2).mT
    stretches = np.where(far, np.sqrt(np.take_along_axis(values, chosen, -1)), 1.0)
    return LowRank(scale, (directions if basis is None else basis @ directions).mT, stretches)


def divergence(metric: LowRank, draws: np.ndarray, gradients: np.ndarray) -> Any:
    """The Fisher divergence to the normal distribution of a metric.

    It is mean |S^T s + S^-1 (x - m)|^2 with the best m. For stacks of metrics, draws and gradients
    it has an element for each.
    """
    residuals = metric.transpose(gradients) + metric.inverse(draws - draws.mean(-2, keepdims=True))
    return np.mean(np.sum((residuals - residuals.mean(-2, keepdims=True)) ** 2, -1), -1)


def least_divergence(parts: Sequence[tuple[np.ndarray, np.ndarray]]) -> float:
    """The smallest sum of divergences that a metric can have.

    Each part has draws and gradients. The sum for a metric M is tr(C_s M) + tr(C_x M^-1) + 2
    tr(C_xs). It is smallest for M C_s M = C_x: 2 tr (C_s^1/2 C_x C_s^1/2)^1/2 + 2 tr(C_xs).
    """
    x, s = (
        np.concatenate([(a - a.mean(0)) / np.sqrt(len(a)) for a in each])
        for each in zip(*parts, strict=True)
    )
    try:
        with np.errstate(all="ignore"):
            root = np.linalg.cholesky(s.T @ s)
            values = np.linalg.eigvalsh(root.T @ (x.T @ x) @ root)
    except np.linalg.LinAlgError:
        return 0.0
    least = 2 * np.sum(np.sqrt(np.maximum(values, 0))) + 2 * np.sum(x * s)
    return float(least) if np.isfinite(least) else 0.0


def _with_ridge(covariance: np.ndarray, ridge: float) -> np.ndarray:
    """The covariance plus a multiple of its mean variance on the diagonal."""
    size = covariance.shape[-1]
    mean = np.trace(covariance, axis1=-2, axis2=-1) / size
    regularised: np.ndarray = covariance + (ridge * mean)[..., None, None] * np.eye(size)
    return regularised


def _mean(cov_x: np.ndarray, cov_s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The eigenvalues and eigenvectors of the solution Sigma of the module's equation.

    Sigma = cov_s^-1/2 (cov_s^1/2 cov_x cov_s^1/2)^1/2 cov_s^-1/2.
    """
    values, vectors = np.linalg.eigh(cov_s)
    root = np.sqrt(np.maximum(values, TINY * values[..., -1:]))[..., None, :]
    half = (vectors * root) @ vectors.mT
    inner, turned = np.linalg.eigh(half @ cov_x @ half)
    middle = (vectors / root) @ vectors.mT @ turned
    mean = (middle * np.sqrt(np.maximum(inner, 0))[..., None, :]) @ middle.mT
    values, vectors = np.linalg.eigh((mean + mean.mT) / 2)
    return values, vectors
