"""Functions of tensors with derivatives of their own: where JAX would lose digits or meet 0 * inf.

A rule that selects (`where(x > y, t, 0)`) is linear in the tangent t and, turned around for reverse
differentiation, still selects: a cotangent that is infinite or NaN does not pass where the
derivative is 0. A rule that multiplies by 0 would make NaN of it.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.custom_derivatives import SymbolicZero

__all__ = ["Function", "by_forward", "by_log", "derivative", "derivatives", "partials"]

Function = Callable[..., Any]
Decorator = Callable[[Function], Function]


def derivative(slope: Function) -> Decorator:
    """The function of one tensor has the derivative `slope(x)`, element by element."""

    def decorate(function: Function) -> Function:
        known = jax.custom_jvp(function)
        known.defjvps(lambda t, out, x: t * slope(x))
        return known

    return decorate


def partials(*slopes: Function) -> Decorator:
    """The function of several tensors has these partial derivatives, element by element.

    One by whose tensor nothing is differentiated is not computed: it may be infinite.
    """

    def decorate(function: Function) -> Function:
        known = jax.custom_jvp(function)

        def rule(primals: Any, tangents: Any) -> Any:
            out = known(*primals)
            total = jnp.zeros_like(out)
            for slope, t in zip(slopes, tangents, strict=True):
                if not isinstance(t, SymbolicZero):
                    total = total + t * slope(*primals)
            return out, total

        known.defjvp(rule, symbolic_zeros=True)
        return known

    return decorate


def derivatives(rule: Function) -> Decorator:
    """The function has the tangent `rule(primals, tangents)`."""

    def decorate(function: Function) -> Function:
        known = jax.custom_jvp(function)
        known.defjvp(lambda primals, tangents: (known(*primals), rule(primals, tangents)))
        return known

    return decorate


def by_forward(function: Function) -> Function:
    """The function of tensors of one shape, element by element, differentiated forward.

    It may give several tensors of that shape, stacked. Its partial derivatives are computed beside
    it, also where it has loops that end by themselves and cannot be run backward, and so are
    theirs.
    """

    def partial(place: int, beside: bool) -> Function:
        def slope(*primals: Any) -> Any:
            def of_one(tensor: Any) -> Any:
                return function(*primals[:place], tensor, *primals[place + 1 :])

            # Tangents of 0 for the others would meet slopes that are infinite.
            one = jnp.ones_like(primals[place])
            value, slope = jax.jvp(of_one, (primals[place],), (one,))
            return jnp.stack([value, slope]) if beside else slope

        return slope

    known = jax.custom_jvp(function)

    def rule(primals: Any, tangents: Any) -> Any:
        places = [k for k, t in enumerate(tangents) if not isinstance(t, SymbolicZero)]
        # The value is that of the first slope's program: loops are run once for both.
        out, slope = by_forward(partial(places[0], True))(*primals)
        total = tangents[places[0]] * slope
        for place in places[1:]:
            total = total + tangents[place] * by_forward(partial(place, False))(*primals)
        return out, total

    known.defjvp(rule, symbolic_zeros=True)
    return known


@jax.custom_jvp
def _by_log(x: Any, log: Any) -> Any:
    return x


@_by_log.defjvp
def _slope_by_log(primals: Any, tangents: Any) -> Any:
    (x, log), (_, t) = primals, tangents
    value = by_log(x, log)  # has derivatives of its own
    return value, (value * t).astype(x.dtype)


def by_log(x: Any, log: Any) -> Any:
    """x, differentiated as exp(log): right where x is made of numbers that overflow."""
    return _by_log(jax.lax.stop_gradient(x), log)
