"""Readers of dataset steps: in a graph, and in plain Python."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..autograph.operators.call import converted
from ..bits.source import event_source
from ..graph.array import Array
from ..graph.control.batch import vmap
from ..graph.control.branches import cond
from ..graph.control.contexts import current_context
from ..graph.control.scan import scan
from ..graph.control.state import Cell, State, top_level
from ..graph.control.structure import flatten
from ..graph.debug import debug
from ..graph.errors import SymbolicTruthError
from ..graph.messages import describe
from ..graph.node import Apply, Data, Node, Operation
from ..graph.operations.operands import as_node
from ..graph.precision import x64
from ..graph.ranges import range as graph_range
from ..graph.source import place_text
from ..streams.operations import advance_stream, draw_node
from ..streams.orders import permutation
from .steps import Map, Numbers, Order, Reach, Shuffle

__all__ = ["Graph", "Plain", "Scratch"]

_FIRST_ROW = Operation("first_row", lambda rows: rows[0])
_INT, _FLOAT = np.dtype(np.int64), np.dtype(np.float64)


class Scratch(Cell):
    """A loop's temporary variable, which the loop sets before it reads it."""

    __slots__ = ()

    def __init__(self, shape: tuple[int, ...], name: str) -> None:
        super().__init__(np.zeros(shape, _INT), name, hidden=True)

    def join(self, versions: Node, inside: Node) -> Node:
        """The first row: after a batched loop the value is not used."""
        return Apply(_FIRST_ROW, (versions,), versions.shape[1:], versions.dtype)


class Graph:
    """Elements as arrays of the graph.

    Each loop over a shuffled dataset takes one draw of its stream. Order p of the loop is that draw
    from the stream whose key is larger by p, so an order can be computed when it is needed, and
    computed again.
    """

    def leaf(self, array: Array) -> Array:
        """The array itself."""
        return array

    def numbers(self, start: int, step: int, length: int) -> Any:
        """The numbers as an array of `kg.range`."""
        return graph_range(start, start + step * length, step)

    def over(self, step: Map, value: Any, shape: tuple[int, ...]) -> Any:
        """Apply the step's function under one `vmap` for each leading axis."""
        if not shape:
            return converted(step.function)(value)
        return vmap(lambda row: self.over(step, row, shape[1:]))(value)

    def order(self, step: Shuffle, reach: Reach) -> Order:
        """The random orders of a loop.

        A single pass has one order. If any of the passes may be read at a time, all orders are
        computed before the loop. Otherwise the loop keeps a window of the orders of the next
        passes.
        """
        state = Array(advance_stream(step.stream.cell))
        length = step.length

        def order(number: Any) -> Array:
            event = state.at[3].add(number.astype("uint32")) if isinstance(number, Array) else state
            shape = (length,)
            node = draw_node("permutation", permutation, event.node, (), shape, _INT, _FLOAT)
            node.stream = step.stream
            return Array(node)

        if reach.passes == 1:
            only = order(0)
            return Order(lambda numbers: only[numbers.places], only)
        if reach.passes is not None and reach.at_once >= reach.passes:
            table = _table(order, np.arange(reach.passes))
            return Order(lambda numbers: table[numbers.passes, numbers.places])

        count = reach.at_once
        first = State(Scratch((), "first order"))
        window = State(Scratch((count, length), "orders"))
        first.assign(-1)  # not a pass, so the first elements compute the window

        def at(numbers: Numbers) -> Any:
            start = Array(as_node(numbers.first))
            window_array = Array(window.node)
            # The new window must not be computed from the old one: XLA would copy the old window in
            # every trip.
            indices = cond(
                start == Array(first.node),
                lambda: window_array,
                lambda: _table(order, start + np.arange(count)),
            )
            window.assign(indices)
            first.assign(start)
            return indices[numbers.passes - start, numbers.places]

        return Order(at)


def _table(order: Callable[[Array], Array], numbers: Any) -> Any:
    """Orders as the rows of a matrix, one for each number."""
    return scan(lambda none, number: (none, order(number)), 0, numbers)[1]


class Plain:
    """Elements as NumPy arrays, for plain Python."""

    def leaf(self, array: Array) -> np.ndarray:
        """The value of an array, which must be data."""
        if not isinstance(array.node, Data):
            raise SymbolicTruthError(
                f"using a symbolic array as Python values is not allowed: the dataset holds "
                f"{describe(array.node)}, whose values are not known now{place_text()}; loop over "
                "it in a function decorated with @kg.function"
            )
        return array.node.value

    def numbers(self, start: int, step: int, length: int) -> Any:
        """The numbers as a NumPy array."""
        return np.arange(length) * step + start

    def over(self, step: Map, value: Any, shape: tuple[int, ...]) -> Any:
        """Apply the step's function to one element after the other."""
        if not shape:
            return _with_values(step.function(value))
        leaves, _, structure = flatten(value)
        rows = [structure.fill(leaf[i] for leaf in leaves) for i in range(shape[0])]
        results = [flatten(self.over(step, row, shape[1:])) for row in rows]
        columns = zip(*(result[0] for result in results), strict=True)
        return results[0][2].fill(np.stack(column) for column in columns)

    def order(self, step: Shuffle, reach: Reach) -> Order:
        """The orders that a compiled function would use.

        Plain loops are counted in the same way as the loops of compiled functions.
        """
        if current_context() is not None or top_level().traced:
            raise SymbolicTruthError(
                f"a shuffled dataset is read as plain Python while a graph is made{place_text()}: "
                "its order would be the same in every call; loop over it with a `for` statement in "
                "converted code"
            )
        words, length, event = step.stream.cell.initial, step.length, step.read
        step.read += 1
        orders: dict[int, np.ndarray] = {}

        def order(number: int) -> np.ndarray:
            if number not in orders:
                with x64():
                    key = words[:4] + np.array([0, 0, 0, number], np.uint32)
                    at = (np.uint32(event), np.uint32(0))
                    source = event_source(tuple(key), at, np.uint32(0), (length,), _FLOAT)
                    orders[number] = np.asarray(permutation(source))
            return orders[number]

        def at(numbers: Numbers) -> Any:
            for number in [n for n in orders if n < numbers.first]:
                del orders[number]
            places = np.asarray(numbers.places)
            passes = np.broadcast_to(numbers.passes, places.shape)
            indices = np.empty(places.shape, _INT)
            for number in np.unique(passes):
                chosen = passes == number
                indices[chosen] = order(int(number))[places[chosen]]
            return indices[()]

        return Order(at)


def _with_values(value: Any) -> Any:
    """The result of a function, with values in place of constant arrays."""
    leaves, _, structure = flatten(value)
    symbolic = [leaf for leaf in leaves if isinstance(leaf, Array)]
    if not symbolic:
        return value
    values = iter(debug(symbolic).values)
    return structure.fill(next(values)[()] if isinstance(v, Array) else v for v in leaves)
