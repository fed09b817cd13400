"""NumPy's functions on arrays: `__array_ufunc__` and `__array_function__`.

An argument that has no meaning in a graph (`out=`, `where=`) raises an error that names it. A
function that is not in the tables raises an error that names an alternative.
"""

import inspect
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from ..errors import SymbolicError
from ..messages import describe
from ..node import Node
from ..operations import elementwise as ew
from ..operations import (
    linear_algebra,
    products,
    reductions,
    scipy_special,
    shaping,
    special,
)
from ..precision import FLOAT32, float_dtype
from ..source import called_here, place_text
from .alternatives import advice
from .curves import CURVES
from .elements import ELEMENTS
from .library_calls import instead, library_call
from .matrices import MATRICES
from .reductions import REDUCTIONS
from .shapes import SHAPES

__all__ = ["VIEWS", "apply_function", "apply_ufunc", "is_available"]


_REDUCING = {
    "add": "sum",
    "multiply": "prod",
    "maximum": "max",
    "minimum": "min",
    "logical_and": "all",
    "logical_or": "any",
}
# Ufuncs with another name here.
_CALLED = {
    "binom": "comb",
    "radians": "deg2rad",
    "degrees": "rad2deg",
    # scipy.special.zeta calls these two.
    "_riemann_zeta": "zeta",
    "_zeta": "zeta",
}


def _parts(x: ew.Operand) -> tuple[Node, Node]:
    node = ew.floating(x, "modf")
    integer_part = ew.elementwise("trunc", node)
    return ew.minus(node, integer_part), integer_part


def _float_power(x: ew.Operand, y: ew.Operand) -> Node:
    """x ** y in at least the working precision."""
    wide = (ew.astype(v, np.result_type(v.dtype, float_dtype())) for v in map(ew.as_node, (x, y)))
    return ew.power(*wide)


def _conjugate(x: ew.Operand) -> Node:
    node = ew.as_node(x, "conjugate")
    return ew.astype(node, np.int8) if node.dtype.kind == "b" else ew.copy(node)


def _matrix_vector(a: ew.Operand, x: ew.Operand) -> Node:
    return shaping.squeeze(linear_algebra.matmul(a, shaping.expand_dims(x, -1)), -1)


def _vector_matrix(x: ew.Operand, a: ew.Operand) -> Node:
    return shaping.squeeze(linear_algebra.matmul(shaping.expand_dims(x, -2), a), -2)


_EXPRESSIONS: dict[str, Callable[..., Any]] = {
    "entr": special.entr,
    "rel_entr": special.rel_entr,
    "boxcox": special.boxcox,
    "fmod": special.fmod,
    "float_power": _float_power,
    "vecdot": products.vecdot,
    **{name: getattr(special, name) for name in ("iv", "ive", "kv", "kve")},
    **scipy_special.OF_SCIPY,
    "conjugate": _conjugate,
    "divmod": lambda x, y: (
        ew.elementwise("floor_divide", x, y),
        ew.elementwise("remainder", x, y),
    ),
    "modf": _parts,
    "matvec": _matrix_vector,
    "vecmat": _vector_matrix,
}
_RUNNING = {"add": "cumsum", "multiply": "cumprod", "maximum": "cummax", "minimum": "cummin"}


def apply_ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: Any) -> Node:
    """Apply a ufunc: np.exp(x), np.add(x, y), scipy.special.expit(x), np.add.reduce(x), ..."""
    name = _CALLED.get(ufunc.__name__, ufunc.__name__)
    if method == "__call__" and not kwargs:
        if _is_from_scipy(ufunc):
            inputs = tuple(map(_at_least_single, inputs))
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
            f"{symbol or name}=: a NumPy array cannot hold values that are not known while the "
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
        first_column = shaping.reshape(first, first.shape + (1,) * len(second.shape))
        return apply_ufunc(ufunc, "__call__", (first_column, second), {})
    if method == "reduce" and name in _REDUCING:
        axis, keepdims = kwargs.get("axis", 0), kwargs.get("keepdims", False)
        return reductions.reduce(_REDUCING[name], inputs[0], axis, keepdims)
    raise _unsupported(ufunc, f"{name}.{method}", inputs)


