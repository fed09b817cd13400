"""Methods of arrays that NumPy users expect, such as `x.sum()`."""

from typing import TYPE_CHECKING, Any

from .node import Node
from .operations import elementwise as ew
from .operations import indexing, linear_algebra, reductions, shaping
from .operations.rounding import round_to
from .public import public

if TYPE_CHECKING:
    from .array import Array

__all__ = ["Methods"]


@public
class Methods:
    """The methods of `Array` that NumPy's arrays have, too."""

    __slots__ = ()

    if TYPE_CHECKING:

        def _new(self, node: Node) -> "Array": ...

        def _view(self, node: Node) -> "Array": ...

    def sum(self, axis: reductions.Axis = None, keepdims: bool = False) -> "Array":
        """The sum over axes."""
        return self._new(reductions.reduce("sum", self, axis, keepdims))

    def prod(self, axis: reductions.Axis = None, keepdims: bool = False) -> "Array":
        """The product over axes."""
        return self._new(reductions.reduce("prod", self, axis, keepdims))

    def mean(self, axis: reductions.Axis = None, keepdims: bool = False) -> "Array":
        """The mean over axes."""
        return self._new(reductions.reduce("mean", self, axis, keepdims))

    def var(self, axis: reductions.Axis = None, ddof: int = 0, keepdims: bool = False) -> "Array":
        """The variance over axes, with divisor n - ddof."""
        return self._new(reductions.reduce("var", self, axis, keepdims, ddof=ddof))

    def std(self, axis: reductions.Axis = None, ddof: int = 0, keepdims: bool = False) -> "Array":
        """The standard deviation over axes, with divisor n - ddof."""
        return self._new(reductions.reduce("std", self, axis, keepdims, ddof=ddof))

    def max(self, axis: reductions.Axis = None, keepdims: bool = False) -> "Array":
        """The largest element over axes; tied elements share the gradient."""
        return self._new(reductions.reduce("max", self, axis, keepdims))

    def min(self, axis: reductions.Axis = None, keepdims: bool = False) -> "Array":
        """The smallest element over axes; tied elements share the gradient."""
        return self._new(reductions.reduce("min", self, axis, keepdims))

    def any(self, axis: reductions.Axis = None, keepdims: bool = False) -> "Array":
        """Whether any element over axes is true."""
        return self._new(reductions.reduce("any", self, axis, keepdims))

    def all(self, axis: reductions.Axis = None, keepdims: bool = False) -> "Array":
        """Whether all elements over axes are true."""
        return self._new(reductions.reduce("all", self, axis, keepdims))

    def argmax(self, axis: int | None = None) -> "Array":
        """The index of the largest element."""
        return self._new(reductions.reduce("argmax", self, axis))

    def argmin(self, axis: int | None = None) -> "Array":
        """The index of the smallest element."""
        return self._new(reductions.reduce("argmin", self, axis))

    def cumsum(self, axis: int | None = None) -> "Array":
        """The running sum along an axis."""
        return self._new(reductions.cumulative("cumsum", self, axis))

    def cumprod(self, axis: int | None = None) -> "Array":
        """The running product along an axis."""
        return self._new(reductions.cumulative("cumprod", self, axis))

    def reshape(self, *shape: Any) -> "Array":
        """The same elements in another shape; one size may be -1."""
        return self._view(shaping.reshape(self, shape[0] if len(shape) == 1 else shape))

    def ravel(self) -> "Array":
        """The elements as a vector."""
        return self._view(indexing.ravel(self))

    def flatten(self) -> "Array":
        """A copy of the elements as a vector."""
        return self._new(indexing.ravel(self))

    def copy(self) -> "Array":
        """A separate array with the same values."""
        return self._new(ew.copy(self))

    __copy__ = copy

    def transpose(self, *axes: Any) -> "Array":
        """Put the axes in another order; reverse them if none is given."""
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes or None
        return self._view(shaping.transpose(self, order))

    def swapaxes(self, axis1: int, axis2: int) -> "Array":
        """Exchange two axes."""
        return self._view(shaping.swapaxes(self, axis1, axis2))

    def squeeze(self, axis: Any = None) -> "Array":
        """Drop axes of length one."""
        return self._view(shaping.squeeze(self, axis))

    def astype(self, dtype: Any) -> "Array":
        """The elements converted to another type."""
        return self._new(ew.astype(self, dtype))

    def round(self, decimals: int = 0) -> "Array":
        """The elements rounded to a number of decimals, halves to even."""
        return self._new(round_to(self, decimals))

    def clip(self, min: Any = None, max: Any = None) -> "Array":
        """The elements limited to the interval [min, max]."""
        return self._new(ew.clip(self, min, max))

    def take(self, indices: Any, axis: int | None = None, mode: str = "raise") -> "Array":
        """Select elements along an axis (of the flattened array for None)."""
        return self._new(indexing.take(self, indices, axis, mode))

    def repeat(self, repeats: Any, axis: int | None = None) -> "Array":
        """Repeat each element along an axis (of the flattened array for None)."""
        return self._new(shaping.repeat(self, repeats, axis))

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> "Array":
        """The diagonal over two axes, as the last axis."""
        return self._new(shaping.diagonal(self, offset, axis1, axis2))

    def trace(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> "Array":
        """The sum of the diagonal over two axes."""
        return self._new(shaping.trace(self, offset, axis1, axis2))

    def dot(self, other: Any) -> "Array":
        """The matrix product; with a number, the product."""
        return self._new(linear_algebra.dot(self, other))
