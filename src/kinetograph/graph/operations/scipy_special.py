"""SciPy's special functions that are simple expressions of other functions."""

import functools
import math
from collections.abc import Callable

import numpy as np

from ..node import Node
from .elementwise import astype, elementwise, floating, minus, plus, times, where
from .operands import Operand
from .special import boxcox, fmod

__all__ = [
    "OF_SCIPY",
    "boxcox1p",
    "cosm1",
    "degrees_of",
    "erfcinv",
    "exp10",
    "exprel",
    "gammasgn",
    "huber",
    "inv_boxcox",
    "inv_boxcox1p",
    "pseudo_huber",
    "radian",
    "sinc",
]


def exp10(x: Operand) -> Node:
    """10 ** x."""
    return elementwise("power", 10.0, floating(x, "exp10"))


def cosm1(x: Operand) -> Node:
    """cos(x) - 1, accurate near 0."""
    half = elementwise("sin", times(0.5, floating(x, "cosm1")))
    return times(-2.0, elementwise("square", half))


def degrees_of(name: str, x: Operand) -> Node:
    """sin, cos or tan of degrees, exact at multiples of 90."""
    turn = fmod(floating(x, name), 360.0)  # exact, even for large angles
    return elementwise(name, elementwise("divide", turn, 180.0))


def radian(degrees: Operand, minutes: Operand, seconds: Operand) -> Node:
    """Degrees, minutes and seconds as an angle in radians."""
    part = plus(elementwise("divide", seconds, 60.0), minutes)
    return elementwise("deg2rad", plus(elementwise("divide", part, 60.0), degrees))


def erfcinv(x: Operand) -> Node:
    """The inverse of erfc, accurate for tiny x."""
    return times(-math.sqrt(0.5), elementwise("ndtri", times(0.5, floating(x, "erfcinv"))))


def huber(delta: Operand, r: Operand) -> Node:
    """The Huber function: quadratic up to delta, linear beyond it.

    It is r^2 / 2 for abs(r) <= delta, and inf for delta < 0.
    """
    magnitude = elementwise("absolute", r)
    quadratic = times(0.5, elementwise("square", floating(r)))
    linear = times(delta, minus(magnitude, times(0.5, delta)))
    result = where(elementwise("less_equal", magnitude, delta), quadratic, linear)
    return where(elementwise("less", delta, 0), np.inf, result)


def pseudo_huber(delta: Operand, r: Operand) -> Node:
    """delta^2 (sqrt(1 + (r / delta)^2) - 1).

    It is inf for delta < 0.
    """
    width, positive = floating(delta), elementwise("greater", delta, 0)
    u = floating(r)
    v = elementwise("divide", u, where(positive, width, 1.0))
    root = plus(1, elementwise("hypot", 1.0, v))
    # This form avoids the difference in the formula, which would cancel.
    result = elementwise("divide", elementwise("square", u), root)
    at_no_width = where(elementwise("less", width, 0), np.inf, times(0.0, width))
    return where(positive, result, at_no_width)


def inv_boxcox(y: Operand, power: Operand) -> Node:
    """(power y + 1) ** (1 / power); exp(y) for power 0."""
    return elementwise("exp", _log_inverse(y, power))


def inv_boxcox1p(y: Operand, power: Operand) -> Node:
    """(power y + 1)^(1 / power) - 1, accurate near 0."""
    return elementwise("expm1", _log_inverse(y, power))


def _log_inverse(y: Operand, power: Operand) -> Node:
    """log(1 + power y) / power.

    A series is used where power y is small.
    """
    z = times(power, floating(y))
    is_near = elementwise("less", elementwise("absolute", z), 1e-3)
    direct = elementwise("divide", elementwise("log1p", z), where(is_near, 1.0, power))
    near_z = where(is_near, z, 0.0)
    series: Node | float = 0.0
    for k in range(6, -1, -1):  # log(1 + z) / z
        series = plus((-1) ** k / (k + 1), times(near_z, series))
    result = where(is_near, times(y, series), direct)
    is_infinite = elementwise(
        "logical_and", elementwise("isinf", y), elementwise("equal", power, 0)
    )
    return where(is_infinite, y, result)


def boxcox1p(x: Operand, power: Operand) -> Node:
    """((1 + x)^power - 1) / power.

    It is log(1 + x) for power 0.
    """
    return boxcox(x, power, "log1p")


def exprel(x: Operand) -> Node:
    """(exp(x) - 1) / x; 1 at 0."""
    node = floating(x, "exprel")
    is_near = elementwise("less", elementwise("absolute", node), 0.05)
    safe = where(is_near, 1.0, node)
    direct = elementwise("divide", elementwise("expm1", safe), safe)
    direct = where(elementwise("equal", node, np.inf), np.inf, direct)
    near_x = where(is_near, node, 0.0)
    series: Node | float = 0.0
    for k in range(11, 0, -1):
        series = plus(1 / math.factorial(k), times(near_x, series))
    return where(is_near, series, direct)


def sinc(x: Operand) -> Node:
    """sin(pi x) / (pi x); 1 at 0."""
    node = floating(x, "sinc")
    is_near = elementwise("less", elementwise("absolute", node), 0.05)
    safe = where(is_near, 1.0, node)
    direct = elementwise("divide", elementwise("sinpi", safe), times(math.pi, safe))
    square = elementwise("square", times(math.pi, where(is_near, node, 0.0)))
    series: Node | float = 0.0
    for k in range(6, -1, -1):
        series = plus((-1) ** k / math.factorial(2 * k + 1), times(square, series))
    return where(is_near, series, direct)


def gammasgn(x: Operand) -> Node:
    """The sign of the gamma function; NaN at its poles below 0."""
    node = floating(x, "gammasgn")
    floor = elementwise("floor", node)
    is_odd = elementwise("not_equal", elementwise("remainder", floor, 2), 0)
    sign_below = astype(where(is_odd, -1.0, 1.0), node.dtype)
    is_pole = elementwise(
        "logical_and", elementwise("less", node, 0), elementwise("equal", floor, node)
    )
    result = where(elementwise("less", node, 0), where(is_pole, np.nan, sign_below), 1.0)
    result = where(elementwise("equal", node, 0), elementwise("copysign", 1.0, node), result)
    return where(elementwise("isnan", node), node, result)


OF_SCIPY: dict[str, Callable[..., Node]] = {
    "boxcox1p": boxcox1p,
    "cosm1": cosm1,
    "erfcinv": erfcinv,
    "exp10": exp10,
    "exprel": exprel,
    "gammasgn": gammasgn,
    "huber": huber,
    "inv_boxcox": inv_boxcox,
    "inv_boxcox1p": inv_boxcox1p,
    "pseudo_huber": pseudo_huber,
    "radian": radian,
    "round": functools.partial(elementwise, "rint"),
    "sindg": functools.partial(degrees_of, "sinpi"),
    "cosdg": functools.partial(degrees_of, "cospi"),
    "tandg": functools.partial(degrees_of, "tanpi"),
}
