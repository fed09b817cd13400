"""Model functions: `kg.model(build)`, of a function that makes the arrays of a model."""

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
from ..graph.source import place_text, site_of, written_at

__all__ = ["is_model_function", "run_model_function"]

_TOOLS = (4, 3)  # of `sys.monitoring`: those that no kind of tool claims
# By the code of each model function that runs: what was found when it returned.
_WATCHED: ContextVar[dict[CodeType, list[Any]]] = ContextVar("watched", default={})  # noqa: B039


def is_model_function(value: Any) -> bool:
    """Whether something is a function, and not an array or a class."""
    return callable(value) and not isinstance(value, (Array, type))


def run_model_function(build: Callable[[], Any], finish: Callable[[Any], Any]) -> Any:
    """`finish` of what a function returns, called where the function's variables are in scope.

    Raises
    ------
    TypeError
        If the function is staged, or has arguments without a default.
    """
    _check(build)
    with _locals_at_return(_code(build)) as ended:
        returned = build()
    code, offset, variables, names = ended or (_code(build), 0, {}, {})
    if code is None:
        return finish(returned)
    # A frame of the user's file in which the variables are those of the function: whatever names
    # arrays and lines finds them there as it does elsewhere.
    site = site_of((code, offset))
    line = code.co_firstlineno if site is None else site.line
    space = {**variables, "_finish": finish, "_returned": returned}
    text = "\n" * (line - 1) + "_result = _finish(_returned)"
    exec(compile(text, code.co_filename, "exec"), names, space)
    return space["_result"]


def _check(build: Any) -> None:
    if isinstance(build, StagedFunction):
        name = build.python_function.__name__
        raise TypeError(
            f"model: {name} is decorated with @kg.function{place_text()}; a function that makes a "
            "model is plain Python: leave the decorator out"
        )
    try:
        parameters = inspect.signature(build).parameters.values()
    except (TypeError, ValueError):  # of a builtin, whose result tells
        return
    needed = [
        p.name
        for p in parameters
        if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]
    if needed:
        name = getattr(build, "__name__", "build")
        given = ", ".join(f"{n}=..." for n in needed)
        raise TypeError(
            f"model: the function {name}{written_at(build)} has arguments without a default: "
            f"{', '.join(needed)}{place_text()}; give them by "
            f"kg.model(functools.partial({name}, {given}))"
        )


def _code(build: Any) -> CodeType | None:
    """The code whose variables name the arrays."""
    while isinstance(build, functools.partial):
        build = build.func
    build = inspect.unwrap(build)
    if not hasattr(build, "__code__") and not hasattr(build, "__func__"):
        build = type(build).__call__  # an object that is called
    code = getattr(getattr(build, "__func__", build), "__code__", None)
    return code if isinstance(code, CodeType) else None


@contextmanager
def _locals_at_return(code: CodeType | None) -> Iterator[list[Any]]:
    """The code, place, variables and globals of the call that returns last, once it has."""
    ended: list[Any] = []
    tool = _tool()
    if code is None or tool is None:
        yield ended
        return
    sys.monitoring.set_local_events(tool, code, sys.monitoring.events.PY_RETURN)
    token = _WATCHED.set({**_WATCHED.get(), code: ended})
    try:
        yield ended
    finally:
        _WATCHED.reset(token)


@functools.cache
def _tool() -> int | None:
    """The number by which Python reports to kinetograph; None where others have taken all."""
    watch = sys.monitoring
    tool = next((t for t in _TOOLS if watch.get_tool(t) is None), None)
    if tool is not None:
        watch.use_tool_id(tool, "kinetograph")
        watch.register_callback(tool, watch.events.PY_RETURN, _returns)
    return tool


def _returns(code: CodeType, offset: int, returned: object) -> None:
    ended = _WATCHED.get().get(code)
    if ended is not None:
        frame = sys._getframe(1)
        ended[:] = code, offset, dict(frame.f_locals), frame.f_globals
