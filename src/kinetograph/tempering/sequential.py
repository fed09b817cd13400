"""The results of sequential Monte Carlo."""

import math
from typing import Any

import numpy as np

from ..graph.source import warn_user
from ..results.advice import SamplingWarning
from ..runs.signals import stoppable
from .results import as_results
from .task import TemperingTask

__all__ = ["sequential"]

GROUP = 128  # particles of a batch
FEW_ANCESTORS = 20  # below this effective number the standard error is not reliable
COLUMNS = {
    "power": "the power b of the likelihood",
    "log_evidence": "the part of log Z of the step to this power",
    "efficiency": "conditional effective sample size of the step, by particle",
    "sweeps": "transitions of each particle at this power",
    "acceptance_rate": "mean acceptance in the last sweep",
    "step_size": "the step size after the last sweep",
    "correlation": "the largest correlation of a coordinate with its value before the sweeps",
    "diverging": "divergences at this power",
}


def sequential(task: TemperingTask, particles: int) -> Any:
    """The results tree of particles of the posterior."""
    with stoppable() as check:
        found = task.anneal(particles, min(GROUP, particles), check)
    ancestors = 1 / float(((np.bincount(found.first) / particles) ** 2).sum())
    if ancestors < FEW_ANCESTORS:
        warn_user(
            f"temper: the particles come from few draws of the prior ({ancestors:.0f} effective "
            f"ancestors of {particles} particles), so modes may be missing, and the standard error "
            f"of the evidence is not reliable; take particles={10 * particles} or more",
            SamplingWarning,
        )
    rungs = zip(COLUMNS.items(), zip(*found.rungs, strict=True), strict=True)
    columns = {
        name: ("rung", np.array(values), {"description": text}) for (name, text), values in rungs
    }
    attributes = {
        "particles": particles,
        "log_evidence": found.log_evidence,
        "log_evidence_se": math.sqrt(max(found.variance, 0.0)),
        "effective_ancestors": ancestors,
        "gradients": found.gradients,
        "sampling_time": task.checkpoints.seconds,
    }
    statistics = {"ancestor": found.first}
    return as_results(task, "smc", found.free, statistics, columns, attributes)
