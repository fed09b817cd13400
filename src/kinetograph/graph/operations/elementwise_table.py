"""The table of elementwise functions: their names, and how tensors compute them.

Most are NumPy's ufuncs, computed by JAX's function of the same name. Some have derivatives that are
more accurate than JAX's. The other functions take floating-point numbers only.
"""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from jax.scipy import special as jsp

from ..node import Operation
from ..numerics import (
    bessel,
    betas,
    gammas,
    gaussian,
    incomplete,
    integers,
    owens,
    special,
    squared_distances,
    zeta,
)

__all__ = ["ELEMENTWISE", "FLOAT_ONLY", "OPERATORS", "ORDERINGS", "PARTIAL"]

FLOAT_ONLY: dict[str, Callable[..., Any]] = {
    "expit": special.expit,
    "logit": special.logit,
    "log_expit": special.log_expit,
    "softplus": special.softplus,
    "log1mexp": special.log1mexp,
    "sinpi": special.sinpi,
    "cospi": special.cospi,
    "tanpi": lambda x: special.sinpi(x) / special.cospi(x),
    "icloglog": special.icloglog,
    "icauchit": special.icauchit,
    "gammaln": gammas.gammaln,
    "gamma": gammas.gamma,
    "psi": gammas.digamma,
    "digamma": gammas.digamma,
    "trigamma": gammas.trigamma,
    "beta": betas.beta,
    "betaln": betas.any_betaln,
    "comb": gammas.comb,
    "log_comb": gammas.log_comb,
    "gammainc": incomplete.gammainc,
    "gammaincc": incomplete.gammaincc,
    "betainc": incomplete.betainc,
    "betaincc": incomplete.betaincc,
    "stdtr": incomplete.stdtr,
    "i0": bessel.i0,
    "i0e": bessel.i0e,
    "i1": bessel.i1,
    "i1e": bessel.i1e,
    "exp1": bessel.exp1,
    "expi": bessel.expi,
    "kl_div": gammas.kl_div,
    "zeta": zeta.zeta,
    "owens_t": owens.owens_t,
    "erf": jsp.erf,
    "erfc": jsp.erfc,
    "erfcx": gaussian.any_erfcx,
    "erfinv": gaussian.erfinv,
    "ndtr": gaussian.ndtr,
    "log_ndtr": gaussian.log_ndtr,
    "ndtri": gaussian.ndtri,
    "root": special.root,
    "cos_root": squared_distances.cos_root,
    "exp_root": squared_distances.exp_root,
    "matern32": squared_distances.matern32,
    "matern52": squared_distances.matern52,
    "xlogy": special.xlogy,
    "xlog1py": special.xlog1py,
}
# NumPy's functions of floating-point numbers with more accurate derivatives than JAX's.
_FLOAT_RULES: dict[str, Callable[..., Any]] = {
    "tanh": special.tanh,
    "logaddexp": special.logaddexp,
    "logaddexp2": special.logaddexp2,
    "hypot": special.hypot,
    "arctan2": special.arctan2,
    "maximum": special.maximum,
    "minimum": special.minimum,
    "fmax": special.fmax,
    "fmin": special.fmin,
}

# NumPy's ufuncs for which JAX has an equivalent function of the same name.
_ARITHMETIC = "add subtract multiply divide floor_divide remainder power negative positive absolute"
_ROUNDING = "fabs sign rint floor ceil trunc square cbrt sqrt"
_EXPONENTIAL = "exp exp2 expm1 log log2 log10 log1p logaddexp logaddexp2"
_CIRCULAR = "sin cos tan arcsin arccos arctan arctan2 hypot deg2rad rad2deg"
_HYPERBOLIC = "sinh cosh tanh arcsinh arccosh arctanh"
_CHOOSING = "maximum minimum fmax fmin copysign heaviside"
_COMPARING = "equal not_equal less less_equal greater greater_equal isnan isfinite isinf signbit"
ORDERINGS = ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"]
_LOGICAL = "logical_and logical_or logical_xor logical_not"
_BITWISE = "bitwise_and bitwise_or bitwise_xor invert left_shift right_shift"
_WHOLE = "gcd lcm bitwise_count"
_GROUPS = (_ARITHMETIC, _ROUNDING, _EXPONENTIAL, _CIRCULAR, _HYPERBOLIC, _CHOOSING)
_UFUNCS = " ".join((*_GROUPS, _COMPARING, _LOGICAL, _BITWISE, _WHOLE)).split()
_SYMBOLS = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "floor_divide": "//",
    "remainder": "%",
    "power": "**",
    "equal": "==",
    "not_equal": "!=",
    "less": "<",
    "less_equal": "<=",
    "greater": ">",
    "greater_equal": ">=",
    "bitwise_and": "&",
    "bitwise_or": "|",
    "bitwise_xor": "^",
    "left_shift": "<<",
    "right_shift": ">>",
    "negative": "-",
    "invert": "~",
}


# A Python operator on Python numbers gives a Python number, while NumPy's functions give arrays.
OPERATORS = {*_ARITHMETIC.split(), *_BITWISE.split(), *_LOGICAL.split(), *ORDERINGS}
PARTIAL = {"floor_divide", "remainder", "power"}  # undefined for some integers


def _operation(name: str, lower: Callable[..., Any]) -> Operation:
    return Operation(name, lower, _SYMBOLS.get(name), elementwise=True)


ELEMENTWISE: dict[str, Operation] = {
    **{name: _operation(name, getattr(jnp, name)) for name in _UFUNCS},
    **{name: _operation(name, lower) for name, lower in _FLOAT_RULES.items()},
    "divide": _operation("divide", special.divide),
    "power": _operation("power", special.any_power),
    "floor_divide": _operation("floor_divide", integers.floor_divide),
    "remainder": _operation("remainder", integers.remainder),
    "absolute": _operation("absolute", special.absolute),
    "fabs": _operation("fabs", special.absolute),
    "reciprocal": _operation("reciprocal", special.reciprocal),
    **{name: _operation(name, lower) for name, lower in FLOAT_ONLY.items()},
}
