"""`kg.wall` and `kg.tether`: potentials that restrain unknowns.

They are ordinary terms of the log density: they enter the force, the energy, the virial and the
Metropolis test.
"""

from typing import Any

import numpy as np

from ..graph.array import Array, Computed
from ..graph.errors import ModelError, ShapeError
from ..graph.functions.mathematics import abs as absolute
from ..graph.functions.mathematics import where
from ..graph.messages import describe
from ..graph.node import Data
from ..graph.public import public
from ..graph.source import place_text
from ..graph.value_texts import in_words, shown
from .discovery import unknowns_above
from .factor import factor as state

__all__ = ["tether", "wall"]


@public
def wall(
    x: Computed,
    lower: Any = None,
    upper: Any = None,
    *,
    width: Any = None,
    factor: Any = 1.0,
    power: Any = 1.0,
) -> Array:
    """Add soft walls at the bounds of an unknown.

    The wall at each bound has the potential V:

        V(d) = a w / (n + 1) (1 - d / w)^(n + 1)   for d < w, else 0

    Here d is the distance from the bound, positive inside and negative outside. The force
    a (1 - d / w)^n points inwards, starts at the distance w and has the strength a at the bound.
    -V is added to the log density of the models of x, summed over the elements.

    Parameters
    ----------
    x
        An unknown, or an array computed from unknowns.
    lower, upper
        The bounds: numbers, arrays, or None; infinite elements have no wall.
    width
        w; by default 0.01 (upper - lower), or 0.01 |bound| for a single bound, 0.01 if that is 0.
    factor, power
        a and n.

    Returns
    -------
    Array
        The term, -V, with the shape of x.

    Raises
    ------
    TypeError
        If x is not an array of real numbers, or another argument is not numeric.
    ValueError
        If there is no bound, a lower bound is not below the upper one, a width or factor is not
        positive, or a power is negative.
    ShapeError
        If an argument has neither the shape of x nor one that broadcasts to it.
    ModelError
        If x depends on no unknown.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.normal(0.0, 1.0, name="x")
    >>> term = kg.wall(x, lower=0.0, width=0.5, factor=100.0)
    >>> model = kg.model(x)
    >>> float(model.gradient([0.25])[0])  # 100 (1 - 0.25 / 0.5) inwards, and -0.25 of the normal
    49.75

    Source: F. Heber, Z. Trstanova, B. Leimkuhler, arXiv:1903.08640.
    """
    _check("wall", x)
    if lower is None and upper is None:
        raise ValueError("wall: give lower=, upper= or both")
    low, high = _setting("wall", "lower", lower, x), _setting("wall", "upper", upper, x)
    a, n = _setting("wall", "factor", factor, x), _setting("wall", "power", power, x)
    given_width = _setting("wall", "width", width, x)
    _demand("wall", "factor", a, "positive", lambda v: v > 0)
    _demand("wall", "width", given_width, "positive", lambda v: v > 0)
    _demand("wall", "power", n, "at least 0", lambda v: v >= 0)
    least, most = _value(low), _value(high)
    if least is not None and most is not None and not np.all(least < most):
        raise ValueError(f"wall: lower must be below upper, got {lower!r} and {upper!r}")
    potential: Any = 0.0
    for bound, other, inwards in ((low, high, 1.0), (high, low, -1.0)):
        if bound is None:
            continue
        w = _width(bound, other) if given_width is None else given_width
        d = inwards * (x - bound)
        inside = d < w
        base = where(inside, 1.0 - d / w, 1.0)  # 1 outside, where the power is differentiable
        potential = potential + where(inside, a * w / (n + 1.0) * base ** (n + 1.0), 0.0)
    return state(-potential)


