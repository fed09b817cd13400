"""The inputs of a graph: known values (`kg.data`) and `kg.placeholder`."""

from typing import Any, Literal

import numpy as np

from .array import Array
from .dims import check_dims, coords_of
from .errors import DataError, ShapeError, SymbolicError
from .memory_maps import holds_in_parts, kept_in_its_file
from .messages import index_text
from .missing import ADVICE, Incomplete, find_missing, first_place
from .missing_places import IN_STEPS, missing_in_variables
from .node import Data, Placeholder
from .number_advice import advice_on, not_numbers
from .operations.operands import BAD_KINDS, checked_dtype, refuse_traced
from .operations.shaping import as_sizes
from .precision import FLOAT32, float_dtype
from .public import public
from .source import here, place_text, site_of, variable_name
from .tables import column_index, labelled_axes, name_of, row_index
from .value_texts import check_name

__all__ = ["data", "placeholder"]


@public
def data(
    value: Any,
    name: str | None = None,
    dims: Any = None,
    *,
    infinite: bool = False,
    missing: Literal["impute"] | str | None = None,
) -> Array:
    """Make an array of known values: numbers, NumPy, pandas or xarray objects.

    Compiled functions take data as arguments, so new values of the same shape need no new
    compilation. Integers, booleans and floating-point numbers keep their kind; float64 becomes
    float32 under `kg.precision("float32")`. Values are copied, but a memory map that cannot be
    written, `numpy.load(path, mmap_mode="r")`, stays in its file, which is read when it is used.
    Then data may be larger than memory, and the file must not change.

    Parameters
    ----------
    value
        Anything that NumPy converts to a numeric array. Dims and coordinates of an xarray
        `DataArray` are kept. Index and columns of a pandas `Series` or `DataFrame`, and the columns
        of a polars `DataFrame`, become coordinates of axes that have a name: their own, or one of
        `dims`.
    name
        The name in results and messages; by default the variable that holds the array, else the
        name of the series.
    dims
        The names of the axes, or dimensions made by `kg.dim`, which also have labels.
    infinite
        Whether infinite values are allowed, for example as ends of unbounded intervals.
    missing
        "impute": missing values (NaN, None, pandas' NA, masked elements) become unknowns that
        follow the distribution of the data. State it with `kg.observe` before the data are used.

    Raises
    ------
    DataError
        If values are not numeric, missing or infinite (the message gives the first position).
    ValueError
        If `missing` is neither None nor "impute".
    DimsError
        If `dims` do not fit the shape, or have different labels than the value.

    Examples
    --------
    >>> import kinetograph as kg
    >>> y = kg.data([28.0, 8.0, -3.0], dims="school")
    >>> y.dims
    ('school',)
    """
    if isinstance(value, str) and name is not None and not isinstance(name, str):
        raise TypeError(
            f"data: the name {value!r:.40} is given before the values{place_text()}; write "
            f"kg.data(values, name={value!r:.40})"
        )
    subject = _Description(value, name)
    if isinstance(value, Array):
        raise DataError(f"{subject}: the value is already a kinetograph array; use it as it is")
    refuse_traced(value, "data")
    if missing not in (None, "impute"):
        raise ValueError(f'{subject}: missing must be None or "impute", got {missing!r}')
    if hasattr(value, "subtree"):
        raise DataError(f"{subject}: results are not an array of numbers{advice_on(value)}")
    try:
        given = np.asarray(value)
    except ValueError as error:
        uneven = "inhomogeneous" in str(error)
        hint = "rows have different lengths; put all numbers in one array, and make a second array "
        raise DataError(
            f"{subject}: the values do not make an array: "
            f"{f'{hint}of their row numbers' if uneven else error}"
        ) from None
    in_file = kept_in_its_file(value) and holds_in_parts(np.isfinite, given)
    array, missing_mask = (given, np.array(False)) if in_file else find_missing(value, given)
    if missing is None and missing_mask.any() and given.dtype.kind == "O":
        place = first_place(missing_mask)
        missed = f"a missing value ({given[place]}){index_text(place)}"
        raise DataError(f"{subject}: {missed}; {ADVICE}")
    if array.dtype.kind in BAD_KINDS:
        raise DataError(f"{subject}: {not_numbers(value, array)}")
    bad = np.array(missing_mask)
    if array.dtype.kind == "f" and not (infinite or in_file):
        bad |= ~np.isfinite(array)
    _refuse_missing(bad if missing is None else bad & ~missing_mask, missing_mask, array, subject)
    if array.dtype.kind == "f" and array.dtype != FLOAT32:
        array = array.astype(float_dtype(), copy=False)
    own_names = tuple(axis.name for axis in labelled_axes(value))
    names = check_dims(own_names if dims is None and any(own_names) else dims, array.shape, subject)
    coords = coords_of(value, names or (), dims, subject)
    frozen = array.view() if in_file else np.array(array)
    if missing_mask.any():
        if frozen.dtype.kind != "f":
            frozen = frozen.astype(float_dtype())
        frozen[missing_mask] = np.nan
    frozen.setflags(write=False)
    node: Incomplete | Data
    if missing_mask.any():
        labels = tuple(axis.labels for axis in labelled_axes(value))
        node = Incomplete(frozen, name, names, coords, labels)
    else:
        node = Data(frozen, name, names, coords=coords)
        node.rows, node.columns = row_index(value), column_index(value)
    node.variable = name_of(value)
    return Array(node)


