"""One linear predictor: the sum of the terms of one formula."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from ..graph.array import Array
from ..graph.source import place_text
from .groups import groupings
from .monotonic import MonotonicColumn, MonotonicTerm
from .offset import Offset
from .population import Population
from .priors import Unknown
from .smooths import GaussianProcessTerm, SplineTerm
from .texts import FormulaText
from .unknowns import FormulaUnknowns

__all__ = ["Predictor"]

_CALLS: dict[str, Any] = {
    "offset": Offset,
    "gp": GaussianProcessTerm,
    "s": SplineTerm,
}

_SMOOTH = (GaussianProcessTerm, SplineTerm)


class Predictor:
    """The linear predictor of one parameter, empty for the main parameter."""

    def __init__(
        self,
        parameter: str,
        text: FormulaText,
        frame: pd.DataFrame,
        scope: dict[str, Any],
        main: bool = True,
        ordered: bool = False,
    ) -> None:
        self.parameter, self.text = parameter, text
        monotonic = {name: MonotonicColumn(call, frame) for name, call in text.multiplied.items()}
        self.population = Population(
            parameter, text.population, frame, scope, main, ordered, monotonic
        )
        design = self.population.design
        self.calls = [
            _CALLS[call.function](parameter, call, frame, scope, main) for call in text.calls
        ]
        self.calls += [
            MonotonicTerm(parameter, design, term, monotonic, main) for term in design.products
        ]
        offsets = [term for term in self.calls if isinstance(term, Offset)]
        for number, term in enumerate(offsets[1:], 2):
            term.number = str(number)
        self._check_contained()
        self.groups = groupings(parameter, text.groups, frame, scope, main)

    def _check_contained(self) -> None:
        """Raise ValueError for effects that a spline contains, and for repeated terms."""
        texts = [term.text for term in self.calls if isinstance(term, _SMOOTH)]
        for term in self.calls:
            if isinstance(term, _SMOOTH) and texts.count(term.text) > 1:
                raise ValueError(
                    f"formula: {self.text.text!r} has two terms {term.text}{place_text()}; write "
                    "one term"
                )
            for name in getattr(term, "linear", ()):
                if name in self.population.names:
                    raise ValueError(
                        f"formula: {term.call.text} in {self.text.text!r} contains the linear "
                        f"effect of {name}{place_text()}; leave the term {name} out"
                    )

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
        new_levels: str | None = "error",
    ) -> Any:
        """The linear predictor of the rows of a frame.

        Without effects of groups if `new_levels` is None.
        """
        total = self.population.value(frame, arrays, prefix)
        for term in self.calls:
            total = total + term.value(frame, arrays, prefix)
        if new_levels is None:
            return total
        for group in self.groups:
            total = total + group.value(frame, arrays, prefix, new_levels)
        return total
