"""Which results of branches and loops must be told, in the backward pass, whether they took part.

Those that are not used in any case, where an infinite slope may lie on the way to them; see
`participation`. Of a loop it is known beforehand what each trip reads of the one before.
"""

from collections.abc import Iterable

from .liveness import Places
from .subgraph import Subgraph

__all__ = ["passed_on", "read_in_trips", "surely_used", "told_in_trips", "uncertain"]


def uncertain(part: Subgraph, places: Iterable[int], given: Iterable[int] = ()) -> Places:
    """Of the outputs at these places, those that must be told.

    On the way to them there may be an infinite slope, or one of the inputs at the places `given`,
    which must be told themselves.
    """
    found = part.steep | {part.inputs[i] for i in given}
    if found:
        for node in part.nodes:
            if node.dtype.kind in "fV" and not found.isdisjoint(node.parents):
                found.add(node)
    return frozenset(i for i in places if part.outputs[i] in found)


# The first inputs and outputs of the body of a loop are those that it carries.
def surely_used(body: Subgraph, used: Places, carried: int) -> Places:
    """The outputs that are used after every trip, if those at the places `used` are at the end."""
    while True:
        read = body.surely_read(used)
        less = frozenset(
            i for i in used if i >= carried or i in read or body.outputs[i] is body.inputs[i]
        )
        if less == used:
            return used
        used = less


def read_in_trips(body: Subgraph, used: Places, carried: int, trips: int) -> Places:
    """The inputs that so many trips read in any case, the carried ones in the first of them."""
    rows = frozenset(i for i in used if i >= carried)
    found: Places = frozenset()
    first: Places = frozenset()
    seen: set[Places] = set()
    for _ in range(trips):  # from the last one on
        if used in seen:  # they take turns: which comes first is not followed up
            return found
        seen.add(used)
        read = body.surely_read(used)
        first = frozenset(i for i in read if i < carried)
        found |= read - first
        if used == rows | first:
            break
        used = rows | first
    return found | first


def told_in_trips(
    body: Subgraph, used: Places, places: Places, given: Iterable[int], carried: int
) -> Places:
    """Of the outputs at these places, those that must be told; see `surely_used`, `uncertain`."""
    unsure = places - surely_used(body, used, carried)
    told = set(given)
    while True:
        found = uncertain(body, unsure, told)
        more = told | passed_on(body, {*told, *found}, carried)
        if more == told:
            return found
        told = more


def passed_on(body: Subgraph, tracked: Iterable[int], carried: int) -> set[int]:
    """Of the carried inputs, those that are tracked, or can be one that is, unread."""
    found = set(tracked)
    places = {node: i for i, node in enumerate(body.inputs)}
    while True:
        more = {i for i in range(carried) if places.get(body.outputs[i]) in found}
        if found >= more:
            return {i for i in found if i < carried}
        found |= more
