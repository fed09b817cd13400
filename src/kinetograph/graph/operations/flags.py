"""Single booleans in an index, as in `x[True]`.

As in NumPy, such a boolean is a new axis of length 1 or 0.
"""

from typing import Any, NamedTuple

import numpy as np

from ..messages import describe
from ..node import Data, Node
from ..source import place_text

__all__ = ["Flags", "axes_taken"]


class Flags(NamedTuple):
    """An index with single booleans, such as x[True], rewritten without booleans.

    NumPy treats True as a new axis of length 1 in front of the next axis, and False as a new axis
    of length 0.
    """

    wide: tuple[Any, ...]  # the index that adds an axis for each boolean
    key: tuple[Any, ...]  # the index without booleans, for the array with the added axes
    narrow: tuple[Any, ...]  # the index that removes the added axes

    @staticmethod
    def of(node: Node, key: Any) -> "Flags | None":
        """Rewrite an index; None if it contains no single boolean."""
        parts = [getattr(p, "node", p) for p in (key if isinstance(key, tuple) else (key,))]
        if not any(map(_is_flag, parts)):
            return None
        wide: list[Any] = []
        narrow: list[Any] = []
        for i, part in enumerate(parts):
            if _is_flag(part):
                if isinstance(part, Data) and not part.literal:
                    part.settled = f"an index of {describe(node)}{place_text()}"
                value: Any = part.value if isinstance(part, Data) else part
                parts[i] = np.zeros(int(value), np.int64)
                wide.append(None)
                narrow.append(0)
            else:
                axes = [part] if part is Ellipsis else [slice(None)] * axes_taken(part)
                wide += axes
                narrow += axes
        return Flags(tuple(wide), tuple(parts), tuple(narrow))


def _is_flag(part: Any) -> bool:
    if isinstance(part, (bool, np.bool_)):
        return True
    has_value = isinstance(part, (Data, np.ndarray))
    return has_value and part.dtype.kind == "b" and part.shape == ()


def axes_taken(part: Any) -> int:
    """The number of axes that a part of an index selects from."""
    if part is None or part is Ellipsis:
        return 0
    if isinstance(part, (int, np.integer, slice)):
        return 1
    array = part if isinstance(part, Node) else np.asarray(part)
    return len(array.shape) if array.dtype.kind == "b" else 1
