"""Design matrices by formulaic: population terms, and the effects of groups.

New rows are encoded as the rows of the model were: with their levels, knots, means and scales.
A call such as `mo(x)`, whose effect is not linear, has a column of ones: in its interactions the
other factors are encoded as for a column of numbers.
"""

import ast
import re
import warnings
from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from formulaic import Formula
from formulaic.errors import DataMismatchWarning, FormulaicError
from formulaic.transforms import TRANSFORMS

from ..graph.errors import DataError
from ..graph.source import place_text
from .columns import check_present, computed_text, is_text, levels_of, numbers, row_text
from .dates import check_no_dates, date_kind, used_as_numbers
from .dependent_columns import warn_of_dependent_columns
from .encoding_faults import encoding_fault, outside_fault, texts_reason
from .frames import rename_text
from .texts import call_of, reason_of
from .used_levels import matrix_of_used_levels

__all__ = ["CallProduct", "Design", "evaluated"]


@dataclass(frozen=True)
class CallProduct:
    """A term that is a product of calls and of columns.

    Attributes
    ----------
    calls
        The texts of the calls.
    factors
        The texts of the other factors.
    labels
        The labels of the columns of the other factors; empty for a single column of numbers.
    """

    calls: tuple[str, ...]
    factors: tuple[str, ...]
    labels: tuple[str, ...]
    places: tuple[int, ...]

    def __str__(self) -> str:
        return ":".join([*self.calls, *self.factors])


