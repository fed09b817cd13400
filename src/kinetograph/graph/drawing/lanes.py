"""Lanes of a picture: horizontal strips, one for each plate.

The first lane has the nodes without a plate. Then each plate has a lane, above the lanes of the
plates inside it. The box of a plate encloses its lane and the lanes of the plates inside it.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from .diagram import Group

__all__ = ["Span", "LaneStep", "stack", "steps_of"]

TITLE = 20.0  # the height of a box's title
PAD = 8.0  # the space between a box and its content, above and below
APART = 16.0  # the space between boxes


class LaneStep(NamedTuple):
    """A step from top to bottom: a group's "open", "lane" or "close"."""

    kind: str
    lane: int  # 0 for nodes without a group, else the index of the group plus 1


class Span(NamedTuple):
    """The top and bottom of an object in the picture."""

    top: float
    bottom: float


def steps_of(groups: Sequence[Group], outer: int | None = None) -> list[LaneStep]:
    """The steps of a group: its lane, and all groups inside it."""
    steps = [LaneStep("lane", 0 if outer is None else outer + 1)]
    for place, group in enumerate(groups):
        if group.outer == outer:
            inner = steps_of(groups, place)
            steps += [LaneStep("open", place + 1), *inner, LaneStep("close", place + 1)]
    return steps


def stack(
    steps: Sequence[LaneStep], sizes: Mapping[int, float]
) -> tuple[dict[int, float], dict[int, Span]]:
    """The tops of lanes with given heights, and their boxes' spans."""
    tops: dict[int, float] = {}
    boxes: dict[int, Span] = {}
    opened: dict[int, float] = {}
    y = 0.0
    for kind, lane in steps:
        if kind == "open":
            y += APART if y else 0.0
            opened[lane] = y
            y += TITLE
        elif kind == "lane":
            tops[lane] = y
            y += sizes.get(lane, 0.0)
        else:
            y += PAD
            boxes[lane] = Span(opened[lane], y)
    return tops, boxes
