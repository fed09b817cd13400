"""Separate building of a staged loop's first trip.

The keys of a dictionary and the attributes of an object must be known while a program is built. If
the first trip of a loop creates some, it is built separately, and the loop makes the remaining
trips. If the loop may make no trip, the first one is built in a branch, with a check that the
branch is taken; if it is not, the new keys and attributes are NaN.
"""

from collections.abc import Callable
from typing import Any

from ...graph.array import Array
from ...graph.checks import run_time_check
from .branching import if_stmt
from .loop_state import LoopState, no_attribute
from .undefined import Maybe, Undefined, UndefinedError
from .values import RecordedValue

__all__ = ["first_trip"]


def first_trip(go: Any, body: Callable[[], None], state: LoopState) -> None:
    """Build the first trip of a loop, executed if `go` holds.

    The types of the loop must be known.
    """
    if isinstance(go, Array):
        _in_branch(go, body, state)
    else:
        body()
    for name, value in zip(state.names, state.get_state(), strict=True):
        if isinstance(value, Maybe) and "." in name:
            raise no_attribute(name, state.place)


def _in_branch(go: Array, body: Callable[[], None], state: LoopState) -> None:
    new_names = ", ".join(state.new_keys + state.new_attributes)
    message = f"the loop must iterate at least once to create {new_names}{state.place}"
    run_time_check(go, UndefinedError, message)

    def stay() -> None:
        triples = zip(state.names, state.get_state(), state.found_values, strict=True)
        state.set_state(tuple(_without_trip(*triple) for triple in triples))

    access = state.get_state, state.set_state, state.names
    if_stmt(go, body, stay, *access, len(state.names), lenient=True)


def _without_trip(name: str, current: Any, after: RecordedValue) -> Any:
    """A variable's value without the trip, with placeholders for new keys."""
    if isinstance(current, Undefined) and "." not in name:
        return current
    return _with_nothing(current, after.structure.fill(after.leaves))


def _with_nothing(current: Any, after: Any) -> Any:
    """A value with the missing parts of its value after a trip."""
    if isinstance(current, Undefined):
        return after
    if isinstance(current, dict) and isinstance(after, dict):
        for key, value in after.items():
            current[key] = _with_nothing(current[key], value) if key in current else value
    elif (
        isinstance(current, (list, tuple))
        and type(current) is type(after)
        and len(current) == len(after)
    ):
        parts = [_with_nothing(a, b) for a, b in zip(current, after, strict=True)]
        if any(a is not b for a, b in zip(current, parts, strict=True)):
            return type(current)(*parts) if hasattr(current, "_fields") else type(current)(parts)
    return current
