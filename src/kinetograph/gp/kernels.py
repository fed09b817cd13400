"""Covariance kernels of Gaussian processes.

Points are rows: (n, d), or (n,) for one dimension. Sources: C. E. Rasmussen, C. K. I. Williams,
Gaussian Processes for Machine Learning (2006), chapter 4; A. Solin, S. Särkkä, Hilbert space
methods for reduced-rank Gaussian process regression, Statistics and Computing 30 (2020).
"""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..graph.array import Array
from ..graph.errors import DataError, ShapeError
from ..graph.functions.arranging import reshape
from ..graph.functions.mathematics import exp
from ..graph.messages import describe
from ..graph.missing import refuse_masked
from ..graph.number_advice import not_numbers
from ..graph.operations.elementwise import elementwise
from ..graph.operations.operands import as_node
from ..graph.public import public
from ..graph.source import place_text, variable_here
from ..graph.tables import name_of
from ..graph.value_texts import in_words
from .parameters import check_length, check_positive, check_variance

__all__ = [
    "Kernel",
    "constant",
    "linear",
    "matern12",
    "matern32",
    "matern52",
    "not_a_kernel",
    "periodic",
    "points",
    "rbf",
    "white",
]

_CALL_IT = (
    "kernel(x) is the covariance matrix of points x, and noise is an argument of "
    "kg.gp.Process(kernel).marginal(x, noise)"
)

Spectrum = Callable[[np.ndarray], Any]  # of angular frequencies (m, d)


@public
class Kernel:
    """A covariance function k(x, x'), made for example by `kg.gp.rbf`.

    Kernels can be added and multiplied. A kernel times a number (a variance) has its covariances
    multiplied by that number.

    Called with one set of points, a kernel gives their covariance matrix, (n, n); called with two
    sets, the covariances between these, (n, m).
    """

    def __init__(
        self,
        matrix: Callable[[Array, Array | None], Any],
        spectrum: Spectrum | None = None,
        name: str = "kernel",
    ) -> None:
        self._matrix = matrix
        self.spectrum = spectrum
        self.name = name

    def __call__(self, x: Any, other: Any = None) -> Array:
        rows = points(x, self.name)
        columns = None if other is None else points(other, self.name)
        if columns is not None and columns.shape[1] != rows.shape[1]:
            raise ShapeError(
                f"{self.name}: both sets of points need the same dimension, got {rows.shape[1]} "
                f"and {columns.shape[1]}{place_text()}"
            )
        matrix = self._matrix(rows, columns)
        return matrix if isinstance(matrix, Array) else Array(as_node(matrix))

    def __add__(self, other: "Kernel") -> "Kernel":
        if not isinstance(other, Kernel):
            raise self._not_a_matrix("added to", other)
        one, two = self.spectrum, other.spectrum
        both = None if one is None or two is None else lambda w: one(w) + two(w)
        return Kernel(lambda x, y: self(x, y) + other(x, y), both, f"{self.name} + {other.name}")

    def __mul__(self, other: Any) -> "Kernel":
        if isinstance(other, Kernel):
            name = f"{self.name} * {other.name}"
            return Kernel(lambda x, y: self(x, y) * other(x, y), None, name)
        if np.ndim(other) if not isinstance(other, Array) else other.shape:
            raise ShapeError(
                f"{self.name}: a kernel can be multiplied by a number or by another kernel, not "
                f"by an array{place_text()}"
            )
        check_variance(self.name, other)
        unscaled = self.spectrum
        spectrum = None if unscaled is None else lambda w: other * unscaled(w)
        return Kernel(lambda x, y: other * self(x, y), spectrum, self.name)

    def __radd__(self, other: Any) -> "Kernel":
        if isinstance(other, int) and other == 0:  # the start of Python's `sum`
            return self
        raise self._not_a_matrix("added to", other)

    __rmul__ = __mul__
    __array_ufunc__ = None  # so that array * kernel calls __rmul__

    if not TYPE_CHECKING:  # type checkers refuse these uses by themselves

        def __getitem__(self, index: Any) -> Any:
            raise self._not_a_matrix("indexed with", index)

        def __matmul__(self, other: Any) -> Any:
            raise self._not_a_matrix("multiplied by", other)

        __rmatmul__ = __matmul__

        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            raise TypeError(f"{self.name}: a kernel is not a matrix{place_text()}; {_CALL_IT}")

    def _not_a_matrix(self, doing: str, other: Any) -> TypeError:
        return TypeError(
            f"{self.name}: a kernel is not a matrix and cannot be {doing} {in_words(other)}"
            f"{place_text()}; {_CALL_IT}"
        )

    def __repr__(self) -> str:
        return f"<kernel {self.name}>"


