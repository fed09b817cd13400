"""NumPy's functions on arrays: the tables behind `__array_ufunc__` and `__array_function__`.

An argument that has no meaning in a graph (`out=`, `where=`) is refused by name; a function that is
not in the table is refused with what to write instead.
"""

import inspect
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from . import arranging, indexing, linear_algebra, products, reductions, shaping, special_more
from . import elementwise as ew
from . import special_expressions as special
from .errors import ShapeError, SymbolicError
from .foreign import instead, library_call
from .messages import describe
from .node import Node
from .numpy_instead import advice
from .numpy_more import MORE
from .numpy_rest import REST, REST_UFUNCS
from .source import called_here, place_text

__all__ = ["VIEWS", "apply_function", "apply_ufunc", "is_available"]


_REDUCING = {
    "add": "sum",
    "multiply": "prod",
    "maximum": "max",
    "minimum": "min",
    "logical_and": "all",
    "logical_or": "any",
}
# Ufuncs that are called otherwise here, or are expressions of others.
_CALLED = {
    "binom": "comb",
    "radians": "deg2rad",
    "degrees": "rad2deg",
    # What scipy.special.zeta calls.
    "_riemann_zeta": "zeta",
    "_zeta": "zeta",
}
_EXPRESSIONS: dict[str, Callable[..., Node]] = {
    "entr": special.entr,
    "rel_entr": special.rel_entr,
    "boxcox": special.boxcox,
    "fmod": special.fmod,
    "float_power": lambda x, y: ew.power(ew.floating(x), ew.floating(y)),
    "vecdot": products.vecdot,
    **{name: getattr(special, name) for name in ("iv", "ive", "kv", "kve")},
    **special_more.OF_SCIPY,
    **REST_UFUNCS,
}
_RUNNING = {"add": "cumsum", "multiply": "cumprod", "maximum": "cummax", "minimum": "cummin"}


def apply_ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: Any) -> Node:
    """np.exp(x), np.add(x, y), scipy.special.expit(x), np.add.reduce(x), ..."""
    name = _CALLED.get(ufunc.__name__, ufunc.__name__)
    if method == "__call__" and not kwargs:
        if name in _EXPRESSIONS:
            return _EXPRESSIONS[name](*inputs)
        if name in ew.ELEMENTWISE and name != "power":
            return ew.elementwise(name, *inputs)
        if ufunc is np.power:
            return ew.power(*inputs)
        if ufunc is np.matmul:
            return linear_algebra.matmul(*inputs)
        raise _unsupported(ufunc, name, inputs)
    allowed = {"reduce": ("axis", "keepdims"), "accumulate": ("axis",)}.get(method, ())
    refused = sorted(k for k, v in kwargs.items() if k not in allowed and not _is_default(k, v))
    if "out" in refused and kwargs["out"][0] is inputs[0] and not called_here():
        symbol = ew.ELEMENTWISE[name].symbol if name in ew.ELEMENTWISE else None
        raise SymbolicError(
            f"{symbol or name}=: a NumPy array cannot take up values that are not known while the "
            f"graph is built{place_text()}; write x = x {symbol or '+'} y in place of "
            f"x {symbol or '+'}= y"
        )
    if refused:
        raise _refused(name, refused)
    if method == "__call__":
        return apply_ufunc(ufunc, method, inputs, {})
    if method == "accumulate" and name in _RUNNING:
        return reductions.cumulative(_RUNNING[name], inputs[0], kwargs.get("axis", 0))
    if method == "outer" and len(inputs) == 2:
        first, second = (ew.as_node(x, name) for x in inputs)
        apart = shaping.reshape(first, first.shape + (1,) * len(second.shape))
        return apply_ufunc(ufunc, "__call__", (apart, second), {})
    if method == "reduce" and name in _REDUCING:
        axis, keepdims = kwargs.get("axis", 0), kwargs.get("keepdims", False)
        return reductions.reduce(_REDUCING[name], inputs[0], axis, keepdims)
    raise _unsupported(ufunc, f"{name}.{method}", inputs)


def is_available(function: Callable[..., Any]) -> bool:
    """Whether a function of NumPy, or a ufunc of SciPy, takes arrays of a graph."""
    if not isinstance(function, np.ufunc):
        return function in _FUNCTIONS
    name = _CALLED.get(function.__name__, function.__name__)
    return name in _EXPRESSIONS or name in ew.ELEMENTWISE or function is np.matmul


def _is_default(name: str, value: Any) -> bool:
    """Whether an argument asks for nothing special."""
    if value is None or value is np._NoValue:
        return True
    if name == "where":
        return value is True
    if name == "out":
        return isinstance(value, tuple) and all(v is None for v in value)
    return name == "order" and value in ("C", "K")


def _refused(name: str, arguments: list[str]) -> SymbolicError:
    hints = {"out": "use the result", "where": "use np.where", "dtype": "use .astype"}
    advice = "; ".join(f"{hints[a]} instead of {a}=" for a in arguments if a in hints)
    return SymbolicError(
        f"np.{name}: {', '.join(f'{a}=' for a in arguments)} cannot be used with arrays in a graph"
        + place_text()
        + (f"; {advice}" if advice else "")
    )


