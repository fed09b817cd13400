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
from ..graph.public import public
from ..graph.source import place_text
from ..graph.value_texts import check_name, shown
from .custom_bijectors import Bijector, own_support

__all__ = [
    "cholesky_variable",
    "correlation_variable",
    "covariance_variable",
    "ordered_variable",
    "simplex_variable",
    "unknown_on",
    "variable",
]


def unknown_on(support: Support, shape: tuple[int, ...], name: str | None, dims: Any) -> Array:
    """An unknown with a support."""
    check_name("variable", name)
    title = f"variable{f' {name!r}' if name else ''}"
    names = check_dims_of_unknown(dims, shape, title)
    return Array(Variable(support, shape, float_dtype(), name, names, coords=labels_of(dims)))


def _bound(value: Any, default: float, which: str, title: str) -> Any:
    """A bound as an array or a node, checked."""
    if value is None:
        return np.asarray(default)
    if isinstance(value, Array):
        node: Node = value.node
        if not isinstance(node, Data):
            return node
        if not node.literal and np.isfinite(node.value).all():
            return node
        # The meaning of the free numbers depends on which elements have a finite bound, so the
        # value is fixed.
        node.settled = f"{which} of {title}, infinite in places{place_text()}"
        return node.value
    array = np.asarray(value)
    if array.dtype.kind not in "iuf":
        raise TypeError(
            f"{title}: {which} must be a number, or an array of numbers, got {shown(value)}"
            f"{place_text()}; for elements without a bound use infinity"
        )
    if np.isnan(array).any():
        raise ValueError(f"{title}: {which} is NaN{place_text()}")
    if array.size and (array == -default).all():
        raise ValueError(
            f"{title}: {which} is {-default:g}, so that no value is allowed{place_text()}; for no "
            f"bound leave {which} out"
        )
    return array.astype(float)


@public
def variable(
    lower: Any = None,
    upper: Any = None,
    *,
    shape: Any = None,
    dims: Any = None,
    name: str | None = None,
    bijector: Bijector | None = None,
) -> Array:
    """Make an unknown with a flat density between bounds.

        log p(x) = 0 for lower < x < upper

    The density is flat in x itself, not in its free number. It is improper unless both bounds are
    finite.

    Parameters
    ----------
    lower, upper
        Bounds: numbers, arrays of numbers (infinite elements are open), arrays, or None.
    shape, dims, name
        Shape (default: the shape of the bounds), names of the axes, name in the results.
    bijector
        A custom map from free numbers, instead of bounds; see `kg.Bijector`.

    Raises
    ------
    ValueError
        If a lower bound is not below its upper bound.
    TypeError
        If a bound is not numeric.
    ShapeError
        If bounds and shape do not fit together, or a bijector returns another shape.
    ModelError
        If `inverse` or `log_det` of a bijector do not match its `forward`.

    Examples
    --------
    >>> import kinetograph as kg
    >>> sigma = kg.variable(lower=0, name="sigma")
    """
    title = f"variable{f' {name!r}' if name else ''}"
    if bijector is not None:
        if lower is not None or upper is not None:
            raise TypeError(
                f"{title}: bounds and a bijector are given; leave the bounds out, and let the "
                f"bijector apply them{place_text()}"
            )
        sizes = shape_by_dims(dims, (), title) or () if shape is None else shape_of(shape, title)
        return unknown_on(own_support(bijector, sizes, title), sizes, name, dims)
    low, high = _bound(lower, -np.inf, "lower", title), _bound(upper, np.inf, "upper", title)
    try:
        bounds_shape = np.broadcast_shapes(low.shape, high.shape)
    except ValueError:
        raise ShapeError(
            f"{title}: lower of shape {low.shape} and upper of shape {high.shape} do not fit "
            f"together{place_text()}"
        ) from None
    least, most = (b.value if isinstance(b, Data) else b for b in (low, high))
    if not isinstance(least, Node) and not isinstance(most, Node):
        is_crossed = ~(least < most)
        if is_crossed.any():
            place = tuple(int(i) for i in np.argwhere(is_crossed)[0])
            least, most = np.broadcast_arrays(least, most)
            raise ValueError(
                f"{title}: lower must be below upper, got lower {least[place]:g} and upper "
                f"{most[place]:g}{index_text(place)}{place_text()}"
            )
    if shape is None:
        full_shape = shape_by_dims(dims, bounds_shape, title) or bounds_shape
    else:
        full_shape = shape_of(shape, title)
    try:
        fits = np.broadcast_shapes(full_shape, bounds_shape) == full_shape
    except ValueError:
        fits = False
    if not fits:
        raise ShapeError(
            f"{title}: bounds of shape {bounds_shape} do not fit shape {full_shape}{place_text()}"
        )
    unbounded = not isinstance(low, Node) and not isinstance(high, Node)
    if unbounded and np.all(np.isinf(low)) and np.all(np.isinf(high)):
        return unknown_on(REAL, full_shape, name, dims)
    return unknown_on(Interval(low, high), full_shape, name, dims)


