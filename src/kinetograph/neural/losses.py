"""Losses of networks, for one row.

A loss is a function of the outputs and the label of one row; the loss of a data set is the mean
over its rows. `gaussian`, `poisson` and `categorical` are minus log densities, with all constants.

Source of the definitions: the documentation of TensorFlow's losses, written for one row.
"""

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..graph.errors import DataError, ShapeError
from ..graph.public import public
from .choice import chosen

__all__ = [
    "LOSSES",
    "Loss",
    "check_labels",
    "check_outputs",
    "check_widths",
    "count_outputs",
    "loss",
]

_LABELS = dict.fromkeys(("real", "binary", "signs", "one-hot", "classes", "counts"))
_OUTPUTS = dict.fromkeys(("any", "logits", "probabilities"))
_EPSILON = 1e-7
_LOG_2_PI = float(np.log(2 * np.pi))


@public
@dataclass(frozen=True)
class Loss:
    """A loss, and the outputs and labels that it needs.

    Attributes
    ----------
    name
        The name of the loss.
    function
        The loss of one row, from its outputs and its label.
    labels
        "real", "binary" (0 or 1), "signs" (-1 or 1), "one-hot", "classes" or "counts" (both whole
        numbers).
    outputs
        "any", "logits" (before an output activation) or "probabilities" (between 0 and 1).
    width
        The number of outputs for a label of some width and a number of classes.
    """

    name: str
    function: Callable[[Any, Any], Any]
    labels: str = "real"
    outputs: str = "any"
    width: Callable[[int, int], int] = lambda labels, classes: labels

    def __post_init__(self) -> None:
        chosen(_LABELS, self.labels, "Loss: labels")
        chosen(_OUTPUTS, self.outputs, "Loss: outputs")
        try:
            signature(self.function).bind(None, None)
        except TypeError as error:
            raise TypeError(
                f"Loss: {self.name}: expected a function of two arguments, the outputs and the "
                f"label of a row, such as lambda z, y: jnp.sum((z - y) ** 2): {error}"
            ) from error
        except ValueError:  # without a signature
            pass


def _mean_squared(z: Any, y: Any) -> Any:
    return jnp.mean((z - y) ** 2)


def _absolute_difference(z: Any, y: Any) -> Any:
    difference = z - y
    return jnp.mean(difference * jnp.sign(difference))  # with the derivative 0 at 0


def _log_loss(z: Any, y: Any) -> Any:
    return jnp.mean(-y * jnp.log(z + _EPSILON) - (1 - y) * jnp.log(1 - z + _EPSILON))


def _hinge(z: Any, y: Any) -> Any:
    return jnp.mean(jnp.maximum(0, 1 - (2 * y - 1) * z))


def _signed_hinge(z: Any, y: Any) -> Any:
    return jnp.mean(jnp.maximum(0, 1 - y * z))


def _cosine_distance(z: Any, y: Any) -> Any:
    return 1 - jnp.sum(_unit(z) * _unit(y))


def _unit(x: Any) -> Any:
    square = jnp.sum(x * x)
    return x * jax.lax.rsqrt(jnp.where(square > 0, square, 1))


def _sigmoid_cross_entropy(z: Any, y: Any) -> Any:
    return jnp.mean(jax.nn.softplus(z) - z * y)


def _softmax_cross_entropy(z: Any, y: Any) -> Any:
    return -jnp.sum(y * jax.nn.log_softmax(z))


def _categorical(z: Any, y: Any) -> Any:
    label = jnp.reshape(y, ()).astype(jnp.int32)
    return -jnp.take(jax.nn.log_softmax(z), label, mode="fill")


def _gaussian(z: Any, y: Any) -> Any:
    """Minus the log density of normal(z[:k], softplus(z[k:])), label of size k.

    softplus grows as its argument, so that no noise is extrapolated exponentially.
    """
    mean, spread = jnp.split(z, 2)
    low = -15.0  # below, softplus is exp to the last bit of single precision
    log_sd = jnp.where(spread < low, spread, jnp.log(jax.nn.softplus(jnp.maximum(spread, low))))
    return jnp.sum(0.5 * ((y - mean) * jnp.exp(-log_sd)) ** 2 + log_sd + 0.5 * _LOG_2_PI)


def _poisson(z: Any, y: Any) -> Any:
    """Minus the log density of poisson(exp(z))."""
    return jnp.sum(jnp.exp(z) - y * z + jax.lax.lgamma(y + 1.0))


LOSSES: dict[str, Loss] = {
    each.name: each
    for each in (
        Loss("mean_squared", _mean_squared),
        Loss("absolute_difference", _absolute_difference),
        Loss("log_loss", _log_loss, "binary", "probabilities"),
        Loss("hinge", _hinge, "binary"),
        Loss("signed_hinge", _signed_hinge, "signs"),
        Loss("cosine_distance", _cosine_distance),
        Loss("sigmoid_cross_entropy", _sigmoid_cross_entropy, "binary", "logits"),
        Loss("softmax_cross_entropy", _softmax_cross_entropy, "one-hot", "logits"),
        Loss("categorical", _categorical, "classes", "logits", lambda labels, classes: classes),
        Loss("gaussian", _gaussian, "real", "logits", lambda labels, classes: 2 * labels),
        Loss("poisson", _poisson, "counts", "logits"),
    )
}