def _unsupported(func: Any, name: str, arguments: Any) -> SymbolicError:
    """The refusal of a function, with that of JAX if there is one of its name."""
    scipys = isinstance(func, np.ufunc) and getattr(np, func.__name__, None) is not func
    own, module = ("SciPy", "jax.scipy.special") if scipys else ("NumPy", "jax.numpy")
    found: Any = jax
    for part in f"{module}.{name}".split(".")[1:]:
        found = getattr(found, part, None)
    first = next((describe(a.node) for a in arguments if hasattr(a, "node")), "x")
    called = library_call()
    if called is not None:
        return SymbolicError(instead(called, first))
    example = f", as in kg.lift({module}.{name})({first})" if callable(found) else ""
    usual = f"; kg.lift(function) makes an operation of any JAX function{example}"
    words = advice("scipy.special" if scipys else func.__module__, func.__name__, first)
    return SymbolicError(
        f"{own}'s {name} is not available for arrays in a graph{place_text()}{words or usual}"
    )


_NEVER = ("out", "where", "dtype", "initial", "order")


def apply_function(func: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """np.sum(x), np.linalg.solve(a, b), np.concatenate([x, y]), ...: nodes in NumPy's structure."""
    handler = _FUNCTIONS.get(func)
    if handler is None:
        raise _unsupported(func, f"{func.__module__}.{func.__name__}".removeprefix("numpy."), args)
    if func in _NOTHING and not _is_default("where", kwargs.get("where")):
        given = {k: v for k, v in kwargs.items() if k != "where"}
        array, *rest = (given.pop("a"), *args) if "a" in given else args
        chosen = ew.where(kwargs["where"], array, _NOTHING[func])
        return apply_function(func, (chosen, *rest), given)
    refused = sorted(k for k in _NEVER if k in kwargs and not _is_default(k, kwargs[k]))
    if refused:
        raise _refused(func.__name__, refused)
    given = {k: v for k, v in kwargs.items() if k not in _NEVER and v is not np._NoValue}
    try:
        inspect.signature(handler).bind(*args, **given)
    except TypeError as error:
        raise SymbolicError(f"np.{func.__name__} with arrays in a graph: {error}") from None
    return handler(*args, **given)


def _reduction(name: str) -> Callable[..., Node]:
    if name in ("var", "std"):
        return lambda a, axis=None, ddof=0, keepdims=False, correction=None: reductions.reduce(
            name, a, axis, keepdims, ddof=ddof if correction is None else correction
        )
    return lambda a, axis=None, keepdims=False: reductions.reduce(name, a, axis, keepdims)


# What counts as nothing in reductions that take where=.
_NOTHING = {np.sum: 0, np.prod: 1, np.all: True, np.any: False}


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
    def handler(a: Any, shape: Any = None) -> np.ndarray:
        return np.full(a.shape if shape is None else shape, value, a.dtype)

    return handler


def _join(axis: int, ndim: int) -> Callable[..., Node]:
    def handler(tup: Any) -> Node:
        rows = _atleast(ndim)(*tup)
        return shaping.concatenate(rows if isinstance(rows, tuple) else (rows,), axis)

    return handler


def _column_stack(tup: Any) -> Node:
    columns = [ew.as_node(a) for a in tup]
    return shaping.concatenate(
        [shaping.reshape(c, (c.size, 1)) if len(c.shape) < 2 else c for c in columns], 1
    )


def _split(how: Callable[..., Any]) -> Callable[..., list[Node]]:
    def handler(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Node]:
        node = ew.as_node(ary)
        (a,) = reductions.normalise_axes(node, axis, "split")
        try:
            pieces = how(np.arange(node.shape[a]), indices_or_sections)
        except ValueError as error:
            raise ShapeError(f"split of {describe(node)}, shape {node.shape}: {error}") from None
        before = (slice(None),) * a
        return [
            indexing.index(node, (*before, slice(p[0], p[-1] + 1) if p.size else slice(0, 0)))
            for p in pieces
        ]

    return handler


def _svd(a: Any, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    node = ew.as_node(a)
    parts = linear_algebra.factors("svd", node)
    if not compute_uv:
        return parts[1]
    if full_matrices and node.shape[-1] != node.shape[-2]:
        raise SymbolicError(
            f"np.linalg.svd of {describe(node)}, shape {node.shape}: "
            "pass full_matrices=False, the full matrices are not available"
        )
    return parts


def _hstack(tup: Any) -> Node:
    arrays = [ew.as_node(a) for a in tup]
    return _join(0 if arrays and len(arrays[0].shape) < 2 else 1, 1)(arrays)


def _ptp(a: Any, axis: Any = None, keepdims: bool = False) -> Node:
    high, low = (reductions.reduce(name, a, axis, keepdims) for name in ("max", "min"))
    return ew.elementwise("subtract", high, low)


def _clip(a: Any, a_min: Any = None, a_max: Any = None, min: Any = None, max: Any = None) -> Node:
    return ew.clip(a, a_min if min is None else min, a_max if max is None else max)


_FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    **{
        getattr(np, name): _reduction(name) for name in reductions.REDUCTIONS if name != "logsumexp"
    },
    np.ptp: _ptp,
    np.cumsum: lambda a, axis=None: reductions.cumulative("cumsum", a, axis),
    np.cumprod: lambda a, axis=None: reductions.cumulative("cumprod", a, axis),
    np.where: ew.where,
    np.clip: _clip,
    np.round: lambda a, decimals=0: ew.round_to(a, decimals),
    np.reshape: lambda a, shape: shaping.reshape(a, shape),
    np.ravel: lambda a: indexing.ravel(a),
    np.transpose: lambda a, axes=None: shaping.transpose(a, axes),
    np.swapaxes: lambda a, axis1, axis2: shaping.swapaxes(a, axis1, axis2),
    np.moveaxis: lambda a, source, destination: shaping.moveaxis(a, source, destination),
    np.expand_dims: lambda a, axis: shaping.expand_dims(a, axis),
    np.copy: lambda a: ew.copy(a),
    np.squeeze: lambda a, axis=None: shaping.squeeze(a, axis),
    np.broadcast_to: lambda array, shape: shaping.broadcast_to(array, shape),
    np.concatenate: lambda arrays, axis=0: shaping.concatenate(arrays, axis),
    np.stack: lambda arrays, axis=0: shaping.stack(arrays, axis),
    np.vstack: _join(0, 2),
    np.hstack: _hstack,
    np.column_stack: _column_stack,
    np.split: _split(np.split),
    np.array_split: _split(np.array_split),
    np.repeat: lambda a, repeats, axis=None: shaping.repeat(a, repeats, axis),
    np.tile: lambda A, reps: shaping.tile(A, reps),
    np.flip: lambda m, axis=None: shaping.flip(m, axis),
    np.roll: lambda a, shift, axis=None: shaping.roll(a, shift, axis),
    np.sort: lambda a, axis=-1: shaping.sort(a, axis),
    np.diff: lambda a, n=1, axis=-1: shaping.diff(a, n, axis),
    np.diag: lambda v, k=0: shaping.diag(v, k),
    np.diagonal: lambda a, offset=0, axis1=0, axis2=1: shaping.diagonal(a, offset, axis1, axis2),
    np.tril: lambda m, k=0: shaping.triangle("tril", m, k),
    np.triu: lambda m, k=0: shaping.triangle("triu", m, k),
    np.trace: lambda a, offset=0, axis1=0, axis2=1: shaping.trace(a, offset, axis1, axis2),
    np.take: lambda a, indices, axis=None, mode="raise": indexing.take(a, indices, axis, mode),
    np.atleast_1d: _atleast(1),
    np.atleast_2d: _atleast(2),
    np.zeros_like: _like(0),
    np.ones_like: _like(1),
    np.shape: lambda a: a.shape,
    np.ndim: lambda a: a.ndim,
    np.size: lambda a: a.size,
    np.dot: linear_algebra.dot,
    np.inner: lambda a, b: linear_algebra.dot(a, b, inner=True),
    np.outer: linear_algebra.outer,
    np.kron: linear_algebra.kron,
    np.einsum: lambda subscripts, *operands, optimize=False: linear_algebra.einsum(
        subscripts, *operands
    ),
    np.linalg.cholesky: lambda a: linear_algebra.cholesky(a),
    np.linalg.solve: lambda a, b: linear_algebra.solve(a, b),
    np.linalg.inv: lambda a: linear_algebra.inv(a),
    np.linalg.det: lambda a: linear_algebra.det(a),
    np.linalg.slogdet: lambda a: linear_algebra.slogdet(a),
    np.linalg.eigh: lambda a: linear_algebra.factors("eigh", a),
    np.linalg.eigvalsh: lambda a: linear_algebra.factors("eigh", a)[0],
    np.linalg.svd: _svd,
    np.linalg.qr: lambda a: linear_algebra.factors("qr", a),
    np.matrix_transpose: lambda x: shaping.swapaxes(x, -1, -2),
    np.atleast_3d: lambda *arrays: (
        arranging.atleast_3d(*arrays)
        if len(arrays) == 1
        else tuple(map(arranging.atleast_3d, arrays))
    ),
    np.dstack: lambda tup: shaping.concatenate([arranging.atleast_3d(a) for a in tup], 2),
    np.hsplit: lambda ary, indices_or_sections: _split(np.split)(
        ary, indices_or_sections, 0 if ary.ndim == 1 else 1
    ),
    np.vsplit: lambda ary, indices_or_sections: _split(np.split)(ary, indices_or_sections, 0),
    np.dsplit: lambda ary, indices_or_sections: _split(np.split)(ary, indices_or_sections, 2),
    **MORE,
    **REST,
}

# Those that give other shapes of the same elements, or some of them.
VIEWS = frozenset(
    (
        *(np.reshape, np.ravel, np.transpose, np.swapaxes, np.moveaxis, np.expand_dims),
        *(np.squeeze, np.flip, np.matrix_transpose),
    )
)
