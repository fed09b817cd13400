"""Monotonic effects of ordered categories.

    mo(x):    b D sum_{j <= x} simo_j,  simo ~ dirichlet(1),  D + 1 levels of x
    mo(x):z   the same times z, with its own b and its own simo

An interaction with a categorical column has an effect, with b and simo, for each column of the
design matrix.

Source: P.-C. Bürkner, E. Charpentier, Modelling monotonic effects of ordinal predictors in
Bayesian regression models, British Journal of Mathematical and Statistical Psychology 73 (2020).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from ..graph.array import Array
from ..graph.dims import dim
from ..graph.errors import DataError, KinetographWarning
from ..graph.functions.arranging import concatenate
from ..graph.functions.reductions import cumsum
from ..graph.inputs import data
from ..graph.source import place_text, warn_user
from .columns import check_present, is_real, is_text, level_codes, levels_of, row_text
from .dates import check_no_dates
from .design import CallProduct, Design
from .frames import order_text
from .population import plain_name
from .texts import FormulaCall
from .unknowns import FormulaUnknowns

__all__ = ["MonotonicColumn", "MonotonicTerm"]


class MonotonicColumn:
    """An ordered column, and its levels."""

    def __init__(self, call: FormulaCall, frame: pd.DataFrame) -> None:
        self.call = call
        if len(call.positional) != 1 or call.named:
            raise ValueError(f"formula: {call.text} must have one argument, a column{place_text()}")
        self.column = call.positional[0]
        check_present(frame, [self.column], call.text)
        check_no_dates(frame, [self.column], call.text)
        column = frame[self.column]
        if isinstance(column.dtype, pd.CategoricalDtype) and column.cat.ordered:
            self.levels = levels_of(column)
            self._warn_of_gaps(list(column.cat.categories))
        elif is_text(column) or is_real(column):
            row = 0 if is_text(column) else int(np.flatnonzero(column != np.floor(column))[0])
            value = f"{column.iloc[row]:g}" if is_real(column) else repr(column.iloc[row])
            raise DataError(
                f"formula: {call.text} needs whole numbers or ordered categories, but "
                f"{row_text(frame, row)} of {self.column!r} has {value}{place_text()}; "
                f"write {order_text(frame, self.column)}"
            )
        else:
            self.levels = list(range(int(column.min()), int(column.max()) + 1))
        if len(self.levels) < 2:
            raise DataError(f"formula: {call.text} has one level, {self.levels[0]!r}{place_text()}")
        if len(self.levels) == 2:
            raise DataError(
                f"formula: {call.text} has two levels, {self.levels[0]!r} and {self.levels[1]!r}"
                f"{place_text()}: the effect is one step; write {self.column} alone"
            )

    def _warn_of_gaps(self, categories: list[Any]) -> None:
        """Warn of categories without rows between the levels."""
        low, high = (categories.index(level) for level in (self.levels[0], self.levels[-1]))
        unused = [level for level in categories[low:high] if level not in self.levels]
        if unused:
            listed = ", ".join(map(repr, unused[:5])) + (", ..." if len(unused) > 5 else "")
            warn_user(
                f"formula: {self.column!r} has no rows of {listed}: the steps to and from a level "
                f"without rows are one step of {self.call.text}{place_text()}; join the level with "
                "the one next to it to say so in the data",
                KinetographWarning,
            )

    @property
    def steps(self) -> int:
        """The number of steps between levels."""
        return len(self.levels) - 1

    def codes(self, frame: pd.DataFrame) -> np.ndarray:
        """The numbers of the levels in the rows of a frame."""
        return level_codes(frame, self.column, self.levels, self.call.text)


class MonotonicTerm:
    """Monotonic effects of one or several columns, times other columns if any.

    Attributes
    ----------
    name
        The name of the coefficients.
    """

    def __init__(
        self,
        parameter: str,
        design: Design,
        term: CallProduct,
        columns: Mapping[str, MonotonicColumn],
        main: bool,
    ) -> None:
        self.parameter, self.main, self._design, self._term = parameter, main, design, term
        part, text = f"{parameter}_" if parameter else "", plain_name(str(term))
        self.name = f"b_{part}{text}"
        several = len(term.calls) > 1
        self._columns = {
            f"simo_{part}{text}{f'_{columns[call].column}' if several else ''}": columns[call]
            for call in term.calls
        }

    def declare(self, unknowns: FormulaUnknowns, frame: pd.DataFrame) -> None:
        """Make the coefficients and the shares of steps."""
        after = f"_{self.parameter}" if self.parameter else ""
        codes = np.prod([column.codes(frame) for column in self._columns.values()], axis=0)
        products = codes[:, None] * self._design.product(frame, self._term)
        labels = list(self._term.labels)
        shape = (len(labels),) if labels else ()
        dims = (dim(f"{self.name}_column", labels),) if labels else ()
        facts: dict[str, Any] = {"main": self.main, "columns": products.astype(float)}
        unknowns.make("b", self.name, (f"b{after}",), shape=shape, dims=dims, **facts)
        for name, column in self._columns.items():
            steps = dim(f"{name}_level", [str(level) for level in column.levels[1:]])
            unknowns.make("simo", name, shape=(*shape, column.steps), dims=(*dims, steps))

    def value(self, frame: pd.DataFrame, arrays: Mapping[str, Array], prefix: str) -> Array:
        """The effects of the rows of a frame."""
        several = bool(self._term.labels)
        total: Any = arrays[self.name]
        for name, column in self._columns.items():
            codes = data(column.codes(frame), f"{prefix}{name}_index", (f"{prefix}obs",))
            shares = cumsum(arrays[name], -1)
            zeros = np.zeros((*shares.shape[:-1], 1))
            parts = concatenate([zeros, shares], -1)
            total = total * (column.steps * (parts.T[codes] if several else parts[codes]))
        if not self._term.factors:
            return total
        products = self._design.product(frame, self._term)
        dims = (f"{prefix}obs", None) if several else (f"{prefix}obs",)
        factors = data(
            products if several else products[:, 0], f"{prefix}{self.name}_factors", dims
        )
        return (total * factors).sum(-1) if several else total * factors
