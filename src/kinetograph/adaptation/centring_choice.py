"""The choice between centred and non-centred forms during warm-up.

A coordinate whose draws y and gradients g of the log density have standard deviations with the
product 1 is normal; the more curved the posterior is, the larger is the product,

    D(c) = log sd(y_c) + log sd(g_c)        g_c = s^(1 - c) g_x

(the Fisher divergence between the posterior and the best normal distribution, if cov(y, g) = -1,
which holds for every density). Draws, locations and scales give y and g for all values c of a grid
in closed form. The running moments of each element are kept, and at some transitions each element
takes the c with the least D, if all elements together gain enough by it. The forms of tails
(`models.prior_tails`) are judged in the same way, with one c for all elements of an unknown.

Small scales are rare, and few draws of a warm-up are there, so D understates how slowly a sampler
moves there. With the information h of the data about x, the width of y_c is

    s^c / sqrt(1 + h s^2)        h s^2 = c* / (1 - c*),  c* the c with the least D

Forms whose coordinates are much narrower at small scales, as the spread of log s tells, count less.

Source   M. Gorinova, D. Moore, M. Hoffman, Automatic reparameterisation of probabilistic programs,
         ICML 2020 (the family of forms); A. Seyboldt, E. Carlson, B. Carpenter, arXiv:2603.18845
         (the divergence).
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..kernels.moments import Moments
from .windows import added, blank, joined, log_spreads

__all__ = ["GRID", "CentringChoice"]

GRID = np.array([0.0, 0.15, 0.3, 0.5, 0.7, 0.85, 1.0])
POOLED = 50.0  # draws at which the D of an element counts as much as the mean of its unknown
# If D of the centred form is much larger than the least one, the posterior has a neck.
NECK, SLIGHT = 2.0, 0.1  # D is raised by NECK c for each unit above SLIGHT
REACH = 6.0  # standard deviations of log s from the mean to small scales
NARROWER, SLIGHTLY = 2.0, 0.3  # D is raised by NARROWER for each unit of log width above SLIGHTLY
MOST_INFORMED = 0.99  # the largest c*
GAIN = (0.3, 0.02)  # of the sum of D: at least this, and this for each element
TAIL_GAIN = 0.03  # of the mean D of an unknown whose form is a form of tails


class CentringChoice(NamedTuple):
    """The moments of draws, gradients and log scales, in two windows."""

    window: Moments  # of shape (2 grid + 1, size)
    before: Moments
    changed: Any  # the transition of the last change

    @classmethod
    def start(cls, size: int, dtype: Any) -> "CentringChoice":
        """Empty windows."""
        none = Moments.start(np.empty((2 * len(GRID) + 1, size), dtype))
        return cls(none, none, np.int32(0))

    def add(self, forms: Any, done: Any) -> "CentringChoice":
        """Add the forms of a transition.

        `forms` has the coordinates and slopes for each c, and log scales: (2 grid + 1, size).
        """
        return self._replace(window=added(self.window, done, forms))

    def judged(
        self, c: Any, parts: Sequence[slice], transition: Any, alone: Any = True, tails: int = 0
    ) -> "tuple[CentringChoice, Any, Any, Any, Any]":
        """The choice of stacked chains, on the host.

        `parts` are the elements of each unknown; the last `tails` unknowns have forms of tails.
        `alone` tells whether an element has a form of its own.
        Returns the new state, the c of each element, its scale, whether it may have
        changed, and the least D of each element.
        """
        moments = joined(self.before, self.window)
        chosen, scale, gains, least = best(moments, c, parts, alone, tails)
        together = sum(part.stop - part.start for part in parts[: len(parts) - tails])
        gain = np.sum(gains[..., :together], -1, keepdims=True)
        enough = np.broadcast_to(gain > GAIN[0] + GAIN[1] * together, gains.shape).copy()
        enough[..., together:] = gains[..., together:] > TAIL_GAIN
        changed = np.where(np.any(enough, -1), transition, self.changed).astype(np.int32)
        state = CentringChoice(blank(self.window), self.window, changed)
        return state, np.where(enough, chosen, c), scale, enough & alone, least


def best(
    moments: Moments, c: Any, parts: Sequence[slice], alone: Any = True, tails: int = 0
) -> tuple[Any, Any, Any, Any]:
    """The c of each element with the least D.

    Chains may be stacked. Also returns the scale, the gain and D of each element there.
    """
    count = np.asarray(moments.count)[..., None, None]
    spreads = log_spreads(moments, slice(len(GRID), -1))
    spread = spreads[..., :-1, :].reshape(*spreads.shape[:-2], 2, len(GRID), -1)
    divergence = np.sum(spread, -3)  # (..., grid, size)
    divergence = np.where(np.isfinite(divergence), divergence, np.inf)
    # Elements with forms of their own would change them by chance, again and again.
    divergence = _pooled(divergence, parts[len(parts) - tails :])
    weight = count / (count + POOLED)
    judged = weight * divergence + (1 - weight) * _pooled(divergence, parts)
    neck = np.maximum(judged[..., -1, :] - np.min(judged, -2) - SLIGHT, 0.0)
    narrower = _narrower(GRID[np.argmin(judged, -2)], np.exp(spreads[..., -1, :]))
    judged = judged + NECK * GRID[:, None] * neck[..., None, :]
    judged = judged + NARROWER * np.maximum(narrower - SLIGHTLY, 0.0)
    place = np.argmin(judged, -2)
    now = np.argmin(np.abs(GRID[:, None] - c[..., None, :]), -2)
    least = _row(divergence, place)
    gains = _row(divergence, now) - least
    has_moved = np.isfinite(gains) & alone  # not for an element that has not moved
    chosen = np.where(has_moved, GRID[place], c).astype(c.dtype)
    scale = np.exp(0.5 * _row(spread[..., 0, :, :] - spread[..., 1, :, :], place)).astype(c.dtype)
    return chosen, scale, np.where(has_moved, gains, 0.0), least


def _row(values: np.ndarray, place: np.ndarray) -> np.ndarray:
    """The value of each element in its own row.

    The values have the shape (..., grid, size).
    """
    return np.take_along_axis(values, place[..., None, :], -2)[..., 0, :]


def _narrower(best_c: Any, spread: Any) -> Any:
    """The decrease of the log width of each coordinate to small scales.

    `spread` is the standard deviation of log s. The result has the shape (..., grid, size).
    """
    informed = np.minimum(best_c, MOST_INFORMED)
    ratio, reach = informed / (1 - informed), REACH * spread
    by_data = 0.5 * (np.log1p(ratio) - np.log1p(ratio * np.exp(-2 * reach)))
    return GRID[:, None] * reach[..., None, :] - by_data[..., None, :]


def _pooled(divergence: Any, parts: Sequence[slice]) -> Any:
    """The mean D of the elements of each unknown that have moved."""
    has_moved = np.all(np.isfinite(divergence), -2, keepdims=True)
    finite, pooled = np.where(has_moved, divergence, 0.0), divergence.copy()
    for part in parts:
        if part.stop - part.start > 1:
            count = np.maximum(np.sum(has_moved[..., part], -1, keepdims=True), 1)
            pooled[..., part] = np.sum(finite[..., part], -1, keepdims=True) / count
    return pooled
