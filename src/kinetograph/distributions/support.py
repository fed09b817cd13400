"""Supports of distributions and variables.

The model layer maps each support to free numbers.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..graph.messages import describe
from ..graph.node import Data, Node
from ..graph.saving.document import storable
from ..graph.saving.fields import TupleOf, either, fields, numbers, optional

__all__ = [
    "NATURALS",
    "NONNEGATIVE",
    "POSITIVE",
    "REAL",
    "UNIT",
    "AnyOf",
    "CholeskyCorrelation",
    "CholeskyCovariance",
    "CorrelationMatrix",
    "CovarianceMatrix",
    "Interval",
    "Ordered",
    "Pairs",
    "Simplex",
    "Support",
    "Totals",
    "Weights",
    "WholeNumbers",
    "ZeroSum",
]

Bound = Node | np.ndarray | float


@storable
@dataclass(frozen=True, eq=False)
class Support:
    """The base class of supports.

    `form` is the representation, such as "log", that the free numbers of a value give directly.
    """

    @property
    def form(self) -> str | None:
        return None

    def contains(self, value: np.ndarray) -> np.ndarray:
        """Whether each element, or each vector or matrix, is inside."""
        raise NotImplementedError(type(self).__name__)

    def describe(self) -> str:
        """A phrase for messages, such as `positive`."""
        raise NotImplementedError(type(self).__name__)


@dataclass(frozen=True, eq=False)
class Interval(Support):
    """Real numbers between two bounds.

    A bound is a number, an array of numbers or a node. `closed` says whether the bounds belong to
    the interval: one boolean for both bounds, or a pair of booleans or boolean arrays for the lower
    and the upper bound.
    """

    lower: Bound = -np.inf
    upper: Bound = np.inf
    closed: bool | tuple[Any, Any] = False

    @property
    def edges(self) -> tuple[Any, Any]:
        """Whether the interval contains its lower bound, and its upper bound."""
        return self.closed if isinstance(self.closed, tuple) else (self.closed, self.closed)

    @property
    def form(self) -> str | None:
        if isinstance(self.lower, Node) or isinstance(self.upper, Node) or np.any(self.lower):
            return None
        if np.all(np.isposinf(self.upper)):
            return "log"
        return "logit" if np.all(np.asarray(self.upper) == 1) else None

    def contains(self, value: np.ndarray) -> np.ndarray:
        inside = np.ones(np.shape(value), bool)
        bounds = ((self.lower, np.greater), (self.upper, np.less))
        for (bound, beyond), edge in zip(bounds, self.edges, strict=True):
            bound = _now(bound)
            if not isinstance(bound, Node):  # nodes have values only at run time
                inside = inside & (beyond(value, bound) | (edge & (value == bound)))
        return inside

    def describe(self) -> str:
        if self is REAL:
            return "real"
        if self is POSITIVE:
            return "positive"
        low, high = _bound_text(self.lower), _bound_text(self.upper)
        closed_low, closed_high = map(np.all, self.edges)
        if low is None and high is None:
            return "below infinity" if closed_low else "above -infinity"
        if high is None:
            return f"{'at least' if closed_low else 'above'} {low}"
        if low is None:
            return f"{'at most' if closed_high else 'below'} {high}"
        if closed_low and not closed_high:
            return f"at least {low} and below {high}"
        return f"between {low} and {high}"


def _now(bound: Bound) -> Bound:
    """The value of a bound if it is data, else the bound."""
    return bound.value if isinstance(bound, Data) else bound


def _bound_text(bound: Bound) -> str | None:
    """A bound for messages; None if all elements are infinite."""
    if isinstance(bound, Node):
        return describe(bound)
    array = np.asarray(bound)
    if np.isinf(array).all():
        return None
    return f"{array.item():g}" if array.size == 1 else np.array2string(array, threshold=6)


@dataclass(frozen=True, eq=False)
class WholeNumbers(Support):
    """Integers from `lower` to `upper`, both included; bounds are numbers or nodes."""

    lower: Bound = 0
    upper: Bound = np.inf

    def contains(self, value: np.ndarray) -> np.ndarray:
        lower, upper = _now(self.lower), _now(self.upper)
        lower = -np.inf if isinstance(lower, Node) else lower
        upper = np.inf if isinstance(upper, Node) else upper
        whole = np.isfinite(value) & (value == np.floor(value))
        return whole & (value >= lower) & (value <= upper)

    def describe(self) -> str:
        low, high = _bound_text(self.lower), _bound_text(self.upper)
        if low == "0" and high == "1":
            return "0 or 1"
        if high is not None:
            return f"a whole number from {low} to {high}"
        return f"a whole number {'that is not negative' if low == '0' else f'from {low} on'}"

    def at(self, place: tuple[int, ...], shape: tuple[int, ...]) -> "WholeNumbers":
        """The support of one element of an array of the given shape."""
        ends = (
            b if isinstance(b, Node) else np.broadcast_to(b, shape)[place]
            for b in (_now(self.lower), _now(self.upper))
        )
        return WholeNumbers(*ends)


@dataclass(frozen=True, eq=False)
class Simplex(Support):
    """Vectors (last axis) of positive numbers that add up to 1.

    `zeros` says whether elements may be 0.
    """

    zeros: Any = True

    @property
    def form(self) -> str | None:
        return "log"

    def contains(self, value: np.ndarray) -> np.ndarray:
        inside = (value > 0) | (self.zeros & (value == 0))
        return inside.all(-1) & (np.abs(value.sum(-1) - 1) < 1e-6)

    def describe(self) -> str:
        return "positive with sum 1 along the last axis"


@dataclass(frozen=True, eq=False)
class Totals(Support):
    """Vectors (last axis) of counts that add up to `upper`.

    `upper` is a number, an array or a node.
    """

    upper: Bound = np.inf

    def contains(self, value: np.ndarray) -> np.ndarray:
        counts = ((value == np.floor(value)) & (value >= 0)).all(-1)
        return counts if isinstance(self.upper, Node) else counts & (value.sum(-1) == self.upper)

    def describe(self) -> str:
        return f"counts with sum {_bound_text(self.upper)} along the last axis"


@dataclass(frozen=True, eq=False)
class Weights(Support):
    """Vectors (last axis) of numbers proportional to probabilities."""

    def contains(self, value: np.ndarray) -> np.ndarray:
        return ((value >= 0) & np.isfinite(value)).all(-1) & (value > 0).any(-1)

    def describe(self) -> str:
        return "non-negative and finite along the last axis, and not all 0"


@dataclass(frozen=True, eq=False)
class Ordered(Support):
    """Vectors (last axis) of increasing numbers, which may have to be positive."""

    positive: bool = False

    def contains(self, value: np.ndarray) -> np.ndarray:
        increasing = (np.diff(value, axis=-1) > 0).all(-1)
        return increasing & (value[..., 0] > 0) if self.positive else increasing

    def describe(self) -> str:
        return f"{'positive and ' if self.positive else ''}increasing along the last axis"


@dataclass(frozen=True, eq=False)
class ZeroSum(Support):
    """Vectors (last axis) of numbers that add up to 0."""

    def contains(self, value: np.ndarray) -> np.ndarray:
        size = np.abs(value).max(-1, initial=0.0)
        return np.isfinite(size) & (np.abs(value.sum(-1)) <= 1e-6 * size)

    def describe(self) -> str:
        return "finite with sum 0 along the last axis"


@dataclass(frozen=True, eq=False)
class Pairs(Support):
    """Pairs (last axis) of numbers in order: the ends of an interval."""

    inner: Any = None

    def contains(self, value: np.ndarray) -> np.ndarray:
        low, high = value[..., 0], value[..., 1]
        ordered = (low <= high) & (np.isfinite(low) | np.isfinite(high))
        exact = np.where(low == high, low, np.nan)
        with np.errstate(invalid="ignore"):
            return ordered & (self.inner.contains(exact) | (low < high))

    def describe(self) -> str:
        inner = self.inner.describe()
        return f"two numbers in order, not both infinite; if both are equal, {inner}"


@dataclass(frozen=True, eq=False)
class AnyOf(Support):
    """The union of several supports.

    Only data can have it, as it has no free numbers.
    """

    parts: tuple[Any, ...] = ()

    def contains(self, value: np.ndarray) -> np.ndarray:
        return np.any([part.contains(value) for part in self.parts], 0)

    def describe(self) -> str:
        return " or ".join(dict.fromkeys(part.describe() for part in self.parts))


def _is_factor(value: np.ndarray) -> np.ndarray:
    lower = np.abs(np.triu(value, 1)).max((-2, -1)) == 0
    return lower & (np.diagonal(value, axis1=-2, axis2=-1) > 0).all(-1)


@dataclass(frozen=True, eq=False)
class CholeskyCovariance(Support):
    """Lower triangular matrices with positive diagonal."""

    def contains(self, value: np.ndarray) -> np.ndarray:
        return _is_factor(value)

    def describe(self) -> str:
        return "a lower triangular matrix with positive diagonal"


@dataclass(frozen=True, eq=False)
class CholeskyCorrelation(Support):
    """Lower triangular matrices with positive diagonal and rows of length 1."""

    def contains(self, value: np.ndarray) -> np.ndarray:
        return _is_factor(value) & (np.abs((value**2).sum(-1) - 1) < 1e-6).all(-1)

    def describe(self) -> str:
        return "the Cholesky factor of a correlation matrix"


@dataclass(frozen=True, eq=False)
class CorrelationMatrix(Support):
    """Symmetric positive definite matrices with unit diagonal."""

    @property
    def form(self) -> str | None:
        return "cholesky"

    def contains(self, value: np.ndarray) -> np.ndarray:
        symmetric = np.abs(value - np.swapaxes(value, -1, -2)).max((-2, -1)) < 1e-8
        unit = (np.abs(np.diagonal(value, axis1=-2, axis2=-1) - 1) < 1e-8).all(-1)
        return symmetric & unit & (np.linalg.eigvalsh(value) > 0).all(-1)

    def describe(self) -> str:
        return "a correlation matrix"


@dataclass(frozen=True, eq=False)
class CovarianceMatrix(Support):
    """Symmetric positive definite matrices."""

    @property
    def form(self) -> str | None:
        return "cholesky"

    def contains(self, value: np.ndarray) -> np.ndarray:
        scale = np.sqrt(np.abs(np.diagonal(value, axis1=-2, axis2=-1)))
        gap = np.abs(value - np.swapaxes(value, -1, -2))
        symmetric = (gap <= 1e-8 * scale[..., :, None] * scale[..., None, :]).all((-2, -1))
        return symmetric & (np.linalg.eigvalsh(value) > 0).all(-1)

    def describe(self) -> str:
        return "symmetric and positive definite"


def known_one(node: Node, one: float = 1.0) -> Any:
    """Whether each element of a parameter is known to equal `one`.

    Then a power of x has exponent 0 and is finite at the bound.
    """
    return node.value == one if isinstance(node, Data) else np.False_


def powers(
    open_interval: Interval, at_lower: Node, at_upper: Node | None = None, one: float = 1.0
) -> Interval:
    """The interval, closed where the density is known to be finite.

    It is finite where the parameters equal `one`, as the exponent is then 0.
    """
    edges = (
        known_one(at_lower, one),
        np.False_ if at_upper is None else known_one(at_upper, one),
    )
    if not any(map(np.any, edges)):
        return open_interval
    return Interval(open_interval.lower, open_interval.upper, edges)


REAL = Interval()
POSITIVE = Interval(0.0)
NONNEGATIVE = Interval(0.0, closed=(True, False))
UNIT = Interval(0.0, 1.0)
NATURALS = WholeNumbers()


def bound_nodes(support: Any) -> tuple[Node, ...]:
    """The nodes that a support depends on, such as its bounds."""
    if isinstance(support, AnyOf):
        return tuple(node for part in support.parts for node in bound_nodes(part))
    outer = getattr(support, "outer", ())
    bounds = (getattr(support, "lower", None), getattr(support, "upper", None), *outer)
    return tuple(b for b in bounds if isinstance(b, Node))


def _is_pair(value: Any) -> bool:
    return type(value) is tuple and len(value) == 2


_BOUND = either(Node, numbers, int, float)
fields(Interval, lower=_BOUND, upper=_BOUND, closed=either(bool, _is_pair))
fields(WholeNumbers, lower=_BOUND, upper=_BOUND)
fields(Totals, upper=_BOUND)
fields(Simplex, zeros=either(bool, numbers))
fields(Ordered, positive=bool)
fields(Pairs, inner=optional(Support))
fields(AnyOf, parts=TupleOf(Support))
