"""Where in the user's program something was written, and by which name the user knows an array.

`here()` is called once for every node, so it keeps the code object and the place in it only; lines
and names are looked up when a message needs them.
"""

import contextlib
import functools
import inspect
import os
import sys
import warnings
from itertools import pairwise
from types import CodeType, FrameType
from typing import Any, NamedTuple

from .frames import local_variables

__all__ = [
    "LIBRARIES",
    "PACKAGE",
    "Place",
    "Site",
    "asserted",
    "assigned_here",
    "called_here",
    "cell_of",
    "draws_by_numpy",
    "here",
    "is_own",
    "place_text",
    "site_of",
    "used_in_call",
    "user_frame",
    "variable_name",
    "warn_user",
    "written_at",
]

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep

# Whose functions are Python inside, and may call kinetograph for a user.
LIBRARIES = frozenset({"numpy", "pandas", "scipy", "sklearn", "xarray"})

COMMAND = "click.core"  # which calls the functions of the command

_BETWEEN = {functools.__file__, contextlib.__file__}  # by which kinetograph calls itself

Place = tuple[CodeType, int]  # a code object and the offset of the instruction being executed


class Site(NamedTuple):
    """A line of the user's program."""

    filename: str
    line: int

    def __str__(self) -> str:
        return f"{cell_of(self.filename) or os.path.basename(self.filename)}:{self.line}"


def cell_of(filename: str) -> str:
    """What a notebook calls the cell that is compiled as a file of some name: `In[3]`."""
    session = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    named = getattr(getattr(session, "compile", None), "format_code_name", None)
    found = None if named is None else named(filename)
    return "" if found is None else str(found[1])


def user_frame() -> FrameType | None:
    """The innermost frame that is neither kinetograph's own nor of a library that has called it."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_own(frame.f_code.co_filename):
        frame = frame.f_back
    inner = frame
    while frame is not None and str(frame.f_globals.get("__name__")).split(".")[0] in LIBRARIES:
        frame = frame.f_back
    return frame or inner


def is_own(filename: str) -> bool:
    """Whether a file is kinetograph's, or one by which it calls itself."""
    return filename.startswith(PACKAGE) or filename in _BETWEEN


def here() -> Place | None:
    """The instruction of the user's program that is being executed."""
    frame: FrameType | None = sys._getframe(2)  # the caller is kinetograph's
    while frame is not None:
        code = frame.f_code
        filename = code.co_filename
        if not filename.startswith(PACKAGE) and filename not in _BETWEEN:  # for every node: inline
            return code, frame.f_lasti
        frame = frame.f_back
    return None


def site_of(place: "Place | Site | None") -> Site | None:
    """The file and line of an instruction; what is one already, as in a loaded graph, stays."""
    if place is None or isinstance(place, Site):
        return place
    code, offset = place
    for start, end, line in code.co_lines():
        if start <= offset < end and line is not None:
            return Site(code.co_filename, line)
    return Site(code.co_filename, code.co_firstlineno)


def place_text() -> str:
    """` (file:line)` of the user's statement that is being carried out; none of a command."""
    frame = user_frame()
    if frame is not None and frame.f_globals.get("__name__") == COMMAND:
        return ""
    site = None if frame is None else site_of((frame.f_code, frame.f_lasti))
    return f" ({site})" if site else ""


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn, of the user's statement that is being carried out."""
    warnings.warn(message, category, stacklevel=2, skip_file_prefixes=(PACKAGE, *_BETWEEN))


def asserted() -> str:
    """The condition of the user's `assert` that is being carried out, as it is written there."""
    import ast
    import linecache

    site = site_of(here())
    line = "" if site is None else linecache.getline(site.filename, site.line).strip()
    try:
        tree = ast.parse(line)
    except SyntaxError:  # it goes on in the next line
        return ""
    found = tree.body[0] if tree.body else None
    text = ast.get_source_segment(line, found.test) if isinstance(found, ast.Assert) else None
    return text or ""


def called_here() -> bool:
    """Whether the user's program is calling a function at present, of Python or of kinetograph."""
    import dis

    frame = user_frame()
    if frame is None:
        return False
    return dis.opname[frame.f_code.co_code[frame.f_lasti]].startswith("CALL")


def assigned_here() -> bool:
    """Whether the user's program is assigning to an item, as in `x[0] = v`."""
    import dis

    frame = user_frame()
    if frame is None:
        return False
    return dis.opname[frame.f_code.co_code[frame.f_lasti]].startswith("STORE_S")


def used_in_call() -> dict[str, Any]:
    """The variables, with their values, that the lines of the user's present call name."""
    frame = user_frame()
    if frame is None:
        return {}
    loaded = _loaded_in_call(frame)
    visible = {**frame.f_globals, **local_variables(frame)}
    return {name: visible[name] for name in sorted({*loaded}) if name in visible}


def _loaded_in_call(frame: FrameType) -> list[str]:
    """The names and attributes that the lines of a frame's present call load, in order."""
    import dis  # for messages alone: importing it takes time

    places = list(frame.f_code.co_positions())
    start, end = places[frame.f_lasti // 2][:2]
    if start is None or end is None:
        return []
    names: list[str] = []
    for step in dis.get_instructions(frame.f_code):
        line = places[step.offset // 2][0]
        if step.opname.startswith("LOAD_") and line is not None and start <= line <= end:
            names += map(str, step.argval if isinstance(step.argval, tuple) else [step.argval])
    return names


def draws_by_numpy() -> bool:
    """Whether the user's present call is to one of NumPy's generators of random numbers."""
    from numpy import random

    frame = user_frame()
    if frame is None:
        return False
    used = used_in_call().values()
    if any(isinstance(v, (random.Generator, random.RandomState)) or v is random for v in used):
        return True
    loaded, visible = _loaded_in_call(frame), {**frame.f_globals, **local_variables(frame)}
    pairs = pairwise(loaded)
    return any(
        after == "random" and getattr(visible.get(name), "random", None) is random
        for name, after in pairs
    )


def written_at(function: Any) -> str:
    """` (file:line)` of a function or method, or nothing where it is not known."""
    code = getattr(inspect.unwrap(getattr(function, "__func__", function)), "__code__", None)
    if not isinstance(code, CodeType):
        return ""
    return f" ({Site(code.co_filename, code.co_firstlineno)})"


def variable_name(obj: object, frame: FrameType | None = None) -> str | None:
    """The variable of the user's frame, or of one of its callers, that holds `obj`, if any.

    A name that starts with an underscore counts only when no other does (IPython keeps results
    in such names).
    """
    frame = user_frame() if frame is None else frame
    while frame is not None:
        hidden = None
        for scope in (local_variables(frame), frame.f_globals):
            for name, value in scope.items():
                if value is obj:
                    if not name.startswith("_"):
                        return name
                    hidden = name
        if hidden is not None:
            return hidden
        frame = frame.f_back
    return None
