"""`kg.laplace_approximation`: a posterior as a normal distribution of the free state at its mode.

    u ~ normal(m, H^-1),  H the Hessian of -log p at the mode m of the density of the free state
    log Z = log p(m) + free_size / 2 log(2 pi) - log det(H) / 2

Source: Tierney, Kadane (1986).
"""

import math
import warnings
from functools import partial
from typing import Any

import jax
import numpy as np

from ..bits.draws import chain_key, normals
from ..bits.keys import fresh_seed
from ..graph.errors import ModelError
from ..graph.precision import x64
from ..models.groups import as_group, data_groups, stamp
from ..models.model import Model
from .objective import Objective
from .opt import check_model, choose, find, limits_of, whole
from .result import ConvergenceWarning

__all__ = ["laplace_approximation"]

_DRAWS = 1  # the purpose of the random numbers; starting points use 0


def laplace_approximation(
    model: Model,
    draws: int = 1000,
    *,
    optimizer: Any = "lbfgs",
    initial: Any = None,
    max_iterations: int = 1000,
    tolerance: float = 1e-6,
    starts: int = 1,
    seed: int | None = None,
) -> Any:
    """Approximate the posterior by a normal distribution of the free state around its mode.

        u ~ normal(m, H^-1),  log Z = log p(m) + free_size / 2 log(2 pi) - log det(H) / 2

    with H the Hessian of the negative log density of the free state, log Jacobians included, at
    its mode m. Exact where the posterior is normal on the free scale.

    Parameters
    ----------
    model
        Made by `kg.model`.
    draws
        The number of independent draws.
    optimizer, initial, max_iterations, tolerance, starts, seed
        How the mode is found; see `kg.opt`. The seed is that of the draws, too.

    Returns
    -------
    xarray.DataTree
        In the ArviZ schema, with one chain: the targets in posterior; in sample_stats the log
        density of each draw, `lp`, and the logarithm of its importance weight, `log_weight` =
        lp - log q with q the density of the approximation. `tree.attrs` has
        `log_marginal_likelihood`, the log Z above, and `efficiency`, the effective part of the
        draws when they are weighted: (sum w)^2 / (draws sum w^2), 1 for an exact approximation.

    Raises
    ------
    ModelError
        If the Hessian is not positive definite where the optimiser ended.
    StartError
        If density or gradient are not finite at a starting point.

    Warns
    -----
    ConvergenceWarning
        If the optimiser has not converged.

    Examples
    --------
    >>> import kinetograph as kg
    >>> mu = kg.normal(0, 1)
    >>> y = kg.data(1.0)
    >>> likelihood = kg.observe(y, kg.normal(mu, 1))
    >>> tree = kg.laplace_approximation(kg.model(mu), seed=1)
    >>> print(f"{tree.attrs['log_marginal_likelihood']:.4f}")  # of 1.0 under normal(0, sqrt(2))
    -1.5155
    """
    doing = "laplace_approximation"
    check_model(model, doing)
    count = whole(doing, "draws", draws, 1)
    limits = limits_of(doing, max_iterations, tolerance)
    many = whole(doing, "starts", starts, 1)
    used = fresh_seed() if seed is None else whole(doing, "seed", seed, 0)
    mode = find(model, choose(doing, optimizer), True, initial, limits, many, used, False, doing)
    objective = Objective(model, True)
    hessian = objective.hessian(mode.free)
    try:
        factor = np.linalg.cholesky(hessian)
    except np.linalg.LinAlgError:
        least = np.linalg.eigvalsh(hessian)[0] if np.isfinite(hessian).all() else np.nan
        raise ModelError(
            f"{doing}: the posterior is not like a normal distribution where the optimiser ended: "
            f"the Hessian is not positive definite, its least eigenvalue is {least:.3g} "
            f"({mode.message}). Give other starting values with initial=, more starts, or sample "
            "with kg.mcmc"
        ) from None
    if not mode.converged:
        warnings.warn(f"{doing}: {mode.message}", ConvergenceWarning, stacklevel=2)
    free, noise = _draws(mode.free, factor, used, count)
    log_density = model.log_prob(free)
    constant = 0.5 * model.free_size * math.log(2 * math.pi)
    log_scale = float(np.log(np.diag(factor)).sum())
    log_weight = log_density + 0.5 * np.sum(noise**2, -1) + constant - log_scale
    statistics = {"lp": log_density, "log_weight": log_weight}
    attributes = {
        "approximation": "Laplace",
        "log_marginal_likelihood": -mode.value + constant - log_scale,
        "efficiency": _efficiency(log_weight),
        "converged": int(mode.converged),
        "seed": str(used),
        "draws": count,
    }
    return _tree(model, objective.targets(free), statistics, attributes)


def _draws(
    mode: np.ndarray, factor: np.ndarray, seed: int, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """Free states, and the standard normal numbers they are made of."""
    with x64():
        noise = np.asarray(_noise(chain_key(seed, 0), np.arange(count), mode.size))
    return mode + np.linalg.solve(factor.T, noise.T).T, noise


@partial(jax.jit, static_argnums=2)
def _noise(key: Any, draws: Any, size: int) -> Any:
    """The numbers of each draw, which do not depend on how many draws there are."""
    return jax.vmap(lambda draw: normals(key, draw, _DRAWS, size))(draws.astype(np.int32))


def _efficiency(log_weight: np.ndarray) -> float:
    w = np.exp(log_weight - np.nanmax(log_weight))
    w = np.where(np.isfinite(w), w, 0.0)
    return float(w.sum() ** 2 / (w.size * (w * w).sum()))


def _tree(
    model: Model, targets: list[np.ndarray], statistics: dict[str, Any], attributes: dict[str, Any]
) -> Any:
    import xarray as xr

    named = zip(model.target_names, zip(model.targets, targets, strict=True), strict=True)
    posterior = {name: (node, values[None]) for name, (node, values) in named}
    lead = ("chain", "draw")
    group = as_group(model, posterior, lead)
    labels = {dim: group.coords[dim] for dim in lead}
    of_draws = {name: (lead, values[None]) for name, values in statistics.items()}
    groups = {
        "posterior": group,
        "sample_stats": xr.Dataset(of_draws, labels),
        **data_groups(model),
    }
    for dataset in groups.values():
        dataset.attrs.update(stamp())
    tree = xr.DataTree(children={name: xr.DataTree(part) for name, part in groups.items()})
    tree.attrs.update(stamp() | attributes)
    return tree
