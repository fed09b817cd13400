"""Data with missing values: observed elements, and unknowns for missing ones.

    p(seen, missing | parameters) = p(seen | parameters) p(missing | parameters)

if the elements of a distribution are independent given its parameters. Then the observed elements
follow the distribution with their own parameters, and so does an unknown for the missing elements.
A vector that is partly observed has one density for both:

    p(x_1, ..., x_d | parameters),  some x_j observed, the other ones unknown.
"""

import math
import weakref
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..distributions.censoring import Censored
from ..distributions.parameter import Parameter
from ..distributions.support import REAL
from ..distributions.variable import Distribution, Variable
from ..graph.array import Array
from ..graph.errors import DimsError, ModelError
from ..graph.messages import describe, site_text
from ..graph.missing import Incomplete
from ..graph.node import Apply, Data, Node
from ..graph.operations.indexing import READS, index
from ..graph.operations.operands import literal
from ..graph.operations.shaping import broadcast_to, concatenate, reshape
from ..graph.precision import float_dtype
from .data_checks import check_shape, check_support
from .factor import density_at, factor
from .observed_parts import with_observed
from .statement_store import building
from .statements import add_statement

__all__ = ["completed", "incomplete", "labels_of_rows", "missing_of", "observe_incomplete"]

Places = tuple[tuple[int, ...], np.ndarray]  # a shape, and flat indices of elements in it
DEEPEST = 50  # nested expressions through which the selection of elements is moved to the operands
# For the array of all values of observed data: the data with missing values.
_COMPLETED: "weakref.WeakKeyDictionary[Node, Incomplete]" = weakref.WeakKeyDictionary()
# For the unknown in place of missing values: the data with missing values.
_MISSING: "weakref.WeakKeyDictionary[Node, Incomplete]" = weakref.WeakKeyDictionary()
# For parts of data: the data, and the dims of the part with the places of its elements.
_PLACES: "weakref.WeakKeyDictionary[Node, tuple[Incomplete, dict[str, Places]]]"
_PLACES = weakref.WeakKeyDictionary()


def incomplete(value: Any) -> Incomplete | None:
    """The data with missing values behind an array, or None.

    It does not matter whether they have been observed yet.
    """
    node = getattr(value, "node", None)
    if not isinstance(node, Node):
        return None
    return node if isinstance(node, Incomplete) else _COMPLETED.get(node)


def completed(node: Node) -> Incomplete | None:
    """The data with missing values whose completed array is `node`, or None."""
    return _COMPLETED.get(node)


def missing_of(node: Node) -> Incomplete | None:
    """The data whose missing values are the unknown `node`, or None."""
    return _MISSING.get(node)


def observe_incomplete(array: Array, node: Incomplete, distribution: Distribution) -> None:
    """State a likelihood for data with missing values.

    The array becomes the array of all values, observed and unknown.
    """
    family = distribution.family
    check_shape(node, distribution)
    _check_family(node, distribution)
    rows = _MissingRows(node, distribution)
    if rows.is_partial.any() and (distribution.support is not REAL or family.event_ndim != 1):
        raise ModelError(
            f"observe: {describe(node)} has {family.name} values that are partly missing, and the "
            "density of their observed part is not available. Leave these values out, or mark "
            "each of them as missing as a whole"
        )
    whole = rows.is_missing & ~rows.is_partial.any()  # otherwise all vectors share one density
    partly = ~rows.is_observed & ~whole
    pieces: list[tuple[np.ndarray, Node]] = []  # places of elements, with their values
    if rows.is_observed.any():
        pieces.append((rows.elements(rows.is_observed), _observed(rows, array)))
    if whole.any():
        pieces.append((rows.elements(whole), _unknown(rows, whole)))
    if partly.any():
        pieces.append((rows.elements(partly), _in_part(rows, partly)))
    completed = reshape(_assembled(pieces), node.shape)
    completed.name, completed.dims = node.name, node.dims
    _COMPLETED[completed] = node
    scope = building()
    if scope is not None:
        scope.observed.append((array, array.node))
    array.node = completed


def _check_family(node: Incomplete, distribution: Distribution) -> None:
    """Raise ModelError for missing values whose distribution an unknown cannot have."""
    if isinstance(distribution.family, Censored) or distribution.family.atom is not None:
        raise ModelError(
            f"observe: {describe(node)} has missing values, which cannot be inferred under the "
            f"distribution {distribution.family.name}; leave the missing elements out"
        )


