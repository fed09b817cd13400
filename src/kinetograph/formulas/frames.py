"""Data of a formula as a pandas frame, and advice on columns.

Data are a pandas or polars frame, or a dictionary of columns. Inside, they are a pandas frame whose
index has the labels of the rows.
"""

import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from ..graph.errors import DataError
from ..graph.source import place_text, variable_here
from ..graph.value_texts import in_words

__all__ = [
    "as_frame",
    "assign_text",
    "categories_text",
    "days_text",
    "frame_name",
    "is_new",
    "numbers_text",
    "order_text",
    "present_text",
    "rename_text",
    "variables_in",
    "with_variables",
]

# Keys in frame.attrs: the names of the user's library and variable, whether rows are for a
# prediction, and the names of variables that hold a value for each row of the model.
_LIBRARY, _NAME, _IS_NEW, _VARIABLES = (
    f"kinetograph_{key}" for key in ("library", "name", "is_new", "variables")
)


def as_frame(data: Any, new: bool = False) -> pd.DataFrame:
    """The columns as a pandas frame.

    `new` says whether the rows are for a prediction.

    Raises
    ------
    TypeError
        If `data` is not a data frame or a dictionary of columns.
    DataError
        If the columns have different lengths, or no rows.
    """
    library, name = "pandas", variable_here(data) or ("new" if new else "data")
    if isinstance(data, pd.DataFrame):
        frame = data
        if frame.columns.nlevels > 1:
            raise TypeError(
                f"formula: the columns have labels of {frame.columns.nlevels} levels"
                f"{place_text()}; join them: {name}.columns = ['_'.join(map(str, c)) for c in "
                f"{name}.columns]"
            )
    else:
        if isinstance(data, Mapping):
            columns = {name: _of_polars(column) for name, column in data.items()}
        elif hasattr(data, "collect"):  # a lazy frame of polars
            raise TypeError(
                f"formula: the data are a {type(data).__name__}, whose values are not computed yet"
                f"{place_text()}; give {name}.collect()"
            )
        elif hasattr(data, "columns") and hasattr(data, "get_column"):  # polars
            columns = {str(name): _of_polars(data.get_column(name)) for name in data.columns}
            library = "polars"
        else:
            path = isinstance(data, (str, os.PathLike))
            reading = f"; read a file first: pandas.read_csv({os.fspath(data)!r})" if path else ""
            if isinstance(data, pd.Series):
                reading = f"; one row is a frame as well: {name}.to_frame().T, or df.iloc[[0]]"
            if isinstance(data, (list, tuple)) and data and isinstance(data[0], Mapping):
                reading = f"; write pandas.DataFrame({name})"
            if np.ndim(data) == 2:
                reading = f"; name its columns: pandas.DataFrame({name}, columns=[...])"
            raise TypeError(
                f"formula: the data must be a data frame or a dictionary of columns, got "
                f"{in_words(data)}{place_text()}{reading}"
            )
        single = next((name for name, column in columns.items() if not np.ndim(column)), None)
        if single is not None:
            value = columns[single]
            raise TypeError(
                f"formula: the column {single!r} is {value!r}, and not a list{place_text()}; write "
                f"{{{single!r}: [{value!r}]}}"
            )
        lengths = {name: len(column) for name, column in columns.items()}
        if len(set(lengths.values())) > 1:
            raise DataError(
                f"formula: the columns have different lengths{place_text()}: "
                f"{', '.join(f'{name} {n}' for name, n in lengths.items())}"
            )
        frame = pd.DataFrame(columns)
    # formulaic makes no categories of texts whose missing value is pandas.NA.
    texts = [name for name, dtype in frame.dtypes.items() if _is_nullable_text(dtype)]
    if texts:
        frame = frame.astype(dict.fromkeys(texts, object))
    if not len(frame):
        raise DataError(f"formula: the data have no rows{place_text()}")
    frame = _widened(frame)
    frame.attrs = {**frame.attrs, _LIBRARY: library, _NAME: name, _IS_NEW: new}
    return frame


def _widened(frame: pd.DataFrame) -> pd.DataFrame:
    """A copy whose numbers have 64 bits.

    The arithmetic of formulas would overflow in smaller types.
    """
    frame = frame.copy(deep=False)
    for place, dtype in enumerate(frame.dtypes):
        column: pd.Series = frame.iloc[:, place]
        wide: type = np.float64
        if pd.api.types.is_integer_dtype(dtype) and not column.hasnans:
            wide = np.float64 if column.max() > np.iinfo(np.int64).max else np.int64
        elif not pd.api.types.is_float_dtype(dtype):
            continue
        if dtype != wide:
            frame.isetitem(place, column.astype(wide))
    return frame


def frame_name(frame: pd.DataFrame) -> str:
    """The user's variable that holds the data, or `data`."""
    return str(frame.attrs.get(_NAME, "data"))


def is_new(frame: pd.DataFrame) -> bool:
    """Whether the rows are for a prediction."""
    return bool(frame.attrs.get(_IS_NEW))


def variables_in(frame: pd.DataFrame) -> tuple[str, ...]:
    """The variables of the caller that hold the rows of the model."""
    return tuple(frame.attrs.get(_VARIABLES, ()))


