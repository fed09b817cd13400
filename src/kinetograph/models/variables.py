"""Unknowns without a distribution: `kg.variable` and its structured relatives."""

from typing import Any

import numpy as np

from ..distributions.generator import shape_of
from ..distributions.support import (
    REAL,
    CholeskyCorrelation,
    CholeskyCovariance,
    CorrelationMatrix,
    CovarianceMatrix,
    Interval,
    Ordered,
    Simplex,
    Support,
)
from ..distributions.variable import Variable
from ..graph.array import Array
from ..graph.dims import check_dims_of_unknown, labels_of, shape_by_dims
from ..graph.errors import ShapeError
from ..graph.messages import index_text
from ..graph.node import Data, Node
from ..graph.precision import float_dtype
from ..graph.source import place_text
from ..graph.text import check_name
from .own_bijectors import Bijector, own_support

__all__ = [
    "cholesky_variable",
    "correlation_variable",
    "covariance_variable",
    "ordered_variable",
    "simplex_variable",
    "variable",
]


def _make(support: Support, shape: tuple[int, ...], name: str | None, dims: Any) -> Array:
    check_name("variable", name)
    what = f"variable{f' {name!r}' if name else ''}"
    names = check_dims_of_unknown(dims, shape, what)
    return Array(Variable(support, shape, float_dtype(), name, names, coords=labels_of(dims)))


def _bound(value: Any, default: float, which: str, what: str) -> Any:
    if value is None:
        return np.asarray(default)
    if isinstance(value, Array):
        node: Node = value.node
        if not isinstance(node, Data):
            return node
        if not node.literal and np.isfinite(node.value).all():
            return node
        # Where there is a bound at all decides what the free numbers are.
        node.settled = f"{which} of {what}, infinite in places{place_text()}"
        return node.value
    array = np.asarray(value)
    if array.dtype.kind not in "iuf":
        raise TypeError(
            f"{what}: {which} must be a number, or an array of numbers, got {value!r}"
            f"{place_text()}; where there is no bound, it is infinite"
        )
    if np.isnan(array).any():
        raise ValueError(f"{what}: {which} is NaN{place_text()}")
    if array.size and (array == -default).all():
        raise ValueError(
            f"{what}: {which} is {-default:g}, which leaves no numbers{place_text()}; for no bound "
            f"leave {which} out"
        )
    return array.astype(float)


def variable(
    lower: Any = None,
    upper: Any = None,
    *,
    shape: Any = None,
    dims: Any = None,
    name: str | None = None,
    bijector: Bijector | None = None,
) -> Array:
    """An unknown with a flat density between bounds: log p(x) = 0 for lower < x < upper.

    The density is flat in x itself, not in the free number behind it; it is improper unless both
    bounds are finite.

    Parameters
    ----------
    lower, upper
        Bounds: numbers, arrays of numbers (infinite elements are open), arrays, or None.
    shape, dims, name
        Shape (default: the bounds'), names of the axes, name in the results.
    bijector
        A map of your own from free numbers, in the place of bounds; see `kg.Bijector`.

    Raises
    ------
    ValueError
        If a lower bound is not below its upper bound.
    TypeError
        If a bound is not numeric.
    ShapeError
        If bounds and shape do not fit together, or what a bijector gives has another shape.
    ModelError
        If `inverse` or `log_det` of a bijector do not belong to its `forward`.

    Examples
    --------
    >>> import kinetograph as kg
    >>> sigma = kg.variable(lower=0, name="sigma")
    """
    what = f"variable{f' {name!r}' if name else ''}"
    if bijector is not None:
        if lower is not None or upper is not None:
            raise TypeError(
                f"{what}: bounds and a bijector are given; the bijector has to do for both"
                f"{place_text()}"
            )
        sizes = shape_by_dims(dims, (), what) or () if shape is None else shape_of(shape, what)
        return _make(own_support(bijector, sizes, what), sizes, name, dims)
    low, high = _bound(lower, -np.inf, "lower", what), _bound(upper, np.inf, "upper", what)
    try:
        own = np.broadcast_shapes(low.shape, high.shape)
    except ValueError:
        raise ShapeError(
            f"{what}: lower of shape {low.shape} and upper of shape {high.shape} do not fit "
            f"together{place_text()}"
        ) from None
    least, most = (b.value if isinstance(b, Data) else b for b in (low, high))
    if not isinstance(least, Node) and not isinstance(most, Node):
        wrong = ~(least < most)
        if wrong.any():
            place = tuple(int(i) for i in np.argwhere(wrong)[0])
            least, most = np.broadcast_arrays(least, most)
            raise ValueError(
                f"{what}: lower must be below upper, got lower {least[place]:g} and upper "
                f"{most[place]:g}{index_text(place)}{place_text()}"
            )
    if shape is None:
        full = shape_by_dims(dims, own, what) or own
    else:
        full = shape_of(shape, what)
    try:
        fits = np.broadcast_shapes(full, own) == full
    except ValueError:
        fits = False
    if not fits:
        raise ShapeError(f"{what}: bounds of shape {own} do not fit shape {full}{place_text()}")
    unbounded = not isinstance(low, Node) and not isinstance(high, Node)
    if unbounded and np.all(np.isinf(low)) and np.all(np.isinf(high)):
        return _make(REAL, full, name, dims)
    return _make(Interval(low, high), full, name, dims)


