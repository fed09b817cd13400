"""`kg.advi`: a posterior as the normal distribution of the free state that is nearest to it.

Source: A. Kucukelbir, D. Tran, R. Ranganath, A. Gelman, D. Blei, Automatic differentiation
variational inference, Journal of Machine Learning Research 18 (2017) 1-45; for covariances of low
rank V. Ong, D. Nott, M. Smith, Gaussian variational approximation with a factor covariance
structure, Journal of Computational and Graphical Statistics 27 (2018) 465-478.
"""

from typing import Any

import numpy as np

from ..bits.draws import chain_key
from ..bits.keys import fresh_seed
from ..graph.errors import ModelError
from ..graph.source import warn_user
from ..models.model import Model
from ..models.starts import blame
from ..models.typing import DataTree
from ..optimizers.descent import Steps
from ..optimizers.objective import Objective
from ..optimizers.opt import check_model, choose, limits_of, whole
from ..optimizers.steps import adam
from .ascent import BLOCK, Ascent, Family, climb
from .judgement import judge
from .low_rank import LowRankNormal
from .pareto import ApproximationWarning
from .paths import Path, walk_paths
from .pool import scouts
from .results import as_tree, noise

__all__ = ["advi"]

_SCALE = 0.1  # of the first loadings, and of numbers without a path
_LOADINGS = 2**30  # rows of random numbers from here on are the first loadings


