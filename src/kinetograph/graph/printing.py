"""`kg.print`: Python's print, at the time when the program runs."""

import builtins
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from jax import lax

from .array import Array
from .control.contexts import current_context
from .control.effects import Effect, append
from .control.state import top_level
from .control.structure import flatten
from .node import Node, Operation
from .saving.document import storable
from .source import place_text
from .text import in_words

if TYPE_CHECKING:
    from .lower import Scope

__all__ = ["Print", "print"]

PRINT = Operation("print", lambda state, *values: state)


@storable
class _Place:
    """Stands in a structure for the array that will be there."""

    def __init__(self, number: int) -> None:
        self.number = number


class Print(Effect):
    """A line to be printed: its parts, in which places stand for arrays."""

    __slots__ = ("end", "parts", "sep")

    def __init__(
        self, state: Node, values: Sequence[Node], parts: Sequence[Any], sep: str, end: str
    ) -> None:
        super().__init__(PRINT, (state, *values))
        self.parts, self.sep, self.end = tuple(parts), sep, end

    def compute(self, tensors: list[Any], scope: "Scope") -> Any:
        """The state as it is; on the way, the line is printed unless a check has failed."""
        state, *values = tensors
        if scope.effects is None:
            return state
        active = True if scope.active is None else scope.active
        if scope.eager:
            return self._show(state, active, *values)
        # What comes out is what went in, but nobody but this line knows: so it is not left out,
        # nor done before the line above. Rows of a batch come one after the other.
        kind = jax.ShapeDtypeStruct((), state.dtype)
        held = map(lax.stop_gradient, values)
        return jax.pure_callback(self._show, kind, state, active, *held, vmap_method="sequential")

    def _show(self, state: Any, active: Any, *values: Any) -> Any:
        if active and not state:
            arrays = [np.asarray(value) for value in values]
            texts = (str(_filled(part, arrays)) for part in self.parts)
            builtins.print(*texts, sep=self.sep, end=self.end)
        return np.asarray(state)


def _filled(part: Any, arrays: Sequence[np.ndarray]) -> Any:
    leaves, _, structure = flatten(part)
    return structure.fill(
        _value(arrays[leaf.number]) if isinstance(leaf, _Place) else leaf for leaf in leaves
    )


def _value(array: np.ndarray) -> Any:
    """A number as Python would print it, also in a list, where NumPy's names its type."""
    if array.ndim:
        return array
    return float(str(array)) if array.dtype.kind == "f" else array.item()


def print(*values: Any, sep: str = " ", end: str = "\n") -> None:
    """Print values when the program runs, as Python's `print` does while the graph is built.

    Lines come in the order of the program: in a branch only if it is taken, in a loop once a trip,
    in a batch row by row. A compiled function prints in the branches, loops and rows that its
    outputs need, and what was written outside since `kg.compile` was last called where its inputs
    allow it. `kg.debug` prints, too; the log density of a model does not.

    Derivatives print nothing besides, but a loop that several gradients are taken of may print its
    trips for more than one of them, and so does one that is run again: by a backward pass that
    keeps nothing, or because it made more trips than there was room for.

    Outside of branches, loops and functions that are being traced, a line without arrays is printed
    at once.

    Parameters
    ----------
    *values
        Arrays and structures of them, whose values are printed as NumPy prints them; anything else
        is printed as it is now.
    sep, end
        What stands between the values, and after the last.

    Raises
    ------
    SymbolicError
        If an array of a branch or loop is used outside of it.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.placeholder(name="x")
    >>> def body(v):
    ...     kg.print("now", v)
    ...     return v * x
    >>> (y,) = kg.while_loop(lambda v: v < 10, body, [x])
    >>> f = kg.compile(x, y)
    >>> float(f(3.0))
    now 3.0
    now 9.0
    27.0
    """
    for word, text in (("sep", sep), ("end", end)):
        if not isinstance(text, str):
            raise TypeError(f"print: {word} must be a text, got {in_words(text)}{place_text()}")
    nodes: list[Node] = []
    parts = [_part(value, nodes) for value in values]
    if not nodes and current_context() is None and not top_level().traced:
        builtins.print(*parts, sep=sep, end=end)
        return
    append(lambda state: Print(state, nodes, parts, sep, end))


def _part(value: Any, nodes: list[Node]) -> Any:
    """The value with places for its arrays, which are added to `nodes`; else its text."""
    leaves, _, structure = flatten(value)
    if not any(isinstance(leaf, Array) for leaf in leaves):
        return str(value)

    def place(leaf: Array) -> _Place:
        nodes.append(leaf.node)
        return _Place(len(nodes) - 1)

    return structure.fill(place(leaf) if isinstance(leaf, Array) else leaf for leaf in leaves)
