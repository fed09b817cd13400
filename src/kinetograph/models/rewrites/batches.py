"""Alike pieces of a model, computed as one batch.

    sum_i log p(y_i | f(x_i))  =  sum over the axis i of log p(y | f(x))

The pieces' unknowns are one array, taken from the free state at once, their data another one, and
each operation is computed once for all of them. The density is the same, to rounding.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...distributions.variable import Distribution, Variable
from ...graph.lower import Environment
from ...graph.node import Apply, Data, Node, ancestors
from ..bijectors import Bijector, bijector
from ..term import Term, widened
from .pieces import FEWEST, Column, alike_terms, classes, is_batchable, place_of

__all__ = ["Batches", "find_batches"]

Ensure = Callable[[Node], Any]  # the tensor of a single node


class Batches:
    """The terms that are alike, and the arrays of unknowns and data that they are computed from."""

    def __init__(self, groups: list[list[Term]], unknowns: Sequence[Variable]) -> None:
        self.groups = groups
        self.terms = {term for group in groups for term in group}
        nodes = ancestors([*unknowns, *(n for t in self.terms for n in t.plain_needs())])
        self._classes = classes(nodes, unknowns)
        self._columns: dict[Column, Data] = {}
        self._kinds: dict[Column, tuple[str, Any]] = {}
        self._free = set(unknowns)
        used: dict[Node, None] = {}
        for group in groups:
            for column in self._places(group):
                self._prepare(column, used)
        by_class: dict[int, list[Variable]] = {}
        for v in unknowns:
            if v in used:
                by_class.setdefault(self._classes[v], []).append(v)
        self.families = [tuple(vs) for vs in by_class.values()]
        self.row = {v: (k, i) for k, vs in enumerate(self.families) for i, v in enumerate(vs)}
        self._bijectors: list[Bijector] = [
            bijector(vs[0].support, (len(vs), *vs[0].shape)) for vs in self.families
        ]

    @property
    def derived(self) -> tuple[Data, ...]:
        """The data of all pieces, as arrays."""
        return tuple(self._columns.values())

    @property
    def sources(self) -> dict[Data, Column]:
        """What these are made of."""
        return {data: column for column, data in self._columns.items()}

    def _places(self, group: list[Term]) -> list[Column]:
        return list(zip(*(term.plain_needs() for term in group), strict=True))

    def _prepare(self, column: Column, used: dict[Node, None]) -> None:
        """Find out what is computed how, make the arrays of data, note the unknowns in arrays."""
        pending, seen = [column], set()
        while pending:
            column = pending.pop()
            if column in seen:
                continue
            seen.add(column)
            kind, parts = self._split(column)
            if kind == "operation" or kind == "rows":
                pending += parts
            elif kind == "unknowns":
                used.update(dict.fromkeys(column))
            elif kind == "data" and column not in self._columns:
                values = [np.asarray(n.value) for n in column if isinstance(n, Data)]
                self._columns[column] = Data(np.stack(values))

    def _split(self, column: Column) -> tuple[str, Any]:
        """How a column is computed, and from which others."""
        if column not in self._kinds:
            self._kinds[column] = self._kind(column)
        return self._kinds[column]

    def _kind(self, column: Column) -> tuple[str, Any]:
        first = column[0]
        if all(node is first for node in column) or _equal_literals(column):
            return "single", None
        distinct = tuple(dict.fromkeys(column))
        if len(distinct) < len(column):
            return ("rows", [distinct]) if len(distinct) >= FEWEST else ("singles", None)
        same = len({self._classes.get(node, -1) for node in column}) == 1
        if same and isinstance(first, Data):
            return "data", None
        if same and isinstance(first, Variable) and first in self._free:
            return "unknowns", None
        if same and place_of(first) is not None:
            whole = all(node.parents[0] is first.parents[0] for node in column)
            return ("places", [(first.parents[0],)]) if whole else ("singles", None)
        if same and is_batchable(first):
            return "operation", list(zip(*(node.parents for node in column), strict=True))
        return "singles", None

    def unknowns(self, free: Any, slices: Mapping[Variable, slice]) -> tuple[list[Any], Any]:
        """The images of the arrays of unknowns, and the sum of their log Jacobians."""
        images, log_jacobian = [], jnp.zeros((), free.dtype)
        for family, transform in zip(self.families, self._bijectors, strict=True):
            places = np.concatenate([np.arange(free.size)[slices[v]] for v in family])
            mine = _at(free, places).reshape(transform.free_shape)
            image = transform.forward(mine, lambda bound: bound)
            log_jacobian = log_jacobian + image.log_jacobian
            images.append(image)
        return images, log_jacobian

    def one(self, node: Variable, images: list[Any], environment: Environment) -> Any:
        """An unknown, taken out of its array; its forms are put into the environment."""
        k, i = self.row[node]
        for kind, form in node.forms_in_use.items():
            environment[form] = images[k].forms[kind][i].astype(form.dtype)
        return images[k].value[i].astype(node.dtype)

    def total(self, images: list[Any], environment: Environment, ensure: Ensure) -> Any:
        """The sum of all terms that are alike."""
        tensors: dict[Column, tuple[Any, int | None]] = {}

        def tensor(column: Column) -> tuple[Any, int | None]:
            """The tensor of a column and the axis of the pieces; None of what is the same in all.

            Without recursion, as pieces may be deep.
            """
            stack = [column]
            while stack:
                top = stack[-1]
                if top in tensors:
                    stack.pop()
                    continue
                kind, parts = self._split(top)
                missing = [p for p in parts or () if p not in tensors]
                if missing and kind in ("operation", "rows"):
                    stack += missing
                    continue
                tensors[top] = self._computed(
                    top, kind, parts, tensors, images, environment, ensure
                )
                stack.pop()
            return tensors[column]

        return sum(self._group_total(group, tensor) for group in self.groups)

    def _computed(
        self,
        column: Column,
        kind: str,
        parts: Any,
        tensors: dict[Column, tuple[Any, int | None]],
        images: list[Any],
        environment: Environment,
        ensure: Ensure,
    ) -> tuple[Any, int | None]:
        if kind == "single":
            return ensure(column[0]), None
        if kind == "singles":
            return jnp.stack([ensure(node) for node in column]), 0
        if kind == "data":
            return environment[self._columns[column]], 0
        if kind == "rows":
            places = {node: i for i, node in enumerate(parts[0])}
            source, axis = tensors[parts[0]]
            index = np.array([places[node] for node in column])
            return (source if axis is None else _at(source, index)), axis
        if kind == "places":
            index = np.array([place_of(node) for node in column])
            return _at(ensure(parts[0][0]), index), 0
        if kind == "unknowns":
            return self._taken(column, images), 0
        own = [tensors[p] for p in parts]
        node = column[0]
        assert isinstance(node, Apply)
        attributes = dict(node.attributes)
        casts = attributes.pop("casts", None)

        def lower(*rows: Any) -> Any:
            if casts is not None:
                rows = tuple(jnp.asarray(r, d) for r, d in zip(rows, casts, strict=True))
            return node.operation.lower(*rows, **attributes)

        axes = tuple(axis for _, axis in own)
        form = self._form(column, images)
        if form is not None:
            return form, 0
        if all(axis is None for axis in axes):
            return lower(*(t for t, _ in own)), None
        return jax.vmap(lower, axes)(*(t for t, _ in own)), 0

    def _form(self, column: Column, images: list[Any]) -> Any:
        """Another form of unknowns that their free numbers give at once."""
        first = column[0]
        unknown = first.parents[0] if first.parents else None
        if not isinstance(unknown, Variable) or unknown not in self.row:
            return None
        kinds = [k for k, f in unknown.forms_in_use.items() if f is first]
        if not kinds:
            return None
        unknowns = tuple(node.parents[0] for node in column)
        return self._taken(unknowns, images, kinds[0]).astype(first.dtype)

    def _taken(self, column: Column, images: list[Any], form: str | None = None) -> Any:
        places = [self.row[node] for node in column if isinstance(node, Variable)]
        k = places[0][0]
        whole = images[k].value if form is None else images[k].forms[form]
        return _at(whole, np.array([i for _, i in places]))

    def _group_total(self, group: list[Term], tensor: Callable[[Column], Any]) -> Any:
        columns = self._places(group)
        found = [tensor(column) for column in columns]
        term = group[0]
        node = term.node
        axes = tuple(axis for _, axis in found)
        rows = tuple(t for t, _ in found)
        if not isinstance(node, Distribution):
            scale = len(group) if axes[0] is None else 1
            return scale * jnp.sum(rows[0])
        dtype, count = node.dtype, len(node.parents) + 1

        def total(*rows: Any) -> Any:
            wide = [widened(row, dtype) for row in rows]
            *parameters, x = wide[:count]
            forms = dict(zip(term.forms, wide[count:], strict=True))
            return node.family.log_density_total(x, *parameters, small=term.small, **forms)

        return jnp.sum(jax.vmap(total, axes)(*rows))


def _at(array: Any, places: np.ndarray) -> Any:
    """The rows at these places; of places in a row a slice, whose derivative is no scatter."""
    first, step = int(places[0]), int(places[1] - places[0]) if len(places) > 1 else 1
    stop = int(places[-1]) + 1
    if step > 0 and np.array_equal(places, np.arange(first, stop, step)):
        return array if (first, stop, step) == (0, len(array), 1) else array[first:stop:step]
    return array[places]


def _equal_literals(column: Column) -> bool:
    first = column[0]
    if not isinstance(first, Data) or not first.literal:
        return False
    return all(
        isinstance(n, Data) and n.literal and np.array_equal(n.value, first.value) for n in column
    )


def find_batches(terms: Sequence[Term], unknowns: Sequence[Variable]) -> Batches | None:
    """The alike pieces of a model, if there are enough of them."""
    groups = alike_terms(terms, unknowns)
    return Batches(groups, unknowns) if groups else None
