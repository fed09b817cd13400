"""Detection of NumPy arrays that have several names.

A NumPy array that is changed by symbolic values is replaced by an array of the graph, which only
the assigned variable refers to. Python would change the array itself, so that all its names would
see the change.
"""

import sys
import weakref
from types import FrameType
from typing import Any

import numpy as np

from ...graph.array import Array
from ...graph.errors import StagingError
from ...graph.frame_variables import local_variables
from ...graph.node import Inner, Node
from ...graph.source import PACKAGE, place_text

__all__ = ["original_of", "refuse_aliases", "remember"]

_FRAMES = 50  # the largest number of frames that are examined
_ORIGINALS: "weakref.WeakKeyDictionary[Node, np.ndarray]" = weakref.WeakKeyDictionary()


def remember(array: Array, original: np.ndarray) -> None:
    """Record the NumPy array that an array of the graph replaces."""
    _ORIGINALS[array.node] = original


def original_of(array: Array) -> np.ndarray | None:
    """The NumPy array that an array of the graph replaces, if any."""
    node = array.node
    while isinstance(node, Inner):
        node = node.outer
    return _ORIGINALS.get(node)


def refuse_aliases(array: Any, allowed: int = 1) -> None:
    """Refuse to change items of a NumPy array that has further names.

    The variables of the user's function and of its callers are examined. `allowed` of them may
    refer to the array.

    Raises
    ------
    StagingError
        If more variables do. The message names them.
    """
    if not isinstance(array, np.ndarray):
        return
    owner = _owner(array)
    aliases: dict[tuple[str, str, str], None] = {}
    frame: FrameType | None = sys._getframe(1)
    for _ in range(_FRAMES):
        if frame is None:
            break
        code = frame.f_code
        if not code.co_filename.startswith(PACKAGE):
            for variable, value in local_variables(frame).items():
                if isinstance(value, np.ndarray) and _owner(value) is owner:
                    aliases[(code.co_filename, code.co_qualname, variable)] = None
        frame = frame.f_back
    if len(aliases) > allowed:
        names = " and ".join(dict.fromkeys(repr(variable) for _, _, variable in aliases))
        raise StagingError(
            f"items of a NumPy array are assigned{place_text()}, so that it becomes an array of "
            f"the graph, but several variables of this function or its callers refer to its "
            f"memory: {names}. Python would change all of them. Work on a copy, or return the "
            "new array and assign it"
        )


def _owner(array: np.ndarray) -> Any:
    """The array that owns the memory."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array
