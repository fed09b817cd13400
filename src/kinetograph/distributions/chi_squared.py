"""The chi-squared distribution."""

from typing import Any

from ..bits.source import Source
from .declaration import declared
from .family import Family
from .gamma import draw as draw_gamma
from .gamma import log_gamma_tails_of
from .gamma import quantile as gamma_quantile
from .gamma import small_terms as gamma_small_terms
from .gamma import terms as gamma_terms
from .moments import Moments
from .parameter import positive
from .support import POSITIVE, powers
from .tails import Tails, above_zero

__all__ = ["chi_squared", "draw"]


def _terms(x: Any, df: Any, log_x: Any = None) -> tuple[Any, ...]:
    return gamma_terms(x, 0.5 * df, 0.5, log_x=log_x)


def _small_terms(x: Any, df: Any, log_x: Any = None) -> tuple[Any, ...]:
    return gamma_small_terms(x, 0.5 * df, 0.5, log_x=log_x)


def draw(source: Source, df: Any) -> Any:
    """Draw twice a gamma number of shape df / 2."""
    return draw_gamma(source, 0.5 * df, 0.5)


@above_zero
def _tails(x: Any, df: Any) -> Tails:
    return log_gamma_tails_of(0.5 * x, 0.5 * df)


def _quantile(log_below: Any, log_above: Any, df: Any) -> Any:
    return gamma_quantile(log_below, log_above, 0.5 * df, 0.5)


def _moments(df: Any) -> Moments:
    return df, 2.0 * df


CHI_SQUARED = Family(
    "chi_squared",
    (positive("df"),),
    _terms,
    lambda df: powers(POSITIVE, df, one=2),
    forms={"x": (("log",),)},
    small_terms=_small_terms,
    sizes=("df",),
    draw=draw,
    tails=_tails,
    quantile=_quantile,
    moments=_moments,
)


@declared(
    CHI_SQUARED,
    draws="Chi-squared numbers, with mean `df`.",
    scipy="chi2",
    aliases={"": "chi2 chisquare"},
    same={"df": "nu"},
)
def chi_squared(df: Any):
    """A positive unknown that follows a chi-squared distribution.

    It is the gamma distribution gamma(df / 2, 1 / 2).

        log p(x) = (df / 2 - 1) log(x) - x / 2 - df / 2 log(2) - log Gamma(df / 2),  x > 0

    Parameters
    ----------
    df
        Degrees of freedom, above zero; the mean.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.chi_squared(4, name="x")
    """
