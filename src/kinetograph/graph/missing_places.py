"""The user's variables that hold missing values, for messages about single numbers."""

from contextlib import suppress
from typing import Any

import numpy as np

from .frame_variables import local_variables
from .messages import index_text
from .source import user_frame

__all__ = ["IN_STEPS", "missing_in_variables"]

IN_STEPS = (
    "in a loop over single values, let x = kg.normal(...) stand for a missing value, as an "
    "unknown, and write kg.observe(y[t], x) for the other ones"
)
_LARGEST = 10_000_000  # elements of an array that is searched
_LONGEST = 100_000  # elements of a list
_MOST = 2  # variables that are named


def missing_in_variables() -> str:
    """The user's arrays with NaN, as `y is nan at index 2`.

    Empty if there are none. Variables of the present function come before variables of its module.
    """
    frame = user_frame()
    if frame is None:
        return ""
    texts: dict[int, str] = {}
    for scope in (local_variables(frame), frame.f_globals):
        for name, value in list(scope.items()):
            mask = _mask(value) if not name.startswith("_") and id(value) not in texts else None
            if mask is not None and mask.any():
                place = tuple(int(i) for i in np.argwhere(mask)[0])
                more = int(mask.sum()) - 1
                rest = f" and {more} more" if more else ""
                texts[id(value)] = f"{name} is nan{index_text(place)}{rest}"
    return ", ".join([*texts.values()][:_MOST])


def _mask(value: Any) -> np.ndarray | None:
    """The places of NaN in an array, series or list, or None."""
    if isinstance(value, (list, tuple)):
        plain = 0 < len(value) <= _LONGEST and all(isinstance(v, (int, float)) for v in value)
        return np.isnan(np.array(value, float)) if plain else None
    if not isinstance(value, np.ndarray) and type(value).__module__.split(".")[0] != "pandas":
        return None
    with suppress(Exception):  # foreign objects
        array = np.asarray(value)
        if array.dtype.kind == "f" and array.ndim and array.size <= _LARGEST:
            return np.asarray(np.isnan(array))
    return None
