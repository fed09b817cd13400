"""Families of real numbers in which 0 has a positive probability.

    P(0) = z,   p(x) = (1 - z) f(x) for other x,

with f the density of a base family of positive numbers. The log density is relative to the sum of
a unit mass at 0 and the length: at 0 it is log z.

Source: J. Aitchison, On the distribution of a positive random variable having a discrete
probability mass at the origin, J. American Statistical Association 50 (1955) 901-908.
"""

import math
from functools import partial
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..bits.source import Source
from ..graph.node import Node
from ..graph.numerics.special import log1mexp, logaddexp
from .bounds import small_terms
from .count_numbers import double, uniforms
from .family import Family
from .parameter import probability
from .support import Interval
from .tails import Tails, log_of_one, of_counts
from .zeros import FORMS, chosen, inflated_moments, logs_of, possible

__all__ = ["WITH_ZEROS", "with_zeros"]

# The families that allow 0, by the base family.
WITH_ZEROS: dict[str, str] = {}
_POSITIVE = 0.5  # a number inside the support of each base family


def with_zeros(name: str, base: Family) -> Family:
    """The family of numbers that are 0, or positive numbers of `base`."""
    WITH_ZEROS[base.name] = name
    return Family(
        name,
        (probability("zero"), *base.parameters),
        partial(_terms, base),
        partial(_support, base),
        forms={**FORMS, **{name: kinds for name, kinds in base.forms.items() if name != "x"}},
        **small_terms(base, partial(_terms, base)),
        draw=partial(_draw, base),
        tails=of_counts(partial(_tails, base)),
        quantile=partial(_quantile, base),
        moments=partial(inflated_moments, base),
        atom=0.0,
    )


def _support(base: Family, zero: Node, *parameters: Node) -> Interval:
    """The support of the base family and 0."""
    support = base.support(*parameters)
    assert isinstance(support, Interval)
    return Interval(0.0, support.upper, (np.True_, support.edges[1]))


def _terms(
    base: Family, x: Any, zero: Any, *parameters: Any, small: bool = False, **forms: Any
) -> tuple[Any, ...]:
    logs, none = logs_of(forms), x == 0
    inside = base.still(none, jnp.where(none, _POSITIVE, x), *parameters)
    some = base.log_density(*inside, small=small, **base.still_forms(none, forms))
    return (chosen(none, zero, logs, some),)


def _tails(base: Family, x: Any, zero: Any, *parameters: Any) -> Tails:
    none, log_not = x == 0, jnp.log1p(-zero)
    inside = base.still(none, jnp.where(none, _POSITIVE, x), *parameters)
    below, above = base.log_tails(*inside)
    above = log_not + jnp.where(none, 0.0, above)
    # Each tail is computed from that of the base family which is not rounded.
    low = above > -math.log(2)
    mixed = logaddexp(jnp.log(zero), log_not + jnp.where(none, -jnp.inf, below))
    return jnp.where(low, mixed, log1mexp(jnp.where(low, 1.0, -above))), above


def _quantile(base: Family, log_below: Any, log_above: Any, zero: Any, *parameters: Any) -> Any:
    log_zero, log_not = jnp.log(zero), jnp.log1p(-zero)
    none = jnp.where(log_below <= log_above, log_below <= log_zero, log_above >= log_not)
    below = jnp.where(none, -1.0, log_of_one(log_below, log_zero) - log_not)
    above = jnp.where(none, jnp.log(-jnp.expm1(-1.0)), log_above - log_not)
    assert base.quantile is not None
    value = base.quantile(jnp.minimum(below, 0.0), jnp.minimum(above, 0.0), *parameters)
    return jnp.where(none, 0.0, value)


def _draw(base: Family, source: Source, zero: Any, *parameters: Any) -> Any:
    assert base.draw is not None
    zero = double(zero)
    value = base.draw(source.part(0), *parameters)
    replaced = (uniforms(source)[0] < zero) & ~jnp.isnan(value)
    return jnp.where(possible(zero), jnp.where(replaced, 0.0, value), jnp.nan)
