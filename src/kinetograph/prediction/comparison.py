"""The table of `kg.compare`, which prints all of its columns.

pandas is slow to import and is needed here only for tables, so this file is imported when one is
made.
"""

from typing import Any

import pandas as pd

__all__ = ["Comparison"]

WIDTH = 100  # characters of a printed line


class Comparison(pd.DataFrame):
    """A data frame that prints all of its columns.

    pandas leaves out columns in the middle if the table is wider than the terminal. Here numbers
    are rounded, and columns of texts are lines below the table. Parts of the table are ordinary
    data frames.
    """

    def __repr__(self) -> str:
        table = pd.DataFrame(self)
        is_number = [pd.api.types.is_numeric_dtype(kind) for kind in table.dtypes]
        numbers = table.loc[:, is_number]
        lines = [numbers.to_string(float_format="{:.2f}".format, line_width=WIDTH)]
        texts = table.loc[:, [not number for number in is_number]]
        lines += [
            f"{row}: {text} ({column})"
            for row, cells in texts.iterrows()
            for column, text in cells.items()
            if isinstance(text, str) and text
        ]
        return "\n".join(lines)

    __str__ = __repr__

    def _repr_html_(self) -> Any:
        with pd.option_context("display.max_colwidth", None, "display.max_columns", None):
            return pd.DataFrame(self)._repr_html_()
