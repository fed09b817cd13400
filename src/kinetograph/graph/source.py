"""Where in the user's program something was written, and by which name the user knows an array.

`here()` is called once for every node, so it stores the code object and line only; names are looked
up when a message needs them.
"""

import os
import sys
from types import FrameType
from typing import NamedTuple

__all__ = ["Site", "here", "user_frame", "variable_name"]

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


class Site(NamedTuple):
    """A line of the user's program."""

    filename: str
    line: int

    def __str__(self) -> str:
        return f"{os.path.basename(self.filename)}:{self.line}"


def user_frame() -> FrameType | None:
    """The innermost frame that is not kinetograph's own."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    return frame


def here() -> Site | None:
    """The user's line that is being executed."""
    frame = user_frame()
    return None if frame is None else Site(frame.f_code.co_filename, frame.f_lineno)


def variable_name(obj: object, frame: FrameType | None = None) -> str | None:
    """The variable of the user's frame, or of one of its callers, that holds `obj`, if any.

    A name that starts with an underscore counts only when no other does (IPython keeps results
    in such names).
    """
    frame = user_frame() if frame is None else frame
    while frame is not None:
        hidden = None
        for scope in (frame.f_locals, frame.f_globals):
            for name, value in scope.items():
                if value is obj:
                    if not name.startswith("_"):
                        return name
                    hidden = name
        if hidden is not None:
            return hidden
        frame = frame.f_back
    return None
