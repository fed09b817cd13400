"""NumPy's functions of sampled curves and polynomials."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import SymbolicError
from ..node import Node
from ..operations import arranging, grids, products, shaping
from ..operations.elementwise import elementwise, times
from ..operations.indexing import index
from ..operations.operands import Operand, as_node

__all__ = ["CURVES"]


def _polynomials(operation: str) -> Callable[..., Node]:
    def handler(a1: Operand, a2: Operand) -> Node:
        x, y = as_node(a1), as_node(a2)
        size = max(x.size, y.size)
        rows = [shaping.concatenate([np.zeros(size - v.size, v.dtype), v], 0) for v in (x, y)]
        return elementwise(operation, *rows)

    return handler


def _polyder(p: Operand, m: int = 1) -> Node:
    node = as_node(p)
    for _ in range(int(m)):
        count = node.size - 1
        if count < 1:
            return shaping.broadcast_to(np.zeros(0, node.dtype), (0,))
        head = index(node, slice(0, count))
        node = times(head, np.arange(count, 0, -1))
    return node


def _polyint(p: Operand, m: int = 1, k: Any = 0.0) -> Node:
    node, constants = as_node(p), np.broadcast_to(np.asarray(k, float), (int(m),))
    for constant in constants:
        integrated = elementwise("divide", node, np.arange(node.size, 0, -1))
        node = shaping.concatenate([integrated, np.full(1, constant)], 0)
    return node


def _poly(seq_of_zeros: Operand) -> Node:
    node = as_node(seq_of_zeros)
    if len(node.shape) != 1:
        raise SymbolicError(
            "np.poly: the zeros must be a vector; for matrices there is np.linalg.det"
        )
    coefficients: Any = np.ones(1)
    for zero in arranging.unstack(node):
        ends = shaping.stack([np.ones((), node.dtype), elementwise("negative", zero)])
        coefficients = grids.convolve(coefficients, ends)
    return as_node(coefficients)


def _polyfit(x: Operand, y: Operand, deg: int) -> Node:
    return products.lstsq(arranging.vander(x, int(deg) + 1), y)[0]


def _correlate(a: Operand, v: Operand, mode: str = "valid") -> Node:
    first, second = as_node(a), as_node(v)
    if mode == "valid" and second.size > first.size:
        return shaping.flip(_correlate(second, first, mode))
    return grids.convolve(first, shaping.flip(second), mode)


CURVES: dict[Callable[..., Any], Callable[..., Any]] = {
    np.convolve: lambda a, v, mode="full": grids.convolve(a, v, mode),
    np.interp: lambda x, xp, fp, left=None, right=None: grids.interp(x, xp, fp, left, right),
    np.polyval: lambda p, x: grids.polyval(p, x),
    np.trapezoid: lambda y, x=None, dx=1.0, axis=-1: grids.trapezoid(y, x, dx, axis),
    np.gradient: lambda f, *varargs, axis=None, edge_order=1: grids.gradient(
        f, *varargs, axis=axis, edge_order=edge_order
    ),
    np.vander: lambda x, N=None, increasing=False: arranging.vander(x, N, increasing),
    np.unwrap: lambda p, discont=None, axis=-1, period=2 * np.pi: arranging.unwrap(
        p, discont, axis, period
    ),
    np.correlate: _correlate,
    np.poly: _poly,
    np.polyadd: _polynomials("add"),
    np.polysub: _polynomials("subtract"),
    np.polymul: lambda a1, a2: grids.convolve(a1, a2),
    np.polyder: _polyder,
    np.polyint: _polyint,
    np.polyfit: _polyfit,
}
