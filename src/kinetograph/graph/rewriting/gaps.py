"""Values of some steps, as elements of the values of all steps.

    for t in range(n):
        level = rho * level + steps[t]
        if not missing[t]:
            levels.append(level)

The values of two steps that follow one another show the way from a value to the value before. This
way is followed from the last value to the first one.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

import numpy as np

from ..node import Node
from ..operations.indexing import index
from ..operations.shaping import stack
from .alike import Column
from .stacked_steps import FEWEST

__all__ = ["all_steps", "stacked_values"]

_MOST_NODES = 60  # between a value and the value before
_MOST_STEPS = 4  # by value

Way = tuple[int, ...]  # the places of parents
Parents = Callable[[Node], Sequence[Node]]


def _parents(node: Node) -> Sequence[Node]:
    return node.parents


def stacked_values(column: Column) -> Node:
    """The stack of nodes.

    For values of some steps of a loop it is read from the stack of all steps.
    """
    values = tuple(dict.fromkeys(column))
    steps = all_steps(values) if len(values) >= FEWEST else None
    if steps is None or steps == column:
        return stack(column)
    places = {node: i for i, node in enumerate(steps)}
    return index(stack(steps), (np.array([places[node] for node in column]),))


def all_steps(
    column: Column, parents: Parents = _parents, candidates: Iterable[Node] = ()
) -> Column | None:
    """The values of all steps, from the first to the last value.

    Among `candidates` are perhaps values of later steps.
    """
    pairs = pairwise(column)
    ways = Counter(filter(None, (_way(later, value, parents) for value, later in pairs)))
    if not ways:
        return None
    ((way, _),) = ways.most_common(1)
    steps = [column[-1]]
    while steps[-1] is not column[0]:
        before = _before(steps[-1], way, parents)
        if before is None or len(steps) == _MOST_STEPS * len(column):
            return None
        steps.append(before)
    steps.reverse()
    remaining = iter(steps)
    if not all(value in remaining for value in column):
        return None
    following = {_before(node, way, parents): node for node in candidates}
    while (later := following.get(steps[-1])) is not None:
        steps.append(later)
    return tuple(steps)


def _before(node: Node, way: Way, parents: Parents) -> Node | None:
    """The ancestor at the end of a way, if there is one."""
    for place in way:
        above = parents(node)
        if place >= len(above):
            return None
        node = above[place]
    return node


def _way(later: Node, value: Node, parents: Parents) -> Way | None:
    """The shortest way from a node to a near ancestor."""
    ways: dict[Node, Way] = {later: ()}
    pending = deque([later])
    while pending and len(ways) <= _MOST_NODES:
        node = pending.popleft()
        if node is value:
            return ways[node]
        for place, parent in enumerate(parents(node)):
            if parent not in ways:
                ways[parent] = (*ways[node], place)
                pending.append(parent)
    return ways.get(value)
