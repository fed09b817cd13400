"""Named dimensions: `kg.dim`, and checks of `dims=` against shapes.

A dimension has a name, a length and labels. They are known before any model uses the dimension.
"""

import datetime
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .errors import DimsError, ShapeError
from .public import public
from .source import place_text
from .tables import is_index, labels_on, plain_labels
from .value_texts import shown

__all__ = [
    "Dim",
    "check_different",
    "check_dims",
    "check_dims_of_unknown",
    "check_labels",
    "coords_of",
    "dim",
    "labels_agree",
    "labels_of",
    "last_length",
    "named",
    "shape_by_dims",
]

LONGEST = 10**9  # the largest length of a dimension

Names = tuple[str | None, ...]


@public
@dataclass(frozen=True, eq=False)
class Dim:
    """A named dimension of known length; made by `kg.dim`.

    Attributes
    ----------
    name
        The name of the dimension in results.
    size
        The length, also available as `len(...)`.
    labels
        The labels of the elements; the numbers 0 .. size - 1 if no labels were given.
    """

    name: str
    size: int
    labels: np.ndarray

    def __len__(self) -> int:
        return self.size

    def __repr__(self) -> str:
        return f"<dim {self.name}, {_summary(self.labels)}>"


@public
def dim(name: str, labels: Any) -> Dim:
    """Make a named dimension, with a length and labels.

    Arrays get their shapes from the length, and results get their labels.

    Parameters
    ----------
    name
        The name of the dimension in results.
    labels
        The labels of the elements: different numbers, texts or dates, or a pandas index. A single
        number is the number of elements.

    Raises
    ------
    DimsError
        If the name is not a text, or the labels are not one-dimensional, of one type and different.

    Notes
    -----
    `shape=` can be left out if dimensions or parameters give all lengths: `dims=("school", year)`
    is enough if a parameter has the axis of the schools. Within a model, dimensions of the same
    name must have the same length and labels; a dimension without labels agrees with any labels.

    A computed array keeps the dimensions of its operands where they are certain: dimensions pass
    through arithmetic, products, indexing, reductions along other axes, transposition and
    reshaping. An axis selected by known indices, as in `tail = theta[1:]`, is called `tail_school`
    in results, and has the selected labels. An axis selected by an index array that has a
    dimension gets that dimension.

    Examples
    --------
    >>> import kinetograph as kg
    >>> school, year = kg.dim("school", ["A", "B", "C"]), kg.dim("year", 2)
    >>> theta = kg.normal(0, 1, dims=(school, year))
    >>> theta.shape, theta.dims
    ((3, 2), ('school', 'year'))
    """
    if not isinstance(name, str) or not name:
        hint = f"; the name comes first: kg.dim({labels!r}, ...)" if isinstance(labels, str) else ""
        raise DimsError(
            f"dim: the name of a dimension must be text, got {shown(name)}{place_text()}{hint}"
        )
    if isinstance(labels, (int, np.integer)) and not isinstance(labels, bool):
        if labels < 0:
            raise DimsError(f"dim {name!r}: the length {labels} is negative{place_text()}")
        if labels > LONGEST:
            raise DimsError(
                f"dim {name!r}: a length of {labels} is more than {LONGEST}{place_text()}"
            )
        label_array = np.arange(int(labels))
    else:
        advice = "give a length, or numbers, texts or dates: kg.dim('school', ['A', 'B'])"
        label_array = np.array(check_labels(name, labels, "dim", advice))
    advice = f"; for the group of each row write kg.groups(values, {name!r})"
    check_different(label_array, f"dim {name!r}", advice)
    label_array.setflags(write=False)
    return Dim(name, len(label_array), label_array)


def check_labels(dim: str, raw_labels: Any, doing: str, change: str) -> np.ndarray:
    """Return labels as a one-dimensional array that results can store.

    Raises
    ------
    DimsError
        If the labels are not a one-dimensional array of numbers, texts or dates.
    """
    try:
        labels = plain_labels(raw_labels) if is_index(raw_labels) else np.asarray(raw_labels)
    except ValueError:
        labels = np.asarray(None)
    if labels.ndim != 1:
        raise DimsError(
            f"{doing}: the labels of {dim!r} are not one-dimensional, got {shown(raw_labels)}; "
            f"{change}"
        )
    if labels.dtype.kind == "O" and all(isinstance(label, str) for label in labels):
        labels = labels.astype(str)
    if labels.dtype.kind == "O" and all(map(_is_date, labels)):
        labels = np.array([np.datetime64(label) for label in labels])
    if labels.dtype.kind not in "biufUSMm":
        wrong = next((v for v in labels if not isinstance(v, str)), labels.dtype)
        raise DimsError(
            f"{doing}: the labels of {dim!r} must be all numbers, all texts or all dates, got "
            f"{wrong!r} ({type(wrong).__name__}); {change}"
        )
    return labels


def check_different(labels: np.ndarray, subject: str, change: str) -> None:
    """Raise DimsError if a label occurs twice."""
    values, counts = np.unique(labels, return_counts=True)
    if len(values) < len(labels):
        raise DimsError(
            f"{subject}: the label {values[counts > 1][0]} occurs {counts[counts > 1][0]} times; "
            f"labels must differ{place_text()}{change}"
        )


def _is_date(label: Any) -> bool:
    """Whether a label is a date or a time without a zone."""
    return isinstance(label, datetime.date) and getattr(label, "tzinfo", None) is None


