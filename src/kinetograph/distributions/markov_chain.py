"""Markov chains on whole numbers."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..bits.source import Source
from ..graph.errors import ShapeError
from ..graph.messages import describe
from ..graph.node import Node
from ..graph.source import place_text
from ..graph.value_texts import shown
from .categorical import of_shares
from .count_numbers import counts
from .declaration import Chosen, declared
from .family import Family
from .generator import WHOLE
from .moments import Moments
from .numbers import reals
from .parameter import Parameter
from .support import Simplex, Support, WholeNumbers

__all__ = ["MARKOV_CHAIN", "draw", "log_steps", "markov_chain"]


def log_steps(initial: Any, transition: Any) -> tuple[Any, Any]:
    """The logarithms of both parameters.

    A probability of 0 has the logarithm -inf without a derivative.
    """
    both = []
    for p in (initial, transition):
        some = p > 0
        both.append(jnp.where(some, jnp.log(jnp.where(some, p, 1.0)), -jnp.inf))
    return both[0], both[1]


def _terms(x: Any, initial: Any, transition: Any) -> tuple[Any, ...]:
    states = initial.shape[-1]
    at = jnp.clip(x, 0, states - 1).astype(np.int64)
    batch = at.shape[:-1]
    log_first, log_next = log_steps(initial, transition)
    log_first = jnp.broadcast_to(log_first, (*batch, states))
    log_next = jnp.broadcast_to(log_next, (*batch, states, states))
    first = jnp.take_along_axis(log_first, at[..., :1], -1)[..., 0]
    rows = jnp.take_along_axis(log_next, at[..., :-1, None], -2)
    steps = jnp.take_along_axis(rows, at[..., 1:, None], -1)[..., 0]
    return first, jnp.sum(steps, -1)


def _support(initial: Node, transition: Node) -> Support:
    return WholeNumbers(0, initial.shape[-1] - 1)


def _check(initial: Node, transition: Node) -> None:
    states = initial.shape[-1]
    if transition.shape[-2:] != (states, states):
        raise ShapeError(
            f"markov_chain: transition {describe(transition)} must have {states} rows and columns, "
            f"as initial {describe(initial)} has {states} states, got shape {transition.shape}"
            f"{place_text()}"
        )


def draw(source: Source, initial: Any, transition: Any) -> Any:
    """Each state by the cumulated row of the one before."""
    initial, transition = reals(source, initial, transition)
    batch = source.shape[:-1]
    states = initial.shape[-1]
    u = jnp.moveaxis(source.uniform(), -1, 0)
    initial = jnp.broadcast_to(initial, (*batch, states))
    transition = jnp.broadcast_to(transition, (*batch, states, states))

    def state(row: Any, u: Any) -> Any:
        bounds = jnp.cumsum(row, -1)
        passed = u[..., None] * bounds[..., -1:] >= bounds[..., :-1]
        return jnp.sum(passed, -1)

    def step(before: Any, u: Any) -> Any:
        row = jnp.take_along_axis(transition, before[..., None, None], -2)[..., 0, :]
        after = state(row, u)
        return after, after

    first = state(initial, u[0])
    _, rest = lax.scan(step, first, u[1:])
    passed = jnp.moveaxis(jnp.concatenate([first[None], rest]), 0, -1)
    valid = jnp.all(initial >= 0, -1) & jnp.all(transition >= 0, (-2, -1))
    return counts(valid[..., None], passed)


def _moments(initial: Any, transition: Any, event: tuple[int, ...]) -> Moments:
    """The mean and the variance of the states, as numbers."""

    def step(share: Any, _: Any) -> Any:
        return (share[..., None, :] @ transition)[..., 0, :], share

    batch = jnp.broadcast_shapes(initial.shape[:-1], transition.shape[:-2])
    initial = jnp.broadcast_to(initial, (*batch, initial.shape[-1]))
    _, shares = lax.scan(step, initial, None, event[0])
    mean, variance = of_shares(shares)
    return jnp.moveaxis(mean, 0, -1), jnp.moveaxis(variance, 0, -1)


MARKOV_CHAIN = Family(
    "markov_chain",
    (
        Parameter("initial", Simplex(), event_ndim=1),
        Parameter("transition", Simplex(), event_ndim=2),
    ),
    _terms,
    _support,
    event_ndim=1,
    dtype=WHOLE,
    check=_check,
    draw=draw,
    moments=_moments,
)


@declared(
    MARKOV_CHAIN,
    aliases={"": "discretehmm discretemarkovchain hiddenmarkovmodel hmmmarginal"},
)
def markov_chain(initial: Any, transition: Any, length: int) -> Chosen:
    """The path of a Markov chain through numbered states.

        log p(z) = log initial[z_1] + sum_t log transition[z_(t - 1), z_t]

    As an unknown it is marginalised by the forward algorithm: a hidden Markov model.

    Parameters
    ----------
    initial
        Probabilities of the first state, (..., K), of sum 1.
    transition
        (..., K, K): row i has the probabilities of the state after i.
    length
        The number of states.
    shape, dims, name
        Shape of the whole (default: the parameters' batch and `length`), names of its axes, name in
        the results.

    Raises
    ------
    ValueError
        If probabilities are known not to be some.
    ShapeError
        If the parameters do not fit together.

    Examples
    --------
    >>> import kinetograph as kg
    >>> stay = kg.beta([9.0, 9.0], 1.0, name="stay")
    >>> moves = kg.stack([[stay[0], 1 - stay[0]], [1 - stay[1], stay[1]]])
    >>> z = kg.markov_chain([0.5, 0.5], moves, 4, name="z")
    >>> y = kg.observe([-1.1, -0.8, 2.3, 1.9], kg.normal(kg.data([-1.0, 2.0])[z], 1))
    >>> kg.model(stay).free_size
    2
    """
    if isinstance(length, bool) or not isinstance(length, (int, np.integer)) or length < 1:
        raise TypeError(
            f"markov_chain: length must be a whole number above 0, got {shown(length)}"
            f"{place_text()}"
        )
    return Chosen(MARKOV_CHAIN, (initial, transition), (int(length),))
