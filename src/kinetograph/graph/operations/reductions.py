"""Operations that combine the elements along axes: sums, extremes, moments, cumulative forms."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..errors import ShapeError
from ..messages import describe
from ..node import Apply, Node, Operation
from ..numerics import log_sums
from ..numerics.derivative_rules import derivatives
from ..numerics.special import root
from ..precision import float_dtype
from ..source import place_text
from ..suggestions import did_you_mean
from .elementwise import floating
from .operands import Operand, as_node
from .recorded_draws import refuse_draws

__all__ = ["CUMULATIVE", "REDUCTIONS", "Axis", "cumulative", "normalise_axes", "reduce"]

Axis = int | Sequence[int] | None


def _same(dtype: np.dtype) -> np.dtype:
    return dtype


def _summed(dtype: np.dtype) -> np.dtype:
    """NumPy sums booleans and small integers in the platform's integer."""
    if dtype.kind in "bi":
        return np.dtype(np.int64)
    return np.dtype(np.uint64) if dtype.kind == "u" else dtype


def _averaged(dtype: np.dtype) -> np.dtype:
    return dtype if dtype.kind == "f" else float_dtype()


def _boolean(dtype: np.dtype) -> np.dtype:
    return np.dtype(bool)


def _index(dtype: np.dtype) -> np.dtype:
    return np.dtype(np.int64)


def _deviation(x: Any, **options: Any) -> Any:
    return root(jnp.var(x, **options))


def _median(x: Any, *, axis: tuple[int, ...], keepdims: bool) -> Any:
    """The median; NaN if there are no elements, like the mean."""
    empty = math.prod(x.shape[i] for i in axis) == 0
    return (jnp.mean if empty else jnp.median)(x, axis=axis, keepdims=keepdims)


def _extreme(choose: Callable[..., Any]) -> Callable[..., Any]:
    """The largest or smallest element, with a custom derivative.

    Tied elements share the derivative; all other elements have derivative 0.
    """

    def lowered(x: Any, *, axis: tuple[int, ...], keepdims: bool) -> Any:
        @derivatives(lambda primals, tangents: _of_ties(*primals, *tangents))
        def extreme(x: Any) -> Any:
            return choose(x, axis, keepdims=keepdims)

        def _of_ties(x: Any, t: Any) -> Any:
            tied = x == choose(x, axis, keepdims=True)
            count = jnp.sum(tied, axis, keepdims=keepdims, dtype=x.dtype)
            return jnp.sum(jnp.where(tied, t, 0), axis, keepdims=keepdims) / count

        return extreme(x) if x.dtype.kind == "f" else choose(x, axis, keepdims=keepdims)

    return lowered


REDUCTIONS: dict[str, tuple[Operation, Callable[[np.dtype], np.dtype]]] = {
    name: (Operation(name, lower), rule)  # type: ignore[arg-type]
    for name, lower, rule in [
        ("sum", jnp.sum, _summed),
        ("prod", jnp.prod, _summed),
        ("mean", jnp.mean, _averaged),
        ("var", jnp.var, _averaged),
        ("std", _deviation, _averaged),
        ("median", _median, _averaged),
        ("max", _extreme(jnp.max), _same),
        ("min", _extreme(jnp.min), _same),
        ("any", jnp.any, _boolean),
        ("all", jnp.all, _boolean),
        ("argmax", jnp.argmax, _index),
        ("argmin", jnp.argmin, _index),
        ("logsumexp", log_sums.logsumexp, _averaged),
    ]
}


def _cumulative(name: str, lower: Callable[..., Any]) -> Operation:
    def lowered(x: Any, *, axis: int, flat: bool) -> Any:
        return lower(jnp.ravel(x) if flat else x, axis)

    return Operation(name, lowered)


CUMULATIVE = {
    name: _cumulative(name, lower)  # type: ignore[arg-type]
    for name, lower in [
        ("cumsum", jnp.cumsum),
        ("cumprod", jnp.cumprod),
        ("cummax", jax.lax.cummax),
        ("cummin", jax.lax.cummin),
    ]
}
SOFTMAX = Operation("softmax", log_sums.softmax)
LOG_SOFTMAX = Operation("log_softmax", log_sums.log_softmax)


