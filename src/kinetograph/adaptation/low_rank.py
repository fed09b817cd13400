"""The metric with directions, from draws and gradients.

In the coordinates that the diagonal metric has scaled, of draws x and gradients s, both centred,
the Fisher divergence between the posterior and a normal is least for the covariance Sigma with

    Sigma C_s Sigma = C_x,    C_x = cov(x) + g I,    C_s = cov(s) + g I

in the span of draws and gradients, and 1 elsewhere: exact for a Gaussian from as many draws as it
has dimensions and one, of any distribution. Of its eigenvectors those are directions whose
eigenvalue is above 2 or below 1/2. A long direction through many coordinates widens them all, so
the scale of each is told by what the directions leave of it, and they are looked for once more.

Source: A. Seyboldt, E. Carlson, B. Carpenter, Preconditioning Hamiltonian Monte Carlo by minimising
the Fisher divergence, arXiv:2603.18845.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

__all__ = ["CUTOFF", "LowRank", "divergence", "least_divergence", "low_rank", "refined"]

CUTOFF = 2.0
RIDGE, TINY = 1e-5, 1e-14  # g, of the mean of the variances, for few draws and for enough
REFITS = 2  # of the scale, to what the directions leave
LEAST = 1e-10  # scales in relation to those before that say nothing


class LowRank(NamedTuple):
    """A scale D P, P = I + sum_j (r_j - 1) v_j v_j^T; or a stack, in which some r_j are 1."""

    scale: np.ndarray  # of the coordinates
    vectors: np.ndarray  # v, a row each
    stretches: np.ndarray  # r

    def inverse(self, x: np.ndarray) -> np.ndarray:
        """(D P)^-1 x, of rows."""
        y: np.ndarray = x / self.scale[..., None, :]
        return y + (y @ self.vectors.mT) * (1 / self.stretches - 1)[..., None, :] @ self.vectors

    def transpose(self, s: np.ndarray) -> np.ndarray:
        """(D P)^T s, of rows."""
        y: np.ndarray = s * self.scale[..., None, :]
        return y + (y @ self.vectors.mT) * (self.stretches - 1)[..., None, :] @ self.vectors


def low_rank(
    draws: np.ndarray,
    gradients: np.ndarray,
    before: np.ndarray,
    most: int,
    cutoff: float = CUTOFF,
) -> LowRank:
    """The estimate from rows of draws and gradients, with so many directions at most.

    Coordinates that have not moved keep the scale `before`. Of stacks it is a stack.
    """
    draws, gradients = draws.astype(float), gradients.astype(float)
    with np.errstate(all="ignore"):  # what overflows is found out below
        scale = _scale(draws, gradients, before, before)
        metric = _directions(draws, gradients, scale, most, cutoff)
        for _ in range(REFITS):
            some = (metric.stretches != 1).any(-1, keepdims=True)
            if not some.any():
                break
            x, s = metric.inverse(draws), metric.transpose(gradients)
            refitted = scale * _scale(x, s, np.ones_like(scale), before / scale)
            scale = np.where(some, refitted, scale)
            metric = _directions(draws, gradients, scale, most, cutoff)
    return metric


def refined(
    metric: LowRank, draws: np.ndarray, gradients: np.ndarray, most: int, cutoff: float = CUTOFF
) -> LowRank:
    """A metric with the directions added that it does not fit; its scale stays.

    With Q the directions that are left in its own coordinates it becomes D (P Q^2 P)^1/2.
    """
    with np.errstate(all="ignore"):
        x, s = metric.inverse(draws.astype(float)), metric.transpose(gradients.astype(float))
        left = _directions(x, s, np.ones(draws.shape[1]), most, cutoff)
    if not len(left.stretches):
        return metric
    span = np.linalg.qr(np.concatenate([metric.vectors, left.vectors]).T)[0].T
    p, q = ((v @ span.T, r) for v, r in (metric[1:], left[1:]))
    p, q = (np.eye(len(span)) + (v.T * (r**k - 1)) @ v for (v, r), k in ((p, 1), (q, 2)))
    values, vectors = np.linalg.eigh(p @ q @ p)
    chosen, told = _farthest(values, most, 1.0)
    chosen = chosen[told]
    return LowRank(metric.scale, vectors[:, chosen].T @ span, np.sqrt(values[chosen]))


def _farthest(values: np.ndarray, most: int, cutoff: float) -> tuple[np.ndarray, np.ndarray]:
    """Which eigenvalues are farthest from 1, and whether each is at least so far."""
    far = np.abs(np.log(values))
    chosen = np.argsort(far)[..., ::-1][..., :most]
    return chosen, np.take_along_axis(far, chosen, -1) > np.log(cutoff)


def _scale(x: np.ndarray, s: np.ndarray, unmoved: np.ndarray, before: np.ndarray) -> np.ndarray:
    """That of each coordinate by itself: (var x / var s)^(1/4)."""
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
    """The directions in the coordinates that a scale makes."""
    (count, size), lead = draws.shape[-2:], scale.shape[:-1]
    none = LowRank(scale, np.zeros((*lead, 0, size)), np.zeros((*lead, 0)))
    if most == 0:
        return none
    many = np.sqrt(count - 1)
    x = (draws - draws.mean(-2, keepdims=True)) / scale[..., None, :] / many
    s = (gradients - gradients.mean(-2, keepdims=True)) * scale[..., None, :] / many
    told = np.ones(lead, bool)
    for part in (x, s):
        told &= np.isfinite(part).all((-2, -1)) & part.any((-2, -1))
    if not told.any():
        return none
    x[~told], s[~told] = x[told][0], s[told][0]  # of those nothing is taken below
    basis = None
    if 2 * count < size:
        basis = np.linalg.qr(np.concatenate([x, s], -2).mT)[0]
        x, s = x @ basis, s @ basis
    ridge = RIDGE if count <= size else TINY
    try:
        values, vectors = _mean(_with_ridge(x.mT @ x, ridge), _with_ridge(s.mT @ s, ridge))
    except np.linalg.LinAlgError:
        return none
    values = np.where(values > TINY, values, 1.0)  # rounding, of directions that nothing tells of
    chosen, far = _farthest(values, most, cutoff)
    far &= told[..., None]
    room = int(far.sum(-1).max())  # the farthest are first
    chosen, far = chosen[..., :room], far[..., :room]
    found = np.take_along_axis(vectors.mT, chosen[..., None], -2).mT
    stretches = np.where(far, np.sqrt(np.take_along_axis(values, chosen, -1)), 1.0)
    return LowRank(scale, (found if basis is None else basis @ found).mT, stretches)


def divergence(metric: LowRank, draws: np.ndarray, gradients: np.ndarray) -> Any:
    """The Fisher divergence to the normal of a metric: mean |S^T s + S^-1 (x - m)|^2, least m.

    Of each, if there is a stack of metrics, of draws and of gradients.
    """
    rest = metric.transpose(gradients) + metric.inverse(draws - draws.mean(-2, keepdims=True))
    return np.mean(np.sum((rest - rest.mean(-2, keepdims=True)) ** 2, -1), -1)


def least_divergence(parts: Sequence[tuple[np.ndarray, np.ndarray]]) -> float:
    """The sum of the divergences in parts of draws and gradients that no metric comes below.

    Of a metric M it is tr(C_s M) + tr(C_x M^-1) + 2 tr(C_xs), least where M C_s M = C_x:
    2 tr (C_s^1/2 C_x C_s^1/2)^1/2 + 2 tr(C_xs).
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
    size = covariance.shape[-1]
    mean = np.trace(covariance, axis1=-2, axis2=-1) / size
    found: np.ndarray = covariance + (ridge * mean)[..., None, None] * np.eye(size)
    return found


def _mean(cov_x: np.ndarray, cov_s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues and vectors of cov_s^-1/2 (cov_s^1/2 cov_x cov_s^1/2)^1/2 cov_s^-1/2."""
    values, vectors = np.linalg.eigh(cov_s)
    root = np.sqrt(np.maximum(values, TINY * values[..., -1:]))[..., None, :]
    half = (vectors * root) @ vectors.mT
    inner, turned = np.linalg.eigh(half @ cov_x @ half)
    middle = (vectors / root) @ vectors.mT @ turned
    mean = (middle * np.sqrt(np.maximum(inner, 0))[..., None, :]) @ middle.mT
    values, vectors = np.linalg.eigh((mean + mean.mT) / 2)
    return values, vectors
