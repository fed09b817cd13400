"""Running averages of observables and of targets of the model."""

from typing import Any, NamedTuple

from ..graph.array import Array
from ..graph.public import public
from .observable import Observable, as_observables, listed

__all__ = ["Average", "as_averages", "covariance"]


class Average(NamedTuple):
    """A request for a running mean and variance, or also a covariance."""

    quantity: Observable | Array
    covariance: bool = False


@public
def covariance(quantity: Any) -> Average:
    """Request a running covariance, for `averages=` of `kg.mcmc` and `kg.chain`.

    The covariance is of the elements along the last axis, in addition to their mean and variance.

    Parameters
    ----------
    quantity
        A target of the model, an observable, or a function of a `kg.observables.Step`. Its value
        must not be a single number.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.normal(0.0, [1.0, 2.0], shape=2, name="x")
    >>> wanted = [kg.observables.covariance(x)]
    >>> tree = kg.mcmc(kg.model(x), seed=1, averages=wanted, keep=False, progress=False)
    >>> tree["averages/covariance/x"].shape
    (4, 2, 2)
    """
    return Average(_quantity(quantity), True)


def _quantity(given: Any) -> Any:
    """The array or observable to average."""
    if isinstance(given, Array):
        return given
    if isinstance(given, Average):
        return given.quantity
    (one_observable,) = as_observables([given], "averages")
    return one_observable


def as_averages(given: Any) -> tuple[Average, ...]:
    """The averages of a list of observables, functions and arrays."""
    single = isinstance(given, (Average, Observable, Array, str)) or callable(given)
    items = [given] if single else listed(given, "averages")
    averages = [x if isinstance(x, Average) else Average(_quantity(x)) for x in items]
    # A covariance includes the mean and the variance, so a plain average of it is left out.
    whole = [x.quantity for x in averages if x.covariance]
    return tuple(
        x for x in averages if x.covariance or not any(_is_same(x.quantity, y) for y in whole)
    )


def _is_same(one: Any, other: Any) -> bool:
    if isinstance(one, Array) or isinstance(other, Array):
        return isinstance(one, Array) and isinstance(other, Array) and one.node is other.node
    return bool(one == other)