def labels_agree(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two arrays of labels for one dimension agree.

    The numbers 0 .. n - 1 agree with any labels of the same length.
    """
    return len(a) == len(b) and (np.array_equal(a, b) or not named(a) or not named(b))


def named(labels: np.ndarray) -> bool:
    """Whether labels differ from the numbers 0 .. n - 1."""
    return not np.array_equal(labels, np.arange(len(labels)))


def _summary(labels: np.ndarray) -> str:
    few = ", ".join(map(str, labels[:3])) + (", ..." if len(labels) > 3 else "")
    return f"{len(labels)} labels: {few}" if named(labels) else f"length {len(labels)}"


def _axes(dims: Any) -> Sequence[Any]:
    if isinstance(dims, (str, Dim)):
        return (dims,)
    try:
        return tuple(dims)
    except TypeError:
        return (dims,)


def _dims_with_length(dims: Any) -> Iterator[tuple[int, Dim]]:
    return ((i, d) for i, d in enumerate(_axes(dims)) if isinstance(d, Dim))


def labels_of(dims: Any) -> dict[str, np.ndarray]:
    """The labels in the user's `dims=`, by dimension."""
    return {} if dims is None else {d.name: d.labels for _, d in _dims_with_length(dims)}


def coords_of(value: Any, names: Names, dims: Any, subject: object) -> dict[str, np.ndarray]:
    """The labels of named axes, from a labelled value and `dims=`.

    An index of whole numbers without a name, as pandas makes by itself, yields to other labels.

    Raises
    ------
    DimsError
        If the value and a dimension have different labels.
    """
    coords, given = {}, labels_of(dims)
    for dim, axis in labels_on(value, names).items():
        labels, expected = axis.labels, given.get(dim)
        assert labels is not None
        if expected is not None and not labels_agree(labels, expected):
            if axis.name is None and labels.dtype.kind in "iu" and expected.dtype.kind not in "iu":
                continue
            raise DimsError(
                f"{subject}: the dimension {dim!r} has the labels {expected[:3]}..., but the "
                f"values have {labels[:3]}...; sort the values by the dimension's labels first"
            )
        coords[dim] = labels
    return coords | {d: labels for d, labels in given.items() if named(labels) or d not in coords}


def check_dims_of_unknown(dims: Any, shape: tuple[int, ...], subject: str) -> Names | None:
    """Check the dims of an unknown, whose shape may come from dims."""
    if dims is None:
        return None
    advice = "; give shape=, or use dimensions with lengths, such as kg.dim('school', 8)"
    return check_dims(dims, shape, subject + place_text(), advice)


def check_dims(
    dims: Any, shape: tuple[int, ...], subject: object, advice: str = ""
) -> Names | None:
    """Return dims as a tuple of names, checked against the shape."""
    if dims is None:
        return None
    axes_given = _axes(dims)
    names = tuple(d.name if isinstance(d, Dim) else d for d in axes_given)
    if wrong := [name for name in names if not (name is None or isinstance(name, str))]:
        has_dim = isinstance(getattr(wrong[0], "dim", None), Dim)  # as groups of kg.groups have
        raise DimsError(
            f"{subject}: dims must be names of axes, such as 'school', or dimensions made by "
            f"kg.dim, got {shown(wrong[0])}{_place(subject)}"
            f"{'; give its dimension, as in dims=county.dim' if has_dim else ''}"
        )
    if len(names) != len(shape):
        advice = advice if len(names) > len(shape) else ""
        axes = "axis" if len(names) == 1 else "axes"
        raise DimsError(
            f"{subject}: dims {names} name {len(names)} {axes}, but the shape {shape} has "
            f"{len(shape)}{_place(subject)}{advice or '; name each axis, or none'}"
        )
    given_names = [n for n in names if n is not None]
    if len(set(given_names)) < len(given_names):
        parts = [
            repr(n) if n not in names[:i] else repr(f"{n}_{i + 1}") for i, n in enumerate(names)
        ]
        raise DimsError(
            f"{subject}: dims {names} name a dimension twice{_place(subject)}; give each axis its "
            f"own name, such as dims=({', '.join(parts)})"
        )
    for i, d in _dims_with_length(dims):
        if d.size != shape[i]:
            raise DimsError(
                f"{subject}: axis {i} has length {shape[i]}, but {d!r} has {d.size}"
                f"{_place(subject)}"
            )
    return names


def shape_by_dims(dims: Any, known_shape: tuple[int, ...], subject: str) -> tuple[int, ...] | None:
    """The shape given by dims of known length; None without such dims.

    `known_shape` is the part of the shape known from other sources, such as parameters: the
    lengths of the last axes.

    Raises
    ------
    ShapeError
        If an axis has a name but no known length.
    """
    if dims is None or not any(True for _ in _dims_with_length(dims)):
        return None
    axes = _axes(dims)
    if len(axes) < len(known_shape):
        return known_shape  # `check_dims` reports the error
    lengths: list[int | None] = [None] * (len(axes) - len(known_shape))
    lengths += known_shape
    sizes = []
    for axis, length in zip(axes, lengths, strict=True):
        if isinstance(axis, Dim):
            sizes.append(axis.size)
        elif length is None:
            raise ShapeError(
                f"{subject}: the length of the dimension {axis!r} is not known; give shape=, or "
                f"make it with kg.dim({axis!r}, labels_or_length){place_text()}"
            )
        else:
            sizes.append(length)
    return tuple(sizes)


def last_length(dims: Any) -> int | None:
    """The length of the last dimension, if known."""
    axes = () if dims is None else _axes(dims)
    return axes[-1].size if axes and isinstance(axes[-1], Dim) else None


def _place(subject: object) -> str:
    """The user's line, unless `subject` contains it."""
    return "" if re.search(r":\d", str(subject)) else place_text()
