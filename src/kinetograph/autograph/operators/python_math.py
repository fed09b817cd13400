"""Functions of Python's `math` for symbolic arguments in converted code.

They are NumPy's functions of a single number. Outside of their domain they give NaN, where Python
raises.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...graph.array import Array
from ...graph.functions import special
from ...graph.messages import describe
from ...graph.operations.operands import type_of
from ...graph.source import place_text

__all__ = ["MATH", "scalar"]


def scalar(array: Array, name: str) -> Array:
    """The single number in an array, as argument of Python's function `name`.

    Raises
    ------
    TypeError
        If the array does not have exactly one element.
    """
    if array.size != 1:
        raise TypeError(
            f"{name}({describe(array.node)}){place_text()}: the array has shape {array.shape}, "
            "expected a single number"
        )
    return array.reshape(()) if array.shape else array


def _whole(rounded: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: rounded(x).astype(int)


def _log(x: Any, base: Any = math.e) -> Any:
    return np.log(x) if base is math.e else np.log(x) / np.log(base)


_SAME = ("cos", "cosh", "exp", "expm1", "log10", "log1p", "log2", "sin", "sinh", "sqrt", "tan")
_NAMED: dict[str, Callable[..., Any]] = {
    **{name: getattr(np, name) for name in (*_SAME, "tanh", "isfinite", "isinf", "isnan", "hypot")},
    **{name: getattr(np, f"arc{name[1:]}") for name in ("acos", "asin", "atan", "atan2")},
    **{name: getattr(np, f"arc{name[1:]}") for name in ("acosh", "asinh", "atanh")},
    **{name: getattr(np, name) for name in ("cbrt", "copysign", "exp2")},
    "ceil": _whole(np.ceil),
    "degrees": lambda x: x * (180 / math.pi),
    "erf": special.erf,
    "erfc": special.erfc,
    "fabs": lambda x: abs(x.astype(float)),
    "floor": _whole(np.floor),
    "lgamma": special.gammaln,
    "log": _log,
    "fmod": lambda x, y: np.copysign(np.remainder(abs(x), abs(y)), x),
    "pow": lambda x, y: x ** (y.astype(float) if isinstance(y, Array) else float(y)),
    "radians": lambda x: x * (math.pi / 180),
    "trunc": _whole(np.trunc),
}


def _staged(name: str, of_graph: Callable[..., Any]) -> Callable[..., Any]:
    original = getattr(math, name)

    def function(*arguments: Any) -> Any:
        if not any(isinstance(argument, Array) for argument in arguments):
            return original(*arguments)
        result = of_graph(
            *(scalar(a, f"math.{name}") if isinstance(a, Array) else a for a in arguments)
        )
        result.node.weak = all(isinstance(type_of(a), type) for a in arguments)
        return result

    return function


MATH = {getattr(math, name): _staged(name, of_graph) for name, of_graph in _NAMED.items()}
