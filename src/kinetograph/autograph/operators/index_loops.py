"""Long Python loops over a `range` that become loops of the graph.

The converter marks loops whose number is only an index (`passes/index_loops.py`). Such a loop runs
its first trips in Python. If its variables become arrays, the remaining trips become a loop of the
graph; if the graph cannot express these, they run in Python, too.

A trip is built several times, and each time must leave no trace. So every object that a trip
names has to be a number, an array or a function without effects.
"""

import builtins
import dis
import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import jax
import numpy as np

from ...graph.array import Array
from ...graph.control.rollback import mark, rollback
from ...graph.source import PACKAGE
from ..calling import CALLING
from ..passes.index_loops import PURE_BUILTINS
from .builtins import STAGED
from .python_for import PythonLoop
from .staging import EscapingException
from .undefined import Maybe, Undefined
from .unrolling import UNROLLED_ITERATIONS

__all__ = ["stage_index_loop"]

_PROBES = 2  # trips with arrays after which the types of variables have settled
_ELEMENTS = 1000  # of a list, more are not examined
_MODULES = frozenset(("kinetograph", "numpy", "jax", "math"))
_NUMBERS = bool, int, float, complex, np.generic, np.ndarray, jax.Array, type(None), Undefined
_EFFECTS = frozenset(
    (
        *("STORE_ATTR", "DELETE_ATTR", "STORE_SUBSCR", "DELETE_SUBSCR", "STORE_SLICE"),
        *("STORE_GLOBAL", "DELETE_GLOBAL", "YIELD_VALUE", "RAISE_VARARGS", "IMPORT_NAME"),
        *("IS_OP", "CONTAINS_OP", "BUILD_STRING", "FORMAT_SIMPLE", "FORMAT_WITH_SPEC"),
        "FORMAT_VALUE",
    )
)
_OUTER = frozenset(("STORE_DEREF", "DELETE_DEREF"))
_OPERATORS = frozenset(
    (
        *("assign_item", "assign_item_in", "assign_item_of", "set_attribute"),
        *("update_item", "update_item_in", "update_item_of"),
    )
)
_WRITING = frozenset(  # functions of NumPy
    (
        *("copyto", "fill_diagonal", "put", "put_along_axis", "place", "putmask", "random"),
        *("save", "savetxt", "savez", "seterr", "tofile"),
    )
)


class _HasEffects(Exception):
    """A trip calls a function that may change objects."""


def stage_index_loop(
    loop: PythonLoop,
    names: Sequence[str],
    stage: Callable[[range], None],
    get_state: Callable[[], tuple[Any, ...]],
    set_state: Callable[[tuple[Any, ...]], None],
) -> bool:
    """Run the first trips of a loop and stage the rest.

    `names` are the names in its body. `stage` builds the loop of the graph over the remaining
    numbers. Returns False if trips remain that have to run in Python: the loop is short, its
    variables are not arrays, its trips may have effects, or the graph cannot express them.
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
        # A Python number would lose its type, and a whole number would overflow.
        if not all(map(_is_carried, entry)) or not all(map(_is_pure, _objects(loop.body, names))):
            continue
        try:
            with _effects_refused():
                stage(loop.iterated[loop.trips :])
        except (Exception, EscapingException):
            rollback(moment)
            set_state(entry)
        else:
            return True
    return False


def _is_carried(value: Any) -> bool:
    """Whether a variable of a loop keeps its meaning in the graph."""
    if isinstance(value, tuple):
        return all(map(_is_carried, value))
    return isinstance(value, (Array, Maybe, Undefined))


def _objects(function: Any, names: Sequence[str]) -> Iterator[Any]:
    """The objects that outer names of a function denote."""
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    for name in names:
        if name in cells:
            try:
                yield cells[name].cell_contents
            except ValueError:  # not bound yet
                continue
        elif name not in function.__code__.co_varnames:
            yield function.__globals__.get(name, getattr(builtins, name, None))


@contextmanager
def _effects_refused() -> Iterator[None]:
    """Refuse calls of functions that may have effects."""
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


def _is_pure(value: Any) -> bool:
    """Whether an object has no effects when a trip uses it.

    For a function, calls inside it are checked when they are made.
    """
    if isinstance(value, (Array, *_NUMBERS, np.ufunc)):
        return type(value) is np.ndarray or not isinstance(value, np.ndarray)
    if isinstance(value, ModuleType):
        return value.__name__.partition(".")[0] in _MODULES
    if type(value) in (list, tuple):
        return len(value) <= _ELEMENTS and all(
            isinstance(v, (Array, np.generic, np.ndarray)) for v in value
        )
    if isinstance(value, (type, BuiltinFunctionType)) and value.__module__ == "builtins":
        return any(value is function for function in PURE_BUILTINS) or _is_method_of_ours(value)
    if isinstance(value, (MethodType, BuiltinFunctionType)) and value in STAGED:
        return True
    if isinstance(value, (MethodType, BuiltinFunctionType)):
        owner = getattr(value, "__self__", None)
        if owner is not None and not isinstance(owner, ModuleType):
            return _is_ours(type(owner))
    if not isinstance(value, FunctionType):
        return _is_ours(value) or _is_ours(type(value))
    if inspect.unwrap(value).__code__.co_filename.startswith(PACKAGE):
        return True
    root = (value.__module__ or "").partition(".")[0]
    if root in ("numpy", "jax"):
        return value.__name__ not in _WRITING
    return not hasattr(value, "__wrapped__") and _is_pure_code(value)


def _is_method_of_ours(value: Any) -> bool:
    return _is_ours(type(getattr(value, "__self__", None)))


def _is_ours(value: Any) -> bool:
    return (getattr(value, "__module__", None) or "").partition(".")[0] in ("kinetograph", "jax")


def _is_pure_code(function: FunctionType, depth: int = 0) -> bool:
    """Whether a user's function only computes, with functions that only compute."""
    code = function.__code__
    if _changes(code, frozenset(code.co_freevars)) or depth > 10:
        return False
    for value in _objects(function, (*code.co_freevars, *_global_names(code))):
        if isinstance(value, FunctionType) and value is not function:
            if not _is_ours(value) and not _is_pure_code(value, depth + 1):
                return False
        elif value is not function and not _is_pure(value):
            return False
    return True


def _global_names(code: CodeType) -> set[str]:
    """The names that code reads as global variables."""
    names = {
        i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")
    }
    return names.union(*(_global_names(c) for c in code.co_consts if isinstance(c, CodeType)))


def _changes(code: CodeType, outer: frozenset[str]) -> bool:
    """Whether code has effects, or changes the `outer` variables of its function.

    The code may have been converted: assignments to items are then calls of operators.
    """
    for instruction in dis.get_instructions(code):
        name = instruction.opname
        if name in _EFFECTS or (name in _OUTER and instruction.argval in outer):
            return True
    if not (_OPERATORS | _WRITING).isdisjoint(code.co_names):
        return True
    return any(_changes(const, outer) for const in code.co_consts if isinstance(const, CodeType))
