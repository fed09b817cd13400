"""`kg.advi`: automatic differentiation variational inference.

The posterior is approximated by the normal distribution of the free state with the greatest
evidence lower bound.

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
from ..graph.public import public
from ..graph.source import warn_user
from ..models.model import Model, check_model
from ..models.result_types import DataTree
from ..models.starting_points import blame
from ..optimizers.descent import Steps
from ..optimizers.objective import Objective
from ..optimizers.opt import choose, limits_of, whole
from ..optimizers.steps import adam
from .ascent import BLOCK, Ascent, NormalParameters, climb
from .low_rank import LowRankNormal
from .pareto import ApproximationWarning
from .paths import OptimizationPath, walk_paths
from .pool import scouts
from .resampling import judge
from .results import as_tree, noise

__all__ = ["advi"]

_SCALE = 0.1  # of the initial loadings, and of the initial deviations if a path made no step
_LOADINGS = 2**30  # first row of the random numbers for the initial loadings


@public
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
    """Approximate the posterior by the closest normal distribution of the free state.

    The normal distribution q maximises the evidence lower bound

        ELBO(q) = mean of log p(u) - log q(u),  u ~ q,

    which is log Z minus the Kullback-Leibler divergence from q to the posterior. The maximum is
    over all means m and all covariances D (1 + W W') D, with D diagonal and W of `rank` columns.
    Its gradient is estimated from reparametrised draws u = m + D (e + W f).

    The ascent starts from the means and deviations of a path of `kg.pathfinder`, and stops by
    itself. Steps are made in blocks of 200. When the mean ELBO of a block exceeds that of the block
    before by no more than `tolerance`, or than its standard error if that is larger, the step size
    is divided by 4. When a smaller step size brings no further gain, the ascent has converged, and
    q has the average parameters of the last block.

    The results are draws from a pool around q, weighted to the posterior and resampled; see
    `kg.laplace_approximation`.

    Parameters
    ----------
    model
        Made by `kg.model`.
    draws
        The number of draws in the results.
    rank
        The number of columns of W. With 0, mean field, the numbers of the free state are
        independent; if they are correlated in the posterior, their deviations come out too small.
        With `model.free_size`, the covariance is unrestricted.
    optimizer
        An optimiser that makes single steps, as for `kg.opt`: a name, one with settings such as
        `kg.optimizers.rmsprop(0.05)`, or an optax transformation. It sees m in units of D. The
        default is `kg.optimizers.adam(0.1)`.
    initial
        The start of the path, as `initial` of `kg.opt`; random by default.
    max_iterations
        The greatest number of steps, rounded up to whole blocks.
    tolerance
        In nats, like the ELBO. It is not relative, because the ELBO contains arbitrary constants of
        the density.
    elbo_draws
        The number of draws in each step.
    seed
        A whole number, not negative. None takes one from the system's entropy; the results record
        it.

    Returns
    -------
    xarray.DataTree
        As for `kg.laplace_approximation`, with the same attributes. In addition `tree.attrs` has
        the `elbo` of q, `converged` and `iterations`, and the group history has for each block its
        mean ELBO, `elbo`, and the factor of its step size, `rate`.

    Raises
    ------
    ValueError
        If a number is out of its range, or the optimiser does not make single steps.
    StartError
        If the density or gradient is not finite at the starting point.
    ModelError
        If they are finite at none of the draws of a block.

    Warns
    -----
    ApproximationWarning
        If the ascent has not converged, or the weights cannot correct q; see
        `kg.laplace_approximation`.

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
            f"{doing}: rank must be at most {model.free_size}, the size of the free state, "
            f"got {columns}"
        )
    steps = _choose_steps(doing, optimizer)
    limits = limits_of(doing, max_iterations, tolerance)
    draws_per_step = whole(doing, "elbo_draws", elbo_draws, 1)
    seed_used = fresh_seed() if seed is None else whole(doing, "seed", seed, 0)
    objective, key = Objective(model, True), chain_key(seed_used, 0)
    (path,) = walk_paths(objective, initial, [key], doing)
    start = _start(path, columns, key)
    blocks = -(-limits.iterations // BLOCK)
    ascent = climb(objective, steps, start, key, draws_per_step, blocks, limits.tolerance)
    if ascent is None:
        lines = [
            f"{doing}: the log density or gradient is not finite at draws of every step of a "
            "block, such as the following. A smaller learning rate may help, such as "
            "optimizer=kg.optimizers.adam(0.01).",
            *blame(model, start.mean + np.exp(start.log_scale) * noise(key, 1, model.free_size)[0]),
        ]
        raise ModelError("\n".join(lines))
    if not ascent.converged:
        warn_user(
            f"{doing}: not converged in max_iterations = {limits.iterations}: the ELBO gained "
            f"{ascent.gain:.2g} in the last {BLOCK} steps; raise max_iterations, use another "
            "optimizer=, or give a better start with initial=",
            ApproximationWarning,
        )
    return _results(objective, ascent, key, count, columns, seed_used)


def _choose_steps(doing: str, optimizer: Any) -> Steps:
    """The optimiser, which must accept noisy gradients."""
    steps = adam(0.1) if optimizer is None else choose(doing, optimizer)
    if not isinstance(steps, Steps):
        raise ValueError(
            f"{doing}: {steps.name} uses line searches, which need an objective without noise; "
            "use an optimiser that makes single steps, such as kg.optimizers.adam(0.1)"
        )
    return steps


def _start(path: OptimizationPath, rank: int, key: np.ndarray) -> NormalParameters:
    """The initial parameters, from a path or around its starting point.

    If the path made no step, the distribution is narrow. The initial loadings are random, because
    the gradient is 0 at loadings of 0.
    """
    size = path.free.size
    mean, scale = path.free, np.full(size, _SCALE)
    if path.best is not None:
        mean, scale = path.best.mean, path.best.deviations
    loadings = noise(key, rank, size, _LOADINGS).T if rank else np.zeros((size, 0))
    return NormalParameters(mean, np.log(scale), _SCALE * loadings)


def _results(
    objective: Objective, ascent: Ascent, key: np.ndarray, count: int, rank: int, seed: int
) -> Any:
    """The results tree of an ascent."""
    import xarray as xr

    mean, log_scale, loadings = (np.asarray(part, float) for part in ascent.family)
    q = LowRankNormal.of(mean, np.exp(log_scale), loadings, np.eye(rank))
    rank_advice = "" if rank else "give a rank=, "
    advice = f"For a better approximation, {rank_advice}reparametrise, or sample with kg.mcmc"
    scout_laws = scouts(objective, seed, "advi")
    judged = judge("advi", objective, {0: q}, scout_laws, count, seed, key, advice)
    attributes = {
        "approximation": "ADVI",
        "rank": rank,
        "elbo": judged.pool.elbo(q, 0),
        "converged": int(ascent.converged),
        "iterations": BLOCK * len(ascent.elbo),
        **judged.attributes,
    }
    history = xr.Dataset(
        {"elbo": ("block", ascent.elbo), "rate": ("block", ascent.rate)},
        {"block": np.arange(len(ascent.elbo))},
    )
    return as_tree(objective, judged.free, judged.statistics, attributes, {"history": history})
