"""Where nodes and arrows go: layers from left to right.

The steps are those of K. Sugiyama, S. Tagawa, M. Toda, Methods for visual understanding of
hierarchical system structures, IEEE Trans. Systems, Man, and Cybernetics 11 (1981) 109-125:

    layers     by longest path; what has no cause stands just left of what needs it
    bends      an arrow that spans several layers gets a place in each
    order      barycentre sweeps; the order with the fewest crossings wins
    heights    each node as near as possible to the mean of its neighbours, by isotonic regression

Where there are groups, each has a lane for itself: the steps are taken within the lanes, which
are then put one below the other.
"""

from bisect import bisect_right, insort
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from .heights import Box, in_lanes
from .lanes import Span, Step

__all__ = ["Box", "Layout", "Place", "arrange"]

MOST_BENDS = 4000  # arrows beyond are drawn straight, so that big graphs stay quick
BEND = 8.0  # the height an arrow takes in a layer that it passes


class Place(NamedTuple):
    """A centre, and the left and right ends of the layer it is in."""

    x: float
    y: float
    left: float
    right: float


@dataclass
class Layout:
    """The place of each node, the places each arrow bends at, and the size of it all.

    `spans` are those of the boxes around the lanes, by lane.
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
    steps: Sequence[Step] = (Step("lane", 0),),
) -> Layout:
    """Lay out nodes and arrows.

    `labels` are the widths of the arrows' labels, `pulls` how much each arrow ought to be level,
    and `back` tells, where it is known, which arrows lead backwards. `lanes` are those of the
    nodes, and `steps` say how these follow one another.
    """
    known = back or [False] * len(edges)
    directed = _without_cycles(
        len(boxes), [(b, a) if turn else (a, b) for (a, b), turn in zip(edges, known, strict=True)]
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
                # Long arrows should be straight: bends pull at each other harder than at nodes.
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
    """The edges, those turned round that would close a cycle (data may follow from themselves)."""
    after: list[list[int]] = [[] for _ in range(count)]
    for source, target in edges:
        after[source].append(target)
    state = [0] * count  # 0 new, 1 on the way, 2 done
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
    # Everything moves right to what needs it, then back what thereby made more arrows longer than
    # shorter: the prior of sigma stands beside theta, not at the far left.
    for node in reversed(order):
        if after[node]:
            ranks[node] = min(ranks[t] for t in after[node]) - 1
    for node in order:
        if len(before[node]) > len(after[node]):
            ranks[node] = max(ranks[s] for s in before[node]) + 1
    return ranks


def _bends(items: list[Box], ranks: list[int], edges: Sequence[tuple[int, int]]) -> list[list[int]]:
    """For each edge the items it passes; adds an item for each layer between its ends."""
    chains = [[a, b] for a, b in edges]
    left = MOST_BENDS
    for chain in sorted(chains, key=lambda c: ranks[c[1]] - ranks[c[0]]):
        a, b = chain
        need = max(0, ranks[b] - ranks[a] - 1)
        if need > left:
            break
        left -= need
        passed = range(len(items), len(items) + need)
        items += [Box(0.0, BEND, BEND)] * need
        ranks += range(ranks[a] + 1, ranks[a] + 1 + need)
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
            wanted = {
                item: sum(position[j] for j in near[item]) / len(near[item])
                if near[item]
                else position[item]
                for item in layer
            }
            layer.sort(key=lambda item, wanted=wanted: (lane[item], wanted[item]))  # type: ignore[misc]
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
        where = {item: i for i, item in enumerate(right)}
        seen: list[int] = []
        for item in left:
            ends = sorted(where[j] for j in after[item])
            total += sum(len(seen) - bisect_right(seen, end) for end in ends)
            for end in ends:
                insort(seen, end)
    return total


def _columns(
    layers: list[list[int]],
    items: list[Box],
    edges: Sequence[tuple[int, int]],
    ranks: list[int],
    labels: Sequence[float],
    heights: list[float],
) -> list[tuple[float, float]]:
    """The left and right end of each layer, with room for labels and for steep arrows between."""
    gaps = [36.0] * len(layers)
    for i, (a, b) in enumerate(edges):
        # An arrow's label stands in the gap before its end.
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
