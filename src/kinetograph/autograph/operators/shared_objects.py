"""Records of objects that may be the same under two names.

The objects are lists, dictionaries, dataclasses and arrays. After `if c: a = b`, with a condition
of the graph, `a` is a new list or array, with the content of `b` if the branch was taken. In Python
`a` would be `b` itself, so that a change through one name is visible through the other. Pairs of
such objects are recorded here. Writing into one is refused while the user's functions can reach the
other.

The records are kept until the outermost converted function returns.
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
from .reachable import RETURNED, reachable

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
_MANY = 64  # number of origins from which unneeded ones are removed


def is_container(value: Any) -> bool:
    """Whether an object has exchangeable parts.

    These are lists, dictionaries and dataclasses that are not frozen.
    """
    parameters = getattr(type(value), "__dataclass_params__", None)
    return isinstance(value, _CONTAINERS) or (parameters is not None and not parameters.frozen)


def is_written_into(value: Any) -> bool:
    """Whether changes in place of an object are recorded."""
    if type(value) is Array or isinstance(value, np.ndarray):
        return bool(value.shape)
    return isinstance(value, Array) or is_container(value)


class _Identity:
    """An object that may be one of several earlier objects."""

    __slots__ = ("__weakref__", "origins", "owner", "source")

    def __init__(self, value: Any, owner: Callable[[], Any]) -> None:
        self.owner = owner
        self.origins: set[_Identity] = {self}  # the objects that it may be
        self.source: _Identity | None = None  # the object that it certainly is


class _Records(threading.local):
    def __init__(self) -> None:
        self.entries: dict[int, _Identity] = {}
        self.changed: set[_Identity] = set()  # changed in place in a branch that was built


_RECORDS = _Records()


def forget_names() -> None:
    """Delete all records, at the end of a call."""
    _RECORDS.entries.clear()
    _RECORDS.changed.clear()


def _identity(value: Any) -> _Identity:
    entries = _RECORDS.entries
    identity = entries.get(id(value))
    if identity is not None and identity.owner() is value:
        return identity
    if is_container(value):
        identity = _Identity(value, lambda: value)
    else:
        key = id(value)

        def drop(_: object, entries: dict[int, _Identity] = entries, key: int = key) -> None:
            entries.pop(key, None)

        identity = _Identity(value, weakref.ref(value, drop))
    entries[id(value)] = identity
    base = _base(value)
    if base is not None:
        identity.origins |= _identity(base).origins
    return identity


def _base(value: Any) -> Any:
    """The array that an array is a view of, if any."""
    if type(value) is Array:
        return value._of()
    base = value.base if isinstance(value, np.ndarray) else None
    return base if isinstance(base, np.ndarray) else None


def note(result: Any, candidates: Sequence[Any]) -> None:
    """Record that an object may be any of some other objects."""
    origins: set[_Identity] = set()
    for candidate in candidates:
        if is_written_into(candidate):
            origins |= _identity(candidate).origins
    if origins:
        _identity(result).origins |= (
            origins if len(origins) < _MANY else _needed(origins, candidates)
        )


def _needed(origins: set[_Identity], candidates: Sequence[Any]) -> set[_Identity]:
    """The origins that still matter.

    Origins that no longer exist are removed, unless a third object may also be one of them.
    """
    ids = set(map(id, candidates))
    other_origins = [n.origins for key, n in _RECORDS.entries.items() if key not in ids]
    shared = set().union(*other_origins)
    return {n for n in origins if n.owner() is not None or n in shared}


def linked(one: Any, other: Any) -> bool:
    """Whether two objects may be one and the same."""
    return one is other or not _origins(one).isdisjoint(_origins(other))


def _origins(value: Any) -> set[_Identity]:
    """The objects that an object may be."""
    identity = _RECORDS.entries.get(id(value))
    if identity is not None and identity.owner() is value:
        return identity.origins
    base = _base(value)
    return set() if base is None else _origins(base)


def _owners(origins: set[_Identity], root: Any = None) -> set[int]:
    """The ids of the objects that may be one of these origins.

    Objects that certainly are the root are left out.
    """
    pairs = [
        (n.owner(), n.origins) for n in [*_RECORDS.entries.values()] if _root(n.owner()) is not root
    ]
    return {
        id(owner)
        for owner, owner_origins in pairs
        if not (
            owner is None
            or owner_origins.isdisjoint(origins)
            or (isinstance(owner, Array) and type(owner) is not Array)
        )
    }


def _root(value: Any) -> Any:
    """The first handle of the object that a value certainly is."""
    identity = _RECORDS.entries.get(id(value))
    if identity is None or identity.owner() is not value:
        return value
    while identity.source is not None:
        identity = identity.source
    return identity


def comes_from(value: Any, earlier_value: Any) -> bool:
    """Whether two handles are the same, or the first succeeds the second.

    A handle has a successor after writing.
    """
    if value is earlier_value:
        return True
    identity, earlier_identity = (
        _RECORDS.entries.get(id(value)),
        _RECORDS.entries.get(id(earlier_value)),
    )
    while identity is not None and identity is not earlier_identity:
        identity = identity.source
    return identity is not None


def stands_for(array: Array, outer_array: Any) -> None:
    """Record that an array in a loop represents an outer array."""
    original = original_of(outer_array) if type(outer_array) is Array else None
    outer_array = outer_array if original is None else original
    if array.shape and is_written_into(outer_array):
        identity, outer_identity = _identity(array), _identity(outer_array)
        identity.origins |= outer_identity.origins
        identity.source = outer_identity


def same_as(value: Any) -> set[int]:
    """The ids of all objects that an object may be."""
    return {id(value), *_owners(_origins(value))}


def refuse_second_name(value: Any) -> None:
    """Refuse to change an object that may have another name.

    Raises
    ------
    StagingError
        If the user's functions can reach such an object. The message gives the other name.
    """
    if not _RECORDS.entries or not is_written_into(value):
        return
    original = original_of(value) if type(value) is Array else None
    value = value if original is None else original
    origins = _origins(value)
    if not origins:
        return
    candidates = _owners(origins, _root(value))
    if not candidates:
        return
    for key, variable in reachable():
        if key in candidates:
            returned = variable.startswith(RETURNED)
            kind, copy = kind_of(value)
            raise StagingError(
                f"{kind} is changed{place_text()} that may be the object that "
                f"{'the function returns' if returned else f'{variable!r} refers to'}: this "
                "depends on a staged branch or loop, so that Python would change both or only "
                f"one. Make one of them a copy, by {copy}"
            )


def changed_owner(value: Any) -> Any:
    """Return the owner of an attribute to assign, unless that is refused."""
    refuse_second_name(value)
    return value


def kind_of(value: Any) -> tuple[str, str]:
    """An object's kind in messages, and the way to copy it."""
    if hasattr(type(value), "__dataclass_params__"):
        return f"a {type(value).__name__}", "copy.copy(...)"
    return _KINDS.get(type(value), ("an array", ".copy()"))


def note_one(result: Any, earlier: Any) -> None:
    """Record that an array certainly is an earlier array after writing."""
    note(result, [earlier])
    _identity(result).source = _identity(earlier)


def note_changed(objects: Iterable[Any]) -> None:
    """Record that a branch that was built changes objects in place."""
    _RECORDS.changed.update(map(_identity, objects))


def has_been_changed(value: Any) -> bool:
    """Whether a branch that was built changes an object in place."""
    return _RECORDS.entries.get(id(value)) in _RECORDS.changed
