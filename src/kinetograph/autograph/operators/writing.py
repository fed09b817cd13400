"""Writing into arrays of the graph, so that all names of an array see it, as in NumPy.

A `kg.Array` is a handle: writing lets it stand for another node. Whoever holds the same handle, the
caller of a function, an object or a list, sees the new values, and so do views of it (`x[1:]`). In
a way of a staged statement that holds until the way has been built; then the handle is as before.
The variables of the statement get their new values after it; other names for what was written are
`Overwritten`: their values are not known, and reading one is an error.

To write into a view is refused, for the array that it is a part of would not see it.
"""

import threading
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from ...graph.array import Array
from ...graph.errors import StagingError
from ...graph.messages import describe
from ...graph.node import Apply, Handle, Node, next_serial
from ...graph.operators import IN_PLACE
from ...graph.source import place_text
from ..calling import CALLING
from .second_names import refuse_second_name

__all__ = ["Overwritten", "Written", "overwrite", "refuse_fixed", "write"]

_NODE: Any = Handle.__dict__["node"]


class Overwritten(Array):
    """A name for an array that a staged statement has written into by another name."""

    __slots__ = ()

    @property
    def node(self) -> Node:  # type: ignore[override]
        raise StagingError(
            f"an array is used{place_text()} that has changed under another name: its items were "
            f"assigned{_NODE.__get__(self)} in a branch or loop of the graph, of which only the "
            "variable there has the new values. Return the array from the function that changes "
            "it and assign it (x = change(x)), or change a copy: x.copy()"
        )


class _Entry(NamedTuple):
    handle: Array
    kind: type[Array]
    content: Any  # the node, or where an `Overwritten` one was written
    place: str


class _Journal(threading.local):
    def __init__(self) -> None:
        self.entries: list[_Entry] | None = None  # None: nothing staged is being built


_JOURNAL = _Journal()


class Written:
    """What a way of a staged statement writes into, in a `with`: undone at its end."""

    def __init__(self) -> None:
        self.handles: dict[int, _Entry] = {}

    def __enter__(self) -> "Written":
        self.start = next_serial()
        self.outer, _JOURNAL.entries = _JOURNAL.entries, []
        return self

    def __exit__(self, *_: object) -> None:
        entries = _JOURNAL.entries or []
        _JOURNAL.entries = self.outer
        for entry in reversed(entries):
            _put(entry.handle, entry.kind, entry.content)
            self.handles[id(entry.handle)] = entry

    def refuse_outer(self, statement: str) -> None:
        """Refuse to have written into arrays from outside that are no variables of a loop.

        Raises
        ------
        StagingError
            It names the line.
        """
        for entry in self.handles.values():
            if isinstance(entry.content, Node) and entry.content.serial < self.start:
                raise StagingError(
                    f"items of an array are assigned{entry.place} that is no variable of this "
                    f"staged {statement}: each trip would begin with the old array. Return the "
                    "array from the function that changes it and assign it (x = change(x)), or "
                    "change a copy: x.copy()"
                )

    def close(self) -> None:
        """After the statement: names for what was written are not to be read."""
        for entry in self.handles.values():
            overwrite(entry.handle, entry.place)


def snapshot(array: Any) -> Any:
    """A handle of its own for an array that is written into while a way is built."""
    entries = _JOURNAL.entries or ()
    if isinstance(array, Array) and any(entry.handle is array for entry in entries):
        return Array(array.node)
    return array


@contextmanager
def seen_as(pairs: Iterable[tuple[Array, Array]]) -> Iterator[None]:
    """Let handles, and views of them, stand for the nodes of other ones, in a `with`."""
    kept: list[tuple[Array, Node]] = []
    for handle, other in pairs:
        before = handle.node
        for each in (handle, *handle._living_parts()):
            node = _seen_through(each.node, before, other.node)
            if node is not None:
                kept.append((each, each.node))
                _NODE.__set__(each, node)
    try:
        yield
    finally:
        for handle, node in reversed(kept):
            _NODE.__set__(handle, node)


def may_be(array: Any, others: Iterable[Any]) -> Any:
    """An array that is one of others, or a row of one, when the program runs."""
    if isinstance(array, Array) and array.shape:
        bases = [other for other in others if isinstance(other, Array) and other is not array]
        if bases:
            array._base = tuple(map(weakref.ref, bases))
    return array


def was_written(array: Array) -> str | None:
    """Where a handle was written into in the way that is being built, if so."""
    for entry in _JOURNAL.entries or ():
        if entry.handle is array:
            return entry.place
    return None


def _put(handle: Array, kind: type[Array], content: Any) -> None:
    handle.__class__ = kind
    _NODE.__set__(handle, content)


def _change(handle: Array, kind: type[Array], content: Any, place: str) -> None:
    if _JOURNAL.entries is not None:
        before = _Entry(handle, type(handle), _NODE.__get__(handle), place)
        _JOURNAL.entries.append(before)
    _put(handle, kind, content)


def refuse_fixed(array: Any, place: str) -> None:
    """Refuse to write into an array that says that it must stay as it is.

    Raises
    ------
    StagingError
        It names the line.
    """
    if isinstance(array, Array) and array.fixed:
        raise StagingError(
            f"items of {describe(array.node)} are assigned{place}, which cannot be changed: "
            f"{array.fixed}"
        )


def write(array: Array, after: Array) -> Array:
    """Let a handle stand for an array whose items have changed; gives the handle.

    Raises
    ------
    StagingError
        If it is fixed, or a view of another array that is still there.
    """
    place = place_text()
    refuse_fixed(array, place)
    if array._of() is not None:
        raise StagingError(
            f"items of an array are assigned{place} that is a view of another array, a row or a "
            "slice, or perhaps that array itself: NumPy would change that one, too. Assign to the "
            "array itself, as in x[1:][0] = v or x[i, 0] = v, or work on a copy: .copy()"
        )
    refuse_second_name(array)
    before, node = array.node, after.node
    _change(array, Array, node, place)
    for part in array._living_parts():
        if isinstance(part, Overwritten):
            continue
        seen = _seen_through(part.node, before, node)
        if seen is None:
            _change(part, Overwritten, place, place)
        else:
            _change(part, Array, seen, place)
    return array


def _seen_through(part: Node, before: Node, after: Node) -> Node | None:
    """The node of a view of `before`, of `after` instead."""
    if part is before:
        return after
    if not isinstance(part, Apply) or not part.parents:
        return None
    first = _seen_through(part.parents[0], before, after)
    if first is None:
        return None
    parents = (first, *part.parents[1:])
    return Apply(part.operation, parents, part.shape, part.dtype, part.attributes)


def overwrite(array: Any, place: str) -> None:
    """Make a handle, and views of it, unreadable."""
    if type(array) is Array:
        for handle in (array, *array._living_parts()):
            _change(handle, Overwritten, place, place)


def _in_place(array: Array, after: Array) -> Array:
    """`x += v` and the like, in converted code: arrays are changed, numbers are not."""
    same = after.shape == array.shape and after.dtype == array.dtype
    return write(array, after) if CALLING.depth and array.shape and same else after


IN_PLACE.append(_in_place)
