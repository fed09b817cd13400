"""SciPy's special functions that are expressions of one or two others."""

import functools
import math
from collections.abc import Callable

import numpy as np

from ..node import Node
from .elementwise import Operand, astype, elementwise, floating, where
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


def _times(a: Operand, b: Operand) -> Node:
    return elementwise("multiply", a, b)


def exp10(x: Operand) -> Node:
    """10 ** x."""
    return elementwise("power", 10.0, floating(x, "exp10"))


def cosm1(x: Operand) -> Node:
    """cos(x) - 1, accurate near 0."""
    half = elementwise("sin", _times(0.5, floating(x, "cosm1")))
    return _times(-2.0, elementwise("square", half))


def degrees_of(name: str, x: Operand) -> Node:
    """sin, cos or tan of an angle in degrees, exact at multiples of 90."""
    turn = fmod(floating(x, name), 360.0)  # exactly, of large angles, too
    return elementwise(name, elementwise("divide", turn, 180.0))


def radian(degrees: Operand, minutes: Operand, seconds: Operand) -> Node:
    """Degrees, minutes and seconds as an angle in radians."""
    part = elementwise("add", elementwise("divide", seconds, 60.0), minutes)
    return elementwise("deg2rad", elementwise("add", elementwise("divide", part, 60.0), degrees))


def erfcinv(x: Operand) -> Node:
    """The inverse of erfc, right where that is tiny."""
    return _times(-math.sqrt(0.5), elementwise("ndtri", _times(0.5, floating(x, "erfcinv"))))


def huber(delta: Operand, r: Operand) -> Node:
    """r^2 / 2 up to delta, a line beyond it; inf for delta < 0."""
    size = elementwise("absolute", r)
    near = _times(0.5, elementwise("square", floating(r)))
    far = _times(delta, elementwise("subtract", size, _times(0.5, delta)))
    found = where(elementwise("less_equal", size, delta), near, far)
    return where(elementwise("less", delta, 0), np.inf, found)


def pseudo_huber(delta: Operand, r: Operand) -> Node:
    """delta^2 (sqrt(1 + (r / delta)^2) - 1); inf for delta < 0."""
    width, positive = floating(delta), elementwise("greater", delta, 0)
    u = floating(r)
    v = elementwise("divide", u, where(positive, width, 1.0))
    root = elementwise("add", 1, elementwise("hypot", 1.0, v))
    # Without the difference, which would cancel.
    found = elementwise("divide", elementwise("square", u), root)
    none = where(elementwise("less", width, 0), np.inf, _times(0.0, width))
    return where(positive, found, none)


def inv_boxcox(y: Operand, power: Operand) -> Node:
    """(power y + 1) ** (1 / power), which is exp(y) at a power of 0."""
    return elementwise("exp", _log_inverse(y, power))


def inv_boxcox1p(y: Operand, power: Operand) -> Node:
    """(power y + 1) ** (1 / power) - 1, accurate near 0."""
    return elementwise("expm1", _log_inverse(y, power))


def _log_inverse(y: Operand, power: Operand) -> Node:
    """log(1 + power y) / power, by its series where power y is small."""
    z = _times(power, floating(y))
    near = elementwise("less", elementwise("absolute", z), 1e-3)
    away = elementwise("divide", elementwise("log1p", z), where(near, 1.0, power))
    small = where(near, z, 0.0)
    series: Node | float = 0.0
    for k in range(6, -1, -1):  # log(1 + z) / z
        series = elementwise("add", (-1) ** k / (k + 1), _times(small, series))
    found = where(near, _times(y, series), away)
    endless = elementwise("logical_and", elementwise("isinf", y), elementwise("equal", power, 0))
    return where(endless, y, found)


def boxcox1p(x: Operand, power: Operand) -> Node:
    """((1 + x) ** power - 1) / power, which is log(1 + x) at a power of 0."""
    return boxcox(x, power, "log1p")


def exprel(x: Operand) -> Node:
    """(exp(x) - 1) / x, 1 at 0."""
    node = floating(x, "exprel")
    near = elementwise("less", elementwise("absolute", node), 0.05)
    other = where(near, 1.0, node)
    away = elementwise("divide", elementwise("expm1", other), other)
    away = where(elementwise("equal", node, np.inf), np.inf, away)
    small = where(near, node, 0.0)
    series: Node | float = 0.0
    for k in range(11, 0, -1):
        series = elementwise("add", 1 / math.factorial(k), _times(small, series))
    return where(near, series, away)


def sinc(x: Operand) -> Node:
    """sin(pi x) / (pi x), 1 at 0."""
    node = floating(x, "sinc")
    near = elementwise("less", elementwise("absolute", node), 0.05)
    other = where(near, 1.0, node)
    away = elementwise("divide", elementwise("sinpi", other), _times(math.pi, other))
    square = elementwise("square", _times(math.pi, where(near, node, 0.0)))
    series: Node | float = 0.0
    for k in range(6, -1, -1):
        series = elementwise("add", (-1) ** k / math.factorial(2 * k + 1), _times(square, series))
    return where(near, series, away)


def gammasgn(x: Operand) -> Node:
    """The sign of the gamma function; NaN at its poles below 0."""
    node = floating(x, "gammasgn")
    floor = elementwise("floor", node)
    odd = elementwise("not_equal", elementwise("remainder", floor, 2), 0)
    below = astype(where(odd, -1.0, 1.0), node.dtype)
    pole = elementwise(
        "logical_and", elementwise("less", node, 0), elementwise("equal", floor, node)
    )
    found = where(elementwise("less", node, 0), where(pole, np.nan, below), 1.0)
    found = where(elementwise("equal", node, 0), elementwise("copysign", 1.0, node), found)
    return where(elementwise("isnan", node), node, found)


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
