"""CSV files with a header, read and written by pandas."""

import os
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ...graph.errors import DataError
from ...graph.public import public

if TYPE_CHECKING:
    from .reading import LabelledData

__all__ = ["read_frame", "write_csv"]


@public
def write_csv(path: str | os.PathLike[str], data: "LabelledData") -> None:
    """Write inputs and labels to a CSV file with a header.

    Numbers are written with the digits that give them back exactly, so equal data give equal bytes.

    Examples
    --------
    >>> import tempfile, kinetograph as kg
    >>> sets = kg.neural.datasets
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sets.write_csv(folder + "/points.csv", sets.two_circles(10, seed=1))
    ...     print(sets.read(folder + "/points.csv").inputs)
    ('x1', 'x2')
    """
    table = np.column_stack([data.x, data.y])
    frame = pd.DataFrame(table, columns=[*data.inputs, *data.labels])
    frame.to_csv(path, index=False, lineterminator="\n")


def read_frame(path: str | os.PathLike[str]) -> pd.DataFrame:
    """The numbers of a CSV file; errors name file, line and column."""
    try:
        frame = pd.read_csv(path, skipinitialspace=True)
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise DataError(f"read: {path} is not a CSV file with a header: {error}") from error
    if not len(frame):
        raise DataError(f"read: {path} has no rows below its header")
    for name in frame.columns:
        numbers = pd.to_numeric(frame[name], errors="coerce").to_numpy(float)
        wrong = np.flatnonzero(~np.isfinite(numbers))
        if len(wrong):
            value = frame[name].iloc[wrong[0]]
            got = "no value" if pd.isna(value) else repr(value)
            raise DataError(
                f"read: {path}, row {wrong[0] + 1} below the header, column {name}: expected a "
                f"number, got {got}"
            )
    return frame
