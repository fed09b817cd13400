"""`self.noise` of a sampler: random arrays by name.

Each name is a stream of its own. Draw number n of a name is a function of (the run's seed, the
chain's number, the transition, the name, n) and the place in the array alone: another name, another
record or another chain changes no number. In a loop every trip draws anew.
"""

import copy
import hashlib
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..bits.cipher import threefry4x32
from ..bits.source import normal, once, unit
from ..distributions.generator import Generator
from ..graph.array import Array
from ..graph.control.state import Cell, Versions
from ..graph.errors import ShapeError
from ..graph.functions.mathematics import sqrt
from ..graph.functions.reductions import sum as sum_of
from ..graph.node import CURRENT, Apply, Node, Operation
from ..streams.asked import sized
from ..streams.methods import Draws
from ..streams.operations import WORDS, advance_stream, batch_row

__all__ = ["NamedNoise"]

_TAG = np.uint32(0x6E6F6973)  # "nois": apart from what is drawn through a sub-key


def _named_state(key: Any, event: Any, *, name: int) -> Any:
    """The state of a name's stream at the beginning of a transition."""
    last = key[3] ^ np.uint32(name)
    zero = np.uint32(0)
    return jnp.stack([key[0], key[1], key[2], last, zero, jnp.asarray(event, np.uint32)])


def _numbers(state: Any, row: Any, *, made: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    """Numbers made of two words each, two of each block of the cipher."""
    size = int(np.prod(shape, dtype=int))
    place = jnp.arange((size + 1) // 2, dtype=np.uint32)
    key = (state[0], state[1], state[2], state[3])
    a, b, c, d = threefry4x32(key, (_TAG + row, place, state[4], state[5]))
    first = made(once(a, b), dtype)
    if size < 2:
        return first[:size].reshape(shape)
    return jnp.concatenate([first, made(once(c, d), dtype)])[:size].reshape(shape)


STATE = Operation("noise_state", _named_state)
NUMBERS = Operation("noise", _numbers)
FURTHEST = Operation("join noise", lambda states: states[0].at[4].set(states[:, 4].max()))


class _NoiseCell(Cell):
    """The state of a name's stream: begins anew in every transition."""

    __slots__ = ("begin",)

    def __init__(self, name: str, key: Node, event: Node) -> None:
        super().__init__(np.zeros(WORDS, np.uint32), name, hidden=True)
        digest = hashlib.blake2s(name.encode(), digest_size=4).digest()
        number = int.from_bytes(digest, "little")
        self.begin = Apply(STATE, (key, event), (WORDS,), np.dtype(np.uint32), {"name": number})

    def entry(self, program: Versions) -> Node:
        return self.begin

    def join(self, versions: Node, inside: Node) -> Node:
        """After a batch: behind the row that has drawn most. Draws of a row are of its lane."""
        return Apply(FURTHEST, (versions,), (WORDS,), versions.dtype)


class NamedNoise(Draws):
    """Random arrays for one step; see the module's text.

    Called, it gives standard normal numbers. The methods are those of `kg.RandomStreams`, with
    `name=` for the stream; without one it is called as the method.
    """

    def __init__(self, key: Node, event: Node, dtype: np.dtype) -> None:
        self._key, self._event, self._dtype = key, event, dtype
        self._cells: dict[str, _NoiseCell] = {}
        self._prefix = ""

    def within(self, name: str) -> "NamedNoise":
        """The noise of a sampler within: its streams have this name before theirs."""
        made = copy.copy(self)
        made._prefix = f"{self._prefix}{name}."
        return made

    def _next(self, name: str | None) -> tuple[Node, Any]:
        return advance_stream(self._cell(name or "unnamed")), None  # type: ignore[arg-type]

    def _cell(self, name: str) -> _NoiseCell:
        if not isinstance(name, str) or not name:
            raise TypeError(f"noise: the name must be a text, got {name!r}")
        name = self._prefix + name
        if name not in self._cells:
            before, CURRENT.context = CURRENT.context, None
            try:
                self._cells[name] = _NoiseCell(name, self._key, self._event)
            finally:
                CURRENT.context = before
        return self._cells[name]

    def __call__(self, name: str, like: Any = None, shape: Any = None) -> Array:
        """Standard normal numbers, of the shape of `like` or of `shape`, else one.

        Parameters
        ----------
        name
            The stream.
        like
            An array, of whose shape the numbers are.
        shape
            The shape itself.
        """
        return self._numbers(name, normal, sized(shape, like, f"noise {name!r}") or ())

    def _numbers(self, name: str, made: Any, shape: tuple[int, ...]) -> Array:
        state = advance_stream(self._cell(name))  # type: ignore[arg-type]
        attributes = {"made": made, "shape": shape, "dtype": self._dtype}
        return Array(Apply(NUMBERS, (state, batch_row()), shape, self._dtype, attributes))

    def _draw(
        self,
        generator: Generator,
        parameters: Sequence[Any],
        shape: Any = None,
        name: str | None = None,
        dtype: Any = None,
        like: Any = None,
        event: tuple[int, ...] | None = None,
    ) -> Array:
        dtype = self._dtype if dtype is None else dtype  # that of the position
        name = name or generator.name
        return super()._draw(generator, parameters, shape, name, dtype, like, event)

    def uniform(
        self,
        min: Any = 0.0,
        max: Any = 1.0,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
        dtype: Any = None,
    ) -> Array:
        """Numbers in [min, max), all equally likely."""
        known = isinstance(min, (int, float)) and isinstance(max, (int, float)) and min < max
        if not known or dtype is not None:
            return super().uniform(min, max, shape, name=name, like=like, dtype=dtype)
        numbers = self._numbers(name or "uniform", unit, sized(shape, like, "uniform") or ())
        return numbers if (min, max) == (0, 1) else min + (max - min) * numbers

    def sphere(self, name: str, like: Any = None, shape: Any = None) -> Array:
        """A direction: a point of the unit sphere, all of which are equally likely.

        Raises
        ------
        ShapeError
            If it has no components.
        """
        normals = self(name, like, shape)
        if not normals.shape or not normals.size:
            raise ShapeError(f"noise {name!r}: a direction needs components, got {normals.shape}")
        return normals / sqrt(sum_of(normals * normals))
