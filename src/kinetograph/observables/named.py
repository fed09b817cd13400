"""The observables with names, after those of molecular dynamics and of TATi.

N is the number of free coordinates, p the momenta in coordinates in which the mass is 1.
"""

from collections.abc import Sequence
from typing import Any

from ..graph.functions.mathematics import sqrt
from ..graph.functions.reductions import sum as sum_of
from .average import Average
from .observable import Observable, Step, observable

__all__ = [
    "bad",
    "gradient_norm",
    "inertia",
    "kinetic_energy",
    "max_energy_error",
    "momentum_norm",
    "n_grad",
    "n_value",
    "noise_norm",
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


def _total(x: Any, step: Step) -> Any:
    """The sum over all axes but that of an ensemble's walkers."""
    return sum_of(x, axis=tuple(range(step.potential.ndim, x.ndim)))


def _norm(x: Any, step: Step) -> Any:
    return sqrt(_total(x * x, step))


def _kinetic(step: Step) -> Any:
    if "kinetic_energy" in step.recorded:
        return step.recorded["kinetic_energy"]
    p = step.slots["p"]
    return 0.5 * _total(p * p, step)


def _made(name: str, text: str, function: Any) -> Any:
    return observable(function, name)._replace(text=text)


potential = _made("potential", "U(q)", lambda step: step.potential)
kinetic_energy = _made("kinetic_energy", "p p / 2", _kinetic)
total_energy = _made("total_energy", "U + p p / 2", lambda step: step.potential + _kinetic(step))
virial = _made("virial", "q grad U / 2", lambda step: 0.5 * _total(step.q * step.gradient, step))
temperature_kinetic = _made(
    "temperature_kinetic", "p p / N", lambda step: 2 * _kinetic(step) / step.q.shape[-1]
)
temperature_config = _made(
    "temperature_config",
    "q grad U / N",
    lambda step: _total(step.q * step.gradient, step) / step.q.shape[-1],
)
gradient_norm = _made("gradient_norm", "|grad U|", lambda step: _norm(step.gradient, step))
scaled_gradient = _made(
    "scaled_gradient",
    "h |grad U|",
    lambda step: step.hyper["step_size"] * _norm(step.gradient, step),
)
momentum_norm = _made("momentum_norm", "|p|", lambda step: _norm(step.slots["p"], step))
scaled_momentum = _made(
    "scaled_momentum",
    "h |p|",
    lambda step: step.hyper["step_size"] * _norm(step.slots["p"], step),
)
inertia = _made("inertia", "p q", lambda step: _total(step.slots["p"] * step.q, step))
rejection = _made(
    "rejection", "1 - accepted", lambda step: 1.0 - step.recorded["accepted"].astype(step.q.dtype)
)


def recorded(name: str, text: str = "") -> Observable:
    """What a sampler records where it is asked for: `self.record(name, value, always=False)`.

    Parameters
    ----------
    name
        Under which the sampler records it.
    text
        What it is, for the results.

    Examples
    --------
    >>> import kinetograph as kg
    >>> class Langevin(kg.samplers.BAOAB):
    ...     def step(self, at, p):
    ...         at, slots = super().step(at, p)
    ...         self.record("largest", kg.max(abs(at.gradient)), always=False)
    ...         return at, slots
    >>> model = kg.model(kg.normal(0.0, 1.0, name="x"))
    >>> "largest" in kg.chain(model, Langevin(), seed=1).step().sample_stats
    False
    >>> asked = kg.observables.recorded("largest")
    >>> "largest" in kg.chain(model, Langevin(), seed=1, observables=asked).step().sample_stats
    True
    """
    found: Observable = _made(name, text, lambda step: step.recorded[name])
    return found


noise_norm = recorded("noise_norm", "norm of the noise that the step added")
max_energy_error = recorded(
    "max_energy_error", "energy of a point of the tree minus that of the start, of largest size"
)
bad = recorded("bad", "whether a proposal had no finite energy")
n_grad = recorded("n_grad", "gradients evaluated since the row before")
n_value = recorded("n_value", "values without a gradient evaluated since the row before")

COUNTED = {o.name: o for o in (n_grad, n_value)}  # by the run


OF_POTENTIAL = (
    potential,
    total_energy,
    virial,
    temperature_config,
    gradient_norm,
    scaled_gradient,
)


def of_batch(given: Sequence[Any]) -> tuple[Any, ...]:
    """Observables, or averages of some, where a step knows the potential by a batch of rows alone.

    Those of the potential and its gradient are called `batch_potential` and so on.
    """

    def named(item: Any) -> Any:
        if isinstance(item, Average):
            return item._replace(quantity=named(item.quantity))
        taken = isinstance(item, Observable) and item in OF_POTENTIAL
        return item._replace(name=f"batch_{item.name}") if taken else item

    return tuple(map(named, given))


def is_named(given: Observable) -> bool:
    """Whether it is one of these, and not of a user."""
    return given.function.__module__ == __name__