def _vector(shape: Any, dims: Any, what: str) -> tuple[int, ...]:
    if shape is None:
        shape = shape_by_dims(dims, (), what)
    sizes = shape_of(shape, what)
    if not sizes or sizes[-1] < 2:
        raise ShapeError(
            f"{what}: the last axis needs at least 2 elements, got shape {sizes}{place_text()}"
        )
    return sizes


def simplex_variable(shape: Any = None, *, dims: Any = None, name: str | None = None) -> Array:
    """Positive unknowns that add up to 1 along the last axis, with a flat density on the simplex.

    Parameters
    ----------
    shape
        Of the whole, if `dims` of known length do not give it.
    dims, name
        Names of the axes, name in the results.

    Raises
    ------
    ShapeError
        If the last axis has fewer than 2 elements.

    Examples
    --------
    >>> import kinetograph as kg
    >>> weights = kg.simplex_variable(3, name="weights")
    """
    return _make(Simplex(), _vector(shape, dims, "simplex_variable"), name, dims)


def ordered_variable(
    shape: Any = None, *, positive: bool = False, dims: Any = None, name: str | None = None
) -> Array:
    """Unknowns that increase along the last axis, with a flat density.

    Parameters
    ----------
    shape
        Of the whole, if `dims` of known length do not give it; the last axis is that of the order.
    positive
        Whether they are above 0, too.
    dims, name
        Names of the axes, name in the results.

    Raises
    ------
    ShapeError
        If the last axis has fewer than 2 elements.

    Examples
    --------
    >>> import kinetograph as kg
    >>> cutpoints = kg.ordered_variable(4, name="cutpoints")
    """
    return _make(Ordered(bool(positive)), _vector(shape, dims, "ordered_variable"), name, dims)


def cholesky_variable(
    dim: int,
    *,
    correlation: bool = False,
    shape: Any = None,
    dims: Any = None,
    name: str | None = None,
) -> Array:
    """The lower Cholesky factor of an unknown covariance, or correlation, matrix: flat in itself.

    Parameters
    ----------
    dim
        Rows and columns of the matrix.
    correlation
        Whether the matrix has a unit diagonal.
    shape
        How many factors there are: leading axes.
    dims, name
        Names of the axes, name in the results.

    Raises
    ------
    ShapeError
        If `dim` is below 2.

    Examples
    --------
    >>> import kinetograph as kg
    >>> factor = kg.cholesky_variable(3, correlation=True, name="factor")
    """
    support = CholeskyCorrelation() if correlation else CholeskyCovariance()
    return _make(support, _matrices(dim, shape, dims, "cholesky_variable"), name, dims)


def covariance_variable(
    dim: int, *, shape: Any = None, dims: Any = None, name: str | None = None
) -> Array:
    """An unknown covariance matrix, with a flat density of its elements on and below the diagonal.

    Parameters
    ----------
    dim
        Rows and columns of the matrix.
    shape
        How many matrices there are: leading axes.
    dims, name
        Names of the axes, name in the results.

    Raises
    ------
    ShapeError
        If `dim` is below 2.

    Examples
    --------
    >>> import kinetograph as kg
    >>> cov = kg.covariance_variable(2, name="cov")
    """
    full = _matrices(dim, shape, dims, "covariance_variable")
    return _make(CovarianceMatrix(), full, name, dims)


def correlation_variable(
    dim: int, *, shape: Any = None, dims: Any = None, name: str | None = None
) -> Array:
    """An unknown correlation matrix, with a flat density; `kg.lkj_correlation` has another one.

    Parameters
    ----------
    dim
        Rows and columns of the matrix.
    shape
        How many matrices there are: leading axes.
    dims, name
        Names of the axes, name in the results.

    Raises
    ------
    ShapeError
        If `dim` is below 2.

    Examples
    --------
    >>> import kinetograph as kg
    >>> R = kg.correlation_variable(2, name="R")
    """
    full = _matrices(dim, shape, dims, "correlation_variable")
    return _make(CorrelationMatrix(), full, name, dims)


def _matrices(dim: Any, shape: Any, dims: Any, what: str) -> tuple[int, ...]:
    if not isinstance(dim, (int, np.integer)) or isinstance(dim, bool) or dim < 2:
        raise ShapeError(
            f"{what}: dim, the rows of the matrix, must be a whole number above 1, got {dim!r}"
            f"{place_text()}; the number of matrices is given by shape="
        )
    if shape is None:
        return shape_by_dims(dims, (int(dim), int(dim)), what) or (int(dim), int(dim))
    return (*shape_of(shape, what), int(dim), int(dim))