def points(x: Any, title: str) -> Array:
    """Points as the rows of a matrix.

    Raises
    ------
    DataError
        If they are not numbers.
    ShapeError
        If they are not a vector or a matrix.
    """
    refuse_masked(x, title)
    if isinstance(x, Array):
        array = x
    else:
        try:
            if np.asarray(x).dtype.kind in "mM":
                raise TypeError("dates")
            numbers = np.asarray(x, float)
        except (TypeError, ValueError) as error:
            if "inhomogeneous" in str(error):
                return Array(as_node(x, title))  # raises, and says so
            name = name_of(x) or variable_here(x)
            of = f" {name}" if name else ""
            values = x if hasattr(x, "dtype") else np.asarray(x, object)
            raise DataError(
                f"{title}: the points{of}{place_text()}: {not_numbers(x, np.asarray(values))}"
            ) from None
        array = Array(as_node(numbers, title))
    if len(array.shape) == 1:
        return reshape(array, (array.shape[0], 1))
    if len(array.shape) != 2:
        raise ShapeError(
            f"{title}: points must be the rows of a matrix, or a vector of numbers, got "
            f"{describe(array.node)} of shape {array.shape}{place_text()}"
        )
    return array


def not_a_kernel(value: Any, title: str, way_out: str = "") -> TypeError:
    """The error for a value in place of a kernel."""
    name = getattr(value, "__name__", "")
    if name in __all__ and globals().get(name) is value:
        way_out = f"; call it with its parameters, as in kg.gp.{name}(1.0)"
    return TypeError(
        f"{title}: expected a kernel such as kg.gp.rbf(length), got {in_words(value)}"
        f"{place_text()}{way_out}"
    )


def _squares(x: Array, y: Array | None, length: Any, name: str) -> Array:
    """The squared distances between points, in units of the lengths.

    Kernels are functions of squared distances, because these are smooth where two points coincide
    and distances are not.
    """
    check_length(length, name, x.shape[1])
    columns = x if y is None else y
    differences = (x[:, None, :] - columns[None, :, :]) / length
    return (differences * differences).sum(-1)


@public
def rbf(length: Any, sd: Any = 1.0) -> Kernel:
    """Smooth functions: k = sd**2 exp(-r**2 / 2).

    r is the distance in units of `length`.

    Parameters
    ----------
    length
        The distance over which values are correlated; one number, or one for each dimension of the
        points.
    sd
        The standard deviation of a value.

    Raises
    ------
    ShapeError
        If `length` has more than one number, but not one for each dimension.
    ValueError
        If a known length or standard deviation is not positive.

    Examples
    --------
    >>> import kinetograph as kg
    >>> k = kg.gp.rbf(0.5, 2.0)
    >>> kg.compile([], k([0.0, 0.5]))().round(3)
    array([[4.   , 2.426],
           [2.426, 4.   ]])
    """

    check_length(length, "rbf")
    check_positive("rbf", length=length, sd=sd)

    def matrix(x: Array, y: Array | None) -> Any:
        return sd**2 * exp(-0.5 * _squares(x, y, length, "rbf"))

    def spectrum(w: np.ndarray) -> Any:
        d = w.shape[1]
        check_length(length, "rbf", d)
        scale = sd**2 * (2 * math.pi) ** (d / 2) * _volume(length, d)
        return scale * exp(-0.5 * _scaled(w, length))

    return Kernel(matrix, spectrum, "rbf")


