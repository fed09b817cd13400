"""Known terms of a linear predictor, `offset(log(exposure))`."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from ..graph.array import Array
from ..graph.inputs import data
from ..graph.source import place_text
from .design import evaluated
from .texts import FormulaCall
from .unknowns import FormulaUnknowns

__all__ = ["Offset"]


class Offset:
    """A known term of a linear predictor, `offset(log(exposure))`.

    `number` ends the name of its data, if it is not the first offset.
    """

    number = ""

    def __init__(
        self, parameter: str, call: FormulaCall, frame: pd.DataFrame, scope: Any, main: bool
    ):
        if len(call.positional) != 1 or call.named:
            raise ValueError(f"formula: {call.text} must have one argument{place_text()}")
        self.parameter, self.call, self._scope = parameter, call, scope

    def declare(self, unknowns: FormulaUnknowns, frame: pd.DataFrame) -> None:
        """Make nothing: an offset has no unknowns."""

    def value(self, frame: pd.DataFrame, arrays: Mapping[str, Array], prefix: str) -> Array:
        """The offset of the rows of a frame."""
        after = f"_{self.parameter}" if self.parameter else ""
        values = evaluated(self.call.positional[0], frame, self._scope, self.call.text)
        return data(values, f"{prefix}offset{self.number}{after}", (f"{prefix}obs",))
