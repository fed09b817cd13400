"""Where a distribution or a variable lives. The model layer maps each support to free numbers."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..graph.messages import describe
from ..graph.node import Node
from ..graph.saving.document import storable

__all__ = [
    "NATURALS",
    "POSITIVE",
    "REAL",
    "UNIT",
    "CholeskyCorrelation",
    "CorrelationMatrix",
    "Interval",
    "Ordered",
    "Simplex",
    "Support",
    "WholeNumbers",
]

Bound = Node | np.ndarray | float


@storable
@dataclass(frozen=True, eq=False)
class Support:
    """The base of all supports.

    `form` is the kind of representation that the free numbers behind a value give at once.
    """

    @property
    def form(self) -> str | None:
        return None

    def contains(self, value: np.ndarray) -> np.ndarray:
        """Which values (elements or, for vectors, all elements of a vector) are inside."""
        raise NotImplementedError(type(self).__name__)

    def describe(self) -> str:
        """A phrase for messages: `positive`."""
        raise NotImplementedError(type(self).__name__)


@dataclass(frozen=True, eq=False)
class Interval(Support):
    """Real numbers between two bounds, each a number, an array of numbers or a node."""

    lower: Bound = -np.inf
    upper: Bound = np.inf
    closed: bool = False  # whether the bounds themselves belong to it

    @property
    def form(self) -> str | None:
        if isinstance(self.lower, Node) or isinstance(self.upper, Node) or np.any(self.lower):
            return None
        if np.all(np.isposinf(self.upper)):
            return "log"
        return "logit" if np.all(np.asarray(self.upper) == 1) else None

    def contains(self, value: np.ndarray) -> np.ndarray:
        inside = np.ones(np.shape(value), bool)
        for bound, below in ((self.lower, True), (self.upper, False)):
            if isinstance(bound, Node):
                continue  # only known when the model runs
            if self.closed:
                inside &= value >= bound if below else value <= bound
            else:
                inside &= value > bound if below else value < bound
        return inside

    def describe(self) -> str:
        if self is REAL:
            return "real"
        if self is POSITIVE:
            return "positive"
        low, high = _bound_text(self.lower), _bound_text(self.upper)
        if high is None:
            return f"{'at least' if self.closed else 'above'} {low}"
        if low is None:
            return f"{'at most' if self.closed else 'below'} {high}"
        return f"between {low} and {high}"


def _bound_text(bound: Bound) -> str | None:
    """A bound for messages; None where it is infinite throughout."""
    if isinstance(bound, Node):
        return describe(bound)
    array = np.asarray(bound)
    if np.isinf(array).all():
        return None
    return f"{array.item():g}" if array.size == 1 else np.array2string(array, threshold=6)


@dataclass(frozen=True, eq=False)
class WholeNumbers(Support):
    """Integers from `lower` to `upper` (a number or a node), both included."""

    lower: int = 0
    upper: Bound = np.inf

    def contains(self, value: np.ndarray) -> np.ndarray:
        upper = np.inf if isinstance(self.upper, Node) else self.upper
        return (value == np.floor(value)) & (value >= self.lower) & (value <= upper)

    def describe(self) -> str:
        if isinstance(self.upper, Node):
            return f"a whole number from {self.lower} to {describe(self.upper)}"
        if np.isinf(self.upper).any():
            return "a whole number that is not negative"
        if np.all(np.asarray(self.upper) == 1):
            return "0 or 1"
        return f"a whole number from {self.lower} to {_bound_text(self.upper)}"

    def at(self, place: tuple[int, ...], shape: tuple[int, ...]) -> "WholeNumbers":
        """The support of one element of an array of the given shape."""
        if isinstance(self.upper, Node):
            return self
        return WholeNumbers(self.lower, np.broadcast_to(self.upper, shape)[place])


@dataclass(frozen=True, eq=False)
class Simplex(Support):
    """Vectors (last axis) of positive numbers that add up to 1."""

    @property
    def form(self) -> str | None:
        return "log"

    def contains(self, value: np.ndarray) -> np.ndarray:
        return (value >= 0).all(-1) & (np.abs(value.sum(-1) - 1) < 1e-6)

    def describe(self) -> str:
        return "positive with sum 1 along the last axis"


@dataclass(frozen=True, eq=False)
class Ordered(Support):
    """Vectors (last axis) whose elements increase."""

    def contains(self, value: np.ndarray) -> np.ndarray:
        return (np.diff(value, axis=-1) > 0).all(-1)

    def describe(self) -> str:
        return "increasing along the last axis"


def _is_factor(value: np.ndarray) -> np.ndarray:
    lower = np.abs(np.triu(value, 1)).max((-2, -1)) == 0
    return lower & (np.diagonal(value, axis1=-2, axis2=-1) > 0).all(-1)


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


REAL = Interval()
POSITIVE = Interval(0.0)
UNIT = Interval(0.0, 1.0)
NATURALS = WholeNumbers()


def bound_nodes(support: Any) -> tuple[Node, ...]:
    """The nodes among a support's bounds."""
    bounds = (getattr(support, "lower", None), getattr(support, "upper", None))
    return tuple(b for b in bounds if isinstance(b, Node))
