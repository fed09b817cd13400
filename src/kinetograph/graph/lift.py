"""`kg.lift`: any JAX function becomes an operation of the graph."""

import functools
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from .array import Array
from .elementwise import as_node
from .errors import ShapeError
from .messages import describe
from .node import Apply, Operation
from .precision import x64

__all__ = ["lift"]


def lift(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make an operation on kinetograph arrays of a function on JAX arrays.

    The function must be pure and traceable by JAX. Array arguments are given by position; keyword
    arguments are passed on unchanged and must not be arrays. It may return one array, or a tuple
    or list of arrays. Its result's shapes and dtypes are worked out at once, by abstract
    evaluation, so that mistakes show up where the operation is called. Derivatives are JAX's, or
    the function's own (`jax.custom_jvp`, `jax.custom_vjp`).

    Raises
    ------
    ShapeError
        If the function does not accept arrays of these shapes and types.

    Examples
    --------
    >>> import jax.numpy as jnp, kinetograph as kg
    >>> sinc = kg.lift(jnp.sinc)
    >>> x = kg.placeholder(name="x")
    >>> f = kg.compile([x], sinc(x))
    >>> float(f(0.0))
    1.0
    """
    name = getattr(function, "__name__", type(function).__name__)

    @functools.wraps(function)
    def operation(*arrays: Any, **options: Any) -> Any:
        nodes = tuple(as_node(a) for a in arrays)
        stand_ins = [jax.ShapeDtypeStruct(n.shape, n.dtype) for n in nodes]
        try:
            with x64():
                result = jax.eval_shape(functools.partial(function, **options), *stand_ins)
        except (TypeError, ValueError) as error:
            given = ", ".join(f"{describe(n)} {n.shape} {n.dtype}" for n in nodes)
            raise ShapeError(f"{name}({given}) failed: {str(error).splitlines()[0]}") from error
        leaves, structure = jax.tree_util.tree_flatten(result)
        whole = Operation(name, function)
        if len(leaves) == 1:
            outputs = [
                Array(Apply(_part(whole, 0), nodes, *_type(leaves[0]), {"options": _freeze(options)}))
            ]
        else:
            outputs = [
                Array(Apply(_part(whole, i), nodes, *_type(leaf), {"options": _freeze(options)}))
                for i, leaf in enumerate(leaves)
            ]
        return jax.tree_util.tree_unflatten(structure, outputs)

    return operation


def _type(leaf: Any) -> tuple[tuple[int, ...], np.dtype]:
    return tuple(leaf.shape), np.dtype(leaf.dtype)


def _freeze(options: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple(options.items())


def _part(whole: Operation, place: int) -> Operation:
    """One output of a lifted function; XLA shares the computation among the outputs."""

    def lower(*tensors: Any, options: tuple[tuple[str, Any], ...]) -> Any:
        return jax.tree_util.tree_leaves(whole.lower(*tensors, **dict(options)))[place]

    return Operation(whole.name, lower)
