"""Refinement, classification and merging of minima."""

import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from ...graph.errors import KinetographWarning
from ...graph.public import public
from ...optimizers.opt import opt
from ..analysis.inputs import finite, numbers, positive
from ..landscape import DENSE, Landscape
from .symmetry import canonical

__all__ = ["Refined", "classify", "merged", "refine"]

_ZERO = 1e-6  # of the largest eigenvalue: signs of smaller ones are not determined


class Refined(NamedTuple):
    """Refined points, one in each row.

    Attributes
    ----------
    points
        Free parameters, (point, size).
    potential
        Their potential, (point,).
    gradient_norm
        The norms of its gradients, (point,).
    accepted
        Whether the norm is small enough, (point,).
    """

    points: np.ndarray
    potential: np.ndarray
    gradient_norm: np.ndarray
    accepted: np.ndarray


@public
def refine(
    landscape: Landscape,
    points: Any,
    *,
    optimizer: Any = "bfgs",
    tolerance: float = 1e-5,
    workers: int = 1,
) -> Refined:
    """Minimise the potential from some points.

    Parameters
    ----------
    landscape
        The losses, a `kg.neural.Landscape`.
    points
        Free parameters, (point, size).
    optimizer
        An optimiser of `kg.opt`: a name, or an optax transformation.
    tolerance
        The largest norm of the gradient of a point that is accepted.
    workers
        The number of threads; it has no effect on the results.

    Returns
    -------
    Refined
        With `points`, `potential`, `gradient_norm` and `accepted`.

    Raises
    ------
    ValueError
        If a point is not finite, or the tolerance is not positive.

    Examples
    --------
    >>> import jax, numpy as np, kinetograph as kg
    >>> x, network = np.linspace(-1, 1, 20)[:, None], kg.neural.mlp([])
    >>> layout = kg.neural.ParameterLayout(network.start(jax.random.key(0), x[0], 1))
    >>> land = kg.neural.Landscape(network, layout, "mean_squared", x, 2 * x)
    >>> refined = kg.neural.explorer.refine(land, np.ones((2, 2)))
    >>> bool(np.allclose(refined.points, [2.0, 0.0], atol=1e-5))
    True
    """
    starts = finite(np.atleast_2d(numbers(points, "refine: points")), "refine", "points")
    positive(tolerance, "refine", "tolerance")
    model = landscape.model

    def refined(start: np.ndarray) -> np.ndarray:
        optimum = opt(model, optimizer, initial=start, tolerance=0.1 * tolerance)
        return np.asarray(optimum.free, float)

    with warnings.catch_warnings():
        # A point that has not converged is not accepted.
        warnings.simplefilter("ignore", KinetographWarning)
        first = refined(starts[0])  # compiles the program that all threads use
        with ThreadPoolExecutor(workers) as pool:
            ends = np.stack([first, *pool.map(refined, starts[1:])])
    norms = np.linalg.norm(landscape.gradient(ends), axis=1)
    return Refined(ends, landscape.potential(ends), norms, norms <= tolerance)


@public
def classify(landscape: Landscape, points: Any) -> dict[str, np.ndarray]:
    """The signs of the Hessian's eigenvalues at stationary points.

    Eigenvalues below 1e-6 of the largest magnitude count as zero. For more than 500 parameters only
    the ten smallest eigenvalues are computed, and the counts of positive ones are -1.

    Parameters
    ----------
    landscape
        The losses, a `kg.neural.Landscape`.
    points
        Free parameters, (point, size).

    Returns
    -------
    dict
        Columns `negative`, `zero`, `positive` (numbers of eigenvalues) and `kind`: "minimum",
        "degenerate minimum" (with zeros), "saddle" or "maximum".

    Raises
    ------
    ShapeError
        If the points have another size.

    Examples
    --------
    >>> import jax, numpy as np, kinetograph as kg
    >>> x, network = np.linspace(-1, 1, 20)[:, None], kg.neural.mlp([])
    >>> layout = kg.neural.ParameterLayout(network.start(jax.random.key(0), x[0], 1))
    >>> land = kg.neural.Landscape(network, layout, "mean_squared", x, 2 * x)
    >>> kg.neural.explorer.classify(land, [[2.0, 0.0]])["kind"].tolist()
    ['minimum']
    """
    rows = []
    for w in np.atleast_2d(numbers(points, "classify: points")):
        if landscape.size <= DENSE:
            values = np.linalg.eigvalsh(landscape.hessian(w))
            largest = np.abs(values).max()
        else:
            values = landscape.hessian_eigenpairs(w, 10, "smallest").values
            largest = max(abs(landscape.hessian_eigenpairs(w).values[0]), np.abs(values).max())
        negative = int(np.sum(values < -_ZERO * largest))
        positive = int(np.sum(values > _ZERO * largest))
        zero = len(values) - negative - positive
        kind = "saddle" if negative else "degenerate minimum" if zero else "minimum"
        kind = "maximum" if negative == landscape.size else kind
        rows.append((negative, zero, positive if landscape.size <= DENSE else -1, kind))
    columns = list(zip(*rows, strict=True)) or [(), (), (), ()]
    names = ("negative", "zero", "positive", "kind")
    return {name: np.array(column) for name, column in zip(names, columns, strict=True)}


@public
def merged(
    landscape: Landscape,
    points: Any,
    *,
    distance: float = 1e-3,
    loss: float = 1e-6,
    symmetric: bool = True,
) -> np.ndarray:
    """The first of each group of points that are the same minimum.

    Two points are the same if their potentials differ by at most `loss` (1 + magnitude), and their
    canonical copies (see `canonical`) by at most `distance` (1 + norm).

    Parameters
    ----------
    landscape
        The losses, a `kg.neural.Landscape`.
    points
        Free parameters, (point, size).
    distance, loss
        The tolerances.
    symmetric
        False: the points themselves are compared, so that copies are different minima.

    Returns
    -------
    array
        For each point the index of the first point that is the same, (point,).

    Raises
    ------
    ShapeError
        If the points have another size.

    Examples
    --------
    >>> import jax, numpy as np, kinetograph as kg
    >>> x, network = np.linspace(-1, 1, 20)[:, None], kg.neural.mlp([2], "tanh")
    >>> layout = kg.neural.ParameterLayout(network.start(jax.random.key(0), x[0], 1))
    >>> land = kg.neural.Landscape(network, layout, "mean_squared", x, x**2)
    >>> w = np.array([[1.0, 2, 3, 4, 5, 6, 7], [0, 0, 0, 0, 0, 0, 0], [2, 1, 4, 3, 6, 5, 7]])
    >>> kg.neural.explorer.merged(land, w).tolist()
    [0, 1, 0]
    """
    rows = np.atleast_2d(numbers(points, "merged: points"))
    potential = landscape.potential(rows)
    copies = np.stack([canonical(landscape, w) for w in rows]) if symmetric else rows
    groups: list[int] = []
    for i, w in enumerate(copies):
        firsts = [j for j in dict.fromkeys(groups) if groups[j] == j]
        near = [
            j
            for j in firsts
            if abs(potential[i] - potential[j]) <= loss * (1 + abs(potential[j]))
            and np.linalg.norm(w - copies[j]) <= distance * (1 + np.linalg.norm(copies[j]))
        ]
        groups.append(near[0] if near else i)
    return np.array(groups)
