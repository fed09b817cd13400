"""`kg.laplace_approximation`: the normal distribution at the posterior's mode.

    u ~ normal(m, H^-1),  H the Hessian of -log p at the mode m of the density of the free state
    log Z = log p(m) + free_size / 2 log(2 pi) - log det(H) / 2

Source: L. Tierney, J. Kadane, Accurate approximations for posterior moments and marginal densities,
Journal of the American Statistical Association 81 (1986) 82-86.
"""

from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from ..bits.draws import chain_key
from ..bits.keys import fresh_seed
from ..graph.errors import ModelError
from ..graph.public import public
from ..graph.source import warn_user
from ..models.model import Model, check_model
from ..models.result_types import DataTree
from ..optimizers.objective import Objective
from ..optimizers.opt import choose, find, limits_of, whole
from ..optimizers.result import ConvergenceWarning
from .low_rank import LowRankNormal
from .pool import scouts
from .resampling import judge
from .results import as_tree

__all__ = ["laplace_approximation"]


@public
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
    """Approximate the posterior by a normal distribution around its mode.

        u ~ normal(m, H^-1),  log Z = log p(m) + free_size / 2 log(2 pi) - log det(H) / 2

    H is the Hessian of the negative log density of the free state, log Jacobians included, at its
    mode m. The approximation is exact if the posterior of the free state is normal. The results do
    not rely on that: they are draws from a pool, weighted to the posterior and resampled.

    The pool has 4000 draws, or twice `draws` if that is more. Most are draws of the approximation.
    The other draws, of a wider Student distribution and of nine paths of `kg.pathfinder`, cover
    mass that the approximation misses. If the weights vary much, further distributions are fitted
    to the weighted draws, in up to five rounds, and the pool is drawn from all distributions: up to
    twelve times as many draws. While the errors of targets are near their limits, the pool is
    doubled, at most three times. A warning is given if the weights cannot correct the
    approximation.

    Parameters
    ----------
    model
        Made by `kg.model`.
    draws
        The number of independent draws.
    optimizer, initial, max_iterations, tolerance, starts, seed
        The search for the mode; see `kg.opt`. The draws use the same seed.

    Returns
    -------
    xarray.DataTree
        In the ArviZ schema, with one chain. The group posterior has the targets; sample_stats has
        for each draw its log density `lp`, and its log density under the mixture that the pool was
        drawn from, `log_q`; unconstrained_posterior has the free states. `tree.attrs` has

        - `log_marginal_likelihood`, the logarithm of the mean weight, and its standard error
          `log_marginal_likelihood_error`; `log_marginal_likelihood_at_mode` is the log Z above,
        - `pool`, the number of draws of the pool,
        - `efficiency`, their effective fraction, (sum w)^2 / (pool sum w^2) with weights w,
        - `pareto_k`, the shape of the tail of the weights,
        - `doubt`, the text of the warning, or an empty string,
        - `resampled`, 0 if Pareto's k is 1 or more, so that the weights have no mean: then the
          draws are unweighted draws of the approximation, and `log_q` is its log density.

    Raises
    ------
    ModelError
        If the Hessian is not positive definite at the point where the optimiser stopped.
    StartError
        If the density or gradient is not finite at a starting point.

    Warns
    -----
    ConvergenceWarning
        If the optimiser has not converged.
    ApproximationWarning
        If Pareto's k is above min(1 - 1 / log10(pool), 0.7), less than a tenth of the pool is
        effective, or the weights leave the mean of a target uncertain by more than 3.3 % of its
        standard deviation, or that deviation by more than 5 %.

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
    start_count = whole(doing, "starts", starts, 1)
    seed_used = fresh_seed() if seed is None else whole(doing, "seed", seed, 0)
    mode = find(
        model, choose(doing, optimizer), True, initial, limits, start_count, seed_used, False, doing
    )
    objective = Objective(model, True)
    hessian = objective.hessian(mode.free)
    try:
        factor = np.linalg.cholesky(hessian)
    except np.linalg.LinAlgError:
        least = np.linalg.eigvalsh(hessian)[0] if np.isfinite(hessian).all() else np.nan
        raise ModelError(
            f"{doing}: the posterior does not resemble a normal distribution at the point where "
            "the optimiser stopped: the Hessian is not positive definite, its least eigenvalue is "
            f"{least:.3g} ({mode.message}). Give other starting values with initial=, use more "
            "starts=, or sample with kg.mcmc"
        ) from None
    if not mode.converged:
        warn_user(f"{doing}: {mode.message}", ConvergenceWarning)
    root = solve_triangular(factor, np.eye(mode.free.size), lower=True)
    q = LowRankNormal.of_rows(mode.free, root)
    scout_laws, key = scouts(objective, seed_used, doing), chain_key(seed_used, 0)
    advice = "Sample with kg.mcmc, or reparametrise"
    judged = judge(doing, objective, {0: q}, scout_laws, count, seed_used, key, advice)
    attributes = {
        "approximation": "Laplace",
        "log_marginal_likelihood_at_mode": -mode.value - q.log_peak,
        "converged": int(mode.converged),
        **judged.attributes,
    }
    return as_tree(objective, judged.free, judged.statistics, attributes)
