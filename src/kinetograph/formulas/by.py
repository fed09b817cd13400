"""The argument `by=` of smooth terms.

With categories, each level has a function of its own. With numbers, the function is multiplied by
them: it is the coefficient of the column, which varies smoothly.
"""

from typing import Any

import numpy as np
import pandas as pd

from ..graph.errors import DataError
from ..graph.source import place_text
from .columns import check_present, is_text, label_texts, level_codes, levels_of
from .dates import check_no_dates
from .design import evaluated
from .frames import categories_text

__all__ = ["ByColumn"]


class ByColumn:
    """The column that the functions of a smooth term differ by.

    Attributes
    ----------
    levels
        The levels of a categorical column; empty for numbers.
    """

    def __init__(self, text: str, frame: pd.DataFrame, scope: Any, title: str) -> None:
        self.text, self._scope, self._title = text, scope, title
        self.levels: list[Any] = []
        self._check_text(text, frame)
        check_no_dates(frame, [text], title, "for categories make a column of texts")
        if text in frame and is_text(frame[text]):
            check_present(frame, [text], title)
            self.levels = levels_of(frame[text])
            if len(self.levels) < 2:
                raise DataError(
                    f"formula: {title}: {text!r} has one level, {self.levels[0]!r}, in all "
                    f"{len(frame)} rows{place_text()}; leave by= out"
                )

    def _check_text(self, text: str, frame: pd.DataFrame) -> None:
        """Refuse a column in quotes, and one in C()."""
        name = text.removeprefix("C(").removesuffix(")").strip("'\"`")
        if text == name or name not in frame or text in frame:
            return
        advice = f"write by={name}, the name of the column alone"
        if not is_text(frame[name]):
            advice += f", and for categories {categories_text(frame, name)} as the column"
        raise DataError(f"formula: {self._title} has by={text}{place_text()}; {advice}")

    @property
    def labels(self) -> list[str]:
        """The labels of the levels."""
        return label_texts(self.levels)

    def codes(self, frame: pd.DataFrame) -> np.ndarray:
        """The numbers of the levels in the rows of a frame."""
        return level_codes(frame, self.text, self.levels, self._title)

    def factors(self, frame: pd.DataFrame) -> np.ndarray:
        """The numbers that multiply the function in the rows of a frame."""
        return evaluated(self.text, frame, self._scope, self._title)
