"""What a run needs of a sampler: one small protocol, the same for NUTS and for a user's own.

A transition is driven by asking and telling. The run opens it with `begin`; then, turn by turn, it
asks where the log density is wanted, evaluates value and gradient there, and tells the sampler;
when the transition is `finished`, `end` gives the new position and what is recorded. Each turn
takes one gradient, wherever the sampler is in its own bookkeeping, so that all samplers run in one
compiled loop that holds one copy of the model.

A sampler with `uses_density = True` can make its moves from log densities alone: `begin` gets one
more argument, `log_density`, a function of a point that gives -inf where the density is not a
number. It is a further copy of the model wherever it is called.

Everything is traced by JAX: states are pytrees of arrays, branches on values use `jax.lax`.
Coordinates are scaled: a step in the free state is `tuned.scale` times a step in coordinates in
which the mass is 1.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, runtime_checkable

import jax.numpy as jnp
import numpy as np

from ..streams.cipher import Words, threefry4x32
from ..streams.draws import normals, uniforms
from ..streams.source import once

_WORDS = np.uint32(0x776F7264)  # "word": apart from all that is drawn through a sub-key

__all__ = ["Info", "Noise", "Position", "Sampler", "Statistic", "Tuned"]


class Position(NamedTuple):
    """A point of the free state, with the log density and its gradient there."""

    q: Any
    log_density: Any
    gradient: Any


class Tuned(NamedTuple):
    """What warm-up may tune: the step size, and the scale of each coordinate (sqrt of 1 / mass)."""

    step_size: Any
    scale: Any


class Info(NamedTuple):
    """What a transition tells: for warm-up, for counting, and for the record."""

    acceptance: Any  # the statistic that warm-up drives to the sampler's target
    gradients: Any  # how many gradients it took
    diverging: Any
    statistics: Any  # values in the order of `Sampler.statistics`


class Statistic(NamedTuple):
    """A recorded quantity: its name in the results, its type, and what it is."""

    name: str
    dtype: type
    text: str


class Noise(NamedTuple):
    """Random numbers for one transition: functions of (key, transition, purpose, lane) alone."""

    key: Any
    event: Any

    def normals(self, purpose: int, size: int) -> Any:
        """Standard normal numbers."""
        return normals(self.key, self.event, purpose, size)

    def uniforms(self, purpose: int, size: int) -> Any:
        """Uniform numbers on (0, 1)."""
        return uniforms(self.key, self.event, purpose, size)

    def words(self, purpose: int, lane: Any) -> Words:
        """Four 32-bit words."""
        key = (self.key[0], self.key[1], self.key[2], self.key[3])
        event = jnp.asarray(self.event, jnp.uint32)
        counter = (_WORDS, jnp.uint32(purpose), jnp.asarray(lane, jnp.uint32), event)
        a, b, c, d = threefry4x32(key, counter)
        return *once(a, b), *once(c, d)


@runtime_checkable
class Sampler(Protocol):
    """The protocol; see the module's text.

    `statistics` lists what `end` records. `target_acceptance` is what warm-up aims
    `Info.acceptance` at by setting the step size; None leaves the step size alone. `tunes_scale`
    lets warm-up set the scales. `initial_step_size` is where the step size starts.
    """

    # Properties, so that samplers may have them as constants, fields or properties.
    @property
    def statistics(self) -> tuple[Statistic, ...]: ...

    @property
    def target_acceptance(self) -> float | None: ...

    @property
    def tunes_scale(self) -> bool: ...

    @property
    def initial_step_size(self) -> float: ...

    @property
    def begin(self) -> Callable[..., Any]:
        """A method `(position, tuned, noise)`, with `uses_density` `(..., log_density)`.

        It gives the state of a new transition from `position`.
        """
        ...

    def ask(self, state: Any, /, tuned: Tuned) -> Any:
        """The point at which the next value and gradient are wanted."""

    def tell(self, state: Any, /, point: Position, tuned: Tuned, noise: Noise) -> Any:
        """The state after the value and gradient at the asked point are known."""

    def finished(self, state: Any, /) -> Any:
        """Whether the transition is complete."""

    def end(self, state: Any, /) -> tuple[Position, Info]:
        """The new position, and what happened."""
        ...

    def settings(self) -> dict[str, Any]:
        """The settings, for the record and for comparing samplers."""
        ...


def record_types(sampler: Sampler) -> dict[str, np.dtype]:
    """The dtype of each recorded statistic."""
    return {s.name: np.dtype(s.dtype) for s in sampler.statistics}
