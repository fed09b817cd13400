"""Values of a landscape on batches, and of each row alone."""

import copy
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from ..graph.precision import x64
from .batched import BatchedProgram, LoopedProgram

if TYPE_CHECKING:
    from .landscape import Landscape

__all__ = ["RowValues", "rows_of_steps"]


class RowValues:
    """Compiled functions of parameters and rows of a landscape's data."""

    def __init__(self, landscape: "Landscape") -> None:
        self._landscape = landscape
        both = landscape._functions["both"].function
        loss = landscape._functions["loss"].function

        def scores(w: Any, rows: Any, x: Any, y: Any) -> Any:
            return both(w, x[rows], y[rows])

        def ragged_scores(w: Any, rows: Any, x: Any, y: Any) -> Any:
            values = jax.vmap(lambda i: both(w, x[i][None], y[i][None]))(
                jnp.minimum(rows, len(x) - 1)
            )
            present = rows < len(x)
            return jnp.sum(jnp.where(present[:, None], values, 0), 0) / jnp.sum(present)

        def gradients(row: Any, w: Any, x: Any, y: Any) -> Any:
            return jax.grad(loss)(w, x[row], y[row])

        def losses(w: Any, x: Any, y: Any) -> Any:
            return jax.vmap(lambda row, label: loss(w, row[None], label[None]))(x, y)

        self._scores, self._all_scores = LoopedProgram(scores), LoopedProgram(both)
        self._ragged_scores = LoopedProgram(ragged_scores)
        self._losses = BatchedProgram(losses)
        self._gradients = BatchedProgram(gradients)

    def of(self, landscape: "Landscape") -> "RowValues":
        """The functions of a landscape of other data, with the same programs."""
        other = copy.copy(self)
        other._landscape = landscape
        return other

    def scores(self, draws: np.ndarray, rows: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """Loss and accuracy, (steps, walkers), of draws (steps, walkers, N).

        They are those on rows of the data, (steps, walkers, batch size), or on all rows. Batches
        with fewer rows are filled with the number of all rows.
        """
        data = (self._landscape.x, self._landscape.y)
        with x64():
            if rows is None:
                values = self._all_scores([draws], data)
            else:
                ragged = np.max(rows, initial=0) >= len(data[0])
                program = self._ragged_scores if ragged else self._scores
                values = program([draws, rows], data)
        return values[..., 0], values[..., 1]

    def gradients(self, w: np.ndarray) -> np.ndarray:
        """The gradients of the losses of all rows, (n, N)."""
        rows = np.arange(len(self._landscape.x))[:, None]
        with x64():
            return self._gradients([rows], (w, self._landscape.x, self._landscape.y))

    def losses(self, draws: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The loss of each row for each draw, (draws, rows)."""
        with x64():
            return self._losses([draws], (x, y))


def rows_of_steps(order: Any, key: np.ndarray, events: np.ndarray) -> np.ndarray:
    """The rows of the batches of transitions, (transitions, batch size)."""
    with x64():
        return np.asarray(_vmapped(order)(key, np.asarray(events, np.uint32)))


@cache
def _vmapped(order: Any) -> Callable[..., Any]:
    return jax.jit(jax.vmap(order.rows, (None, 0)))
