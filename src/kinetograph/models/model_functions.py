"""Model functions: `kg.model(build)`, where `build` makes the arrays of a model.

The variables of `build` at its return name the arrays. If `build` returns what another function of
the user returned, as in `kg.model(lambda: regression(3))`, the variables of that function do.
"""

import functools
import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import CodeType
from typing import Any

from ..autograph.staged_function import StagedFunction
from ..graph.array import Array
from ..graph.source import LIBRARIES, is_own, place_text, site_of, written_at

__all__ = ["is_model_function", "only_argument", "run_model_function"]

_TOOLS = (4, 3)  # tool numbers of `sys.monitoring` without a predefined purpose
# For the code of each running model function, and of the functions that it calls: the record of its
# last return.
_WATCHED: ContextVar[dict[CodeType, "_Return"]] = ContextVar("watched", default={})  # noqa: B039


class _Return:
    """The last return of a function, and the records of its callees."""

    def __init__(self) -> None:
        self.code: CodeType | None = None
        self.offset = 0
        self.returned: Any = None
        self.variables: dict[str, Any] = {}
        self.globals: dict[str, Any] = {}
        self.callees: dict[CodeType, _Return] = {}

    def named(self, callers: tuple["_Return", ...] = ()) -> dict[str, Any]:
        """The variables, and a callee's if its result is returned unchanged."""
        callers = (*callers, self)
        for callee in self.callees.values():
            same = callee.returned is self.returned is not None
            if same and callee.code is not None and callee not in callers:
                renamed = {id(value) for value in self.variables.values()}
                inner = callee.named(callers).items()
                return self.variables | {n: v for n, v in inner if id(v) not in renamed}
        return self.variables


def is_model_function(value: Any) -> bool:
    """Whether a value is callable, and not an array or a class."""
    return callable(value) and not isinstance(value, (Array, type))


def run_model_function(build: Callable[[], Any], finish: Callable[[Any], Any]) -> Any:
    """Call `build`, and `finish` with its result and its variables in scope.

    Raises
    ------
    TypeError
        If the function is staged, or has arguments without a default.
    """
    _check(build)
    with _locals_at_return(_code(build)) as record:
        returned = build()
    code = record.code or _code(build)
    if code is None:
        return finish(returned)
    # `finish` runs in a frame of the user's file that has the function's variables, so that the
    # code that looks up names of arrays and source lines finds them as usual.
    site = site_of((code, record.offset))
    line = code.co_firstlineno if site is None else site.line
    space = {**record.named(), "_finish": finish, "_returned": returned}
    text = "\n" * (line - 1) + "_result = _finish(_returned)"
    exec(compile(text, code.co_filename, "exec"), record.globals, space)
    return space["_result"]


def _check(build: Any) -> None:
    """Raise TypeError if a function cannot be called without arguments."""
    if isinstance(build, StagedFunction):
        name = build.python_function.__name__
        raise TypeError(
            f"model: {name} is decorated with @kg.function{place_text()}; a function that makes a "
            "model must be plain Python: remove the decorator"
        )
    if hasattr(build, "same_names"):  # its parameters may have defaults
        name = build.__name__
        raise TypeError(
            f"model: the function {name} is a distribution{place_text()}; call it, as in "
            f"mu = kg.{name}(...), and give the array: kg.model(mu)"
        )
    if needed := _needed(build):
        name = getattr(build, "__name__", "build")
        raise TypeError(
            f"model: the function {name}{written_at(build)} has arguments without a default: "
            f"{', '.join(needed)}{place_text()}; give them with {only_argument(build)}"
        )


def only_argument(build: Any) -> str:
    """The call of `kg.model` with a function, whose arguments come from `partial`."""
    name = getattr(build, "__name__", "build")
    given = "".join(f", {n}=..." for n in _needed(build))
    return f"kg.model(functools.partial({name}{given}))" if given else f"kg.model({name})"


def _needed(build: Any) -> list[str]:
    """The arguments of a function without a default."""
    try:
        parameters = inspect.signature(build).parameters.values()
    except (TypeError, ValueError):  # builtins have no signature; their result is checked later
        return []
    return [
        p.name
        for p in parameters
        if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]


def _code(build: Any) -> CodeType | None:
    """The code of the function whose variables name the arrays."""
    while isinstance(build, functools.partial):
        build = build.func
    build = inspect.unwrap(build)
    if not hasattr(build, "__code__") and not hasattr(build, "__func__"):
        build = type(build).__call__  # a callable object
    code = getattr(getattr(build, "__func__", build), "__code__", None)
    return code if isinstance(code, CodeType) else None


@contextmanager
def _locals_at_return(code: CodeType | None) -> Iterator[_Return]:
    """The record of the call of `code` that returns last."""
    record = _Return()
    tool = _tool()
    if code is None or tool is None:
        yield record
        return
    _watch(tool, code)
    token = _WATCHED.set({**_WATCHED.get(), code: record})
    try:
        yield record
    finally:
        _WATCHED.reset(token)


def _watch(tool: int, code: CodeType) -> None:
    events = sys.monitoring.events
    sys.monitoring.set_local_events(tool, code, events.PY_RETURN | events.CALL)


@functools.cache
def _tool() -> int | None:
    """The tool number of kinetograph in `sys.monitoring`, or None.

    None means that all numbers are in use by other tools.
    """
    watch = sys.monitoring
    tool = next((t for t in _TOOLS if watch.get_tool(t) is None), None)
    if tool is not None:
        watch.use_tool_id(tool, "kinetograph")
        watch.register_callback(tool, watch.events.PY_RETURN, _returns)
        watch.register_callback(tool, watch.events.CALL, _calls)
    return tool


def _returns(code: CodeType, offset: int, returned: object) -> None:
    """Record the frame of a model function when it returns."""
    record = _WATCHED.get().get(code)
    if record is not None:
        frame = sys._getframe(1)
        record.code, record.offset, record.returned = code, offset, returned
        record.variables, record.globals = dict(frame.f_locals), frame.f_globals


def _calls(code: CodeType, offset: int, function: object, argument: object) -> None:
    """Watch a function of the user that a model function calls."""
    watched = _WATCHED.get()
    record, tool = watched.get(code), _tool()
    if record is None or tool is None or not is_model_function(function):
        return
    callee = _code(function)
    library = str(getattr(function, "__module__", "")).split(".")[0] in LIBRARIES
    if callee is None or library or is_own(callee.co_filename):
        return
    if callee not in watched:
        watched[callee] = _Return()
        _watch(tool, callee)
    record.callees[callee] = watched[callee]
