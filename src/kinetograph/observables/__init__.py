"""Observables: quantities of a step, recorded by name at its end.

Potential, gradient, momenta and energies of a row belong to the same point and time. There is one
exception: if the sampler itself records an observable's name, such as `kinetic_energy` at another
point of its step, the recorded value is used.
"""

from ..graph.public import public_package as _public_package
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

_public_package(__name__)
