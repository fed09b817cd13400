"""The multinomial distribution of counts of classes."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..bits.source import Source
from ..graph.node import Node
from ..graph.numerics.deviance import deviance_of_log, log_peak, weighted_log
from ..graph.numerics.gammas import bd0, gammaln
from .binomial import draw as draw_binomial
from .categorical import check_classes
from .count_numbers import double
from .declaration import declared
from .family import Family
from .generator import WHOLE
from .moments import Moments, sums_of_others
from .parameter import Parameter, whole
from .support import Simplex, Support, Totals, Weights
from .uniform import known_bound

__all__ = ["draw", "multinomial"]


def _support(size: Node, prob: Node) -> Support:
    return Totals(known_bound(size))


def _terms(x: Any, size: Any, prob: Any, log_prob: Any = None) -> tuple[Any, ...]:
    n = size[..., None]
    if log_prob is None:
        cost = bd0(x, n * prob)
    else:
        cost = deviance_of_log(x, jnp.log(jnp.where(n == 0, 1.0, n)) + log_prob)
    return jnp.sum(log_peak(x) - cost, -1), -log_peak(size)


def _small_terms(x: Any, size: Any, prob: Any, log_prob: Any = None) -> tuple[Any, ...]:
    if log_prob is None:
        log_prob = jnp.log(jnp.where(x == 0, 1.0, prob))
    return jnp.sum(weighted_log(x, log_prob) - gammaln(x + 1.0), -1), gammaln(size + 1.0)


def _check(size: Node, prob: Node) -> None:
    check_classes("multinomial", prob)


def draw(source: Source, size: Any, prob: Any) -> Any:
    """Draw the counts class by class.

    A count is binomial: among the remaining trials, with the class's share of the remaining
    probability.
    """
    weights = jnp.broadcast_to(double(prob), source.shape)
    classes, batch = source.shape[-1], source.shape[:-1]
    left = jnp.broadcast_to(jnp.asarray(size).astype(np.int64), batch)
    rest = jnp.cumsum(weights[..., ::-1], -1)[..., ::-1]
    valid = jnp.all(weights >= 0, -1) & (rest[..., 0] > 0) & jnp.isfinite(rest[..., 0])
    valid = valid & (left >= 0)
    share = jnp.where(rest > 0, weights / jnp.where(rest > 0, rest, 1.0), 0.0)
    share = jnp.where(valid[..., None], jnp.clip(share, 0.0, 1.0), 0.0)

    def step(left: Any, of_class: Any) -> Any:
        number, share = of_class
        some = draw_binomial(source.row(number), left, share)
        return left - some, some

    start = jnp.where(valid, left, 0)
    numbers = jnp.arange(classes - 1, dtype=np.uint32)
    before = jnp.moveaxis(share, -1, 0)[: classes - 1]
    left, counts = lax.scan(step, start, (numbers, before))
    counts = jnp.concatenate([jnp.moveaxis(counts, 0, -1), left[..., None]], -1)
    return jnp.where(valid[..., None], counts, -1)


def _moments(size: Any, prob: Any, event: tuple[int, ...]) -> Moments:
    total = jnp.sum(prob, -1, keepdims=True)
    mean = size[..., None] * (prob / total)
    return mean, mean * (sums_of_others(prob) / total)


MULTINOMIAL = Family(
    "multinomial",
    (whole("size"), Parameter("prob", Simplex(), event_ndim=1, drawn=Weights())),
    _terms,
    _support,
    event_ndim=1,
    event_shape=lambda size, prob: prob[-1:],
    check=_check,
    dtype=WHOLE,
    forms={"prob": (("log",),)},
    small_terms=_small_terms,
    sizes=("size",),
    draw=draw,
    moments=_moments,
)


@declared(
    MULTINOMIAL,
    draws="Counts of classes in `size` trials, with weights along the last axis.",
    scipy="multinomial",
    advice={"logits": "give prob=kg.softmax(logits)"},
    same={"size": "n total_count", "prob": "p probs theta"},
)
def multinomial(size: Any, prob: Any):
    """Counts of several classes in `size` independent trials.

        log p(x) = log(size!) - sum log(x!) + sum x log(prob),  sum x = size

    Parameters
    ----------
    size
        The number of trials, a whole number.
    prob
        The probabilities of the classes along the last axis, which add up to 1. If they are a
        result of `kg.softmax`, they are as exact as their logarithms.

    Raises
    ------
    ValueError
        If `size` is not a whole number, or rows of `prob` are known and do not add up to 1.

    Examples
    --------
    >>> import kinetograph as kg
    >>> p = kg.dirichlet([1.0, 1.0, 1.0], name="p")
    >>> likelihood = kg.observe(kg.data([3, 5, 2]), kg.multinomial(10, p))
    """
