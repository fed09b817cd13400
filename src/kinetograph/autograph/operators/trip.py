"""The effect of a staged loop's trip on objects of variables.

One trip is built for all. In Python, trips could differ: the first may give an object a second
name, or exchange it for another object. This has no effect if none of these objects is changed in
place; otherwise the loop is refused.
"""

from collections.abc import Sequence
from typing import Any

from ...graph.array import Array
from ...graph.errors import StagingError
from ...graph.source import place_text
from .object_trees import (
    ObjectTree,
    changed_in,
    has_changed,
    object_tree,
    places,
    refilled,
    second_name,
)
from .reachable import reachable
from .shared_objects import comes_from, same_as

__all__ = ["RebuildLoop", "Trip"]

# A variable, the object at one of its places as a trip begins, and the object there at its end.
Exchanged = tuple[str, ObjectTree, Any]


class RebuildLoop(BaseException):
    """The request to build the loop once more."""


class Trip:
    """The objects of variables before a loop, and during a trip."""

    def __init__(self, names: Sequence[str], entry: Sequence[Any]) -> None:
        self.names = names
        self.entry_trees: list[ObjectTree | None] = list(map(object_tree, entry))
        self.begin_trees: list[ObjectTree | None] = []
        self.end_trees: list[ObjectTree | None] = []
        # Places whose lists or dictionaries are exchanged.
        self.replaced_places: set[tuple[int, ...]] = set()

    def refilled(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """The containers of variables before a trip, with new content."""
        pairs = enumerate(zip(values, self.entry_trees, strict=True))
        return tuple(
            refilled(value, start, self.replaced_places, (i,)) for i, (value, start) in pairs
        )

    def begin(self, state: Sequence[Any]) -> None:
        """Record the objects of the variables at the beginning of a trip."""
        self.begin_trees = list(map(object_tree, state))

    def end(self, state: Sequence[Any]) -> None:
        """Record the objects of the variables at the end of a trip.

        Raises
        ------
        RebuildLoop
            If the trip exchanges lists or dictionaries that were not known to be exchanged.
        """
        self.end_trees = list(map(object_tree, state))
        self._find_exchanges()

    def _find_exchanges(self) -> None:
        """Find the places at which a trip exchanges lists or dictionaries.

        If there are new ones, the loop is built again, with separate objects at these places when a
        trip begins.
        """
        replaced = set()
        triples = [
            pair
            for i, b in enumerate(self.begin_trees)
            for pair in places(b, self.end_trees[i], (i,))
        ]
        for path, begin_tree, end in triples:
            if begin_tree.object is end or not isinstance(begin_tree.object, (list, dict)):
                continue
            sharing = [i for (i, *_), other, _ in triples if other.object is begin_tree.object]
            if len(sharing) > 1 and has_changed(begin_tree):
                one, other = (self.names[i] for i in sharing[:2])
                raise StagingError(
                    f"{one!r} and {other!r} refer to the same object before a trip of this loop"
                    f"{place_text()}, which changes it in place, but to different objects after "
                    "the trip: the first trip would change both. Make one of them a copy, by "
                    "list(...) or dict(...)"
                )
            replaced.add(path)
        if not replaced <= self.replaced_places:
            self.replaced_places |= replaced
            raise RebuildLoop

    def exchanged(self, lasting: Sequence[int], written: Sequence[Array]) -> list[Exchanged]:
        """The objects that a trip changes in place and then exchanges.

        `lasting` are the indices of the variables that live from trip to trip; `written` are the
        arrays that the trip has written into.

        Raises
        ------
        StagingError
            If a changed object gets a second name: the next trip would change both.
        """
        pairs = [
            (self.names[i], *pair)
            for i in lasting
            for _, *pair in places(self.begin_trees[i], self.end_trees[i], (i,))
        ]
        changed = changed_in(pairs, written)
        names = second_name(pairs, changed)
        if names is not None:
            one, other = names
            raise StagingError(
                f"{one!r} becomes another name of the object of {other!r} in a trip of this loop"
                f"{place_text()}, which changes it in place: from the next trip on, Python would "
                "change both. Make one of them a copy, by copy.copy(...)"
            )
        return [
            pair
            for pair in pairs
            if id(pair[1].object) in changed and not comes_from(pair[2], pair[1].object)
        ]

    def refuse_exchange(self, pairs: Sequence[Exchanged]) -> None:
        """Refuse to exchange a changed object with an outer name.

        The first trip would change one object, and the next trip the other.

        Raises
        ------
        StagingError
            If there is such an object. The message names both variables.
        """
        if not pairs:
            return
        objects = {
            number: name
            for name, begun, end in pairs
            for number in same_as(begun.object) | same_as(end)
        }
        for number, variable in reachable(without=self.names):
            if number in objects:
                raise StagingError(
                    f"{objects[number]!r} is changed in place in a trip of this loop{place_text()},"
                    f" and refers to another object at its end, while {variable!r} refers to one "
                    "of the two: each trip would change another object. Make it a copy, by "
                    "copy.copy(...)"
                )

    def name_as_before(self) -> None:
        """Replace unchanged objects in `end_trees` by the objects before the loop."""
        pairs = zip(self.end_trees, self.begin_trees, self.entry_trees, strict=True)
        self.end_trees = [_as_before(*trees) for trees in pairs]


def _as_before(
    end: ObjectTree | None, begun: ObjectTree | None, start: ObjectTree | None
) -> ObjectTree | None:
    """A tree whose unchanged objects are the objects before the loop."""
    if end is None or begun is None or start is None:
        return end
    unchanged = comes_from(end.object, begun.object)
    extra = len(end.parts) - min(len(begun.parts), len(start.parts))
    blank = [None] * max(extra, 0)
    parts = zip(end.parts, [*begun.parts, *blank], [*start.parts, *blank], strict=False)
    inner = (_as_before(*trees) for trees in parts)
    return ObjectTree(
        start.object if unchanged else end.object, tuple(p for p in inner if p is not None)
    )
