"""Functions that arrange elements by shape, index or order: `kg.stack`, `kg.sort`."""

from collections.abc import Sequence

from ..array import Array, ArrayLike
from ..operations import grids, indexing, ordering, shaping
from ..operations.reductions import Axis
from ..public import public

__all__ = [
    "argsort",
    "broadcast_to",
    "concatenate",
    "diag",
    "expand_dims",
    "flip",
    "interp",
    "moveaxis",
    "one_hot",
    "repeat",
    "reshape",
    "roll",
    "searchsorted",
    "sort",
    "squeeze",
    "stack",
    "swapaxes",
    "take",
    "take_along_axis",
    "tile",
    "transpose",
]


@public
def reshape(x: ArrayLike, shape: int | Sequence[int]) -> Array:
    """The elements in another shape, in C order.

    One size may be -1; it is computed from the number of elements.
    """
    return Array(shaping.reshape(x, shape))


@public
def transpose(x: ArrayLike, axes: Sequence[int] | None = None) -> Array:
    """The array with its axes in another order, reversed for None."""
    return Array(shaping.transpose(x, axes))


@public
def concatenate(arrays: Sequence[ArrayLike], axis: int | None = 0) -> Array:
    """Join arrays along an existing axis."""
    return Array(shaping.concatenate(arrays, axis))


@public
def stack(arrays: Sequence[ArrayLike], axis: int = 0) -> Array:
    """Join arrays of the same shape along a new axis."""
    return Array(shaping.stack(arrays, axis))


@public
def diag(x: ArrayLike, k: int = 0) -> Array:
    """A matrix with the given diagonal, or the diagonal of a matrix."""
    return Array(shaping.diag(x, k))


@public
def repeat(x: ArrayLike, repeats: int | Sequence[int], axis: int | None = None) -> Array:
    """Repeat each element along an axis, or of the flattened array."""
    return Array(shaping.repeat(x, repeats, axis))


@public
def tile(x: ArrayLike, reps: int | Sequence[int]) -> Array:
    """Repeat the whole array along its axes."""
    return Array(shaping.tile(x, reps))


@public
def squeeze(x: ArrayLike, axis: int | Sequence[int] | None = None) -> Array:
    """x without axes of length 1; None removes all of them."""
    return Array(shaping.squeeze(x, axis))


@public
def expand_dims(x: ArrayLike, axis: int | Sequence[int]) -> Array:
    """x with new axes of length 1."""
    return Array(shaping.expand_dims(x, axis))


@public
def broadcast_to(x: ArrayLike, shape: int | Sequence[int]) -> Array:
    """x broadcast to a shape by NumPy's rules."""
    return Array(shaping.broadcast_to(x, shape))


@public
def flip(x: ArrayLike, axis: Axis = None) -> Array:
    """The elements in reverse order along axes; None means all axes."""
    return Array(shaping.flip(x, axis))


@public
def roll(x: ArrayLike, shift: int | Sequence[int], axis: Axis = None) -> Array:
    """Shift elements cyclically along axes, or in the flattened array."""
    return Array(shaping.roll(x, shift, axis))


@public
def swapaxes(x: ArrayLike, axis1: int, axis2: int) -> Array:
    """x with two axes exchanged."""
    return Array(shaping.swapaxes(x, axis1, axis2))


@public
def moveaxis(x: ArrayLike, source: int, destination: int) -> Array:
    """x with one axis moved to another place."""
    return Array(shaping.moveaxis(x, source, destination))


@public
def take(x: ArrayLike, indices: ArrayLike, axis: int | None = None, mode: str = "raise") -> Array:
    """Elements of x along an axis, or of the flattened array.

    An index outside the axis is an error, as in `x[indices]`. As in NumPy, `mode="clip"` takes the
    nearest element instead, and `mode="wrap"` takes the index modulo the length of the axis.
    """
    return Array(indexing.take(x, indices, axis, mode))


@public
def take_along_axis(x: ArrayLike, indices: ArrayLike, axis: int | None = -1) -> Array:
    """The elements at places along an axis, separately for each row.

    The places can come from `argsort`.
    """
    return Array(ordering.take_along_axis(x, indices, axis))


@public
def one_hot(x: ArrayLike, size: int) -> Array:
    """Indicator rows: 1 where the label equals the column."""
    return Array(indexing.one_hot(x, size))


@public
def sort(x: ArrayLike, axis: int | None = -1) -> Array:
    """The elements sorted in ascending order along an axis.

    With `axis=None` the array is flattened first.
    """
    return Array(shaping.sort(x, axis))


@public
def argsort(x: ArrayLike, axis: int | None = -1) -> Array:
    """The places of the elements in ascending order along an axis.

    Equal elements keep their order.
    """
    return Array(ordering.argsort(x, axis))


@public
def searchsorted(a: ArrayLike, v: ArrayLike, side: str = "left") -> Array:
    """The places where elements of v belong in the ascending vector a.

    The place is before equal elements, or after them with `side="right"`.
    """
    return Array(ordering.searchsorted(a, v, side))


@public
def interp(
    x: ArrayLike,
    xp: ArrayLike,
    fp: ArrayLike,
    left: ArrayLike | None = None,
    right: ArrayLike | None = None,
) -> Array:
    """Linear interpolation between the points (xp, fp) at x.

    xp is ascending. Outside its range the result is the value at the nearest end, or `left` and
    `right`.
    """
    return Array(grids.interp(x, xp, fp, left, right))