class _MissingRows:
    """The data as rows: one number, vector or matrix each."""

    def __init__(self, node: Incomplete, distribution: Distribution) -> None:
        self.node, self.complete = node, distribution
        ndim = len(node.shape) - distribution.family.event_ndim
        self.batch, self.event = node.shape[:ndim], node.shape[ndim:]
        self.count = math.prod(self.batch)
        self.values = node.value.reshape((self.count, *self.event))
        self.missing = np.isnan(self.values)
        within = tuple(range(1, 1 + len(self.event)))
        self.is_observed, self.is_missing = ~self.missing.any(within), self.missing.all(within)
        self.is_partial = ~self.is_observed & ~self.is_missing

    @property
    def label(self) -> str | None:
        """The name of the data."""
        return self.node.name or self.node.variable

    def elements(self, chosen: np.ndarray) -> np.ndarray:
        """The places of all elements of the chosen rows, in order."""
        every = np.arange(self.values.size).reshape(self.values.shape)
        return every[chosen].reshape(-1)

    def placed(self, place: tuple[int, ...]) -> tuple[int, ...]:
        """The index in the data of an element of the observed rows."""
        row = np.unravel_index(np.flatnonzero(self.is_observed)[place[0]], self.batch)
        return (*map(int, row), *place[1:])

    def distribution(self, chosen: np.ndarray) -> Distribution:
        """The distribution of the chosen rows."""
        family, places = self.complete.family, np.flatnonzero(chosen)
        parents = tuple(
            _of_rows(parameter, parent, self.batch, places)
            for parameter, parent in zip(family.parameters, self.complete.parents, strict=True)
        )
        return Distribution(family, parents, (len(places), *self.event))

    def data(self, part: str, values: np.ndarray, places: np.ndarray, elements: bool) -> Data:
        """A part of the data, with coords.

        The coords include the labels of the missing part.
        """
        if part in self.node.parts:
            existing: Data = self.node.parts[part]
            return existing
        dims = self.dims(part, values.ndim)
        numbered: dict[str, Places] = {}
        if dims is not None and dims[0] is not None:
            numbered[dims[0]] = self.node.shape if elements else self.batch, places
            in_part = bool(self.is_partial.any())
            missing_places = np.flatnonzero(self.missing if in_part else ~self.is_observed)
            shape = self.node.shape if in_part else self.batch
            numbered[f"{self.label}_missing_at"] = shape, missing_places
        row_labels = {dim: _labels(self.node, at, self.node.coords) for dim, at in numbered.items()}
        coords = {**self.node.coords, **row_labels}
        is_whole = self.complete.family.discrete and bool(np.all(values == np.floor(values)))
        values = np.array(values, np.int64 if is_whole else None)
        values.setflags(write=False)
        name = None if self.label is None else f"{self.label}_{part}"
        part_data = self.node.parts[part] = Data(values, name, dims, coords=coords)
        _PLACES[part_data] = self.node, numbered
        return part_data

    def dims(self, part: str, ndim: int) -> tuple[str | None, ...] | None:
        """The dims of a part of the data; the first numbers rows."""
        if self.label is None:
            return None
        axis_dims = self.node.dims or (None,) * len(self.node.shape)
        event_dims = axis_dims[len(self.batch) :] if ndim > 1 else ()
        return (f"{self.label}_{part}_at", *event_dims)


def _labels(node: Incomplete, located: Places, coords: Mapping[str, np.ndarray]) -> np.ndarray:
    """Labels of rows or elements, from the labels of the axes.

    An axis without a name has the labels of the table that the data came from. Axes without labels
    are numbered.
    """
    shape, places = located
    names = (node.dims or (None,) * len(shape))[: len(shape)]
    axes = []
    for axis, (name, size) in enumerate(zip(names, shape, strict=True)):
        labels = node.labels[axis] if axis < len(node.labels) else None
        axes.append(coords.get(name or "", np.arange(size) if labels is None else labels))
    indices = np.unravel_index(places, shape) if shape else ()
    indexed = [axis[i] for axis, i in zip(axes, indices, strict=True)]
    if len(indexed) == 1:
        return np.asarray(indexed[0])
    return np.array([", ".join(map(str, place)) for place in zip(*indexed)] or ["0"])


def labels_of_rows(
    data: Iterable[Node], given: Mapping[str, np.ndarray]
) -> tuple[set[str], dict[str, np.ndarray]]:
    """The dims of data in parts, and labels of the parts.

    The labels of the parts are made from the `given` labels.

    Raises
    ------
    DimsError
        If the numbers of labels and rows differ.
    """
    dims: set[str] = set()
    labels: dict[str, np.ndarray] = {}
    for node, numbered in filter(None, map(_PLACES.get, data)):
        for dim, size in zip(node.dims or (), node.shape, strict=False):
            if dim is not None and len(given.get(dim, range(size))) != size:
                raise DimsError(
                    f"dimension {dim!r} has length {len(given[dim])} in its labels and {size} in "
                    f"{describe(node)}{site_text(node)}"
                )
        named_dims = {dim for dim in node.dims or () if dim is not None}
        dims |= named_dims
        if named_dims & set(given):
            all_labels = {**node.coords, **given}
            labels.update((dim, _labels(node, at, all_labels)) for dim, at in numbered.items())
    return dims, labels


