"""Gradient descent and its variants: optax's transformations with greta's defaults.

Sources: Polyak (1964) and Nesterov (1983) for momentum; Kingma, Ba (2015) for adam and adamax;
Loshchilov, Hutter (2019) for adamw; Dozat (2016) for nadam; Duchi, Hazan, Singer (2011) for
adagrad; Zeiler (2012) for adadelta; Tieleman, Hinton (2012) for rmsprop.
"""

from collections.abc import Callable
from typing import Any

from ..graph.public import public
from .descent import Steps
from .optimizer import fraction, positive

__all__ = [
    "adadelta",
    "adagrad",
    "adam",
    "adamax",
    "adamw",
    "gradient_descent",
    "nadam",
    "of_transformation",
    "rmsprop",
]

Rate = float | Callable[[Any], Any]


def _of_optax(name: str, optax_name: str, learning_rate: Rate, settings: dict[str, Any]) -> Steps:
    """The optimiser of an optax function."""
    positive(name, learning_rate=learning_rate)

    def make(rate: Any) -> Any:
        import optax

        return getattr(optax, optax_name)(rate, **settings)

    return Steps(name, make, learning_rate, tuple(sorted(settings.items())))


def of_transformation(transformation: Any) -> Steps:
    """The optimiser of a user's optax transformation."""
    return Steps("optax transformation", lambda _: transformation, None, given=transformation)


@public
def gradient_descent(
    learning_rate: Rate = 0.01, *, momentum: float | None = None, nesterov: bool = False
) -> Steps:
    """Gradient descent: x <- x - learning_rate gradient.

    It is stable for a learning rate below `kg.step_size_bound(model, at, "gradient_descent")`.

    Parameters
    ----------
    learning_rate
        A positive number, or a schedule: a function of the number of the step, such as
        `optax.exponential_decay(...)`.
    momentum
        The factor m of the velocity v: v <- m v + gradient, x <- x - learning_rate v.
    nesterov
        Whether to use Nesterov's momentum: the step is learning_rate (m v + gradient).

    Raises
    ------
    ValueError
        If the learning rate is not positive, or the momentum not in [0, 1).

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.normal(3, 1)
    >>> descent = kg.optimizers.gradient_descent(0.1, momentum=0.5)
    >>> print(f"{kg.opt(kg.model(x), descent, seed=1).values['x']:.3f}")
    3.000
    """
    if momentum is not None:
        fraction("gradient_descent", momentum=momentum)
    settings = {"momentum": momentum, "nesterov": bool(nesterov)}
    return _of_optax("gradient_descent", "sgd", learning_rate, settings)


@public
def adam(learning_rate: Rate = 0.1, *, b1: float = 0.9, b2: float = 0.999) -> Steps:
    """Adam: steps by the averaged gradient, scaled by its averaged square.

    Parameters
    ----------
    learning_rate
        A positive number, or a schedule.
    b1, b2
        The decay factors of the two averages.
    """
    fraction("adam", b1=b1, b2=b2)
    return _of_optax("adam", "adam", learning_rate, {"b1": b1, "b2": b2})


@public
def adamw(
    learning_rate: Rate = 0.1, *, b1: float = 0.9, b2: float = 0.999, weight_decay: float = 1e-4
) -> Steps:
    """Adam with decoupled weight decay: each step also shrinks the free state.

    Parameters
    ----------
    learning_rate
        A positive number, or a schedule.
    b1, b2
        The decay factors of the two averages.
    weight_decay
        The share of the free state that a step of rate 1 subtracts. It pulls away from the mode; if
        you want a penalty, write it as a prior of the model.
    """
    fraction("adamw", b1=b1, b2=b2, weight_decay=weight_decay)
    settings = {"b1": b1, "b2": b2, "weight_decay": weight_decay}
    return _of_optax("adamw", "adamw", learning_rate, settings)


@public
def nadam(learning_rate: Rate = 0.1, *, b1: float = 0.9, b2: float = 0.999) -> Steps:
    """Adam with Nesterov's momentum; for the settings see `adam`."""
    fraction("nadam", b1=b1, b2=b2)
    return _of_optax("nadam", "nadam", learning_rate, {"b1": b1, "b2": b2})


@public
def adamax(learning_rate: Rate = 0.1, *, b1: float = 0.9, b2: float = 0.999) -> Steps:
    """Adam with the largest gradient instead of the root mean square.

    For the settings see `adam`.
    """
    fraction("adamax", b1=b1, b2=b2)
    return _of_optax("adamax", "adamax", learning_rate, {"b1": b1, "b2": b2})


@public
def adagrad(learning_rate: Rate = 0.8, *, initial_accumulator: float = 0.1) -> Steps:
    """Adagrad: steps by the gradient over the root of its summed squares.

    Parameters
    ----------
    learning_rate
        A positive number, or a schedule.
    initial_accumulator
        The initial value of the sum.
    """
    positive("adagrad", initial_accumulator=initial_accumulator)
    settings = {"initial_accumulator_value": initial_accumulator}
    return _of_optax("adagrad", "adagrad", learning_rate, settings)


@public
def adadelta(learning_rate: Rate = 0.001, *, rho: float = 1.0) -> Steps:
    """Adadelta: steps by gradients, scaled by averages of squared steps and gradients.

    Parameters
    ----------
    learning_rate
        A positive number, or a schedule.
    rho
        The decay factor of the averages. With 1, greta's default, the averages stay constant and
        each step is `learning_rate` times the gradient; `adadelta(1.0, rho=0.95)` has Zeiler's
        settings.
    """
    if rho != 1:
        fraction("adadelta", rho=rho)
    return _of_optax("adadelta", "adadelta", learning_rate, {"rho": rho})


@public
def rmsprop(learning_rate: Rate = 0.1, *, decay: float = 0.9) -> Steps:
    """RMSprop: steps by the gradient over the root of its averaged square.

    Parameters
    ----------
    learning_rate
        A positive number, or a schedule.
    decay
        The decay factor of the average.
    """
    fraction("rmsprop", decay=decay)
    return _of_optax("rmsprop", "rmsprop", learning_rate, {"decay": decay})
