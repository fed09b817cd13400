"""The results of parallel tempering."""

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from ..graph.source import warn_user
from ..results.advice import SamplingWarning
from ..runs.signals import stoppable
from .annealing import Annealing
from .barrier import barrier_between, ladder_of, round_trip_rate
from .checkpoints import State
from .evidence import stepping_stones, thermodynamic
from .prior import PriorDraws
from .replicas import Replicas, Scanned
from .results import as_results
from .task import REPLICAS, TemperingTask

__all__ = ["parallel"]

PILOT, GROUP = 256, 64  # particles that find the ladder, and the points of a batch
RETUNED = (0.3, 0.7)  # parts of the warm-up after which the ladder changes
FEW_TRIPS = 10  # of all chains together; below, the standard error is not reliable
FEWEST_RUNGS = 3
FIRST_DRAW = 2**20  # the number of the first draws of the prior for replicas


def parallel(task: TemperingTask, chains: int, draws: int, warmup: int) -> Any:
    """The results tree of the replicas at the posterior."""
    with stoppable() as check:
        replicas = _replicas(task, chains, check)
        for end in (*(int(part * warmup) for part in RETUNED), warmup, warmup + draws):
            if (count := end - replicas.begun) <= 0:
                continue
            if end > warmup:
                task.display.say("sampling")
            scanned = replicas.scan(count, end <= warmup, check, task.checkpoints)
            if task.ladder is None and end < warmup:
                replicas.retune(scanned.rejections)
    evidence = stepping_stones(scanned.log_likelihood, replicas.powers)
    if (trips := int(scanned.round_trips.sum())) < FEW_TRIPS:
        warn_user(
            f"temper: the replicas made {trips} round trips between prior and posterior, so modes "
            "may be missing, and the standard error of the evidence is not reliable; take "
            f"draws={10 * draws} or more, or a sampler that moves further",
            SamplingWarning,
        )
    scan_count = scanned.free.shape[1]
    if scanned.interrupted:
        warn_user(
            f"temper: stopped by Ctrl-C after {scan_count} of {draws} draws of each chain"
            f"{task.checkpoints.advice}",
            SamplingWarning,
        )
    attributes = {
        "draws": scan_count,
        "interrupted": int(scanned.interrupted),
        "log_evidence": evidence.value,
        "log_evidence_se": evidence.error,
        "log_evidence_thermodynamic": thermodynamic(scanned.log_likelihood, replicas.powers),
        "barrier": float(scanned.rejections.sum()),
        "round_trips": scanned.round_trips.tolist(),
        "round_trips_expected": round_trip_rate(scanned.rejections) * scan_count,
        "gradients": replicas.gradients,
        "sampling_time": task.checkpoints.seconds,
    }
    free = scanned.free.reshape(-1, scanned.free.shape[-1])
    columns = _columns(replicas, scanned)
    return as_results(task, "parallel", free, {}, columns, attributes, chains)


def _replicas(task: TemperingTask, chains: int, check: Callable[[], None]) -> Replicas:
    """The replicas, at their begin or as in the last checkpoint."""
    rng, last = task.generator(REPLICAS), task.checkpoints.last
    state = _begin(task, chains, rng, check) if last is None or "scans" not in last else last
    rungs = len(state["powers"])
    points = task.points(chains * (rungs - 1), GROUP, REPLICAS)
    replicas = Replicas(
        points,
        PriorDraws(task.model, task.seed, "temper", FIRST_DRAW),
        state["free"],
        state["powers"],
        state["scales"],
        state["step_sizes"],
        task.moves(points),
        rng,
        state["gradients"],
    )
    if state is last:
        replicas.restore(state)
    after = f"continues after {replicas.scans} scans" if replicas.scans else "warm-up"
    task.display.say(f"{chains} chains of {rungs} replicas: {after}")
    return replicas


def _begin(
    task: TemperingTask, chains: int, rng: np.random.Generator, check: Callable[[], None]
) -> State:
    """Replicas at a ladder of equal rejection, which start at particles."""
    run = task.along(Annealing, max(PILOT, chains), GROUP, check, keeps=True)
    powers_before = np.array([0.0, *(rung.settings[0] for rung in run.rungs)])
    if task.ladder is None:
        of_points = run.moves.points.log_likelihood
        pieces = [
            barrier_between(of_points(stage.free), *ends)
            for stage, ends in zip(run.stages[:-1], pairwise(powers_before), strict=True)
        ]
        barrier = np.concatenate([[0.0], np.cumsum(pieces)])
        powers = ladder_of(
            powers_before, barrier, max(math.ceil(2 * barrier[-1]) + 1, FEWEST_RUNGS)
        )
    else:
        powers = np.concatenate([[0.0], task.ladder])
    near = np.abs(powers[:, None] - powers_before).argmin(1)
    size = len(run.free)
    free = np.stack([run.stages[i].free[rng.choice(size, chains, False)] for i in near], 1)
    return {
        "free": free,
        "powers": powers,
        "scales": np.stack([run.stages[i].scale for i in near[1:]]),
        "step_sizes": np.array([run.stages[i].step_size for i in near[1:]]),
        "gradients": run.gradients,
    }


def _columns(replicas: Replicas, scanned: Scanned) -> dict[str, Any]:
    """The quantities of each rung, for an `xarray.Dataset`."""
    powers = replicas.powers
    parts = [
        stepping_stones(scanned.log_likelihood[..., i : i + 2], powers[i : i + 2]).value
        for i in range(len(powers) - 1)
    ]
    nan = [math.nan]
    columns = {
        "power": (powers, "the power b of the likelihood"),
        "log_evidence": ([*nan, *parts], "the part of log Z of the step to this power"),
        "rejection": (
            [*nan, *scanned.rejections],
            "mean rejection of swaps with the rung below",
        ),
        "acceptance_rate": ([*nan, *scanned.acceptance], "mean acceptance of the moves"),
        "step_size": ([*nan, *replicas.step_sizes], "the step size"),
        "diverging": ([0, *scanned.divergences.sum(0)], "divergences of all chains"),
    }
    return {
        name: ("rung", np.asarray(values), {"description": text})
        for name, (values, text) in columns.items()
    }
