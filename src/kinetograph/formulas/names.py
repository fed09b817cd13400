"""Names of arrays and dimensions, which results hold side by side."""

from collections.abc import Mapping

import pandas as pd

from ..graph.array import Array
from ..graph.errors import DataError
from ..graph.node import ancestors
from ..graph.source import place_text
from ..models.discovery import above
from .frames import rename_text

__all__ = ["DIMENSIONS", "check_names", "name_fault"]

DIMENSIONS = ("obs", "new_obs", "chain", "draw")  # of the rows, and of all draws


def name_fault(frame: pd.DataFrame, name: str, title: str = "two arrays of the model") -> DataError:
    """The error for a column whose name the model has already."""
    columns = [column for column in map(str, frame.columns) if column in name]
    column = max(columns, key=len, default=name)
    return DataError(
        f"formula: {name!r} would be the name of {title}{place_text()}; rename the column "
        f"{column!r}: {rename_text(frame, column, f'my_{column}')}"
    )


def check_names(
    frame: pd.DataFrame, response: str, distribution: Array, arrays: Mapping[str, Array]
) -> None:
    """Raise DataError if the response or data have a used name."""
    if response in DIMENSIONS:
        raise name_fault(frame, response, "the response and of a dimension of results")
    if response in arrays:
        raise name_fault(frame, response, "the response and of an unknown")
    array_nodes = {array.node for array in arrays.values()}
    used_names = {response, *arrays}
    for node in ancestors([distribution.node], above=lambda node: tuple(above(node))):
        if node.name is None or node in array_nodes or node is distribution.node:
            continue
        if node.name in used_names:
            raise name_fault(frame, node.name)
        used_names.add(node.name)
