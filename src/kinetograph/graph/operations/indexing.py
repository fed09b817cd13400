"""Indexed reads and functional writes: slices, integers, masks, integer arrays, graph values.

Result shapes are found by indexing a zero-stride NumPy array of the same shape, so the rules are
NumPy's. Index arrays known at build time are checked against the bounds at once. Computed indices
are checked when the program runs (see `faults`), unless `bounds` proves that they lie inside. An
index outside the bounds reads NaN (the smallest number for integers) and writes NaN, so that it
never gives a plausible result, even where no error can be raised.
"""

from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..errors import KinetographWarning, ShapeError, SymbolicError
from ..messages import describe, index_text
from ..missing import first_place, refuse_masked
from ..node import CURRENT, Apply, Data, Node, Operation
from ..numerics.special import segment_prod
from ..precision import float_dtype
from ..source import place_text, warn_user
from ..tables import row_index
from . import bounds
from .elementwise import astype, clip, elementwise, promoted
from .flags import Flags, axes_taken
from .operands import Operand, as_node, literal, type_of

__all__ = [
    "CHECKED",
    "MOVING_SLICE",
    "check_bounds",
    "check_labels",
    "fixed_parts",
    "index",
    "known_indices",
    "labels",
    "SLOT",
    "one_hot",
    "ravel",
    "rebuilt",
    "take",
    "trusted_indices",
    "update",
    "write",
]

# Advice for a slice with an end that is not known.
MOVING_SLICE = (
    "for other values in the first w of n elements write kg.where(np.arange(n) < w, a, b); for a "
    "window of known length that moves, index with start + np.arange(length)"
)


class _Slot:
    """The mark in a template for an index that is a parent."""

    stable_text = "slot"

    def __reduce__(self) -> str:
        return "SLOT"  # there is only one


SLOT = _Slot()


def rebuilt(template: tuple[Any, ...], indices: tuple[Any, ...]) -> tuple[Any, ...]:
    # JAX adds the length of the axis to negative indices, so the type must hold the length.
    wide = (i.astype(np.int32) if i.dtype.itemsize < 4 else i for i in indices)
    return tuple(next(wide) if part is SLOT else part for part in template)


_LEAST, _MOST = np.iinfo(np.int32).min, np.iinfo(np.int32).max


def _read(x: Any, *indices: Any, template: tuple[Any, ...]) -> Any:
    return jnp.asarray(x).at[rebuilt(template, indices)].get(mode="promise_in_bounds")


def _read_checked(x: Any, *indices: Any, template: tuple[Any, ...]) -> Any:
    # JAX casts indices to 32 bits, where 2**32 would become 0.
    near = tuple(jnp.clip(i, _LEAST, _MOST) if i.dtype.itemsize > 4 else i for i in indices)
    return jnp.asarray(x).at[rebuilt(template, near)].get(mode="fill")


def _slice(x: Any, *, template: tuple[Any, ...]) -> Any:
    return x[template]


def write(x: Any, value: Any, *indices: Any, template: tuple[Any, ...], how: str) -> Any:
    """A copy of a tensor with other elements at an index.

    `indices` take the places of the marks in `template`.
    """
    x, key = jnp.asarray(x), rebuilt(template, indices)
    if how == "multiply" and x.dtype.kind == "f":
        places = jnp.arange(x.size).reshape(x.shape).at[key].get(mode="fill", fill_value=x.size)
        factors = jnp.broadcast_to(value, places.shape).reshape(-1)
        return x * segment_prod(factors, places.reshape(-1), x.size).reshape(x.shape)
    return getattr(x.at[key], how)(value)


def _write_checked(x: Any, value: Any, *indices: Any, sizes: tuple[int, ...], **how: Any) -> Any:
    outside = jnp.asarray(False)
    clipped_indices = []
    for i, size in zip(indices, sizes, strict=True):
        outside |= jnp.any((i < -size) | (i >= size))
        clipped_indices.append(jnp.clip(i, -size, size - 1))
    return write(x, jnp.where(outside, bad_value(x.dtype), value), *clipped_indices, **how)