class Design:
    """The encoding of terms as columns of numbers.

    `calls` are the texts of calls that have a column of ones.

    Attributes
    ----------
    columns
        The names of the columns, without the intercept and without products of calls.
    terms
        For each of these terms its columns, as a slice.
    products
        The terms with calls.
    intercept
        Whether the terms have an intercept.
    factors
        The texts of the factors of all terms.
    """

    def __init__(
        self, text: str, frame: pd.DataFrame, scope: dict[str, Any], calls: Collection[str] = ()
    ) -> None:
        self._calls = tuple(calls)
        self.text = text  # without the backticks of calls
        for call in calls:
            self.text = self.text.replace(f"`{call}`", call)
        try:
            formula = Formula(text)
            variables = {*map(str, formula.required_variables), *_columns_in(formula, frame, calls)}
            needed = sorted(variables - set(calls))
        except (FormulaicError, SyntaxError) as error:
            reason = reason_of(error, self.text)
            if "Missing operator" in reason:
                reason += " Write a column's name with spaces in backticks: `my column`"
            if "`.` operator" in reason:
                reason = "'.' does not stand for all columns here; write their names"
            raise ValueError(
                f"formula: {self.text!r} cannot be read{place_text()}: {reason}"
            ) from None
        if "Intercept" in needed:
            raise ValueError(
                f"formula: {self.text!r} has the column 'Intercept', which is the name of the "
                f"intercept{place_text()}; rename the column"
            )
        check_present(frame, needed, repr(self.text), scope)
        self.factors = {str(factor.expr) for term in formula for factor in term.factors}
        self._numbers = sorted(used_as_numbers(self.factors) & set(needed))
        self._truths = [n for n in needed if n in frame and frame[n].dtype == bool]
        self._dates = {n: frame[n].iloc[0] for n in needed if n in frame and date_kind(frame[n])}
        self._check_dates(frame)
        self.needed = needed
        self._scope = scope
        self._levels = {n: levels_of(frame[n]) for n in needed if n in frame and is_text(frame[n])}
        for name, levels in self._levels.items():
            if len(levels) < 2:
                raise DataError(
                    f"formula: {self.text!r} has {name!r}, which has one level, {levels[0]!r}, in "
                    f"all {len(frame)} rows{place_text()}; leave it out of the formula"
                )
        matrix = self._encoded(partial(matrix_of_used_levels, formula), frame)
        self._spec = matrix.model_spec
        names = list(self._spec.column_names)
        self.intercept = names[:1] == ["Intercept"]
        self._first = int(self.intercept)
        self._names = names[self._first :]
        self.terms: dict[str, slice] = {}
        self.products: list[CallProduct] = []
        self._ordinary: list[int] = []
        for term, part in self._spec.term_slices.items():
            places = range(part.start - self._first, part.stop - self._first)
            factors = [str(factor.expr) for factor in term.factors]
            if str(term) == "1" or not places:
                continue
            if set(factors).isdisjoint(calls):
                start = len(self._ordinary)
                self.terms[str(term)] = slice(start, start + len(places))
                self._ordinary += places
            else:
                self.products.append(self._product(factors, places))
        self.columns = [self._names[place] for place in self._ordinary]
        of_terms = sorted(self.terms, key=lambda term: self.terms[term].start)
        warn_of_dependent_columns(
            np.asarray(matrix, float)[:, self._first :][:, self._ordinary],
            self.columns,
            [term for term in of_terms for _ in self.columns[self.terms[term]]],
            self.text,
            self.intercept,
        )

    def _check_dates(self, frame: pd.DataFrame) -> None:
        """Refuse dates as numbers, and labels of another type than the model's."""
        levels = "effects of a level for each are C({0})"
        check_no_dates(frame, self._numbers, repr(self.text), levels)
        for name, date in self._dates.items():
            if type(value := frame[name].iloc[0]) is not type(date):
                raise DataError(
                    f"formula: {name!r} has {value!r} in {row_text(frame, 0)}, but {date!r} in the "
                    f"model's data{place_text()}; give the column the same type"
                )

    def _check_truth(self, frame: pd.DataFrame) -> None:
        """Refuse other numbers than 0 and 1 in place of booleans."""
        for name in self._truths:
            other = np.flatnonzero(~frame[name].isin([0, 1]))
            if len(other):
                raise DataError(
                    f"formula: {name!r} is {frame[name].iloc[other[0]]!r} in "
                    f"{row_text(frame, other[0])}, but True or False in the model's data"
                    f"{place_text()}"
                )

    def _product(self, factors: list[str], places: range) -> CallProduct:
        """A term that has calls."""
        calls = tuple(factor for factor in factors if factor in self._calls)
        plain_factors = tuple(factor for factor in factors if factor not in self._calls)
        names = []
        for place in places:
            name = self._names[place]
            for call in calls:
                name = name.replace(f":{call}", "").replace(f"{call}:", "")
            names.append(name)
        single = not plain_factors or names == [":".join(plain_factors)]
        labels = () if single else _inner_labels(":".join(plain_factors), names)
        return CallProduct(calls, plain_factors, tuple(labels), tuple(places))

    def product(self, frame: pd.DataFrame, term: CallProduct) -> np.ndarray:
        """The columns of the factors that are not calls, (rows, columns)."""
        return self._values(frame)[:, term.places]

    def matrix(self, frame: pd.DataFrame) -> np.ndarray:
        """The columns for the rows of a frame, (rows, columns).

        Terms with calls are left out.

        Raises
        ------
        DataError
            If a column is missing, or has missing values, a level that the rows of the model do
            not have, or a value that is not a finite number.
        """
        return self._values(frame)[:, self._ordinary]

    def _values(self, frame: pd.DataFrame) -> np.ndarray:
        """All columns without the intercept."""
        check_present(frame, self.needed, repr(self.text), self._scope)
        self._check_dates(frame)
        labels = {*self._levels, *self._dates}
        for name in self.needed:
            if name in frame and name not in labels and is_text(frame[name]):
                numbers(frame, frame[name], repr(name))
        for name, levels in self._levels.items():
            new = np.flatnonzero(~frame[name].isin(levels))
            if len(new):
                raise DataError(
                    f"formula: {name!r} has {frame[name].iloc[new[0]]!r} in "
                    f"{row_text(frame, new[0])}, a level that the model's data do not have"
                    f"{place_text()}; its levels are {', '.join(map(str, levels))}. A population "
                    f"effect of a new level is unknown: leave these rows out, or write group "
                    f"effects, (1 | {name})"
                )
        self._check_truth(frame)
        matrix = self._encoded(self._spec.get_model_matrix, frame)
        values = np.asarray(matrix, float)[:, self._first :].reshape(len(frame), -1)
        bad = np.argwhere(~np.isfinite(values))
        if len(bad):
            row, column = map(int, bad[0])
            raise DataError(
                f"formula: {self._names[column]!r} is {values[row, column]} in "
                f"{row_text(frame, row)}{computed_text(frame, self._names[column], row)}"
            )
        return values

    def _encoded(self, encode: Any, frame: pd.DataFrame) -> Any:
        """Encode rows; errors of formulaic become DataError."""
        try:
            # The row of a number that is not finite is named where the columns are checked.
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("error", DataMismatchWarning)
                # Levels without rows are left out of the design, and kept by the column.
                warnings.filterwarnings("ignore", "Constructing a Categorical")
                ones = frame.assign(**dict.fromkeys(self._calls, 1.0))
                return encode(ones, context=self._scope, na_action="ignore")
        except (FormulaicError, DataMismatchWarning, IndexError, TypeError, ValueError) as error:
            reason = str(error.__cause__ or error)
            fault = None
            if "extrapolation" in reason and hasattr(self, "_spec"):
                fault = outside_fault(
                    self._spec.transform_state,
                    frame,
                    lambda text: evaluated(text, frame, self._scope, repr(self.text)),
                )
            raise fault or encoding_fault(reason, self.text, frame, self.needed) from None

    def labels(self, term: str) -> list[str]:
        """The labels of a term's columns: levels, or column names."""
        return _inner_labels(term, self.columns[self.terms[term]])

    def is_number(self, term: str) -> bool:
        """Whether a term is one column with the name of the term."""
        return self.columns[self.terms[term]] == [term]


