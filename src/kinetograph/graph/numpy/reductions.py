"""NumPy's reductions and orderings: sums, quantiles, functions that ignore NaN."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..node import Node
from ..operations import arranging, comparing, ordering, reductions, shaping, statistics
from ..operations.elementwise import minus
from ..operations.operands import Operand
from ..operations.ordering import argsort

__all__ = ["REDUCTIONS"]


def _reduction(name: str) -> Callable[..., Node]:
    if name in ("var", "std"):
        return lambda a, axis=None, ddof=0, keepdims=False, correction=None: reductions.reduce(
            name, a, axis, keepdims, ddof=ddof if correction is None else correction
        )
    return lambda a, axis=None, keepdims=False: reductions.reduce(name, a, axis, keepdims)


def _ptp(a: Any, axis: Any = None, keepdims: bool = False) -> Node:
    high, low = (reductions.reduce(name, a, axis, keepdims) for name in ("max", "min"))
    return minus(high, low)


def _percentile(
    a: Any, q: Any, axis: Any = None, method: str = "linear", keepdims: bool = False
) -> Node:
    return ordering.quantile(a, np.asarray(q, float) / 100, axis, method, keepdims)


def _no_nan(name: str) -> Callable[..., Node]:
    if name in ("var", "std"):
        return lambda a, axis=None, ddof=0, keepdims=False: statistics.nan_reduce(
            name, a, axis, keepdims, ddof
        )
    return lambda a, axis=None, keepdims=False: statistics.nan_reduce(name, a, axis, keepdims)


def _extremum(name: str) -> Callable[..., Node]:
    return lambda a, axis=None, keepdims=False: reductions.reduce(name, a, axis, keepdims)


def _nan_median(a: Operand, axis: reductions.Axis = None, keepdims: bool = False) -> Node:
    return comparing.nan_quantile(a, 0.5, axis, keepdims=keepdims)


def _nan_percentile(
    a: Any, q: Any, axis: Any = None, method: str = "linear", keepdims: bool = False
) -> Node:
    return comparing.nan_quantile(a, np.asarray(q, float) / 100, axis, method, keepdims)


REDUCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    **{
        getattr(np, name): _reduction(name) for name in reductions.REDUCTIONS if name != "logsumexp"
    },
    np.ptp: _ptp,
    np.cumsum: lambda a, axis=None: reductions.cumulative("cumsum", a, axis),
    np.cumprod: lambda a, axis=None: reductions.cumulative("cumprod", a, axis),
    np.sort: lambda a, axis=-1: shaping.sort(a, axis),
    np.diff: lambda a, n=1, axis=-1: shaping.diff(a, n, axis),
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
    np.partition: lambda a, kth, axis=-1: shaping.sort(a, axis),
    np.argpartition: lambda a, kth, axis=-1: argsort(a, axis),
    np.ediff1d: lambda ary, to_end=None, to_begin=None: arranging.ediff1d(ary, to_end, to_begin),
}
