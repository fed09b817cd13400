"""Long Python loops over a `range` that become loops of the graph.

The converter marks loops whose number is only an index (`passes/index_loops.py`). Such a loop runs
its first trips in Python. If its variables become arrays, the remaining trips become a loop of the
graph; if the graph cannot express these, they run in Python, too.
"""

import dis
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType
from typing import Any

import numpy as np

from ...graph.array import Array
from ...graph.control.rollback import mark, rollback
from ..calling import CALLING
from .builtins import STAGED
from .python_for import PythonLoop
from .staging import EscapingException
from .unrolling import UNROLLED_ITERATIONS

__all__ = ["stage_index_loop"]

_PROBES = 2  # trips with arrays after which the types of variables have settled
_EFFECTS = frozenset(
    (
        *("STORE_ATTR", "DELETE_ATTR", "STORE_SUBSCR", "DELETE_SUBSCR", "STORE_SLICE"),
        *("STORE_GLOBAL", "DELETE_GLOBAL", "YIELD_VALUE"),
    )
)
_OUTER = frozenset(("STORE_DEREF", "DELETE_DEREF"))
_OPERATORS = frozenset(
    (
        *("assign_item", "assign_item_in", "assign_item_of", "set_attribute"),
        *("update_item", "update_item_in", "update_item_of"),
    )
)


class _HasEffects(Exception):
    """A trip calls a function that may change objects."""


def stage_index_loop(
    loop: PythonLoop,
    stage: Callable[[range], None],
    get_state: Callable[[], tuple[Any, ...]],
    set_state: Callable[[tuple[Any, ...]], None],
) -> bool:
    """Run the first trips of a loop and stage the rest.

    `stage` builds the loop of the graph over the remaining numbers. Returns False if trips remain
    that have to run in Python: the loop is short, its variables are not arrays, or the graph
    cannot express them.
    """
    if len(loop.iterated) <= UNROLLED_ITERATIONS:
        return False
    probes = 0
    while loop.trips < UNROLLED_ITERATIONS and probes < _PROBES:
        loop.take()
        moment, entry = mark(), get_state()
        if not any(isinstance(value, Array) for value in entry):
            continue
        probes += 1
        try:
            with _effects_refused():
                stage(loop.iterated[loop.trips :])
        except (Exception, EscapingException):
            rollback(moment)
            set_state(entry)
        else:
            return True
    return False


@contextmanager
def _effects_refused() -> Iterator[None]:
    """Refuse calls of functions that may have effects.

    A failed attempt to build a trip must leave no trace.
    """
    outer, fast = CALLING.watch, CALLING.fast

    def check(function: Any) -> None:
        if not _is_pure(function):
            raise _HasEffects
        if outer is not None:
            outer(function)

    CALLING.watch, CALLING.fast = check, False
    try:
        yield
    finally:
        CALLING.watch, CALLING.fast = outer, fast


def _is_pure(function: Any) -> bool:
    """Whether a call has no effects.

    Calls inside the function are checked when they are made.
    """
    if isinstance(function, (type, BuiltinFunctionType)) and function in STAGED:
        return function is not print
    if isinstance(function, np.ufunc):
        return True
    if isinstance(function, (MethodType, BuiltinFunctionType)):
        owner = getattr(function, "__self__", None)
        if owner is not None and not isinstance(owner, type(np)):
            return _is_ours(type(owner))
    if _is_ours(function) or getattr(function, "__module__", None) in ("numpy", "math"):
        return True
    if not isinstance(function, FunctionType):
        return _is_ours(type(function))
    return not _changes(function.__code__, frozenset(function.__code__.co_freevars))


def _changes(code: CodeType, outer: frozenset[str]) -> bool:
    """Whether code changes objects, or the `outer` variables of its function.

    The code may have been converted: assignments to items are then calls of operators.
    """
    for instruction in dis.get_instructions(code):
        name = instruction.opname
        if name in _EFFECTS or (name in _OUTER and instruction.argval in outer):
            return True
    if not _OPERATORS.isdisjoint(code.co_names):
        return True
    return any(_changes(const, outer) for const in code.co_consts if isinstance(const, CodeType))


def _is_ours(value: Any) -> bool:
    return (getattr(value, "__module__", None) or "").partition(".")[0] in ("kinetograph", "jax")
