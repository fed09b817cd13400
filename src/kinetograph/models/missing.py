"""Data with missing values: what is seen is observed, and what is missing is an unknown.

    p(seen, missing | parameters) = p(seen | parameters) p(missing | parameters)

where the elements of a distribution are independent given its parameters: those that are seen
follow it with their own parameters, and so does the unknown that stands for the others. A vector
that is seen in part has one density for both:

    p(x_1, ..., x_d | parameters),  some x_j seen, the others unknown.
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
from ..graph.operations.indexing import READ, READ_CHECKED, index
from ..graph.operations.operands import literal
from ..graph.operations.shaping import broadcast_to, concatenate, reshape
from ..graph.precision import float_dtype
from .factor import density_at, factor
from .followed import check_shape, check_support
from .held import building
from .seen import with_seen
from .statements import add_statement

__all__ = ["completed", "incomplete", "labels_of_rows", "missing_of", "observe_incomplete"]

Places = tuple[tuple[int, ...], np.ndarray]  # a shape, and the numbers of elements in it
DEEPEST = 50  # expressions whose elements are taken before they are computed, not after
# What arrays with missing values became when they were observed.
_COMPLETED: "weakref.WeakKeyDictionary[Node, Incomplete]" = weakref.WeakKeyDictionary()
# Of which data an unknown is what is missing.
_MISSING: "weakref.WeakKeyDictionary[Node, Incomplete]" = weakref.WeakKeyDictionary()
# By parts of data: the dims that number them, each with the shape and the places of its elements.
_PLACES: "weakref.WeakKeyDictionary[Node, tuple[Incomplete, dict[str, Places]]]"
_PLACES = weakref.WeakKeyDictionary()


def incomplete(value: Any) -> Incomplete | None:
    """The data with missing values that an array stands for, observed already or not."""
    node = getattr(value, "node", None)
    if not isinstance(node, Node):
        return None
    return node if isinstance(node, Incomplete) else _COMPLETED.get(node)


def completed(node: Node) -> Incomplete | None:
    """The data of which a node has all values, those that are seen and the unknown ones."""
    return _COMPLETED.get(node)


def missing_of(node: Node) -> Incomplete | None:
    """The data of which an unknown is what is missing."""
    return _MISSING.get(node)


def observe_incomplete(array: Array, node: Incomplete, follows: Distribution) -> None:
    """State that data follow a distribution, and have the array stand for all of their values."""
    family = follows.family
    check_shape(node, follows)
    _check_family(node, follows)
    rows = _Rows(node, follows)
    if rows.in_part.any() and (follows.support is not REAL or family.event_ndim != 1):
        raise ModelError(
            f"observe: {describe(node)} has {family.name} values of which a part is missing; what "
            "is seen of them alone has no density that is known here. Leave them out, or mark "
            "each of them as missing in whole"
        )
    whole = rows.gone & ~rows.in_part.any()  # else all of them have one density
    partly = ~rows.seen & ~whole
    pieces: list[tuple[np.ndarray, Node]] = []  # the places of elements, and their values
    if rows.seen.any():
        pieces.append((rows.elements(rows.seen), _seen(rows, array)))
    if whole.any():
        pieces.append((rows.elements(whole), _unknown(rows, whole)))
    if partly.any():
        pieces.append((rows.elements(partly), _in_part(rows, partly)))
    completed = reshape(_assembled(pieces), node.shape)
    completed.name, completed.dims = node.name, node.dims
    _COMPLETED[completed] = node
    held = building()
    if held is not None:
        held.observed.append((array, array.node))
    array.node = completed


def _check_family(node: Incomplete, follows: Distribution) -> None:
    if isinstance(follows.family, Censored):
        raise ModelError(
            f"observe: {describe(node)} has missing values, and {follows.family.name} is what was "
            "measured up to a bound; leave the missing elements out"
        )


class _Rows:
    """The data, a row for each realisation: a number, a vector or a matrix."""

    def __init__(self, node: Incomplete, follows: Distribution) -> None:
        self.node, self.follows = node, follows
        ndim = len(node.shape) - follows.family.event_ndim
        self.batch, self.event = node.shape[:ndim], node.shape[ndim:]
        self.count = math.prod(self.batch)
        self.values = node.value.reshape((self.count, *self.event))
        self.missing = np.isnan(self.values)
        within = tuple(range(1, 1 + len(self.event)))
        self.seen, self.gone = ~self.missing.any(within), self.missing.all(within)
        self.in_part = ~self.seen & ~self.gone

    @property
    def label(self) -> str | None:
        """How the data are called."""
        return self.node.name or self.node.variable

    def elements(self, chosen: np.ndarray) -> np.ndarray:
        """The places of all elements of rows, in the order of the data."""
        every = np.arange(self.values.size).reshape(self.values.shape)
        return every[chosen].reshape(-1)

    def placed(self, place: tuple[int, ...]) -> tuple[int, ...]:
        """Where an element of the rows that are seen is in the data."""
        row = np.unravel_index(np.flatnonzero(self.seen)[place[0]], self.batch)
        return (*map(int, row), *place[1:])

    def distribution(self, chosen: np.ndarray) -> Distribution:
        """What some rows follow."""
        family, places = self.follows.family, np.flatnonzero(chosen)
        parents = tuple(
            _of_rows(own, parent, self.batch, places)
            for own, parent in zip(family.parameters, self.follows.parents, strict=True)
        )
        return Distribution(family, parents, (len(places), *self.event))

    def data(self, what: str, values: np.ndarray, places: np.ndarray, elements: bool) -> Data:
        """Some of the data; they bring along the labels of what is missing, too."""
        if what in self.node.parts:
            known: Data = self.node.parts[what]
            return known
        dims = self.dims(what, values.ndim)
        numbered: dict[str, Places] = {}
        if dims is not None and dims[0] is not None:
            numbered[dims[0]] = self.node.shape if elements else self.batch, places
            in_part = bool(self.in_part.any())
            gone = np.flatnonzero(self.missing if in_part else ~self.seen)
            shape = self.node.shape if in_part else self.batch
            numbered[f"{self.label}_missing_at"] = shape, gone
        of_rows = {dim: _labels(self.node, at, self.node.coords) for dim, at in numbered.items()}
        coords = {**self.node.coords, **of_rows}
        whole = self.follows.family.discrete and bool(np.all(values == np.floor(values)))
        values = np.array(values, np.int64 if whole else None)
        values.setflags(write=False)
        name = None if self.label is None else f"{self.label}_{what}"
        made = self.node.parts[what] = Data(values, name, dims, coords=coords)
        _PLACES[made] = self.node, numbered
        return made

    def dims(self, what: str, ndim: int) -> tuple[str | None, ...] | None:
        """The dims of a part of the data, of which the first numbers what there is of it."""
        if self.label is None:
            return None
        own = self.node.dims or (None,) * len(self.node.shape)
        rest = own[len(self.batch) :] if ndim > 1 else ()
        return (f"{self.label}_{what}_at", *rest)


def _labels(node: Incomplete, at: Places, coords: Mapping[str, np.ndarray]) -> np.ndarray:
    """Where rows or elements are, by the labels of the data's axes or by numbers."""
    shape, places = at
    names = (node.dims or (None,) * len(shape))[: len(shape)]
    axes = [
        coords.get(name, np.arange(size)) if name else np.arange(size)
        for name, size in zip(names, shape, strict=True)
    ]
    indices = np.unravel_index(places, shape) if shape else ()
    found = [axis[i] for axis, i in zip(axes, indices, strict=True)]
    if len(found) == 1:
        return np.asarray(found[0])
    return np.array([", ".join(map(str, place)) for place in zip(*found)] or ["0"])


