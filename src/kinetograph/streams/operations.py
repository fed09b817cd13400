"""Random draws as nodes of the graph.

Each draw has a state of six words: the key of its stream (four words) and the number of draws so
far (two words). It is a state of the compiled function, as `kg.state` makes them. A draw reads it
and advances it by one: in program order, in a branch only if the branch is taken, in a loop once
per trip. A backward pass does not draw again, because it uses the drawn numbers.
"""

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from ..bits.source import event_source
from ..graph.control.contexts import BatchContext, current_context
from ..graph.control.state import ASSIGN, Cell, current_versions
from ..graph.errors import KinetographError
from ..graph.node import Apply, Inner, Node, Operation
from ..graph.operations.elementwise import elementwise
from ..graph.operations.operands import as_node

if TYPE_CHECKING:
    from .streams import Stream

__all__ = ["Draw", "StreamCell", "advanced", "batch_row", "draw_node", "initial_state"]

WORDS = 6
_LONG = 2**14  # elements of a long draw
_LOW, _HIGH = np.array([0, 0, 0, 0, 1, 0], np.uint32), np.array([0, 0, 0, 0, 0, 1], np.uint32)


def initial_state(key: np.ndarray, counter: int = 0) -> np.ndarray:
    """The state of a stream, from its key and its counter."""
    low, high = counter & 0xFFFFFFFF, counter >> 32
    return np.array([*key, low, high], np.uint32)


def counter_of(state: np.ndarray) -> int:
    """The number of the next draw."""
    return int(state[4]) | int(state[5]) << 32


class StreamCell(Cell):
    """The state of a stream in compiled functions."""

    __slots__ = ("stream",)

    def __init__(self, stream: "Stream", initial: np.ndarray, name: str | None) -> None:
        super().__init__(initial, name, hidden=True)
        self.stream = stream

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "stream": self.stream}

    @property
    def title(self) -> str:
        """The name of the stream in messages."""
        return self.stream.title

    def view(self, values: Any) -> Any:
        """The value of `fn.state[array.rng]`."""
        from .streams import StreamState

        return StreamState(values, self.stream)

    def check(self, before: np.ndarray, after: np.ndarray) -> None:
        """Raise KinetographError if all 2**64 draws have been made."""
        if counter_of(after) < counter_of(before):
            raise KinetographError(f"{self.title}: all 2**64 draws of this stream have been made")

    def join(self, versions: Node, inside: Node) -> Node:
        """The state after a batch.

        If all rows have made the same number of draws, it is their state. Otherwise it is the next
        multiple of 2**32, so that later draws do not depend on the number of draws in other rows.
        """
        operation = LOCKSTEP if _same_for_all(inside) else RAGGED
        return Apply(operation, (versions,), (WORDS,), versions.dtype)


class Draw(Apply):
    """A random draw.

    Its inputs are the state of its stream, the row number in a batch, and the parameters.
    """

    __slots__ = ("stream",)
    stream: "Stream"

    @property
    def alike(self) -> Hashable:
        """A key: draws with the same key are compiled as one batch.

        This saves compile time. Long draws have no key, because copying them into a batch and back
        would cost too much.
        """
        if self.size > _LONG:
            return None
        forms = tuple((p.shape, p.dtype) for p in self.parents)
        return (self.operation.name, *self.attributes.values(), forms)


def _advance(state: Any) -> Any:
    carry = (state[4] == np.uint32(0xFFFFFFFF)).astype(np.uint32)
    return state + jnp.asarray(_LOW) + jnp.asarray(_HIGH) * carry


def _ragged(states: Any) -> Any:
    """The next multiple of 2**32.

    No row makes that many draws in one batch.
    """
    return states[0].at[4].set(0).at[5].set(states[:, 5].max() + np.uint32(1))


ADVANCE = Operation("advance", _advance)
LOCKSTEP = Operation("join", lambda states: states[0])
RAGGED = Operation("join ragged", _ragged)


def _same_for_all(version: Node) -> bool:
    """Whether all rows of a batch make the same number of draws.

    They do so outside branches and loops.
    """
    while isinstance(version, Apply) and version.operation in (ASSIGN, ADVANCE):
        (version,) = version.parents
    return isinstance(version, Inner)


def advanced(state: Node) -> Node:
    """The state after a draw."""
    return Apply(ADVANCE, (state,), (WORDS,), state.dtype)


def _draw(
    state: Any, lane: Any, *parameters: Any, draw: Any, shape: tuple[int, ...], dtype: np.dtype
) -> Any:
    key = (state[0], state[1], state[2], state[3])
    source = event_source(key, (state[4], state[5]), lane, shape, dtype)
    return draw(source, *parameters)


def draw_node(
    name: str,
    draw: Any,
    state: Node,
    parameters: Sequence[Node],
    shape: tuple[int, ...],
    dtype: np.dtype,
    floating: np.dtype,
) -> Draw:
    """Make the node of a draw.

    The numbers have the type `dtype` and are computed in the real type `floating`.
    """
    attributes = {"draw": draw, "shape": shape, "dtype": floating}
    operation = Operation(name, _draw)
    return Draw(operation, (state, batch_row(), *parameters), shape, dtype, attributes)


def batch_row() -> Node:
    """The row number in the enclosing batches; 0 outside of batches."""
    context = current_context()
    lane: Any = np.uint32(0)
    size = 1
    for inner in context.enclosing() if context is not None else ():
        if isinstance(inner, BatchContext):
            number = inner.row_number()
            lane = elementwise("add", lane, elementwise("multiply", number, np.uint32(size)))
            size *= inner.size
    return as_node(lane)


def advance_stream(cell: StreamCell) -> Node:
    """Return the current state of a stream, and advance it."""
    versions = current_versions()
    state = versions.current(cell)
    versions.assign(cell, advanced(state))
    return state
