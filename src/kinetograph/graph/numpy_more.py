"""NumPy's functions that are expressions of others: a table to go with that of `numpy_protocol`."""

from collections.abc import Callable
from typing import Any

import numpy as np

from . import assembling, grids, ordering, products, statistics
from .elementwise import elementwise, floating
from .node import Node
from .shaping import as_sizes

__all__ = ["MORE"]


def _percentile(
    a: Any, q: Any, axis: Any = None, method: str = "linear", keepdims: bool = False
) -> Node:
    return ordering.quantile(a, np.asarray(q, float) / 100, axis, method, keepdims)


def _full_like(a: Any, fill_value: Any, shape: Any = None) -> Node:
    wanted = a.shape if shape is None else shape
    return assembling.filled(as_sizes(wanted, "full_like"), fill_value, a.dtype)


def _no_nan(name: str) -> Callable[..., Node]:
    if name in ("var", "std"):
        return lambda a, axis=None, ddof=0, keepdims=False: statistics.nan_reduce(
            name, a, axis, keepdims, ddof
        )
    return lambda a, axis=None, keepdims=False: statistics.nan_reduce(name, a, axis, keepdims)


MORE: dict[Callable[..., Any], Callable[..., Any]] = {
    **{
        getattr(np, f"nan{name}"): _no_nan(name)
        for name in ("sum", "prod", "mean", "var", "std", "max", "min")
    },
    np.argsort: lambda a, axis=-1, kind=None, stable=None: ordering.argsort(a, axis),
    np.take_along_axis: lambda arr, indices, axis=-1: ordering.take_along_axis(arr, indices, axis),
    np.quantile: lambda a, q, axis=None, method="linear", keepdims=False: ordering.quantile(
        a, q, axis, method, keepdims
    ),
    np.percentile: _percentile,
    np.searchsorted: lambda a, v, side="left": ordering.searchsorted(a, v, side),
    np.digitize: lambda x, bins, right=False: ordering.digitize(x, bins, right),
    np.isin: lambda element, test_elements, invert=False: ordering.isin(
        element, test_elements, invert
    ),
    np.count_nonzero: lambda a, axis=None, keepdims=False: ordering.count_nonzero(
        a, axis, keepdims
    ),
    np.average: lambda a, axis=None, weights=None: statistics.average(a, axis, weights),
    np.cov: lambda m, y=None, rowvar=True, bias=False, ddof=None: statistics.cov(
        m, y, rowvar, bias, ddof
    ),
    np.corrcoef: lambda x, y=None, rowvar=True: statistics.corrcoef(x, y, rowvar),
    np.convolve: lambda a, v, mode="full": grids.convolve(a, v, mode),
    np.interp: lambda x, xp, fp, left=None, right=None: grids.interp(x, xp, fp, left, right),
    np.polyval: lambda p, x: grids.polyval(p, x),
    np.trapezoid: lambda y, x=None, dx=1.0, axis=-1: grids.trapezoid(y, x, dx, axis),
    np.gradient: lambda f, *varargs, axis=None, edge_order=1: grids.gradient(
        f, *varargs, axis=axis, edge_order=edge_order
    ),
    np.tensordot: lambda a, b, axes=2: products.tensordot(a, b, axes),
    np.vdot: lambda a, b: products.vdot(a, b),
    np.cross: lambda a, b, axis=-1: products.cross(a, b, axis),
    np.linalg.cross: lambda x1, x2, axis=-1: products.cross(x1, x2, axis),
    np.linalg.matrix_power: lambda a, n: products.matrix_power(a, n),
    np.linalg.multi_dot: lambda arrays: products.multi_dot(arrays),
    np.linalg.lstsq: lambda a, b, rcond=None: products.lstsq(a, b, rcond),
    np.linalg.pinv: lambda a, rcond=None, rtol=None: products.pinv(a, rcond, rtol=rtol),
    np.linalg.svdvals: lambda x: products.svdvals(x),
    np.linalg.norm: lambda x, ord=None, axis=None, keepdims=False: products.norm(
        x, ord, axis, keepdims
    ),
    np.linalg.vector_norm: lambda x, axis=None, keepdims=False, ord=2: products.vector_norm(
        x, axis, keepdims, ord
    ),
    np.linalg.matrix_norm: lambda x, keepdims=False, ord="fro": products.norm(
        x, ord, (-2, -1), keepdims
    ),
    np.append: lambda arr, values, axis=None: assembling.append(arr, values, axis),
    np.pad: lambda array, pad_width, mode="constant", constant_values=0: assembling.pad(
        array, pad_width, mode, constant_values
    ),
    np.block: lambda arrays: assembling.block(arrays),
    np.select: lambda condlist, choicelist, default=0: assembling.select(
        condlist, choicelist, default
    ),
    np.nan_to_num: lambda x, copy=True, nan=0.0, posinf=None, neginf=None: assembling.nan_to_num(
        x, nan, posinf, neginf
    ),
    np.rot90: lambda m, k=1, axes=(0, 1): assembling.rot90(m, k, axes),
    np.full_like: _full_like,
    np.i0: lambda x: elementwise("i0", floating(x, "i0")),
}
