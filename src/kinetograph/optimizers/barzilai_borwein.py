"""Gradient descent whose learning rate follows the curvature along the last step.

    rate = |dx . dg| / |dg|**2,  dx and dg the last changes of the free state and of its gradient

Source: Barzilai, Borwein (1988), the shorter of their two rates.
"""

from typing import Any, NamedTuple

import jax.numpy as jnp

from ..graph.public import public
from .descent import Steps
from .optimizer import positive

__all__ = ["barzilai_borwein"]

_SAME = 1e-13  # a smaller change of the gradient gives no information about the curvature
_LEAST, _MOST = 1e-10, 1e10


class _Last(NamedTuple):
    free: Any
    gradient: Any
    rate: Any
    steps: Any


@public
def barzilai_borwein(learning_rate: float = 0.01) -> Steps:
    """Gradient descent with Barzilai and Borwein's rate, for the free state.

        rate = |dx . dg| / |dg|**2

    If the gradient has not changed, the last rate is used again. A rate below 1e-10 is replaced by
    the initial one and a rate above 1e10 by 1. The objective may increase on the way.

    Parameters
    ----------
    learning_rate
        The rate of the first step; a positive number.

    Raises
    ------
    ValueError
        If the rate is not positive.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.normal([1, 2], [1, 10])
    >>> mode = kg.opt(kg.model(x), kg.optimizers.barzilai_borwein(), seed=1)
    >>> mode.values["x"].round(3)
    array([1., 2.])
    """
    if callable(learning_rate):
        raise TypeError("barzilai_borwein: computes its rates, and does not take a schedule")
    positive("barzilai_borwein", learning_rate=learning_rate)
    return Steps("barzilai_borwein", _transformation, learning_rate)


def _transformation(initial: Any) -> Any:
    """The optax transformation, with the rate of the first step."""
    import optax

    def init(free: Any) -> _Last:
        zeros = jnp.zeros_like(free)
        return _Last(zeros, zeros, jnp.asarray(initial, free.dtype), jnp.zeros((), jnp.int32))

    def update(gradient: Any, last: _Last, free: Any = None) -> tuple[Any, _Last]:
        free_change, gradient_change = free - last.free, gradient - last.gradient
        square = jnp.sum(gradient_change * gradient_change)
        is_usable = (last.steps > 0) & (jnp.sqrt(square) > _SAME)
        rate = jnp.abs(jnp.sum(free_change * gradient_change)) / jnp.where(is_usable, square, 1.0)
        rate = jnp.where(is_usable, rate, last.rate)
        rate = jnp.where(rate < _LEAST, initial, jnp.where(rate > _MOST, 1.0, rate))
        return -rate * gradient, _Last(free, gradient, rate, last.steps + 1)

    return optax.GradientTransformation(init, update)
