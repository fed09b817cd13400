"""Special functions composed of other functions: entropies, powers, Bessel functions."""

import math

import numpy as np

from ..errors import SymbolicError
from ..node import Apply, Node, Operation
from ..numerics import half_bessel
from ..source import place_text
from .build_time_values import known_number
from .elementwise import elementwise, floating, minus, plus, times, where
from .operands import WEAK, Operand
from .reductions import reduce
from .shaping import expand_dims

__all__ = ["boxcox", "entr", "fmod", "iv", "ive", "kv", "kve", "multigammaln", "rel_entr"]

IVE = Operation("ive", half_bessel.ive, elementwise=True)
KVE = Operation("kve", half_bessel.kve, elementwise=True)


def entr(x: Operand) -> Node:
    """-x log(x), 0 at 0, -inf for x < 0."""
    value = elementwise("negative", elementwise("xlogy", x, x))
    return where(elementwise("less", x, 0), -np.inf, value)


def rel_entr(x: Operand, y: Operand) -> Node:
    """x log(x / y); 0 at x = 0.

    It is inf where x or y is negative, and where y is 0 but x is not.
    """
    both_positive = elementwise(
        "logical_and", elementwise("greater", x, 0), elementwise("greater", y, 0)
    )
    is_zero = elementwise(
        "logical_and", elementwise("equal", x, 0), elementwise("greater_equal", y, 0)
    )
    p, q = where(both_positive, x, 1.0), where(both_positive, y, 1.0)
    value = times(p, minus(elementwise("log", p), elementwise("log", q)))
    has_nan = elementwise("isnan", plus(x, y))
    return where(has_nan, np.nan, where(is_zero, 0.0, where(both_positive, value, np.inf)))


def boxcox(x: Operand, power: Operand, log: str = "log") -> Node:
    """(x ** power - 1) / power; log(x) for power 0.

    Near power 0 it is computed by a series. `log` is the name of the logarithm that is applied.
    """
    logarithm = elementwise(log, x)
    z = times(power, logarithm)
    is_near = elementwise("less", elementwise("absolute", z), 0.05)
    direct = elementwise("divide", elementwise("expm1", z), where(is_near, 1.0, power))
    near_z = where(is_near, z, 0.0)
    series: Node | float = 0.0
    for k in range(11, 0, -1):  # (exp(z) - 1) / z
        series = plus(1 / math.factorial(k), times(near_z, series))
    result = where(is_near, times(logarithm, series), direct)
    is_infinite = elementwise(
        "logical_and", elementwise("isinf", logarithm), elementwise("equal", power, 0)
    )
    return where(is_infinite, logarithm, result)


def fmod(x: Operand, y: Operand) -> Node:
    """The remainder of x by y with the sign of x."""
    remainder = elementwise("remainder", x, y)
    if remainder.dtype.kind == "f":  # exact: no correction by y is added afterwards
        divisor = abs(y) if type(y) in WEAK else elementwise("absolute", y)
        magnitude = elementwise("remainder", elementwise("absolute", x), divisor)
        return where(elementwise("less", x, 0), elementwise("negative", magnitude), magnitude)
    # The absolute value of the smallest integer of a type does not fit the type.
    has_other_sign = elementwise(
        "not_equal", elementwise("less", remainder, 0), elementwise("less", x, 0)
    )
    other_sign = elementwise("logical_and", has_other_sign, elementwise("not_equal", remainder, 0))
    return where(other_sign, minus(remainder, y), remainder)


def multigammaln(a: Operand, d: int) -> Node:
    """The logarithm of the multivariate gamma function.

    The function is pi^(d (d - 1) / 4) prod_j gamma(a - j / 2), for 0 <= j < d.
    """
    if isinstance(d, bool) or not isinstance(d, (int, np.integer)) or d < 1:
        raise SymbolicError(f"multigammaln: d must be a whole number of at least 1, got {d!r}")
    node, halves = floating(a, "multigammaln"), 0.5 * np.arange(int(d))
    is_valid = elementwise("greater", node, 0.5 * (int(d) - 1))
    # `reduce` mixes elements, so `where` after it cannot keep out gradients of invalid arguments;
    # they are replaced before.
    arguments = minus(expand_dims(where(is_valid, node, float(d)), -1), halves)
    total = reduce("sum", elementwise("gammaln", arguments), -1)
    value = plus(total, 0.25 * int(d) * (int(d) - 1) * math.log(math.pi))
    return where(is_valid, value, np.nan)


def _half(name: str, v: Operand, x: Operand) -> tuple[float, Node]:
    """The order n + 1/2 of a Bessel function, and its argument."""
    order = known_number(v, f"{name}: the order")
    if order % 1 != 0.5 or abs(order) > half_bessel.LARGEST:
        raise SymbolicError(
            f"{name}: the order must be n + 1/2, as 2.5, up to {half_bessel.LARGEST}, got {order:g}"
            f"{place_text()}; for orders 0 and 1 there are kg.i0, kg.i0e, kg.i1 and kg.i1e"
        )
    return order, floating(x, name)


def ive(v: Operand, x: Operand) -> Node:
    """exp(-abs(x)) I_v(x), v = n + 1/2.

    It is NaN for x < 0.
    """
    order, node = _half("ive", v, x)
    return Apply(IVE, (node,), node.shape, node.dtype, {"v": order})


def kve(v: Operand, x: Operand) -> Node:
    """exp(x) K_v(x), v = n + 1/2.

    It is NaN for x < 0.
    """
    order, node = _half("kve", v, x)
    return Apply(KVE, (node,), node.shape, node.dtype, {"v": order})


def iv(v: Operand, x: Operand) -> Node:
    """I_v(x) for v = n + 1/2; NaN for x < 0."""
    order, node = _half("iv", v, x)
    root = elementwise("exp", times(0.5, node))  # exp(x) may overflow where I_v(x) does not
    return times(root, times(root, ive(order, node)))


def kv(v: Operand, x: Operand) -> Node:
    """K_v(x) for v = n + 1/2; NaN for x < 0."""
    order, node = _half("kv", v, x)
    return times(elementwise("exp", elementwise("negative", node)), kve(order, node))