def _vector(shape: Any, dims: Any, title: str) -> tuple[int, ...]:
    """The shape of vectors with at least two elements."""
    if shape is None:
        shape = shape_by_dims(dims, (), title)
    sizes = shape_of(shape, title)
    if not sizes or sizes[-1] < 2:
        raise ShapeError(
            f"{title}: the last axis needs at least 2 elements, got shape {sizes}{place_text()}"
        )
    return sizes


@public
def simplex_variable(shape: Any = None, *, dims: Any = None, name: str | None = None) -> Array:
    """Make positive unknowns that sum to 1 along the last axis.

    The density on the simplex is flat.

    Parameters
    ----------
    shape
        The full shape, unless `dims` of known length give it.
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
    return unknown_on(Simplex(), _vector(shape, dims, "simplex_variable"), name, dims)


@public
def ordered_variable(
    shape: Any = None, *, positive: bool = False, dims: Any = None, name: str | None = None
) -> Array:
    """Make unknowns that increase along the last axis, with a flat density.

    Parameters
    ----------
    shape
        The full shape, unless `dims` of known length give it; the order is along the last axis.
    positive
        Whether they must be positive, too.
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
    return unknown_on(Ordered(bool(positive)), _vector(shape, dims, "ordered_variable"), name, dims)


@public
def cholesky_variable(
    dim: int,
    *,
    correlation: bool = False,
    shape: Any = None,
    dims: Any = None,
    name: str | None = None,
) -> Array:
    """Make an unknown Cholesky factor of a covariance or correlation matrix.

    The factor is lower triangular, and the density is flat in its elements.

    Parameters
    ----------
    dim
        The number of rows and columns of the matrix.
    correlation
        Whether the matrix has a unit diagonal.
    shape
        The leading axes, for several factors.
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
    return unknown_on(support, _matrices(dim, shape, dims, "cholesky_variable"), name, dims)


@public
def covariance_variable(
    dim: int, *, shape: Any = None, dims: Any = None, name: str | None = None
) -> Array:
    """Make an unknown covariance matrix.

    The density is flat in its elements on and below the diagonal.

    Parameters
    ----------
    dim
        The number of rows and columns of the matrix.
    shape
        The leading axes, for several matrices.
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
    return unknown_on(CovarianceMatrix(), full, name, dims)


@public
def correlation_variable(
    dim: int, *, shape: Any = None, dims: Any = None, name: str | None = None
) -> Array:
    """Make an unknown correlation matrix with a flat density.

    For the LKJ density see `kg.lkj_correlation`.

    Parameters
    ----------
    dim
        The number of rows and columns of the matrix.
    shape
        The leading axes, for several matrices.
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
    return unknown_on(CorrelationMatrix(), full, name, dims)


def _matrices(dim: Any, shape: Any, dims: Any, title: str) -> tuple[int, ...]:
    """The shape of square matrices."""
    if not isinstance(dim, (int, np.integer)) or isinstance(dim, bool) or dim < 2:
        raise ShapeError(
            f"{title}: dim, the number of rows of the matrix, must be a whole number above 1, got "
            f"{dim!r}{place_text()}; for several matrices give shape="
        )
    if shape is None:
        return shape_by_dims(dims, (int(dim), int(dim)), title) or (int(dim), int(dim))
    return (*shape_of(shape, title), int(dim), int(dim))
