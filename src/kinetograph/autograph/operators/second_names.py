"""Lists, dictionaries, dataclasses and arrays that may be one and the same under two names.

After `if c: kept = held`, with a condition of the graph, `kept` is a new list or array, which holds
what `held` held if the branch was taken. In Python it would be `held` itself, so that what is
written into one is seen in the other. Which objects may be one is noted here; to write into one is
refused as long as the user's functions can reach the other.

The notes are kept while a converted function runs that a user called.
"""

import threading
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ...graph.array import Array
from ...graph.errors import StagingError
from ...graph.source import place_text
from .aliases import original_of
from .reach import RETURNED, reachable

__all__ = [
    "changed_owner",
    "comes_from",
    "forget_names",
    "has_been_changed",
    "is_container",
    "is_written_into",
    "kind_of",
    "linked",
    "note",
    "note_changed",
    "note_one",
    "refuse_second_name",
    "same_as",
    "stands_for",
]

_CONTAINERS = (list, dict)
_KINDS: dict[Any, tuple[str, str]] = {
    list: ("a list", "list(...)"),
    dict: ("a dictionary", "dict(...)"),
}
_MANY = 64


def is_container(value: Any) -> bool:
    """Whether something holds others that can be exchanged: also a dataclass that is not frozen."""
    parameters = getattr(type(value), "__dataclass_params__", None)
    return isinstance(value, _CONTAINERS) or (parameters is not None and not parameters.frozen)


def is_written_into(value: Any) -> bool:
    """Whether something can be changed in place, as far as notes are taken."""
    if type(value) is Array or isinstance(value, np.ndarray):
        return bool(value.shape)
    return isinstance(value, Array) or is_container(value)


class _Name:
    """An object that may be another one, too."""

    __slots__ = ("__weakref__", "first", "owner", "was")

    def __init__(self, value: Any, owner: Callable[[], Any]) -> None:
        self.owner = owner
        self.first: set[_Name] = {self}  # what it may have been before
        self.was: _Name | None = None  # what it surely was


class _Names(threading.local):
    def __init__(self) -> None:
        self.known: dict[int, _Name] = {}
        self.changed: set[_Name] = set()  # in place, on a way that has been built


_NAMES = _Names()


def forget_names() -> None:
    """Forget all notes, at the end of a call."""
    _NAMES.known.clear()
    _NAMES.changed.clear()


def _name(value: Any) -> _Name:
    known = _NAMES.known
    name = known.get(id(value))
    if name is not None and name.owner() is value:
        return name
    if is_container(value):
        name = _Name(value, lambda: value)
    else:
        number = id(value)

        def drop(_: object, known: dict[int, _Name] = known, number: int = number) -> None:
            known.pop(number, None)

        name = _Name(value, weakref.ref(value, drop))
    known[id(value)] = name
    base = _base(value)
    if base is not None:
        name.first |= _name(base).first
    return name


def _base(value: Any) -> Any:
    """What an array is a view of."""
    if type(value) is Array:
        return value._of()
    base = value.base if isinstance(value, np.ndarray) else None
    return base if isinstance(base, np.ndarray) else None


def note(result: Any, others: Sequence[Any]) -> None:
    """Note that an object may be another one."""
    first: set[_Name] = set()
    for other in others:
        if is_written_into(other):
            first |= _name(other).first
    if first:
        _name(result).first |= first if len(first) < _MANY else _needed(first, others)


def _needed(first: set[_Name], others: Sequence[Any]) -> set[_Name]:
    """Without what is no more and no third object may be."""
    numbers = set(map(id, others))
    third = [n.first for number, n in _NAMES.known.items() if number not in numbers]
    shared = set().union(*third)
    return {n for n in first if n.owner() is not None or n in shared}


def linked(one: Any, other: Any) -> bool:
    """Whether two objects may be one and the same."""
    return one is other or not _firsts(one).isdisjoint(_firsts(other))


def _firsts(value: Any) -> set[_Name]:
    name = _NAMES.known.get(id(value))
    if name is not None and name.owner() is value:
        return name.first
    base = _base(value)
    return set() if base is None else _firsts(base)


def _owners(names: set[_Name], root: Any = None) -> set[int]:
    """The numbers of the objects that may be one of these, but surely not that of the root."""
    known = [(n.owner(), n.first) for n in [*_NAMES.known.values()] if _root(n.owner()) is not root]
    return {
        id(owner)
        for owner, first in known
        if not (
            owner is None
            or first.isdisjoint(names)
            or (isinstance(owner, Array) and type(owner) is not Array)
        )
    }


def _root(value: Any) -> Any:
    """What stands for the same object surely: the first of its handles."""
    name = _NAMES.known.get(id(value))
    if name is None or name.owner() is not value:
        return value
    while name.was is not None:
        name = name.was
    return name


def comes_from(value: Any, before: Any) -> bool:
    """Whether a handle is another one, or what it became when it was written into."""
    if value is before:
        return True
    name, earlier = _NAMES.known.get(id(value)), _NAMES.known.get(id(before))
    while name is not None and name is not earlier:
        name = name.was
    return name is not None


def stands_for(array: Array, before: Any) -> None:
    """Note that an array in a loop is one from outside."""
    original = original_of(before) if type(before) is Array else None
    before = before if original is None else original
    if array.shape and is_written_into(before):
        name, outer = _name(array), _name(before)
        name.first |= outer.first
        name.was = outer


def same_as(value: Any) -> set[int]:
    """The numbers of all objects that an object may be."""
    return {id(value), *_owners(_firsts(value))}


def refuse_second_name(value: Any) -> None:
    """Refuse to change an object that may be one that the user's functions reach by another name.

    Raises
    ------
    StagingError
        It gives the other name.
    """
    if not _NAMES.known or not is_written_into(value):
        return
    original = original_of(value) if type(value) is Array else None
    value = value if original is None else original
    own = _firsts(value)
    if not own:
        return
    others = _owners(own, _root(value))
    if not others:
        return
    for number, variable in reachable():
        if number in others:
            returned = variable.startswith(RETURNED)
            kind, copy = kind_of(value)
            raise StagingError(
                f"{kind} is changed{place_text()} that may be the same one as "
                f"{'the function returns' if returned else f'{variable!r} holds'}: after one way "
                "through a staged branch or loop it is, after another it is not, so that Python "
                f"would change both or one. Let one of them be a copy, by {copy}"
            )


def changed_owner(value: Any) -> Any:
    """Give back an object of which an attribute is to be assigned, unless that is refused."""
    refuse_second_name(value)
    return value


def kind_of(value: Any) -> tuple[str, str]:
    """What an object is called, and how it is copied."""
    if hasattr(type(value), "__dataclass_params__"):
        return f"a {type(value).__name__}", "copy.copy(...)"
    return _KINDS.get(type(value), ("an array", ".copy()"))


def note_one(result: Any, value: Any) -> None:
    """Note that an array surely is another one, after it has been written into."""
    note(result, [value])
    _name(result).was = _name(value)


def note_changed(objects: Iterable[Any]) -> None:
    """Note that objects have been changed in place, on a way that has been built."""
    _NAMES.changed.update(map(_name, objects))


def has_been_changed(value: Any) -> bool:
    """Whether an object has been changed in place on a way that has been built."""
    return _NAMES.known.get(id(value)) in _NAMES.changed
