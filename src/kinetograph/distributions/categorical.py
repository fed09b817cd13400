"""The categorical distribution, by probabilities or unnormalised log probabilities."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..bits.source import Source
from ..graph.errors import ShapeError
from ..graph.messages import describe
from ..graph.node import Data, Node
from ..graph.source import place_text
from .count_numbers import cumulative, double, uniforms
from .declaration import Chosen, declared
from .family import Family
from .generator import WHOLE
from .moments import Moments, of_labels
from .parameter import Parameter
from .support import Simplex, Support, Weights, WholeNumbers

__all__ = ["categorical", "check_classes", "draw", "draw_by_logit"]


def _pick(x: Any, values: Any) -> Any:
    """Select the value of each label."""
    labels = jnp.asarray(x).astype(int)
    if values.ndim == 1:
        return jnp.take(values, labels, mode="clip")
    batch = jnp.broadcast_shapes(labels.shape, values.shape[:-1])
    labels = jnp.broadcast_to(labels, batch)[..., None]
    table = jnp.broadcast_to(values, (*batch, values.shape[-1]))
    return jnp.take_along_axis(table, labels, axis=-1, mode="clip")[..., 0]


def _prob_terms(x: Any, prob: Any, log_prob: Any = None) -> tuple[Any, ...]:
    # Select before the logarithm: then the other probabilities have no part in the derivative.
    return (jnp.log(_pick(x, prob)) if log_prob is None else _pick(x, log_prob),)


def _logit_terms(x: Any, logit: Any) -> tuple[Any, ...]:
    return (_pick(x, jax.nn.log_softmax(logit, axis=-1)),)


def _support(parameter: Node) -> Support:
    return WholeNumbers(0, parameter.shape[-1] - 1)


def check_classes(name: str, parameter: Node) -> None:
    """Check that a known parameter has a real number for each class.

    Raises
    ------
    ShapeError
        If the last axis is missing or empty.
    ValueError
        If the numbers are known and not real.
    """
    if not parameter.shape or not parameter.shape[-1]:
        raise ShapeError(
            f"{name}: {describe(parameter)} needs a last axis of at least one category, "
            f"got shape {parameter.shape}{place_text()}"
        )
    if isinstance(parameter, Data) and parameter.dtype.kind != "f":
        raise ValueError(f"{name}: {describe(parameter)} must be real numbers")


def _check(parameter: Node) -> None:
    check_classes("categorical", parameter)


def draw(source: Source, prob: Any) -> Any:
    """Draw the first class whose cumulative weight exceeds u times the total."""
    weights = double(prob)
    bounds, valid = cumulative(weights)
    target = uniforms(source)[0] * bounds[..., -1]
    if bounds.ndim == 1:
        index = jnp.searchsorted(bounds, target, side="right")
    else:
        index = jnp.sum(bounds <= target[..., None], axis=-1)
    return jnp.where(valid, jnp.minimum(index, weights.shape[-1] - 1).astype(np.int64), -1)


def draw_by_logit(source: Source, logit: Any) -> Any:
    return draw(source, jax.nn.softmax(double(logit), axis=-1))


def of_shares(prob: Any) -> Moments:
    """The mean and the variance of labels with the given probabilities."""
    below, above = jnp.cumsum(prob, -1), jnp.cumsum(prob[..., ::-1], -1)[..., ::-1]
    total = above[..., :1]
    return of_labels(below[..., :-1] / total, above[..., 1:] / total)


def _moments_by_logit(logit: Any) -> Moments:
    return of_shares(jax.nn.softmax(logit, -1))


CATEGORICAL = Family(
    "categorical",
    (Parameter("prob", Simplex(), event_ndim=1, drawn=Weights()),),
    _prob_terms,
    _support,
    dtype=WHOLE,
    check=_check,
    forms={"prob": (("log",),)},
    draw=draw,
    moments=of_shares,
)
CATEGORICAL_LOGIT = Family(
    "categorical_logit",
    (Parameter("logit", event_ndim=1),),
    _logit_terms,
    _support,
    dtype=WHOLE,
    check=_check,
    draw=draw_by_logit,
    moments=_moments_by_logit,
)


@declared(
    CATEGORICAL,
    aliases={"(logit=...)": "categoricallogit categoricallogits"},
    advice={"theta": "give prob=theta; labels begin at 0, and at 1 in Stan"},
    same={"prob": "p probs", "logit": "logit_p logits"},
)
def categorical(prob: Any = None, *, logit: Any = None) -> Chosen:
    """A label from 0 to K - 1.

        log p(x) = log(prob[x])

    Parameters
    ----------
    prob
        The probabilities along the last axis, which add up to 1.
    logit
        Instead of `prob`: real numbers along the last axis; prob = softmax(logit).
    shape, dims, name
        Shape of the labels (default: that of the parameter without its last axis), names of its
        axes, name in the results.

    Raises
    ------
    ValueError
        If `prob` is known and its rows are not probabilities that add up to 1.
    TypeError
        If not exactly one of `prob` and `logit` is given.

    Examples
    --------
    >>> import kinetograph as kg
    >>> p = kg.dirichlet([1.0, 1.0, 1.0], name="p")
    >>> y = kg.data([0, 2, 2, 1])
    >>> likelihood = kg.observe(y, kg.categorical(p))
    """
    if (prob is None) == (logit is None):
        raise TypeError(f"categorical: give one of prob= and logit={place_text()}")
    family, argument = (CATEGORICAL, prob) if logit is None else (CATEGORICAL_LOGIT, logit)
    return Chosen(family, (argument,))