def labels_of_rows(
    data: Iterable[Node], given: Mapping[str, np.ndarray]
) -> tuple[set[str], dict[str, np.ndarray]]:
    """The dims of data that are in parts, and the labels of the parts by labels that are given.

    Raises
    ------
    DimsError
        If there are not as many labels as rows.
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
        own = {dim for dim in node.dims or () if dim is not None}
        dims |= own
        if own & set(given):
            known = {**node.coords, **given}
            labels.update((dim, _labels(node, at, known)) for dim, at in numbered.items())
    return dims, labels


def _seen(rows: _Rows, array: Array) -> Node:
    """The data that are seen, with their likelihood."""
    data = rows.data("observed", rows.values[rows.seen], np.flatnonzero(rows.seen), False)
    likelihood = rows.distribution(rows.seen)
    check_support("observe", data, likelihood, rows.node, rows.placed)
    likelihood.target = data
    add_statement(likelihood, data, array, describe(rows.node), once=True)
    data._owned = likelihood
    return reshape(data, -1)


def _unknown(rows: _Rows, chosen: np.ndarray) -> Node:
    """An unknown in the place of whole rows."""
    follows = rows.distribution(chosen)
    dtype = np.dtype(np.int64) if follows.family.discrete else float_dtype()
    made = Variable(follows.support, follows.shape, dtype, distribution=follows)
    return reshape(_named(rows, made), -1)


def _in_part(rows: _Rows, chosen: np.ndarray) -> Node:
    """Vectors that are seen in part, with the density of the whole ones."""
    missing = rows.missing[chosen]
    every = rows.elements(chosen)
    gone = missing.reshape(-1)
    made = _named(rows, Variable(REAL, (int(gone.sum()),), float_dtype()))
    pieces: list[tuple[np.ndarray, Node]] = [(np.flatnonzero(gone), made)]
    if not gone.all():
        values = rows.values[chosen][~missing]
        data = rows.data("seen_in_part", values, every[~gone], True)
        pieces.append((np.flatnonzero(~gone), data))
    vectors = reshape(_assembled(pieces), missing.shape)
    density = density_at("observe", rows.distribution(chosen), vectors)
    factor(Array(with_seen(density, ~missing, rows.label)))
    return reshape(vectors, -1)


def _named(rows: _Rows, made: Variable) -> Variable:
    _MISSING[made] = rows.node
    if rows.label is not None:
        made.name = f"{rows.label}_missing"
        made.dims = rows.dims("missing", len(made.shape))
    return made


def _assembled(pieces: Sequence[tuple[np.ndarray, Node]]) -> Node:
    """One vector of pieces, of which the places are known."""
    if len(pieces) == 1:
        return pieces[0][1]
    order = np.argsort(np.concatenate([places for places, _ in pieces]))
    return index(concatenate([node for _, node in pieces]), order)


def _of_rows(parameter: Parameter, node: Node, batch: tuple[int, ...], places: np.ndarray) -> Node:
    """A parameter of some rows."""
    ndim = len(node.shape) - parameter.event_ndim
    own, rest = node.shape[:ndim], node.shape[ndim:]
    if math.prod(own) == 1:
        return node if not own else reshape(node, rest)
    if own != batch:
        node = broadcast_to(node, (*batch, *rest))
    if len(batch) != 1:
        node = reshape(node, (math.prod(batch), *rest))
    return _at(node, places, DEEPEST)


def _at(node: Node, places: np.ndarray, deep: int) -> Node:
    """The elements of a node: taken from what it is computed from where each has its own."""
    size = node.shape[0]
    if isinstance(node, Data) and node.literal:
        return literal(node.value[places])
    if type(node) is Apply and node.context is None and len(node.shape) == 1 and deep:
        if node.operation.elementwise:
            parents = tuple(
                _at(p, places, deep - 1) if p.shape == (size,) else p for p in node.parents
            )
            if size > 1 or all(p.shape == (size,) for p in node.parents):
                return _again(node, parents, places)
        template = node.attributes.get("template", ())
        if node.operation in (READ, READ_CHECKED) and len(template) == 1:
            base, indices = node.parents
            return _again(node, (base, _indices(indices, places, deep)), places)
    return index(node, (literal(places),))


def _indices(node: Node, places: np.ndarray, deep: int) -> Node:
    """Some of the indices; of data they are data, by which rewrites know them."""
    if not isinstance(node, Data) or node.literal:
        return _at(node, places, deep - 1)
    made = Data(node.value[places])
    made.source = index(node, (literal(places),))
    made.variable = f"{node.label()}_of_some"
    return made


def _again(node: Apply, parents: tuple[Node, ...], places: np.ndarray) -> Apply:
    return Apply(node.operation, parents, (len(places),), node.dtype, node.attributes)
