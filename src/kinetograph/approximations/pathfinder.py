"""`kg.pathfinder`: a posterior as a mixture of normal distributions, from paths to its modes.

Sources: L. Zhang, B. Carpenter, A. Gelman, A. Vehtari, Pathfinder: parallel quasi-Newton
variational inference, Journal of Machine Learning Research 23 (2022) 1-49. Its weights are those
of each draw under the normal distribution it is of; here they are those under the mixture, which
vary less: A. Owen, Y. Zhou, Safe and effective importance sampling, Journal of the American
Statistical Association 95 (2000) 135-143.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..bits.draws import chain_key
from ..bits.keys import fresh_seed
from ..graph.errors import ModelError
from ..models.model import Model
from ..models.typing import DataTree
from ..optimizers.objective import Objective
from ..optimizers.opt import check_model, limits_of, whole
from .judgement import judge, picked
from .low_rank import LowRankNormal
from .pareto import smoothed
from .paths import ELBO_DRAWS, LIMITS, MEMORY, Path, walk_paths
from .results import as_tree, log_densities, noise

__all__ = ["pathfinder", "pathfinder_points"]

_PATHS = 4  # of a chain's starting point
_ENOUGH = 250  # draws of each of these, if no more are asked for


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
    """Approximate the posterior by a mixture of normal distributions of the free state.

    L-BFGS goes from each start to a mode. From the points of a path and the curvature that its
    steps show come normal distributions; the one with the greatest evidence lower bound (ELBO),
    the mean of log p - log q, is the path's. The approximation is the mixture of those of all
    paths, in equal parts; the results are draws of a pool around it, weighted to the posterior and
    resampled, as `kg.laplace_approximation` explains. Other modes are seen by other paths alone.

    It takes some hundred gradients, and some thousand log densities.

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
        As of `kg.laplace_approximation`, with its attributes. `tree.attrs` also has the greatest
        `elbo` of a path; sample_stats also has the `path` of each draw, -1 where it was not made
        from a path's normal distribution; the group paths has the ELBO, the iterations and the
        evaluations of the density with its gradient of each path. As `initial` of `kg.mcmc`, the
        chains start from its first draws; `kg.mcmc(model, initial="pathfinder")` makes it itself,
        for each chain from its seed.

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
        If weights do not mend the approximation; see `kg.laplace_approximation`.

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
    laws = _laws(walked, doing)
    advice = "Take more paths, reparametrise, or sample with kg.mcmc"
    judged = judge(doing, objective, laws, [], count, used, keys[0], advice)
    elbo = np.full(many, -np.inf)
    for index, law in laws.items():
        elbo[index] = judged.pool.elbo(law, index)
    attributes = {"approximation": "Pathfinder", "elbo": float(elbo.max()), **judged.attributes}
    statistics = {**judged.statistics, "path": judged.label}
    paths_group = {"paths": _told(walked, elbo)}
    return as_tree(objective, judged.free, statistics, attributes, paths_group)


def _laws(paths: Sequence[Path], doing: str) -> dict[int, LowRankNormal]:
    """The normal distributions of the paths that have one, by the number of the path."""
    found = {i: path.best for i, path in enumerate(paths) if path.best is not None}
    if not found:
        many = "the path has" if len(paths) == 1 else f"none of {len(paths)} paths has"
        negation = "no" if len(paths) == 1 else "a"
        raise ModelError(
            f"{doing}: {many} {negation} normal distribution with a finite log density at its "
            "draws: a path that starts at a mode makes no step to learn from, and a density that "
            "is not finite everywhere has no finite mean. Start elsewhere with initial=, or "
            "sample with kg.mcmc"
        )
    return found


def _told(paths: Sequence[Path], elbo: np.ndarray) -> Any:
    """What there is to say of each path."""
    import xarray as xr

    columns = {
        "elbo": elbo,
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
        laws = _laws(walk_paths(objective, None, own, doing), doing)
        normal = [noise(own[i], max(count, _ENOUGH), law.width) for i, law in laws.items()]
        parts = zip(laws.values(), normal, strict=True)
        free = np.concatenate([law.draws(numbers) for law, numbers in parts])
        log_q = np.logaddexp.reduce([law.log_density(free) for law in laws.values()], 0)
        log_chances, _ = smoothed(log_densities(model, free) - log_q)
        found.append(free[picked(np.exp(log_chances), own[0], count, model.free_size)])
    return np.array(found)