def with_variables(
    frame: pd.DataFrame, names: Iterable[str], columns: Mapping[str, Any] | None = None
) -> pd.DataFrame:
    """The frame with the names of such variables, and with new columns."""
    if columns:
        values = {name: _of_polars(column) for name, column in columns.items()}
        frame = _widened(frame.assign(**values))
    frame.attrs = {**frame.attrs, _VARIABLES: tuple(names)}
    return frame


def _of_polars(column: Any) -> Any:
    """A column of polars as pandas takes it.

    Other columns stay as they are. An Enum keeps its levels and their order; the levels of a
    Categorical have no order.
    """
    if not hasattr(column, "to_list") or isinstance(column, (pd.Series, pd.Index, np.ndarray)):
        return column
    values, dtype = column.to_list(), getattr(column, "dtype", None)
    kind = type(dtype).__name__
    if kind == "Enum":
        return pd.Categorical(values, categories=dtype.categories.to_list(), ordered=True)  # type: ignore[union-attr]
    if kind == "Categorical":
        return pd.Categorical(values)
    if kind == "Decimal":
        return [np.nan if value is None else float(value) for value in values]
    return values


def _is_nullable_text(dtype: Any) -> bool:
    return isinstance(dtype, pd.StringDtype) and dtype.na_value is pd.NA


def _of_user(frame: pd.DataFrame, pandas: str, polars: str) -> str:
    """The code in the library of the user's frame."""
    return polars if frame.attrs.get(_LIBRARY) == "polars" else pandas


def order_text(frame: pd.DataFrame, name: str) -> str:
    """Code that orders the levels of a column of text."""
    column, data = frame[name], frame_name(frame)
    of_pandas = frame.attrs.get(_LIBRARY) != "polars"
    if of_pandas and isinstance(column.dtype, pd.CategoricalDtype):
        order = " < ".join(map(str, column.cat.categories))
        return f"{data}[{name!r}] = {data}[{name!r}].cat.as_ordered(), if the order is {order}"
    levels = sorted(map(str, column.dropna().unique()))
    listed = repr(levels) if len(levels) <= 12 else "[...]"
    code = _of_user(
        frame,
        f"{data}[{name!r}] = pandas.Categorical({data}[{name!r}], categories={listed}, "
        "ordered=True)",
        f"{data} = {data}.with_columns(polars.col({name!r}).cast(polars.Enum({listed})))",
    )
    return f"{code}, with the levels in their order"


def rename_text(frame: pd.DataFrame, name: str, other: str) -> str:
    """Code that gives a column another name."""
    names = f"{{{name!r}: {other!r}}}"
    renamed = _of_user(frame, f"rename(columns={names})", f"rename({names})")
    return f"{frame_name(frame)}.{renamed}"


def assign_text(frame: pd.DataFrame, name: str) -> str:
    """Code that adds a column."""
    method = _of_user(frame, "assign", "with_columns")
    return f"{frame_name(frame)}.{method}({name}=...)"


def present_text(frame: pd.DataFrame, name: str) -> str:
    """Code that drops the rows where a column is missing."""
    data = frame_name(frame)
    return _of_user(
        frame,
        f"{data}.dropna(subset=[{name!r}])",
        f"{data}.fill_nan(None).drop_nulls([{name!r}])",
    )


def numbers_text(frame: pd.DataFrame, name: str) -> str:
    """Code that makes numbers of a column of text."""
    polars = f"{frame_name(frame)}.with_columns(polars.col({name!r}).cast(float))"
    return _of_user(frame, "pandas.to_numeric", polars)


def categories_text(frame: pd.DataFrame, name: str, ordered: bool = False) -> str:
    """Code that makes categories of a column."""
    data = frame_name(frame)
    column = f"{data}[{name!r}]"
    polars = f"{data}.with_columns(polars.col({name!r}).cast(polars.Categorical))"
    if ordered:  # also of a column of polars, whose categories are texts
        return f"pandas.Categorical({column}, ordered=True)"
    return _of_user(frame, f"{column}.astype('category')", polars)


def days_text(frame: pd.DataFrame, name: str, kind: str) -> str:
    """Code that makes numbers of a column of dates, periods or durations.

    Days are counted from the first date: new rows need the same origin.
    """
    if is_new(frame):
        return "give numbers, as in the model's data"
    data, values = frame_name(frame), frame[name].dropna()
    column = f"{data}[{name!r}]"
    if kind == "times of the day":
        return "give numbers, such as hours"
    if kind == "durations":
        duration = column if values.dtype.kind == "m" else f"pandas.to_timedelta({column})"
        return f"give numbers, for example {duration}.dt.total_seconds()"
    dates = f"pandas.to_datetime({column})"
    if kind == "periods":
        values, dates = values.map(lambda each: each.to_timestamp()), f"{column}.dt.to_timestamp()"
    first = pd.Timestamp(values.min())
    origin = f"polars.date({first.year}, {first.month}, {first.day})"
    code = _of_user(
        frame,
        f"({dates} - pandas.Timestamp({str(first).removesuffix(' 00:00:00')!r})) / "
        "pandas.Timedelta(days=1)",
        f"(polars.col({name!r}) - {origin}).dt.total_days()",
    )
    return f"give numbers, such as days from the first of the model's dates: {code}"
