"""Draws of positive real numbers beyond gamma and its kin, one method a distribution."""

from typing import Any

from ..distributions.chi_squared import CHI_SQUARED
from ..distributions.f import F
from ..distributions.half_student import HALF_STUDENT
from ..distributions.pareto import PARETO
from ..distributions.wald import WALD
from ..distributions.weibull import WEIBULL
from ..graph.array import Array, ArrayLike
from .one_draw import OneDraw

__all__ = ["PositiveDraws"]


class PositiveDraws(OneDraw):
    """Draws of positive numbers: lifetimes, sizes, scales."""

    def weibull(
        self,
        alpha: ArrayLike,
        scale: ArrayLike = 1.0,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
        dtype: Any = None,
    ) -> Array:
        """scale e**(1 / alpha) of standard exponential numbers e."""
        return self._draw(WEIBULL, (alpha, scale), shape, name, dtype, like)

    def pareto(
        self,
        a: ArrayLike,
        b: ArrayLike = 1.0,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
        dtype: Any = None,
    ) -> Array:
        """Numbers above `b`, of which a share (b / x)**a exceeds x."""
        return self._draw(PARETO, (a, b), shape, name, dtype, like)

    def chi_squared(
        self,
        df: ArrayLike,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
        dtype: Any = None,
    ) -> Array:
        """Chi-squared numbers, with mean `df`."""
        return self._draw(CHI_SQUARED, (df,), shape, name, dtype, like)

    def half_student(
        self,
        df: ArrayLike,
        sigma: ArrayLike = 1.0,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
        dtype: Any = None,
    ) -> Array:
        """sigma |t| of Student's t with `df` degrees of freedom."""
        return self._draw(HALF_STUDENT, (df, sigma), shape, name, dtype, like)

    def f(
        self,
        df1: ArrayLike,
        df2: ArrayLike,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
        dtype: Any = None,
    ) -> Array:
        """Quotients of two chi-squared numbers, each over its degrees of freedom."""
        return self._draw(F, (df1, df2), shape, name, dtype, like)

    def wald(
        self,
        mu: ArrayLike,
        lam: ArrayLike = 1.0,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
        dtype: Any = None,
    ) -> Array:
        """Inverse Gaussian numbers, with mean `mu` and variance mu**3 / lam."""
        return self._draw(WALD, (mu, lam), shape, name, dtype, like)
