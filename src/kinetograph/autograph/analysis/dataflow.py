"""Liveness and reaching definitions, by iteration over a control-flow graph to the fixed point."""

from collections.abc import Iterable, Sequence

from .cfg import FlowGraph, Point

__all__ = ["live_before", "reaching_definitions", "UNDEFINED", "Definitions"]

UNDEFINED: Point | None = None  # the definition that a variable starts with, and gets by `del`
Definitions = dict[str, frozenset[Point | None]]
_NEVER: frozenset[Point | None] = frozenset()


def live_before(points: Sequence[Point]) -> dict[Point, set[str]]:
    """The symbols whose values at a point may be read later.

    A symbol is live before a point if it is read there, or live behind and not bound there.
    """
    live: dict[Point, set[str]] = {point: set() for point in points}
    changed = True
    while changed:
        changed = False
        for point in reversed(points):
            found = point.activity
            behind: set[str] = set()
            for successor in point.successors:
                behind |= live[successor]
            behind -= found.binds | found.removes
            for target in point.raises:
                behind |= live[target]
            behind |= found.reads | found.mutates
            if len(behind) > len(live[point]):
                live[point] = behind
                changed = True
    return live


def reaching_definitions(graph: FlowGraph, symbols: Iterable[str]) -> dict[Point, Definitions]:
    """For each point and symbol the points whose bindings may hold there, `UNDEFINED` among them.

    Points that are never reached have no definitions at all.
    """
    start: Definitions = {symbol: frozenset([UNDEFINED]) for symbol in symbols}
    at: dict[Point, Definitions] = {point: {} for point in graph.points}
    at[graph.start] = start
    pending = [graph.start]
    while pending:
        point = pending.pop()
        before = at[point]
        after = _passed(point, before)
        for successor in point.successors:
            if _merge(at[successor], after):
                pending.append(successor)
        for target in point.raises:
            # An exception may come before the point has its effect, or after it.
            if _merge(at[target], before) | _merge(at[target], after):
                pending.append(target)
    return at


def _passed(point: Point, before: Definitions) -> Definitions:
    found = point.activity
    if not found.binds and not found.removes:
        return before
    after = dict(before)
    after.update((s, frozenset([UNDEFINED])) for s in found.removes if s in before)
    after.update((s, frozenset([point])) for s in found.binds if s in before)
    return after


def _merge(into: Definitions, more: Definitions) -> bool:
    changed = False
    for symbol, definitions in more.items():
        known = into.get(symbol, _NEVER)
        if not definitions <= known:
            into[symbol] = known | definitions
            changed = True
    return changed