def bad_value(dtype: Any) -> Any:
    """The value read from or written to an index outside the array."""
    if dtype.kind == "f":
        return np.asarray(np.nan, dtype)
    return np.asarray(dtype.kind == "b" or (np.iinfo(dtype).min or np.iinfo(dtype).max), dtype)


def _labels(x: Any, *, size: int) -> Any:
    return jnp.where((x >= 0) & (x < size), x, np.asarray(OUTSIDE, x.dtype))


def _one_hot(x: Any, *, size: int, dtype: np.dtype, checked: bool = False) -> Any:
    rows = jnp.equal(x[..., None], jnp.arange(size)).astype(dtype)
    return jnp.where((x == OUTSIDE)[..., None], bad_value(dtype), rows) if checked else rows


OUTSIDE = -(2**40)  # an invalid label, which stays invalid in combinations with other labels
READ = Operation("index", _read)
READ_CHECKED = Operation("index", _read_checked)
SLICE = Operation("index", _slice)
WRITE = Operation("update", write)
WRITE_CHECKED = Operation("update", _write_checked)
READS = (READ, READ_CHECKED)  # the second if an index may fall outside
WRITES = (WRITE, WRITE_CHECKED)
LABELS = Operation("labels", _labels)
RAVEL = Operation("ravel", jnp.ravel)
ONE_HOT = Operation("one_hot", _one_hot)
CHECKED = (READ_CHECKED, WRITE_CHECKED, LABELS)  # operations whose indices may fall outside
bounds.RULES |= dict.fromkeys((READ, SLICE), lambda node, of: of(0))
bounds.RULES[RAVEL] = bounds.of_all_parents


class _Key:
    """A parsed index: template, index nodes, and an equivalent for NumPy."""

    def __init__(self, node: Node, key: Any) -> None:
        self.node = node
        self.template: list[Any] = []
        self.nodes: list[Node] = []
        self.stand_in: list[Any] = []
        self.is_inside = True  # whether all index nodes provably lie inside
        self.axis = 0
        parts = [getattr(p, "node", p) for p in (key if isinstance(key, tuple) else (key,))]
        consumed = sum(axes_taken(part) for part in parts)
        for part in parts:
            if part is None:
                self._fixed(None, 0)
            elif part is Ellipsis:
                self._fixed(part, max(len(node.shape) - consumed, 0))
            elif isinstance(part, slice):
                self._fixed(_fixed_slice(node, part), 1)
            elif isinstance(part, (int, np.integer)) and not isinstance(part, bool):
                self._fixed(int(part), 1)
            else:
                self._array(part)

    def _fixed(self, part: Any, axes: int) -> None:
        self.template.append(part)
        self.stand_in.append(part)
        self.axis += axes

    def _size(self, axis: int) -> int:
        return self.node.shape[axis] if axis < len(self.node.shape) else 0

    def _slot(self, index: Node, stand_in: np.ndarray) -> None:
        self.template.append(SLOT)
        self.nodes.append(index)
        self.stand_in.append(stand_in)
        self.axis += 1

    def _array(self, part: Any) -> None:
        node = self.node
        index_node = part if isinstance(part, Node) else _index_array(node, part)
        if index_node.dtype.kind == "b":
            self._mask(index_node)
            return
        if index_node.dtype.kind not in "iu":
            way_out = "convert it with .astype(int)"
            if isinstance(index_node, Data) and (missing := np.isnan(index_node.value)).any():
                way_out = f"the value{index_text(first_place(missing))} is missing: drop such rows"
            raise ShapeError(
                f"{describe(node)}[{describe(index_node)}]: an index must be of integers, "
                f"got {index_node.dtype}{place_text()}; {way_out}"
            )
        if not isinstance(index_node, Data):
            size = self._size(self.axis)
            if self.axis < len(node.shape):
                _check_unknown(index_node, self.axis, size, node)
            self.is_inside = self.is_inside and bounds.inside(index_node, -size, size - 1)
            self._slot(index_node, np.zeros(index_node.shape, np.int64))
            return
        if self.axis < len(node.shape):
            size = self._size(self.axis)
            check_bounds(index_node.value, self.axis, size, node, index_node)
            warn_of_missing(index_node, size, node)
        self._slot(
            index_node,
            np.zeros(index_node.shape, np.int64) if index_node.size == 0 else index_node.value,
        )

    def _mask(self, mask: Node) -> None:
        expression = f"{describe(self.node)}[{describe(mask)}]"
        if not isinstance(mask, Data):
            raise ShapeError(
                f"{expression}: a mask computed in the graph has no known "
                f"number of true elements{place_text()}; use kg.where(mask, x, other)"
            )
        expected = self.node.shape[self.axis : self.axis + len(mask.shape)]
        if mask.shape != expected:
            raise ShapeError(
                f"{expression}: the mask has shape {mask.shape}, the axes it selects from have "
                f"{expected}{place_text()}"
            )
        if not mask.literal:
            mask.settled = f"the mask of {expression}{place_text()}"
        for places in np.nonzero(mask.value):
            self._slot(literal(places), places)


