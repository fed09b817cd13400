"""NUTS as the papers write it: a recursion in plain Python, slow and short.

Multinomial sampling with biased progressive choice between subtrees, the generalised U-turn check
with the two extra checks across halves (M. Betancourt, arXiv:1701.02434, appendix A; Stan pull
request 2800). An independent oracle for the flat sampler.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

__all__ = ["transition"]


@dataclass
class Tree:
    """A stretch of trajectory, ends in order of time."""

    first: tuple  # q, p at its earliest time
    last: tuple
    rho: np.ndarray
    candidate: np.ndarray
    log_weight: float
    leaves: int
    good: bool


def _straight(rho: np.ndarray, p_first: np.ndarray, p_last: np.ndarray) -> bool:
    return rho @ p_first > 0 and rho @ p_last > 0


def _joined(a: Tree, b: Tree) -> bool:
    """Whether two good neighbours, a before b in time, make a good tree."""
    return (
        _straight(a.rho + b.rho, a.first[1], b.last[1])
        and _straight(a.rho + b.first[1], a.first[1], b.first[1])
        and _straight(a.last[1] + b.rho, a.last[1], b.last[1])
    )


def transition(
    log_density: Callable, gradient: Callable, q: np.ndarray, h: float, max_depth: int, rng
) -> tuple[np.ndarray, int, int]:
    """The new position, the number of leapfrog steps and the number of doublings."""
    p = rng.normal(size=q.shape)
    start_energy = 0.5 * p @ p - log_density(q)
    steps = 0

    def leapfrog(q, p, side):
        nonlocal steps
        steps += 1
        p = p + side * h / 2 * gradient(q)
        q = q + side * h * p
        return q, p + side * h / 2 * gradient(q)

    def build(q, p, side, depth) -> Tree:
        if depth == 0:
            q, p = leapfrog(q, p, side)
            gain = start_energy - (0.5 * p @ p - log_density(q))
            good = np.isfinite(gain) and gain > -1000
            return Tree((q, p), (q, p), p, q, gain if good else -np.inf, 1, good)
        inner = build(q, p, side, depth - 1)
        if not inner.good:
            return inner
        outer = build(*(inner.last if side > 0 else inner.first), side, depth - 1)
        a, b = (inner, outer) if side > 0 else (outer, inner)
        log_weight = np.logaddexp(inner.log_weight, outer.log_weight)
        take = outer.good and np.log(rng.random()) < outer.log_weight - log_weight
        candidate = outer.candidate if take else inner.candidate
        good = outer.good and _joined(a, b)
        return Tree(a.first, b.last, a.rho + b.rho, candidate, log_weight, 2**depth, good)

    tree = Tree((q, p), (q, p), p, q, 0.0, 1, True)
    depth = 0
    while depth < max_depth:
        side = 1 if rng.random() < 0.5 else -1
        new = build(*(tree.last if side > 0 else tree.first), side, depth)
        depth += 1
        if not new.good:
            break
        a, b = (tree, new) if side > 0 else (new, tree)
        if np.log(rng.random()) < new.log_weight - tree.log_weight:
            candidate = new.candidate
        else:
            candidate = tree.candidate
        log_weight = np.logaddexp(tree.log_weight, new.log_weight)
        good = _joined(a, b)
        tree = Tree(a.first, b.last, a.rho + b.rho, candidate, log_weight, 2 * tree.leaves, good)
        if not good:
            break
    return tree.candidate, steps, depth
