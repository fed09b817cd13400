"""The columns of records, and the observables from which they come.

Which columns a sampler has depends on its kind: whether it adds noise, keeps momenta, accepts or
rejects, or has a thermostat. All columns of a row belong to the state at the end of its step.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..graph.functions.reductions import sum as sum_of
from ..observables import inertia, noise_norm, observable, scaled_gradient, virial
from ..samplers import (
    BAOAB,
    EQN,
    GHMC,
    GLA1,
    GLA2,
    HMC,
    LM,
    MALA,
    MAMS,
    MCLMC,
    NUTS,
    SGHMC,
    SGLD,
    SGNHT,
    UBU,
    CCAdL,
    RandomWalk,
    Splitting,
)
from ..samplers.sampler import Sampler
from .descending import Descending

__all__ = ["RUN", "columns_of", "observables_of", "values_of"]

RUN = (
    *("id", "step", "epoch", "accuracy", "loss", "potential"),
    *("time_per_nth_step", "beta", "step_width"),
)
_FORCE = ("scaled_gradient", "virial")
_MOMENTA = ("total_energy", "kinetic_energy", "scaled_momentum", *_FORCE)
_LANGEVIN = (*_MOMENTA, "scaled_noise")
_ENERGIES = ("total_energy", "old_total_energy", "kinetic_energy", "scaled_momentum", *_FORCE)
_TEST = ("average_rejection_rate", "accepted")

_KINDS: tuple[tuple[tuple[type, ...], tuple[str, ...]], ...] = (
    ((Descending,), (*_FORCE, "learning_rate")),
    ((SGLD, LM), (*_FORCE, "scaled_noise")),
    ((CCAdL,), (*_LANGEVIN, "thermostat", "noise_covariance_trace")),
    ((SGNHT,), (*_LANGEVIN, "thermostat")),
    ((GHMC, HMC, NUTS), (*_ENERGIES, *_TEST)),
    ((MALA, MAMS, RandomWalk), (*_FORCE, *_TEST)),
    ((BAOAB, GLA1, GLA2, SGHMC, UBU, Splitting), _LANGEVIN),
    ((MCLMC,), _FORCE),
)


def columns_of(sampler: Sampler, accumulates: bool) -> tuple[str, ...]:
    """The columns that a sampler adds to the columns of all runs."""
    if not accumulates:
        return ()
    if isinstance(sampler, EQN):
        inside = columns_of(sampler.sampler, True)
        return (
            *(name for name in inside if name != "scaled_noise"),
            "unpreconditioned",
            "eta_effective",
        )
    for kinds, names in _KINDS:
        if type(sampler) in kinds:  # a subclass may record something else
            return names
    return ()


@observable
def noise_covariance_trace(step: Any) -> Any:
    """The trace of the estimated covariance of the gradient's noise."""
    noise = step.slots["noise"]  # a matrix, or its diagonal
    if len(noise.shape) > len(step.q.shape):
        noise = noise * np.eye(noise.shape[-1])
    return sum_of(noise)


@observable
def step_width(step: Any) -> Any:
    """The step size of the step."""
    return step.hyper["step_size"]


_OBSERVABLES: Mapping[str, Any] = {
    "scaled_gradient": scaled_gradient,
    "virial": virial,
    "scaled_noise": noise_norm,
    "noise_covariance_trace": noise_covariance_trace,
}


def observables_of(sampler: Sampler, columns: tuple[str, ...]) -> list[Any]:
    """The observables that the columns and averages need."""
    observables = [_OBSERVABLES[name] for name in columns if name in _OBSERVABLES]
    if "step_size" in sampler.declared():
        observables.append(step_width)
    has_slot = "kinetic_energy" in columns and not isinstance(sampler, (HMC, NUTS))
    return [*observables, inertia] if has_slot else observables


def values_of(
    name: str,
    statistics: Mapping[str, np.ndarray],
    potential: np.ndarray,
    step_width: np.ndarray,
    beta: np.ndarray,
) -> np.ndarray:
    """A column from the records of the steps, (rows, walkers).

    HMC and NUTS record the energy of the new state, and the error: the energy of the proposal minus
    the energy of the start. HMC multiplies the error by beta.
    """
    batch = f"batch_{name}"
    if name == "learning_rate":
        return step_width
    if name == "scaled_noise":
        return statistics["noise_norm"]
    if name == "average_rejection_rate":
        return 1.0 - _accepted(statistics)
    if name == "accepted":
        return _accepted(statistics)
    if name in ("kinetic_energy", "scaled_momentum"):
        kinetic = statistics.get("kinetic_energy")
        kinetic = statistics["energy"] - potential if kinetic is None else kinetic
        return kinetic if name == "kinetic_energy" else step_width * np.sqrt(2 * kinetic)
    if name == "total_energy":
        energy = statistics.get("energy")
        return potential + statistics["kinetic_energy"] if energy is None else energy
    if name == "old_total_energy":
        change = statistics["energy_error"] / (beta if "accepted" in statistics else 1.0)
        return statistics["energy"] - np.where(_accepted(statistics) > 0, change, 0.0)
    return statistics[batch if batch in statistics else name]


def _accepted(statistics: Mapping[str, np.ndarray]) -> np.ndarray:
    """1 where a step accepted its proposal, else 0.

    NUTS accepts if it leaves its start.
    """
    accepted = statistics.get("accepted")
    return np.asarray(statistics["energy_error"] != 0 if accepted is None else accepted, float)
