"""NumPy's functions on arrays: the tables behind `__array_ufunc__` and `__array_function__`.

An argument that has no meaning in a graph (`out=`, `where=`) is refused by name; a function that is
not in the table is refused with what to write instead.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from . import elementwise as ew
from . import indexing, linear_algebra, reductions, shaping
from .array import Array
from .errors import SymbolicError
from .node import Node

__all__ = ["apply_function", "apply_ufunc"]


def apply_ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: Any) -> Any:
    """np.exp(x), np.add(x, y), scipy.special.expit(x), np.add.reduce(x), ..."""
    name = "divide" if ufunc is np.true_divide else ufunc.__name__
    if kwargs.pop("dtype", None) is not None or any(v is not None for v in kwargs.values() if method == "__call__"):
        raise SymbolicError(
            f"np.{name}: the arguments {', '.join(sorted(kwargs)) or 'dtype'} cannot be used "
            "with arrays in a graph"
        )
    if method == "reduce" and name in _REDUCING:
        kwargs = {k: v for k, v in kwargs.items() if k in ("axis", "keepdims")}
        return Array(reductions.reduce(_REDUCING[name], inputs[0], **{"axis": 0, **kwargs}))
    if method != "__call__":
        raise SymbolicError(f"np.{name}.{method} cannot be used with arrays in a graph")
    if ufunc is np.matmul:
        return Array(linear_algebra.matmul(*inputs))
    if name == "power":
        return Array(ew.power(*inputs))
    if name not in ew.ELEMENTWISE:
        raise _unsupported(f"{ufunc.__name__}")
    return Array(ew.elementwise(name, *inputs))


_REDUCING = {
    "add": "sum",
    "multiply": "prod",
    "maximum": "max",
    "minimum": "min",
    "logical_and": "all",
    "logical_or": "any",
}


def _unsupported(name: str) -> SymbolicError:
    return SymbolicError(
        f"NumPy's {name} is not available for arrays in a graph; "
        "kg.lift(function) makes an operation of any JAX function"
    )


def apply_function(func: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """np.sum(x), np.linalg.solve(a, b), np.concatenate([x, y]), ..."""
    handler = _FUNCTIONS.get(func)
    if handler is None:
        raise _unsupported(f"{func.__module__}.{func.__name__}")
    for refused in ("out", "where", "dtype", "initial"):
        if kwargs.get(refused, None) is not None and kwargs[refused] is not np._NoValue:
            raise SymbolicError(
                f"{func.__name__}: the argument {refused!r} cannot be used with arrays in a graph"
            )
        kwargs.pop(refused, None)
    return _wrap(handler(*args, **kwargs))


def _wrap(result: Any) -> Any:
    if isinstance(result, Node):
        return Array(result)
    if isinstance(result, tuple):
        return type(result)(*map(_wrap, result)) if hasattr(result, "_fields") else tuple(map(_wrap, result))
    return [_wrap(r) for r in result] if isinstance(result, list) else result


def _reduction(name: str) -> Callable[..., Node]:
    def handler(a: Any, axis: Any = None, **options: Any) -> Node:
        options = {k: v for k, v in options.items() if v is not np._NoValue}
        options.pop("overwrite_input", None)
        return reductions.reduce(name, a, axis, options.pop("keepdims", False), **options)

    return handler


def _atleast(ndim: int) -> Callable[..., Any]:
    def handler(*arrays: Any) -> Any:
        results = []
        for a in arrays:
            node = ew.as_node(a)
            missing = max(0, ndim - len(node.shape))
            results.append(shaping.reshape(node, (1,) * missing + node.shape))
        return results[0] if len(results) == 1 else tuple(results)

    return handler


def _like(value: float) -> Callable[..., np.ndarray]:
    def handler(a: Any, shape: Any = None, **_: Any) -> np.ndarray:
        return np.full(a.shape if shape is None else shape, value, a.dtype)

    return handler


def _join(axis: int, ndim: int) -> Callable[..., Node]:
    def handler(arrays: Any) -> Node:
        rows = _atleast(ndim)(*arrays)
        return shaping.concatenate(rows if isinstance(rows, tuple) else (rows,), axis)

    return handler


def _column_stack(arrays: Any) -> Node:
    columns = [ew.as_node(a) for a in arrays]
    return shaping.concatenate(
        [shaping.reshape(c, (-1, 1)) if len(c.shape) == 1 else c for c in columns], 1
    )


def _split(a: Any, sections: Any, axis: int = 0) -> list[Node]:
    node = ew.as_node(a)
    places = np.array_split(np.arange(node.shape[axis]), sections)
    if isinstance(sections, int) and node.shape[axis] % sections:
        raise ValueError("array split does not result in an equal division")
    before = (slice(None),) * (axis % len(node.shape))
    return [
        indexing.index(node, (*before, slice(int(p[0]), int(p[-1]) + 1) if p.size else slice(0, 0)))
        for p in places
    ]


def _dot(a: Any, b: Any) -> Node:
    x, y = ew.as_node(a), ew.as_node(b)
    if not x.shape or not y.shape:
        return ew.elementwise("multiply", x, y)
    return linear_algebra.matmul(x, y)


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Node:
    if ord not in (None, 2, "fro"):
        raise SymbolicError(f"np.linalg.norm: ord={ord!r} is not available; None and 2 are")
    return ew.elementwise("sqrt", reductions.reduce("sum", ew.elementwise("square", x), axis, keepdims))


def _trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Node:
    return reductions.reduce("sum", shaping.diagonal(a, offset, axis1, axis2), -1)


def _ptp(a: Any, axis: Any = None) -> Node:
    high, low = (reductions.reduce(name, a, axis) for name in ("max", "min"))
    return ew.elementwise("subtract", high, low)


_FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    **{
        getattr(np, name): _reduction(name)
        for name in ("sum prod mean var std median max min any all argmax argmin").split()
    },
    np.ptp: _ptp,
    np.cumsum: lambda a, axis=None: reductions.cumulative("cumsum", a, axis),
    np.cumprod: lambda a, axis=None: reductions.cumulative("cumprod", a, axis),
    np.where: ew.where,
    np.clip: lambda a, a_min=None, a_max=None, **kw: ew.clip(
        a, kw.get("min", a_min), kw.get("max", a_max)
    ),
    np.round: lambda a, decimals=0: ew.elementwise("rint", a)
    if decimals == 0
    else ew.elementwise(
        "divide", ew.elementwise("rint", ew.elementwise("multiply", a, 10.0**decimals)), 10.0**decimals
    ),
    np.reshape: lambda a, shape, **_: shaping.reshape(a, shape),
    np.ravel: lambda a, **_: shaping.reshape(a, -1),
    np.transpose: shaping.transpose,
    np.swapaxes: shaping.swapaxes,
    np.moveaxis: shaping.moveaxis,
    np.expand_dims: shaping.expand_dims,
    np.squeeze: shaping.squeeze,
    np.broadcast_to: lambda a, shape, **_: shaping.broadcast_to(a, shape),
    np.concatenate: shaping.concatenate,
    np.stack: shaping.stack,
    np.vstack: _join(0, 2),
    np.hstack: lambda arrays: shaping.concatenate(
        list(arrays), 0 if len(ew.as_node(arrays[0]).shape) == 1 else 1
    ),
    np.column_stack: _column_stack,
    np.split: _split,
    np.repeat: shaping.repeat,
    np.tile: shaping.tile,
    np.flip: shaping.flip,
    np.roll: shaping.roll,
    np.diff: lambda a, n=1, axis=-1: shaping.diff(a, n, axis),
    np.diag: shaping.diag,
    np.diagonal: shaping.diagonal,
    np.tril: lambda m, k=0: shaping.triangle("tril", m, k),
    np.triu: lambda m, k=0: shaping.triangle("triu", m, k),
    np.trace: _trace,
    np.take: lambda a, indices, axis=None, **_: indexing.take(a, indices, axis),
    np.atleast_1d: _atleast(1),
    np.atleast_2d: _atleast(2),
    np.zeros_like: _like(0),
    np.ones_like: _like(1),
    np.shape: lambda a: a.shape,
    np.ndim: lambda a: a.ndim,
    np.size: lambda a: a.size,
    np.dot: _dot,
    np.inner: lambda a, b: _dot(a, shaping.swapaxes(b, -1, -2) if b.ndim > 1 else b),
    np.outer: linear_algebra.outer,
    np.kron: linear_algebra.kron,
    np.einsum: lambda subscripts, *xs, **_: linear_algebra.einsum(subscripts, *xs),
    np.linalg.cholesky: linear_algebra.cholesky,
    np.linalg.solve: linear_algebra.solve,
    np.linalg.inv: linear_algebra.inv,
    np.linalg.det: linear_algebra.det,
    np.linalg.slogdet: linear_algebra.slogdet,
    np.linalg.eigh: lambda a: linear_algebra.factors("eigh", a),
    np.linalg.eigvalsh: lambda a: linear_algebra.factors("eigh", a)[0],
    np.linalg.svd: lambda a, full_matrices=False: linear_algebra.factors("svd", a),
    np.linalg.qr: lambda a: linear_algebra.factors("qr", a),
    np.linalg.norm: _norm,
    np.matrix_transpose: lambda a: shaping.swapaxes(a, -1, -2),
}
