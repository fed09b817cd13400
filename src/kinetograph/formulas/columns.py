"""Columns of a data frame; errors name the column and the row."""

import builtins
import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from ..graph.dims import Dim, dim
from ..graph.errors import DataError, DimsError
from ..graph.source import place_text
from ..graph.suggestions import closest, did_you_mean
from .dates import check_no_dates, date_kind
from .frames import (
    assign_text,
    categories_text,
    frame_name,
    is_new,
    numbers_text,
    present_text,
    rename_text,
    variables_in,
)

__all__ = [
    "check_present",
    "computed_text",
    "is_real",
    "is_text",
    "label_texts",
    "level_codes",
    "levels_of",
    "numbers",
    "row_dim",
    "row_text",
]

_NO_SERIES = "; formulas have no correlated errors: write the model with arrays, as kg.ar(...)"
_OF_R = {  # functions of R
    "factor": "; a column of numbers as categories is C(x)",
    "sqrt": "; square roots are np.sqrt(x)",
    "relevel": "; a reference level is chosen by C(g, Treatment('b'))",
    "cut": "; intervals are pd.cut(x, edges)",
    **dict.fromkeys(("case_when", "ifelse"), "; write np.where(x > 0, 1, 0)"),
    **dict.fromkeys(("interaction", "paste"), "; interactions are g:h"),
    **dict.fromkeys(("pmax", "pmin"), "; write np.maximum(x, 0), or np.minimum(x, 0)"),
    "droplevels": "; levels without rows have no effect: write the column alone",
    "rescale": "; standardised columns are scale(x)",
    "rcs": "; natural cubic splines are cr(x, df=...)",
    "pi": "; write np.pi",
    "monotonic": "; monotonic effects are mo(x)",
    "mm": "; memberships of several groups are not available: write the model with arrays",
    **dict.fromkeys(("arma", "cosy", "ma", "unstr"), _NO_SERIES),
    **dict.fromkeys(
        ("car", "sar"),
        "; formulas have no effects of neighbours: write the model with arrays, as kg.gp.icar(...)",
    ),
    "re": "; effects of groups are (1 | group)",
    **{
        word: f"; {word} is an addition to the response: 'y | {word}(...) ~ ...'"
        for word in ("trials", "weights", "cens", "trunc")
    },
    "se": "; known standard errors are a formula, ['y ~ ...', 'sigma ~ 0 + offset(log(error))']",
    "mvbind": "; a formula has one response: write several models, or one with kg.observe",
}


_WITHOUT_NUMBERS = {  # kinds of types, and what to do
    "c": "give real and imaginary parts, or absolute values, as columns of their own",
}


def row_dim(frame: pd.DataFrame, prefix: str = "") -> Dim | str:
    """The dimension of the rows, with the labels of the index.

    `prefix` begins its name: new rows have another dimension than the rows of the model. Numbers
    that pandas makes by itself and repeated labels are left out. Labels of several levels and
    periods become texts, as in `kg.data`.
    """
    index = frame.index
    if index.equals(pd.RangeIndex(len(frame))) or not index.is_unique:
        return f"{prefix}obs"
    try:
        return dim(f"{prefix}obs", index)
    except DimsError:
        return f"{prefix}obs"


def row_text(frame: pd.DataFrame, row: int) -> str:
    """The number of a row, and its label if that differs."""
    label = frame.index[row]
    label = label.item() if isinstance(label, np.generic) else label
    if isinstance(label, int) and label == row:
        return f"row {row}"
    return f"row {row} (labelled {str(label) if isinstance(label, pd.Timestamp) else repr(label)})"


def computed_text(frame: pd.DataFrame, text: str, row: int) -> str:
    """The numbers behind a value of an expression, the place, and advice."""
    words = dict.fromkeys(re.findall(r"\w+", text))
    names = [word for word in words if word in frame and not is_text(frame[word])]
    if not names or text in frame or text == f"the response {names[0]!r}":
        return place_text()
    values = [f"{name} is {frame[name].iloc[row]:g}" for name in names]
    advice = "; the logarithm needs numbers above 0" if "log" in text else ""
    advice = "; the square root needs numbers from 0 on" if "sqrt" in text else advice
    if re.search(r"\b(shift|lag|diff|rolling|pct_change)\(", text):
        advice = "; rows at an end have no such value: make it a column, and write frame.dropna()"
    return f", where {' and '.join(values)}{place_text()}{advice}"


