"""The first trip of a staged loop, built before the others where it makes keys or attributes.

Which keys a dictionary has, and which attributes an object, is known while a program is built. So
the trip that makes them is built by itself, and the loop makes those that are left. A loop that may
make no trip has the first one in a branch, with a check that it is taken; without it, what it would
have made is NaN.
"""

from collections.abc import Callable
from typing import Any

from ...graph.array import Array
from ...graph.checks import run_time_check
from .branching import if_stmt
from .loop_state import LoopState, no_attribute
from .undefined import Maybe, Undefined, UndefinedError
from .values import Value

__all__ = ["first_trip"]


def first_trip(go: Any, body: Callable[[], None], state: LoopState) -> None:
    """Build the first trip, made if `go` holds, of a loop whose types are known."""
    if isinstance(go, Array):
        _in_branch(go, body, state)
    else:
        body()
    for name, held in zip(state.names, state.get_state(), strict=True):
        if isinstance(held, Maybe) and "." in name:
            raise no_attribute(name, state.place)


def _in_branch(go: Array, body: Callable[[], None], state: LoopState) -> None:
    made = ", ".join(state.new_keys + state.new_attributes)
    message = f"the loop must iterate at least once to make {made}{state.place}"
    run_time_check(go, UndefinedError, message)

    def stay() -> None:
        held = zip(state.names, state.get_state(), state.found, strict=True)
        state.set_state(tuple(_without_trip(*each) for each in held))

    access = state.get_state, state.set_state, state.names
    if_stmt(go, body, stay, *access, len(state.names), lenient=True)


def _without_trip(name: str, held: Any, after: Value) -> Any:
    """What a variable holds, and nothing for what the trip would make."""
    if isinstance(held, Undefined) and "." not in name:
        return held
    return _with_nothing(held, after.structure.fill(after.leaves))


def _with_nothing(held: Any, after: Any) -> Any:
    """What a variable holds, and what of its value after a trip it does not have, as `after`."""
    if isinstance(held, Undefined):
        return after
    if isinstance(held, dict) and isinstance(after, dict):
        for key, value in after.items():
            held[key] = _with_nothing(held[key], value) if key in held else value
    elif isinstance(held, (list, tuple)) and type(held) is type(after) and len(held) == len(after):
        parts = [_with_nothing(a, b) for a, b in zip(held, after, strict=True)]
        if any(a is not b for a, b in zip(held, parts, strict=True)):
            return type(held)(*parts) if hasattr(held, "_fields") else type(held)(parts)
    return held
