"""The autoregressive process of any order."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..bits.source import Source
from ..graph.array import Array
from ..graph.errors import ShapeError
from ..graph.node import Node
from ..graph.numerics.special import divide
from ..graph.operations.operands import as_node
from ..graph.operations.shaping import reshape, stack
from ..graph.source import place_text
from .declaration import Chosen, declared
from .family import Family
from .moments import Moments
from .normal import HALF_LOG_2PI
from .numbers import nan_unless, possible, reals
from .parameter import Parameter, spread
from .zero_sum_normal import length_of

__all__ = ["ar", "draw"]


def _terms(
    x: Any, rho: Any, sd: Any, constant: Any, init_mean: Any, init_sd: Any
) -> tuple[Any, ...]:
    order, length = rho.shape[-1], x.shape[-1]
    first = divide(x[..., :order] - init_mean[..., None], init_sd[..., None])
    # The values from `order` on, each weighted at lag i.
    lags = (x[..., order - i : length - i] * rho[..., i - 1, None] for i in range(1, order + 1))
    innovations = x[..., order:] - constant[..., None] - sum(lags)
    innovations = divide(innovations, sd[..., None])
    value = -0.5 * (jnp.sum(first * first, -1) + jnp.sum(innovations * innovations, -1))
    scale = (length - order) * jnp.log(sd) + length * HALF_LOG_2PI
    return value, -order * jnp.log(init_sd), -scale


def draw(source: Source, rho: Any, sd: Any, constant: Any, init_mean: Any, init_sd: Any) -> Any:
    """Draw the values one after another, each from the values before it."""
    parameters = reals(source, rho, sd, constant, init_mean, init_sd)
    rho, sd, constant, init_mean, init_sd = parameters
    order, batch = rho.shape[-1], source.shape[:-1]
    z = jnp.moveaxis(source.normal(), -1, 0)
    first = jnp.broadcast_to(init_mean + init_sd * z[:order], (order, *batch))
    weights = jnp.moveaxis(rho, -1, 0)[::-1]

    def step(before: Any, z: Any) -> Any:
        value = constant + jnp.sum(weights * before, 0) + sd * z
        return jnp.concatenate([before[1:], value[None]]), value

    weights = jnp.broadcast_to(
        weights.reshape(order, *(1,) * (len(batch) - rho.ndim + 1), *rho.shape[:-1]),
        (order, *batch),
    )
    later = lax.scan(step, first, z[order:])[1]
    value = jnp.moveaxis(jnp.concatenate([first, later]), 0, -1)
    valid = possible(constant, sd) & possible(init_mean, init_sd) & jnp.all(jnp.isfinite(rho), -1)
    return nan_unless(valid[..., None], value)


def _check(rho: Node, *arguments: Node) -> None:
    if not rho.shape[-1]:
        raise ShapeError(
            f"ar: rho needs at least one coefficient, got shape {rho.shape}{place_text()}"
        )


def _moments(
    rho: Any, sd: Any, constant: Any, init_mean: Any, init_sd: Any, event: tuple[int, ...]
) -> Moments:
    """The moments of each value.

    A value is a sum of constants, of the first values and of innovations.
    """
    order, length = rho.shape[-1], event[0]
    batch = jnp.broadcast_shapes(
        rho.shape[:-1], *(p.shape for p in (sd, constant, init_mean, init_sd))
    )

    def full(value: Any) -> Any:
        return jnp.broadcast_to(value, batch)

    # Coefficients of the first values in the latest values, and of an innovation in later values.
    firsts = jnp.broadcast_to(jnp.eye(order, dtype=rho.dtype), (*batch, order, order))
    after = jnp.zeros((*batch, order), rho.dtype).at[..., -1].set(1.0)
    means = full(init_mean)[..., None] * jnp.ones(order, rho.dtype)
    weights = jnp.broadcast_to(rho[..., ::-1], (*batch, order))

    def step(state: Any, _: Any) -> Any:
        means, firsts, after, total = state
        new = full(constant) + jnp.sum(weights * means, -1)
        share = jnp.sum(weights[..., None] * firsts, -2)
        total = total + after[..., -1] ** 2
        variance = full(init_sd) ** 2 * jnp.sum(share * share, -1) + full(sd) ** 2 * total
        carried = (
            jnp.concatenate([means[..., 1:], new[..., None]], -1),
            jnp.concatenate([firsts[..., 1:, :], share[..., None, :]], -2),
            jnp.concatenate([after[..., 1:], jnp.sum(weights * after, -1)[..., None]], -1),
            total,
        )
        return carried, (new, variance)

    start = (means, firsts, after, jnp.zeros(batch, rho.dtype))
    _, (later, spread) = lax.scan(step, start, None, length - order)
    variances = full(init_sd)[..., None] ** 2 * jnp.ones(order, rho.dtype)
    return (
        jnp.concatenate([means, jnp.moveaxis(later, 0, -1)], -1),
        jnp.concatenate([variances, jnp.moveaxis(spread, 0, -1)], -1),
    )


AR = Family(
    "ar",
    (
        Parameter("rho", event_ndim=1),
        spread("sd"),
        Parameter("constant"),
        Parameter("init_mean"),
        spread("init_sd"),
    ),
    _terms,
    event_ndim=1,
    check=_check,
    draw=draw,
    moments=_moments,
)


def _coefficients(rho: Any) -> Any:
    """The coefficients along the last axis, from a number or a list."""
    if isinstance(rho, (list, tuple)) and any(isinstance(each, Array) for each in rho):
        rho = Array(stack([as_node(each, "ar") for each in rho], -1))
    if isinstance(rho, Array):
        return rho if rho.ndim else Array(reshape(rho.node, (1,)))
    return rho if np.ndim(rho) else np.reshape(rho, 1)


def _order_and_length(rho: Any, dim: Any, shape: Any, dims: Any, drawn: bool) -> tuple[int]:
    """The length of the vector, which must exceed the number of coefficients."""
    order = np.shape(rho)[-1]
    return length_of(dim, "ar", order + 1, shape, dims, drawn)


@declared(
    AR,
    draws="Autoregressive processes with coefficients `rho`, along the last axis.",
    aliases={"": "autoregressive"},
    advice={
        "steps": "give dim=, the number of values: steps plus the length of rho",
        "init_dist": "give init_mean= and init_sd= of the first value",
        "ar_order": "the order is the length of rho; leave it out",
    },
    same={"sd": "sigma"},
)
def ar(
    rho: Any,
    sd: Any = 1.0,
    dim: int | None = None,
    *,
    constant: Any = 0.0,
    init_mean: Any = 0.0,
    init_sd: Any = None,
    shape: Any = None,
    dims: Any = None,
    drawn: bool = False,
) -> Chosen:
    """A vector that follows an autoregressive process along the last axis.

        x_t ~ normal(init_mean, init_sd),  t = 1 .. p
        x_t ~ normal(constant + rho_1 x_(t-1) + ... + rho_p x_(t-p), sd),  t = p + 1 .. dim

    Parameters
    ----------
    rho
        The p coefficients along the last axis, in order of increasing lag; a single number is the
        coefficient of a process of order 1.
    sd
        Standard deviation of the innovations, above zero.
    dim
        The number of values, more than p; by default the last length of `shape` or of `dims`.
    constant
        The constant added at every step.
    init_mean, init_sd
        Mean and standard deviation of the first p values; the latter is `sd` if not given.
        For a stationary process of order 1 it is sd / sqrt(1 - rho**2).

    Raises
    ------
    TypeError
        If `constant` is a boolean.
    ShapeError
        If `dim` is not above p, or the length is not known.

    Examples
    --------
    >>> import kinetograph as kg
    >>> rho = kg.uniform(-1, 1, name="rho")
    >>> x = kg.ar(rho, 0.5, 50, name="x")
    >>> x.shape
    (50,)
    """
    rho = _coefficients(rho)
    parameters = (rho, sd, constant, init_mean, sd if init_sd is None else init_sd)
    if isinstance(constant, (bool, np.bool_)):
        hint = (
            ""
            if drawn
            else "; to infer the constant, pass an unknown, as in constant=kg.normal(0, 1)"
        )
        raise TypeError(f"ar: constant is a number, got {constant}{place_text()}{hint}")
    return Chosen(AR, parameters, _order_and_length(rho, dim, shape, dims, drawn))
