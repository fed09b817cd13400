"""The objects that variables hold, as the ways of a staged statement leave them.

Where all ways leave one and the same list or dictionary, it gets the new content; where they leave
different ones, the variable holds a new one, which may be either.
"""

import operator
from collections.abc import Container, Iterator, Sequence
from typing import Any, NamedTuple

from ...graph.array import Array
from ...graph.control.structure import opened
from ...graph.errors import StagingError
from ...graph.source import place_text
from .aliases import original_of
from .reach import reachable
from .second_names import (
    has_been_changed,
    is_container,
    is_written_into,
    kind_of,
    linked,
    note,
    note_changed,
    note_one,
)
from .undefined import Maybe, Undefined

__all__ = [
    "Owned",
    "changed_in",
    "has_changed",
    "owned",
    "places",
    "refilled",
    "refuse_left",
    "second_name",
    "settled",
]


class Owned(NamedTuple):
    """An object and the parts of it, as one way of a staged statement leaves them."""

    held: Any
    parts: "tuple[Owned, ...]" = ()


def owned(held: Any) -> Owned | None:
    """The objects that a variable holds; None if it is not bound."""
    if isinstance(held, Undefined):
        return None
    if isinstance(held, Maybe):
        held = held.value
    found = opened(held)
    if found is None:
        if type(held) is Array:
            original = original_of(held)
            return Owned(held if original is None else original)
        return Owned(held)
    return Owned(held, tuple(Owned(None) if p is None else p for p in map(owned, found[1])))


def settled(result: Any, ways: Sequence[Owned | None], written: Container[int] = ()) -> Any:
    """What a variable holds after a staged statement of which the ways leave these objects.

    `result` is its new value. A list or dictionary that all ways leave gets the new content, and an
    array that all leave stays what it is, but for those into which has been `written`.
    """
    if isinstance(result, Maybe):
        result.value = settled(result.value, [*ways, None], written)
        return result
    known = [way for way in ways if way is not None]
    if isinstance(result, Undefined) or not known or any(way.held is result for way in known):
        return result
    first = known[0].held
    one = len(known) == len(ways) and all(way.held is first for way in known)
    found = opened(result)
    if found is None:
        if not is_written_into(result):
            return result
        if one and type(first) is Array and id(first) not in written:
            return first
        if one:
            note_one(result, first)
        else:
            note(result, [way.held for way in known])
        return result
    _, content, make = found
    inner = [
        settled(
            part,
            [way.parts[i] if i < len(way.parts) else None for way in (*known, *missing)],
            written,
        )
        for missing in [[Owned(None)] * (len(ways) - len(known))]
        for i, part in enumerate(content)
    ]
    same = all(map(operator.is_, inner, content))
    made = result if same else make(inner)
    if not is_container(result):
        return made
    if one and type(first) is type(made):
        if isinstance(made, (list, dict)):
            return _refilled(first, made)
        if all(map(operator.is_, _parts(first), _parts(made))):
            return first
    note(made, [way.held for way in known])
    return made


def refilled(
    value: Any, start: Owned | None, parted: Container[tuple[int, ...]], place: tuple[int, ...]
) -> Any:
    """The lists and dictionaries that a loop begins with, with other contents.

    At the places that are parted these are others, which may be the same under another name.
    """
    found = opened(value)
    if start is None or found is None:
        return value
    _, content, make = found
    parts = [*start.parts, *[None] * len(content)]
    inner = [refilled(part, parts[i], parted, (*place, i)) for i, part in enumerate(content)]
    made = value if all(map(operator.is_, inner, content)) else make(inner)
    if not is_container(value):
        return made
    if isinstance(value, (list, dict)) and place not in parted and type(start.held) is type(value):
        return _refilled(start.held, made)
    note(made, [start.held])
    return made


def _refilled(held: Any, content: Any) -> Any:
    if isinstance(held, list):
        held[:] = content
    else:
        held.clear()
        held.update(content)
    return held


def places(
    begun: Owned | None, end: Owned | None, place: tuple[int, ...]
) -> Iterator[tuple[tuple[int, ...], Owned, Any]]:
    """What is at the same places of a variable as an iteration begins and ends."""
    if begun is None or end is None:
        return
    if is_written_into(begun.held) and is_written_into(end.held):
        yield place, begun, end.held
    for i, (one, other) in enumerate(zip(begun.parts, end.parts, strict=False)):
        yield from places(one, other, (*place, i))


def changed_in(pairs: Sequence[tuple[str, Owned, Any]], arrays: Sequence[Array]) -> set[int]:
    """The numbers of the objects that an iteration changes in place.

    `pairs` are variables' objects as it begins and ends, `arrays` those that it has written into.
    """
    changed = {id(begun.held) for _, begun, _ in pairs if has_changed(begun)}
    return changed.union(map(id, arrays))


def second_name(
    pairs: Sequence[tuple[str, Owned, Any]], changed: Container[int]
) -> tuple[str, str] | None:
    """The variables of which an iteration makes two names of one object that changes, if any."""
    for i, (name, begun, end) in enumerate(pairs if changed else ()):
        for other, before, after in pairs[:i]:
            ends = linked(end, after) and not linked(begun.held, before.held)
            if ends and (id(begun.held) in changed or id(before.held) in changed):
                return name, other
    return None


def has_changed(begun: Owned) -> bool:
    """Whether a list or dictionary holds other things than as an iteration began."""
    held = begun.held
    if not is_container(held):
        return False
    if has_been_changed(held):
        return True
    content = _parts(held)
    parts = [part.held for part in begun.parts]
    return len(content) != len(parts) or not all(map(operator.is_, content, parts))


def _parts(held: Any) -> Sequence[Any]:
    found = opened(held)
    return () if found is None else found[1]


def refuse_left(changed: dict[int, Any], variables: Sequence[Any]) -> None:
    """Refuse that one way has changed an object in place, and that another name of it is left.

    `changed` are those objects; where a variable still holds one, it has the new content.

    Raises
    ------
    StagingError
        It gives the other name.
    """
    for value in variables:
        tree = owned(value)
        for _, found, _ in places(tree, tree, ()):
            changed.pop(id(found.held), None)
    if not changed:
        return
    note_changed(changed.values())
    for number, variable in reachable():
        if number in changed:
            raise StagingError(
                f"{variable!r} holds {kind_of(changed[number])[0]} that one way through a "
                f"staged branch{place_text()} changes in place under another name, which then "
                "stands for another object. Let one of them be a copy, by list(...) or dict(...)"
            )
