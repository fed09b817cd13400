"""Rounding to a number of decimals."""

import numpy as np

from ..node import Node
from ..source import place_text
from ..value_texts import in_words
from .elementwise import astype, copy, elementwise, minus, plus, times
from .operands import Operand, as_node

__all__ = ["round_to"]


def round_to(x: Operand, decimals: int) -> Node:
    """x rounded to the given number of decimals, halves to even."""
    if isinstance(decimals, bool) or not isinstance(decimals, (int, np.integer)):
        raise TypeError(
            f"round: decimals must be a whole number, got {in_words(decimals)}{place_text()}"
        )
    node = as_node(x, "round")
    if node.dtype.kind in "iu":
        return _whole_rounded(node, 10 ** max(-decimals, 0))
    if decimals == 0:
        return elementwise("rint", x)
    scale = 10.0 ** abs(decimals)
    first, second = ("multiply", "divide") if decimals > 0 else ("divide", "multiply")
    return elementwise(second, elementwise("rint", elementwise(first, x, scale)), scale)


def _whole_rounded(node: Node, scale: int) -> Node:
    """Integers rounded to multiples of a power of 10, halves to even."""
    if scale == 1:
        return copy(node)
    if scale > np.iinfo(node.dtype).max:
        return times(node, 0)
    below = elementwise("floor_divide", node, scale)
    remainder = minus(node, times(below, scale))
    complement = minus(scale, remainder)
    is_half_to_even = elementwise(
        "logical_and", elementwise("equal", remainder, complement), _odd(below)
    )
    round_up = elementwise(
        "logical_or", elementwise("greater", remainder, complement), is_half_to_even
    )
    return times(plus(below, astype(round_up, node.dtype)), scale)


def _odd(node: Node) -> Node:
    return elementwise("not_equal", elementwise("bitwise_and", node, 1), 0)
