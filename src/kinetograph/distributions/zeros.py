"""Zero-inflated and hurdle families of counts.

They have more zeros, or fewer, than the base family of counts.

    zero-inflated   P(0) = z + (1 - z) f(0),   P(x) = (1 - z) f(x)
    hurdle          P(0) = z,                  P(x) = (1 - z) f(x) / (1 - f(0)),   x = 1, 2, ...

Sources: D. Lambert, Zero-inflated Poisson regression, Technometrics 34 (1992) 1-14; J. Mullahy,
Specification and testing of some modified count data models, J. Econometrics 33 (1986) 341-365.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import jax.numpy as jnp

from ..bits.source import Source
from ..graph.numerics.special import log1mexp, log_expit, logaddexp
from .count_numbers import double, uniforms
from .family import Family
from .generator import WHOLE
from .inversion import whole_quantile
from .moments import Moments
from .parameter import Parameter, probability
from .support import NATURALS
from .tails import Tails, of_counts

__all__ = ["FORMS", "SHARE", "chosen", "hurdle", "logs_of", "possible", "zero_inflated"]

# Parameters of other libraries, for all families with additional zeros.
SHARE = {"psi": "give zero=1 - psi, where psi is the share of counts"}
# Forms of the share that densities can use.
FORMS = {"zero": (("logit",), ("log", "log1m"))}


def zero_inflated(name: str, base: Family) -> Family:
    """The family of counts of `base` with additional zeros."""
    tails = of_counts(partial(_inflated_tails, base))
    draw = partial(_draw_inflated, base)
    moments = partial(inflated_moments, base)
    return _family(name, base, _inflated, tails, draw, base.parameters, moments)


def hurdle(
    name: str, base: Family, parameters: tuple[Parameter, ...], draw_positive: Callable[..., Any]
) -> Family:
    """The family of counts that are 0 or positive counts of `base`.

    `parameters` replace the parameters of the base; their supports exclude values for which all
    counts are 0.
    """
    tails = of_counts(partial(_hurdle_tails, base))
    draw = partial(_draw_hurdle, draw_positive)
    moments = partial(_hurdle_moments, base)
    return _family(name, base, _hurdle, tails, draw, parameters, moments)


def _family(
    name: str,
    base: Family,
    terms: Callable[..., Any],
    tails: Callable[..., Tails],
    draw: Callable[..., Any],
    parameters: tuple[Parameter, ...],
    moments: Callable[..., Moments],
) -> Family:
    return Family(
        name,
        (probability("zero"), *parameters),
        partial(terms, base.terms),
        lambda *parameters: NATURALS,
        dtype=WHOLE,
        forms={**FORMS, **base.forms},
        small_terms=partial(terms, base.small_terms or base.terms),
        sizes=base.sizes,
        draw=draw,
        tails=tails,
        quantile=partial(whole_quantile, tails),
        moments=moments,
    )


def logs_of(forms: dict[str, Any]) -> tuple[Any, Any] | None:
    """Remove the forms of z and return log z, log(1 - z).

    Returns None if `forms` has no other form of z.
    """
    logit = forms.pop("logit_zero", None)
    logs = forms.pop("log_zero", None), forms.pop("log1m_zero", None)
    if logit is not None:
        return log_expit(logit), log_expit(-logit)
    return None if logs[0] is None else logs


def _reachable(forms: dict[str, Any], where: Any) -> dict[str, Any]:
    """The forms with a limited log rate for selected elements.

    The rate stays finite.

    Then exp(-rate) and its derivatives are 0; with an infinite rate they would be NaN.
    """
    if "log_rate" not in forms:
        return forms
    log_rate = forms["log_rate"]
    most = math.log(float(jnp.finfo(log_rate.dtype).max)) - 1.0
    return {**forms, "log_rate": jnp.where(where, jnp.minimum(log_rate, most), log_rate)}


def _inflated(
    terms: Callable[..., tuple[Any, ...]], x: Any, zero: Any, *parameters: Any, **forms: Any
) -> tuple[Any, ...]:
    logs, none = logs_of(forms), x == 0
    density = sum(terms(x, *parameters, **_reachable(forms, none)))
    if logs is not None:
        counted = logs[1] + density
        return (jnp.where(none, logaddexp(logs[0], counted), counted),)
    counted = jnp.log1p(-jnp.where(none, 0.0, zero)) + density
    high, edge = zero > 0.5, zero == 0
    middle = jnp.where(high | edge, 0.25, zero)
    # log(z + (1 - z) f), by a formula that is accurate and differentiable at z = 1 and z = 0.
    mixed = logaddexp(jnp.log(middle), jnp.log1p(-middle) + density)
    mostly = jnp.log1p(jnp.where(high, 1.0 - zero, 0.5) * jnp.expm1(density))
    hardly = density + jnp.log1p(jnp.where(edge, zero, 0.0) * jnp.expm1(jnp.minimum(-density, 700)))
    mixed = jnp.where(high, mostly, jnp.where(edge, hardly, mixed))
    return (jnp.where(none, mixed, counted),)


def _hurdle(
    terms: Callable[..., tuple[Any, ...]], x: Any, zero: Any, *parameters: Any, **forms: Any
) -> tuple[Any, ...]:
    logs, none = logs_of(forms), x == 0
    density = sum(terms(jnp.where(none, 1.0, x), *parameters, **_reachable(forms, none)))
    forms = _reachable(forms, True)
    of_none = sum(terms(jnp.zeros_like(parameters[0]), *parameters, **forms))
    # Where 1 - f(0) rounds to 0, f(1) replaces it.
    rare = of_none == 0
    of_one = sum(terms(jnp.ones_like(parameters[0]), *parameters, **forms))
    some = density - jnp.where(rare, of_one, log1mexp(jnp.where(rare, 1.0, -of_none)))
    return (chosen(none, zero, logs, some),)


def chosen(none: Any, zero: Any, logs: tuple[Any, Any] | None, some: Any) -> Any:
    """log z where `none`, otherwise log(1 - z) + `some`.

    `logs` are log z and log(1 - z), or None if only z is available.
    """
    if logs is not None:
        return jnp.where(none, logs[0], logs[1] + some)
    log_zero = jnp.log(jnp.where(none, zero, 1.0))
    return jnp.where(none, log_zero, jnp.log1p(-jnp.where(none, 0.0, zero)) + some)


def _inflated_tails(base: Family, x: Any, zero: Any, *parameters: Any) -> Tails:
    below, above = base.log_tails(x, *parameters)
    log_zero, log_not = jnp.log(zero), jnp.log1p(-zero)
    return logaddexp(log_zero, log_not + below), log_not + above


def _hurdle_tails(base: Family, x: Any, zero: Any, *parameters: Any) -> Tails:
    _, above = base.log_tails(x, *parameters)
    _, some = base.log_tails(jnp.zeros_like(x), *parameters)
    left = some - above  # minus the log share above x among the counts that are not 0
    beyond = left > 0
    below = jnp.where(beyond, log1mexp(jnp.where(beyond, left, 1.0)), -jnp.inf)
    log_zero, log_not = jnp.log(zero), jnp.log1p(-zero)
    return logaddexp(log_zero, log_not + below), log_not - left


def inflated_moments(base: Family, zero: Any, *parameters: Any) -> Moments:
    mean, variance = base.mean_and_variance((), *parameters)
    share = 1.0 - zero
    return share * mean, share * (variance + zero * mean * mean)


def _hurdle_moments(base: Family, zero: Any, *parameters: Any) -> Moments:
    mean, variance = base.mean_and_variance((), *parameters)
    _, log_some = base.log_tails(jnp.zeros_like(zero * mean), *parameters)
    some, share = jnp.exp(log_some), 1.0 - zero
    mean = mean / some
    return share * mean, share * (variance / some + mean * mean * (some - share))


def possible(zero: Any) -> Any:
    """Whether each share is a probability."""
    return (zero >= 0) & (zero <= 1)


def _draw_inflated(base: Family, source: Source, zero: Any, *parameters: Any) -> Any:
    assert base.draw is not None
    zero = double(zero)
    count = base.draw(source.part(0), *parameters)
    replaced = (uniforms(source)[0] < zero) & (count >= 0)
    return jnp.where(possible(zero), jnp.where(replaced, 0, count), -1)


def _draw_hurdle(
    draw_positive: Callable[..., Any], source: Source, zero: Any, *parameters: Any
) -> Any:
    zero = double(zero)
    count = draw_positive(source.part(0), *parameters)
    replaced = (uniforms(source)[0] < zero) & (count >= 0)
    return jnp.where(possible(zero), jnp.where(replaced, 0, count), -1)
