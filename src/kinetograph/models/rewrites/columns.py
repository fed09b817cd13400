"""Columns: nodes in one place of alike pieces, as one array.

The unknowns of a column are one array, taken from the free state at once; its data are stacked; and
each operation is computed once for all pieces. If pieces have different numbers of rows, the rows
of all pieces form one array, one piece after the other, as if each row were a piece.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...distributions.variable import Variable
from ...graph.lower import Environment
from ...graph.node import Apply, Data, Node
from ...graph.operations.shaping import concatenate, expand_dims, stack
from ...graph.rewriting.alike import (
    Column,
    at,
    equal_literals,
    is_batchable,
    is_single,
    lowered,
    place_of,
)
from ...graph.rewriting.gaps import stacked_values
from ...graph.rewriting.guarded_columns import GuardedColumn, is_where
from ..bijectors import Image, SupportBijector, bijector
from .pieces import FEWEST, row_parents

__all__ = ["Columns", "Ensure", "ColumnEvaluation", "Place", "PieceRows", "Unknowns", "repeated"]

Ensure = Callable[[Node], Any]  # the tensor of a single node


@dataclass(frozen=True)
class PieceRows:
    """Nodes with a row for each row of their piece."""

    nodes: Column


Place = Column | PieceRows


def repeated(column: Column, lengths: Sequence[int]) -> Column:
    """The node of each row's piece, one entry for each row."""
    pairs = zip(column, lengths, strict=True)
    return tuple(node for node, length in pairs for _ in range(length))


class Columns:
    """The computation of columns, and the arrays that it needs.

    `classes` holds the class of each node; alike nodes have the same class.
    """

    def __init__(self, classes: Mapping[Node, int], unknowns: Sequence[Variable]) -> None:
        self._classes = classes
        self._free = set(unknowns)
        self._kinds: dict[Place, tuple[str, Any]] = {}
        self.data: dict[Place, Data] = {}
        self._used: dict[Node, None] = {}

    def prepare(self, place: Place) -> None:
        """Plan the computation of a column, and stack its data."""
        pending, visited = [place], set()
        while pending:
            place = pending.pop()
            if place in visited:
                continue
            visited.add(place)
            kind, parts = self.split(place)
            if kind == "guarded":
                pending += parts.leaves
            elif kind in ("operation", "rows"):
                pending += parts
            elif kind == "unknowns":
                self._used.update(dict.fromkeys(place))  # type: ignore[arg-type]
            elif kind == "data" and place not in self.data:
                self.data[place] = Data(stacked(place))

    def split(self, place: Place) -> tuple[str, Any]:
        """The kind of computation of a column, and its input columns."""
        if place not in self._kinds:
            kind = (
                self._kind_of_rows(place.nodes)
                if isinstance(place, PieceRows)
                else self._kind(place)
            )
            guarded = self._guarded(place) if kind[0] == "operation" else None
            self._kinds[place] = kind if guarded is None else guarded
        return self._kinds[place]

    def _kind_of_rows(self, nodes: Column) -> tuple[str, Any]:
        first = nodes[0]
        if isinstance(first, Data):
            return "data", None
        assert isinstance(first, Apply)
        by_rows = row_parents(first)
        assert by_rows is not None
        lengths = [node.shape[0] for node in nodes]
        columns = zip(*(node.parents for node in nodes), strict=True)
        return "operation", [
            PieceRows(column) if row else repeated(column, lengths)
            for column, row in zip(columns, by_rows, strict=True)
        ]

    def _kind(self, column: Column) -> tuple[str, Any]:
        if is_single(column) or equal_literals(column):
            return "single", None
        distinct = tuple(dict.fromkeys(column))
        if len(distinct) < len(column):
            return "rows", [distinct]
        if len(column) < FEWEST:
            return "singles", stack(column)
        return self._kind_of_many(column)

    def _guarded(self, place: Place) -> tuple[str, Any] | None:
        """The kind of a column of `where` whose derivatives need choices."""
        nodes = _nodes(place)
        if not is_where(nodes[0]):
            return None
        guarded = GuardedColumn(place, self._inputs_of_side, lambda each: _nodes(each)[0])
        if not guarded.guards:
            return None
        if any(self._is_apart(leaf) for leaf in guarded.leaves):
            # Their derivatives are chosen one by one.
            by_rows = isinstance(place, PieceRows)
            return "singles", expand_dims(concatenate(nodes), 1) if by_rows else stack(nodes)
        return "guarded", guarded

    def _inputs_of_side(self, place: Place) -> Sequence[Place] | None:
        """The columns from which a column of a side is computed.

        None for inputs of sides. Equal nodes are computed once for each piece, as their derivatives
        are chosen by piece.
        """
        if isinstance(place, PieceRows):
            kind, parts = self._kind_of_rows(place.nodes)
        elif is_single(place) or equal_literals(place) or _form_of(place[0]) is not None:
            return None
        else:
            kind, parts = self._kind_of_many(place)
        return parts if kind == "operation" else None

    def _is_apart(self, place: Place) -> bool:
        """Whether the nodes of a column are computed one by one."""
        if isinstance(place, PieceRows) or is_single(place) or equal_literals(place):
            return False
        return self._kind_of_many(place)[0] == "singles"

    def _kind_of_many(self, column: Column) -> tuple[str, Any]:
        """The kind of a column of different nodes."""
        first = column[0]
        same = len({self._classes.get(node, -1) for node in column}) == 1
        if same and isinstance(first, Data):
            return "data", None
        if same and isinstance(first, Variable) and first in self._free:
            return "unknowns", None
        if same and place_of(first) is not None:
            whole = all(node.parents[0] is first.parents[0] for node in column)
            return ("places", [(first.parents[0],)]) if whole else ("singles", stack(column))
        if same and is_batchable(first):
            return "operation", list(zip(*(node.parents for node in column), strict=True))
        return "singles", stacked_values(column)

    def families(self, unknowns: Sequence[Variable]) -> list[tuple[Variable, ...]]:
        """The groups of unknowns that form one array each."""
        by_class: dict[int, list[Variable]] = {}
        for v in unknowns:
            if v in self._used:
                by_class.setdefault(self._classes[v], []).append(v)
        return [tuple(vs) for vs in by_class.values()]


