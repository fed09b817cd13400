"""FTRL: follow the regularised leader.

Each point minimises a quadratic model of all gradients so far:

    n <- n + g**2
    s = (n**p - (n - g**2)**p) / learning_rate,  p = -power
    z <- z + g - s x
    x = -z learning_rate / n**p

Source: McMahan et al. (2013), without penalties; write penalties as priors of the model.
"""

from typing import Any, NamedTuple

import jax.numpy as jnp

from ..graph.public import public
from .descent import Steps
from .optimizer import positive

__all__ = ["ftrl"]


class _Leader(NamedTuple):
    squares: Any
    linear: Any


@public
def ftrl(
    learning_rate: float = 1.0, *, power: float = -0.5, initial_accumulator: float = 0.1
) -> Steps:
    """Follow the regularised leader (FTRL-Proximal).

    Without penalties its steps equal the steps of `adagrad`, except that the influence of the
    starting point decreases as squared gradients add up.

    Parameters
    ----------
    learning_rate
        A positive number.
    power
        The learning rate is multiplied by this power of the sum of squared gradients; negative or
        0.
    initial_accumulator
        The initial value of that sum; positive.

    Raises
    ------
    ValueError
        If a setting is out of its range.
    """
    if callable(learning_rate):
        raise TypeError(
            "ftrl: learning_rate must be a number, got a schedule; the rate decreases by `power`"
        )
    positive("ftrl", learning_rate=learning_rate, initial_accumulator=initial_accumulator)
    if not power <= 0:
        raise ValueError(f"ftrl: power must be negative or 0, got {power!r}")

    def make(rate: Any) -> Any:
        return _transformation(rate, -power, initial_accumulator)

    return Steps("ftrl", make, learning_rate, (power, initial_accumulator))


def _transformation(rate: Any, power: float, initial: float) -> Any:
    """The optax transformation."""
    import optax

    def init(free: Any) -> _Leader:
        return _Leader(jnp.full_like(free, initial), jnp.zeros_like(free))

    def update(gradient: Any, last: _Leader, free: Any = None) -> tuple[Any, _Leader]:
        squares = last.squares + gradient * gradient
        scale = squares**power
        linear = last.linear + gradient - (scale - last.squares**power) / rate * free
        return -linear * rate / scale - free, _Leader(squares, linear)

    return optax.GradientTransformation(init, update)
