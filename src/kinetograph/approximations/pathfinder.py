"""`kg.pathfinder`: a mixture of normal distributions from optimisation paths.

Sources: L. Zhang, B. Carpenter, A. Gelman, A. Vehtari, Pathfinder: parallel quasi-Newton
variational inference, Journal of Machine Learning Research 23 (2022) 1-49. There a draw is weighted
with the density of its own normal distribution. Here it is weighted with the density of the
mixture, so that weights vary less: A. Owen, Y. Zhou, Safe and effective importance sampling,
Journal of the American Statistical Association 95 (2000) 135-143.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..bits.draws import chain_key
from ..bits.keys import fresh_seed
from ..graph.errors import ModelError
from ..graph.public import public
from ..models.model import Model, check_model
from ..models.result_types import DataTree
from ..optimizers.objective import Objective
from ..optimizers.opt import limits_of, whole
from .low_rank import LowRankNormal
from .pareto import smoothed
from .paths import ELBO_DRAWS, LIMITS, MEMORY, OptimizationPath, walk_paths
from .resampling import judge, picked
from .results import as_tree, log_densities, noise

__all__ = ["pathfinder", "pathfinder_points"]

_PATHS = 4  # paths for the starting points of a chain
_ENOUGH = 250  # least number of draws from each of these paths


@public
def pathfinder(
    model: Model,
    draws: int = 1000,
    *,
    paths: int = 10,
    initial: Any = None,
    max_iterations: int = LIMITS.iterations,
    tolerance: float = LIMITS.tolerance,
    memory: int = MEMORY,
    elbo_draws: int = ELBO_DRAWS,
    seed: int | np.integer | None = None,
) -> "DataTree":
    """Approximate the posterior by a mixture of normal distributions.

    L-BFGS runs from each starting point to a mode. Each point of a path, with the curvature from
    the steps before it, gives a normal distribution of the free state. The path keeps the one with
    the greatest evidence lower bound (ELBO), the mean of log p - log q. The approximation is the
    mixture of the distributions of all paths, with equal weights. The results are draws from a pool
    around it, weighted to the posterior and resampled; see `kg.laplace_approximation`. A mode is
    found only if a path leads to it.

    It takes some hundred gradients, and some thousand log densities.

    Parameters
    ----------
    model
        Made by `kg.model`.
    draws
        The number of draws in the results.
    paths
        The number of paths. Path i is the same for any number of paths.
    initial
        The starting points of the paths, as `initial` of `kg.opt`; random by default.
    max_iterations, tolerance
        The stopping rule of a path; see `kg.opt`.
    memory
        The number of last steps that the curvature is estimated from. The covariance of a normal
        distribution is diagonal plus a part of twice this rank.
    elbo_draws
        The number of draws that estimate the ELBO of each normal distribution of a path.
    seed
        A whole number, not negative. None takes one from the system's entropy; the results record
        it.

    Returns
    -------
    xarray.DataTree
        As for `kg.laplace_approximation`, with the same attributes. In addition `tree.attrs` has
        the greatest `elbo` of a path; sample_stats has the `path` of each draw, -1 if it was not
        drawn from a path's normal distribution; the group paths has for each path its ELBO, its
        number of iterations and its number of evaluations of the density with gradient. If the tree
        is given as `initial` of `kg.mcmc`, the chains start from its first draws; `kg.mcmc(model,
        initial="pathfinder")` runs the paths itself, for each chain from its seed.

    Raises
    ------
    ValueError
        If a number is out of its range.
    StartError
        If the density or gradient is not finite at a starting point.
    ModelError
        If no path gives a normal distribution with a finite ELBO.

    Warns
    -----
    ApproximationWarning
        If the weights cannot correct the approximation; see `kg.laplace_approximation`.

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
    count, path_count = whole(doing, "draws", draws, 1), whole(doing, "paths", paths, 1)
    memory = whole(doing, "memory", memory, 1)
    draws_per_elbo = whole(doing, "elbo_draws", elbo_draws, 1)
    limits = limits_of(doing, max_iterations, tolerance)
    seed_used = fresh_seed() if seed is None else whole(doing, "seed", seed, 0)
    objective = Objective(model, True)
    keys = [chain_key(seed_used, index) for index in range(path_count)]
    finished_paths = walk_paths(objective, initial, keys, doing, limits, memory, draws_per_elbo)
    laws = _laws(finished_paths, doing)
    advice = "Use more paths, reparametrise, or sample with kg.mcmc"
    judged = judge(doing, objective, laws, [], count, seed_used, keys[0], advice)
    elbo = np.full(path_count, -np.inf)
    for index, law in laws.items():
        elbo[index] = judged.pool.elbo(law, index)
    attributes = {"approximation": "Pathfinder", "elbo": float(elbo.max()), **judged.attributes}
    statistics = {**judged.statistics, "path": judged.label}
    paths_group = {"paths": _as_dataset(finished_paths, elbo)}
    return as_tree(objective, judged.free, statistics, attributes, paths_group)


def _laws(paths: Sequence[OptimizationPath], doing: str) -> dict[int, LowRankNormal]:
    """The normal distributions of the paths, by path number.

    Paths without one are left out; if all are, ModelError is raised.
    """
    laws = {i: path.best for i, path in enumerate(paths) if path.best is not None}
    if not laws:
        subject = "the path has" if len(paths) == 1 else f"none of {len(paths)} paths has"
        negation = "no" if len(paths) == 1 else "a"
        raise ModelError(
            f"{doing}: {subject} {negation} normal distribution with a finite log density at its "
            "draws. Possible causes: the path starts at a mode and makes no step, or the density "
            "is not finite everywhere. Start elsewhere with initial=, or sample with kg.mcmc"
        )
    return laws


def _as_dataset(paths: Sequence[OptimizationPath], elbo: np.ndarray) -> Any:
    """The dataset of the paths: ELBO, iterations and evaluations."""
    import xarray as xr

    columns = {
        "elbo": elbo,
        "iterations": np.array([path.iterations for path in paths]),
        "evaluations": np.array([path.evaluations for path in paths]),
    }
    labels = {"path": np.arange(len(paths))}
    return xr.Dataset({name: ("path", values) for name, values in columns.items()}, labels)


@public
def pathfinder_points(
    model: Model, keys: Sequence[np.ndarray], count: int, doing: str
) -> np.ndarray:
    """Draws from a separate approximation for each key.

    Their shape is (keys, count, free_size).

    Raises
    ------
    StartError
        If no random point has a finite density and gradient.
    ModelError
        If no path gives a normal distribution with a finite ELBO.
    """
    objective = Objective(model, True)
    points = []
    for key in keys:
        words = tuple(int(word) for word in key)
        path_keys = [chain_key(words, index) for index in range(_PATHS)]
        laws = _laws(walk_paths(objective, None, path_keys, doing), doing)
        numbers_by_path = [
            noise(path_keys[i], max(count, _ENOUGH), law.width) for i, law in laws.items()
        ]
        parts = zip(laws.values(), numbers_by_path, strict=True)
        free = np.concatenate([law.draws(numbers) for law, numbers in parts])
        log_q = np.logaddexp.reduce([law.log_density(free) for law in laws.values()], 0)
        log_chances, _ = smoothed(log_densities(model, free) - log_q)
        points.append(free[picked(np.exp(log_chances), path_keys[0], count, model.free_size)])
    return np.array(points)
