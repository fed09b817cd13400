"""Data in files, which are read when they are used."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .precision import FLOAT32, float_dtype

__all__ = ["holds_in_parts", "is_in_a_file", "kept_in_its_file"]

_PART = 2**20  # elements


def kept_in_its_file(value: Any) -> bool:
    """Whether data can read an array from its file.

    The array is a memory map that cannot be written, with numbers of a type that needs no
    conversion.
    """
    if not isinstance(value, np.memmap) or value.flags.writeable or not value.flags.c_contiguous:
        return False
    return value.dtype.kind in "biu" or value.dtype in (FLOAT32, float_dtype())


def is_in_a_file(array: np.ndarray) -> bool:
    """Whether an array is a view of a memory map."""
    base: Any = array
    while base is not None and not isinstance(base, np.memmap):
        base = getattr(base, "base", None)
    return base is not None


def holds_in_parts(condition: Callable[[np.ndarray], np.ndarray], array: np.ndarray) -> bool:
    """Whether a condition holds for all elements, found with little memory."""
    flat = array.reshape(-1)
    return all(condition(flat[i : i + _PART]).all() for i in range(0, flat.size, _PART))
