"""The terms of a log density that belong to rows."""

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from ..distributions.variable import Variable
from ..graph.lower import Environment, Scope
from ..graph.node import Data, Node, ancestors
from .density import Density
from .row_unknowns import RowUnknowns
from .term import Term

__all__ = ["RowTerms"]


class RowTerms:
    """A log density, divided into terms of rows and other terms.

    Attributes
    ----------
    rows
        The data that are given by rows.
    row_unknowns
        The places of unknowns with rows in the free state.
    count, size
        The number of rows, and the number of rows that are evaluated together.
    terms
        The terms of the log density that belong to rows.
    rest, each
        The densities of the other terms, and of the terms of any rows.
    """

    def __init__(
        self, density: Density, rows: Sequence[Data], size: int, members: Sequence[Variable] = ()
    ) -> None:
        self.rows = tuple(rows)
        self.count, self.size = self.rows[0].shape[0], size
        self.row_unknowns = RowUnknowns(density, members, self.count)
        of_rows = {*self.rows, *members}
        self.terms = tuple(t for t in density.terms if of_rows & set(ancestors(t.plain_needs())))
        self.without_rows = tuple(term for term in density.terms if term not in self.terms)
        self.unknowns = density.unknowns
        self.rest = Density(self.unknowns, self.without_rows)
        self.each = self.of_rows(size)

    def scaled(self, scale: float, present: Node | None = None) -> list[Term]:
        """The terms of any rows, times a number.

        `present` says which rows are present, if not all are; the result is then of their mean.
        """
        return [_AnyRows(term, scale, present) for term in self.terms]

    def of_rows(self, count: int) -> Density:
        """The density of the terms of some number of rows."""
        return Density(self.unknowns, self.scaled(1.0), self.row_unknowns.shapes(count))

    @property
    def of_unknowns(self) -> tuple[Term, ...]:
        """Terms of rows that are the prior of an unknown without rows."""
        priors = [term for term in self.terms if isinstance(term.target, Variable)]
        return tuple(term for term in priors if term.target not in self.row_unknowns.members)

    def taken(self, data: Environment, rows: Any) -> Environment:
        """The data, reduced to the given rows."""
        arrays = {node: data.get(node, node.value) for node in self.rows}
        values: dict[Node, Any] = {node: jnp.asarray(arrays[node])[rows] for node in self.rows}
        return {**data, **values}


class _AnyRows(Term):
    """A term with an element for each of any rows."""

    def __init__(self, term: Term, scale: float, present: Node | None = None) -> None:
        self.node, self.forms, self.small = term.node, term.forms, term.small
        self.compressed = None  # a compressed form would contain all rows
        self.scale, self.present = scale, present

    def value(self, environment: Environment, scope: Scope | None = None) -> Any:
        """The sum over the rows, times the scale.

        If rows may be absent, this is the mean over the present rows, times the scale.
        """
        elements = self.elements(environment)
        if self.present is None:
            return self.scale * jnp.sum(elements)
        present = environment[self.present]
        shape = (-1, *(1,) * (elements.ndim - 1))
        total = jnp.sum(jnp.where(present.reshape(shape), elements, 0))
        return self.scale * total / jnp.sum(present, dtype=total.dtype)
