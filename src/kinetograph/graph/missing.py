"""Missing values: their detection, and the node for data that have some."""

import numbers
from typing import Any

import numpy as np

from .errors import DataError, ModelError
from .messages import describe, index_text
from .missing_places import IN_STEPS
from .node import Node
from .source import place_text

__all__ = ["ADVICE", "Incomplete", "find_missing", "first_place", "missing_mask", "refuse_masked"]

ADVICE = 'drop or fill missing values first, or infer them: kg.data(..., missing="impute")'


class Incomplete(Node):
    """Data with missing values (NaN), before their distribution is stated.

    `labels` has the labels of each axis; axes without names may have labels, too. `parts` has the
    arrays that observing the data made, by name.
    """

    __slots__ = ("coords", "labels", "parts", "value", "variable")
    kind = "incomplete"

    def __init__(
        self,
        value: np.ndarray,
        name: str | None,
        dims: tuple[str | None, ...] | None,
        coords: dict[str, np.ndarray],
        labels: tuple[np.ndarray | None, ...] = (),
    ) -> None:
        super().__init__((), value.shape, value.dtype, name, dims)
        self.value = value
        self.coords = coords
        self.labels = labels
        self.variable: str | None = None
        self.parts: dict[str, Any] = {}

    def _adopt(self, child: Node) -> None:
        raise self.refused()

    def refused(self) -> ModelError:
        """The error for a use before a distribution is stated."""
        name, place = describe(self), first_place(np.isnan(self.value))
        return ModelError(
            f"{name} has missing values and no distribution{place_text()}, the "
            f"first{index_text(place)}; state one before the data are used, as in "
            f"kg.observe({name}, kg.normal(mean, sd)): the missing values then become unknowns. "
            f"Or take the numbers without kg.data; {IN_STEPS}"
        )

    def label(self) -> str:
        return self.name or self.variable or "data"


def find_missing(value: Any, array: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return an array and the mask of its missing elements.

    An array of objects that are all numbers or missing becomes an array of numbers.
    """
    mask = missing_mask(value, array)
    is_object = array.dtype.kind == "O" and mask.any()
    if is_object and all(isinstance(v, numbers.Real) for v in array[~mask]):
        converted = np.full(array.shape, np.nan)
        converted[~mask] = array[~mask].astype(float)
        array = converted
    return array, mask


def missing_mask(value: Any, array: np.ndarray) -> np.ndarray:
    """The mask of the missing elements of a value and its array."""
    mask = np.zeros(array.shape, bool)
    if np.ma.isMaskedArray(value):
        mask |= np.ma.getmaskarray(value)
    if array.dtype.kind == "O":
        mask |= np.reshape([_is_missing(v) for v in array.reshape(-1)], array.shape).astype(bool)
    elif array.dtype.kind == "f":
        mask |= np.isnan(array)
    elif array.dtype.kind in "mM":
        mask |= np.isnat(array)
    return mask


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):  # pandas' missing values
        return True
    return isinstance(value, numbers.Real) and value != value


def first_place(mask: np.ndarray) -> tuple[int, ...]:
    """The index of the first true element."""
    return tuple(int(i) for i in np.argwhere(mask)[0])


def refuse_masked(value: Any, subject: str = "") -> None:
    """Refuse an array with masked elements.

    NumPy would otherwise use the numbers that are stored under the mask.

    Raises
    ------
    DataError
        If an element is masked.
    """
    mask = getattr(value, "_mask", None)  # NumPy's masked arrays and pandas' nullable arrays
    if isinstance(mask, np.ndarray) and mask.any():
        place = first_place(mask)
        raise DataError(
            f"{subject or 'an array'}: masked{index_text(place)}{place_text()}; fill masked "
            "elements first (value.filled(0.0)), or remove them (value.compressed())"
        )
