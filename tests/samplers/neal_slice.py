"""Slice sampling as Neal (2003) prints it, figures 3 to 6: the oracle of the sampler's tests."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["doubling_sweep", "sweep"]


def stepping_out(g: Callable, x0: float, y: float, w: float, m: int, u: float, v: float):
    """Figure 3: the interval around x0."""
    left = x0 - w * u
    right = left + w
    j = math.floor(m * v)
    k = (m - 1) - j
    while j > 0 and y < g(left):
        left -= w
        j -= 1
    while k > 0 and y < g(right):
        right += w
        k -= 1
    return left, right


def doubling(g: Callable, x0: float, y: float, w: float, p: int, uniforms: Any):
    """Figure 4: the interval around x0. The sampler draws once for each look at an end, too."""
    left = x0 - w * next(uniforms)
    right = left + w
    next(uniforms), next(uniforms)
    k = p
    while k > 0 and (y < g(left) or y < g(right)):
        if next(uniforms) < 0.5:
            left -= right - left
        else:
            right += right - left
        k -= 1
    return left, right


def acceptable(g: Callable, x0: float, x1: float, y: float, w: float, left: float, right: float):
    """Figure 6: whether x1 may be the new point."""
    differs = False
    while right - left > 1.1 * w:
        middle = (left + right) / 2
        if (x0 < middle <= x1) or (x1 < middle <= x0):
            differs = True
        if x1 < middle:
            right = middle
        else:
            left = middle
        if differs and y >= g(left) and y >= g(right):
            return False
    return True


def shrinkage(
    g: Callable,
    x0: float,
    y: float,
    left: float,
    right: float,
    uniforms: Any,
    accept: Callable = lambda x1: True,
):
    """Figure 5: the new point."""
    while True:
        x1 = left + next(uniforms) * (right - left)
        if y < g(x1) and accept(x1):
            return x1
        if x1 < x0:
            left = x1
        else:
            right = x1


def sweep(
    log_density: Callable[[np.ndarray], float], x: Any, widths: Any, m: int, uniforms: Any
) -> np.ndarray:
    """Each coordinate once, with these uniform numbers."""

    def move(g: Callable, x0: float, y: float, w: float) -> float:
        u, v = next(uniforms), next(uniforms)
        left, right = stepping_out(g, x0, y, w, m, u, v)
        return shrinkage(g, x0, y, left, right, uniforms)

    return _sweep(log_density, x, widths, uniforms, move)


def doubling_sweep(
    log_density: Callable[[np.ndarray], float], x: Any, widths: Any, p: int, uniforms: Any
) -> np.ndarray:
    """The same with intervals that double at most p times."""

    def move(g: Callable, x0: float, y: float, w: float) -> float:
        left, right = doubling(g, x0, y, w, p, uniforms)

        def accept(x1: float) -> bool:
            return acceptable(g, x0, x1, y, w, left, right)

        return shrinkage(g, x0, y, left, right, uniforms, accept)

    return _sweep(log_density, x, widths, uniforms, move)


def _sweep(log_density: Callable, x: Any, widths: Any, uniforms: Any, move: Callable) -> np.ndarray:
    x = np.array(x, float)
    for i, w in enumerate(widths):

        def g(value: float, i: int = i) -> float:
            moved = x.copy()
            moved[i] = value
            return log_density(moved)

        y = g(x[i]) + math.log1p(-next(uniforms))
        x[i] = move(g, x[i], y, w)
    return x
