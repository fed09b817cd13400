"""Trees of the objects in variables, at the end of a branch.

If all branches of a staged statement leave the same list or dictionary in a variable, this object
gets the new content. If they leave different objects, the variable gets a new object, which may be
any of them.
"""

import operator
from collections.abc import Container, Iterator, Sequence
from typing import Any, NamedTuple

from ...graph.array import Array
from ...graph.control.structure import opened
from ...graph.errors import StagingError
from ...graph.source import place_text
from .aliases import original_of
from .reachable import reachable
from .shared_objects import (
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
    "ObjectTree",
    "changed_in",
    "has_changed",
    "object_tree",
    "places",
    "refilled",
    "refuse_left",
    "second_name",
    "settled",
]


class ObjectTree(NamedTuple):
    """An object and its parts, at the end of a branch."""

    object: Any
    parts: "tuple[ObjectTree, ...]" = ()


def object_tree(value: Any) -> ObjectTree | None:
    """The tree of a variable's value; None if it is unbound."""
    if isinstance(value, Undefined):
        return None
    if isinstance(value, Maybe):
        value = value.value
    opened_value = opened(value)
    if opened_value is None:
        if type(value) is Array:
            original = original_of(value)
            return ObjectTree(value if original is None else original)
        return ObjectTree(value)
    return ObjectTree(
        value,
        tuple(ObjectTree(None) if p is None else p for p in map(object_tree, opened_value[1])),
    )


def settled(result: Any, ends: Sequence[ObjectTree | None], written: Container[int] = ()) -> Any:
    """The value of a variable after a staged statement.

    `result` is its new value, and `ends` are the objects that the branches leave in it. A list or
    dictionary that all branches leave gets the new content. An array that all branches leave stays
    unchanged, unless it is in `written`, the ids of arrays that were written into.
    """
    if isinstance(result, Maybe):
        result.value = settled(result.value, [*ends, None], written)
        return result
    bound = [end for end in ends if end is not None]
    if isinstance(result, Undefined) or not bound or any(end.object is result for end in bound):
        return result
    first = bound[0].object
    unanimous = len(bound) == len(ends) and all(end.object is first for end in bound)
    opened_value = opened(result)
    if opened_value is None:
        if not is_written_into(result):
            return result
        if unanimous and type(first) is Array and id(first) not in written:
            return first
        if unanimous:
            note_one(result, first)
        else:
            note(result, [end.object for end in bound])
        return result
    _, content, make = opened_value
    new_parts = [
        settled(
            part,
            [end.parts[i] if i < len(end.parts) else None for end in (*bound, *missing)],
            written,
        )
        for missing in [[ObjectTree(None)] * (len(ends) - len(bound))]
        for i, part in enumerate(content)
    ]
    unchanged = all(map(operator.is_, new_parts, content))
    new_value = result if unchanged else make(new_parts)
    if not is_container(result):
        return new_value
    if unanimous and type(first) is type(new_value):
        if isinstance(new_value, (list, dict)):
            return _refilled(first, new_value)
        if all(map(operator.is_, _parts(first), _parts(new_value))):
            return first
    note(new_value, [end.object for end in bound])
    return new_value


def refilled(
    value: Any,
    start: ObjectTree | None,
    replaced_places: Container[tuple[int, ...]],
    path: tuple[int, ...],
) -> Any:
    """The lists and dictionaries before a loop, with new content.

    At the places in `replaced_places` they are new objects, which may be the old ones under another
    name.
    """
    opened_value = opened(value)
    if start is None or opened_value is None:
        return value
    _, content, make = opened_value
    parts = [*start.parts, *[None] * len(content)]
    new_parts = [
        refilled(part, parts[i], replaced_places, (*path, i)) for i, part in enumerate(content)
    ]
    new_value = value if all(map(operator.is_, new_parts, content)) else make(new_parts)
    if not is_container(value):
        return new_value
    if (
        isinstance(value, (list, dict))
        and path not in replaced_places
        and type(start.object) is type(value)
    ):
        return _refilled(start.object, new_value)
    note(new_value, [start.object])
    return new_value


def _refilled(container: Any, content: Any) -> Any:
    if isinstance(container, list):
        container[:] = content
    else:
        container.clear()
        container.update(content)
    return container


def places(
    begun: ObjectTree | None, end: ObjectTree | None, path: tuple[int, ...]
) -> Iterator[tuple[tuple[int, ...], ObjectTree, Any]]:
    """The objects at equal places of two trees.

    Gives the place, the tree at the beginning of a trip, and the object at its end.
    """
    if begun is None or end is None:
        return
    if is_written_into(begun.object) and is_written_into(end.object):
        yield path, begun, end.object
    for i, (begun_part, end_part) in enumerate(zip(begun.parts, end.parts, strict=False)):
        yield from places(begun_part, end_part, (*path, i))


def changed_in(pairs: Sequence[tuple[str, ObjectTree, Any]], arrays: Sequence[Array]) -> set[int]:
    """The ids of the objects that a trip changes in place.

    `pairs` are the objects of variables at the beginning and at the end of the trip; `arrays` are
    the arrays that the trip has written into.
    """
    changed = {id(begun.object) for _, begun, _ in pairs if has_changed(begun)}
    return changed.union(map(id, arrays))


def second_name(
    pairs: Sequence[tuple[str, ObjectTree, Any]], changed: Container[int]
) -> tuple[str, str] | None:
    """Two variables to which a trip gives the same object, if any.

    Only objects whose ids are in `changed`, because the trip changes them in place, are examined.
    """
    for i, (name, begun, end) in enumerate(pairs if changed else ()):
        for other_name, before, after in pairs[:i]:
            now_linked = linked(end, after) and not linked(begun.object, before.object)
            if now_linked and (id(begun.object) in changed or id(before.object) in changed):
                return name, other_name
    return None


def has_changed(begun: ObjectTree) -> bool:
    """Whether a container was changed since the beginning of a trip."""
    container = begun.object
    if not is_container(container):
        return False
    if has_been_changed(container):
        return True
    content = _parts(container)
    parts = [part.object for part in begun.parts]
    return len(content) != len(parts) or not all(map(operator.is_, content, parts))


def _parts(container: Any) -> Sequence[Any]:
    opened_container = opened(container)
    return () if opened_container is None else opened_container[1]


def refuse_left(changed: dict[int, Any], variables: Sequence[Any]) -> None:
    """Refuse changes in place that another name would not see.

    `changed` are the objects changed in a branch, by id. A variable in `variables` that still
    refers to such an object has the new content.

    Raises
    ------
    StagingError
        If another name refers to a changed object. The message gives the name.
    """
    for value in variables:
        tree = object_tree(value)
        for _, part, _ in places(tree, tree, ()):
            changed.pop(id(part.object), None)
    if not changed:
        return
    note_changed(changed.values())
    for number, variable in reachable():
        if number in changed:
            raise StagingError(
                f"{variable!r} refers to {kind_of(changed[number])[0]} that one side of a staged "
                f"branch{place_text()} changes in place under another name, which then refers to "
                "another object. Make one of them a copy, by list(...) or dict(...)"
            )
