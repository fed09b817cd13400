"""Slice sampling as Neal (2003) prints it, figures 3 and 5: the oracle of the sampler's tests."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["sweep"]


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


def shrinkage(g: Callable, x0: float, y: float, left: float, right: float, uniforms: Any):
    """Figure 5: the new point."""
    while True:
        x1 = left + next(uniforms) * (right - left)
        if y < g(x1):
            return x1
        if x1 < x0:
            left = x1
        else:
            right = x1


def sweep(
    log_density: Callable[[np.ndarray], float], x: Any, widths: Any, m: int, uniforms: Any
) -> np.ndarray:
    """Each coordinate once, with these uniform numbers."""
    x = np.array(x, float)
    for i, w in enumerate(widths):

        def g(value: float, i: int = i) -> float:
            moved = x.copy()
            moved[i] = value
            return log_density(moved)

        y = g(x[i]) + math.log1p(-next(uniforms))
        u, v = next(uniforms), next(uniforms)
        left, right = stepping_out(g, x[i], y, w, m, u, v)
        x[i] = shrinkage(g, x[i], y, left, right, uniforms)
    return x
