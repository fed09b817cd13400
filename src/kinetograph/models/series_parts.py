"""Some elements of a series, as the data of its steps.

level[:80], level[[3, 1, 3]]
"""

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..graph.node import Apply, Data, Node
from ..graph.operations.indexing import READ, SLICE, SLOT

__all__ = ["elements_at", "read_places", "summed_at"]


def read_places(node: Node) -> tuple[Node | None, np.ndarray]:
    """The series from which a node reads elements, and their places."""
    none = None, np.arange(0)
    if not isinstance(node, Apply) or node.operation not in (SLICE, READ):
        return none
    series, (part, *rest) = node.parents[0], node.attributes["template"]
    if len(series.shape) != 1 or len(node.shape) != 1 or rest:
        return none
    if node.operation is READ:
        places = node.parents[1]
        if part is not SLOT or not isinstance(places, Data) or not places.literal:
            return none
        part = places.value
    return series, np.arange(series.shape[0])[part]


def elements_at(places: np.ndarray, steps: int) -> np.ndarray:
    """The elements that are at each step, as rows; -1 for none."""
    counts = np.bincount(places, minlength=steps)
    elements = np.full((steps, max(counts)), -1)
    for step in range(steps):
        elements[step, : counts[step]] = np.flatnonzero(places == step)
    return elements


def summed_at(row: Any, elements: np.ndarray) -> Any:
    """The sums of the elements of each step, from `elements_at`."""
    return jnp.sum(jnp.where(elements >= 0, row[jnp.maximum(elements, 0)], 0.0), 1)
