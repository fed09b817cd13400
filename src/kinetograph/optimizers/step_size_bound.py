"""`kg.step_size_bound`: the largest stable step size near a point.

On a harmonic oscillator U = k q**2 / 2 the position Verlet scheme is stable for h < 2 / sqrt(k).
Gradient descent, the noise-free part of SGLD, is stable for h < 2 / k. In many dimensions k is the
largest eigenvalue of the Hessian of U.
"""

from typing import Any

import jax
import numpy as np

from ..graph.precision import x64
from ..graph.public import public
from ..graph.suggestions import did_you_mean
from ..models.model import Model, check_model
from ..models.starting_points import blame
from .result import Optimum

__all__ = ["step_size_bound"]

_POWERS = {"verlet": 0.5, "langevin": 0.5, "sgld": 1.0, "gradient_descent": 1.0}
_DENSE = 200  # the largest number of free numbers for which the whole Hessian is computed


@public
def step_size_bound(model: Model, at: Any, method: str = "verlet") -> float:
    """The step size below which a method is stable near a point.

        2 / sqrt(k)    "verlet" (HMC, NUTS), "langevin"
        2 / k          "sgld", "gradient_descent"

    with k the largest eigenvalue of the Hessian of the potential U = -log p on the free scale, for
    masses of 1. The bound is exact for a normal density; for other densities it is right near the
    point.

    Parameters
    ----------
    model
        Made by `kg.model`.
    at
        The point: a result of `kg.opt`, a free state, or a dictionary of values of all unknowns.
    method
        One of the methods above.

    Returns
    -------
    float
        The bound; infinite if the potential is not curved upwards in any direction.

    Raises
    ------
    ValueError
        If there is no such method, or if density or Hessian are not finite at the point.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.normal(0, 0.1)  # an oscillator of frequency 10
    >>> model = kg.model(x)
    >>> print(f"{kg.step_size_bound(model, {'x': 0.0}):.3f}")
    0.200
    """
    check_model(model, "step_size_bound")
    if not isinstance(method, str) or method not in _POWERS:
        hint = did_you_mean(method, _POWERS) or "."
        raise ValueError(
            f"step_size_bound: there is no method {method!r}{hint} Choose one of "
            f"{', '.join(_POWERS)}"
        )
    free = np.asarray(model._check_free(at.values if isinstance(at, Optimum) else at))
    if free.ndim != 1:
        raise ValueError(f"step_size_bound takes one point, got shape {free.shape}")
    is_finite = np.isfinite(model.log_prob(free))
    curvature = _largest_curvature(model, free) if is_finite else np.nan
    if not np.isfinite(curvature):
        quantity = "the Hessian" if is_finite else "the log density"
        lines = [f"step_size_bound: {quantity} is not finite at this point.", *blame(model, free)]
        raise ValueError("\n".join(lines))
    return 2.0 / curvature ** _POWERS[method] if curvature > 0 else float("inf")


def _largest_curvature(model: Model, free: np.ndarray) -> float:
    """The largest eigenvalue of the Hessian of the potential."""
    if free.size <= _DENSE:
        hessian = -model.hessian(free)
        return float(np.linalg.eigvalsh(hessian)[-1]) if np.isfinite(hessian).all() else np.nan
    from scipy.sparse.linalg import LinearOperator, eigsh

    gradient = jax.grad(model.potential())
    product = jax.jit(lambda point, v: jax.jvp(gradient, (point,), (v,))[1])

    def times(v: Any) -> np.ndarray:
        with x64():
            return np.asarray(product(free, np.asarray(v, float).reshape(-1)))

    begin = np.random.default_rng(0).normal(size=free.size)
    if not np.isfinite(times(begin)).all():
        return np.nan
    hessian = LinearOperator((free.size, free.size), times, dtype=float)
    return float(eigsh(hessian, 1, which="LA", v0=begin, return_eigenvectors=False)[0])