def _observed(rows: _MissingRows, array: Array) -> Node:
    """The observed rows, with their likelihood."""
    data = rows.data(
        "observed", rows.values[rows.is_observed], np.flatnonzero(rows.is_observed), False
    )
    likelihood = rows.distribution(rows.is_observed)
    check_support("observe", data, likelihood, rows.node, rows.placed)
    likelihood.target = data
    add_statement(likelihood, data, array, describe(rows.node), once=True)
    data._owned = likelihood
    return reshape(data, -1)


def _unknown(rows: _MissingRows, chosen: np.ndarray) -> Node:
    """An unknown in place of the chosen rows."""
    distribution = rows.distribution(chosen)
    dtype = np.dtype(np.int64) if distribution.family.discrete else float_dtype()
    unknown = Variable(distribution.support, distribution.shape, dtype, distribution=distribution)
    return reshape(_named(rows, unknown), -1)


def _in_part(rows: _MissingRows, chosen: np.ndarray) -> Node:
    """Partly observed vectors, with the density of whole vectors."""
    missing = rows.missing[chosen]
    places = rows.elements(chosen)
    is_missing = missing.reshape(-1)
    unknown = _named(rows, Variable(REAL, (int(is_missing.sum()),), float_dtype()))
    pieces: list[tuple[np.ndarray, Node]] = [(np.flatnonzero(is_missing), unknown)]
    if not is_missing.all():
        values = rows.values[chosen][~missing]
        data = rows.data("seen_in_part", values, places[~is_missing], True)
        pieces.append((np.flatnonzero(~is_missing), data))
    vectors = reshape(_assembled(pieces), missing.shape)
    density = density_at("observe", rows.distribution(chosen), vectors)
    factor(Array(with_observed(density, ~missing, rows.label)))
    return reshape(vectors, -1)


def _named(rows: _MissingRows, unknown: Variable) -> Variable:
    """The unknown with the name and dims of missing values."""
    _MISSING[unknown] = rows.node
    if rows.label is not None:
        unknown.name = f"{rows.label}_missing"
        unknown.dims = rows.dims("missing", len(unknown.shape))
    return unknown


def _assembled(pieces: Sequence[tuple[np.ndarray, Node]]) -> Node:
    """A single vector of pieces, whose places are given."""
    if len(pieces) == 1:
        return pieces[0][1]
    order = np.argsort(np.concatenate([places for places, _ in pieces]))
    return index(concatenate([node for _, node in pieces]), order)


def _of_rows(parameter: Parameter, node: Node, batch: tuple[int, ...], places: np.ndarray) -> Node:
    """A parameter for the rows at `places`."""
    ndim = len(node.shape) - parameter.event_ndim
    batch_shape, event_shape = node.shape[:ndim], node.shape[ndim:]
    if math.prod(batch_shape) == 1:
        return node if not batch_shape else reshape(node, event_shape)
    if batch_shape != batch:
        node = broadcast_to(node, (*batch, *event_shape))
    if len(batch) != 1:
        node = reshape(node, (math.prod(batch), *event_shape))
    return _at(node, places, DEEPEST)


def _at(node: Node, places: np.ndarray, deep: int) -> Node:
    """The elements of a node at `places`.

    Elements are taken from the operands, if each element has its own.
    """
    size = node.shape[0]
    if isinstance(node, Data) and node.literal:
        return literal(node.value[places])
    if type(node) is Apply and node.context is None and len(node.shape) == 1 and deep:
        if node.operation.elementwise:
            parents = tuple(
                _at(p, places, deep - 1) if p.shape == (size,) else p for p in node.parents
            )
            if size > 1 or all(p.shape == (size,) for p in node.parents):
                return _with_parents(node, parents, places)
        template = node.attributes.get("template", ())
        if node.operation in READS and len(template) == 1:
            base, indices = node.parents
            return _with_parents(node, (base, _indices(indices, places, deep)), places)
    return index(node, (literal(places),))


def _indices(node: Node, places: np.ndarray, deep: int) -> Node:
    """The indices at `places`; indices that are data stay data.

    Rewrites recognise them as data.
    """
    if not isinstance(node, Data) or node.literal:
        return _at(node, places, deep - 1)
    data = Data(node.value[places])
    data.source = index(node, (literal(places),))
    data.variable = f"{node.label()}_of_some"
    return data


def _with_parents(node: Apply, parents: tuple[Node, ...], places: np.ndarray) -> Apply:
    """The same operation on parts of its operands."""
    return Apply(node.operation, parents, (len(places),), node.dtype, node.attributes)
