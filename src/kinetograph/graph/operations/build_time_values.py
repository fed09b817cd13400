"""Operands whose values must be known at build time: orders, places, cut-offs."""

import numpy as np

from ..errors import SymbolicError
from ..messages import describe
from ..node import Data
from ..source import place_text
from .operands import Operand, as_node

__all__ = ["build_time_value", "known_number"]


def build_time_value(value: Operand, subject: str) -> np.ndarray:
    """The value of an operand that must be known at build time."""
    node = as_node(value, subject)
    if not isinstance(node, Data):
        raise SymbolicError(
            f"{subject} must be known while the graph is built, which {describe(node)} is not"
            f"{place_text()}"
        )
    if not node.literal:
        node.settled = f"{subject}{place_text()}"
    return np.asarray(node.value)


def known_number(value: Operand, subject: str) -> float:
    """The number in an operand that must be known at build time."""
    values = build_time_value(value, subject)
    if values.size != 1:
        raise SymbolicError(f"{subject} must be one number, got {values.size}{place_text()}")
    return float(values.item())