def _inner_labels(term: str, names: list[str]) -> list[str]:
    """The parts of names in brackets after a term, or the names."""
    start = f"{term}["
    if all(name.startswith(start) and name.endswith("]") for name in names):
        return [name[len(start) : -1] for name in names]
    return names


def _columns_in(formula: Any, frame: pd.DataFrame, calls: Collection[str]) -> set[str]:
    """The columns in calls of the terms, such as t in bs(t).

    The variables of splines are not among formulaic's `required_variables`.
    """
    names: set[str] = set()
    for term in formula:
        for factor in term.factors:
            if str(factor.expr) in calls:
                continue
            try:
                parsed = ast.parse(str(factor.expr), mode="eval")
            except SyntaxError:  # a quoted name of a column
                continue
            names |= {node.id for node in ast.walk(parsed) if isinstance(node, ast.Name)}
    return {name for name in names if name in frame}


def evaluated(
    text: str, frame: pd.DataFrame, scope: dict[str, Any], title: str, classes: bool = False
) -> np.ndarray:
    """The numbers of an expression, one for each row.

    With `classes` the message about a column of texts names a family of classes.

    Raises
    ------
    DataError
        If columns are unknown, values are missing, or the result is not one number for each row.
    """
    if text in frame:
        check_present(frame, [text], title)
        return numbers(frame, frame[text], title, classes)
    needed: list[str] = []
    try:
        needed = sorted(map(str, Formula(f"0 + {{{text}}}").required_variables))
        check_present(frame, needed, title, scope)
        columns = {name: frame[name] for name in needed if name in frame}
        with np.errstate(all="ignore"):
            result = eval(text, {**scope, **TRANSFORMS}, columns)
    except DataError:
        raise
    except Exception as error:
        of_texts = texts_reason(str(error), f"I({text})", frame, needed)
        advice, call = f": {of_texts or error}", call_of(text)
        if call and getattr(TRANSFORMS.get(call.function), "__is_stateful_transform__", False):
            advice = f"; {call.function} is for terms: make a column, and write its name"
        if name := next((n for n in re.findall("`([^`]+)`", text) if n in frame), None):
            renamed = re.sub(r"\W", "_", name)
            renamed = f"my_{name}" if renamed == name else renamed
            advice = f"; rename the column: {rename_text(frame, name, renamed)}"
        raise DataError(f"formula: {title} cannot be computed{place_text()}{advice}") from None
    values = np.asarray(result)
    if classes and not values.shape:
        raise DataError(
            f"formula: {title} is the number {values}, not a column{place_text()}; for one of "
            "several values make a column, as in df['y'] = (df['won'] == 'yes').astype(int)"
        )
    if values.shape not in ((), (len(frame),)):
        raise DataError(f"formula: {title} has shape {values.shape}{place_text()}")
    return numbers(frame, np.broadcast_to(values, len(frame)), title)
