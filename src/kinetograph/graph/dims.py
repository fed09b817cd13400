"""Named dimensions: what is known of them before a model is, and how they are checked."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .errors import DimsError, ShapeError
from .source import place_text

__all__ = [
    "Dim",
    "check_dims",
    "check_dims_of_unknown",
    "check_labels",
    "dim",
    "labels_agree",
    "labels_of",
    "last_length",
    "named",
    "shape_by_dims",
]

LONGEST = 10**9  # labels of a dimension

Names = tuple[str | None, ...]


@dataclass(frozen=True, eq=False)
class Dim:
    """A named dimension of known length; made by `kg.dim`.

    Attributes
    ----------
    name
        How results call it.
    size
        Its length, `len(...)` as well.
    labels
        Those of its elements: the numbers 0 .. size - 1 where there are no others.
    """

    name: str
    size: int
    labels: np.ndarray

    def __len__(self) -> int:
        return self.size

    def __repr__(self) -> str:
        return f"<dim {self.name}, {_some(self.labels)}>"


def dim(name: str, labels: Any) -> Dim:
    """A named dimension, which gives arrays their shapes and results their labels.

    Parameters
    ----------
    name
        How results call it.
    labels
        Of its elements: numbers, texts or dates that all differ, also as an index of pandas; or
        how many elements there are.

    Raises
    ------
    DimsError
        If the name is no text, or the labels are not one-dimensional, of one kind and different.

    Notes
    -----
    `shape=` need not be given where all lengths are known, by dimensions or by parameters:
    `dims=("school", year)` is enough where the parameters have the axis of the schools. Dimensions
    of one name in a model have the same length and labels; a length alone goes with any labels.

    What is computed has the dimensions of its operands where these are sure: they pass through
    arithmetic, products, indexing, reductions along other axes, transposition and reshaping. An
    axis that is selected by known indices, `tail = theta[1:]`, is called `tail_school` in results,
    with the labels that are left; one selected by an array that has a dimension is that one.

    Examples
    --------
    >>> import kinetograph as kg
    >>> school, year = kg.dim("school", ["A", "B", "C"]), kg.dim("year", 2)
    >>> theta = kg.normal(0, 1, dims=(school, year))
    >>> theta.shape, theta.dims
    ((3, 2), ('school', 'year'))
    """
    if not isinstance(name, str) or not name:
        raise DimsError(f"dim: the name of a dimension is text, got {name!r:.60}{place_text()}")
    if isinstance(labels, (int, np.integer)) and not isinstance(labels, bool):
        if labels < 0:
            raise DimsError(f"dim {name!r}: the length {labels} is negative{place_text()}")
        if labels > LONGEST:
            raise DimsError(
                f"dim {name!r}: a length of {labels} is more than {LONGEST}{place_text()}"
            )
        found = np.arange(int(labels))
    else:
        advice = "give their number, or numbers, texts or dates: kg.dim('school', ['A', 'B'])"
        found = np.array(check_labels(name, labels, "dim", advice))
    values, counts = np.unique(found, return_counts=True)
    if len(values) < len(found):
        raise DimsError(
            f"dim {name!r}: the label {values[counts > 1][0]} is there {counts.max()} times; each "
            f"element has its own{place_text()}"
        )
    found.setflags(write=False)
    return Dim(name, len(found), found)


def check_labels(dim: str, given: Any, doing: str, change: str) -> np.ndarray:
    """Labels as a one-dimensional array that results can hold.

    Raises
    ------
    DimsError
        If they are no one-dimensional array of numbers, texts or dates.
    """
    try:
        labels = np.asarray(given)
    except ValueError:
        labels = np.asarray(None)
    if labels.ndim != 1:
        raise DimsError(
            f"{doing}: the labels of {dim!r} are not one-dimensional, got {given!r:.60}; {change}"
        )
    if labels.dtype.kind == "O" and all(isinstance(label, str) for label in labels):
        labels = labels.astype(str)
    if labels.dtype.kind not in "biufUSMm":
        wrong = next((v for v in labels if not isinstance(v, str)), labels.dtype)
        raise DimsError(
            f"{doing}: the labels of {dim!r} are not all of one kind, or of one that files cannot "
            f"hold: {wrong!r} ({type(wrong).__name__}); {change}"
        )
    return labels


def labels_agree(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two labellings of a dimension can both be right: numbers 0 .. n - 1 say nothing."""
    return len(a) == len(b) and (np.array_equal(a, b) or not named(a) or not named(b))


