"""`self.noise` of a sampler: random arrays by name.

Each name is a separate stream. Draw number n of a name depends only on the run's seed, the number
of the chain, the transition, the name, n, and the index in the array. Adding another name, another
record or another chain changes no number. In a loop each trip draws new numbers.
"""

import copy
import hashlib
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..bits.cipher import threefry4x32
from ..bits.source import all_once, lanes, normal, once, unit
from ..distributions.generator import Generator
from ..graph.array import Array
from ..graph.control.state import Cell, Versions
from ..graph.errors import KinetographWarning, ShapeError
from ..graph.functions.mathematics import sqrt
from ..graph.functions.reductions import sum as sum_of
from ..graph.messages import describe
from ..graph.node import CURRENT, Apply, Node, Operation
from ..graph.operations.elementwise import ELEMENTWISE
from ..graph.source import place_text, warn_user
from ..graph.value_texts import in_words
from ..streams.draw_arguments import sized
from ..streams.methods import Draws
from ..streams.operations import WORDS, advance_stream, batch_row

__all__ = ["NamedNoise", "warn_of_one_number"]

_SUMS = (ELEMENTWISE["add"], ELEMENTWISE["subtract"])
_TAG = np.uint32(0x6E6F6973)  # "nois": separates these numbers from draws that use a sub-key


def _named_state(key: Any, event: Any, *, name: int) -> Any:
    """The state of a name's stream at the beginning of a transition."""
    last = key[3] ^ np.uint32(name)
    zero = np.uint32(0)
    return jnp.stack([key[0], key[1], key[2], last, zero, jnp.asarray(event, np.uint32)])


