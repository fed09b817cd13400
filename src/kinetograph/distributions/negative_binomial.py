"""The negative binomial distribution of counts."""

from typing import Any

from jax.scipy.special import gammaln, xlog1py, xlogy

from ..graph.array import Array
from .family import Family, distribute, positive, probability
from .support import NATURALS

__all__ = ["negative_binomial"]


def _terms(x: Any, size: Any, prob: Any) -> tuple[Any, ...]:
    counts = gammaln(x + size) - gammaln(size) - gammaln(x + 1.0)
    return counts + xlogy(size, prob), xlog1py(x, -prob)


NEGATIVE_BINOMIAL = Family(
    "negative_binomial",
    (positive("size"), probability("prob")),
    _terms,
    lambda size, prob: NATURALS,
    discrete=True,
)


def negative_binomial(
    size: Any, prob: Any, *, shape: Any = None, dims: Any = None, name: str | None = None
) -> Array:
    """The number of failures before `size` successes.

        log p(x) = log Gamma(x + size) - log Gamma(size) - log(x!)
                   + size log(prob) + x log(1 - prob),  x = 0, 1, ...

    Parameters
    ----------
    size
        The number of successes, above zero, not necessarily whole.
    prob
        The probability of success in one trial. For counts of mean m: prob = size / (size + m).
    shape, dims, name
        Shape of the counts (default: the parameters'), names of its axes, name in the results.

    Raises
    ------
    ValueError
        If `size` is known and not positive, or `prob` known and not between 0 and 1.

    Examples
    --------
    >>> import kinetograph as kg
    >>> p = kg.beta(1, 1, name="p")
    >>> y = kg.data([3, 0, 7])
    >>> likelihood = kg.observe(y, kg.negative_binomial(2.0, p))
    """
    return distribute(NEGATIVE_BINOMIAL, (size, prob), shape=shape, dims=dims, name=name)
