"""Log densities of observations one by one, the discrete unknowns that they depend on summed out.

    log p(y_i | x) = log sum_z p(z | x) p(y_i | z, x)

where no other observation depends on the same discrete unknowns. Those that do are a unit, such as
the visits to a site or the times of a chain, and then

    log p(y_i | all others of the unit, x)      or      log p(y_i | those before it, x).

Each is the difference of two sums over the discrete unknowns, one of which leaves observations out.
The k-th observations of all units are left out at once: as many sums are taken as the largest unit
has observations.
"""

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ...graph.lower import Environment, Scope
from ...graph.node import Bundle, Node, Operation
from .marginal import MarginalTerm
from .tables import Table

__all__ = ["GIVEN", "Pointwise"]

GIVEN = ("others", "before")
POINTWISE = Operation("pointwise", lambda *tensors: tensors)


class Pointwise(Bundle):
    """The log densities of distributions that depend on discrete unknowns, element by element.

    Of the term in which these are summed out, the terms `left_out` do not count. What is `wanted`
    is in an order that tells what is before what; `given` is one of `GIVEN`.
    """

    __slots__ = ("__dict__", "given", "left_out", "term", "wanted")
    computes = True

    def __init__(
        self, term: MarginalTerm, wanted: Sequence[Node], left_out: Sequence[Node], given: str
    ) -> None:
        super().__init__(POINTWISE, term.needs())
        self.term, self.given = term, given
        self._seen: dict[tuple[int, int], int] = {}  # how many elements a unit has
        by_node = {table.term.node: table for table in term.tables}
        self.wanted = tuple(by_node[node] for node in wanted)
        self.left_out = frozenset(left_out)
        self.ranks = self._ranks()

    @cached_property
    def parts(self) -> tuple[Node, ...]:
        """A node for each of the wanted distributions."""
        return tuple(self.part(i, t.shape, t.term.node.dtype) for i, t in enumerate(self.wanted))

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The wanted distributions."""
        return tuple(table.term.node for table in self.wanted)

    def shared(self, node: Node) -> bool:
        """Whether elements of a wanted distribution share their units with others."""
        several = {unit for unit, count in self._seen.items() if count > 1}
        (found,) = ((end, units) for t, (end, units) in self.units.items() if t.term.node is node)
        return any((found[0], unit) in several for unit in found[1].tolist())

    @property
    def size(self) -> int:
        """How many numbers it takes to compute this."""
        return sum(math.prod((*t.sizes, *t.shape)) for t in self.term.tables)

    @cached_property
    def units(self) -> dict[Table, tuple[int, np.ndarray]]:
        """For each of the wanted tables the part its sums end in, and which of these each is of."""
        found = {}
        for table in self.wanted:
            end, count = self.term.elimination.ends[table.variables[0]]
            size = math.prod(table.shape)
            owner = np.zeros(size, int) if table.owner is None else table.owner
            found[table] = end, owner * count // table.atoms
        return found

    def _ranks(self) -> dict[Table, np.ndarray]:
        """How many of the wanted elements of its unit are before each one."""
        found = {}
        for table, (end, units) in self.units.items():
            rank = np.zeros(units.size, np.int64)
            for i, unit in enumerate(units.tolist()):
                rank[i] = self._seen.get((end, unit), 0)
                self._seen[end, unit] = int(rank[i]) + 1
            found[table] = rank
        return found

    @property
    def most(self) -> int:
        """The number of elements of the largest unit."""
        return max(self._seen.values(), default=0)

    def compute(self, tensors: list[Any], scope: Scope) -> list[Any]:
        """The log densities, as arrays of the shapes of the parts."""
        environment: Environment = dict(zip(self.parents, tensors, strict=True))
        tables = self.term.tables
        elements = [table.elements(environment, scope) for table in tables]

        def sums(turn: Any) -> tuple[Any, ...]:
            """The independent sums, when in each unit the element of this rank has its turn."""
            values = [
                table.gathered(jnp.where(self._counts(table, turn), each, 0.0))
                for table, each in zip(tables, elements, strict=True)
            ]
            return tuple(self.term.elimination.parts(self.term.factors(values), environment)[0])

        found = lax.map(sums, jnp.arange(self.most + 1))
        return [self._differences(table, found) for table in self.wanted]

    def _counts(self, table: Table, turn: Any) -> Any:
        """Which elements of a table count."""
        if table.term.node in self.left_out:
            return False
        if table not in self.ranks:
            return True
        rank = self.ranks[table].reshape(table.shape)
        return rank < turn if self.given == "before" else rank != turn

    def _differences(self, table: Table, sums: Sequence[Any]) -> Any:
        end, units = self.units[table]
        rank = self.ranks[table]
        with_it = rank + 1 if self.given == "before" else np.full_like(rank, self.most)
        difference = sums[end][with_it, units] - sums[end][rank, units]
        return difference.reshape(table.shape)