def _index_array(node: Node, part: Any) -> Node:
    refuse_masked(part, f"index of {describe(node)}")
    array = np.asarray(part)
    if array.dtype.kind == "f" and array.size == 0:  # x[[]]
        return literal(np.zeros(array.shape, np.int64))
    if array.dtype.kind in "US":
        raise SymbolicError(
            f"{describe(node)}[{part!r:.60}]: an index must be of integers, got text"
            f"{place_text()}; labels of dims select from results, as in "
            "results['posterior'].sel(...), and kg.groups(labels).codes are their integers"
        )
    if hasattr(part, "codes") and hasattr(part, "encode"):
        raise SymbolicError(
            f"index of {describe(node)}: a Groups is not an index{place_text()}; write "
            f"{describe(node)}[g.codes]"
        )
    constant = literal(array, operation=f"index of {describe(node)}")
    constant.rows = row_index(part)
    return constant


def _fixed_slice(node: Node, part: slice) -> slice:
    try:
        return slice(
            *(None if v is None else v.__index__() for v in (part.start, part.stop, part.step))
        )
    except (SymbolicError, AttributeError):
        ends = [part.start, part.stop] + [part.step] * (part.step is not None)
        text = ":".join("" if end is None else _end_text(end) for end in ends)
        raise ShapeError(
            f"{describe(node)}[{text}]: the ends of a slice are whole numbers "
            f"known when the graph is built{place_text()}; {MOVING_SLICE}"
        ) from None


def _end_text(end: Any) -> str:
    node = getattr(end, "node", None)
    return describe(node) if isinstance(node, Node) else f"{end!r:.40}"


def check_bounds(values: np.ndarray, axis: int, size: int, node: Node, index: Node) -> None:
    """Raise ShapeError if a known index is out of bounds."""
    if not values.size:
        return
    low, high = int(values.min()), int(values.max())
    if -size <= low and high < size:
        return
    labels = low == 1 and high == size
    raise ShapeError(
        f"{describe(node)}[{describe(index)}]: index {low if low < -size else high} is out of "
        f"bounds for axis {axis} of length {size}{place_text()}"
        + ("; the smallest is 1: do the labels start at 1? Subtract 1" if labels else "")
    )


def _check_unknown(index: Node, axis: int, size: int, node: Node) -> None:
    """Raise ShapeError if an unknown has values beyond an axis."""
    support: Any = getattr(index, "support", None)
    upper = getattr(support, "upper", None)
    if upper is None or isinstance(upper, Node) or not np.isfinite(high := np.max(upper)):
        return
    if high >= size:
        name, holder = describe(index), describe(node)
        raise ShapeError(
            f"{holder}[{name}]: {name} is {support.describe()}, but axis {axis} of {holder} has "
            f"length {size}{place_text()}; give it {int(high) + 1} elements, or {name} fewer values"
        )


