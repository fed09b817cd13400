"""Alike pieces of a model, computed as one batch.

    sum_i log p(y_i | f(x_i))  =  sum over the axis i of log p(y | f(x))

The density is the same up to rounding. A batch of normal likelihoods is compressed in the same way
as the likelihood of one array: see `normal_regression`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from ...distributions.variable import Distribution, Variable
from ...graph.lower import Environment
from ...graph.node import Data, ancestors
from ...graph.rewriting.alike import Column
from ..bijectors import Image
from ..term import Term, widened
from .columns import ColumnEvaluation, Columns, Ensure, PieceRows, Place, Unknowns, repeated
from .normal_regression import Compressed, compress
from .pieces import Alike, alike_terms, classes

__all__ = ["Batches", "find_batches"]


class Batches:
    """Groups of alike terms, with their arrays of unknowns and data."""

    def __init__(self, groups: Sequence[Alike], unknowns: Sequence[Variable]) -> None:
        self.groups = tuple(groups)
        self.terms = {term for group in groups for term in group.terms}
        nodes = ancestors([*unknowns, *(n for t in self.terms for n in t.plain_needs())])
        self._columns = Columns(classes(nodes, unknowns), unknowns)
        self._forms = [_compressed(group) for group in groups]
        for group, form in zip(self.groups, self._forms, strict=True):
            for place in _places(group) if form is None else form.columns:
                self._columns.prepare(place)
        self._unknowns = Unknowns(self._columns.families(unknowns))
        self.row = self._unknowns.row

    @property
    def compressed(self) -> tuple[Compressed, ...]:
        """The groups of normal likelihoods that are compressed."""
        return tuple(form for form in self._forms if form is not None)

    @property
    def derived(self) -> tuple[Data, ...]:
        """The stacked data of all pieces, and arrays computed from them."""
        forms = (data for form in self.compressed for data in form.derived)
        return (*self._columns.data.values(), *forms)

    def fits(self, other: "Batches | None") -> bool:
        """Whether other batches of the terms differ only in data."""
        if other is None or len(self._forms) != len(other._forms):
            return False
        pairs = zip(self._forms, other._forms, strict=True)
        return all(b is None if a is None else a.fits(b) for a, b in pairs) and (
            list(self._columns.data) == list(other._columns.data)
        )

    def unknowns(self, free: Any, slices: Mapping[Variable, slice]) -> tuple[list[Image], Any]:
        """The images of the unknowns' arrays, and their log Jacobian."""
        return self._unknowns.images(free, slices)

    def one(self, node: Variable, images: Sequence[Image], environment: Environment) -> Any:
        """One unknown, taken out of its array.

        Its forms are put into the environment.
        """
        return self._unknowns.one(node, images, environment)

    def total(self, images: Sequence[Image], environment: Environment, ensure: Ensure) -> Any:
        """The sum of all alike terms."""
        at = ColumnEvaluation(self._columns, self._unknowns, images, environment, ensure)

        def tensor(nodes: Column) -> Any:
            joined, axis = at.tensor(nodes)
            several = len(nodes) > 1 and axis is None
            return jnp.broadcast_to(joined, (len(nodes), *joined.shape)) if several else joined

        return sum(
            _total(group, at) if form is None else form.total(environment, tensor)
            for group, form in zip(self.groups, self._forms, strict=True)
        )


def _compressed(group: Alike) -> Compressed | None:
    nodes = [term.node for term in group.terms if isinstance(term.node, Distribution)]
    return compress(nodes) if nodes else None


def _places(group: Alike) -> list[Place]:
    """The columns of nodes that the terms of a group need."""
    columns: list[Column] = list(zip(*(t.plain_needs() for t in group.terms), strict=True))
    if not group.by_rows:
        return list(columns)
    lengths = [term.node.shape[0] for term in group.terms]
    pairs = zip(columns, group.by_rows, strict=True)
    return [PieceRows(column) if row else repeated(column, lengths) for column, row in pairs]


def _total(group: Alike, at: ColumnEvaluation) -> Any:
    rows, axes = zip(*(at.tensor(place) for place in _places(group)), strict=True)
    term = group.terms[0]
    node = term.node
    if not isinstance(node, Distribution):
        scale = len(group.terms) if axes[0] is None else 1
        return scale * jnp.sum(rows[0])
    dtype, count = node.dtype, len(node.parents) + 1

    def total(*rows: Any) -> Any:
        wide = [widened(row, dtype) for row in rows]
        *parameters, x = wide[:count]
        forms = dict(zip(term.forms, wide[count:], strict=True))
        return node.family.log_density_total(x, *parameters, small=term.small, **forms)

    return jnp.sum(jax.vmap(total, axes)(*rows))


def find_batches(terms: Sequence[Term], unknowns: Sequence[Variable]) -> Batches | None:
    """The alike pieces of a model.

    None if there are too few.
    """
    groups = alike_terms(terms, unknowns)
    return Batches(groups, unknowns) if groups else None
