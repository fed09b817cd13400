"""`kg.pathfinder`: a posterior as a mixture of normal distributions, from paths to its modes.

Sources: L. Zhang, B. Carpenter, A. Gelman, A. Vehtari, Pathfinder: parallel quasi-Newton
variational inference, Journal of Machine Learning Research 23 (2022) 1-49. Its weights are those
of each draw under the normal distribution it is of; here they are those under the mixture, which
vary less: A. Owen, Y. Zhou, Safe and effective importance sampling, Journal of the American
Statistical Association 95 (2000) 135-143.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr

from ..bits.draws import chain_key
from ..bits.keys import fresh_seed
from ..graph.errors import ModelError
from ..models.model import Model
from ..models.typing import DataTree
from ..optimizers.objective import Objective
from ..optimizers.opt import check_model, limits_of, whole
from .pareto import ENOUGH, efficiency, log_mean, smoothed, warn_of_tail
from .paths import ELBO_DRAWS, LIMITS, MEMORY, Path, walk_paths
from .results import as_tree, log_densities, noise

__all__ = ["pathfinder", "pathfinder_points"]

_PICKING = 2**30 + 2**29  # rows of random numbers from here on pick; see `paths`
_PATHS = 4
_ENOUGH = ENOUGH // _PATHS  # draws of each path, if no more are asked for


def pathfinder(
    model: Model,
    draws: int = 1000,
    *,
    paths: int = _PATHS,
    initial: Any = None,
    max_iterations: int = LIMITS.iterations,
    tolerance: float = LIMITS.tolerance,
    memory: int = MEMORY,
    elbo_draws: int = ELBO_DRAWS,
    seed: int | np.integer | None = None,
) -> "DataTree":
    """Approximate the posterior by a mixture of normal distributions of the free state.

    L-BFGS goes from each start to a mode. From the points of a path and the curvature that its
    steps tell of come normal distributions; that with the greatest evidence lower bound (ELBO),
    the mean of log p - log q, is the path's. Of each, `draws` draws u are made, or 250 if that is
    more, with the weights

        w = p(u) / ((q_1(u) + ... + q_paths(u)) / paths)

    of which the largest are smoothed, and `draws` of all these are taken with chances in proportion
    to w. It takes some hundred gradients, and says by Pareto's k whether to believe it.

    Parameters
    ----------
    model
        Made by `kg.model`.
    draws
        The number of draws of the results.
    paths
        The number of paths. Path i is the same for any number of paths.
    initial
        Where paths start, as `initial` of `kg.opt`; at random by default.
    max_iterations, tolerance
        When a path ends; see `kg.opt`.
    memory
        The number of last steps of which curvature is known; the covariance of a normal
        distribution is diagonal but for a part of twice this rank.
    elbo_draws
        The draws by which each normal distribution of a path is judged.
    seed
        A whole number, not negative. None takes one from the system's entropy; the results
        record it.

    Returns
    -------
    xarray.DataTree
        In the ArviZ schema, with one chain: the targets in posterior, in sample_stats the log
        density `lp` of each draw, the number `path` of the normal distribution it was made from
        and `log_q`, the log density of the mixture there, in unconstrained_posterior the free
        states, and in paths the ELBO, the iterations and the evaluations of the density with its
        gradient of each path. `tree.attrs` has `pareto_k` (see `kg.laplace_approximation`) of the
        weights, their `efficiency`, the greatest `elbo`, and `log_marginal_likelihood`, the
        logarithm of the mean weight. As `initial` of `kg.mcmc`, the chains start from its first
        draws; `kg.mcmc(model, initial="pathfinder")` makes it itself, for each chain from its seed.

    Raises
    ------
    ValueError
        If a number is out of its range.
    StartError
        If density or gradient are not finite at a starting point.
    ModelError
        If no path gives a normal distribution with a finite ELBO.

    Warns
    -----
    ApproximationWarning
        If Pareto's k says not to believe the draws, at an efficiency below 0.99.

    Examples
    --------
    >>> import kinetograph as kg
    >>> mu = kg.normal(0, 1)
    >>> y = kg.data(1.0)
    >>> likelihood = kg.observe(y, kg.normal(mu, 1))
    >>> tree = kg.pathfinder(kg.model(mu), seed=1)
    >>> bool(abs(tree["posterior"]["mu"].mean() - 0.5) < 0.1)
    True
    >>> print(f"{tree.attrs['log_marginal_likelihood']:.2f}")
    -1.52
    """
    doing = "pathfinder"
    check_model(model, doing)
    count, many = whole(doing, "draws", draws, 1), whole(doing, "paths", paths, 1)
    memory = whole(doing, "memory", memory, 1)
    judging = whole(doing, "elbo_draws", elbo_draws, 1)
    limits = limits_of(doing, max_iterations, tolerance)
    used = fresh_seed() if seed is None else whole(doing, "seed", seed, 0)
    objective = Objective(model, True)
    keys = [chain_key(used, index) for index in range(many)]
    walked = walk_paths(objective, initial, keys, doing, limits, memory, judging)
    pool = _pool(model, walked, keys, count, doing)
    log_weight = pool.log_density - pool.log_q
    log_chances, k = smoothed(log_weight)
    advice = "Take more paths, reparametrise, or sample with kg.mcmc"
    warn_of_tail(doing, k, log_weight, advice)
    chosen = _picked(np.exp(log_chances), keys[0], count, model.free_size)
    statistics = {
        "lp": pool.log_density[chosen],
        "log_q": pool.log_q[chosen],
        "path": pool.path[chosen],
    }
    attributes = {
        "approximation": "Pathfinder",
        "elbo": float(pool.elbo.max()),
        "log_marginal_likelihood": log_mean(log_weight),
        "pareto_k": k,
        "efficiency": efficiency(log_weight),
        "seed": str(used),
        "draws": count,
    }
    return as_tree(
        objective, pool.free[chosen], statistics, attributes, {"paths": _told(walked, pool)}
    )


class _Pool(NamedTuple):
    """Draws of all paths, their log densities, and those of the mixture."""

    free: np.ndarray
    path: np.ndarray
    log_density: np.ndarray
    log_q: np.ndarray
    elbo: np.ndarray  # of each path; -inf of those that are not in it


def _pool(
    model: Model, paths: Sequence[Path], keys: Sequence[np.ndarray], count: int, doing: str
) -> _Pool:
    found = [(i, path.best) for i, path in enumerate(paths) if path.best is not None]
    if not found:
        many = "the path has" if len(paths) == 1 else f"none of {len(paths)} paths has"
        negation = "no" if len(paths) == 1 else "a"
        raise ModelError(
            f"{doing}: {many} {negation} normal distribution with a finite log density at its "
            "draws: a path that starts at a mode makes no step to learn from, and a density that "
            "is not finite everywhere has no finite mean. Start elsewhere with initial=, or "
            "sample with kg.mcmc"
        )
    size, each_of = model.free_size, max(count, _ENOUGH)
    free = np.concatenate([q.draws(noise(keys[i], each_of, size)) for i, q in found])
    each = np.array([q.log_density(free) for _, q in found])
    log_q = np.logaddexp.reduce(each, 0) - math.log(len(found))
    path = np.repeat([i for i, _ in found], each_of)
    log_density = log_densities(model, free)
    elbo = np.full(len(paths), -np.inf)
    for row, (i, _) in zip(each, found, strict=True):
        elbo[i] = np.mean((log_density - row)[path == i])
    return _Pool(free, path, log_density, log_q, elbo)


def _picked(chances: np.ndarray, key: np.ndarray, count: int, size: int) -> np.ndarray:
    """Indices with these chances, in random order.

    Systematic resampling: of chances c the index is taken floor(count c) or ceil(count c) times,
    so that draws repeat as seldom as can be.
    """
    numbers = noise(key, -(-(count + 1) // size), size, _PICKING).ravel()
    ends = np.cumsum(chances)
    places = (np.arange(count) + ndtr(numbers[-1])) / count * ends[-1]
    found = np.minimum(np.searchsorted(ends, places), chances.size - 1)
    return found[np.argsort(numbers[:count])]


def _told(paths: Sequence[Path], pool: _Pool) -> Any:
    """What there is to say of each path."""
    import xarray as xr

    columns = {
        "elbo": pool.elbo,
        "iterations": np.array([path.iterations for path in paths]),
        "evaluations": np.array([path.evaluations for path in paths]),
    }
    labels = {"path": np.arange(len(paths))}
    return xr.Dataset({name: ("path", values) for name, values in columns.items()}, labels)


def pathfinder_points(
    model: Model, keys: Sequence[np.ndarray], count: int, doing: str
) -> np.ndarray:
    """For each key so many draws of an approximation of its own, shape (keys, count, free_size).

    Raises
    ------
    StartError
        If no random point has a finite density and gradient.
    ModelError
        If no path gives a normal distribution with a finite ELBO.
    """
    objective = Objective(model, True)
    found = []
    for key in keys:
        words = tuple(int(word) for word in key)
        own = [chain_key(words, index) for index in range(_PATHS)]
        walked = walk_paths(objective, None, own, doing)
        pool = _pool(model, walked, own, count, doing)
        log_chances, _ = smoothed(pool.log_density - pool.log_q)
        found.append(pool.free[_picked(np.exp(log_chances), own[0], count, model.free_size)])
    return np.array(found)
