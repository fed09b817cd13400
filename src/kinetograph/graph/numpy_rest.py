"""NumPy's lesser functions: second names, arrangements and comparisons; a table as `numpy_more`."""

from collections.abc import Callable
from typing import Any

import numpy as np

from . import arranging, comparing, grids, products, reductions, shaping
from .elementwise import Operand, as_node, astype, copy, elementwise, power, round_to
from .errors import SymbolicError
from .indexing import index
from .linear_algebra import inv, matmul, outer, solve
from .node import Node
from .ordering import argsort
from .special_more import sinc

__all__ = ["REST", "REST_UFUNCS"]


def _flat(value: Any, dtype: Any = bool) -> Callable[..., Node]:
    """The same for every element: what is to be known of real numbers only."""

    def handler(x: Operand) -> Node:
        node = as_node(x)
        return shaping.broadcast_to(np.asarray(value, dtype), node.shape)

    return handler


def _parts(x: Operand) -> tuple[Node, Node]:
    whole = elementwise("trunc", x)
    return elementwise("subtract", x, whole), whole


# Ufuncs of NumPy that are no functions of elements alone, or give several.
REST_UFUNCS: dict[str, Callable[..., Any]] = {
    "conjugate": copy,
    "divmod": lambda x, y: (elementwise("floor_divide", x, y), elementwise("remainder", x, y)),
    "modf": _parts,
    "matvec": lambda a, x: shaping.squeeze(matmul(a, shaping.expand_dims(x, -1)), -1),
    "vecmat": lambda x, a: shaping.squeeze(matmul(shaping.expand_dims(x, -2), a), -2),
}


def _polynomials(how: str) -> Callable[..., Node]:
    def handler(a1: Operand, a2: Operand) -> Node:
        x, y = as_node(a1), as_node(a2)
        size = max(x.size, y.size)
        rows = [shaping.concatenate([np.zeros(size - v.size, v.dtype), v], 0) for v in (x, y)]
        return elementwise(how, *rows)

    return handler


def _polyder(p: Operand, m: int = 1) -> Node:
    node = as_node(p)
    for _ in range(int(m)):
        kept = node.size - 1
        if kept < 1:
            return shaping.broadcast_to(np.zeros(0, node.dtype), (0,))
        head = index(node, slice(0, kept))
        node = elementwise("multiply", head, np.arange(kept, 0, -1))
    return node


def _polyint(p: Operand, m: int = 1, k: Any = 0.0) -> Node:
    node, constants = as_node(p), np.broadcast_to(np.asarray(k, float), (int(m),))
    for constant in constants:
        whole = elementwise("divide", node, np.arange(node.size, 0, -1))
        node = shaping.concatenate([whole, np.full(1, constant)], 0)
    return node


def _poly(seq_of_zeros: Operand) -> Node:
    node = as_node(seq_of_zeros)
    if len(node.shape) != 1:
        raise SymbolicError("np.poly: of the zeros in a vector only; for matrices np.linalg.det")
    found: Any = np.ones(1)
    for zero in arranging.unstack(node):
        ends = shaping.stack([np.ones((), node.dtype), elementwise("negative", zero)])
        found = grids.convolve(found, ends)
    return as_node(found)


def _polyfit(x: Operand, y: Operand, deg: int) -> Node:
    return products.lstsq(arranging.vander(x, int(deg) + 1), y)[0]


def _cond(x: Operand, p: Any = None) -> Node:
    node = as_node(x)
    if p in (None, 2, -2):
        values = products.svdvals(node)
        high, low = (reductions.reduce(how, values, -1) for how in ("max", "min"))
        return elementwise("divide", *((low, high) if p == -2 else (high, low)))
    inverse = inv(node)
    norms = [products.norm(v, p, (-2, -1)) for v in (node, inverse)]
    return elementwise("multiply", *norms)


