"""One linear predictor: the sum of the terms of one formula."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from ..graph.array import Array
from .groups import groupings
from .population import Population
from .priors import Unknown
from .smooths import Monotonic, Offset, Smooth
from .texts import FormulaText
from .unknowns import FormulaUnknowns

__all__ = ["Predictor"]

_CALLS: dict[str, Any] = {"offset": Offset, "mo": Monotonic, "gp": Smooth}


class Predictor:
    """The linear predictor of one parameter, empty for the main parameter."""

    def __init__(
        self,
        parameter: str,
        text: FormulaText,
        frame: pd.DataFrame,
        scope: dict[str, Any],
        main: bool = True,
        intercept: bool = True,
    ) -> None:
        self.parameter, self.text = parameter, text
        self.population = Population(parameter, text.population, frame, scope, main, intercept)
        self.calls = [
            _CALLS[call.function](parameter, call, frame, scope, main) for call in text.calls
        ]
        offsets = [term for term in self.calls if isinstance(term, Offset)]
        for number, term in enumerate(offsets[1:], 2):
            term.number = str(number)
        self.groups = groupings(parameter, text.groups, frame, scope, main)

    def declare(self, unknowns: FormulaUnknowns, frame: pd.DataFrame) -> None:
        """Make the unknowns of all terms."""
        slopes: tuple[Unknown, ...] = self.population.declare(unknowns, frame)
        for term in self.calls:
            term.declare(unknowns, frame)
        for group in self.groups:
            group.declare(unknowns, frame, slopes)

    def value(
        self,
        frame: pd.DataFrame,
        arrays: Mapping[str, Array],
        prefix: str = "",
        new_levels: str = "error",
    ) -> Any:
        """The linear predictor of the rows of a frame."""
        total = self.population.value(frame, arrays, prefix)
        for term in self.calls:
            total = total + term.value(frame, arrays, prefix)
        for group in self.groups:
            total = total + group.value(frame, arrays, prefix, new_levels)
        return total