def warn_of_missing(index: Data, axis_size: int, node: Node) -> None:
    """Warn if codes of pandas mark rows without a group by -1.

    Codes are a column of a data frame, integers of 8 or 16 bits such as `Categorical.codes`, or
    many integers that name the last element both by -1 and by its number. Lags and the two ends of
    a ring have fewer.
    """
    values = index.value
    if not values.size or values.min() != -1 or values.max() < 1:
        return
    last_twice = values.ndim == 1 and values.size > axis_size + 2 and values.max() == axis_size - 1
    is_small = values.ndim == 1 and values.dtype in (np.int8, np.int16)
    if index.rows is None and not last_twice and not is_small:
        return
    missing = values == -1
    warn_user(
        f"{describe(node)}[{describe(index)}]: {np.sum(missing)} of {values.size} indices are -1, "
        f"the first in row {np.argmax(missing)}{place_text()}: -1 is the last element; if it marks "
        "rows without a group, as codes of pandas do, leave these rows out"
        + ("" if index.rows is not None else f"; if not, write {axis_size - 1} in its place"),
        KinetographWarning,
    )


def trusted_indices(node: Apply) -> Iterator[tuple[Node, int, int]]:
    """The unchecked indices of a read or write, with axis and length."""
    if node.operation in (READ, WRITE):
        yield from (entry[1:] for entry in known_indices(node))


def fixed_parts(node: Apply) -> tuple[Any, ...]:
    """The fixed parts of an index: numbers, slices, new axes."""
    return tuple(part for part in node.attributes["template"] if part is not SLOT)


def known_indices(node: Apply) -> Iterator[tuple[int, Node, int, int]]:
    """The indices of a read or write: place, node, axis, length."""
    template, shape = node.attributes["template"], node.parents[0].shape
    indices = enumerate(node.parents)
    for _ in range(1 if node.operation in READS else 2):
        next(indices)
    axis_count = sum(part is not None and part is not Ellipsis for part in template)
    axis = 0
    for part in template:
        if part is SLOT:
            yield *next(indices), axis, shape[axis]
        axis += len(shape) - axis_count if part is Ellipsis else part is not None


def _result_shape(key: _Key) -> tuple[int, ...]:
    node = key.node
    stand_in = np.broadcast_to(np.zeros((), np.int8), node.shape)
    try:
        return stand_in[tuple(key.stand_in)].shape
    except (IndexError, ValueError) as error:
        numbers = [part for part in key.stand_in if isinstance(part, int)]
        counted_from_1 = len(key.stand_in) == len(numbers) == 1 and numbers == [*node.shape[:1]]
        hint = f"; indices are 0 to {node.shape[0] - 1}" if counted_from_1 else ""
        raise ShapeError(
            f"index of {describe(node)}, shape {node.shape}: {error}{place_text()}{hint}"
        ) from None


def index(x: Operand, key: Any) -> Node:
    """x[key] under NumPy's rules."""
    node = as_node(x, "index")
    if type(key) is int and node.shape and -node.shape[0] <= key < node.shape[0]:
        return Apply(SLICE, (node,), node.shape[1:], node.dtype, {"template": (key,)})
    if (flags := Flags.of(node, key)) is not None:
        return index(index(node, flags.wide), flags.key)
    parsed = _Key(node, key)
    shape = _result_shape(parsed)
    operation = SLICE if not parsed.nodes else READ if parsed.is_inside else READ_CHECKED
    attributes = {"template": tuple(parsed.template)}
    return Apply(operation, (node, *parsed.nodes), shape, node.dtype, attributes)


