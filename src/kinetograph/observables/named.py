"""The predefined observables, which follow molecular dynamics and TATi.

N is the number of free coordinates; p are the momenta in coordinates in which the mass is 1.
"""

from collections.abc import Sequence
from typing import Any

from ..graph.functions.mathematics import sqrt
from ..graph.functions.reductions import sum as sum_of
from ..graph.public import public
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
    """The sum over all axes except the axis of an ensemble's walkers."""
    return sum_of(x, axis=tuple(range(step.potential.ndim, x.ndim)))


def _norm(x: Any, step: Step) -> Any:
    return sqrt(_total(x * x, step))


def _kinetic(step: Step) -> Any:
    """The kinetic energy: the recorded one, or from the final momenta."""
    if "kinetic_energy" in step.recorded:
        return step.recorded["kinetic_energy"]
    p = step.slots["p"]
    return 0.5 * _total(p * p, step)


def _named(name: str, text: str, function: Any) -> Any:
    return observable(function, name)._replace(text=text)


potential = _named("potential", "U(q)", lambda step: step.potential)
kinetic_energy = _named("kinetic_energy", "p p / 2", _kinetic)
total_energy = _named("total_energy", "U + p p / 2", lambda step: step.potential + _kinetic(step))
virial = _named("virial", "q grad U / 2", lambda step: 0.5 * _total(step.q * step.gradient, step))
temperature_kinetic = _named(
    "temperature_kinetic", "p p / N", lambda step: 2 * _kinetic(step) / step.q.shape[-1]
)
temperature_config = _named(
    "temperature_config",
    "q grad U / N",
    lambda step: _total(step.q * step.gradient, step) / step.q.shape[-1],
)
gradient_norm = _named("gradient_norm", "|grad U|", lambda step: _norm(step.gradient, step))
scaled_gradient = _named(
    "scaled_gradient",
    "h |grad U|",
    lambda step: step.hyper["step_size"] * _norm(step.gradient, step),
)
momentum_norm = _named("momentum_norm", "|p|", lambda step: _norm(step.slots["p"], step))
scaled_momentum = _named(
    "scaled_momentum",
    "h |p|",
    lambda step: step.hyper["step_size"] * _norm(step.slots["p"], step),
)
inertia = _named("inertia", "p q", lambda step: _total(step.slots["p"] * step.q, step))
rejection = _named(
    "rejection", "1 - accepted", lambda step: 1.0 - step.recorded["accepted"].astype(step.q.dtype)
)


@public
def recorded(name: str, text: str = "") -> Observable:
    """A value that a sampler records only on request.

    The sampler calls `self.record(name, value, always=False)`.

    Parameters
    ----------
    name
        The name under which the sampler records the value.
    text
        A description of the value, for the results.

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
    >>> largest = kg.observables.recorded("largest")
    >>> "largest" in kg.chain(model, Langevin(), seed=1, observables=largest).step().sample_stats
    True
    """
    recorded_value: Observable = _named(name, text, lambda step: step.recorded[name])
    return recorded_value


noise_norm = recorded("noise_norm", "norm of the noise that the step added")
max_energy_error = recorded(
    "max_energy_error", "energy of a point of the tree minus that of the start, of largest size"
)
bad = recorded("bad", "whether a proposal had no finite energy")
n_grad = recorded("n_grad", "gradients evaluated since the previous row")
n_value = recorded("n_value", "values without a gradient evaluated since the previous row")

COUNTED = {o.name: o for o in (n_grad, n_value)}  # the run counts these


OF_POTENTIAL = (
    potential,
    total_energy,
    virial,
    temperature_config,
    gradient_norm,
    scaled_gradient,
)


def of_batch(given: Sequence[Any]) -> tuple[Any, ...]:
    """Rename observables for steps that evaluate a batch of rows.

    Observables of the potential and its gradient are called `batch_potential` and so on. Items may
    also be averages of observables.
    """

    def named(item: Any) -> Any:
        if isinstance(item, Average):
            return item._replace(quantity=named(item.quantity))
        is_of_batch = isinstance(item, Observable) and item in OF_POTENTIAL
        return item._replace(name=f"batch_{item.name}") if is_of_batch else item

    return tuple(map(named, given))


def is_named(given: Observable) -> bool:
    """Whether an observable is one of this module, not a user's."""
    return given.function.__module__ == __name__