def _volume(length: Any, dimensions: int) -> Any:
    """The product of the lengths over the dimensions."""
    if not np.shape(length) and not getattr(length, "shape", ()):
        return length**dimensions
    array = length if isinstance(length, Array) else Array(as_node(np.asarray(length, float)))
    return array.prod()


def _scaled(w: np.ndarray, length: Any) -> Any:
    """The squared frequencies in units of 1 / length, summed over dimensions."""
    scaled = Array(as_node(w)) * length
    return (scaled * scaled).sum(-1)


def _matern(order: float, length: Any, sd: Any, operation: str, name: str) -> Kernel:
    check_length(length, name)
    check_positive(name, length=length, sd=sd)

    def matrix(x: Array, y: Array | None) -> Any:
        squares = 2 * order * _squares(x, y, length, name)
        return sd**2 * Array(elementwise(operation, squares))

    def spectrum(w: np.ndarray) -> Any:
        d = w.shape[1]
        check_length(length, name, d)
        power = order + d / 2
        scale = 2**d * math.pi ** (d / 2) * math.gamma(power) / math.gamma(order)
        scale *= (2 * order) ** order
        return sd**2 * scale * _volume(length, d) * (2 * order + _scaled(w, length)) ** -power

    return Kernel(matrix, spectrum, name)


@public
def matern12(length: Any, sd: Any = 1.0) -> Kernel:
    """Continuous, rough functions: k = sd**2 exp(-r).

    r is the distance in units of `length`.
    """
    return _matern(0.5, length, sd, "exp_root", "matern12")


@public
def matern32(length: Any, sd: Any = 1.0) -> Kernel:
    """Functions with one derivative: k = sd**2 (1 + r) exp(-r).

    r = sqrt(3) distance / length.
    """
    return _matern(1.5, length, sd, "matern32", "matern32")


@public
def matern52(length: Any, sd: Any = 1.0) -> Kernel:
    """Functions with two derivatives.

    k = sd**2 (1 + r + r**2 / 3) exp(-r), r = sqrt(5) distance / length.
    """
    return _matern(2.5, length, sd, "matern52", "matern52")


@public
def periodic(period: Any, length: Any, sd: Any = 1.0) -> Kernel:
    """Periodic functions: k = sd**2 exp(-2 sin(pi d / period)**2 / length**2).

    d is the distance. Source: D. J. C. MacKay, Introduction to Gaussian processes (1998), eq. 47.
    """
    check_positive("periodic", period=period, length=length, sd=sd)

    def matrix(x: Array, y: Array | None) -> Any:
        turns = _squares(x, y, period, "periodic") * (2 * math.pi) ** 2
        return sd**2 * exp((Array(elementwise("cos_root", turns)) - 1) / length**2)

    return Kernel(matrix, None, "periodic")


@public
def linear(sd: Any = 1.0, centre: Any = 0.0) -> Kernel:
    """Straight lines that are 0 at `centre`.

    k = sd**2 (x - centre) . (x' - centre).
    """
    check_positive("linear", sd=sd)

    def matrix(x: Array, y: Array | None) -> Any:
        left = sd * (x - centre)
        right = left if y is None else sd * (y - centre)
        return left @ right.T

    return Kernel(matrix, None, "linear")


@public
def constant(sd: Any = 1.0) -> Kernel:
    """Constant functions: k = sd**2."""
    check_positive("constant", sd=sd)

    def matrix(x: Array, y: Array | None) -> Any:
        return sd**2 + np.zeros((x.shape[0], (x if y is None else y).shape[0]))

    return Kernel(matrix, None, "constant")


@public
def white(sd: Any = 1.0) -> Kernel:
    """Noise: k = sd**2 between a point and itself, otherwise 0.

    Between two sets of points k is 0.
    """
    check_positive("white", sd=sd)

    def matrix(x: Array, y: Array | None) -> Any:
        if y is None:
            return sd**2 * np.eye(x.shape[0])
        return sd**2 * np.zeros((x.shape[0], y.shape[0]))

    return Kernel(matrix, None, "white")
