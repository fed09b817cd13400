"""What results know of a model's arrays: their draws, row by row."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..graph.errors import ModelError, ShapeError
from ..graph.node import Node
from ..runs.results import check_tree

__all__ = ["Recorded", "recorded"]


class Recorded:
    """The draws of some nodes, a row each, and how rows lie in chains."""

    def __init__(self, values: Mapping[Node, np.ndarray], lead: tuple[int, int]) -> None:
        self.values, self.lead = dict(values), lead

    @property
    def count(self) -> int:
        """How many rows."""
        return math.prod(self.lead)

    def of(self, nodes: tuple[Node, ...]) -> list[np.ndarray]:
        """The rows of these nodes."""
        return [self.values[node] for node in nodes]

    def by_chain(self, rows: np.ndarray) -> np.ndarray:
        """Rows as (chain, draw, ...)."""
        return rows.reshape((*self.lead, *rows.shape[1:]))


def recorded(doing: str, results: Any, names: Mapping[Node, str]) -> Recorded:
    """The draws of those of the named nodes that results hold.

    Raises
    ------
    TypeError
        If these are no results.
    ModelError
        If there are no draws.
    ShapeError
        If draws have another shape than their node: they are of another model.
    """
    posterior = check_tree(results, doing)
    lead = posterior.sizes["chain"], posterior.sizes["draw"]
    if not math.prod(lead):
        raise ModelError(
            f"{doing}: the results hold no draws: they were made with keep=False, draws=0, or by a "
            "run that was stopped before the first"
        )
    found = {}
    for node, name in names.items():
        if name not in posterior:
            continue
        draws = posterior[name].transpose("chain", "draw", ...)
        if draws.shape[2:] != node.shape:
            raise ShapeError(
                f"{doing}: the results are of another model: {name} has shape {draws.shape[2:]} "
                f"in them, and {node.shape} here"
            )
        values = np.asarray(draws.values, node.dtype)
        found[node] = values.reshape((math.prod(lead), *node.shape))
    return Recorded(found, lead)
