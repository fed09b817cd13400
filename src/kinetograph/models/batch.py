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
from ..graph.lower import Environment
from ..graph.node import Data
from ..graph.trips import Capacity
from .batch_order import batch_order
from .density import Density
from .row_terms import RowTerms

__all__ = ["RowBatch"]

_NOISE = 0x6E6F6973  # the purpose of the random words: "nois"


class RowBatch(RowTerms):
    """The rows that a transition sees, and the densities it computes.

    Attributes
    ----------
    order
        Which rows are the batch of a transition.
    estimate
        The estimate of the log density, a density of data with the rows of a batch.
    noise
        A name of the noise, for messages; None without noise.
    present
        Which rows of a batch are present, if batches may have fewer rows; else None.
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
        super().__init__(density, rows, size)
        self.order = batch_order(self.count, size, order, replace, last)
        self.allow_noisy, self.noise = allow_noisy, noise
        self.present: Data | None = None
        scaled = self.scaled(self.count / size)
        if self.order.ragged:
            self.present = Data(np.ones(size, bool))
            scaled = self.scaled(self.count, self.present)
        self.estimate = Density(self.unknowns, [*self.without_rows, *scaled])

    @property
    def densities(self) -> tuple[Density, ...]:
        """The densities that are computed for a transition."""
        return self.estimate, self.rest, self.each

    @property
    def derived(self) -> tuple[Data, ...]:
        """The arrays that these densities compute from data once."""
        return tuple(dict.fromkeys(node for d in self.densities for node in d.derived))

    @property
    def settings(self) -> tuple[Any, ...]:
        """The arguments of a batch, without the density."""
        _, size, name, replace, last = self.order
        return self.rows, size, name, replace, last, self.allow_noisy, self.noise

    def rows_of(self, key: Any, event: Any) -> Any:
        """The rows of a transition, (size,), or with their words (size, 2)."""
        rows = self.order.rows(key, event)
        if self.noise is None:
            return rows
        drawn = words(key, event, _NOISE, np.arange(self.size, dtype=np.uint32))[0]
        return jnp.stack([rows, drawn.astype(rows.dtype)], 1)

    def taken(self, data: Environment, rows: Any) -> Environment:
        """The data, reduced to the given rows and their words."""
        indices = rows if jnp.ndim(rows) == 1 else rows[:, 0]
        if self.present is not None:
            data = {**data, self.present: indices < self.count}
            indices = jnp.minimum(indices, self.count - 1)
        reduced, node = super().taken(data, indices), self.rows[-1]
        if jnp.ndim(rows) == 1:
            return reduced
        return {**reduced, node: rows[:, 1].astype(reduced[node].dtype)}

    def with_covariance(
        self, free: Any, data: Environment, capacity: Capacity, rows: Any, *, full: bool
    ) -> tuple[Any, Any, Any]:
        """The estimate, its gradient, and the estimated covariance of the gradient.

        The covariance is its diagonal, (N,), or with `full` the whole matrix, (N, N).
        """

        def one(row: Any) -> tuple[Any, Any]:
            alone = self.taken(data, row[None])
            return self.each.value_and_gradient(free, alone, capacity, adjusted=False)[:2]

        value, gradient, _ = self.rest.value_and_gradient(free, data, capacity)
        values, slopes = jax.vmap(one)(rows)
        size: Any = self.size
        if self.present is not None:
            present = (rows if jnp.ndim(rows) == 1 else rows[:, 0]) < self.count
            size = jnp.sum(present, dtype=values.dtype)
            values, slopes = jnp.where(present, values, 0), jnp.where(present[:, None], slopes, 0)
            apart = jnp.where(present[:, None], slopes - jnp.sum(slopes, 0) / size, 0)
        else:
            apart = slopes - jnp.mean(slopes, 0)
        scale = self.count / size
        factor = scale * (self.count if self.order.replace else self.count - size) / (size - 1)
        spread = apart.T @ apart if full else jnp.sum(apart * apart, 0)
        value, gradient = value + scale * jnp.sum(values), gradient + scale * jnp.sum(slopes, 0)
        return value, gradient, factor * spread
