"""The source text of the user's present index expression, for messages: `mu[z]`."""

import ast
import linecache
from typing import NamedTuple

from .source import user_frame

__all__ = ["Subscript", "subscript_here"]


class Subscript(NamedTuple):
    """An index expression in parts."""

    array: str
    key: str
    is_slice: bool


def subscript_here() -> Subscript | None:
    """The expression that the user's present instruction indexes, or None."""
    frame = user_frame()
    if frame is None:
        return None
    code = frame.f_code
    first, last, start, end = list(code.co_positions())[frame.f_lasti // 2]
    if first is None or last != first:
        return None
    line = linecache.getline(code.co_filename, first).encode()  # offsets count bytes
    try:
        text = line[start:end].decode()
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, UnicodeDecodeError):
        return None
    if not isinstance(tree, ast.Subscript):
        return None
    array, index = (ast.get_source_segment(text, part) for part in (tree.value, tree.slice))
    return Subscript(array or "", index or "", isinstance(tree.slice, ast.Slice))
