"""Log densities of single observations, with discrete unknowns marginalised.

    log p(y_i | x) = log sum_z p(z | x) p(y_i | z, x)

holds if no other observation depends on the same discrete unknowns. Observations that share
discrete unknowns are a unit, such as the visits to a site or the times of a chain. For these the
density is

    log p(y_i | the other y of the unit, x)      or      log p(y_i | the earlier y of the unit, x).

Each is the difference of two sums over the discrete unknowns; one of the sums leaves observations
out. The k-th observations of all units are left out at the same time, so that the number of sums is
the size of the largest unit. One sum and its slopes are enough for the first of them:

    1 / p(y_i | the other y, x) = sum_z p(z | y, x) / p(y_i | z, x),

where p(z | y, x) is the slope of log p(y | x) by log p(y_i | z, x). A density p(y_i | z, x) of 0 or
nearly 0 is replaced by exp(-600) of the largest one, so that the product is not 0 times infinity.
If such a value of z is not improbable, the sums are computed one by one.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ...graph.errors import ModelError
from ...graph.lower import Environment, Scope
from ...graph.messages import describe
from ...graph.node import Bundle, Node, Operation
from ...graph.numerics.log_sums import logsumexp
from ...graph.source import place_text
from .joined_terms import has_rows, parts_of
from .lifted import scopes_of
from .marginal import MarginalTerm
from .tables import Table

__all__ = ["GIVEN", "Pointwise"]

GIVEN = ("others", "before")
FEWEST = 3  # observations of the largest unit from which slopes are used
LARGE = 600.0  # nats by which densities of one observation may differ
NEGLIGIBLE = 1e-12  # largest probability of values whose density is replaced
MOST = 200_000_000  # largest number of numbers for one draw
POINTWISE = Operation("pointwise", lambda *tensors: tensors)


class Pointwise(Bundle):
    """Elementwise log densities of distributions that depend on discrete unknowns.

    They belong to a marginal term, and the terms `left_out` do not count. The order of `wanted`
    says which observation is before another; `given` is one of `GIVEN`. `units` has the unit
    of each element of the wanted tables: the number of the sum that it is part of.
    """

    __slots__ = ("__dict__", "given", "left_out", "nodes", "term", "wanted")
    computes = True

    def __init__(
        self, term: MarginalTerm, nodes: Sequence[Node], left_out: Sequence[Node], given: str
    ) -> None:
        super().__init__(POINTWISE, term.needs())
        self.term, self.given = term, given
        self._rows = {
            part.node: (table, i)
            for table in term.tables
            for i, part in enumerate(parts_of(table.term))
        }
        if self.size > MOST:
            names = ", ".join(map(describe, term.discrete))
            raise ModelError(
                f"the densities of single observations for all values of {names} are {self.size} "
                f"numbers for each draw{place_text()}; at most {MOST} are allowed; kg.kfold "
                "predicts observations without them"
            )
        self.nodes = tuple(nodes)
        self.left_out = frozenset(left_out)
        self.wanted = tuple(dict.fromkeys(self._rows[node][0] for node in nodes))
        self.units = {table: self._units(table) for table in self.wanted}
        self._element_counts = np.zeros(sum(term.elimination.counts), int)  # elements of each unit
        self.ranks = self._ranks()

    @cached_property
    def parts(self) -> tuple[Node, ...]:
        """A node for each wanted distribution."""
        return tuple(
            self.part(i, self._shape(node), node.dtype) for i, node in enumerate(self.nodes)
        )

    def _shape(self, node: Node) -> tuple[int, ...]:
        table, _ = self._rows[node]
        return table.shape[1:] if has_rows(table.term) else table.shape

    def _of(self, node: Node, elements: Any) -> Any:
        """The elements of one distribution of a table."""
        table, i = self._rows[node]
        return elements[i] if has_rows(table.term) else elements

    def shared(self, node: Node) -> bool:
        """Whether elements of a wanted distribution share units.

        The other elements may belong to other distributions.
        """
        units = self._of(node, self.units[self._rows[node][0]])
        return bool((self._element_counts[units] > 1).any())

    @property
    def size(self) -> int:
        """The number of numbers that the computation takes."""
        return sum(table.element_count for table in self.term.tables)

    def _units(self, table: Table) -> np.ndarray:
        """The unit of each element of a table."""
        scopes = scopes_of(table)
        owner = np.zeros(table.shape, int) if table.owner is None else table.owner
        if len(scopes) > 1:
            units = np.array([self.term.unit(scope[0]) for scope in scopes])
            return units[owner].reshape(table.shape)
        return self.term.unit(scopes[0][0], owner, table.atoms).reshape(table.shape)

    def _ranks(self) -> dict[Table, np.ndarray]:
        """The number of wanted elements of the unit before each element."""
        ranks = {table: np.zeros(table.shape, np.int64) for table in self.wanted}
        for node in self.nodes:
            table, _ = self._rows[node]
            flat = np.arange(self.units[table].size).reshape(table.shape)
            for place in np.ravel(self._of(node, flat)):
                unit = self.units[table].flat[place]
                ranks[table].flat[place] = self._element_counts[unit]
                self._element_counts[unit] += 1
        return ranks

    @property
    def most(self) -> int:
        """The number of elements of the largest unit."""
        return int(self._element_counts.max(initial=0))

    def compute(self, tensors: list[Any], scope: Scope) -> list[Any]:
        """The log densities, as arrays of the shapes of the parts."""
        environment: Environment = dict(zip(self.parents, tensors, strict=True))
        tables = self.term.tables
        elements = [table.elements(environment, scope) for table in tables]

        def sums(turn: Any) -> Any:
            """The independent sums at one rank.

            In each unit the elements from this rank on are left out, or the element of this rank
            alone, as `given` says.
            """
            values = [
                jnp.where(self._counts(table, turn), each, 0.0)
                for table, each in zip(tables, elements, strict=True)
            ]
            return self._sums(values, environment)

        if self.given == "before" or self.most < FEWEST:
            sums_by_turn = lax.map(sums, jnp.arange(self.most + 1))
            by_table = {table: self._differences(table, sums_by_turn) for table in self.wanted}
        else:
            by_table = self._by_slopes(elements, environment, sums)
        return [self._of(node, by_table[self._rows[node][0]]) for node in self.nodes]

    def _sums(self, elements: Sequence[Any], environment: Environment) -> Any:
        """The sums of all units, given the elements of the tables."""
        pairs = zip(self.term.tables, elements, strict=True)
        factors = self.term.factors([table.gathered(each) for table, each in pairs])
        parts = self.term.elimination.parts(factors, environment)[0]
        return jnp.concatenate([jnp.ravel(part) for part in parts])

    def _by_slopes(
        self, elements: Sequence[Any], environment: Environment, sums: Callable[[Any], Any]
    ) -> dict[Table, Any]:
        """The densities given the other observations."""
        tables = self.term.tables
        counted = [
            jnp.where(self._left_out(table), 0.0, each)
            for table, each in zip(tables, elements, strict=True)
        ]
        raised = [
            jnp.maximum(each, jnp.max(each, 0) - LARGE) if table in self.wanted else each
            for table, each in zip(tables, counted, strict=True)
        ]

        def total(elements: Sequence[Any]) -> Any:
            return jnp.sum(self._sums(elements, environment))

        shares = [jnp.log(share) for share in jax.grad(total)(raised)]
        rows = list(zip(tables, raised, counted, shares, strict=True))
        by_table = {
            t: -logsumexp(share - each, 0) for t, each, _, share in rows if t in self.wanted
        }
        doubtful = self._doubtful(
            {t: (each, before, share) for t, each, before, share in rows if t in self.wanted}
        )

        def more(state: Any) -> Any:
            return doubtful & (state[0] <= self.most)

        def summed(state: Any) -> Any:
            turn, sums_by_turn = state
            return turn + 1, sums_by_turn.at[turn].set(sums(turn))

        # A loop without trips costs nothing, also where draws are computed side by side.
        one = jax.eval_shape(sums, jnp.zeros((), int))
        empty = jnp.zeros((self.most + 1, *one.shape), one.dtype)
        _, sums_by_turn = lax.while_loop(more, summed, (jnp.zeros((), int), empty))
        return {
            table: jnp.where(doubtful, self._differences(table, sums_by_turn), by_table[table])
            for table in self.wanted
        }

    def _doubtful(self, rows: Mapping[Table, tuple[Any, Any, Any]]) -> Any:
        """Whether values with a raised density matter to another observation.

        Without observation i, the share of a value is at most exp(r_i) times as large, where r_i is
        the range of the log densities of i. The range of the raised observation itself does
        not count, as its own density is divided out.
        """
        ranges, worst, ids = [], [], []
        for table, (each, before, share) in rows.items():
            flat = each.reshape(len(each), -1)
            ranges.append(jnp.max(flat, 0) - jnp.min(flat, 0))
            raised_share = jnp.where(each > before, share, -jnp.inf).reshape(flat.shape)
            worst.append(jnp.max(jnp.where(jnp.isnan(raised_share), jnp.inf, raised_share), 0))
            ids.append(self.units[table].reshape(-1))
        unit, span = np.concatenate(ids), jnp.concatenate(ranges)
        count = int(unit.max()) + 1
        top = jax.ops.segment_max(span, unit, count)
        is_top = span == top[unit]
        alone = jax.ops.segment_sum(is_top.astype(int), unit, count) == 1
        second = jax.ops.segment_max(jnp.where(is_top, 0.0, span), unit, count)
        other_span = jnp.where(is_top & alone[unit], jnp.maximum(second[unit], 0.0), top[unit])
        return jnp.any(jnp.concatenate(worst) + other_span > math.log(NEGLIGIBLE))

    def _left_out(self, table: Table) -> bool:
        return parts_of(table.term)[0].node in self.left_out

    def _counts(self, table: Table, turn: Any) -> Any:
        """The mask of the elements of a table that count."""
        if self._left_out(table):
            return False
        if table not in self.ranks:
            return True
        rank = self.ranks[table]
        return rank < turn if self.given == "before" else rank != turn

    def _differences(self, table: Table, sums: Any) -> Any:
        units, rank = self.units[table], self.ranks[table]
        with_it = rank + 1 if self.given == "before" else np.full_like(rank, self.most)
        return sums[with_it, units] - sums[rank, units]
