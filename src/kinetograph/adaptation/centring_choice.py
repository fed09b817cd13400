"""The choice between centred and non-centred forms during warm-up.

A coordinate whose draws y and gradients g of the log density have standard deviations with the
product 1 is normal; the more curved the posterior is, the larger is the product,

    D(c) = log sd(y_c) + log sd(g_c)        g_c = s^(1 - c) g_x

(the Fisher divergence between the posterior and the best normal distribution, if cov(y, g) = -1,
which holds for every density). Draws, locations and scales give y and g for all values c of a grid
in closed form. The running moments of each element are kept, and at some transitions each element
takes the c with the least D, if all elements together gain enough by it.

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

import jax
import jax.numpy as jnp
import numpy as np

from ..kernels.moments import Moments

__all__ = ["GRID", "CentringChoice"]

GRID = np.array([0.0, 0.15, 0.3, 0.5, 0.7, 0.85, 1.0])
SKIPPED = 10  # transitions before the moments begin
FIRST, EVERY = 40, 40  # draws before a choice, and between choices
POOLED = 50.0  # draws at which the D of an element counts as much as the mean of its unknown
# If D of the centred form is much larger than the least one, the posterior has a neck.
NECK, SLIGHT = 2.0, 0.1  # D is raised by NECK c for each unit above SLIGHT
REACH = 4.5  # standard deviations of log s from the mean to small scales
NARROWER, SLIGHTLY = 2.0, 0.3  # D is raised by NARROWER for each unit of log width above SLIGHTLY
MOST_INFORMED = 0.97  # the largest c*
GAIN = (0.3, 0.02)  # of the sum of D: at least this, and this for each element


class CentringChoice(NamedTuple):
    """The moments of draws, gradients and log scales, in two windows."""

    current: Moments  # of shape (2 grid + 1, size)
    next: Moments
    changed: Any  # the transition of the last change

    @classmethod
    def start(cls, size: int, dtype: Any) -> "CentringChoice":
        """Empty windows."""
        none = Moments.start(np.empty((2 * len(GRID) + 1, size), dtype))
        return cls(none, none, jnp.int32(0))

    def update(
        self,
        forms: Any,
        c: Any,
        parts: Sequence[slice],
        done: Any,
        late: Any,
        alone: Any = True,
    ) -> "tuple[CentringChoice, Any, Any, Any, Any]":
        """Add the draw and the gradient of each c, and log scales.

        `forms` has the shape (2 grid + 1, size), `parts` are the elements of each unknown, and
        `alone` tells whether an element has a form of its own. Returns the new state, the c of each
        element, its scale, whether it may have changed, and the least D of each element.
        """
        skip = done < SKIPPED
        current, following = self.current.add(forms), self.next.add(forms)
        current, following = (
            jax.tree.map(lambda new, old: jnp.where(skip, old, new), a, b)
            for a, b in ((current, self.current), (following, self.next))
        )
        count = done + 1 - SKIPPED
        due = (count >= FIRST) & (count % EVERY == 0) & (late - done > EVERY)
        chosen, scale, gain, least = best(current, c, parts, alone)
        enough = gain > GAIN[0] + GAIN[1] * sum(p.stop - p.start for p in parts)
        changes = due & enough
        blank = jax.tree.map(jnp.zeros_like, following)
        current, following = (
            jax.tree.map(lambda new, old: jnp.where(due, new, old), a, b)
            for a, b in ((following, current), (blank, following))
        )
        state = CentringChoice(current, following, jnp.where(changes, done + 1, self.changed))
        return state, jnp.where(changes, chosen, c), scale, changes & alone, least


def best(
    moments: Moments, c: Any, parts: Sequence[slice], alone: Any = True
) -> tuple[Any, Any, Any, Any]:
    """The c of each element with the least D.

    Also returns the scale of each element there, the gain of all elements together, and D there.
    """
    variance = moments.squares / jnp.maximum(moments.count - 1, 1)
    spread = jnp.log(variance[:-1]).reshape(2, *GRID.shape, -1)
    divergence = 0.5 * jnp.sum(spread, 0)  # (grid, size)
    divergence = jnp.where(jnp.isfinite(divergence), divergence, jnp.inf)
    weight = moments.count / (moments.count + POOLED)
    judged = weight * divergence + (1 - weight) * _pooled(divergence, parts)
    neck = jnp.maximum(judged[-1] - jnp.min(judged, 0) - SLIGHT, 0.0)
    narrower = _narrower(jnp.asarray(GRID)[jnp.argmin(judged, 0)], jnp.sqrt(variance[-1]))
    judged = judged + NECK * GRID[:, None] * neck
    judged = judged + NARROWER * jnp.maximum(narrower - SLIGHTLY, 0.0)
    place, now = jnp.argmin(judged, 0), jnp.argmin(jnp.abs(GRID[:, None] - c), 0)
    columns = jnp.arange(divergence.shape[1])
    gains = divergence[now, columns] - divergence[place, columns]
    known = jnp.isfinite(gains) & alone  # not for an element that has not moved
    chosen = jnp.where(known, jnp.asarray(GRID, c.dtype)[place], c)
    scale = jnp.exp(0.25 * (spread[0] - spread[1])[place, columns]).astype(c.dtype)
    return chosen, scale, jnp.sum(jnp.where(known, gains, 0.0)), divergence[place, columns]


def _narrower(best_c: Any, spread: Any) -> Any:
    """The decrease of the log width of each coordinate to small scales.

    `spread` is the standard deviation of log s. The result has the shape (grid, size).
    """
    informed = jnp.minimum(best_c, MOST_INFORMED)
    ratio, reach = informed / (1 - informed), REACH * spread
    by_data = 0.5 * (jnp.log1p(ratio) - jnp.log1p(ratio * jnp.exp(-2 * reach)))
    return GRID[:, None] * reach - by_data


def _pooled(divergence: Any, parts: Sequence[slice]) -> Any:
    """The mean D of the elements of each unknown that have moved."""
    moved = jnp.all(jnp.isfinite(divergence), 0)
    finite = jnp.where(moved, divergence, 0.0)
    columns, single = [], 0  # the first of the unknowns with one element
    for part in parts:
        if part.stop - part.start > 1:
            count = jnp.maximum(jnp.sum(moved[part]), 1)
            mean = jnp.sum(finite[:, part], 1, keepdims=True) / count
            columns += [divergence[:, single : part.start]]
            columns += [jnp.broadcast_to(mean, divergence[:, part].shape)]
            single = part.stop
    return jnp.concatenate([*columns, divergence[:, single:]], 1)
