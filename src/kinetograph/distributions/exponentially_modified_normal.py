"""The exponentially modified normal distribution: a normal plus an exponential number."""

from typing import Any

import jax.numpy as jnp

from ..bits.source import Source
from ..graph.numerics.gaussian import erfcx, log_ndtr
from ..graph.numerics.special import divide
from .declaration import declared
from .family import Family
from .inversion import LINE, continuous_quantile
from .moments import Moments
from .numbers import nan_unless, possible, reals
from .parameter import Parameter, positive, spread
from .tails import Tails, log_of_one

__all__ = ["draw", "exponentially_modified_normal"]

LOG_2 = 0.6931471805599453
ROOT_HALF = 0.7071067811865476


def _log_share(z: Any, ratio: Any) -> Any:
    """The logarithm of the exponential part of P(Z > z).

    It is exp(ratio**2 / 2 - ratio z) P(N <= z - ratio) with a normal N. Where the first factor is
    huge and the second tiny, it is computed by Mills' ratio.
    """
    gap = ratio - z
    low = gap > 0
    scaled = jnp.log(erfcx(jnp.where(low, gap, 1.0) * ROOT_HALF)) - LOG_2 - 0.5 * z * z
    plain = ratio * (0.5 * ratio - z) + log_ndtr(jnp.where(low, 1.0, -gap))
    return jnp.where(low, scaled, plain)


def _terms(x: Any, mean: Any, sd: Any, rate: Any) -> tuple[Any, ...]:
    return _log_share(divide(x - mean, sd), rate * sd), jnp.log(rate)


def draw(source: Source, mean: Any, sd: Any, rate: Any) -> Any:
    """Draw mean + sd z + e / rate.

    The number z is standard normal and e is standard exponential.
    """
    mean, sd, rate = reals(source, mean, sd, rate)
    z, u = source.normal_and_uniform()
    valid = possible(mean, sd) & (rate > 0) & jnp.isfinite(rate)
    return nan_unless(valid, mean + sd * z - jnp.log1p(-u) / rate)


def _standard_tails(z: Any, ratio: Any) -> Tails:
    share = _log_share(z, ratio)
    above = jnp.logaddexp(log_ndtr(-z), share)
    left = z < 0
    near = jnp.where(left, -z, 1.0)
    scaled = erfcx(near * ROOT_HALF) - erfcx((near + ratio) * ROOT_HALF)
    below = jnp.log(0.5 * scaled) - 0.5 * near * near
    below = jnp.where(left, below, log_of_one(log_ndtr(z), share))
    return jnp.minimum(below, 0.0), jnp.minimum(above, 0.0)


def _tails(x: Any, mean: Any, sd: Any, rate: Any) -> Tails:
    return _standard_tails((x - mean) / sd, rate * sd)


def _quantile(log_below: Any, log_above: Any, mean: Any, sd: Any, rate: Any) -> Any:
    ratio = rate * sd
    return mean + sd * continuous_quantile(_standard_tails, LINE, log_below, log_above, ratio)


def _moments(mean: Any, sd: Any, rate: Any) -> Moments:
    return mean + 1.0 / rate, sd * sd + 1.0 / rate**2


EXPONENTIALLY_MODIFIED_NORMAL = Family(
    "exponentially_modified_normal",
    (Parameter("mean"), spread("sd"), positive("rate")),
    _terms,
    draw=draw,
    tails=_tails,
    quantile=_quantile,
    moments=_moments,
)


@declared(
    EXPONENTIALLY_MODIFIED_NORMAL,
    draws="The sums of normal and of exponential numbers.",
    aliases={"": "emg exgaussian expmodnormal"},
    advice={"nu": "give rate=1 / nu"},
    same={"mean": "loc mu", "sd": "scale sigma", "rate": "lam"},
)
def exponentially_modified_normal(mean: Any = 0.0, sd: Any = 1.0, rate: Any = 1.0):
    """The sum of a normal unknown and an independent exponential one.

        log p(x) = log(rate) + ratio**2 / 2 - ratio z + log iprobit(z - ratio),
        z = (x - mean) / sd, ratio = rate sd

    Parameters
    ----------
    mean, sd
        Mean and standard deviation (above zero) of the normal part.
    rate
        Rate of the exponential part, above zero; the mean of the sum is mean + 1 / rate.

    Examples
    --------
    >>> import kinetograph as kg
    >>> time = kg.exponentially_modified_normal(0.4, 0.05, 8, name="time")
    """