def _matrix_rank(A: Operand, tol: Any = None, rtol: Any = None) -> Node:
    node = as_node(A)
    if len(node.shape) < 2:
        return astype(reductions.reduce("any", elementwise("not_equal", node, 0)), np.int64)
    values = products.svdvals(node)
    part = max(node.shape[-2:]) * float(np.finfo(values.dtype).eps) if rtol is None else rtol
    limit = elementwise("multiply", reductions.reduce("max", values, -1, True), part)
    large = elementwise("greater", values, limit if tol is None else tol)
    return reductions.reduce("sum", large, -1)


def _tensorinv(a: Operand, ind: int = 2) -> Node:
    node = as_node(a)
    rows, columns = node.shape[:ind], node.shape[ind:]
    flat = shaping.reshape(node, (int(np.prod(rows)), -1))
    return shaping.reshape(inv(flat), (*columns, *rows))


def _tensorsolve(a: Operand, b: Operand) -> Node:
    x, y = as_node(a), as_node(b)
    shape = x.shape[len(y.shape) :]
    flat = shaping.reshape(x, (y.size, -1))
    return shaping.reshape(solve(flat, shaping.reshape(y, (-1,))), shape)


def _last(function: Callable[..., Node]) -> Callable[..., Node]:
    return lambda x, offset=0: function(x, offset, -2, -1)


def _types(function: Callable[..., Any]) -> Callable[..., Any]:
    """A question about types alone, asked about arrays of no elements."""

    def handler(*values: Any) -> Any:
        return function(*(np.empty(0, v.dtype) if hasattr(v, "node") else v for v in values))

    return handler


def _correlate(a: Operand, v: Operand, mode: str = "valid") -> Node:
    first, second = as_node(a), as_node(v)
    if mode == "valid" and second.size > first.size:
        return shaping.flip(_correlate(second, first, mode))
    return grids.convolve(first, shaping.flip(second), mode)


def _extremum(name: str) -> Callable[..., Node]:
    return lambda a, axis=None, keepdims=False: reductions.reduce(name, a, axis, keepdims)


def _nan_median(a: Operand, axis: reductions.Axis = None, keepdims: bool = False) -> Node:
    return comparing.nan_quantile(a, 0.5, axis, keepdims=keepdims)


def _nan_percentile(
    a: Any, q: Any, axis: Any = None, method: str = "linear", keepdims: bool = False
) -> Node:
    return comparing.nan_quantile(a, np.asarray(q, float) / 100, axis, method, keepdims)


def _indices_from(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda arr, k=0: function(np.empty(arr.shape, bool), k)


def _logspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0
) -> Node:
    return power(base, arranging.linspace(start, stop, num, endpoint))


