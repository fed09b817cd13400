"""Safe reading of the local variables of a frame.

CPython 3.13 ends with a segmentation fault if `frame.f_locals` is read for a variable of a running
comprehension and the surrounding function has a closure over a variable of the same name: the slot
then holds the comprehension's value instead of a cell, but is read as a cell.
"""

import dis
from contextlib import suppress
from functools import lru_cache
from types import CodeType, FrameType
from typing import Any

__all__ = ["local_variables"]

_HIDES = dis.opmap.get("LOAD_FAST_AND_CLEAR")  # at the start of a comprehension


def local_variables(frame: FrameType) -> dict[str, Any]:
    """The local variables of a frame, except those a comprehension may replace."""
    visible, code = frame.f_locals, frame.f_code
    replaced = _replaced(code) if code.co_cellvars else {}
    if not replaced or isinstance(visible, dict):
        return dict(visible)
    variables = {}
    for name in dict.fromkeys((*code.co_varnames, *code.co_cellvars, *code.co_freevars)):
        if name not in replaced or frame.f_lasti < replaced[name]:
            with suppress(KeyError):  # not bound yet
                variables[name] = visible[name]
    return variables


@lru_cache(maxsize=4096)
def _replaced(code: CodeType) -> dict[str, int]:
    """Closure variables that comprehensions also use, with the first one's offset."""
    if _HIDES is None or _HIDES not in code.co_code[::2]:
        return {}
    offsets: dict[str, int] = {}
    for step in dis.get_instructions(code):
        if step.opcode == _HIDES and step.argval in code.co_cellvars:
            offsets.setdefault(step.argval, step.offset)
    return offsets
