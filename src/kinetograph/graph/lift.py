"""The function `kg.lift`: JAX functions as operations of the graph."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .array import Array
from .errors import ShapeError, SymbolicError
from .messages import describe
from .node import Apply, Bundle, Node, Operation
from .operations.operands import as_node
from .precision import x64
from .public import public
from .source import place_text
from .value_texts import in_words

__all__ = ["LIFTED", "Lifted", "lift", "with_structures"]

LIFTED = "__lifted__"  # the attribute of an operation that holds the lifted function


@public
def lift(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make an operation on kinetograph arrays from a function on JAX arrays.

    The function must be pure and traceable by JAX. Pass arrays by position, alone or in structures
    (parameters of a network, the state of an optimiser): tuples, dictionaries and all other
    pytrees of JAX. A list of numbers is one array. Keyword arguments are passed on unchanged and
    must not be arrays. The function may return one array, or several arrays in a structure. The
    shapes and dtypes of the results are determined at once, by abstract evaluation, so that an
    error is raised where the operation is called. Derivatives come from JAX, or from the function's
    rules (`jax.custom_jvp`, `jax.custom_vjp`).

    Raises
    ------
    ShapeError
        If the function does not accept arrays of these shapes and types.
    SymbolicError
        If an array is passed by keyword, or the function reads an array that is not an argument.

    Examples
    --------
    >>> import jax.numpy as jnp, kinetograph as kg
    >>> sinc = kg.lift(jnp.sinc)
    >>> x = kg.placeholder(name="x")
    >>> f = kg.compile([x], sinc(x))
    >>> float(f(0.0))
    1.0
    >>> line = kg.lift(lambda p, x: p["slope"] * x + p["intercept"])
    >>> y = line({"slope": x, "intercept": 1.0}, [1.0, 2.0])
    >>> kg.compile([x], y)(3.0)
    array([4., 7.])
    """
    if not callable(function):
        raise TypeError(f"lift: expected a function of JAX arrays, got {in_words(function)}")
    name = getattr(function, "__name__", type(function).__name__)

    @functools.wraps(function)
    def operation(*arrays: Any, **options: Any) -> Any:
        for key, value in options.items():
            if isinstance(value, Array):
                raise SymbolicError(f"{name}: pass the array {key}= by position, not by keyword")
        parts = [jax.tree.flatten(a, is_leaf=_is_array) for a in arrays]
        nodes = tuple(as_node(leaf, name) for leaves, _ in parts for leaf in leaves)
        lower = functools.partial(function, **options)
        if not all(map(_is_array, arrays)):
            structures = tuple(
                jax.tree.unflatten(structure, range(len(leaves))) for leaves, structure in parts
            )
            lower = functools.partial(with_structures, lower, structures)
        leaves, structure = _abstract(name, lower, nodes)
        if len(leaves) == 1:
            single = Operation(name, Lifted(lower, single=True))
            results = [Apply(single, nodes, *leaves[0])]
        else:
            bundle = Bundle(Operation(name, Lifted(lower, single=False)), nodes)
            results = [bundle.part(i, *leaf) for i, leaf in enumerate(leaves)]
        return jax.tree_util.tree_unflatten(structure, map(Array, results))

    setattr(operation, LIFTED, function)
    return operation


# Advice for JAX's errors about uses that need the value of an array.
_HINTS: dict[type[Exception], str] = {
    jax.errors.TracerArrayConversionError: "; use the function of jax.numpy in place of NumPy's",
    jax.errors.TracerBoolConversionError: "; use jax.numpy.where or jax.lax.cond in place of if",
    jax.errors.ConcretizationTypeError: "; compute with the array itself, using jax.numpy",
}


def _is_array(value: Any) -> bool:
    """Whether an argument is one array, also as a list of numbers."""
    if type(value) in (list, tuple):
        return len(value) > 0 and all(map(_is_number, jax.tree.leaves(value)))
    return isinstance(value, Array) or jax.tree_util.all_leaves([value])


def _is_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float, np.generic))


def with_structures(function: Callable[..., Any], structures: tuple[Any, ...], *leaves: Any) -> Any:
    """Call a function with structures that are filled with the given leaves."""
    remaining = iter(leaves)
    return function(*(jax.tree.map(lambda _: next(remaining), s) for s in structures))


def _captured(function: Any) -> list[str]:
    """The names of arrays that a function reads from its surroundings."""
    while isinstance(function, functools.partial):
        function = function.args[0] if function.func is with_structures else function.func
    try:
        names = inspect.getclosurevars(inspect.unwrap(function))
    except TypeError:  # not a function written in Python
        return []
    return [n for n, v in {**names.globals, **names.nonlocals}.items() if isinstance(v, Array)]


class Lifted:
    """The user's function in the graph, returning its leaves or only leaf."""

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
    """The shapes and dtypes of the results, by abstract evaluation."""
    stand_ins = [jax.ShapeDtypeStruct(n.shape, n.dtype) for n in nodes]
    try:
        with x64():
            result = jax.eval_shape(function, *stand_ins)
    except (TypeError, ValueError) as error:
        captured = _captured(function)
        if captured:
            raise SymbolicError(
                f"{name}: the function reads {', '.join(captured)}, which are kinetograph arrays "
                f"but not its arguments{place_text()}; JAX cannot read them: pass them as arguments"
            ) from error
        given = ", ".join(f"{describe(n)} {n.shape} {n.dtype}" for n in nodes)
        reason = (str(error).partition("\n")[0] or type(error).__name__).rstrip(".")
        hint = next((hint for kind, hint in _HINTS.items() if isinstance(error, kind)), "")
        kind = SymbolicError if hint else ShapeError
        raise kind(f"{name}({given}) failed: {reason}{place_text()}{hint}") from error
    leaves, structure = jax.tree_util.tree_flatten(result)
    return [(tuple(leaf.shape), np.dtype(leaf.dtype)) for leaf in leaves], structure
