"""Draws of real numbers, one method a distribution."""

from typing import Any

import numpy as np

from ..distributions.asymmetric_laplace import ASYMMETRIC_LAPLACE
from ..distributions.beta import BETA
from ..distributions.cauchy import CAUCHY
from ..distributions.exponential import EXPONENTIAL
from ..distributions.exponentially_modified_normal import EXPONENTIALLY_MODIFIED_NORMAL
from ..distributions.gamma import GAMMA
from ..distributions.gumbel import GUMBEL
from ..distributions.half_cauchy import HALF_CAUCHY
from ..distributions.half_normal import HALF_NORMAL
from ..distributions.inverse_gamma import INVERSE_GAMMA
from ..distributions.laplace import LAPLACE
from ..distributions.logistic import LOGISTIC
from ..distributions.lognormal import LOGNORMAL
from ..distributions.normal import NORMAL
from ..distributions.skew_normal import SKEW_NORMAL
from ..distributions.student import STUDENT
from ..distributions.truncated_normal import TRUNCATED_NORMAL
from ..distributions.uniform import UNIFORM
from ..distributions.von_mises import VON_MISES
from ..graph.array import Array, ArrayLike
from .one_draw import OneDraw

__all__ = ["RealDraws"]


class RealDraws(OneDraw):
    """Draws of real numbers, on the whole line and of positive ones."""

    def uniform(
        self,
        min: ArrayLike = 0.0,
        max: ArrayLike = 1.0,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
        dtype: Any = None,
    ) -> Array:
        """Numbers in [min, max), all equally likely."""
        return self._draw(UNIFORM, (min, max), shape, name, dtype, like)

    def normal(
        self,
        mean: ArrayLike = 0.0,
        sd: ArrayLike = 1.0,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
        dtype: Any = None,
    ) -> Array:
        """Normal numbers."""
        return self._draw(NORMAL, (mean, sd), shape, name, dtype, like)

    def truncated_normal(
        self,
        mean: ArrayLike = 0.0,
        sd: ArrayLike = 1.0,
        lower: ArrayLike = -np.inf,
        upper: ArrayLike = np.inf,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
        dtype: Any = None,
    ) -> Array:
        """Normal numbers, given that they lie between `lower` and `upper`."""
        return self._draw(
            TRUNCATED_NORMAL,
            (mean, sd, lower, upper),
            shape,
            name,
            dtype,
            like,
        )

    def student(
        self,
        df: ArrayLike,
        mu: ArrayLike = 0.0,
        sigma: ArrayLike = 1.0,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
        dtype: Any = None,
    ) -> Array:
        """mu + sigma t of Student's t with `df` degrees of freedom."""
        return self._draw(STUDENT, (df, mu, sigma), shape, name, dtype, like)

    def cauchy(
        self,
        location: ArrayLike = 0.0,
        scale: ArrayLike = 1.0,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
        dtype: Any = None,
    ) -> Array:
        """Cauchy numbers with median `location`."""
        return self._draw(CAUCHY, (location, scale), shape, name, dtype, like)

    def laplace(
        self,
        mu: ArrayLike = 0.0,
        sigma: ArrayLike = 1.0,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
        dtype: Any = None,
    ) -> Array:
        """Laplace numbers, with density exp(-|x - mu| / sigma) / (2 sigma)."""
        return self._draw(LAPLACE, (mu, sigma), shape, name, dtype, like)

    def logistic(
        self,
        location: ArrayLike = 0.0,
        scale: ArrayLike = 1.0,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
        dtype: Any = None,
    ) -> Array:
        """Logistic numbers with mean `location`."""
        return self._draw(LOGISTIC, (location, scale), shape, name, dtype, like)

    def half_normal(
        self,
        sd: ArrayLike = 1.0,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
        dtype: Any = None,
    ) -> Array:
        """|z| of normal numbers z with mean 0 and standard deviation `sd`."""
        return self._draw(HALF_NORMAL, (sd,), shape, name, dtype, like)

    def half_cauchy(
        self,
        scale: ArrayLike = 1.0,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
        dtype: Any = None,
    ) -> Array:
        """|z| of Cauchy numbers z with median 0; their own median is `scale`."""
        return self._draw(HALF_CAUCHY, (scale,), shape, name, dtype, like)

    def lognormal(
        self,
        meanlog: ArrayLike = 0.0,
        sdlog: ArrayLike = 1.0,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
        dtype: Any = None,
    ) -> Array:
        """exp(z) of normal numbers z with mean `meanlog` and standard deviation `sdlog`."""
        return self._draw(LOGNORMAL, (meanlog, sdlog), shape, name, dtype, like)

    def exponential(
        self,
        rate: ArrayLike = 1.0,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
        dtype: Any = None,
    ) -> Array:
        """Exponential numbers, with mean 1 / rate."""
        return self._draw(EXPONENTIAL, (rate,), shape, name, dtype, like)

    def gamma(
        self,
        alpha: ArrayLike,
        rate: ArrayLike = 1.0,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
        dtype: Any = None,
    ) -> Array:
        """Gamma numbers, with mean alpha / rate."""
        return self._draw(GAMMA, (alpha, rate), shape, name, dtype, like)

    def inverse_gamma(
        self,
        alpha: ArrayLike,
        beta: ArrayLike = 1.0,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
        dtype: Any = None,
    ) -> Array:
        """beta / g of gamma numbers g of alpha; the mean is beta / (alpha - 1)."""
        return self._draw(INVERSE_GAMMA, (alpha, beta), shape, name, dtype, like)

    def beta(
        self,
        shape1: ArrayLike,
        shape2: ArrayLike,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
        dtype: Any = None,
    ) -> Array:
        """Beta numbers, with mean shape1 / (shape1 + shape2)."""
        return self._draw(BETA, (shape1, shape2), shape, name, dtype, like)

    def gumbel(
        self,
        location: ArrayLike = 0.0,
        scale: ArrayLike = 1.0,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
        dtype: Any = None,
    ) -> Array:
        """Gumbel numbers with mode `location`: the largest of many."""
        return self._draw(GUMBEL, (location, scale), shape, name, dtype, like)

    def asymmetric_laplace(
        self,
        mu: ArrayLike = 0.0,
        sigma: ArrayLike = 1.0,
        kappa: ArrayLike = 1.0,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
        dtype: Any = None,
    ) -> Array:
        """mu + sigma e / kappa or mu - sigma e kappa, of exponential numbers e."""
        return self._draw(ASYMMETRIC_LAPLACE, (mu, sigma, kappa), shape, name, dtype, like)

    def skew_normal(
        self,
        location: ArrayLike = 0.0,
        scale: ArrayLike = 1.0,
        alpha: ArrayLike = 0.0,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
        dtype: Any = None,
    ) -> Array:
        """Skew normal numbers, with slant `alpha`."""
        return self._draw(SKEW_NORMAL, (location, scale, alpha), shape, name, dtype, like)

    def von_mises(
        self,
        mu: ArrayLike = 0.0,
        kappa: ArrayLike = 1.0,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
        dtype: Any = None,
    ) -> Array:
        """Angles from -pi to pi around `mu`, the closer the larger `kappa`."""
        return self._draw(VON_MISES, (mu, kappa), shape, name, dtype, like)

    def exponentially_modified_normal(
        self,
        mean: ArrayLike = 0.0,
        sd: ArrayLike = 1.0,
        rate: ArrayLike = 1.0,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
        dtype: Any = None,
    ) -> Array:
        """The sums of normal and of exponential numbers."""
        return self._draw(EXPONENTIALLY_MODIFIED_NORMAL, (mean, sd, rate), shape, name, dtype, like)
