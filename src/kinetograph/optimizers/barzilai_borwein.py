"""Gradient descent whose learning rate follows the curvature along the last step.

    rate = |dx . dg| / |dg|**2,  dx and dg the last changes of the whole free state and its gradient

Source: Barzilai, Borwein (1988), the shorter of their two rates.
"""

from typing import Any, NamedTuple

import jax.numpy as jnp

from .descent import Steps
from .optimizer import positive

__all__ = ["barzilai_borwein"]

_SAME = 1e-13  # a gradient that changed by less says nothing of the curvature
_LEAST, _MOST = 1e-10, 1e10


class _Last(NamedTuple):
    free: Any
    gradient: Any
    rate: Any
    steps: Any


def barzilai_borwein(learning_rate: float = 0.01) -> Steps:
    """Gradient descent with the rate of Barzilai and Borwein, for the whole free state.

        rate = |dx . dg| / |dg|**2

    The last rate is kept where the gradient has not changed; a rate below 1e-10 becomes the
    initial one and a rate above 1e10 becomes 1. The objective may rise on the way.

    Parameters
    ----------
    learning_rate
        Of the first step; a positive number.

    Raises
    ------
    ValueError
        If it is not positive.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.normal([1, 2], [1, 10])
    >>> found = kg.opt(kg.model(x), kg.optimizers.barzilai_borwein(), seed=1)
    >>> found.values["x"].round(3)
    array([1., 2.])
    """
    if callable(learning_rate):
        raise TypeError("barzilai_borwein: finds its rates by itself, and takes no schedule")
    positive("barzilai_borwein", learning_rate=learning_rate)
    return Steps("barzilai_borwein", _transformation, learning_rate)


def _transformation(initial: Any) -> Any:
    import optax

    def init(free: Any) -> _Last:
        zeros = jnp.zeros_like(free)
        return _Last(zeros, zeros, jnp.asarray(initial, free.dtype), jnp.zeros((), jnp.int32))

    def update(gradient: Any, last: _Last, free: Any = None) -> tuple[Any, _Last]:
        moved, turned = free - last.free, gradient - last.gradient
        square = jnp.sum(turned * turned)
        known = (last.steps > 0) & (jnp.sqrt(square) > _SAME)
        rate = jnp.abs(jnp.sum(moved * turned)) / jnp.where(known, square, 1.0)
        rate = jnp.where(known, rate, last.rate)
        rate = jnp.where(rate < _LEAST, initial, jnp.where(rate > _MOST, 1.0, rate))
        return -rate * gradient, _Last(free, gradient, rate, last.steps + 1)

    return optax.GradientTransformation(init, update)
