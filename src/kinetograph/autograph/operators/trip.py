"""What a trip of a staged loop does to the objects that its variables hold.

One trip is built for all. Where Python's trips would not all be alike, because the first gives an
object a second name or exchanges it for another one, that does no harm as long as none of them is
changed in place; else it is refused.
"""

from collections.abc import Sequence
from typing import Any

from ...graph.array import Array
from ...graph.errors import StagingError
from ...graph.source import place_text
from .owned import Owned, changed_in, has_changed, owned, places, refilled, second_name
from .reach import reachable
from .second_names import comes_from, same_as

__all__ = ["Anew", "Trip"]

Exchanged = tuple[str, Owned, Any]  # a variable, and what is at a place as a trip begins and ends


class Anew(BaseException):
    """The loop has to be built once more."""


class Trip:
    """The objects of variables before a loop, as a trip of it begins, and at its end."""

    def __init__(self, names: Sequence[str], entry: Sequence[Any]) -> None:
        self.names = names
        self.start: list[Owned | None] = list(map(owned, entry))
        self.begun: list[Owned | None] = []
        self.ended: list[Owned | None] = []
        self.parted: set[tuple[int, ...]] = set()  # places that get other lists or dictionaries

    def refilled(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """What variables with these values hold as a trip begins."""
        pairs = enumerate(zip(values, self.start, strict=True))
        return tuple(refilled(value, start, self.parted, (i,)) for i, (value, start) in pairs)

    def begin(self, state: Sequence[Any]) -> None:
        """Note what the variables hold as the trip begins."""
        self.begun = list(map(owned, state))

    def end(self, state: Sequence[Any]) -> None:
        """Note what they hold at its end.

        Raises
        ------
        Anew
            If it leaves other lists or dictionaries in some places: these get their own ones.
        """
        self.ended = list(map(owned, state))
        self._part()

    def _part(self) -> None:
        """Build the loop anew if an iteration leaves other lists or dictionaries in some places.

        These have their own ones as an iteration begins.
        """
        parted = set()
        begun = [pair for i, b in enumerate(self.begun) for pair in places(b, self.ended[i], (i,))]
        for place, held, end in begun:
            if held.held is end or not isinstance(held.held, (list, dict)):
                continue
            others = [i for (i, *_), other, _ in begun if other.held is held.held]
            if len(others) > 1 and has_changed(held):
                one, other = (self.names[i] for i in others[:2])
                raise StagingError(
                    f"{one!r} and {other!r} hold one and the same object, which a trip of this loop"
                    f"{place_text()} changes in place, but not at its end: the first trip would "
                    "change both. Let one of them be a copy, by list(...) or dict(...)"
                )
            parted.add(place)
        if not parted <= self.parted:
            self.parted |= parted
            raise Anew

    def exchanged(self, lasting: Sequence[int], written: Sequence[Array]) -> list[Exchanged]:
        """What the trip changes in place and then leaves for another object.

        `lasting` are the numbers of the variables that live from trip to trip, `written` the arrays
        that it has written into.

        Raises
        ------
        StagingError
            If what it changes gets a second name: the next trip would change both.
        """
        pairs = [
            (self.names[i], *pair)
            for i in lasting
            for _, *pair in places(self.begun[i], self.ended[i], (i,))
        ]
        changed = changed_in(pairs, written)
        found = second_name(pairs, changed)
        if found is not None:
            one, other = found
            raise StagingError(
                f"{one!r} becomes another name of what {other!r} holds in a trip of this loop"
                f"{place_text()}, which changes it in place: from the next trip on Python would "
                "change both. Let one of them be a copy, by copy.copy(...)"
            )
        return [
            pair
            for pair in pairs
            if id(pair[1].held) in changed and not comes_from(pair[2], pair[1].held)
        ]

    def refuse_exchange(self, pairs: Sequence[Exchanged]) -> None:
        """Refuse to change an object and to take another one for it that has a name outside.

        The first trip would change the one, and the next trip the other.
        """
        if not pairs:
            return
        objects = {
            number: name
            for name, begun, end in pairs
            for number in same_as(begun.held) | same_as(end)
        }
        for number, variable in reachable(without=self.names):
            if number in objects:
                raise StagingError(
                    f"{objects[number]!r} is changed in place in a trip of this loop{place_text()},"
                    f" and stands for another object at its end, while {variable!r} holds one of "
                    "the two: each trip would change another object. Let it be a copy, by "
                    "copy.copy(...)"
                )

    def name_as_before(self) -> None:
        """Let what the trip leaves as it was be what it was before the loop."""
        pairs = zip(self.ended, self.begun, self.start, strict=True)
        self.ended = [_as_before(*each) for each in pairs]


def _as_before(end: Owned | None, begun: Owned | None, start: Owned | None) -> Owned | None:
    if end is None or begun is None or start is None:
        return end
    same = comes_from(end.held, begun.held)
    others = len(end.parts) - min(len(begun.parts), len(start.parts))
    blank = [None] * max(others, 0)
    parts = zip(end.parts, [*begun.parts, *blank], [*start.parts, *blank], strict=False)
    inner = (_as_before(*each) for each in parts)
    return Owned(start.held if same else end.held, tuple(p for p in inner if p is not None))
