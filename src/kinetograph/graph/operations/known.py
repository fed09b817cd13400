"""Operands whose values a graph is made by: orders, places, cut-offs."""

import numpy as np

from ..errors import SymbolicError
from ..messages import describe
from ..node import Data
from ..source import place_text
from .elementwise import Operand, as_node

__all__ = ["known", "known_number"]


def known(value: Operand, what: str) -> np.ndarray:
    """The numbers of an operand that has to be known while the graph is built."""
    node = as_node(value, what)
    if not isinstance(node, Data):
        raise SymbolicError(
            f"{what} must be known while the graph is built, which {describe(node)} is not"
            f"{place_text()}"
        )
    if not node.literal:
        node.settled = f"{what}{place_text()}"
    return np.asarray(node.value)


def known_number(value: Operand, what: str) -> float:
    """One such number."""
    found = known(value, what)
    if found.size != 1:
        raise SymbolicError(f"{what} must be one number, got {found.size}{place_text()}")
    return float(found.item())
