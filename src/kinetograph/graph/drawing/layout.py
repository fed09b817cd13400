"""The layout of nodes and arrows, in layers from left to right.

The method is from K. Sugiyama, S. Tagawa, M. Toda, Methods for visual understanding of
hierarchical system structures, IEEE Trans. Systems, Man, and Cybernetics 11 (1981) 109-125:

    layers     by longest path; nodes without parents are directly to the left of their children
    bends      an arrow that spans several layers gets a place in each of them
    order      barycentre sweeps; the order with the fewest crossings is used
    heights    each node as near as possible to the mean of its neighbours, by isotonic regression

If there are groups, each group has a lane: the steps are done within the lanes, which are then put
one below the other.
"""

from bisect import bisect_right, insort
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from .heights import Box, in_lanes
from .lanes import LaneStep, Span

__all__ = ["Box", "Layout", "Place", "arrange"]

MOST_BENDS = 4000  # further arrows are drawn straight, so that large graphs are drawn quickly
BEND = 8.0  # half the height of an arrow in a layer that it passes


class Place(NamedTuple):
    """A centre, and the left and right ends of its layer."""

    x: float
    y: float
    left: float
    right: float


@dataclass
class Layout:
    """The places of nodes and bends, and the size of the picture.

    `spans` has the spans of the boxes around the lanes, by lane.
    """

    nodes: list[Place]
    bends: list[list[Place]]
    width: float
    height: float
    spans: dict[int, Span]


def arrange(
    boxes: Sequence[Box],
    edges: Sequence[tuple[int, int]],
    labels: Sequence[float],
    pulls: Sequence[float],
    back: Sequence[bool] = (),
    lanes: Sequence[int] = (),
    steps: Sequence[LaneStep] = (LaneStep("lane", 0),),
) -> Layout:
    """Compute the layout of nodes and arrows.

    `labels` are the widths of the arrows' labels. `pulls` are weights: an arrow with a large weight
    is nearly level. `back` says which arrows lead backwards, if this is known. `lanes` are the
    lanes of the nodes, and `steps` is the order of the lanes and boxes from top to bottom.
    """
    backward = back or [False] * len(edges)
    directed = _without_cycles(
        len(boxes),
        [(b, a) if turn else (a, b) for (a, b), turn in zip(edges, backward, strict=True)],
    )
    ranks = _ranks(len(boxes), directed)
    items = list(boxes)
    chains = _bends(items, ranks, directed)
    before: list[list[int]] = [[] for _ in items]
    after: list[list[int]] = [[] for _ in items]
    stiffness: dict[tuple[int, int], float] = {}
    for chain, pull in zip(chains, pulls, strict=True):
        for a, b in pairwise(chain):
            if ranks[b] == ranks[a] + 1:
                after[a].append(b)
                before[b].append(a)
                # Long arrows should be straight: bends pull on bends more strongly than on nodes.
                bent = (a >= len(boxes)) + (b >= len(boxes))
                stiffness[a, b] = stiffness[b, a] = (pull, 2.0, 8.0)[bent]
    lane = list(lanes or [0] * len(boxes)) + [0] * (len(items) - len(boxes))
    for chain in chains:
        a, b = lane[chain[0]], lane[chain[-1]]
        for i in chain[1:-1]:  # an arrow between boxes goes around them
            lane[i] = a if a == b else 0
    layers = _order(ranks, before, after, lane)
    heights, spans = in_lanes(lane, steps, layers, items, before, after, stiffness)
    columns = _columns(layers, items, directed, ranks, labels, heights)
    top = min((heights[i] - box.above for i, box in enumerate(items)), default=0.0)
    top = min([top, *(span.top for span in spans.values())])
    places = [
        Place((columns[r][0] + columns[r][1]) / 2, heights[i] - top, *columns[r])
        for i, r in enumerate(ranks)
    ]
    bends = []
    for (source, target), (a, _), chain in zip(edges, directed, chains, strict=True):
        inner = [places[i] for i in chain[1:-1]]
        bends.append(inner if a == source or source == target else inner[::-1])
    height = max((places[i].y + box.below for i, box in enumerate(items)), default=0.0)
    spans = {k: Span(span.top - top, span.bottom - top) for k, span in spans.items()}
    height = max([height, *(span.bottom for span in spans.values())])
    return Layout(places[: len(boxes)], bends, columns[-1][1] if columns else 0.0, height, spans)


