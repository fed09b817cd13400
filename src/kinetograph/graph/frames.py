"""The variables of a frame, as far as they can be read without harm.

CPython 3.13 ends the process (a segmentation fault) if `frame.f_locals` is asked for a variable of
a comprehension that is running, where the function around has a closure over a variable of that
name: the comprehension's value stands in the place of a cell, and is read as one.
"""

import dis
from contextlib import suppress
from functools import lru_cache
from types import CodeType, FrameType
from typing import Any

__all__ = ["local_variables"]

_HIDES = dis.opmap.get("LOAD_FAST_AND_CLEAR")  # at the begin of a comprehension


def local_variables(frame: FrameType) -> dict[str, Any]:
    """The local variables of a frame, but for those that comprehensions may have replaced."""
    found, code = frame.f_locals, frame.f_code
    replaced = _replaced(code) if code.co_cellvars else {}
    if not replaced or isinstance(found, dict):
        return dict(found)
    variables = {}
    for name in dict.fromkeys((*code.co_varnames, *code.co_cellvars, *code.co_freevars)):
        if name not in replaced or frame.f_lasti < replaced[name]:
            with suppress(KeyError):  # not bound yet
                variables[name] = found[name]
    return variables


@lru_cache(maxsize=4096)
def _replaced(code: CodeType) -> dict[str, int]:
    """The variables of closures that a comprehension has, too, and where the first one begins."""
    if _HIDES is None or _HIDES not in code.co_code[::2]:
        return {}
    found: dict[str, int] = {}
    for step in dis.get_instructions(code):
        if step.opcode == _HIDES and step.argval in code.co_cellvars:
            found.setdefault(step.argval, step.offset)
    return found
