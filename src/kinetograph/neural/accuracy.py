"""The accuracy of outputs, by the kind of labels."""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from .losses import Loss

__all__ = ["accuracy_of"]

Rule = Callable[[Any, Any], Any]

_RULES: dict[str, Rule | None] = {
    "signs": lambda z, y: jnp.mean((z > 0) == (y > 0)),
    "binary": lambda z, y: jnp.mean((z > 0) == (y > 0.5)),
    "probabilities": lambda z, y: jnp.mean((z > 0.5) == (y > 0.5)),
    "one-hot": lambda z, y: jnp.argmax(z) == jnp.argmax(y),
    "classes": lambda z, y: jnp.argmax(z) == jnp.reshape(y, ()),
    "counts": None,
}


def accuracy_of(loss: Loss, labels: Any) -> Rule | None:
    """The rule for the share of correct answers at one row.

    It takes outputs and label; a regression, also of counts, has no rule. Labels of -1 and 1 agree
    in sign, one-hot labels and classes in the largest output. A loss of real labels is a loss of
    signs, one-hot rows or numbers 0 and 1 if all of its labels are; outputs above 0.5 then agree
    with 1.
    """
    if loss.labels == "binary" and loss.outputs == "probabilities":
        return _RULES["probabilities"]
    if loss.labels != "real":
        return _RULES[loss.labels]
    values = np.asarray(labels)
    if np.isin(values, (-1, 1)).all():
        return _RULES["signs"]
    if not np.isin(values, (0, 1)).all():
        return None
    one_hot = values.ndim == 2 and values.shape[1] > 1 and (values.sum(1) == 1).all()
    return _RULES["one-hot" if one_hot else "probabilities"]
