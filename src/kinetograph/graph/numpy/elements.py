"""NumPy's elementwise functions, comparisons, and queries of shapes and types."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..node import Node
from ..operations import assembling, comparing, shaping
from ..operations.elementwise import astype, clip, copy, elementwise, floating, where
from ..operations.operands import Operand, as_node
from ..operations.rounding import round_to
from ..operations.scipy_special import sinc

__all__ = ["ELEMENTS"]


def _clip(a: Any, a_min: Any = None, a_max: Any = None, min: Any = None, max: Any = None) -> Node:
    return clip(a, a_min if min is None else min, a_max if max is None else max)


def _flat(value: Any, dtype: Any = bool) -> Callable[..., Node]:
    """A handler that returns the same known value for every real element."""

    def handler(x: Operand) -> Node:
        node = as_node(x)
        return shaping.broadcast_to(np.asarray(value, dtype), node.shape)

    return handler


def _types(function: Callable[..., Any]) -> Callable[..., Any]:
    """A handler for queries of types, with empty arrays as arguments."""

    def handler(*values: Any) -> Any:
        return function(*(np.empty(0, v.dtype) if hasattr(v, "node") else v for v in values))

    return handler


ELEMENTS: dict[Callable[..., Any], Callable[..., Any]] = {
    np.where: where,
    np.clip: _clip,
    np.round: lambda a, decimals=0: round_to(a, decimals),
    np.copy: lambda a: copy(a),
    np.shape: lambda a: a.shape,
    np.ndim: lambda a: a.ndim,
    np.size: lambda a: a.size,
    np.select: lambda condlist, choicelist, default=0: assembling.select(
        condlist, choicelist, default
    ),
    np.nan_to_num: lambda x, copy=True, nan=0.0, posinf=None, neginf=None: assembling.nan_to_num(
        x, nan, posinf, neginf
    ),
    np.i0: lambda x: elementwise("i0", floating(x, "i0")),
    np.around: lambda a, decimals=0: round_to(a, decimals),
    np.fix: lambda x: elementwise("trunc", x),
    np.isclose: comparing.isclose,
    np.allclose: comparing.allclose,
    np.array_equal: comparing.array_equal,
    np.array_equiv: comparing.array_equiv,
    np.isposinf: lambda x: comparing.isinf_of_sign(1, x),
    np.isneginf: lambda x: comparing.isinf_of_sign(-1, x),
    np.isreal: _flat(True),
    np.iscomplex: _flat(False),
    np.isrealobj: lambda x: True,
    np.iscomplexobj: lambda x: False,
    np.real: lambda val: copy(val),
    np.imag: lambda val: shaping.broadcast_to(np.zeros((), val.dtype), val.shape),
    np.real_if_close: lambda a, tol=100: copy(a),
    np.result_type: _types(np.result_type),
    np.common_type: _types(np.common_type),
    np.sinc: sinc,
    np.astype: lambda x, dtype, copy=True: astype(x, dtype),
}
