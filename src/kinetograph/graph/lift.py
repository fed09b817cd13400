"""`kg.lift`: any JAX function becomes an operation of the graph."""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .array import Array
from .elementwise import as_node
from .errors import ShapeError, SymbolicError
from .messages import describe
from .node import Apply, Bundle, Node, Operation
from .precision import x64

__all__ = ["Lifted", "lift"]


def lift(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make an operation on kinetograph arrays of a function on JAX arrays.

    The function must be pure and traceable by JAX. Array arguments are given by position; keyword
    arguments are passed on unchanged and must not be arrays. It may return one array, or several in
    a tuple, list or dict. The results' shapes and dtypes are worked out at once, by abstract
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
        for key, value in options.items():
            if isinstance(value, Array):
                raise SymbolicError(f"{name}: give the array {key}= by position, not by keyword")
        nodes = tuple(as_node(a, name) for a in arrays)
        lower = functools.partial(function, **options)
        leaves, structure = _abstract(name, lower, nodes)
        if len(leaves) == 1:
            single = Operation(name, Lifted(lower, single=True))
            parts = [Apply(single, nodes, *leaves[0])]
        else:
            whole = Bundle(Operation(name, Lifted(lower, single=False)), nodes)
            parts = [whole.part(i, *leaf) for i, leaf in enumerate(leaves)]
        return jax.tree_util.tree_unflatten(structure, map(Array, parts))

    return operation


class Lifted:
    """The user's function as a graph calls it: its leaves, or its only one."""

    def __init__(self, function: Callable[..., Any], *, single: bool) -> None:
        self.function, self.single = function, single

    def __call__(self, *tensors: Any) -> Any:
        leaves = _leaves(self.function(*tensors))
        return leaves[0] if self.single else leaves


def _leaves(result: Any) -> list[Any]:
    return [jnp.asarray(leaf) for leaf in jax.tree_util.tree_leaves(result)]


def _abstract(
    name: str, function: Callable[..., Any], nodes: tuple[Node, ...]
) -> tuple[list[tuple[tuple[int, ...], np.dtype]], Any]:
    """The shapes and dtypes of the results, without computing anything."""
    stand_ins = [jax.ShapeDtypeStruct(n.shape, n.dtype) for n in nodes]
    try:
        with x64():
            result = jax.eval_shape(function, *stand_ins)
    except (TypeError, ValueError) as error:
        given = ", ".join(f"{describe(n)} {n.shape} {n.dtype}" for n in nodes)
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise ShapeError(f"{name}({given}) failed: {reason}") from error
    leaves, structure = jax.tree_util.tree_flatten(result)
    return [(tuple(leaf.shape), np.dtype(leaf.dtype)) for leaf in leaves], structure
