"""NumPy arrays of several names.

Where a NumPy array is changed by symbolic values it becomes an array of the graph, of which only
the variable that is assigned knows. Python would change the array itself, under all its names.
"""

import sys
import weakref
from types import FrameType
from typing import Any

import numpy as np

from ...graph.array import Array
from ...graph.errors import StagingError
from ...graph.frames import local_variables
from ...graph.node import Inner, Node
from ...graph.source import PACKAGE, place_text

__all__ = ["original_of", "refuse_aliases", "remember"]

_FRAMES = 50
_ORIGINALS: "weakref.WeakKeyDictionary[Node, np.ndarray]" = weakref.WeakKeyDictionary()


def remember(array: Array, original: np.ndarray) -> None:
    """Note which NumPy array an array of the graph stands for, in a staged statement."""
    _ORIGINALS[array.node] = original


def original_of(array: Array) -> np.ndarray | None:
    """The NumPy array that a staged statement began with."""
    node = array.node
    while isinstance(node, Inner):
        node = node.outer
    return _ORIGINALS.get(node)


def refuse_aliases(array: Any, own: int = 1) -> None:
    """Refuse to change the items of a NumPy array in the graph that other variables know, too.

    `own` variables may hold it.

    Variables of the user's function and of those that called it are looked at.

    Raises
    ------
    StagingError
        It names them.
    """
    if not isinstance(array, np.ndarray):
        return
    owner = _owner(array)
    found: dict[tuple[str, str, str], None] = {}
    frame: FrameType | None = sys._getframe(1)
    for _ in range(_FRAMES):
        if frame is None:
            break
        code = frame.f_code
        if not code.co_filename.startswith(PACKAGE):
            for variable, value in local_variables(frame).items():
                if isinstance(value, np.ndarray) and _owner(value) is owner:
                    found[(code.co_filename, code.co_qualname, variable)] = None
        frame = frame.f_back
    if len(found) > own:
        others = " and ".join(dict.fromkeys(repr(variable) for _, _, variable in found))
        raise StagingError(
            f"items of a NumPy array are assigned{place_text()}, so that it becomes an array of "
            f"the graph, but its memory has other names, too, in this function or in one that "
            f"called it: {others}. Python would change them all. Work on a copy, or return the "
            "new array and assign it"
        )


def _owner(array: np.ndarray) -> Any:
    """The array that owns the memory."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array
