"""Lanes: what is in no plate stands above the boxes of the plates, these one below the other.

What is in no plate has the first lane, then each plate one of its own, above those of the plates
inside of it. A box goes around its lane and theirs.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from .diagram import Group

__all__ = ["Span", "Step", "stack", "steps_of"]

TITLE = 20.0  # the height of a box's title
PAD = 8.0  # between a box and what is in it, above and below
APART = 16.0  # between boxes


class Step(NamedTuple):
    """What comes next from top to bottom: "open" or "close" a group, or the "lane" of one."""

    kind: str
    lane: int  # 0 is of what is in no group, and one more than its place that of a group


class Span(NamedTuple):
    """From where to where something goes down the picture."""

    top: float
    bottom: float


def steps_of(groups: Sequence[Group], outer: int | None = None) -> list[Step]:
    """The steps of all groups inside of one, and of its own lane."""
    steps = [Step("lane", 0 if outer is None else outer + 1)]
    for place, group in enumerate(groups):
        if group.outer == outer:
            inner = steps_of(groups, place)
            steps += [Step("open", place + 1), *inner, Step("close", place + 1)]
    return steps


def stack(
    steps: Sequence[Step], sizes: Mapping[int, float]
) -> tuple[dict[int, float], dict[int, Span]]:
    """The tops of lanes of these heights, and the spans of the boxes around them."""
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
