"""What a graph starts from: known values (`kg.data`) and values given later (`kg.placeholder`)."""

from typing import Any, Literal

import numpy as np

from .array import Array
from .dims import check_dims, labels_agree, labels_of, named
from .errors import DataError, DimsError, ShapeError, SymbolicError
from .messages import index_text
from .missing import ADVICE, Incomplete, find_missing, first_place
from .node import Data, Placeholder
from .not_numbers import not_numbers
from .operations.operands import BAD_KINDS, checked_dtype, refuse_traced
from .operations.shaping import as_sizes
from .precision import FLOAT32, float_dtype
from .source import here, site_of, variable_name
from .text import check_name

__all__ = ["data", "placeholder"]


def data(
    value: Any,
    name: str | None = None,
    dims: Any = None,
    *,
    infinite: bool = False,
    missing: Literal["impute"] | str | None = None,
) -> Array:
    """Known values: numbers, NumPy arrays, pandas or xarray objects.

    Compiled functions take data as arguments, so other values of the same shape need no new
    compilation. Integers, booleans and floating-point numbers keep their kind; float64 becomes
    float32 under `kg.precision("float32")`.

    Parameters
    ----------
    value
        Anything NumPy makes a numeric array of. An xarray `DataArray` brings its dims and
        coordinates, a pandas `Series` or `DataFrame` its index and columns as coordinates.
    name
        How results and messages call it; else the variable that holds it.
    dims
        The names of the axes, or what `kg.dim` gives, which has labels, too.
    infinite
        Whether infinite values are meant, as ends of intervals are that have no bound.
    missing
        "impute": missing values (NaN, None, pandas' NA, masked elements) are unknown, and follow
        the distribution that `kg.observe` states of the data, which it has to before they are used.

    Raises
    ------
    DataError
        If values are not numeric, or missing or infinite (the message gives the first position).
    ValueError
        If `missing` is neither None nor "impute".
    DimsError
        If `dims` do not fit the shape, or have other labels than the value.

    Examples
    --------
    >>> import kinetograph as kg
    >>> y = kg.data([28.0, 8.0, -3.0], dims="school")
    >>> y.dims
    ('school',)
    """
    what = _What(value, name)
    if isinstance(value, Array):
        raise DataError(f"{what}: the value is already a kinetograph array; use it as it is")
    coords, own_dims = _labels(value)
    refuse_traced(value, "data")
    if missing not in (None, "impute"):
        raise ValueError(f'{what}: missing is None or "impute", got {missing!r}')
    try:
        given = np.asarray(value)
    except ValueError as error:
        uneven = "inhomogeneous" in str(error)
        hint = "rows of different lengths; put all numbers in one array, and beside it one that "
        raise DataError(
            f"{what}: the values do not make an array: "
            f"{f'{hint}tells the row of each' if uneven else error}"
        ) from None
    array, gone = find_missing(value, given)
    if missing is None and gone.any() and given.dtype.kind == "O":
        place = first_place(gone)
        missed = f"a missing value ({given[place]}){index_text(place)}"
        raise DataError(f"{what}: {missed}; {ADVICE}")
    if array.dtype.kind in BAD_KINDS:
        raise DataError(f"{what}: {not_numbers(value, array)}")
    bad = np.array(gone)
    if array.dtype.kind == "f" and not infinite:
        bad |= ~np.isfinite(array)
    _refuse_missing(bad if missing is None else bad & ~gone, gone, array, what)
    if array.dtype.kind == "f" and array.dtype != FLOAT32:
        array = array.astype(float_dtype())
    names = check_dims(dims if dims is not None else own_dims, array.shape, what)
    if dims is not None and own_dims is not None and names is not None:
        coords = {
            new: coords[old]
            for old, new in zip(own_dims, names, strict=True)
            if new is not None and old in coords
        }
    for label, known in labels_of(dims).items():
        if not labels_agree(coords.setdefault(label, known), known):
            raise DimsError(
                f"{what}: the dimension {label!r} has the labels {known[:3]}..., the values have "
                f"{coords[label][:3]}...; put them in the order of the dimension first"
            )
        coords[label] = known if named(known) else coords[label]
    frozen = np.array(array)
    if gone.any():
        if frozen.dtype.kind != "f":
            frozen = frozen.astype(float_dtype())
        frozen[gone] = np.nan
    frozen.setflags(write=False)
    if gone.any():
        return Array(Incomplete(frozen, name, names, coords))
    return Array(Data(frozen, name, names, coords=coords))


def _labels(value: Any) -> tuple[dict[str, np.ndarray], tuple[str, ...] | None]:
    """Coordinates and dims that xarray and pandas objects bring along."""
    dims = getattr(value, "dims", None)
    coords = getattr(value, "coords", None)
    if dims is not None and coords is not None and not isinstance(dims, dict):
        labels = {d: _plain(coords[d]) for d in dims if d in coords}
        return labels, tuple(map(str, dims))
    index = getattr(value, "index", None)
    axes = getattr(value, "axes", None)
    if index is not None and isinstance(axes, list):
        names = [axis.name for axis in axes if isinstance(getattr(axis, "name", None), str)]
        if len(names) == len(axes):
            return {n: _plain(a) for n, a in zip(names, axes, strict=True)}, tuple(names)
    return {}, None


def _plain(labels: Any) -> np.ndarray:
    """Labels as an array; texts, which pandas keeps as objects, as texts."""
    array = np.asarray(labels)
    if array.dtype.kind == "O" and all(isinstance(label, str) for label in array.flat):
        return array.astype(str)
    return array


_INFINITE = "drop or replace it first, or say that it is meant: kg.data(..., infinite=True)"


class _What:
    """How messages call data: by the name given, or the variable that holds them, and the line."""

    def __init__(self, value: Any, name: str | None) -> None:
        check_name("data", name)
        self.value, self.name = value, name

    def __str__(self) -> str:
        held = None
        if not isinstance(self.value, (str, int, float, type(None))):
            held = variable_name(self.value)
        name = f" {self.name!r}" if self.name else f" {held}" if held else ""
        return f"data{name} at {site_of(here())}"


def _refuse_missing(bad: np.ndarray, gone: np.ndarray, array: np.ndarray, what: _What) -> None:
    if bad.any():
        place = first_place(bad)
        count = int(bad.sum()) - 1
        masked = gone[place] and not np.isnan(array[place])
        given = "masked" if masked else str(array[place])
        others = f" and {count} more missing or infinite value{'s' * (count > 1)}"
        advice = _INFINITE if (np.isinf(array) & ~gone)[bad].all() else ADVICE
        raise DataError(f"{what}: {given}{index_text(place)}{others if count else ''}; {advice}")


def placeholder(shape: Any = (), dtype: Any = None, name: str | None = None) -> Array:
    """A value that a compiled function takes as an argument.

    Parameters
    ----------
    shape
        The lengths of the axes.
    dtype
        The type of the elements; by default the working precision.
    name
        How messages call it.

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
    wanted = float_dtype() if dtype is None else checked_dtype(dtype, "placeholder")
    if wanted.kind in BAD_KINDS:
        raise SymbolicError(f"placeholder: arrays cannot have dtype {wanted}")
    return Array(Placeholder((), sizes, wanted, name))
