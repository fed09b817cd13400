"""The contract of a transition, the same for NUTS and for a user's own sampler.

A sampler, bound to a space, gives a kernel: two functions of tensors, traced by JAX,

    init(moment, position)       -> slots             once, at the starting point
    step(moment, state)          -> (state, info)     a transition

where the state is a position, with log density and gradient, and the sampler's own slots (momenta,
thermostats, counters: any pytree). The moment holds what is known at this transition: the values of
the hyper-parameters, the noise, and the target, whose `evaluate` is called wherever a value and a
gradient are needed, inside of loops, too. Each place that calls it is a copy of the model in the
compiled program, so a kernel calls it in one place.

A kernel whose transitions differ in length has `turns`: the same transition cut into pieces of one
gradient each, so that in a batch of chains none waits for the longest.
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np

from .noise import Noise
from .target import Position, Target

__all__ = ["Info", "Kernel", "Moment", "Space", "State", "Statistic", "Turns"]


class Space(NamedTuple):
    """Where a kernel moves, as far as it is known before there are data."""

    shape: tuple[int, ...]  # of the free state: (size,), or (walkers, size)
    dtype: np.dtype
    parts: Mapping[str, tuple[slice, tuple[int, ...]]]  # places and shapes of named unknowns
    loops: int  # in the log density
    wanted: frozenset[str] = frozenset()  # records that are made where a run asks for them


class Moment(NamedTuple):
    """What a transition may use beside its state."""

    hyper: Mapping[str, Any]  # values of the hyper-parameters
    noise: Noise
    target: Target


class State(NamedTuple):
    """Where a transition begins or ends; `trips` is handed from one evaluation to the next."""

    position: Position
    slots: Any
    trips: Any


class Info(NamedTuple):
    """What a transition tells: for warm-up, for counting, and for the record."""

    acceptance: Any  # the statistic that warm-up drives to the sampler's target
    gradients: Any  # at how many points it took value and gradient
    diverging: Any
    statistics: Any  # a vector: the values of `Kernel.statistics`, one after the other
    values: Any = 0  # at how many points it took the value alone, where `n_value` is wanted
    within: Any = ()  # by name, the acceptance for each step size within; NaN: no step was made


class Statistic(NamedTuple):
    """A recorded quantity: its name in the results, its type, what it is, and its shape."""

    name: str
    dtype: Any
    text: str
    shape: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        """How many numbers it has."""
        return math.prod(self.shape)


class Turns(Protocol):
    """A transition cut into turns of one gradient each: ask for a point, be told its density."""

    def begin(self, moment: Moment, position: Position, before: Any = None) -> Any:
        """The state of a new transition; what is large may be left as it was `before`."""

    def ask(self, moment: Moment, state: Any) -> Any:
        """The point at which the next value and gradient are wanted."""

    def tell(self, moment: Moment, state: Any, point: Position) -> Any:
        """The state after the value and gradient at the asked point are known."""

    def finished(self, state: Any) -> Any:
        """Whether the transition is complete."""

    def end(self, state: Any) -> tuple[Position, Info]:
        """The new position, and what happened."""


class Kernel(Protocol):
    """What a run needs of a sampler that is bound to a space."""

    @property
    def statistics(self) -> tuple[Statistic, ...]:
        """What `Info.statistics` holds."""

    @property
    def turns(self) -> Turns | None:
        """The transition in turns, where its length differs."""

    @property
    def moves_by_values(self) -> bool:
        """Whether new positions depend on values of the potential, not on its gradient alone."""

    @property
    def takes_gradient(self) -> bool:
        """Whether a step uses gradients; if not, it need not know that of the point it ends at."""

    @property
    def ends_with_value(self) -> bool:
        """Whether it evaluates the point it ends at for the potential alone, whatever it uses."""

    def init(self, moment: Moment, position: Position) -> Any:
        """The slots at a starting point."""

    def step(self, moment: Moment, state: State) -> tuple[State, Info]:
        """A transition."""