def _without_cycles(count: int, edges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The edges, with edges that close a cycle reversed.

    Data can depend on themselves.
    """
    after: list[list[int]] = [[] for _ in range(count)]
    for source, target in edges:
        after[source].append(target)
    state = [0] * count  # 0 new, 1 being visited, 2 done
    turned: set[tuple[int, int]] = set()
    for root in range(count):
        if state[root]:
            continue
        state[root] = 1
        stack = [(root, iter(after[root]))]
        while stack:
            node, targets = stack[-1]
            for target in targets:
                if state[target] == 1:
                    turned.add((node, target))
                elif not state[target]:
                    state[target] = 1
                    stack.append((target, iter(after[target])))
                    break
            else:
                state[node] = 2
                stack.pop()
    return [(b, a) if (a, b) in turned else (a, b) for a, b in edges]


def _ranks(count: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    before: list[list[int]] = [[] for _ in range(count)]
    after: list[list[int]] = [[] for _ in range(count)]
    for a, b in edges:
        if a != b:
            after[a].append(b)
            before[b].append(a)
    missing = [len(sources) for sources in before]
    order = [i for i in range(count) if not missing[i]]
    ranks = [0] * count
    for node in order:
        for target in after[node]:
            ranks[target] = max(ranks[target], ranks[node] + 1)
            missing[target] -= 1
            if not missing[target]:
                order.append(target)
    # First every node moves right, next to its nearest child. Then nodes with more parents than
    # children move back, next to their nearest parent, because that shortens more arrows. So the
    # prior of sigma is next to theta, and not at the far left.
    for node in reversed(order):
        if after[node]:
            ranks[node] = min(ranks[t] for t in after[node]) - 1
    for node in order:
        if len(before[node]) > len(after[node]):
            ranks[node] = max(ranks[s] for s in before[node]) + 1
    return ranks


def _bends(items: list[Box], ranks: list[int], edges: Sequence[tuple[int, int]]) -> list[list[int]]:
    """The items that each edge passes, one in each layer.

    Adds an item for each layer between the ends of an edge.
    """
    chains = [[a, b] for a, b in edges]
    remaining = MOST_BENDS
    for chain in sorted(chains, key=lambda c: ranks[c[1]] - ranks[c[0]]):
        a, b = chain
        needed = max(0, ranks[b] - ranks[a] - 1)
        if needed > remaining:
            break
        remaining -= needed
        passed = range(len(items), len(items) + needed)
        items += [Box(0.0, BEND, BEND)] * needed
        ranks += range(ranks[a] + 1, ranks[a] + 1 + needed)
        chain[1:1] = passed
    return chains


def _order(
    ranks: list[int], before: list[list[int]], after: list[list[int]], lane: list[int]
) -> list[list[int]]:
    layers: list[list[int]] = [[] for _ in range(max(ranks, default=-1) + 1)]
    for item, rank in sorted(enumerate(ranks), key=lambda pair: lane[pair[0]]):
        layers[rank].append(item)
    position = [0.0] * len(ranks)

    def settle(layer: list[int]) -> None:
        for i, item in enumerate(layer):
            position[item] = i / max(1, len(layer) - 1) if len(layer) > 1 else 0.5

    def sweep(walk: Sequence[list[int]], near: list[list[int]]) -> None:
        for layer in walk:
            targets = {
                item: sum(position[j] for j in near[item]) / len(near[item])
                if near[item]
                else position[item]
                for item in layer
            }
            layer.sort(key=lambda item, targets=targets: (lane[item], targets[item]))  # type: ignore[misc]
            settle(layer)

    for layer in layers:
        settle(layer)
    best, fewest = [list(layer) for layer in layers], _crossings(layers, after)
    stale = 0
    for turn in range(24):
        sweep(*((layers[1:], before) if turn % 2 == 0 else (layers[-2::-1], after)))
        crossings = _crossings(layers, after)
        stale += 1
        if crossings < fewest:
            best, fewest, stale = [list(layer) for layer in layers], crossings, 0
        if not fewest or stale > 5:
            break
    return best


def _crossings(layers: list[list[int]], after: list[list[int]]) -> int:
    total = 0
    for left, right in pairwise(layers):
        position = {item: i for i, item in enumerate(right)}
        ends_above: list[int] = []
        for item in left:
            ends = sorted(position[j] for j in after[item])
            total += sum(len(ends_above) - bisect_right(ends_above, end) for end in ends)
            for end in ends:
                insort(ends_above, end)
    return total


def _columns(
    layers: list[list[int]],
    items: list[Box],
    edges: Sequence[tuple[int, int]],
    ranks: list[int],
    labels: Sequence[float],
    heights: list[float],
) -> list[tuple[float, float]]:
    """The left and right end of each layer.

    The gaps between layers have space for labels, and more space for steep arrows.
    """
    gaps = [36.0] * len(layers)
    for i, (a, b) in enumerate(edges):
        # An arrow's label is in the gap before its end.
        gap_before = ranks[b] - 1
        label = labels[i] + 40.0 if labels[i] else 0.0
        steep = min(90.0, 0.25 * abs(heights[a] - heights[b])) if ranks[b] == ranks[a] + 1 else 0.0
        gaps[gap_before] = max(gaps[gap_before], label, steep)
    columns: list[tuple[float, float]] = []
    x = 0.0
    for layer, gap in zip(layers, gaps, strict=True):
        width = 2 * max((items[i].half_width for i in layer), default=0.0)
        columns.append((x, x + width))
        x += width + gap
    return columns
