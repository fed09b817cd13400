"""The function `kg.print`: Python's print, when the program runs."""

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
from .public import public
from .saving.document import storable
from .source import place_text
from .value_texts import in_words

if TYPE_CHECKING:
    from .lower import Scope

__all__ = ["Print", "print"]

PRINT = Operation("print", lambda state, *values: state)


@storable
class _PrintPlace:
    """A marker for an array in a structure that is printed."""

    def __init__(self, number: int) -> None:
        self.number = number


class Print(Effect):
    """A line to print, whose parts have markers for arrays."""

    __slots__ = ("end", "parts", "sep")

    def __init__(
        self, state: Node, values: Sequence[Node], parts: Sequence[Any], sep: str, end: str
    ) -> None:
        super().__init__(PRINT, (state, *values))
        self.parts, self.sep, self.end = tuple(parts), sep, end

    def compute(self, tensors: list[Any], scope: "Scope") -> Any:
        """Print the line unless a check has failed; return the state unchanged."""
        state, *values = tensors
        if scope.effects is None:
            return state
        active = True if scope.active is None else scope.active
        if scope.eager:
            return self._show(state, active, *values)
        # The callback returns the state unchanged, but XLA does not know that. So it neither drops
        # the call nor runs it before the previous line. Rows of a batch run one after the other.
        state_type = jax.ShapeDtypeStruct((), state.dtype)
        constants = map(lax.stop_gradient, values)
        return jax.pure_callback(
            self._show, state_type, state, active, *constants, vmap_method="sequential"
        )

    def _show(self, state: Any, active: Any, *values: Any) -> Any:
        if active and not state:
            arrays = [np.asarray(value) for value in values]
            texts = (str(_filled(part, arrays)) for part in self.parts)
            builtins.print(*texts, sep=self.sep, end=self.end)
        return np.asarray(state)


def _filled(part: Any, arrays: Sequence[np.ndarray]) -> Any:
    leaves, _, structure = flatten(part)
    return structure.fill(
        _value(arrays[leaf.number]) if isinstance(leaf, _PrintPlace) else leaf for leaf in leaves
    )


def _value(array: np.ndarray) -> Any:
    """Convert a NumPy number to a Python number, printed without its type."""
    if array.ndim:
        return array
    return float(str(array)) if array.dtype.kind == "f" else array.item()


@public
def print(*values: Any, sep: str = " ", end: str = "\n") -> None:
    """Print values when the program runs, in the way of Python's `print`.

    Lines are printed in the order of the program: in a branch only if the branch is taken, in a
    loop once in each trip, in a batch row by row. A compiled function prints the lines in the
    branches, loops and rows that its outputs need. Of the lines written outside of branches and
    loops since the last call of `kg.compile`, it prints lines that can be computed from its
    inputs. `kg.debug` prints, too; the log density of a model does not.

    Derivatives print no additional lines, with two exceptions. If several gradients are taken of a
    loop, its trips may be printed for more than one of them. A loop that runs again also prints
    again: in a backward pass that stores nothing, or because it made more trips than its capacity.

    Outside of branches, loops and functions that are being traced, a line without arrays is printed
    at once.

    Parameters
    ----------
    *values
        Arrays and structures of arrays, whose values are printed as NumPy prints them. The text of
        any other value is fixed when `kg.print` is called.
    sep, end
        The text between the values, and the text after the last value.

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
    """Replace the arrays of a value by markers.

    The nodes of the arrays are added to `nodes`. A value without arrays becomes its text.
    """
    leaves, _, structure = flatten(value)
    if not any(isinstance(leaf, Array) for leaf in leaves):
        return str(value)

    def place(leaf: Array) -> _PrintPlace:
        nodes.append(leaf.node)
        return _PrintPlace(len(nodes) - 1)

    return structure.fill(place(leaf) if isinstance(leaf, Array) else leaf for leaf in leaves)
