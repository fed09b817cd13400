"""Population terms: an intercept, and coefficients of a design matrix.

    eta = Intercept + (X - mean(X)) b,   b_Intercept = Intercept - mean(X) b

The columns are centred, so that the intercept and the coefficients are nearly uncorrelated. Ordinal
families have thresholds in place of the intercept.
"""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import pandas as pd

from ..graph.array import Array
from ..graph.dims import dim
from ..graph.functions.arranging import concatenate, reshape
from ..graph.inputs import data
from .design import Design
from .priors import Unknown
from .unknowns import FormulaUnknowns

__all__ = ["Population", "plain_name"]


def plain_name(text: str) -> str:
    """A name that results can hold: without slashes."""
    return text.replace(" / ", "_per_").replace("/", "_per_")


class Population:
    """The population terms of one parameter.

    `parameter` is empty for the main parameter. `ordered` is True if thresholds replace the
    intercept. `calls` are calls in the text that are not columns.
    """

    def __init__(
        self,
        parameter: str,
        text: str,
        frame: pd.DataFrame,
        scope: dict[str, Any],
        main: bool,
        ordered: bool = False,
        calls: Collection[str] = (),
    ) -> None:
        self.parameter, self.main = parameter, main
        self._after = f"_{parameter}" if parameter else ""
        self.design = Design(text, frame, scope, calls)
        self.intercept = self.design.intercept and not ordered
        columns = self.design.matrix(frame)
        self.means = columns.mean(0) if self.design.intercept else np.zeros(columns.shape[1])
        start = f"b_{parameter}_" if parameter else "b_"
        self.names = {term: start + plain_name(term) for term in self.design.terms}
        self.full_intercept = f"{start}Intercept"
        self.centred_intercept = f"Intercept{self._after}"

    def declare(self, unknowns: FormulaUnknowns, frame: pd.DataFrame) -> tuple[Unknown, ...]:
        """Make the unknowns; returns the coefficients."""
        columns = self.design.matrix(frame)
        slopes: list[Unknown] = []
        for term, name in self.names.items():
            place = self.design.terms[term]
            shape: tuple[int, ...] = ()
            dims: Any = None
            if not self.design.is_number(term):
                labels = self.design.labels(term)
                shape, dims = (len(labels),), (dim(f"{name}_column", labels),)
            facts: dict[str, Any] = {
                "shape": shape,
                "dims": dims,
                "main": self.main,
                "columns": columns[:, place],
                "categories": bool(np.isin(columns[:, place], (0, 1)).all()),
            }
            unknowns.make("b", name, (f"b{self._after}",), **facts)
            slopes.append(Unknown("b", name, unknowns.scales, **facts))
        if not self.intercept:
            return tuple(slopes)
        name = self.centred_intercept
        intercept = unknowns.make("Intercept", name, main=self.main, slopes=tuple(slopes))
        unknowns.add(self.full_intercept, intercept - self.value_at_means(unknowns.arrays))
        return tuple(slopes)

    def value_at_means(self, arrays: Mapping[str, Array]) -> Any:
        """The value of the coefficients at the columns' means, mean(X) b."""
        return (self.means * self._coefficients(arrays)).sum() if self.names else 0.0

    def value(self, frame: pd.DataFrame, arrays: Mapping[str, Array], prefix: str) -> Any:
        """The sum of the terms for the rows of a frame."""
        total: Any = arrays[self.centred_intercept] if self.intercept else 0.0
        if not self.names:
            return total
        name = f"X{self._after}"
        columns = self.design.matrix(frame) - self.means
        labels = dim(f"{name}_column", self.design.columns)
        return total + data(columns, f"{prefix}{name}", (f"{prefix}obs", labels)) @ (
            self._coefficients(arrays)
        )

    def _coefficients(self, arrays: Mapping[str, Array]) -> Array:
        """All coefficients in the order of the columns."""
        order = sorted(self.names, key=lambda term: self.design.terms[term].start)
        return concatenate([reshape(arrays[self.names[term]], -1) for term in order])