def check_present(
    frame: pd.DataFrame, names: Iterable[str], title: str, scope: Any = (), without: str = ""
) -> None:
    """Check the columns that a part of a formula uses.

    `scope` holds the names that the expressions may use in addition to the columns. `without` is
    advice on new rows that lack a column.

    Raises
    ------
    DataError
        If the column is unknown, values are missing, or more than half of the values in a
        column of text are numbers (whole numbers in every row are categories).
    """
    names = list(names)
    for name in names:
        if name not in frame:
            is_of_rows = is_new(frame) and name in variables_in(frame)
            if name in scope and not is_of_rows:
                continue
            columns = list(map(str, frame.columns))
            shown = ", ".join(columns[:30]) + (", ..." if len(columns) > 30 else "")
            of = "" if title == repr(name) else f" in {title}"
            if is_new(frame):
                similar = closest(name, columns)
                hint = without
                if similar is not None:
                    hint = f"; is {similar!r} meant? {rename_text(frame, similar, name)}"
                if is_of_rows:
                    hint = _as_column(frame, name, scope)
                raise DataError(
                    f"formula: the new data have no column {name!r}, which the model needs{of}"
                    f"{place_text()}; their columns are {shown}{hint}"
                )
            dotted = [c for c in columns if c.startswith(f"{name}.") and c in title]
            if dotted:
                renamed = rename_text(frame, dotted[0], re.sub(r"\W", "_", dotted[0]))
                raise DataError(
                    f"formula: unknown column {name!r}{of}{place_text()}; names with dots are not "
                    f"read: {renamed}"
                )
            if name in (frame.index.names or ()):
                raise DataError(
                    f"formula: unknown column {name!r}{of}{place_text()}; it is the index of the "
                    f"data frame: write {frame_name(frame)}.reset_index()"
                )
            of_r = (_OF_R[each] for each in names if each in _OF_R and each not in columns)
            raise DataError(
                f"formula: unknown column {name!r}{of}{place_text()}; the columns are {shown}"
                f"{next(of_r, '') or _of_python(name, title) or did_you_mean(name, columns)}"
            )
        column = frame[name]
        if isinstance(column, pd.DataFrame):
            raise DataError(
                f"formula: {title} uses {name!r}, but {column.shape[1]} columns have this name"
                f"{place_text()}; rename them"
            )
        advice = _WITHOUT_NUMBERS.get(getattr(column.dtype, "kind", ""))
        if advice is not None:
            raise DataError(
                f"formula: {title} uses {name!r}, a column of {column.dtype}{place_text()}; "
                f"{advice.format(name, frame_name(frame))}"
            )
        missing = np.flatnonzero(column.isna())
        if len(missing):
            count = f"{len(missing)} values are" if len(missing) > 1 else "1 value is"
            raise DataError(
                f"formula: {title} uses {name!r}, but {count} missing there, first in "
                f"{row_text(frame, missing[0])}{place_text()}; "
                f"{_imputed(frame, column)}leave these rows out: {present_text(frame, name)}"
            )
        if is_text(column):
            _check_not_numbers(frame, name, title)


def _as_column(frame: pd.DataFrame, name: str, scope: Any) -> str:
    """The way out for a variable with the rows of the model."""
    if name in scope:
        return (
            f"; {name} is a variable that holds the rows of the model: make the model with the "
            "names of columns"
        )
    return (
        f"; {name} was a variable with a value for each row of the model: give the "
        f"values of the new rows, {assign_text(frame, name)}"
    )


def _of_python(name: str, title: str) -> str:
    """The way out for a function of Python or NumPy."""
    if f"{name}(" not in title:
        return ""
    if hasattr(np, name):
        return f"; formulas have the functions of NumPy: write np.{name}(...)"
    if not hasattr(builtins, name):
        return ""
    return f"; {name} of Python is not known in formulas: make a column of its values"


def _imputed(frame: pd.DataFrame, column: pd.Series) -> str:
    """Advice on rows with missing numbers in a model of arrays."""
    if is_text(column) or is_new(frame):
        return ""
    return (
        "a model written with arrays can draw missing numbers, by kg.data(values, "
        "missing='impute'); otherwise "
    )


