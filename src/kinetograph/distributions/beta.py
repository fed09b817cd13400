"""The beta distribution."""

from typing import Any

from jax.scipy.special import gammaln, xlog1py, xlogy

from ..graph.array import Array
from .family import Family, distribute, positive
from .support import UNIT

__all__ = ["beta"]


def _terms(x: Any, shape1: Any, shape2: Any) -> tuple[Any, ...]:
    # Not JAX's betaln: its relative error reaches 1e-6 where an argument exceeds 8.
    constant = gammaln(shape1 + shape2) - gammaln(shape1) - gammaln(shape2)
    return xlogy(shape1 - 1.0, x) + xlog1py(shape2 - 1.0, -x), constant


BETA = Family("beta", (positive("shape1"), positive("shape2")), _terms, lambda shape1, shape2: UNIT)


def beta(
    shape1: Any, shape2: Any, *, shape: Any = None, dims: Any = None, name: str | None = None
) -> Array:
    """An unknown between 0 and 1 that follows a beta distribution.

        log p(x) = (shape1 - 1) log(x) + (shape2 - 1) log(1 - x) - log B(shape1, shape2)

    Parameters
    ----------
    shape1, shape2
        Both above zero; the mean is shape1 / (shape1 + shape2).
    shape, dims, name
        Shape of the unknown (default: the parameters'), names of its axes, name in the results.

    Raises
    ------
    ValueError
        If a parameter is known and not positive.
    ShapeError
        If parameters and shape do not fit together.

    Examples
    --------
    >>> import kinetograph as kg
    >>> p = kg.beta(2, 2, name="p")
    """
    return distribute(BETA, (shape1, shape2), shape=shape, dims=dims, name=name)