REST: dict[Callable[..., Any], Callable[..., Any]] = {
    np.around: lambda a, decimals=0: round_to(a, decimals),
    np.fix: lambda x: elementwise("trunc", x),
    np.amax: _extremum("max"),
    np.amin: _extremum("min"),
    np.nanargmax: lambda a, axis=None, keepdims=False: comparing.nan_arg(
        "argmax", a, axis, keepdims
    ),
    np.nanargmin: lambda a, axis=None, keepdims=False: comparing.nan_arg(
        "argmin", a, axis, keepdims
    ),
    np.nancumsum: lambda a, axis=None: comparing.nan_cumulative("cumsum", a, axis),
    np.nancumprod: lambda a, axis=None: comparing.nan_cumulative("cumprod", a, axis),
    np.nanmedian: _nan_median,
    np.nanquantile: lambda a, q, axis=None, method="linear", keepdims=False: comparing.nan_quantile(
        a, q, axis, method, keepdims
    ),
    np.nanpercentile: _nan_percentile,
    np.cumulative_sum: lambda x, axis=None, include_initial=False: arranging.cumulative_sum(
        "cumsum", x, axis, include_initial
    ),
    np.cumulative_prod: lambda x, axis=None, include_initial=False: arranging.cumulative_sum(
        "cumprod", x, axis, include_initial
    ),
    np.isclose: comparing.isclose,
    np.allclose: comparing.allclose,
    np.array_equal: comparing.array_equal,
    np.array_equiv: comparing.array_equiv,
    np.isposinf: lambda x: comparing.isinf_of_sign(1, x),
    np.isneginf: lambda x: comparing.isinf_of_sign(-1, x),
    np.isreal: _flat(True),
    np.iscomplex: _flat(False),
    np.isrealobj: lambda x: True,
    np.iscomplexobj: lambda x: False,
    np.real: lambda val: copy(val),
    np.imag: lambda val: shaping.broadcast_to(np.zeros((), val.dtype), val.shape),
    np.real_if_close: lambda a, tol=100: copy(a),
    np.result_type: _types(np.result_type),
    np.common_type: _types(np.common_type),
    np.empty_like: lambda prototype, shape=None: np.zeros(
        prototype.shape if shape is None else shape, prototype.dtype
    ),
    np.sinc: sinc,
    np.astype: lambda x, dtype, copy=True: astype(x, dtype),
    np.fliplr: lambda m: shaping.flip(m, 1),
    np.flipud: lambda m: shaping.flip(m, 0),
    np.partition: lambda a, kth, axis=-1: shaping.sort(a, axis),
    np.argpartition: lambda a, kth, axis=-1: argsort(a, axis),
    np.broadcast_arrays: arranging.broadcast_arrays,
    np.meshgrid: lambda *xi, copy=True, sparse=False, indexing="xy": arranging.meshgrid(
        *xi, indexing=indexing, sparse=sparse
    ),
    np.unstack: lambda x, axis=0: arranging.unstack(x, axis),
    np.rollaxis: lambda a, axis, start=0: arranging.rollaxis(a, axis, start),
    np.resize: lambda a, new_shape: arranging.resize(a, new_shape),
    np.diagflat: lambda v, k=0: arranging.diagflat(v, k),
    np.ediff1d: lambda ary, to_end=None, to_begin=None: arranging.ediff1d(ary, to_end, to_begin),
    np.delete: lambda arr, obj, axis=None: arranging.delete(arr, obj, axis),
    np.linspace: lambda start, stop, num=50, endpoint=True, axis=0: arranging.linspace(
        start, stop, num, endpoint, axis
    ),
    np.logspace: _logspace,
    np.vander: lambda x, N=None, increasing=False: arranging.vander(x, N, increasing),
    np.unwrap: lambda p, discont=None, axis=-1, period=2 * np.pi: arranging.unwrap(
        p, discont, axis, period
    ),
    np.tril_indices_from: _indices_from(np.tril_indices_from),
    np.triu_indices_from: _indices_from(np.triu_indices_from),
    np.diag_indices_from: lambda arr: np.diag_indices_from(np.empty(arr.shape, bool)),
    np.correlate: _correlate,
    np.poly: _poly,
    np.polyadd: _polynomials("add"),
    np.polysub: _polynomials("subtract"),
    np.polymul: lambda a1, a2: grids.convolve(a1, a2),
    np.polyder: _polyder,
    np.polyint: _polyint,
    np.polyfit: _polyfit,
    np.linalg.cond: _cond,
    np.linalg.matrix_rank: _matrix_rank,
    np.linalg.tensorinv: _tensorinv,
    np.linalg.tensorsolve: _tensorsolve,
    np.linalg.trace: _last(shaping.trace),
    np.linalg.diagonal: _last(shaping.diagonal),
    np.linalg.outer: lambda x1, x2: outer(x1, x2),
    np.linalg.tensordot: lambda x1, x2, axes=2: products.tensordot(x1, x2, axes),
    np.linalg.matmul: lambda x1, x2: matmul(x1, x2),
    np.linalg.matrix_transpose: lambda x: shaping.swapaxes(x, -1, -2),
    np.linalg.vecdot: lambda x1, x2, axis=-1: products.vecdot(x1, x2, axis),
    np.fft.fftshift: lambda x, axes=None: arranging.fftshift(x, axes),
    np.fft.ifftshift: lambda x, axes=None: arranging.fftshift(x, axes, back=True),
}