def _is_from_scipy(ufunc: np.ufunc) -> bool:
    return getattr(np, ufunc.__name__, None) is not ufunc


def _at_least_single(x: ew.Operand) -> ew.Operand:
    """x in at least single precision.

    SciPy does not compute in half precision.
    """
    half = getattr(x, "dtype", None) == np.float16
    return ew.astype(x, FLOAT32) if half else x


def is_available(function: Callable[..., Any]) -> bool:
    """Whether a function of NumPy or SciPy takes arrays."""
    if not isinstance(function, np.ufunc):
        return function in _FUNCTIONS
    name = _CALLED.get(function.__name__, function.__name__)
    return name in _EXPRESSIONS or name in ew.ELEMENTWISE or function is np.matmul


def _is_default(name: str, value: Any) -> bool:
    """Whether an argument has its default value."""
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
    """The error for an unavailable function.

    It names JAX's function of the same name, if there is one.
    """
    from_scipy = isinstance(func, np.ufunc) and _is_from_scipy(func)
    library, module = ("SciPy", "jax.scipy.special") if from_scipy else ("NumPy", "jax.numpy")
    jax_function: Any = jax
    for part in f"{module}.{name}".split(".")[1:]:
        jax_function = getattr(jax_function, part, None)
    first = next((describe(a.node) for a in arguments if hasattr(a, "node")), "x")
    called = library_call()
    if called is not None:
        return SymbolicError(instead(called, first))
    example = f", as in kg.lift({module}.{name})({first})" if callable(jax_function) else ""
    general_advice = f"; kg.lift(function) makes an operation of any JAX function{example}"
    specific_advice = advice(
        "scipy.special" if from_scipy else func.__module__, func.__name__, first
    )
    return SymbolicError(
        f"{library}'s {name} is not available for arrays in a graph{place_text()}"
        f"{specific_advice or general_advice}"
    )


_NEVER = ("out", "where", "dtype", "initial", "order")


def apply_function(func: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Apply a NumPy function: np.sum(x), np.linalg.solve(a, b), ...

    The nodes of the results are returned in NumPy's structure.
    """
    handler = _FUNCTIONS.get(func)
    if handler is None:
        raise _unsupported(func, f"{func.__module__}.{func.__name__}".removeprefix("numpy."), args)
    if func in _NEUTRAL and not _is_default("where", kwargs.get("where")):
        arguments = {k: v for k, v in kwargs.items() if k != "where"}
        array, *further_arguments = (arguments.pop("a"), *args) if "a" in arguments else args
        chosen = ew.where(kwargs["where"], array, _NEUTRAL[func])
        return apply_function(func, (chosen, *further_arguments), arguments)
    refused_names = sorted(k for k in _NEVER if k in kwargs and not _is_default(k, kwargs[k]))
    if refused_names:
        raise _refused(func.__name__, refused_names)
    arguments = {k: v for k, v in kwargs.items() if k not in _NEVER and v is not np._NoValue}
    try:
        inspect.signature(handler).bind(*args, **arguments)
    except TypeError as error:
        raise SymbolicError(f"np.{func.__name__} with arrays in a graph: {error}") from None
    return handler(*args, **arguments)


# The neutral element of reductions that take where=.
_NEUTRAL = {np.sum: 0, np.prod: 1, np.all: True, np.any: False}


_FUNCTIONS = {**REDUCTIONS, **ELEMENTS, **SHAPES, **MATRICES, **CURVES}
# Functions that return the same elements, or some of them, in another shape.
VIEWS = frozenset(
    (
        *(np.reshape, np.ravel, np.transpose, np.swapaxes, np.moveaxis, np.expand_dims),
        *(np.squeeze, np.flip, np.matrix_transpose),
    )
)