def loss(value: Any, doing: str) -> Loss:
    """Return the loss of a name or function, or the `Loss` given."""
    if isinstance(value, Loss):
        return value
    if callable(value):
        return Loss(getattr(value, "__name__", "loss"), value)
    return chosen(LOSSES, value, f"{doing}: loss")


def check_labels(loss: Loss, labels: Any, doing: str) -> None:
    """Refuse labels that the loss is not made for.

    Raises
    ------
    DataError
        With the row of the first wrong label.
    """
    values = np.asarray(labels, float)
    values = values.reshape(len(values), -1)
    whole_number = (values >= 0) & (values == np.round(values))
    text, right = {
        "binary": ("0 or 1", np.isin(values, (0, 1))),
        "signs": ("-1 or 1", np.isin(values, (-1, 1))),
        "classes": ("whole numbers from 0", whole_number),
        "counts": ("counts, whole numbers from 0", whole_number),
        "one-hot": (
            "one-hot rows, of one 1 and zeros",
            np.isin(values, (0, 1)) & (values.sum(1, keepdims=True) == 1),
        ),
    }.get(loss.labels, ("finite numbers", np.isfinite(values)))
    if not right.all():
        row = int(np.flatnonzero(~right.all(1))[0])
        whole = values.shape[1] == 1 and bool(whole_number.all())
        hint = "; for class numbers, take loss='categorical'"
        raise DataError(
            f"{doing}: the loss {loss.name} needs labels that are {text}; the label of row {row} "
            f"is {np.asarray(labels)[row].tolist()}{hint * (loss.labels == 'one-hot' and whole)}"
        )


def check_widths(loss: Loss, outputs: Callable[[], Any], labels: Any, doing: str) -> None:
    """Refuse outputs whose number does not fit the labels.

    The labels of a user's own loss are not checked. `outputs` makes the outputs of one row.

    Raises
    ------
    ShapeError
        With both numbers; otherwise arrays of different widths would be broadcast. Or if the
        network does not take the inputs.
    """
    got = count_outputs(outputs, doing)
    if loss is not LOSSES.get(loss.name):
        _check_number(loss, outputs, labels, doing)
        return
    width = int(np.prod(np.shape(labels)[1:]))
    if loss.labels == "classes":
        classes = int(np.max(labels)) + 1
        if classes > got or width != 1:
            raise ShapeError(
                f"{doing}: the labels are {width} column(s) of classes 0 to {classes - 1}, but the "
                f"network has {got} outputs, one for each class"
            )
    elif got != loss.width(width, 0):
        raise ShapeError(
            f"{doing}: the network has {got} outputs, but the loss {loss.name} needs "
            f"{loss.width(width, 0)} for labels of {width} column(s)"
        )


def _check_number(loss: Loss, outputs: Callable[[], Any], labels: Any, doing: str) -> None:
    """Refuse a user's loss that is not one number for each row."""
    label = jnp.zeros(np.shape(labels)[1:])
    shape = np.shape(jax.eval_shape(lambda: loss.function(outputs(), label)))
    if shape:
        raise ShapeError(
            f"{doing}: the loss {loss.name} has the shape {shape} for one row, and must be one "
            "number; write jnp.sum(...) or jnp.mean(...) of it"
        )


def count_outputs(outputs: Callable[[], Any], doing: str) -> int:
    """The number of outputs; `outputs` makes the outputs of one row.

    Raises
    ------
    ShapeError
        If the network does not take the inputs.
    TypeError
        If the network is not a JAX function.
    """
    try:
        return int(np.prod(jax.eval_shape(outputs).shape))
    except (TypeError, ValueError, LookupError) as error:
        reason = str(error).partition("\n")[0]
        if any(isinstance(e, jax.errors.JAXTypeError) for e in (error, error.__cause__)):
            raise TypeError(
                f"{doing}: the network or one of its activations is not a JAX function; write it "
                f"with functions of jax.numpy, such as jnp.tanh: {reason}"
            ) from error
        raise ShapeError(
            f"{doing}: the network does not take inputs with the shape of a row, or parameters of "
            f"this layout: {reason}; a function is called as function(parameters, row)"
        ) from error


def check_outputs(loss: Loss, activation: str | None, doing: str) -> None:
    """Refuse an activation of the outputs that does not fit the loss.

    Raises
    ------
    ValueError
        If a loss of logits gets another activation than "linear", or a loss of probabilities one
        whose values are not between 0 and 1. Unknown activations (None) are not refused.
    """
    if activation is None:
        return
    if loss.outputs == "logits" and activation != "linear":
        raise ValueError(
            f"{doing}: the loss {loss.name} takes outputs before an activation, but the network's "
            f"output_activation is {activation!r}; write output_activation='linear'"
        )
    if loss.outputs == "probabilities" and activation != "sigmoid":
        raise ValueError(
            f"{doing}: the loss {loss.name} needs outputs between 0 and 1, but the network's "
            f"output_activation is {activation!r}; write output_activation='sigmoid', or take the "
            "loss 'sigmoid_cross_entropy', which takes outputs before an activation"
        )