_INFINITE = "drop or replace it first, or allow infinite values: kg.data(..., infinite=True)"


class _Description:
    """The description of data in messages: name or variable, and line."""

    def __init__(self, value: Any, name: str | None) -> None:
        check_name("data", name)
        self.value, self.name = value, name

    def __str__(self) -> str:
        variable = None
        if not isinstance(self.value, (str, int, float, type(None))):
            variable = variable_name(self.value)
        name = f" {self.name!r}" if self.name else f" {variable}" if variable else ""
        return f"data{name} at {site_of(here())}"


def _refuse_missing(
    bad: np.ndarray, missing_mask: np.ndarray, array: np.ndarray, subject: _Description
) -> None:
    if bad.any():
        place = first_place(bad)
        count = int(bad.sum()) - 1
        masked = missing_mask[place] and not np.isnan(array[place])
        text = "masked" if masked else str(array[place])
        more = f" and {count} more missing or infinite value{'s' * (count > 1)}"
        advice = _INFINITE if (np.isinf(array) & ~missing_mask)[bad].all() else ADVICE
        if not array.shape and missing_mask.all():
            raise _missing_number(text, subject)
        raise DataError(f"{subject}: {text}{index_text(place)}{more if count else ''}; {advice}")


def _missing_number(text: str, subject: _Description) -> DataError:
    """The error for one missing number, as from a loop."""
    where = missing_in_variables()
    of = f" ({where})" if where else ""
    return DataError(f"{subject}: {text}{of}; drop or fill missing values first; or, {IN_STEPS}")


@public
def placeholder(shape: Any = (), dtype: Any = None, name: str | None = None) -> Array:
    """Make an array whose value is an argument of compiled functions.

    Parameters
    ----------
    shape
        The lengths of the axes.
    dtype
        The type of the elements; by default the working precision.
    name
        The name in messages.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.placeholder((3,), name="x")
    >>> f = kg.compile([x], (x * x).sum())
    >>> float(f([1.0, 2.0, 3.0]))
    14.0
    """
    check_name("placeholder", name)
    sizes = as_sizes(shape, "placeholder")
    if any(n < 0 for n in sizes):
        raise ShapeError(f"placeholder: the shape {sizes} has a negative length")
    checked = float_dtype() if dtype is None else checked_dtype(dtype, "placeholder")
    if checked.kind in BAD_KINDS:
        raise SymbolicError(f"placeholder: arrays cannot have dtype {checked}")
    return Array(Placeholder((), sizes, checked, name))
