"""The results of sequential Monte Carlo."""

import math
from typing import Any

import numpy as np

from ..graph.source import warn_user
from ..results.advice import SamplingWarning
from ..runs.signals import stoppable
from .annealing import Annealing
from .results import as_results
from .task import TemperingTask

__all__ = ["GROUP", "columns_of", "sequential", "warn_of_few"]

GROUP = 128  # particles of a batch
FEW_ANCESTORS = 20  # below this effective number the standard error is not reliable
COLUMNS = {
    "log_evidence": "the part of log Z of the step to these settings",
    "efficiency": "conditional effective sample size of the step, by particle",
    "sweeps": "transitions of each particle with these settings",
    "acceptance_rate": "mean acceptance in the last sweep",
    "step_size": "the step size after the last sweep",
    "correlation": "the largest correlation of a coordinate with its value before the sweeps",
    "diverging": "divergences with these settings",
}
FIELDS = {"acceptance_rate": "acceptance", "diverging": "divergences"}


def sequential(task: TemperingTask, particles: int) -> Any:
    """The results tree of particles of the posterior."""
    with stoppable() as check:
        run = task.along(Annealing, particles, min(GROUP, particles), check)
    ancestors = 1 / float(((np.bincount(run.first) / particles) ** 2).sum())
    warn_of_few(ancestors, particles)
    powers = np.array([rung.settings[0] for rung in run.rungs])
    columns = columns_of(run) | {
        "power": ("rung", powers, {"description": "the power b of the likelihood"})
    }
    attributes = {
        "particles": particles,
        "log_evidence": run.log_evidence,
        "log_evidence_se": math.sqrt(max(run.rungs[-1].variance, 0.0)),
        "effective_ancestors": ancestors,
        "gradients": run.gradients,
        "sampling_time": task.checkpoints.seconds,
    }
    statistics = {"ancestor": run.first}
    return as_results(task, "smc", run.free, statistics, columns, attributes)


def columns_of(run: Annealing) -> dict[str, Any]:
    """The quantities of each step, for an `xarray.Dataset`."""
    return {
        name: (
            "rung",
            np.array([getattr(rung, FIELDS.get(name, name)) for rung in run.rungs]),
            {"description": text},
        )
        for name, text in COLUMNS.items()
    }


def warn_of_few(ancestors: float, particles: int) -> None:
    """Warn if the particles come from few draws of the prior."""
    if ancestors < FEW_ANCESTORS:
        warn_user(
            f"temper: the particles come from few draws of the prior ({ancestors:.0f} effective "
            f"ancestors of {particles} particles), so modes may be missing, and the standard error "
            f"of the evidence is not reliable; take particles={10 * particles} or more",
            SamplingWarning,
        )
