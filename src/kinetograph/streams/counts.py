"""Draws of counts beyond the common ones, one method a distribution."""

from typing import Any

from ..distributions.beta_binomial import BETA_BINOMIAL
from ..distributions.dirichlet_multinomial import DIRICHLET_MULTINOMIAL
from ..distributions.discrete_uniform import DISCRETE_UNIFORM
from ..distributions.geometric import GEOMETRIC
from ..distributions.hurdle_negative_binomial import (
    HURDLE_NEGATIVE_BINOMIAL,
    HURDLE_NEGATIVE_BINOMIAL_MEAN,
)
from ..distributions.hurdle_poisson import HURDLE_POISSON
from ..distributions.hypergeometric import HYPERGEOMETRIC
from ..distributions.multinomial import MULTINOMIAL
from ..distributions.negative_binomial import two_of
from ..distributions.ordered_logistic import ORDERED_LOGISTIC
from ..distributions.ordered_probit import ORDERED_PROBIT
from ..distributions.zero_inflated_negative_binomial import (
    ZERO_INFLATED_NEGATIVE_BINOMIAL,
    ZERO_INFLATED_NEGATIVE_BINOMIAL_MEAN,
)
from ..distributions.zero_inflated_poisson import ZERO_INFLATED_POISSON
from ..graph.array import Array, ArrayLike
from .one_draw import OneDraw

__all__ = ["CountDraws"]


class CountDraws(OneDraw):
    """Draws of counts: waiting times, draws without replacement, more or fewer zeros."""

    def geometric(
        self,
        prob: ArrayLike,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
    ) -> Array:
        """How many trials fail before the first one that succeeds."""
        return self._draw(GEOMETRIC, (prob,), shape, name, like=like)

    def discrete_uniform(
        self,
        min: ArrayLike,
        max: ArrayLike,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
    ) -> Array:
        """Whole numbers min, ..., max, all equally likely."""
        return self._draw(DISCRETE_UNIFORM, (min, max), shape, name, like=like)

    def beta_binomial(
        self,
        size: ArrayLike,
        alpha: ArrayLike,
        beta: ArrayLike,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
    ) -> Array:
        """How many of `size` trials succeed, with a beta number as their probability."""
        return self._draw(BETA_BINOMIAL, (size, alpha, beta), shape, name, like=like)

    def hypergeometric(
        self,
        m: ArrayLike,
        n: ArrayLike,
        k: ArrayLike,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
    ) -> Array:
        """How many of `k` drawn without replacement are among the `m`, not among the `n`."""
        return self._draw(HYPERGEOMETRIC, (m, n, k), shape, name, like=like)

    def zero_inflated_poisson(
        self,
        zero: ArrayLike,
        rate: ArrayLike,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
    ) -> Array:
        """Poisson numbers, of which a share `zero` is replaced by 0."""
        return self._draw(ZERO_INFLATED_POISSON, (zero, rate), shape, name, like=like)

    def zero_inflated_negative_binomial(
        self,
        zero: ArrayLike,
        size: ArrayLike | None = None,
        prob: ArrayLike | None = None,
        shape: Any = None,
        *,
        mean: ArrayLike | None = None,
        log_mean: ArrayLike | None = None,
        dispersion: ArrayLike | None = None,
        name: str | None = None,
        like: Any = None,
    ) -> Array:
        """Negative binomial numbers, of which a share `zero` is replaced by 0.

        By the parameters of `negative_binomial`.
        """
        given = "zero_inflated_negative_binomial", size, prob, mean, log_mean, dispersion
        by_mean, parameters = two_of(*given)
        family = (
            ZERO_INFLATED_NEGATIVE_BINOMIAL_MEAN if by_mean else ZERO_INFLATED_NEGATIVE_BINOMIAL
        )
        return self._draw(family, (zero, *parameters), shape, name, like=like)

    def hurdle_poisson(
        self,
        zero: ArrayLike,
        rate: ArrayLike,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
    ) -> Array:
        """A share `zero` of 0, and Poisson numbers that are not 0."""
        return self._draw(HURDLE_POISSON, (zero, rate), shape, name, like=like)

    def hurdle_negative_binomial(
        self,
        zero: ArrayLike,
        size: ArrayLike | None = None,
        prob: ArrayLike | None = None,
        shape: Any = None,
        *,
        mean: ArrayLike | None = None,
        log_mean: ArrayLike | None = None,
        dispersion: ArrayLike | None = None,
        name: str | None = None,
        like: Any = None,
    ) -> Array:
        """A share `zero` of 0, and negative binomial numbers that are not 0.

        By the parameters of `negative_binomial`.
        """
        given = "hurdle_negative_binomial", size, prob, mean, log_mean, dispersion
        by_mean, parameters = two_of(*given)
        family = HURDLE_NEGATIVE_BINOMIAL_MEAN if by_mean else HURDLE_NEGATIVE_BINOMIAL
        return self._draw(family, (zero, *parameters), shape, name, like=like)

    def multinomial(
        self,
        size: ArrayLike,
        prob: ArrayLike,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
    ) -> Array:
        """How often classes occur in `size` trials, by the weights in the last axis."""
        return self._draw(MULTINOMIAL, (size, prob), shape, name, like=like)

    def dirichlet_multinomial(
        self,
        size: ArrayLike,
        alpha: ArrayLike,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
    ) -> Array:
        """How often classes occur whose probabilities are a Dirichlet vector."""
        return self._draw(DIRICHLET_MULTINOMIAL, (size, alpha), shape, name, like=like)

    def ordered_logistic(
        self,
        eta: ArrayLike,
        cutpoints: ArrayLike,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
    ) -> Array:
        """How many of the cutpoints a logistic number around `eta` exceeds."""
        return self._draw(ORDERED_LOGISTIC, (eta, cutpoints), shape, name, like=like)

    def ordered_probit(
        self,
        eta: ArrayLike,
        cutpoints: ArrayLike,
        shape: Any = None,
        *,
        name: str | None = None,
        like: Any = None,
    ) -> Array:
        """How many of the cutpoints a normal number around `eta` exceeds."""
        return self._draw(ORDERED_PROBIT, (eta, cutpoints), shape, name, like=like)
