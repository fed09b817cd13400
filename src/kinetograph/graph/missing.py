"""Missing values: where they are, and the node of data that have some."""

import numbers
from typing import Any

import numpy as np

from .errors import DataError, ModelError
from .messages import describe, index_text
from .node import Node
from .source import place_text

__all__ = ["ADVICE", "Incomplete", "find_missing", "first_place", "refuse_masked"]

ADVICE = 'drop or fill missing values first, or have them inferred: kg.data(..., missing="impute")'


class Incomplete(Node):
    """Data of which some are missing (NaN), before it is said what they follow.

    `parts` is what observing them has made of them, by name.
    """

    __slots__ = ("coords", "parts", "value", "variable")
    kind = "incomplete"

    def __init__(
        self,
        value: np.ndarray,
        name: str | None,
        dims: tuple[str | None, ...] | None,
        coords: dict[str, np.ndarray],
    ) -> None:
        super().__init__((), value.shape, value.dtype, name, dims)
        self.value = value
        self.coords = coords
        self.variable: str | None = None
        self.parts: dict[str, Any] = {}

    def _adopt(self, child: Node) -> None:
        raise self.refused()

    def refused(self) -> ModelError:
        """What to raise where it is used."""
        what = describe(self)
        return ModelError(
            f"{what} has missing values and follows no distribution{place_text()}; state one "
            f"before they are used, kg.observe({what}, kg.normal(mean, sd)), by which the missing "
            "values become unknowns"
        )

    def label(self) -> str:
        return self.name or self.variable or "data"


def find_missing(value: Any, array: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The array, of numbers if it is one of objects that are, and which elements are missing."""
    gone = np.zeros(array.shape, bool)
    if np.ma.isMaskedArray(value):
        gone |= np.ma.getmaskarray(value)
    if array.dtype.kind == "O":
        gone |= np.reshape([_is_missing(v) for v in array.reshape(-1)], array.shape).astype(bool)
        if gone.any() and all(isinstance(v, numbers.Real) for v in array[~gone]):
            found = np.full(array.shape, np.nan)
            found[~gone] = array[~gone].astype(float)
            array = found
    if array.dtype.kind == "f":
        gone |= np.isnan(array)
    return array, gone


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):  # of pandas
        return True
    return isinstance(value, numbers.Real) and value != value


def first_place(mask: np.ndarray) -> tuple[int, ...]:
    """The index of the first true element."""
    return tuple(int(i) for i in np.argwhere(mask)[0])


def refuse_masked(value: Any, what: str = "") -> None:
    """Refuse an array with masked elements, which NumPy would convert to the numbers below.

    Raises
    ------
    DataError
        If an element is masked.
    """
    mask = getattr(value, "_mask", None)  # of masked arrays, and of pandas' nullable ones
    if isinstance(mask, np.ndarray) and mask.any():
        place = first_place(mask)
        raise DataError(
            f"{what or 'an array'}: masked{index_text(place)}{place_text()}; fill masked elements "
            "first (value.filled(0.0)), or leave them out (value.compressed())"
        )
