"""Mixtures of distributions: a number follows one of several, with unknown membership.

    log p(x) = log sum_k w_k p_k(x),   sum_k w_k = 1

The components of `mixture_of` are along the last axis of the parameters of one family. The
components of `mixture` are separate families, or one family whose parameters do not form an array.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..bits.source import Source
from ..graph.lower import Environment, evaluate
from ..graph.node import Node, Placeholder
from ..graph.numerics.log_sums import logsumexp
from .family import Family
from .moments import Moments
from .parameter import Parameter
from .support import AnyOf, Interval, Support, Weights, WholeNumbers
from .tails import Tails

__all__ = [
    "Mixture",
    "split_parts",
    "log_shares",
    "mixture",
    "mixture_apart",
    "mixture_of",
    "same_support",
]

WEIGHTS = Parameter("weights", Weights(), event_ndim=1)


@dataclass(frozen=True, eq=False, kw_only=True)
class Mixture(Family):
    """A mixture of families; the weights are its first parameter."""

    parts: tuple[Family, ...]

    def expression(self, parameters: list[str]) -> str:
        weights, *rest = parameters
        texts = []
        for part in self.parts:
            part_texts, rest = rest[: len(part.parameters)], rest[len(part.parameters) :]
            texts.append(part.expression(part_texts))
        return f"mixture({', '.join(texts)}, weights={weights})"


@cache
def mixture(*parts: Family) -> Mixture:
    """The family of a number that follows one of the parts."""
    parameters = [WEIGHTS]
    for k, part in enumerate(parts):
        parameters += [
            Parameter(f"{p.name}_{k}", p.support, p.event_ndim, p.integer, p.drawn)
            for p in part.parameters
        ]
    first = parts[0]
    return Mixture(
        name="mixture",
        key=f"mixture({', '.join(part.key for part in parts)})",
        parameters=tuple(parameters),
        terms=partial(_terms, parts),
        support=partial(_first_support, parts),
        event_ndim=first.event_ndim,
        event_shape=lambda weights, *shapes: first.event_shape(*shapes[: len(first.parameters)]),
        dtype=first.dtype,
        atom=first.atom,
        forms=_forms(parts),
        check=partial(_check, parts),
        draw=partial(_draw, parts) if all(p.draw for p in parts) else None,
        tails=partial(_tails, parts) if all(p.tails for p in parts) else None,
        moments=partial(_moments, parts) if all(p.moments for p in parts) else None,
        parts=parts,
    )


@cache
def mixture_apart(*parts: Family) -> Mixture:
    """The mixture of parts with different supports.

    Each part has density 0 outside its support.
    """
    return replace(
        mixture(*(_bounded(part) for part in parts)),
        key=f"mixture_apart({', '.join(part.key for part in parts)})",
        support=partial(_any_support, parts),
        parts=parts,
    )


@cache
def mixture_of(part: Family) -> Mixture:
    """The mixture whose components are along the last axis of the parameters."""
    inner = [
        Parameter(p.name, p.support, p.event_ndim + 1, p.integer, p.drawn) for p in part.parameters
    ]
    forms = {name: choices for name, choices in part.forms.items() if name != "x"}
    return Mixture(
        name="mixture",
        key=f"mixture_of({part.key})",
        parameters=(WEIGHTS, *inner),
        terms=partial(_array_terms, part),
        support=lambda weights, *nodes: _of_one(part.support(*nodes)),
        event_ndim=part.event_ndim,
        event_shape=lambda weights, *shapes: part.event_shape(*shapes),
        dtype=part.dtype,
        atom=part.atom,
        forms=forms | {"weights": (("log",),)},
        check=None if part.check is None else lambda weights, *nodes: part.check(*nodes),  # type: ignore[misc]
        draw=partial(_array_draw, part) if part.draw else None,
        tails=partial(_array_tails, part) if part.tails else None,
        moments=partial(_array_moments, part) if part.moments else None,
        parts=(part,),
    )


def same_support(one: Support, other: Support) -> bool:
    """Whether two supports are known to be the same."""
    if type(one) is not type(other):
        return False
    if not isinstance(one, (Interval, WholeNumbers)):
        return True
    ends = ((getattr(one, side), getattr(other, side)) for side in ("lower", "upper"))
    return all(
        a is b if isinstance(a, Node) or isinstance(b, Node) else np.array_equal(a, b)
        for a, b in ends
    )


def _any_support(parts: tuple[Family, ...], weights: Node, *rest: Node) -> Support:
    return AnyOf(tuple(part.support(*arguments) for _, part, arguments in split_parts(parts, rest)))


@cache
def _bounded(part: Family) -> Family:
    """A part whose density and tails are defined outside its support."""

    def terms(x: Any, *parameters: Any, **forms: Any) -> tuple[Any, ...]:
        finite = jnp.isfinite(x)  # the density at infinity is 0
        inside, _, within = _within(part, jnp.where(finite, x, 0), parameters)
        density = part.guarded_log_density(within, *parameters, **forms)
        return (jnp.where(inside & finite, density, -jnp.inf),)

    def tails(x: Any, *parameters: Any) -> Tails:
        inside, beyond, within = _within(part, x, parameters)
        below, above = part.log_tails(within, *parameters)
        nothing, all_of_it = (jnp.where(side, 0.0, -jnp.inf) for side in (beyond, ~beyond))
        return jnp.where(inside, below, nothing), jnp.where(inside, above, all_of_it)

    bounded = replace(part, terms=terms, small_terms=None, total=None)
    return bounded if part.tails is None else replace(bounded, tails=tails)


def _within(part: Family, x: Any, parameters: Sequence[Any]) -> tuple[Any, Any, Any]:
    """Whether x is inside the support of a part, and above it.

    The third result is x with the numbers outside replaced by one inside.
    """
    nodes = [Placeholder((), jnp.shape(p), jnp.asarray(p).dtype) for p in parameters]
    support: Any = part.support(*nodes)
    environment: Environment = dict(zip(nodes, parameters, strict=True))
    bounds = (support.lower, support.upper)
    low, high = (evaluate([b], environment)[b] if isinstance(b, Node) else b for b in bounds)
    inside, beyond = (x >= low) & (x <= high), x > high
    below, above = jnp.isfinite(low), jnp.isfinite(high)
    if part.discrete:
        end = jnp.where(below, low, jnp.where(above, high, 0))
        return inside, beyond, jnp.where(inside, x, end)
    end = jnp.where(below, low + 1.0, jnp.where(above, high - 1.0, 0.0))
    end = jnp.where(below & above, 0.5 * (low + high), end)
    return inside, beyond, jnp.where(inside, x, end)


def log_shares(family: Mixture, x: Any, *parameters: Any, **forms: Any) -> Any:
    """Each log w_k + log p_k(x), with k along the last axis."""
    weights, *rest = parameters
    log_weights = _log_weights(weights, forms.pop("log_weights", None))
    if family.key.startswith("mixture_of"):
        return log_weights + _array_densities(family.parts[0], x, rest, forms)
    parts = family.parts
    if family.key.startswith("mixture_apart"):
        parts = tuple(map(_bounded, parts))
    return log_weights + _densities(parts, x, rest, forms)


def _log_weights(weights: Any, log_weights: Any = None) -> Any:
    if log_weights is None:
        positive = weights > 0
        log_weights = jnp.where(positive, jnp.log(jnp.where(positive, weights, 1.0)), -jnp.inf)
    return log_weights - jax.nn.logsumexp(log_weights, -1, keepdims=True)


def split_parts(parts: tuple[Family, ...], rest: Any) -> list[tuple[int, Family, list[Any]]]:
    """Each part with its index and its parameters."""
    split, start = [], 0
    for k, part in enumerate(parts):
        end = start + len(part.parameters)
        split.append((k, part, list(rest[start:end])))
        start = end
    return split


def _forms(parts: tuple[Family, ...]) -> dict[str, Any]:
    forms: dict[str, Any] = {"weights": (("log",),)}
    for k, part in enumerate(parts):
        forms |= {f"{name}_{k}": kinds for name, kinds in part.forms.items() if name != "x"}
    return forms


def _density(part: Family, x: Any, *parameters: Any, **forms: Any) -> Any:
    """The log density of a part, which may be -inf."""
    log_density = part.guarded_log_density if part.discrete else part.log_density
    return log_density(x, *parameters, **forms)


def _densities(parts: tuple[Family, ...], x: Any, rest: Any, forms: dict[str, Any]) -> Any:
    densities = []
    for k, part, arguments in split_parts(parts, rest):
        part_forms = {key[: -len(f"_{k}")]: f for key, f in forms.items() if key.endswith(f"_{k}")}
        densities.append(_density(part, x, *arguments, **part_forms))
    return jnp.stack(jnp.broadcast_arrays(*densities), -1)


def _array_densities(part: Family, x: Any, rest: Any, forms: dict[str, Any]) -> Any:
    return _density(part, jnp.expand_dims(x, -1 - part.event_ndim), *rest, **forms)


def _sum(log_terms: Any) -> Any:
    """The log-sum-exp over the last axis, without derivatives of zero densities."""
    return logsumexp(jnp.where(log_terms == -jnp.inf, -jnp.inf, log_terms), -1)


def _terms(
    parts: tuple[Family, ...], x: Any, weights: Any, *rest: Any, **forms: Any
) -> tuple[Any, ...]:
    log_weights = _log_weights(weights, forms.pop("log_weights", None))
    return (_sum(log_weights + _densities(parts, x, rest, forms)),)


def _array_terms(part: Family, x: Any, weights: Any, *rest: Any, **forms: Any) -> tuple[Any, ...]:
    log_weights = _log_weights(weights, forms.pop("log_weights", None))
    return (_sum(log_weights + _array_densities(part, x, rest, forms)),)


def _tails(parts: tuple[Family, ...], x: Any, weights: Any, *rest: Any) -> Tails:
    each = [part.log_tails(x, *arguments) for _, part, arguments in split_parts(parts, rest)]
    below, above = (jnp.stack(jnp.broadcast_arrays(*side), -1) for side in zip(*each, strict=True))
    return _sum(_log_weights(weights) + below), _sum(_log_weights(weights) + above)


def _array_tails(part: Family, x: Any, weights: Any, *rest: Any) -> Tails:
    below, above = part.log_tails(x[..., None], *rest)
    return _sum(_log_weights(weights) + below), _sum(_log_weights(weights) + above)


def _moments_over(weights: Any, event_ndim: int, mean: Any, variance: Any) -> Moments:
    """The moments of a mixture from the moments of its components.

    The variance is the sum of the variances within and between components.
    """
    shares = jnp.exp(_log_weights(weights))
    shares = jnp.expand_dims(shares, tuple(range(-1 - event_ndim, -1)))
    positive = shares > 0
    centre = jnp.sum(jnp.where(positive, shares * mean, 0.0), -1, keepdims=True)
    distance = jnp.where(jnp.isinf(centre), 0.0, mean - centre)
    spread = jnp.sum(jnp.where(positive, shares * (variance + distance * distance), 0.0), -1)
    return centre[..., 0], spread


def _moments(
    parts: tuple[Family, ...], weights: Any, *rest: Any, event: tuple[int, ...] = ()
) -> Moments:
    each = [
        part.mean_and_variance(event, *arguments) for _, part, arguments in split_parts(parts, rest)
    ]
    both = (jnp.stack(jnp.broadcast_arrays(*one), -1) for one in zip(*each, strict=True))
    return _moments_over(weights, parts[0].event_ndim, *both)


def _array_moments(part: Family, weights: Any, *rest: Any, event: tuple[int, ...] = ()) -> Moments:
    both = jnp.broadcast_arrays(*part.mean_and_variance(event, *rest))
    ndim = part.event_ndim
    return _moments_over(weights, ndim, *(jnp.moveaxis(one, -1 - ndim, -1) for one in both))


def _first_support(parts: tuple[Family, ...], weights: Node, *rest: Node) -> Support:
    return parts[0].support(*rest[: len(parts[0].parameters)])


def _of_one(support: Any) -> Support:
    """The support of a mixture, from that of its components.

    They are along the last axis of the bounds.
    """
    ends: list[Any] = [getattr(support, side, 0.0) for side in ("lower", "upper")]
    if all(isinstance(b, Node) or not np.ndim(b) for b in ends):
        return support  # type: ignore[no-any-return]
    low, high = (b[..., 0] if np.ndim(b) else b for b in ends)
    if isinstance(support, WholeNumbers):
        return WholeNumbers(low, high)
    closed = tuple(np.asarray(e)[..., 0] if np.ndim(e) else e for e in support.edges)
    return Interval(low, high, closed)  # type: ignore[arg-type]


def _check(parts: tuple[Family, ...], weights: Node, *rest: Node) -> None:
    for _, part, arguments in split_parts(parts, rest):
        if part.check is not None:
            part.check(*arguments)


def _chosen(source: Source, event_ndim: int, weights: Any) -> Any:
    """Draw the component of each number, vector or matrix."""
    u = source.uniform()
    u = u[(..., *(0 for _ in range(event_ndim)))] if event_ndim else u
    share = jnp.cumsum(weights, -1)
    return jnp.sum(u[..., None] * share[..., -1:] >= share[..., :-1], -1)


def _draw(parts: tuple[Family, ...], source: Source, weights: Any, *rest: Any) -> Any:
    """Draw from each component and select one draw."""
    ndim = parts[0].event_ndim
    chosen = _chosen(source.part(0), ndim, jnp.asarray(weights, source.dtype))
    chosen = chosen[(..., *(None for _ in range(ndim)))]
    value: Any = None
    for k, part, arguments in split_parts(parts, rest):
        assert part.draw is not None
        drawn = part.draw(source.part(k + 1), *arguments)
        value = drawn if value is None else jnp.where(chosen == k, drawn, value)
    return value


def _array_draw(part: Family, source: Source, weights: Any, *rest: Any) -> Any:
    ndim = part.event_ndim
    weights = jnp.asarray(weights, source.dtype)
    chosen = _chosen(source.part(0), ndim, weights)
    batch = source.shape[: len(source.shape) - ndim]
    event = source.shape[len(source.shape) - ndim :]
    inner = Source(source.part(1).key, (*batch, weights.shape[-1], *event), source.dtype)
    assert part.draw is not None
    drawn = part.draw(inner, *rest)
    index = chosen[(..., *(None for _ in range(ndim + 1)))]
    return jnp.squeeze(jnp.take_along_axis(drawn, index, -1 - ndim), -1 - ndim)
