"""The chi-squared distribution."""

from typing import Any

from ..bits.source import Source
from ..graph.array import Array
from . import gamma
from .family import Family
from .moments import Moments
from .parameter import positive
from .support import POSITIVE, powers
from .tails import Tails, above_zero
from .variable import distribute

__all__ = ["chi_squared", "draw"]


def _terms(x: Any, df: Any, log_x: Any = None) -> tuple[Any, ...]:
    return gamma.terms(x, 0.5 * df, 0.5, log_x=log_x)


def _small_terms(x: Any, df: Any, log_x: Any = None) -> tuple[Any, ...]:
    return gamma.small_terms(x, 0.5 * df, 0.5, log_x=log_x)


def draw(source: Source, df: Any) -> Any:
    """Twice a gamma number of df / 2."""
    return gamma.draw(source, 0.5 * df, 0.5)


@above_zero
def _tails(x: Any, df: Any) -> Tails:
    return gamma.log_gamma_tails_of(0.5 * x, 0.5 * df)


def _quantile(log_below: Any, log_above: Any, df: Any) -> Any:
    return gamma.quantile(log_below, log_above, 0.5 * df, 0.5)


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


def chi_squared(
    df: Any,
    *,
    shape: Any = None,
    truncation: Any = None,
    censoring: Any = None,
    dims: Any = None,
    name: str | None = None,
) -> Array:
    """A positive unknown that follows a chi-squared distribution: gamma(df / 2, 1 / 2).

        log p(x) = (df / 2 - 1) log(x) - x / 2 - df / 2 log(2) - log Gamma(df / 2),  x > 0

    Parameters
    ----------
    df
        Degrees of freedom, above zero; the mean.
    truncation, censoring
        Pairs of bounds, None where there is none; see `kg.normal`.
    shape, dims, name
        Shape of the unknown (default: the parameters'), names of its axes, name in the results.

    Raises
    ------
    ValueError
        If `df` is known and not positive.
    ShapeError
        If parameters and shape do not fit together.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.chi_squared(4, name="x")
    """
    return distribute(
        CHI_SQUARED,
        (df,),
        shape=shape,
        dims=dims,
        name=name,
        truncation=truncation,
        censoring=censoring,
    )