class Unknowns:
    """The unknowns of alike pieces, as arrays."""

    def __init__(self, families: Sequence[tuple[Variable, ...]]) -> None:
        self.families = families
        self.row = {v: (k, i) for k, vs in enumerate(families) for i, v in enumerate(vs)}
        self._bijectors: list[SupportBijector] = [
            bijector(vs[0].support, (len(vs), *vs[0].shape)) for vs in families
        ]

    def images(self, free: Any, slices: Mapping[Variable, slice]) -> tuple[list[Image], Any]:
        """The images of the arrays, and the sum of their log Jacobians."""
        images, log_jacobian = [], jnp.zeros((), free.dtype)
        for family, transform in zip(self.families, self._bijectors, strict=True):
            places = np.concatenate([np.arange(free.size)[slices[v]] for v in family])
            free_numbers = at(free, places).reshape(transform.free_shape)
            image = transform.forward(free_numbers, lambda bound: bound)
            log_jacobian = log_jacobian + image.log_jacobian
            images.append(image)
        return images, log_jacobian

    def one(self, node: Variable, images: Sequence[Image], environment: Environment) -> Any:
        """One unknown, taken out of its array.

        Its forms are put into the environment.
        """
        k, i = self.row[node]
        for kind, form in node.forms_in_use.items():
            environment[form] = images[k].forms[kind][i].astype(form.dtype)
        return images[k].value[i].astype(node.dtype)

    def taken(self, column: Column, images: Sequence[Image], form: str | None = None) -> Any:
        """The array of a column of unknowns, or of a form."""
        places = [self.row[node] for node in column if isinstance(node, Variable)]
        k = places[0][0]
        whole = images[k].value if form is None else images[k].forms[form]
        return at(whole, np.array([i for _, i in places]))

    def form(self, column: Column, images: Sequence[Image]) -> Any:
        """Another form of unknowns that their bijector computes.

        None for other nodes.
        """
        first = column[0]
        kind = _form_of(first)
        if kind is None or first.parents[0] not in self.row:
            return None
        unknowns = tuple(node.parents[0] for node in column)
        return self.taken(unknowns, images, kind).astype(first.dtype)


