"""The results tree of a tempered model."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..approximations.results import as_tree, log_densities
from ..graph.source import warn_user
from ..optimizers.objective import Objective
from ..results.advice import SamplingWarning
from ..results.diagnosis import LOOKED_AT, findings
from ..runs.restoring import sampler_attributes
from .task import TemperingTask

__all__ = ["GROUP", "as_results"]

GROUP = "tempering"
FEWEST = 100  # draws of a chain that are diagnosed


def as_results(
    task: TemperingTask,
    method: str,
    free: np.ndarray,
    statistics: Mapping[str, np.ndarray],
    columns: Mapping[str, Any],
    attributes: Mapping[str, Any],
    chains: int = 1,
) -> Any:
    """The results tree of draws of the free state, chain after chain.

    `columns` are the quantities by rung, as arguments of `xarray.Dataset`. The findings of
    `kg.diagnose` become warnings.
    """
    import xarray as xr

    model = task.model
    lp = log_densities(model, free)
    rungs = xr.Dataset(dict(columns))
    every = {
        "tempering": method,
        "seed": str(task.seed),
        **sampler_attributes([task.sampler]),
        **attributes,
    }
    tree = as_tree(
        Objective(model, True), free, {"lp": lp, **statistics}, every, {GROUP: rungs}, chains
    )
    if tree["posterior"].sizes["draw"] >= FEWEST:
        for finding in findings(tree, LOOKED_AT):
            warn_user(f"temper: {finding.message}", SamplingWarning)
    return tree
