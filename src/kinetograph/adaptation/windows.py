"""Windows of running moments, and when the host judges them.

The compiled program adds to the present window. The host judges it together with the window before.
"""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..kernels.moments import Moments

__all__ = [
    "EVERY",
    "FIRST",
    "added",
    "aligned",
    "blank",
    "fractions",
    "is_judged",
    "joined",
    "log_spreads",
    "next_judged",
    "varies",
    "where_chains",
]

SKIPPED = 10  # transitions before the moments begin
FIRST, EVERY = 50, 50  # transitions: before a choice, and between choices


def added(window: Any, done: Any, *values: Any) -> Any:
    """The window with the values of transition number `done` (from 0)."""
    return jax.tree.map(partial(jnp.where, done < SKIPPED), window, window.add(*values))


def joined(a: Moments, b: Moments) -> Moments:
    """The moments of the values of both, of stacked chains.

    Source: T. Chan, G. Golub, R. LeVeque, Updating formulae and a pairwise algorithm for computing
    sample variances (1979).
    """
    count = np.asarray(a.count + b.count)
    part, weight = (aligned(x, a.mean) for x in fractions(a.count, b.count))
    change = b.mean - a.mean
    squares = a.squares + b.squares + weight * change**2
    return Moments(count, a.mean + part * change, squares)


def varies(count: Any, mean: Any, squares: Any) -> Any:
    """Whether slopes differ by more than rounding.

    The slope of a Laplace law is constant on each side of its centre, so that draws of one side
    tell nothing about the width.
    """
    return squares > np.finfo(squares.dtype).eps * count * mean**2


def log_spreads(moments: Moments, slopes: slice) -> Any:
    """The logarithms of the standard deviations of rows, of stacked chains.

    They are -inf for values that have not changed, and for slopes that differ by rounding only.
    `slopes` are the rows of slopes.
    """
    count = np.asarray(moments.count)[..., None, None]
    with np.errstate(divide="ignore"):
        spread = 0.5 * np.log(moments.squares / np.maximum(count - 1, 1))
    is_slope = np.zeros((spread.shape[-2], 1), bool)
    is_slope[slopes] = True
    is_constant = is_slope & ~varies(count, moments.mean, moments.squares)
    return np.where(is_constant, -np.inf, spread)


def fractions(a: Any, b: Any) -> tuple[Any, Any]:
    """Two weights of counts, which are 0 if both counts are 0.

    They are b / (a + b) and a b / (a + b).
    """
    part = np.asarray(b / np.maximum(a + b, 1))
    return part, a * part


def aligned(values: Any, like: Any) -> Any:
    """Numbers of stacked chains, with axes for the elements of an array."""
    return np.expand_dims(values, tuple(range(np.ndim(values), np.ndim(like))))


def blank(window: Any) -> Any:
    """An empty window."""
    return jax.tree.map(np.zeros_like, window)


def next_judged(transition: int) -> int:
    """The first transition after this one at which windows are judged."""
    if transition < FIRST:
        return FIRST
    return FIRST + ((transition - FIRST) // EVERY + 1) * EVERY


def is_judged(transition: int, late: int) -> bool:
    """Whether windows are judged after this number of transitions.

    `late` is the transition from which on the metric is fixed.
    """
    is_next = transition >= FIRST and next_judged(transition - 1) == transition
    return is_next and late - transition >= EVERY


def where_chains(condition: np.ndarray, new: Any, old: Any) -> Any:
    """The new trees of chains for which a condition holds.

    The other chains keep the old ones.
    """
    return jax.tree.map(lambda a, b: np.where(aligned(condition, b), a, b), new, old)
