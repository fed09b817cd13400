"""Monotonic effects of ordered categories.

    mo(x):  b D sum_{j <= x} simo_j,  simo ~ dirichlet(1),  D + 1 levels of x

Source: P.-C. Bürkner, E. Charpentier, Modelling monotonic effects of ordinal predictors in
Bayesian regression models, British Journal of Mathematical and Statistical Psychology 73 (2020).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from ..graph.array import Array
from ..graph.dims import dim
from ..graph.errors import DataError
from ..graph.functions.arranging import concatenate
from ..graph.functions.reductions import cumsum
from ..graph.inputs import data
from ..graph.source import place_text
from .columns import check_present, is_text, level_codes, row_text
from .texts import FormulaCall
from .unknowns import FormulaUnknowns

__all__ = ["Monotonic"]


class Monotonic:
    """A monotonic effect of an ordered column."""

    def __init__(
        self, parameter: str, call: FormulaCall, frame: pd.DataFrame, scope: Any, main: bool
    ):
        self.parameter, self.call, self.main = parameter, call, main
        if len(call.positional) != 1 or call.named:
            raise ValueError(f"formula: {call.text} must have one argument, a column{place_text()}")
        self.column = call.positional[0]
        check_present(frame, [self.column], call.text)
        column = frame[self.column]
        if isinstance(column.dtype, pd.CategoricalDtype) and column.cat.ordered:
            self.levels = list(column.cat.categories)
        elif is_text(column) or np.any(np.asarray(column) != np.floor(np.asarray(column))):
            raise DataError(
                f"formula: {call.text} needs whole numbers or ordered categories, but "
                f"{row_text(frame, 0)} of {self.column!r} has {column.iloc[0]!r}{place_text()}; "
                f"write pandas.Categorical(data[{self.column!r}], categories=[...], ordered=True)"
            )
        else:
            self.levels = list(range(int(column.min()), int(column.max()) + 1))
        if len(self.levels) < 2:
            raise DataError(f"formula: {call.text} has one level, {self.levels[0]!r}{place_text()}")
        part = f"{parameter}_" if parameter else ""
        self.name, self.steps = f"b_{part}mo({self.column})", f"simo_{part}mo({self.column})"

    def declare(self, unknowns: FormulaUnknowns, frame: pd.DataFrame) -> None:
        """Make the mean effect and the shares of steps."""
        after = f"_{self.parameter}" if self.parameter else ""
        codes = self._codes(frame)[:, None].astype(float)
        unknowns.make("b", self.name, (f"b{after}",), main=self.main, columns=codes)
        steps = dim(f"{self.steps}_level", [str(level) for level in self.levels[1:]])
        unknowns.make("simo", self.steps, shape=(len(self.levels) - 1,), dims=(steps,))

    def value(self, frame: pd.DataFrame, arrays: Mapping[str, Array], prefix: str) -> Array:
        """The effects of the rows of a frame."""
        parts = concatenate([np.zeros(1), cumsum(arrays[self.steps])])
        codes = data(self._codes(frame), f"{prefix}{self.name}_index", (f"{prefix}obs",))
        return (len(self.levels) - 1) * arrays[self.name] * parts[codes]

    def _codes(self, frame: pd.DataFrame) -> np.ndarray:
        return level_codes(frame, self.column, self.levels, self.call.text)
