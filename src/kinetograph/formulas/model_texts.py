"""Texts of a printed model: priors and censored responses."""

from collections.abc import Mapping

import numpy as np

from ..distributions.support import Ordered
from ..distributions.variable import Variable
from ..graph.array import Array
from ..graph.messages import describe
from ..graph.node import Data, Node

__all__ = ["censored_line", "prior_text"]


def censored_line(name: str, counts: Mapping[str, int], rows: int) -> list[str]:
    """The line of a printed model that counts censored responses, or none."""
    if not counts:
        return []
    sides = [f"{side}-censored in {count}" for side, count in counts.items() if count]
    return [f"response  {name}, {' and '.join(sides) or 'censored in none'} of {rows} rows"]


def prior_text(array: Array) -> str:
    """The prior of an unknown, with its numbers."""
    node = array.node
    assert isinstance(node, Variable)
    if node.distribution is None:
        return "flat, ordered" if isinstance(node.support, Ordered) else "flat"
    return node.distribution.family.expression([_number_text(p) for p in node.distribution.parents])


def _number_text(node: Node) -> str:
    """A parameter of a prior: its numbers if these are known."""
    if not isinstance(node, Data) or not node.literal:
        return describe(node)
    numbers = [f"{value:.3g}" for value in np.ravel(node.value)]
    if len(set(numbers)) == 1:
        return numbers[0]
    shown = ", ".join(numbers[:6]) + (", ..." if len(numbers) > 6 else "")
    return f"[{shown}]"
