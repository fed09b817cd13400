"""Arrays made of other arrays: padding, blocks, selection by conditions."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import ShapeError
from ..messages import describe
from ..node import Node
from .elementwise import astype, elementwise, where
from .indexing import take
from .operands import Operand, as_node
from .shaping import broadcast_to, concatenate, flip, reshape, swapaxes

__all__ = ["append", "block", "filled", "nan_to_num", "pad", "rot90", "select"]

_INSIDE = ("edge", "wrap", "reflect", "symmetric")


def append(arr: Operand, values: Operand, axis: int | None = None) -> Node:
    """Two arrays joined along an axis (flattened for None)."""
    return concatenate([arr, values], axis)


def pad(array: Operand, pad_width: Any, mode: str = "constant", constant_values: Any = 0) -> Node:
    """Pad x along its axes, with constants or its own elements.

    `mode` is "constant", or selects the own elements as in NumPy: "edge", "wrap", "reflect" or
    "symmetric".
    """
    node = as_node(array, "pad")
    try:
        widths = np.broadcast_to(np.asarray(pad_width, int), (len(node.shape), 2))
    except ValueError:
        raise ShapeError(
            f"pad of {describe(node)}, shape {node.shape}: widths {pad_width!r:.60} do not fit"
        ) from None
    if (widths < 0).any() or mode not in ("constant", *_INSIDE):
        raise ValueError(
            f"pad: widths are not negative and mode is one of constant, {', '.join(_INSIDE)}; got "
            f"{pad_width!r:.60}, {mode!r}"
        )
    if mode == "constant":
        fills = np.empty((len(node.shape), 2), object)
        fills[:] = [[constant_values] * 2] * len(node.shape)
        if isinstance(constant_values, (tuple, list, np.ndarray)):
            fills[:] = np.broadcast_to(np.asarray(constant_values, object), fills.shape)
    for axis, (before, after) in enumerate(widths):
        if mode != "constant":
            places = np.pad(np.arange(node.shape[axis]), (before, after), mode=mode)  # type: ignore[call-overload]
            node = take(node, places, axis)
            continue
        sides = []
        for width, fill in zip((before, after), fills[axis]):
            shape = [int(width) if i == axis else n for i, n in enumerate(node.shape)]
            sides.append(filled(shape, fill, node.dtype))
        node = concatenate([sides[0], node, sides[1]], axis)
    return node


def filled(shape: Sequence[int], fill: Any, dtype: np.dtype) -> Node:
    """An array with one value in all elements, of the given type."""
    return broadcast_to(astype(fill, dtype), tuple(shape))


def block(arrays: Any) -> Node:
    """Join arrays in nested lists: innermost lists along the last axis.

    Each outer level joins along the preceding axis.
    """

    def depth(item: Any) -> int:
        return 1 + max(map(depth, item)) if isinstance(item, list) and item else 0

    def leaves(item: Any) -> list[Node]:
        if isinstance(item, list):
            return [leaf for part in item for leaf in leaves(part)]
        return [as_node(item, "block")]

    levels = depth(arrays)
    ndim = max(levels, *(len(leaf.shape) for leaf in leaves(arrays)))

    def joined(item: Any, level: int) -> Node:
        if not isinstance(item, list):
            node = as_node(item, "block")
            return reshape(node, (1,) * (ndim - len(node.shape)) + node.shape)
        return concatenate([joined(part, level - 1) for part in item], -level)

    return joined(arrays, levels)


def select(condlist: Sequence[Operand], choicelist: Sequence[Operand], default: Any = 0) -> Node:
    """The choice of the first true condition, or the default.

    The choice is made for each element.
    """
    if len(condlist) != len(choicelist) or not len(condlist):
        raise ShapeError(f"select: {len(condlist)} conditions and {len(choicelist)} choices")
    result: Any = default
    for condition, choice in zip(reversed(list(condlist)), reversed(list(choicelist))):
        result = where(condition, choice, result)
    node: Node = result
    return node


def nan_to_num(
    x: Operand, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None
) -> Node:
    """Replace NaN and infinities by finite numbers.

    The default for an infinity is the finite number of largest magnitude with its sign.
    """
    node = as_node(x, "nan_to_num")
    if node.dtype.kind != "f":
        return node
    info = np.finfo(node.dtype)
    high = float(info.max) if posinf is None else posinf
    low = float(info.min) if neginf is None else neginf
    result = where(elementwise("isnan", node), nan, node)
    result = where(elementwise("equal", node, np.inf), high, result)
    return where(elementwise("equal", node, -np.inf), low, result)


def rot90(m: Operand, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Node:
    """Rotate a matrix by k quarter turns.

    The direction is from the first axis to the second.
    """
    node = as_node(m, "rot90")
    first, second = (int(a) % len(node.shape) for a in axes)
    if k % 4 == 0:
        return node
    if k % 4 == 2:
        return flip(node, (first, second))
    if k % 4 == 1:
        return swapaxes(flip(node, second), first, second)
    return flip(swapaxes(node, first, second), second)
