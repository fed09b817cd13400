"""Decorators for custom derivatives, where JAX's are not accurate.

JAX's derivatives may lose digits, or multiply 0 by infinity.

A rule that selects (`where(x > y, t, 0)`) is linear in the tangent t. Its transpose for reverse
differentiation selects as well, so an infinite or NaN cotangent does not pass where the derivative
is 0. A rule that multiplies by 0 would turn such a cotangent into NaN.
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
    """Give an elementwise function of one tensor the derivative `slope(x)`."""

    def decorate(function: Function) -> Function:
        decorated = jax.custom_jvp(function)
        decorated.defjvps(lambda t, out, x: t * slope(x))
        return decorated

    return decorate


def partials(*slopes: Function) -> Decorator:
    """Give an elementwise function of several tensors these partial derivatives.

    A partial derivative is computed only if its tensor has a tangent, because it may be infinite.
    """

    def decorate(function: Function) -> Function:
        decorated = jax.custom_jvp(function)

        def rule(primals: Any, tangents: Any) -> Any:
            out = decorated(*primals)
            total = jnp.zeros_like(out)
            for slope, t in zip(slopes, tangents, strict=True):
                if not isinstance(t, SymbolicZero):
                    total = total + t * slope(*primals)
            return out, total

        decorated.defjvp(rule, symbolic_zeros=True)
        return decorated

    return decorate


def derivatives(rule: Function) -> Decorator:
    """Give a function the tangent `rule(primals, tangents)`."""

    def decorate(function: Function) -> Function:
        decorated = jax.custom_jvp(function)
        decorated.defjvp(lambda primals, tangents: (decorated(*primals), rule(primals, tangents)))
        return decorated

    return decorate


def by_forward(function: Function) -> Function:
    """Differentiate an elementwise function in forward mode, for every order.

    The tensors have the same shape, and the function may return several tensors of that shape,
    stacked. Its partial derivatives are computed together with its value, by forward mode. This
    works for functions with loops of unknown length, which JAX cannot run backward. The partial
    derivatives are differentiated in the same way.
    """

    def partial(place: int, with_value: bool) -> Function:
        def slope(*primals: Any) -> Any:
            def of_one(tensor: Any) -> Any:
                return function(*primals[:place], tensor, *primals[place + 1 :])

            # Zero tangents of the other tensors would be multiplied by infinite slopes.
            one = jnp.ones_like(primals[place])
            value, slope = jax.jvp(of_one, (primals[place],), (one,))
            return jnp.stack([value, slope]) if with_value else slope

        return slope

    decorated = jax.custom_jvp(function)

    def rule(primals: Any, tangents: Any) -> Any:
        places = [k for k, t in enumerate(tangents) if not isinstance(t, SymbolicZero)]
        # The program of the first slope also gives the value, so loops run once for both.
        out, slope = by_forward(partial(places[0], True))(*primals)
        total = tangents[places[0]] * slope
        for place in places[1:]:
            total = total + tangents[place] * by_forward(partial(place, False))(*primals)
        return out, total

    decorated.defjvp(rule, symbolic_zeros=True)
    return decorated


@jax.custom_jvp
def _by_log(x: Any, log: Any) -> Any:
    return x


@_by_log.defjvp
def _slope_by_log(primals: Any, tangents: Any) -> Any:
    (x, log), (_, t) = primals, tangents
    value = by_log(x, log)  # so that the rule itself can be differentiated
    return value, (value * t).astype(x.dtype)


def by_log(x: Any, log: Any) -> Any:
    """x, with the derivative of exp(log).

    The derivative is accurate even if x is computed from numbers that overflow.
    """
    return _by_log(jax.lax.stop_gradient(x), log)
