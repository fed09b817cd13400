"""Single booleans in an index, as in `x[True]`: an axis of length 1 or 0, as in NumPy."""

from typing import Any, NamedTuple

import numpy as np

from ..messages import describe
from ..node import Data, Node
from ..source import place_text

__all__ = ["Flags", "axes_taken"]


class Flags(NamedTuple):
    """An index with single booleans, such as x[True], as one of an array with an axis for each.

    NumPy reads True as an axis of length 1 in front of the axis that follows, False as one of
    length 0.
    """

    wide: tuple[Any, ...]  # the index that adds an axis for each boolean
    key: tuple[Any, ...]  # the index without booleans, of the array with these axes
    narrow: tuple[Any, ...]  # the index that takes these axes away

    @staticmethod
    def of(node: Node, key: Any) -> "Flags | None":
        """None if the index has no such boolean."""
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
    known = isinstance(part, (Data, np.ndarray))
    return known and part.dtype.kind == "b" and part.shape == ()


def axes_taken(part: Any) -> int:
    """How many axes of an array a part of an index selects from."""
    if part is None or part is Ellipsis:
        return 0
    if isinstance(part, (int, np.integer, slice)):
        return 1
    array = part if isinstance(part, Node) else np.asarray(part)
    return len(array.shape) if array.dtype.kind == "b" else 1