def advi(
    model: Model,
    draws: int = 1000,
    *,
    rank: int = 0,
    optimizer: Any = None,
    initial: Any = None,
    max_iterations: int = 50_000,
    tolerance: float = 0.01,
    elbo_draws: int = 10,
    seed: int | np.integer | None = None,
) -> "DataTree":
    """Approximate the posterior by the normal distribution q of the free state nearest to it.

    q maximises the evidence lower bound

        ELBO(q) = mean of log p(u) - log q(u),  u ~ q,

    which is log Z less the Kullback-Leibler divergence from q to the posterior, over all means and
    the covariances D (1 + W W') D, with D diagonal and W of `rank` columns. Reparametrised draws
    u = m + D (e + W f) give its gradient.

    It begins with the means and deviations that a path of `kg.pathfinder` has found, and ends by
    itself. Steps are made in blocks of 200. Where the mean ELBO of a block is no greater
    than that of the block before by more than `tolerance`, or its standard error if that is more,
    the steps are shortened to a quarter; when that has gained no more either, it has converged, and
    q has the average parameters of the last block.

    The results are draws of a pool around q, weighted to the posterior and resampled, as
    `kg.laplace_approximation` explains.

    Parameters
    ----------
    model
        Made by `kg.model`.
    draws
        The number of draws of the results.
    rank
        The columns of W. 0, mean field, takes the numbers of the free state for independent, and
        their deviations come out too small where they are not; `model.free_size` leaves the
        covariance free.
    optimizer
        An optimiser that goes step by step, as for `kg.opt`: a name, one with settings such as
        `kg.optimizers.rmsprop(0.05)`, or an optax transformation; it sees m in units of D. By
        default `kg.optimizers.adam(0.1)`.
    initial
        Where the path starts, as `initial` of `kg.opt`; at random by default.
    max_iterations
        The most steps, rounded up to blocks.
    tolerance
        In nats, as the ELBO; a part of the ELBO would depend on constants of the density.
    elbo_draws
        The draws of each step.
    seed
        A whole number, not negative. None takes one from the system's entropy; the results
        record it.

    Returns
    -------
    xarray.DataTree
        As of `kg.laplace_approximation`, with its attributes. `tree.attrs` also has the `elbo` of
        q, `converged` and `iterations`, and the group history the mean ELBO of each block, `elbo`,
        and by what its steps were multiplied, `rate`.

    Raises
    ------
    ValueError
        If a number is out of its range, or the optimiser does not go step by step.
    StartError
        If density or gradient are not finite at the starting point.
    ModelError
        If they are at none of the draws of a block.

    Warns
    -----
    ApproximationWarning
        If it has not converged, or weights do not mend q; see `kg.laplace_approximation`.

    Examples
    --------
    >>> import kinetograph as kg
    >>> mu = kg.normal(0, 1)
    >>> y = kg.data(1.0)
    >>> likelihood = kg.observe(y, kg.normal(mu, 1))
    >>> tree = kg.advi(kg.model(mu), seed=1)
    >>> print(f"{tree.attrs['elbo']:.4f}")  # log p(y), as for the exact posterior
    -1.5155
    """
    doing = "advi"
    check_model(model, doing)
    count, columns = whole(doing, "draws", draws, 1), whole(doing, "rank", rank, 0)
    if columns > model.free_size:
        raise ValueError(
            f"{doing}: rank must be at most {model.free_size}, the numbers of the free state, "
            f"got {columns}"
        )
    chosen = _chosen(doing, optimizer)
    limits = limits_of(doing, max_iterations, tolerance)
    judging = whole(doing, "elbo_draws", elbo_draws, 1)
    used = fresh_seed() if seed is None else whole(doing, "seed", seed, 0)
    objective, key = Objective(model, True), chain_key(used, 0)
    (path,) = walk_paths(objective, initial, [key], doing)
    start = _start(path, columns, key)
    blocks = -(-limits.iterations // BLOCK)
    found = climb(objective, chosen, start, key, judging, blocks, limits.tolerance)
    if found is None:
        lines = [
            f"{doing}: log density or gradient are not finite at draws of every step of a block, "
            "such as these. A smaller learning rate may help, as "
            "optimizer=kg.optimizers.adam(0.01).",
            *blame(model, start.mean + np.exp(start.log_scale) * noise(key, 1, model.free_size)[0]),
        ]
        raise ModelError("\n".join(lines))
    if not found.converged:
        warn_user(
            f"{doing}: not converged in max_iterations = {limits.iterations}: the ELBO gained "
            f"{found.gain:.2g} in the last {BLOCK} steps; raise max_iterations, give another "
            "optimizer, or a better start by initial=",
            ApproximationWarning,
        )
    return _results(objective, found, key, count, columns, used)


def _chosen(doing: str, optimizer: Any) -> Steps:
    """The optimiser, of those that can follow a noisy gradient."""
    chosen = adam(0.1) if optimizer is None else choose(doing, optimizer)
    if not isinstance(chosen, Steps):
        raise ValueError(
            f"{doing}: {chosen.name} searches along lines, which needs an objective without "
            "noise; take one that goes step by step, such as kg.optimizers.adam(0.1)"
        )
    return chosen


def _start(path: Path, rank: int, key: np.ndarray) -> Family:
    """What the path has found, or a narrow distribution where it made no step.

    Loadings of 0 would have no slope by which to leave 0.
    """
    size = path.free.size
    mean, scale = path.free, np.full(size, _SCALE)
    if path.best is not None:
        mean, scale = path.best.mean, path.best.deviations
    loadings = noise(key, rank, size, _LOADINGS).T if rank else np.zeros((size, 0))
    return Family(mean, np.log(scale), _SCALE * loadings)


def _results(
    objective: Objective, found: Ascent, key: np.ndarray, count: int, rank: int, seed: int
) -> Any:
    import xarray as xr

    mean, log_scale, loadings = (np.asarray(part, float) for part in found.family)
    q = LowRankNormal.of(mean, np.exp(log_scale), loadings, np.eye(rank))
    more = "" if rank else "give a rank=, "
    advice = f"To come nearer, {more}reparametrise, or sample with kg.mcmc"
    others = scouts(objective, seed, "advi")
    judged = judge("advi", objective, {0: q}, others, count, seed, key, advice)
    attributes = {
        "approximation": "ADVI",
        "rank": rank,
        "elbo": judged.pool.elbo(q, 0),
        "converged": int(found.converged),
        "iterations": BLOCK * len(found.elbo),
        **judged.attributes,
    }
    history = xr.Dataset(
        {"elbo": ("block", found.elbo), "rate": ("block", found.rate)},
        {"block": np.arange(len(found.elbo))},
    )
    return as_tree(objective, judged.free, judged.statistics, attributes, {"history": history})
