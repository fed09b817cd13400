"""Where nodes and arrows go: layers from left to right.

The steps are those of K. Sugiyama, S. Tagawa, M. Toda, Methods for visual understanding of
hierarchical system structures, IEEE Trans. Systems, Man, and Cybernetics 11 (1981) 109-125:

    layers     by longest path; what has no cause stands just left of what needs it
    bends      an arrow that spans several layers gets a place in each
    order      barycentre sweeps; the order with the fewest crossings wins
    heights    each node as near as possible to the mean of its neighbours, by isotonic regression
"""

from bisect import bisect_right, insort
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

__all__ = ["Box", "Layout", "Place", "arrange"]

MOST_BENDS = 4000  # arrows beyond are drawn straight, so that big graphs stay quick
SPACE = 14.0  # between two nodes of a layer
BEND = 8.0  # the height an arrow takes in a layer that it passes


class Box(NamedTuple):
    """The room a node takes around its centre."""

    half_width: float
    above: float
    below: float


class Place(NamedTuple):
    """A centre, and the left and right ends of the layer it is in."""

    x: float
    y: float
    left: float
    right: float


@dataclass
class Layout:
    """The place of each node, the places each arrow bends at, and the size of it all."""

    nodes: list[Place]
    bends: list[list[Place]]
    width: float
    height: float


def arrange(
    boxes: Sequence[Box],
    edges: Sequence[tuple[int, int]],
    labels: Sequence[float],
    pulls: Sequence[float],
    back: Sequence[bool] = (),
) -> Layout:
    """Lay out nodes and arrows.

    `labels` are the widths of the arrows' labels, `pulls` how much each arrow ought to be level,
    and `back` tells, where it is known, which arrows lead backwards.
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
    layers = _order(ranks, before, after)
    heights = _heights(layers, items, before, after, stiffness)
    columns = _columns(layers, items, directed, ranks, labels, heights)
    top = min((heights[i] - box.above for i, box in enumerate(items)), default=0.0)
    places = [
        Place((columns[r][0] + columns[r][1]) / 2, heights[i] - top, *columns[r])
        for i, r in enumerate(ranks)
    ]
    bends = []
    for (source, target), (a, _), chain in zip(edges, directed, chains, strict=True):
        inner = [places[i] for i in chain[1:-1]]
        bends.append(inner if a == source or source == target else inner[::-1])
    height = max((places[i].y + box.below for i, box in enumerate(items)), default=0.0)
    return Layout(places[: len(boxes)], bends, columns[-1][1] if columns else 0.0, height)


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


def _order(ranks: list[int], before: list[list[int]], after: list[list[int]]) -> list[list[int]]:
    layers: list[list[int]] = [[] for _ in range(max(ranks, default=-1) + 1)]
    for item, rank in enumerate(ranks):
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
            layer.sort(key=wanted.__getitem__)
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
            wanted, weights = {}, {}
            for i in layer:
                pulls = [(stiffness[i, j], heights[j]) for j in near[i]]
                weights[i] = sum(w for w, _ in pulls) or 0.1
                wanted[i] = sum(w * h for w, h in pulls) / weights[i] if pulls else heights[i]
            _separate(layer, items, heights, wanted, weights)
    return heights


def _separate(
    layer: list[int],
    items: list[Box],
    heights: list[float],
    wanted: dict[int, float],
    weights: dict[int, float],
) -> None:
    """Set the heights of a layer: the nearest to those wanted (least squares) without overlap.

    Less the room of all above it, a node's height must only not decrease: isotonic regression, by
    pooling adjacent violators.
    """
    offsets: list[float] = []
    room = 0.0
    for place, item in enumerate(layer):
        if place:
            room += items[layer[place - 1]].below + SPACE + items[item].above
        offsets.append(room)
    pools: list[tuple[float, float, int]] = []  # mean, weight, how many
    for item, offset in zip(layer, offsets, strict=True):
        mean, weight, count = wanted[item] - offset, weights[item], 1
        while pools and pools[-1][0] > mean:
            m, w, n = pools.pop()
            mean = (m * w + mean * weight) / (w + weight)
            weight, count = weight + w, count + n
        pools.append((mean, weight, count))
    means = [mean for mean, _, count in pools for _ in range(count)]
    for item, offset, mean in zip(layer, offsets, means, strict=True):
        heights[item] = mean + offset


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
