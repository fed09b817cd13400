"""Values of some steps, as elements of the values of all steps.

    for t in range(n):
        level = rho * level + steps[t]
        if not missing[t]:
            levels.append(level)

The values of two steps that follow one another show the way from a value to the value before. This
way is followed from the last value to the first one.
"""

from collections import Counter, deque
from itertools import pairwise

import numpy as np

from ..node import Node
from ..operations.indexing import index
from ..operations.shaping import stack
from .alike import Column
from .stacked_steps import FEWEST

__all__ = ["stacked_values"]

_MOST_NODES = 60  # between a value and the value before
_MOST_STEPS = 4  # by value

Way = tuple[int, ...]  # the places of parents


def stacked_values(column: Column) -> Node:
    """The stack of nodes.

    For values of some steps of a loop it is read from the stack of all steps.
    """
    values = tuple(dict.fromkeys(column))
    steps = _all_steps(values) if len(values) >= FEWEST else None
    if steps is None or steps == column:
        return stack(column)
    places = {node: i for i, node in enumerate(steps)}
    return index(stack(steps), (np.array([places[node] for node in column]),))


def _all_steps(column: Column) -> Column | None:
    """The values of all steps, from the first to the last value."""
    ways = Counter(filter(None, (_way(later, value) for value, later in pairwise(column))))
    if not ways:
        return None
    ((way, _),) = ways.most_common(1)
    node, steps = column[-1], [column[-1]]
    while node is not column[0]:
        for place in way:
            if place >= len(node.parents):
                return None
            node = node.parents[place]
        steps.append(node)
        if len(steps) > _MOST_STEPS * len(column):
            return None
    steps.reverse()
    found = iter(steps)
    in_order = all(value in found for value in column)
    return tuple(steps) if in_order else None


def _way(later: Node, value: Node) -> Way | None:
    """The shortest way from a node to a near ancestor."""
    ways: dict[Node, Way] = {later: ()}
    pending = deque([later])
    while pending and len(ways) <= _MOST_NODES:
        node = pending.popleft()
        if node is value:
            return ways[node]
        for place, parent in enumerate(node.parents):
            if parent not in ways:
                ways[parent] = (*ways[node], place)
                pending.append(parent)
    return ways.get(value)
