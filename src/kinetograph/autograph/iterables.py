"""Iterables of a staged `for`: elements that are read by their index.

`register_iterable(type, rows)` registers a type, where `rows` gives the `Rows` of an
object. Arrays and `kg.range` are supported from the start; converted code creates `Rows`
for `enumerate`, `zip` and `map` of them.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..graph.array import Array
from ..graph.control.structure import flatten
from ..graph.functions.mathematics import minimum
from ..graph.messages import describe
from ..graph.operations.operands import as_node
from ..graph.public import public
from ..graph.ranges import Range, as_range
from ..graph.source import place_text

__all__ = ["joined", "Rows", "Sequenced", "is_iterable", "register_iterable", "rows_of"]


class Rows(NamedTuple):
    """The elements of an iterable, by index.

    Attributes
    ----------
    length
        The number of elements: a number, an integer scalar array, or None for an endless iterable.
    at
        A function that gives the element at an index, an integer array; called inside the loop.
    xs
        A structure of arrays, if elements are made of the rows of arrays.
    of
        A function that makes the element from a structure of rows; None if the structure is the
        element.
    early_exit
        Whether `break` and `return` may leave the loop.
    done
        Called after the loop with the number of elements that the loop took.
    """

    length: int | Array | None
    at: Callable[[Array], Any]
    xs: Any = None
    of: Callable[[Any], Any] | None = None
    early_exit: bool = True
    done: Callable[[Any], None] | None = None

    def element(self, row: Any) -> Any:
        """The element made from a structure of rows."""
        return row if self.of is None else self.of(row)


_REGISTRY: dict[type, Callable[[Any], Rows]] = {}


@public
def register_iterable(kind: type, rows: Callable[[Any], Rows]) -> None:
    """Convert loops over objects of a type to loops of the graph.

    Parameters
    ----------
    kind
        The type; its subclasses are registered, too.
    rows
        A function that gives the `Rows` of such an object.

    Raises
    ------
    TypeError
        If `kind` is not a type or `rows` cannot be called.

    Examples
    --------
    >>> import kinetograph as kg
    >>> class Evens:
    ...     def __init__(self, count): self.count = count
    ...     def __iter__(self): return iter(range(0, 2 * self.count, 2))
    >>> kg.autograph.register_iterable(
    ...     Evens, lambda e: kg.autograph.Rows(e.count, lambda i: 2 * i))
    >>> @kg.function
    ... def total(x):
    ...     for n in Evens(4):
    ...         x = x + n
    ...     return x
    >>> int(total(0))
    12
    """
    if not isinstance(kind, type):
        raise TypeError(f"register_iterable: {kind!r} is not a type")
    if not callable(rows):
        raise TypeError(f"register_iterable: rows must be callable, got {type(rows).__name__}")
    _REGISTRY[kind] = rows


def rows_of(value: Any) -> Rows | None:
    """The rows of a loop's iterable, or None for a Python loop.

    Raises
    ------
    TypeError
        For an array without axes.
    """
    if isinstance(value, Array):
        return _array_rows(value)
    if isinstance(value, Sequenced):
        return value.rows
    for kind in type(value).__mro__:
        if kind in _REGISTRY:
            return _REGISTRY[kind](value)
    return None


def is_iterable(value: Any) -> bool:
    """Whether a `for` over a value becomes a loop of the graph.

    The rows of the value are not created for this.
    """
    return isinstance(value, (Array, Sequenced)) or any(k in _REGISTRY for k in type(value).__mro__)


class Sequenced:
    """An `enumerate`, `zip` or `map` of arrays."""

    symbolic = True

    def __init__(self, rows: Rows, text: str) -> None:
        self.rows = rows
        self.text = text

    def __iter__(self) -> Any:
        length = self.rows.length
        if not isinstance(length, int):
            raise TypeError(f"the length of {self.text} is not known; loop over it in `for`")
        return (self.rows.at(Array(as_node(np.int64(i)))) for i in range(length))

    def __len__(self) -> int:
        if not isinstance(self.rows.length, int):
            raise TypeError(f"the length of {self.text} is not known")
        return self.rows.length

    def __repr__(self) -> str:
        return self.text


def _array_rows(array: Array) -> Rows:
    if not array.shape:
        raise TypeError(
            f"iterating over a 0-d array: {describe(array.node)}{place_text()} is a single number; "
            "to loop that many times, use kg.range"
        )
    numbers = as_range(array)
    if numbers is not None:
        return Rows(array.shape[0], numbers.at)
    return Rows(array.shape[0], lambda i: array[i], array)


def _range_rows(numbers: Range) -> Rows:
    return Rows(numbers.length, numbers.at)


register_iterable(Range, _range_rows)


def joined(
    parts: Sequence[Rows],
    make: Callable[[tuple[Any, ...]], Any] = lambda elements: elements,
) -> Rows:
    """Join several iterables element by element, as `zip` does.

    The result is as long as the shortest iterable.
    """
    length = shortest([part.length for part in parts])
    early_exit = all(part.early_exit for part in parts)
    ends = [part.done for part in parts if part.done is not None]

    def at(i: Array) -> Any:
        return make(tuple(part.at(i) for part in parts))

    def done(count: Any) -> None:
        for end in ends:
            end(count)

    if not isinstance(length, int) or any(part.xs is None for part in parts):
        return Rows(length, at, early_exit=early_exit, done=done)
    xs = tuple(_cut(part.xs, length) for part in parts)

    def of(rows: Any) -> Any:
        return make(tuple(p.element(row) for p, row in zip(parts, rows, strict=True)))

    return Rows(length, at, xs, of, early_exit, done)


def _cut(xs: Any, length: Any) -> Any:
    leaves, _, structure = flatten(xs)
    return structure.fill([x if x.shape[0] == length else x[:length] for x in leaves])


def shortest(lengths: Sequence[int | Array | None]) -> int | Array | None:
    """The smallest of some lengths.

    Lengths may be symbolic; None is an endless iterable.
    """
    numbers = [n for n in lengths if isinstance(n, int)]
    smallest: int | Array | None = min(numbers) if numbers else None
    for length in lengths:
        if isinstance(length, Array):
            smallest = length if smallest is None else minimum(length, smallest)
    return smallest