def _check_not_numbers(frame: pd.DataFrame, name: str, title: str) -> None:
    """Raise DataError for numbers as text, but not for whole numbers only."""
    texts = frame[name].astype(str)
    converted = pd.to_numeric(texts, errors="coerce")
    bad = np.flatnonzero(converted.isna())
    if isinstance(frame[name].dtype, pd.CategoricalDtype) or 2 * len(bad) >= len(texts):
        return
    rows = bad if len(bad) else np.flatnonzero(converted != np.floor(converted))
    if not len(rows):
        return
    count = f"{len(texts) - len(bad)} of {len(texts)}" if len(bad) else "all"
    raise DataError(
        f"formula: {title} uses {name!r}, a column of text in which {count} values are "
        f"numbers; {row_text(frame, rows[0])} has {texts.iloc[rows[0]]!r}{place_text()}; "
        f"{'correct it, and ' if len(bad) else ''}convert the column with "
        f"{numbers_text(frame, name)}, or with {categories_text(frame, name)} if these are "
        "categories"
    )


def is_text(column: pd.Series) -> bool:
    """Whether a column has texts, or categories."""
    return not (
        pd.api.types.is_numeric_dtype(column) or pd.api.types.is_datetime64_any_dtype(column)
    )


def is_real(column: pd.Series) -> bool:
    """Whether a column has numbers that are not whole."""
    if not pd.api.types.is_float_dtype(column):
        return False
    values = column.to_numpy(float, na_value=0.0)
    return bool((values != np.floor(values)).any())


def numbers(frame: pd.DataFrame, values: Any, title: str, classes: bool = False) -> np.ndarray:
    """Values of one column as floating-point numbers.

    With `classes` the message about texts names a family of classes.

    Raises
    ------
    DataError
        If a value is not a finite number.
    """
    column = pd.Series(np.asarray(values) if not isinstance(values, pd.Series) else values)
    if kind := date_kind(column):
        check_no_dates(frame, [column.name], title)
        raise DataError(f"formula: {title} has {kind}{place_text()}; give numbers")
    if isinstance(column.dtype, pd.CategoricalDtype) or is_text(column):
        converted = pd.to_numeric(column.astype(object), errors="coerce")
        bad = np.flatnonzero(converted.isna())
        row = int(bad[0]) if len(bad) else 0
        advice = "" if len(bad) else "; convert it with pandas.to_numeric"
        if len(bad) and classes:
            ordered = getattr(column.dtype, "ordered", False)
            family = "cumulative" if ordered else "categorical"
            advice = f"; for classes give family={family!r}"
        raise DataError(
            f"formula: {title} must be numbers, but is text: {row_text(frame, row)} has "
            f"{column.iloc[row]!r}{place_text()}{advice}"
        )
    array = np.asarray(column, dtype=float)
    bad = np.flatnonzero(~np.isfinite(array))
    if len(bad):
        raise DataError(
            f"formula: {title} is {array[bad[0]]} in {row_text(frame, bad[0])}"
            f"{computed_text(frame, title, int(bad[0]))}"
        )
    return array


def levels_of(column: pd.Series) -> list[Any]:
    """The levels of a categorical column that occur, in their order."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        present = set(column)
        return [level for level in column.cat.categories if level in present]
    return sorted(column.unique().tolist(), key=lambda level: (str(type(level)), level))


def level_codes(frame: pd.DataFrame, column: str, levels: list[Any], title: str) -> np.ndarray:
    """The numbers of the levels in the rows of a frame.

    Raises
    ------
    DataError
        If the column is unknown, or a row has another level.
    """
    check_present(frame, [column], title)
    index = {level: i for i, level in enumerate(levels)}
    for row, value in enumerate(frame[column]):
        if value not in index:
            raise DataError(
                f"formula: {title}: {row_text(frame, row)} has {value!r}, which is not a level"
                f"{place_text()}; the levels are {', '.join(map(str, levels))}"
            )
    return np.array([index[value] for value in frame[column]], dtype=np.int64)


def label_texts(levels: Iterable[Any]) -> list[str]:
    """The texts of levels, for results."""
    return [str(level) for level in levels]
