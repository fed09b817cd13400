"""Totals of terms that discrete unknowns cut into ranges, as cumulative sums."""

import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...distributions.variable import Distribution, Variable
from ...graph.lower import Environment, Scope
from ...graph.node import ancestors
from .cuts import Cuts, cut_nodes, cuts_of
from .owners import NONE, SEVERAL
from .tables import NUMBERS, Table, grouped

__all__ = ["CutTable"]


class CutTable(Table):
    """A table that is computed from the cases of its rows.

    Terms that their unknowns do not cut into ranges are computed as in `Table`."""

    def __init__(self, term: Any, discrete: Sequence[Variable], domains: Any) -> None:
        super().__init__(term, discrete, domains)
        self.cuts, self.row_of = self._cuts()
        if self.cuts is None or self.cuts.size > NUMBERS:
            self.check_size()

    def _cuts(self) -> tuple[Cuts | None, np.ndarray]:
        """The comparisons with the unknowns, and the row of each element."""
        nothing = None, np.zeros(0, int)
        if self.owner is not None or self.loops:
            return nothing
        roots = self.term.plain_needs()
        order = ancestors(roots)
        nodes = cut_nodes(roots, order, self.variables)
        if nodes is None:
            return nothing
        cuts = cuts_of(nodes, {v: d.settings()[:, 0] for v, d in self.domains.items()})
        if cuts is None:
            return nothing
        rows = np.arange(cuts.rows).reshape(cuts.shape)
        owners = self._owners_from({n: rows for each in nodes.values() for n in each}, order)
        if (owners == SEVERAL).any():
            return nothing
        return cuts, np.where(owners == NONE, 0, owners).reshape(-1)

    def sums_like(self, other: Table) -> bool:
        """Whether another table sums the same elements over the same values."""
        assert isinstance(other, CutTable)
        if self.cuts is None or other.cuts is None:
            return self.cuts is other.cuts and super().sums_like(other)
        return self.cuts.like(other.cuts) and super().sums_like(other)

    @property
    def constants(self) -> list[np.ndarray | None]:
        """Known values that are part of a program."""
        return [*super().constants, *([] if self.cuts is None else self.cuts.constants)]

    def evaluate(self, environment: Environment, scope: Scope) -> Any:
        """The log density for all values of the unknowns.

        It has an axis for each unknown, and one for the atom.
        """
        if self.cuts is None:
            return super().evaluate(environment, scope)
        cuts, choices = self.cuts, self.cuts.choices
        rows = self._by_case(environment, scope, list(choices.values()))
        if not isinstance(self.term.node, Distribution):  # which guards its own elements
            is_impossible = jnp.isneginf(jax.lax.stop_gradient(rows))
            place = jnp.where(
                is_impossible, jnp.argmin(is_impossible, 0), np.arange(len(rows))[:, None]
            )
            case_values = [jnp.asarray(t)[place, np.arange(cuts.rows)] for t in choices.values()]
            dead = jnp.broadcast_to(is_impossible.all(0).any(), len(rows))
            guarded = self._by_case(environment, scope, case_values, dead)
            rows = jnp.where(is_impossible, -jnp.inf, guarded)
        return self._totals(rows)

    def _totals(self, rows: Any) -> Any:
        """The result of `evaluate`, given the densities of rows by case."""
        assert self.cuts is not None
        classes, row = self.cuts.classes
        densities = jax.vmap(lambda each: grouped(each, classes, len(row)))(rows)
        return self.cuts.totals(densities)[..., None]

    @property
    def element_count(self) -> int:
        """The number of numbers in `elements`, and in the totals."""
        if self.cuts is None:
            return super().element_count
        cases = len(next(iter(self.cuts.choices.values())))
        return cases * math.prod(self.shape) + math.prod(self.sizes)

    def elements(self, environment: Environment, scope: Scope) -> Any:
        """The log density of each element by case: (cases, *shape)."""
        if self.cuts is None:
            return super().elements(environment, scope)
        choices = self.cuts.choices
        return self._vmapped(
            environment,
            scope,
            lambda each: jnp.broadcast_to(each, self.shape),
            self._comparisons_at,
            list(choices.values()),
            False,
        )

    def gathered(self, elements: Any) -> Any:
        """The result of `evaluate`, given the result of `elements`."""
        if self.cuts is None:
            return super().gathered(elements)
        return self._totals(jax.vmap(self._by_row)(elements))

    def _by_row(self, elements: Any) -> Any:
        assert self.cuts is not None
        return grouped(self._flat(elements), self.row_of, self.cuts.rows)

    def _comparisons_at(self, values: Sequence[Any]) -> Environment:
        """The tensors of the comparisons with these values."""
        assert self.cuts is not None
        pairs = zip(self.cuts.choices, values, strict=True)
        return {node: value.reshape(node.shape) for node, value in pairs}

    def _by_case(
        self,
        environment: Environment,
        scope: Scope,
        choices: Sequence[Any],
        dead: Any = False,
    ) -> Any:
        """The log density of each row: (combinations of cases, rows)."""
        return self._vmapped(environment, scope, self._by_row, self._comparisons_at, choices, dead)
