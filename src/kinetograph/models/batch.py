"""The log density of a model, estimated from a batch of rows.

With n rows of data, B of them in the batch, and terms that each belong to a row, the estimate

    log p~(u) = log p(u) of the other terms + n / B * sum over the batch of log p(row i | u)

has the mean log p(u), the full log density, over batches that are drawn with equal probabilities.
The same holds for its gradient. With the gradients s_i of the rows, the covariance of the gradient
over batches is

    S = n^2 / B * (1 - B / n) * V,    V = sum_i (s_i - mean) (s_i - mean)' / (n - 1).

If rows are drawn with replacement, the factor 1 - B / n is absent, and n - 1 is n. V over the rows
of the batch, with B - 1, is an unbiased estimate of V.

A batch may have noise: the elements of its last data are then random words, new for each row and
transition. A function of a row takes its random numbers from its word, for example dropout. The
word 0, the value of the data, stands for no noise; so a density of all rows has none.
"""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..bits.draws import words
from ..distributions.variable import Variable
from ..graph.lower import Environment, Scope
from ..graph.node import Data, Node, ancestors
from ..graph.trips import Capacity
from .batch_order import batch_order
from .density import Density
from .term import Term

__all__ = ["RowBatch", "RowsTerm"]

_NOISE = 0x6E6F6973  # the purpose of the random words: "nois"


class RowsTerm(Term):
    """A term with an element for each of any rows."""

    def __init__(self, term: Term, scale: float) -> None:
        self.node, self.forms, self.small = term.node, term.forms, term.small
        self.compressed = None  # a compressed form would contain all rows
        self.scale = scale

    def value(self, environment: Environment, scope: Scope | None = None) -> Any:
        """The sum over the rows, times the scale."""
        return self.scale * jnp.sum(self.elements(environment))


class RowBatch:
    """The rows that a transition sees, and the densities it computes.

    Attributes
    ----------
    rows
        The data that are given by rows.
    count, size
        The number of rows, and the number of rows of a batch.
    terms
        The terms of the log density that belong to rows.
    order
        Which rows are the batch of a transition.
    estimate
        The estimate of the log density, a density of data with the rows of a batch.
    noise
        A name of the noise, for messages; None without noise.
    """

    def __init__(
        self,
        density: Density,
        rows: Sequence[Data],
        size: int,
        order: str,
        replace: bool,
        last: str | None,
        allow_noisy: bool,
        noise: str | None = None,
    ) -> None:
        self.rows = tuple(rows)
        self.count, self.size = self.rows[0].shape[0], size
        self.order = batch_order(self.count, size, order, replace, last)
        self.allow_noisy, self.noise = allow_noisy, noise
        of_rows = set(self.rows)
        self.terms = tuple(t for t in density.terms if of_rows & set(ancestors(t.plain_needs())))
        other_terms = [term for term in density.terms if term not in self.terms]
        scaled = [RowsTerm(term, self.count / size) for term in self.terms]
        unknowns = density.unknowns
        self.estimate = Density(unknowns, [*other_terms, *scaled])
        self._rest = Density(unknowns, other_terms)
        self._each = Density(unknowns, [RowsTerm(term, 1.0) for term in self.terms])

    @property
    def densities(self) -> tuple[Density, ...]:
        """The densities that are computed for a transition."""
        return self.estimate, self._rest, self._each

    @property
    def derived(self) -> tuple[Data, ...]:
        """The arrays that these densities compute from data once."""
        return tuple(dict.fromkeys(node for d in self.densities for node in d.derived))

    @property
    def settings(self) -> tuple[Any, ...]:
        """The arguments of a batch, without the density."""
        _, size, name, replace, last = self.order
        return self.rows, size, name, replace, last, self.allow_noisy, self.noise

    @property
    def of_unknowns(self) -> tuple[Term, ...]:
        """Terms that belong to rows, but are the prior of an unknown."""
        return tuple(term for term in self.terms if isinstance(term.target, Variable))

    def rows_of(self, key: Any, event: Any) -> Any:
        """The rows of a transition, (size,), or with their words (size, 2)."""
        rows = self.order.rows(key, event)
        if self.noise is None:
            return rows
        drawn = words(key, event, _NOISE, np.arange(self.size, dtype=np.uint32))[0]
        return jnp.stack([rows, drawn.astype(rows.dtype)], 1)

    def taken(self, data: Environment, rows: Any) -> Environment:
        """The data, reduced to the given rows and their words."""
        drawn = rows[:, 1] if jnp.ndim(rows) == 2 else None
        rows = rows if drawn is None else rows[:, 0]
        held = {node: data.get(node, node.value) for node in self.rows}
        values: dict[Node, Any] = {node: jnp.asarray(held[node])[rows] for node in self.rows}
        if drawn is not None:
            node = self.rows[-1]
            values[node] = drawn.astype(values[node].dtype)
        return {**data, **values}

    def with_covariance(
        self, free: Any, data: Environment, capacity: Capacity, rows: Any, *, full: bool
    ) -> tuple[Any, Any, Any]:
        """The estimate, its gradient, and the estimated covariance of the gradient.

        The covariance is its diagonal, (N,), or with `full` the whole matrix, (N, N).
        """

        def one(row: Any) -> tuple[Any, Any]:
            alone = self.taken(data, row[None])
            return self._each.value_and_gradient(free, alone, capacity, adjusted=False)[:2]

        value, gradient, _ = self._rest.value_and_gradient(free, data, capacity)
        values, slopes = jax.vmap(one)(rows)
        size, scale = self.size, self.count / self.size
        apart = slopes - jnp.mean(slopes, 0)
        factor = scale * (self.count if self.order.replace else self.count - size) / (size - 1)
        spread = apart.T @ apart if full else jnp.sum(apart * apart, 0)
        value, gradient = value + scale * jnp.sum(values), gradient + scale * jnp.sum(slopes, 0)
        return value, gradient, factor * spread