_OF_TWO = {
    "max": "; the larger of two arrays is kg.maximum(x, y)",
    "min": "; the smaller of two arrays is kg.minimum(x, y)",
}


def normalise_axes(node: Node, axis: Axis, operation: str) -> tuple[int, ...]:
    """The axes as sorted non-negative numbers; None means all axes."""
    ndim = len(node.shape)
    if axis is None:
        return tuple(range(ndim))
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    for a in axes:
        if not isinstance(a, (int, np.integer)):
            all_dims = node.dims or ()
            dims = [dim for dim in all_dims if dim is not None]
            of_dim = (
                f"; the axis of {a!r} is {all_dims.index(a)}"
                if a in dims
                else did_you_mean(a, dims)
            )
            got = repr(a)
            if isinstance(getattr(a, "node", None), Node):
                of_dim = _OF_TWO.get(operation, "; several arrays are joined by kg.stack first")
                got = f"the array {describe(a.node)}"
            raise ShapeError(
                f"{operation} of {describe(node)}: an axis is a whole number, got {got}"
                f"{place_text()}{of_dim}"
            )
        if not -ndim <= a < ndim:
            raise ShapeError(
                f"{operation} of {describe(node)}: axis {a} is out of range for shape {node.shape}"
            )
    result = tuple(sorted([int(a) % ndim for a in axes]))
    if len(set(result)) < len(result):
        raise ShapeError(f"{operation} of {describe(node)}: axis {axes} names an axis twice")
    return result


def reduce(
    name: str, x: Operand, axis: Axis = None, keepdims: bool = False, **options: Any
) -> Node:
    """Combine elements along `axis`; None means all axes."""
    refuse_draws(name, x, (x,))
    node = as_node(x, name)
    operation, rule = REDUCTIONS[name]
    axes = normalise_axes(node, axis, name)
    if name in ("max", "min", "argmax", "argmin") and any(node.shape[a] == 0 for a in axes):
        raise ShapeError(f"{name} of {describe(node)}: shape {node.shape} has nothing to compare")
    if name in ("argmax", "argmin"):
        if axis is not None and len(axes) != 1:
            raise ShapeError(f"{name} of {describe(node)}: takes one axis, got {axis}")
        options["axis"] = None if axis is None else axes[0]
    else:
        options["axis"] = axes
    shape = tuple(
        1 if i in axes else n for i, n in enumerate(node.shape) if keepdims or i not in axes
    )
    dtype = rule(node.dtype)
    attributes = {**options, "keepdims": keepdims}
    if dtype != node.dtype and dtype.kind in "fiu":
        attributes["casts"] = (dtype if name not in ("argmax", "argmin") else node.dtype,)
    return Apply(operation, (node,), shape, dtype, attributes)


def cumulative(name: str, x: Operand, axis: int | None = None) -> Node:
    """Cumulative sum, product, maximum or minimum along one axis.

    With `axis=None` the array is flattened first.
    """
    node = as_node(x, name)
    shape = node.shape
    if axis is None:
        shape, axis = (node.size,), 0
    elif not normalise_axes(node, axis, name):
        raise ShapeError(f"{name} of {describe(node)}: needs an axis")
    dtype = _summed(node.dtype) if name in ("cumsum", "cumprod") else node.dtype
    attributes: dict[str, Any] = {"axis": int(axis) % len(shape), "flat": shape != node.shape}
    if dtype != node.dtype:
        attributes["casts"] = (dtype,)
    return Apply(CUMULATIVE[name], (node,), shape, dtype, attributes)


def softmax(x: Operand, axis: int = -1, *, log: bool = False) -> Node:
    """exp(x) / sum(exp(x)) along an axis, or its logarithm."""
    node = floating(x, "softmax")
    (a,) = normalise_axes(node, axis, "softmax")
    return Apply(LOG_SOFTMAX if log else SOFTMAX, (node,), node.shape, node.dtype, {"axis": a})
