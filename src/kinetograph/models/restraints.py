"""`kg.wall` and `kg.tether`: potentials that keep an unknown within bounds, or near a point.

They are terms of the log density as any other: in the force, the energy, the virial and the test of
a Metropolis step alike.
"""

from typing import Any

import numpy as np

from ..graph.array import Array, Computed
from ..graph.errors import ModelError, ShapeError
from ..graph.functions.mathematics import abs as absolute
from ..graph.functions.mathematics import where
from ..graph.messages import describe
from ..graph.node import Data
from ..graph.source import place_text
from ..graph.text import in_words
from .discovery import unknowns_above
from .factor import factor as state

__all__ = ["tether", "wall"]


def wall(
    x: Computed,
    lower: Any = None,
    upper: Any = None,
    *,
    width: Any = None,
    factor: Any = 1.0,
    power: Any = 1.0,
) -> Array:
    """Soft walls at the bounds of an unknown: adds -V to the log density of its models.

        V(d) = a w / (n + 1) (1 - d / w)^(n + 1)   for d < w, else 0

    for each bound, where d is the distance inside of it, negative outside: a force a (1 - d / w)^n
    inwards, that begins at a distance w and has the strength a at the bound. Elements are added up.

    Parameters
    ----------
    x
        An unknown, or what is computed from unknowns.
    lower, upper
        The bounds: numbers, arrays, or None; infinite elements are open.
    width
        w; by default 0.01 (upper - lower), or, of one bound only, 0.01 |bound|, 0.01 where that
        is 0.
    factor, power
        a and n.

    Returns
    -------
    Array
        The term, -V, of the shape of x.

    Raises
    ------
    TypeError
        If x is no array of real numbers, or something else is none.
    ValueError
        If there is no bound, a lower one is not below the upper one, a width or factor is not
        positive or a power negative.
    ShapeError
        If something does not have the shape of x, or one that broadcasts to it.
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
    low, high = _given("wall", "lower", lower, x), _given("wall", "upper", upper, x)
    a, n = _given("wall", "factor", factor, x), _given("wall", "power", power, x)
    given = _given("wall", "width", width, x)
    _demand("wall", "factor", a, "positive", lambda v: v > 0)
    _demand("wall", "width", given, "positive", lambda v: v > 0)
    _demand("wall", "power", n, "at least 0", lambda v: v >= 0)
    least, most = _value(low), _value(high)
    if least is not None and most is not None and not np.all(least < most):
        raise ValueError(f"wall: lower must be below upper, got {lower!r} and {upper!r}")
    potential: Any = 0.0
    for bound, other, inwards in ((low, high, 1.0), (high, low, -1.0)):
        if bound is None:
            continue
        w = _width(bound, other) if given is None else given
        d = inwards * (x - bound)
        inside = d < w
        base = where(inside, 1.0 - d / w, 1.0)  # where there is none the power has a derivative
        potential = potential + where(inside, a * w / (n + 1.0) * base ** (n + 1.0), 0.0)
    return state(-potential)


def tether(x: Computed, center: Any = 0.0, *, factor: Any = 1.0, power: Any = 1.0) -> Array:
    """A tether of an unknown to a point: adds -V to the log density of its models.

        V = a |x - c|^(n + 1) / (n + 1)

    a force a |x - c|^n towards the point. With n = 1 it is a spring, of stiffness a: the prior
    normal(c, 1 / sqrt(a)) without its constant. Elements are added up.

    Parameters
    ----------
    x
        An unknown, or what is computed from unknowns.
    center
        c.
    factor, power
        a and n.

    Returns
    -------
    Array
        The term, -V, of the shape of x.

    Raises
    ------
    TypeError
        If x is no array of real numbers, or something else is none.
    ValueError
        If a factor is not positive or a power negative.
    ShapeError
        If something does not have the shape of x, or one that broadcasts to it.
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
    c = _given("tether", "center", center, x)
    a, n = _given("tether", "factor", factor, x), _given("tether", "power", power, x)
    _demand("tether", "center", c, "finite", np.isfinite)
    _demand("tether", "factor", a, "positive", lambda v: v > 0)
    _demand("tether", "power", n, "at least 0", lambda v: v >= 0)
    d: Any = x - c
    if np.ndim(n) == 0 and n in (1, 3, 5):  # smooth in the middle, which |d| hides
        return state(-a / (n + 1.0) * d ** int(n + 1))
    return state(-a / (n + 1.0) * absolute(d) ** (n + 1.0))


def _width(bound: Any, other: Any) -> Any:
    """The width of the wall at a bound; some number where that is infinite."""
    width = where(bound == 0, 0.01, 0.01 * absolute(bound))
    if other is not None:
        width = where(absolute(other) < np.inf, 0.01 * absolute(other - bound), width)
    return where(absolute(bound) < np.inf, width, 1.0)


def _check(what: str, x: Any) -> None:
    if not isinstance(x, Array) or x.dtype.kind != "f":
        of = f" of {x.dtype}" if isinstance(x, Array) else ""
        raise TypeError(
            f"{what}: x must be an unknown, an array of real numbers, got {in_words(x)}{of}"
            f"{place_text()}"
        )
    if not unknowns_above([x.node]):
        raise ModelError(f"{what}: {describe(x.node)} depends on no unknown{place_text()}")


def _given(what: str, name: str, value: Any, x: Any) -> Any:
    """A setting: an array of the graph, or of NumPy."""
    if value is None:
        return None
    if not isinstance(value, Array):
        value = np.asarray(value)
    if value.dtype.kind not in "iuf":
        raise TypeError(f"{what}: {name} must be numbers, got {value!r}")
    try:
        fits = np.broadcast_shapes(value.shape, x.shape) == x.shape
    except ValueError:
        fits = False
    if not fits:
        raise ShapeError(
            f"{what}: {name} of shape {tuple(value.shape)} does not fit {describe(x.node)} of "
            f"shape {x.shape}"
        )
    known = _value(value)
    if known is not None and np.isnan(known).any():
        raise ValueError(f"{what}: {name} is NaN")
    return value if isinstance(value, Array) else value.astype(float)


def _value(given: Any) -> Any:
    """What is known of a setting before a run."""
    if isinstance(given, Array):
        return given.node.value if isinstance(given.node, Data) else None
    return given


def _demand(what: str, name: str, given: Any, text: str, holds: Any) -> None:
    value = _value(given)
    if value is not None and not np.all(holds(value)):
        raise ValueError(f"{what}: {name} must be {text}, got {given!r}")
