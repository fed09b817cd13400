"""The contract of a kernel, for NUTS and for samplers of users.

A sampler that is bound to a space gives a kernel: two functions of tensors, traced by JAX,

    init(moment, position)       -> slots             once, at the starting point
    step(moment, state)          -> (state, info)     a transition

The state is a position, with log density and gradient, and the sampler's slots (momenta,
thermostats, counters: any pytree). The moment holds what a transition may read: the values of the
hyper-parameters, the noise, and the log density. `density.evaluate` gives value and gradient at any
point, inside loops, too. Each call of it in the source becomes a copy of the model in the compiled
program, so a kernel should call it in one place.

A kernel whose transitions differ in length has `turns`: the same transition cut into pieces of one
gradient each, so that in a batch of chains none waits for the longest transition.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..models.bound_density import BoundDensity, Position
from .noise import Noise

__all__ = ["Info", "TransitionKernel", "Moment", "Space", "KernelState", "Statistic", "Turns"]


class Space(NamedTuple):
    """The space of a kernel, as far as known without data."""

    shape: tuple[int, ...]  # of the free state: (size,), or (walkers, size)
    dtype: np.dtype
    parts: Mapping[str, tuple[slice, tuple[int, ...]]]  # places and shapes of named unknowns
    loops: int  # number of loops in the log density
    wanted: frozenset[str] = frozenset()  # optional records that the run asks for


class Moment(NamedTuple):
    """The inputs of a transition in addition to its state."""

    hyper: Mapping[str, Any]  # values of the hyper-parameters
    noise: Noise
    density: BoundDensity
    drawn: Sequence[Any] = ()  # what the kernel's `draw` returned for this noise, or nothing


class KernelState(NamedTuple):
    """The state before or after a transition.

    `trips` are reports on the model's loops, passed from one evaluation to the next.
    """

    position: Position
    slots: Any
    trips: Any


class Info(NamedTuple):
    """The report of a transition, for warm-up, counters and records."""

    acceptance: Any  # the statistic that warm-up drives to the sampler's target
    gradients: Any  # number of points at which value and gradient were evaluated
    diverging: Any
    statistics: Any  # a vector: the values of `TransitionKernel.statistics`, one after the other
    values: Any = 0  # number of evaluations of the value alone, if the record `n_value` is wanted
    within: Any = ()  # acceptance for each inner step size, by name; NaN if no step was made


class Statistic(NamedTuple):
    """A recorded quantity: name in the results, type, description and shape."""

    name: str
    dtype: Any
    text: str
    shape: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)


class Turns(Protocol):
    """A transition cut into turns of one gradient each.

    A turn asks for a point and then receives the position with its density and gradient.
    """

    def begin(self, moment: Moment, position: Position, before: Any = None) -> Any:
        """The state of a new transition.

        Large buffers may be left as they are in `before`, the state of an earlier transition.
        """

    def ask(self, moment: Moment, state: Any) -> Any:
        """The point at which the next value and gradient are wanted."""

    def tell(self, moment: Moment, state: Any, point: Position) -> Any:
        """The state after value and gradient at the requested point are known."""

    def finished(self, state: Any) -> Any:
        """Whether the transition is complete."""

    def end(self, state: Any) -> tuple[Position, Info]:
        """The new position and the report of the transition."""


class TransitionKernel(Protocol):
    """The interface of a sampler that is bound to a space."""

    @property
    def statistics(self) -> tuple[Statistic, ...]:
        """The quantities in `Info.statistics`."""

    @property
    def turns(self) -> Turns | None:
        """The transition in turns; None if all transitions have equal length."""

    @property
    def draw(self) -> Callable[[Noise], Sequence[Any]] | None:
        """The random arrays of a transition that depend on its noise alone.

        A loop of cheap transitions draws the arrays of many transitions at once. None if the kernel
        has no such arrays.
        """

    @property
    def moves_by_values(self) -> bool:
        """Whether new positions depend on values of the potential.

        If not, they depend on its gradient alone.
        """

    @property
    def takes_gradient(self) -> bool:
        """Whether a step uses gradients.

        If not, the gradient at the end of a step need not be known.
        """

    @property
    def ends_with_value(self) -> bool:
        """Whether a step evaluates the potential alone at its last point."""

    def init(self, moment: Moment, position: Position) -> Any:
        """The slots at a starting point."""

    def step(self, moment: Moment, state: KernelState) -> tuple[KernelState, Info]:
        """A transition."""