def named(labels: np.ndarray) -> bool:
    """Whether labels are more than the numbers of the elements."""
    return not np.array_equal(labels, np.arange(len(labels)))


def _some(labels: np.ndarray) -> str:
    few = ", ".join(map(str, labels[:3])) + (", ..." if len(labels) > 3 else "")
    return f"{len(labels)} of them: {few}" if named(labels) else f"{len(labels)} of them"


def _axes(dims: Any) -> Sequence[Any]:
    if isinstance(dims, (str, Dim)):
        return (dims,)
    try:
        return tuple(dims)
    except TypeError:
        return (dims,)


def _known(dims: Any) -> Iterator[tuple[int, Dim]]:
    return ((i, d) for i, d in enumerate(_axes(dims)) if isinstance(d, Dim))


def labels_of(dims: Any) -> dict[str, np.ndarray]:
    """The labels that the user's `dims=` bring along."""
    return {} if dims is None else {d.name: d.labels for _, d in _known(dims)}


def check_dims_of_unknown(dims: Any, shape: tuple[int, ...], what: str) -> Names | None:
    """The same of an array whose shape may be given by `shape=` or by dims of known length."""
    if dims is None:
        return None
    advice = "; give shape=, or make them by kg.dim('school', 8), which know their lengths"
    return check_dims(dims, shape, what + place_text(), advice)


def check_dims(dims: Any, shape: tuple[int, ...], what: object, advice: str = "") -> Names | None:
    """The dims as a tuple of names, checked against the shape."""
    if dims is None:
        return None
    given = _axes(dims)
    names = tuple(d.name if isinstance(d, Dim) else d for d in given)
    if wrong := [name for name in names if not (name is None or isinstance(name, str))]:
        raise DimsError(
            f"{what}: dims are names of axes, such as 'school', got {wrong[0]!r:.60}, or what "
            f"kg.dim gives{_place(what)}"
        )
    if len(names) != len(shape):
        advice = advice if len(names) > len(shape) else ""
        axes = "axis" if len(names) == 1 else "axes"
        raise DimsError(
            f"{what}: dims {names} name {len(names)} {axes}, the shape {shape} has "
            f"{len(shape)}{_place(what)}{advice or '; name each axis, or none'}"
        )
    known = [n for n in names if n is not None]
    if len(set(known)) < len(known):
        raise DimsError(f"{what}: dims {names} name a dimension twice{_place(what)}")
    for i, d in _known(dims):
        if d.size != shape[i]:
            raise DimsError(
                f"{what}: axis {i} has length {shape[i]}, {d!r} has {d.size}{_place(what)}"
            )
    return names


def shape_by_dims(dims: Any, own: tuple[int, ...], what: str) -> tuple[int, ...] | None:
    """The shape that dims of known length give; None if there are none.

    `own` is the shape as far as it is known otherwise, as by parameters; the last axes are its.

    Raises
    ------
    ShapeError
        If an axis has a name, and no length.
    """
    if dims is None or not any(True for _ in _known(dims)):
        return None
    given = _axes(dims)
    if len(given) < len(own):
        return own  # whatever is wrong is said where dims and shape are compared
    lengths: list[int | None] = [None] * (len(given) - len(own))
    lengths += own
    sizes = []
    for axis, length in zip(given, lengths, strict=True):
        if isinstance(axis, Dim):
            sizes.append(axis.size)
        elif length is None:
            raise ShapeError(
                f"{what}: the length of the dimension {axis!r} is not known; give shape=, or make "
                f"it by kg.dim({axis!r}, labels_or_length){place_text()}"
            )
        else:
            sizes.append(length)
    return tuple(sizes)


def last_length(dims: Any) -> int | None:
    """The length of the last of dims, where that is known."""
    given = () if dims is None else _axes(dims)
    return given[-1].size if given and isinstance(given[-1], Dim) else None


def _place(what: object) -> str:
    """The user's line, unless `what` tells it."""
    return "" if re.search(r":\d", str(what)) else place_text()