def take(x: Operand, indices: Operand, axis: int | None = None, mode: str = "raise") -> Node:
    """Elements of x along an axis, or of the flattened array."""
    node = as_node(x, "take")
    if mode not in ("raise", "clip", "wrap"):
        raise ValueError(f"take: mode is {mode!r}; choose 'raise', 'clip' or 'wrap'")
    if axis is None:
        node, axis = ravel(node), 0
    axis = axis if axis >= 0 else axis + len(node.shape)
    if not 0 <= axis < len(node.shape):
        raise ShapeError(
            f"take of {describe(node)}: the axis is out of range for shape {node.shape}"
        )
    size = node.shape[axis]
    if mode == "clip":
        indices = clip(indices, 0, size - 1)
    elif mode == "wrap":
        indices = elementwise("remainder", indices, size)
    return index(node, (slice(None),) * axis + (indices,))


def ravel(x: Operand) -> Node:
    """The elements as a vector."""
    node = as_node(x, "ravel")
    if len(node.shape) == 1:
        return node
    return Apply(RAVEL, (node,), (node.size,), node.dtype)


def update(x: Operand, key: Any, value: Operand, how: str) -> Node:
    """A copy of x with the elements at `key` set to `value`.

    `how` may also combine them with `value`, such as "add".
    """
    node, value_node = as_node(x, how), as_node(value, how)
    if (flags := Flags.of(node, key)) is not None:
        return index(update(index(node, flags.wide), flags.key, value, how), flags.narrow)
    parsed = _Key(node, key)
    shape = _result_shape(parsed)
    try:
        fits = np.broadcast_shapes(shape, value_node.shape) == shape
    except ValueError:
        fits = False
    if not fits:
        raise ShapeError(
            f"{describe(node)}.at[...].{how}: {describe(value_node)} of shape {value_node.shape} "
            f"does not fit the selected elements of shape {shape}"
        )
    dtype = promoted(node.dtype, type_of(value))
    CURRENT.adapted += value_node.weak and value_node.dtype != dtype
    attributes = {
        "template": tuple(parsed.template),
        "how": how,
        "casts": (dtype, dtype, *(n.dtype for n in parsed.nodes)),
    }
    write_node = Apply(WRITE, (node, value_node, *parsed.nodes), node.shape, dtype, attributes)
    if parsed.is_inside:
        return write_node
    sizes = tuple(size for _, _, _, size in known_indices(write_node))
    return Apply(
        WRITE_CHECKED, write_node.parents, node.shape, dtype, {**attributes, "sizes": sizes}
    )


def labels(x: Node, size: int) -> Node:
    """Labels, with `OUTSIDE` instead of labels outside 0 .. size - 1."""
    if isinstance(x, Data) or bounds.inside(x, 0, size - 1):
        return x
    wide = x if x.dtype.itemsize == 8 and x.dtype.kind == "i" else astype(x, np.int64)
    return Apply(LABELS, (wide,), x.shape, wide.dtype, {"size": size})


def one_hot(x: Operand, size: int) -> Node:
    """Indicator rows: 1 where the label equals the column."""
    node = as_node(x, "one_hot")
    if node.dtype.kind not in "iu":
        raise ShapeError(f"one_hot of {describe(node)}: labels are integers, not {node.dtype}")
    dtype = float_dtype()
    attributes = {"size": size, "dtype": dtype}
    check_labels("one_hot", node, size)
    if not isinstance(node, Data) and (checked := labels(node, size)) is not node:
        node, attributes["checked"] = checked, True
    return Apply(ONE_HOT, (node,), (*node.shape, size), dtype, attributes)


def check_labels(title: str, labels: Node, size: int) -> None:
    """Refuse known labels that fall outside of 0 .. size - 1."""
    if not isinstance(labels, Data) or not labels.size:
        return
    low, high = int(labels.value.min()), int(labels.value.max())
    if low < 0 or high >= size:
        hint = "; do the labels start at 1? Subtract 1" if low == 1 and high == size else ""
        raise ShapeError(
            f"{title}: the labels {describe(labels)} run from {low} to {high}, "
            f"not from 0 to {size - 1}{hint}"
        )
