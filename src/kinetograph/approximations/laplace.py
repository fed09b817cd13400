"""`kg.laplace_approximation`: a posterior as a normal distribution of the free state at its mode.

    u ~ normal(m, H^-1),  H the Hessian of -log p at the mode m of the density of the free state
    log Z = log p(m) + free_size / 2 log(2 pi) - log det(H) / 2

Source: Tierney, Kadane (1986).
"""

import math
from typing import Any

import numpy as np

from ..bits.draws import chain_key
from ..bits.keys import fresh_seed
from ..graph.errors import ModelError
from ..graph.source import warn_user
from ..models.model import Model
from ..models.typing import DataTree
from ..optimizers.objective import Objective
from ..optimizers.opt import check_model, choose, find, limits_of, whole
from ..optimizers.result import ConvergenceWarning
from .pareto import ENOUGH, efficiency, smoothed, warn_of_tail
from .results import as_tree, log_densities, noise

__all__ = ["laplace_approximation"]


def laplace_approximation(
    model: Model,
    draws: int = 1000,
    *,
    optimizer: Any = "lbfgs",
    initial: Any = None,
    max_iterations: int = 1000,
    tolerance: float = 1e-6,
    starts: int = 1,
    seed: int | np.integer | None = None,
) -> "DataTree":
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
        `log_marginal_likelihood`, the log Z above, and of `draws` weighted draws, or 1000 if that
        is more, the `efficiency`, their effective part (sum w)^2 / (draws sum w^2), 1 for an exact
        approximation, and `pareto_k`, the shape of the tail of their weights: the approximation is
        not to be believed above min(1 - 1 / log10(draws), 0.7), nor where it is infinite, the tail
        having no such shape. The free states are in unconstrained_posterior.

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
    ApproximationWarning
        If Pareto's k says not to believe the approximation, at an efficiency below 0.99.

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
        warn_user(f"{doing}: {mode.message}", ConvergenceWarning)
    normal = noise(chain_key(used, 0), max(count, ENOUGH), mode.free.size)
    free = mode.free + np.linalg.solve(factor.T, normal.T).T
    log_density = log_densities(model, free)
    constant = 0.5 * model.free_size * math.log(2 * math.pi)
    log_scale = float(np.log(np.diag(factor)).sum())
    log_weight = log_density + 0.5 * np.sum(normal**2, -1) + constant - log_scale
    _, k = smoothed(log_weight)
    warn_of_tail(doing, k, log_weight, "Sample with kg.mcmc, or reparametrise")
    attributes = {
        "approximation": "Laplace",
        "log_marginal_likelihood": -mode.value + constant - log_scale,
        "pareto_k": k,
        "efficiency": efficiency(log_weight),
        "converged": int(mode.converged),
        "seed": str(used),
        "draws": count,
    }
    statistics = {"lp": log_density[:count], "log_weight": log_weight[:count]}
    return as_tree(objective, free[:count], statistics, attributes)