def _numbers(state: Any, row: Any, *, convert: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    """Numbers made of two words each, two from each cipher block."""
    count = int(np.prod(shape, dtype=int))
    half = (count + 1) // 2
    counter = jnp.arange(lanes(half), dtype=np.uint32)
    key = (state[0], state[1], state[2], state[3])
    a, b, c, d = threefry4x32(key, (_TAG + row, counter, state[4], state[5]))
    if count < 2:
        return convert(once(a, b), dtype)[:count].reshape(shape)
    if dtype == np.float32:  # the numbers use the first of their words alone
        first = jnp.concatenate([word[:half] for word in once(a, c)])[:count]
        return convert((first, np.uint32(0)), dtype).reshape(shape)
    a, b, c, d = (word[:half] for word in all_once((a, b, c, d)))
    pair = jnp.concatenate([a, c])[:count], jnp.concatenate([b, d])[:count]
    return convert(pair, dtype).reshape(shape)


STATE = Operation("noise_state", _named_state)
NUMBERS = Operation("noise", _numbers)
FURTHEST = Operation("join noise", lambda states: states[0].at[4].set(states[:, 4].max()))


class _NoiseCell(Cell):
    """The state of a name's stream, which starts again in each transition."""

    __slots__ = ("begin",)

    def __init__(self, name: str, key: Node, event: Node) -> None:
        super().__init__(np.zeros(WORDS, np.uint32), name, hidden=True)
        digest = hashlib.blake2s(name.encode(), digest_size=4).digest()
        number = int.from_bytes(digest, "little")
        self.begin = Apply(STATE, (key, event), (WORDS,), np.dtype(np.uint32), {"name": number})

    def entry(self, program: Versions) -> Node:
        return self.begin

    def join(self, versions: Node, inside: Node) -> Node:
        """The furthest state of a batch's rows.

        Each row draws from its own lane of the cipher, so no numbers are used twice.
        """
        return Apply(FURTHEST, (versions,), (WORDS,), versions.dtype)


def warn_of_one_number(position: Node) -> None:
    """Warn of one random number that is added to all coordinates."""
    nodes, visited = [position], set[Node]()
    while nodes:
        node = nodes.pop()
        if node in visited or not isinstance(node, Apply):
            continue
        visited.add(node)
        if node.operation not in _SUMS or node.size < 2:
            continue
        for parent in node.parents:
            if parent.shape or not _is_noise(parent):
                nodes.append(parent)
                continue
            warn_user(
                f"noise: one random number is added to all {node.shape[-1]} coordinates of the "
                f"position{place_text()}; for a number of each write "
                'self.noise("p", like=at.q)',
                KinetographWarning,
            )
            return


def _is_noise(node: Node) -> bool:
    """Whether a single number is noise, or noise times known numbers."""
    if not isinstance(node, Apply) or node.shape:
        return False
    if node.operation is NUMBERS:
        return True
    return node.operation is ELEMENTWISE["multiply"] and any(map(_is_noise, node.parents))


def _named(given: Any) -> str:
    """The call with a name that the call without one means."""
    if isinstance(given, Array):
        words = describe(given.node)
        return f'self.noise("p", like={"at.q" if words == "q" else words})'
    return f'self.noise("p", shape={given!r})' if given else 'self.noise("p", like=at.q)'


class NamedNoise(Draws):
    """Random arrays for one step; see the module's docstring.

    A call returns standard normal numbers. It has the methods of `kg.RandomStreams`, with `name=`
    for the stream; the default name is the name of the method.
    """

    def __init__(self, key: Node, event: Node, dtype: np.dtype) -> None:
        self._key, self._event, self._dtype = key, event, dtype
        self._cells: dict[str, _NoiseCell] = {}
        self._prefix = ""

    def within(self, name: str) -> "NamedNoise":
        """The noise of an inner sampler; `name` begins its streams' names."""
        noise = copy.copy(self)
        noise._prefix = f"{self._prefix}{name}."
        return noise

    def _next(self, name: str | None) -> tuple[Node, Any]:
        return advance_stream(self._cell(name or "unnamed")), None  # type: ignore[arg-type]

    def _cell(self, name: str) -> _NoiseCell:
        if not isinstance(name, str) or not name:
            got = "" if isinstance(name, str) else f", got {in_words(name)}"
            raise TypeError(
                f"noise: the first argument must be the name of the numbers, a text{got}"
                f"{place_text()}; write {_named(name)}"
            )
        name = self._prefix + name
        if name not in self._cells:
            before, CURRENT.context = CURRENT.context, None
            try:
                self._cells[name] = _NoiseCell(name, self._key, self._event)
            finally:
                CURRENT.context = before
        return self._cells[name]

    def __call__(self, name: str = "", like: Any = None, shape: Any = None) -> Array:
        """Standard normal numbers; one number if neither `like` nor `shape` is given.

        Parameters
        ----------
        name
            The name of the stream; each kind of numbers needs one.
        like
            An array whose shape the numbers have.
        shape
            The shape of the numbers.
        """
        return self._numbers(name, normal, sized(shape, like, f"noise {name!r}") or ())

    def _numbers(self, name: str, convert: Any, shape: tuple[int, ...]) -> Array:
        state = advance_stream(self._cell(name))  # type: ignore[arg-type]
        attributes = {"convert": convert, "shape": shape, "dtype": self._dtype}
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
        dtype = self._dtype if dtype is None else dtype  # by default the dtype of the position
        name = name or generator.name
        return super()._draw(generator, parameters, shape, name, dtype, like, event)

    def uniform(  # type: ignore[override]  # without the other names of the bounds
        self,
        min: Any = 0.0,
        max: Any = 1.0,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
        dtype: Any = None,
    ) -> Array:
        """Uniform numbers in [min, max)."""
        are_numbers = isinstance(min, (int, float)) and isinstance(max, (int, float)) and min < max
        if not are_numbers or dtype is not None:
            return super().uniform(min, max, shape, name=name, like=like, dtype=dtype)
        numbers = self._numbers(name or "uniform", unit, sized(shape, like, "uniform") or ())
        return numbers if (min, max) == (0, 1) else min + (max - min) * numbers

    def sphere(self, name: str, like: Any = None, shape: Any = None) -> Array:
        """A direction: a uniformly distributed point of the unit sphere.

        Raises
        ------
        ShapeError
            If the shape has no components.
        """
        normals = self(name, like, shape)
        if not normals.shape or not normals.size:
            raise ShapeError(f"noise {name!r}: a direction needs components, got {normals.shape}")
        return normals / sqrt(sum_of(normals * normals))
