"""Writing into arrays of the graph, visible under all names.

As in NumPy, all names of an array see a write. A `kg.Array` is a handle: writing lets it refer to
another node. All holders of the handle see the new values: the caller of a function, an object, a
list. Views of the array (`x[1:]`) see them, too. In a branch of a staged statement this lasts until
the branch has been built; then the handle refers to its old node again. The variables of the
statement get their new values after it. Other names of the array become `Overwritten`: their values
are not known, and reading one is an error.

Writing into a view is refused, because the array of the view would not see the change.
"""

import threading
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from ...graph.array import Array
from ...graph.errors import StagingError
from ...graph.hooks import ON_IN_PLACE
from ...graph.messages import describe
from ...graph.node import Apply, Handle, Node, next_serial
from ...graph.source import place_text
from ..calling import CALLING
from .shared_objects import refuse_second_name

__all__ = ["Overwritten", "WriteLog", "overwrite", "refuse_fixed", "write"]

_NODE: Any = Handle.__dict__["node"]


class Overwritten(Array):
    """An array into which a staged statement has written by another name."""

    __slots__ = ()

    @property
    def node(self) -> Node:  # type: ignore[override]
        raise StagingError(
            f"an array is used{place_text()} that has changed under another name: its items were "
            f"assigned{_NODE.__get__(self)} in a branch or loop of the graph, and only the "
            "variable there has the new values. Return the array from the function that changes "
            "it and assign it (x = change(x)), or change a copy: x.copy()"
        )


class _Entry(NamedTuple):
    handle: Array
    kind: type[Array]
    content: Any  # the node; for an `Overwritten` one, the place of the write
    place: str


class _Journal(threading.local):
    def __init__(self) -> None:
        self.entries: list[_Entry] | None = None  # None: no staged statement is being built


_JOURNAL = _Journal()


class WriteLog:
    """The writes of a branch, which are undone at its end.

    It is used in a `with`.
    """

    def __init__(self) -> None:
        self.handles: dict[int, _Entry] = {}

    def __enter__(self) -> "WriteLog":
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
        """Refuse writes into outer arrays that the loop does not carry.

        Raises
        ------
        StagingError
            If there is one. The message names the line.
        """
        for entry in self.handles.values():
            if isinstance(entry.content, Node) and entry.content.serial < self.start:
                raise StagingError(
                    f"items of an array are assigned{entry.place} that is not a variable of this "
                    f"staged {statement}: each trip would begin with the old array. Return the "
                    "array from the function that changes it and assign it (x = change(x)), or "
                    "change a copy: x.copy()"
                )

    def close(self) -> None:
        """Make other names of the written arrays unreadable, after the statement."""
        for entry in self.handles.values():
            overwrite(entry.handle, entry.place)


def snapshot(array: Any) -> Any:
    """A separate handle for an array that the branch has written into."""
    entries = _JOURNAL.entries or ()
    if isinstance(array, Array) and any(entry.handle is array for entry in entries):
        return Array(array.node)
    return array


@contextmanager
def seen_as(pairs: Iterable[tuple[Array, Array]]) -> Iterator[None]:
    """Let handles refer to other handles' nodes, in a `with`.

    Views of the handles refer to views of these nodes.
    """
    old_nodes: list[tuple[Array, Node]] = []
    for handle, replacement in pairs:
        old_node = handle.node
        for view in (handle, *handle._living_parts()):
            node = _seen_through(view.node, old_node, replacement.node)
            if node is not None:
                old_nodes.append((view, view.node))
                _NODE.__set__(view, node)
    try:
        yield
    finally:
        for handle, node in reversed(old_nodes):
            _NODE.__set__(handle, node)


def may_be(array: Any, candidates: Iterable[Any]) -> Any:
    """Mark an array as possibly equal to some arrays, or their rows."""
    if isinstance(array, Array) and array.shape:
        bases = [
            candidate
            for candidate in candidates
            if isinstance(candidate, Array) and candidate is not array
        ]
        if bases:
            array._base = tuple(map(weakref.ref, bases))
    return array


def was_written(array: Array) -> str | None:
    """The place where the current branch wrote into a handle, if any."""
    for entry in _JOURNAL.entries or ():
        if entry.handle is array:
            return entry.place
    return None


def _put(handle: Array, kind: type[Array], content: Any) -> None:
    handle.__class__ = kind
    _NODE.__set__(handle, content)


def _change(handle: Array, kind: type[Array], content: Any, place: str) -> None:
    if _JOURNAL.entries is not None:
        entry = _Entry(handle, type(handle), _NODE.__get__(handle), place)
        _JOURNAL.entries.append(entry)
    _put(handle, kind, content)


def refuse_fixed(array: Any, place: str) -> None:
    """Refuse to write into an array that must not change.

    Raises
    ------
    StagingError
        If the array is fixed. The message names the line.
    """
    if isinstance(array, Array) and array.fixed:
        raise StagingError(
            f"items of {describe(array.node)} are assigned{place}, but it cannot be changed: "
            f"{array.fixed}"
        )


def write(array: Array, after: Array) -> Array:
    """Let a handle refer to an array with changed items.

    Returns the handle.

    Raises
    ------
    StagingError
        If the array is fixed, or a view of another array that still exists.
    """
    place = place_text()
    refuse_fixed(array, place)
    if array._of() is not None:
        raise StagingError(
            f"items of an array are assigned{place} that is a view of another array, a row or a "
            "slice, or perhaps that array itself: NumPy would change the other array, too. Assign "
            "to the array itself, as in x[1:][0] = v or x[i, 0] = v, or work on a copy: .copy()"
        )
    refuse_second_name(array)
    old_node, new_node = array.node, after.node
    _change(array, Array, new_node, place)
    for part in array._living_parts():
        if isinstance(part, Overwritten):
            continue
        view_node = _seen_through(part.node, old_node, new_node)
        if view_node is None:
            _change(part, Overwritten, place, place)
        else:
            _change(part, Array, view_node, place)
    return array


def _seen_through(part: Node, before: Node, after: Node) -> Node | None:
    """The node of a view of `before`, as a view of `after`.

    None if the node is not a view of `before`.
    """
    if part is before:
        return after
    if not isinstance(part, Apply) or not part.parents:
        return None
    base = _seen_through(part.parents[0], before, after)
    if base is None:
        return None
    parents = (base, *part.parents[1:])
    return Apply(part.operation, parents, part.shape, part.dtype, part.attributes)


def overwrite(array: Any, place: str) -> None:
    """Make a handle, and views of it, unreadable."""
    if type(array) is Array:
        for handle in (array, *array._living_parts()):
            _change(handle, Overwritten, place, place)


@ON_IN_PLACE.fill
def _in_place(array: Array, after: Array) -> Array:
    """Augmented assignment in converted code, such as `x += v`.

    Arrays are changed in place, numbers are not.
    """
    same = after.shape == array.shape and after.dtype == array.dtype
    return write(array, after) if CALLING.depth and array.shape and same else after