@public
def tether(x: Computed, center: Any = 0.0, *, factor: Any = 1.0, power: Any = 1.0) -> Array:
    """Tether an unknown to a point, with the potential V.

        V = a |x - c|^(n + 1) / (n + 1)

    The force a |x - c|^n points towards the point. With n = 1 it is a spring of stiffness a: the
    prior normal(c, 1 / sqrt(a)) without its constant. -V is added to the log density of the models
    of x, summed over the elements.

    Parameters
    ----------
    x
        An unknown, or an array computed from unknowns.
    center
        c.
    factor, power
        a and n.

    Returns
    -------
    Array
        The term, -V, with the shape of x.

    Raises
    ------
    TypeError
        If x is not an array of real numbers, or another argument is not numeric.
    ValueError
        If a factor is not positive, or a power is negative.
    ShapeError
        If an argument has neither the shape of x nor one that broadcasts to it.
    ModelError
        If x depends on no unknown.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.variable(shape=2, name="x")
    >>> spring = kg.tether(x, center=[1.0, -1.0], factor=4.0)
    >>> kg.model(x).gradient([1.5, -1.0]).tolist()
    [-2.0, -0.0]

    Source: F. Heber, Z. Trstanova, B. Leimkuhler, arXiv:1903.08640.
    """
    _check("tether", x)
    c = _setting("tether", "center", center, x)
    a, n = _setting("tether", "factor", factor, x), _setting("tether", "power", power, x)
    _demand("tether", "center", c, "finite", np.isfinite)
    _demand("tether", "factor", a, "positive", lambda v: v > 0)
    _demand("tether", "power", n, "at least 0", lambda v: v >= 0)
    d: Any = x - c
    if np.ndim(n) == 0 and n in (1, 3, 5):  # even powers need no |d|, and are smooth at 0
        return state(-a / (n + 1.0) * d ** int(n + 1))
    return state(-a / (n + 1.0) * absolute(d) ** (n + 1.0))


def _width(bound: Any, other: Any) -> Any:
    """The default width of a wall; 1 for infinite bounds."""
    width = where(bound == 0, 0.01, 0.01 * absolute(bound))
    if other is not None:
        width = where(absolute(other) < np.inf, 0.01 * absolute(other - bound), width)
    return where(absolute(bound) < np.inf, width, 1.0)


def _check(doing: str, x: Any) -> None:
    """Raise an error unless x is real and depends on unknowns."""
    if not isinstance(x, Array) or x.dtype.kind != "f":
        dtype_text = f" of {x.dtype}" if isinstance(x, Array) else ""
        raise TypeError(
            f"{doing}: x must be an unknown, an array of real numbers, got "
            f"{in_words(x)}{dtype_text}{place_text()}"
        )
    if not unknowns_above([x.node]):
        raise ModelError(f"{doing}: {describe(x.node)} depends on no unknown{place_text()}")


def _setting(doing: str, name: str, value: Any, x: Any) -> Any:
    """A setting as an array, checked for type and shape."""
    if value is None:
        return None
    if not isinstance(value, Array):
        value = np.asarray(value)
    if value.dtype.kind not in "iuf":
        raise TypeError(f"{doing}: {name} must be numbers, got {shown(value)}")
    try:
        fits = np.broadcast_shapes(value.shape, x.shape) == x.shape
    except ValueError:
        fits = False
    if not fits:
        raise ShapeError(
            f"{doing}: {name} of shape {tuple(value.shape)} does not fit {describe(x.node)} of "
            f"shape {x.shape}"
        )
    constant = _value(value)
    if constant is not None and np.isnan(constant).any():
        raise ValueError(f"{doing}: {name} is NaN")
    return value if isinstance(value, Array) else value.astype(float)


def _value(given: Any) -> Any:
    """The value of a setting that is already known, else None."""
    if isinstance(given, Array):
        return given.node.value if isinstance(given.node, Data) else None
    return given


def _demand(doing: str, name: str, given: Any, text: str, holds: Any) -> None:
    """Raise ValueError if a known setting breaks a condition."""
    value = _value(given)
    if value is not None and not np.all(holds(value)):
        raise ValueError(f"{doing}: {name} must be {text}, got {given!r}")
