"""Starting points of chains, and the error if none is found."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..graph.errors import StartError
from ..models.model import Model
from ..models.starting_points import START_ATTEMPTS, blame, ensemble_points, initial_points
from ..samplers.sampler import Sampler
from .chain import RunningChain

__all__ = ["explain_failure", "starting_points"]


def starting_points(
    model: Model, sampler: Sampler, initial: Any, keys: Sequence[np.ndarray], doing: str
) -> list[Any]:
    """The starting point for each chain's key.

    It is None where a search has to find the point.
    """
    if isinstance(initial, str) and initial == "pathfinder":
        from ..approximations.pathfinder import pathfinder_points  # slow to import, and rarely used

        walkers = sampler.walkers
        points = list(pathfinder_points(model, keys, int(walkers or 1), doing))
        points = [point[0] for point in points] if walkers is None else points
    elif sampler.walkers is None:
        points = initial_points(model, initial, keys, doing)
    else:
        points = ensemble_points(model, initial, keys, int(sampler.walkers), doing)
    for q in points:
        if q is not None:
            sampler.check_start(q)
    return points


def explain_failure(model: Model, chains: Sequence[RunningChain], given: bool) -> StartError:
    """The error for chains without a starting point.

    The message names the terms of the log density that are not finite.
    """
    failed = [chain for chain in chains if chain.failed]
    state = failed[0].state
    assert state is not None
    which = (
        f"chain {failed[0].number}"
        if len(failed) == 1
        else f"{len(failed)} of {len(chains)} chains"
    )
    problem = (
        "the given initial point has no finite log density or gradient"
        if given
        else f"no finite log density and gradient in {START_ATTEMPTS} random starting points"
    )
    position, at = state.position, np.asarray(state.position.q)
    if at.ndim == 2:  # the first walker without a finite start
        slopes = np.isfinite(position.gradient).all(-1)
        worst = int((np.isfinite(position.log_density) & slopes).argmin())
        which, at = f"{which}, walker {worst}", at[worst]
    return StartError("\n".join([f"{which}: {problem}.", *blame(model, at, given)]))
