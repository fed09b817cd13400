"""Vertical positions of the nodes of a picture.

Each node is as near as possible to the weighted mean of its neighbours. The positions are computed
lane by lane, by isotonic regression within the layers. Then the lanes are put one below the other.
"""

from collections.abc import Sequence
from typing import NamedTuple

from .lanes import LaneStep, Span, stack

__all__ = ["Box", "in_lanes"]

SPACE = 14.0  # between two nodes of a layer


class Box(NamedTuple):
    """The space that a node takes around its centre."""

    half_width: float
    above: float
    below: float


def in_lanes(
    lane: list[int],
    steps: Sequence[LaneStep],
    layers: list[list[int]],
    items: list[Box],
    before: list[list[int]],
    after: list[list[int]],
    stiffness: dict[tuple[int, int], float],
) -> tuple[list[float], dict[int, Span]]:
    """The heights of all items, and the spans of lanes' boxes."""
    heights = [0.0] * len(items)
    members: dict[int, list[int]] = {}
    for item, number in enumerate(lane):
        members.setdefault(number, []).append(item)

    def within(near: list[list[int]]) -> list[list[int]]:
        return [[j for j in nodes if lane[j] == lane[i]] for i, nodes in enumerate(near)]

    inner = (before, after) if len(members) < 2 else (within(before), within(after))
    tops, sizes = {}, {}
    for number, items_of_lane in members.items():
        lane_layers = [[i for i in layer if lane[i] == number] for layer in layers]
        lane_heights = _heights([layer for layer in lane_layers if layer], items, *inner, stiffness)
        for i in items_of_lane:
            heights[i] = lane_heights[i]
        tops[number] = min(heights[i] - items[i].above for i in items_of_lane)
        sizes[number] = max(heights[i] + items[i].below for i in items_of_lane) - tops[number]
    if len(members) < 2 and not any(members):
        return heights, {}
    starts, spans = stack(steps, sizes)
    for i, number in enumerate(lane):
        heights[i] += starts[number] - tops[number]
    return heights, spans


def _heights(
    layers: list[list[int]],
    items: list[Box],
    before: list[list[int]],
    after: list[list[int]],
    stiffness: dict[tuple[int, int], float],
) -> list[float]:
    heights = [0.0] * len(items)
    for layer in layers:
        _separate(layer, items, heights, dict.fromkeys(layer, 0.0), dict.fromkeys(layer, 1.0))
    both = [b + a for b, a in zip(before, after, strict=True)]
    turns = 8 if len(items) < 2000 else 3
    for turn in range(3 * turns):
        last = turn >= 2 * turns
        near = both if last else before if turn % 2 == 0 else after
        for layer in layers if turn % 2 == 0 else layers[::-1]:
            best_heights, weights = {}, {}
            for i in layer:
                pulls = [(stiffness[i, j], heights[j]) for j in near[i]]
                weights[i] = sum(w for w, _ in pulls) or 0.1
                best_heights[i] = sum(w * h for w, h in pulls) / weights[i] if pulls else heights[i]
            _separate(layer, items, heights, best_heights, weights)
    return heights


def _separate(
    layer: list[int],
    items: list[Box],
    heights: list[float],
    best_heights: dict[int, float],
    weights: dict[int, float],
) -> None:
    """Set the heights of a layer near the best heights, without overlap.

    The distance is a weighted sum of squares. After subtracting the space that is needed by all
    nodes above a node, the only constraint is that heights do not decrease: isotonic regression,
    solved by pooling adjacent violators.
    """
    offsets: list[float] = []
    room = 0.0
    for place, item in enumerate(layer):
        if place:
            room += items[layer[place - 1]].below + SPACE + items[item].above
        offsets.append(room)
    pools: list[tuple[float, float, int]] = []  # mean, weight, how many
    for item, offset in zip(layer, offsets, strict=True):
        mean, weight, count = best_heights[item] - offset, weights[item], 1
        while pools and pools[-1][0] > mean:
            m, w, n = pools.pop()
            mean = (m * w + mean * weight) / (w + weight)
            weight, count = weight + w, count + n
        pools.append((mean, weight, count))
    means = [mean for mean, _, count in pools for _ in range(count)]
    for item, offset, mean in zip(layer, offsets, means, strict=True):
        heights[item] = mean + offset
