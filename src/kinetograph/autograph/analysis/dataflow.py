"""Liveness and reaching definitions, on a control-flow graph.

Both are computed by iteration to a fixed point.
"""

from collections.abc import Iterable, Sequence

from .cfg import ControlFlowPoint, FlowGraph

__all__ = ["live_before", "reaching_definitions", "UNDEFINED", "Definitions"]

UNDEFINED: ControlFlowPoint | None = (
    None  # the definition of a variable at the start, and after `del`
)
Definitions = dict[str, frozenset[ControlFlowPoint | None]]
_NEVER: frozenset[ControlFlowPoint | None] = frozenset()


def live_before(points: Sequence[ControlFlowPoint]) -> dict[ControlFlowPoint, set[str]]:
    """The symbols whose values at a point may be read later.

    A symbol is live before a point if the point reads it, or if it is live after the point and the
    point does not bind it.
    """
    live: dict[ControlFlowPoint, set[str]] = {point: set() for point in points}
    changed = True
    while changed:
        changed = False
        for point in reversed(points):
            symbols = point.activity
            live_symbols: set[str] = set()
            for successor in point.successors:
                live_symbols |= live[successor]
            live_symbols -= symbols.binds | symbols.removes
            for target in point.raises:
                live_symbols |= live[target]
            live_symbols |= symbols.reads | symbols.mutates
            if len(live_symbols) > len(live[point]):
                live[point] = live_symbols
                changed = True
    return live


def reaching_definitions(
    graph: FlowGraph, symbols: Iterable[str]
) -> dict[ControlFlowPoint, Definitions]:
    """The points whose bindings may be valid, for each point and symbol.

    `UNDEFINED` may be among them. Unreachable points have no definitions at all.
    """
    start: Definitions = {symbol: frozenset([UNDEFINED]) for symbol in symbols}
    at: dict[ControlFlowPoint, Definitions] = {point: {} for point in graph.points}
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


def _passed(point: ControlFlowPoint, before: Definitions) -> Definitions:
    """The definitions after a point."""
    activity = point.activity
    if not activity.binds and not activity.removes:
        return before
    after = dict(before)
    after.update((s, frozenset([UNDEFINED])) for s in activity.removes if s in before)
    after.update((s, frozenset([point])) for s in activity.binds if s in before)
    return after


def _merge(into: Definitions, more: Definitions) -> bool:
    """Add definitions to a point's; gives whether any was new."""
    changed = False
    for symbol, definitions in more.items():
        present = into.get(symbol, _NEVER)
        if not definitions <= present:
            into[symbol] = present | definitions
            changed = True
    return changed
