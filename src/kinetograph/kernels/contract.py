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

from ..graph.public import public
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
    centring: Any = None  # the forms of unknowns, if they may be chosen


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
    """The report of a transition, for warm-up, counters and records.

    Parameters
    ----------
    acceptance
        The number that warm-up drives to the sampler's `target_acceptance`.
    gradients
        The number of points at which value and gradient were evaluated, an int32.
    diverging
        Whether the transition diverged.
    statistics
        A vector of the type of the free state: the elements of `TransitionKernel.statistics`, one
        after the other.
    values
        The number of evaluations of the value alone, if the record `n_value` is wanted.
    within
        The acceptance for each inner step size, by name; NaN if no step was made.

    Examples
    --------
    >>> import jax.numpy as jnp, kinetograph as kg
    >>> info = kg.kernels.Info(0.8, jnp.int32(1), jnp.array(False), jnp.array([-1.5, 0.8]))
    >>> info.values
    0
    """

    acceptance: Any
    gradients: Any
    diverging: Any
    statistics: Any
    values: Any = 0
    within: Any = ()


class Statistic(NamedTuple):
    """A recorded quantity: name in the results, type, description and shape.

    Examples
    --------
    >>> import kinetograph as kg
    >>> kg.kernels.Statistic("n_steps", int, "steps of the trajectory").size
    1
    """

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

    def begin(self, moment: Moment, position: Position, before: Any = None, /) -> Any:
        """The state of a new transition.

        Large buffers may be left as they are in `before`, the state of an earlier transition.
        """

    def ask(self, moment: Moment, state: Any, /) -> Any:
        """The point at which the next value and gradient are wanted."""

    def tell(self, moment: Moment, state: Any, point: Position, /) -> Any:
        """The state after value and gradient at the requested point are known."""

    def finished(self, state: Any, /) -> Any:
        """Whether the transition is complete."""

    def end(self, state: Any, /) -> tuple[Position, Info]:
        """The new position and the report of the transition."""


@public
class TransitionKernel:
    """A sampler bound to a space: functions `init` and `step` of tensors.

        init(moment, position)    the slots at the starting point, any pytree; by default none
        step(moment, state)       a transition: the new state, and a `kg.kernels.Info`

    `position` is a named tuple of `q`, `log_density` and `gradient`. `state` is a named tuple of
    `position`, `slots` and `trips`, and `moment` is a named tuple of

        hyper     the values of the hyper-parameters, by name
        noise     random numbers of this transition: `noise.uniforms(purpose, size)` and
                  `noise.normals_and_words(purpose, size, more)`, with another number `purpose` for
                  each use
        density   `density.evaluate(q, trips)` is the position at q, and the reports on the model's
                  loops so far, which the next evaluation takes and the new state returns

    A subclass names its `statistics`, and `kernel` of a `kg.Sampler` returns it. Further attributes
    are `turns` (a transition in pieces of one gradient), `moves_by_values` (False if positions
    depend on gradients alone), `takes_gradient` and `ends_with_value` (whether the potential alone
    is evaluated at the last point).

    Examples
    --------
    Metropolis with proposals q + U(-h, h):

    >>> import jax, jax.numpy as jnp, kinetograph as kg
    >>> class BoxKernel(kg.kernels.TransitionKernel):
    ...     statistics = (kg.kernels.Statistic("lp", float, "log density"),)
    ...     takes_gradient = False
    ...     def step(self, moment, state):
    ...         old, h = state.position, moment.hyper["step_size"]
    ...         u = moment.noise.uniforms(0, old.q.size + 1).astype(old.q.dtype)
    ...         new, trips = moment.density.evaluate(old.q + h * (2 * u[1:] - 1), state.trips)
    ...         ratio = jnp.exp(jnp.minimum(new.log_density - old.log_density, 0))
    ...         new = jax.tree.map(lambda a, b: jnp.where(u[0] < ratio, a, b), new, old)
    ...         info = kg.kernels.Info(ratio, jnp.int32(1), jnp.array(False), new.log_density[None])
    ...         return state._replace(position=new, trips=trips), info
    >>> class Box(kg.Sampler):
    ...     step_size = kg.hyper(1.0, positive=True)
    ...     def kernel(self, space):
    ...         return BoxKernel()
    >>> x = kg.normal(1.0, 2.0)
    >>> tree = kg.mcmc(kg.model(x), Box(6.0), draws=5000, seed=1, progress=False)
    >>> bool(abs(tree["posterior"]["x"].mean() - 1.0) < 0.2)
    True
    """

    statistics: tuple[Statistic, ...]  # the quantities in `Info.statistics`; one of them is `lp`
    turns: Turns | None = None  # the transition in turns; None if all have equal length
    # Random arrays of a transition that depend on its noise alone; a loop of cheap transitions
    # draws the arrays of many transitions at once.
    draw: Callable[[Noise], Sequence[Any]] | None = None
    moves_by_values: bool = True  # False: new positions depend on the potential's gradient alone
    takes_gradient: bool = True  # False: the gradient at the end of a step need not be known
    ends_with_value: bool = False  # whether a step evaluates the potential alone at its last point

    def init(self, moment: Moment, position: Position) -> Any:
        """The slots at a starting point."""
        return {}

    def step(self, moment: Moment, state: KernelState) -> tuple[KernelState, Info]:
        """A transition."""
        raise NotImplementedError(
            f"{type(self).__name__} has no step; write `def step(self, moment, state)`"
        )