class ColumnEvaluation:
    """The tensors of columns at one free state."""

    def __init__(
        self,
        columns: Columns,
        unknowns: Unknowns,
        images: Sequence[Image],
        environment: Environment,
        ensure: Ensure,
    ) -> None:
        self.columns, self.unknowns, self.images = columns, unknowns, images
        self.environment, self.ensure = environment, ensure
        self._tensors: dict[Place, tuple[Any, int | None]] = {}

    def tensor(self, place: Place) -> tuple[Any, int | None]:
        """The tensor of a column, and the axis of the pieces.

        The axis is None if all pieces have the same value. The search is iterative, as pieces may
        be deep.
        """
        tensors, pending = self._tensors, [place]
        while pending:
            top = pending[-1]
            if top in tensors:
                pending.pop()
                continue
            kind, parts = self.columns.split(top)
            columns: Sequence[Place] = ()
            if kind in ("operation", "rows"):
                columns = parts
            elif kind == "guarded":
                columns = parts.leaves
            missing = [p for p in columns if p not in tensors]
            if missing:
                pending += missing
                continue
            tensors[top] = self._computed(top, kind, parts)
            pending.pop()
        return tensors[place]

    def _computed(self, place: Place, kind: str, parts: Any) -> tuple[Any, int | None]:
        if kind == "data":
            return self.environment[self.columns.data[place]], 0
        column = place.nodes if isinstance(place, PieceRows) else place
        if kind == "single":
            return self.ensure(column[0]), None
        if kind == "singles":
            return self.ensure(parts), 0
        if kind == "rows":
            places = {node: i for i, node in enumerate(parts[0])}
            source, axis = self._tensors[parts[0]]
            index = np.array([places[node] for node in column])
            return (source if axis is None else at(source, index)), axis
        if kind == "places":
            index = np.array([place_of(node) for node in column])
            return at(self.ensure(parts[0][0]), index), 0
        if kind == "unknowns":
            return self.unknowns.taken(column, self.images), 0
        if kind == "guarded":
            return self._batch(parts, parts.leaves)
        form = None if isinstance(place, PieceRows) else self.unknowns.form(column, self.images)
        return (form, 0) if form is not None else self._batch(lowered(column[0]), parts)

    def _batch(
        self, function: Callable[..., Any], parts: Sequence[Place]
    ) -> tuple[Any, int | None]:
        """A function of one piece, computed for all pieces."""
        tensors, axes = zip(*(self._tensors[p] for p in parts), strict=True)
        if all(axis is None for axis in axes):
            return function(*tensors), None
        return jax.vmap(function, axes)(*tensors), 0


def _nodes(place: Place) -> Column:
    return place.nodes if isinstance(place, PieceRows) else place


def _form_of(node: Node) -> str | None:
    """The kind of a form that the bijector of an unknown computes.

    None for other nodes.
    """
    unknown = node.parents[0] if node.parents else None
    if not isinstance(unknown, Variable):
        return None
    return next((k for k, form in unknown.forms_in_use.items() if form is node), None)


def stacked(place: Place) -> np.ndarray:
    """The data of all pieces, or all rows, in one array."""
    values = [np.asarray(node.value) for node in _nodes(place) if isinstance(node, Data)]
    return np.concatenate(values)[:, None] if isinstance(place, PieceRows) else np.stack(values)
