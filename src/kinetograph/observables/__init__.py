"""Observables: quantities of a step, recorded by name at the end of the step.

A row's potential, gradient, momenta and energies belong to the same point and time. What a sampler
itself records under the name of an observable (`kinetic_energy` at another point of its step, say)
is taken as it is.
"""

from .average import covariance
from .named import (
    bad,
    gradient_norm,
    inertia,
    kinetic_energy,
    max_energy_error,
    momentum_norm,
    n_grad,
    n_value,
    noise_norm,
    potential,
    recorded,
    rejection,
    scaled_gradient,
    scaled_momentum,
    temperature_config,
    temperature_kinetic,
    total_energy,
    virial,
)
from .observable import Observable, Step, observable

__all__ = [
    "Observable",
    "Step",
    "bad",
    "covariance",
    "gradient_norm",
    "inertia",
    "kinetic_energy",
    "max_energy_error",
    "momentum_norm",
    "n_grad",
    "n_value",
    "noise_norm",
    "observable",
    "potential",
    "recorded",
    "rejection",
    "scaled_gradient",
    "scaled_momentum",
    "temperature_config",
    "temperature_kinetic",
    "total_energy",
    "virial",
]
