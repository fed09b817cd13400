"""The rows of the batch of a transition.

All orders are functions of the chain's key and the number of the transition, t. So the position in
the data is not a state of its own: it is part of every checkpoint, and does not depend on blocks,
threads, devices or other chains. With n rows and batches of B,

    random      B new random rows in each transition
    epochs      an infinite sequence of random orders of all rows, cut into batches
    cyclic      the same with the rows in their own order in each epoch
    symmetric   n // B batches of a random order, forward and then backward; then of a new order

A place of a random order is computed from the place alone (`bits.permutation`).
"""

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..bits.draws import words
from ..bits.permutation import permuted, rounds
from ..bits.source import Source, event_source
from ..graph.suggestions import did_you_mean
from ..streams.orders import integers

__all__ = ["BatchOrder", "batch_order"]

ORDERS = ("random", "epochs", "cyclic", "symmetric")
# The purposes of random numbers: "rows", "epoc".
_ROWS, _EPOCHS = 0x726F7773, 0x65706F63


class BatchOrder(NamedTuple):
    """The order of batches; made by `batch_order`."""

    total: int
    size: int
    name: str
    replace: bool
    last: str | None

    def rows(self, key: Any, event: Any) -> Any:
        """The numbers of the rows of a transition's batch.

        A batch with fewer rows is filled with the number `total`.
        """
        if self.name == "random":
            return self._random(key, event)
        if self.size == self.total:
            return jnp.arange(self.total)
        event, inside = jnp.asarray(event).astype(np.int64), jnp.arange(self.size)
        batches = self.batches
        if self.name == "symmetric":
            sweep, step = event // (2 * batches), event % (2 * batches)
            batch = jnp.where(step < batches, step, 2 * batches - 1 - step)
            return self._filled(key, sweep, batch * self.size + inside)
        if self.ragged:
            return self._filled(key, event // batches, event % batches * self.size + inside)
        if self.last == "drop" and self.name == "epochs":
            return self._shuffled(key, event // batches, event % batches * self.size + inside)
        first = event * self.size
        epoch, places = first // self.total, first % self.total + inside
        if self.name == "cyclic":
            return places % self.total
        return self._shuffled(key, epoch + places // self.total, places % self.total)

    def epoch(self, transitions: Any) -> Any:
        """The number of complete epochs, floor(transitions B / n).

        If the last rows of an epoch are dropped, an epoch is n // B transitions; if they are a
        batch of their own, it is one more.
        """
        if self.last in ("drop", "keep"):
            return transitions // self.batches
        return transitions * self.size // self.total

    @property
    def batches(self) -> int:
        """The number of batches of an epoch that begins with a batch."""
        return -(-self.total // self.size) if self.last == "keep" else self.total // self.size

    @property
    def ragged(self) -> bool:
        """Whether the last batch of an epoch has fewer rows."""
        return self.smallest < self.size

    @property
    def smallest(self) -> int:
        """The number of rows of the smallest batch."""
        return self.total % self.size or self.size if self.last == "keep" else self.size

    def _filled(self, key: Any, epoch: Any, places: Any) -> Any:
        """The rows at places of an epoch's order; `total` after its end."""
        inside = jnp.minimum(places, self.total - 1)
        return jnp.where(places < self.total, self._shuffled(key, epoch, inside), self.total)

    def _shuffled(self, key: Any, epoch: Any, places: Any) -> Any:
        """The rows at places of the random order of an epoch.

        `epoch` is one number, or a number for each place.
        """
        lanes = jnp.arange(rounds(self.total) // 4).reshape(-1, *(1,) * jnp.ndim(epoch))
        keys = words(key, jnp.asarray(epoch), _EPOCHS, lanes)
        return permuted(jnp.concatenate(keys), places, self.total).astype(np.int64)

    def _random(self, key: Any, event: Any) -> Any:
        """Rows that are drawn independently, or a set of distinct rows."""
        count, size = self.total, self.size
        if self.replace:
            return integers(_bits(key, event, 0, size), 0, count)
        if size == count:
            return jnp.arange(count)
        if 2 * size <= count:
            return _distinct(key, event, count, size)
        dropped_rows = _distinct(key, event, count, count - size)
        return jnp.nonzero(jnp.ones(count, bool).at[dropped_rows].set(False), size=size)[0]


def batch_order(
    count: int, size: int, name: str = "random", replace: bool = False, last: str | None = None
) -> BatchOrder:
    """The order of a name, with the default of `last`.

    Raises
    ------
    ValueError
        If the name of the order is unknown, or `replace` or `last` do not fit the order.
    """
    if name not in ORDERS:
        hint = f"{did_you_mean(name, ORDERS)}; the names are {', '.join(ORDERS)}"
        raise ValueError(f"minibatch: order: unknown name {name!r}{hint}")
    if name != "random" and replace:
        raise ValueError(f"minibatch: replace=True is for order='random', not for {name!r}")
    if last not in (None, "wrap", "drop", "keep"):
        raise ValueError(f"minibatch: last must be 'wrap', 'drop' or 'keep', got {last!r}")
    if name == "random":
        if last is not None:
            raise ValueError("minibatch: last= is for orders with epochs, not for 'random'")
        return BatchOrder(count, size, name, replace, None)
    rest = count % size
    if name == "cyclic" and last in ("drop", "keep") and rest:
        fate = f"be in no batch of {size}"
        if last == "keep":
            fate = f"always be a batch of {rest}, and weigh more than other rows in the average"
        raise ValueError(
            f"minibatch: with order='cyclic' and last={last!r} the last {rest} of {count} rows "
            f"would {fate}; use last='wrap', order='epochs', or a size that divides {count}"
        )
    if name == "symmetric" and last == "wrap" and rest:
        raise ValueError(
            f"minibatch: order='symmetric' needs whole batches, and {count} rows are not a "
            f"multiple of {size}; use last='drop' or 'keep'"
        )
    default = "drop" if name == "symmetric" else "wrap"
    return BatchOrder(count, size, name, False, last or default)


def _distinct(key: Any, event: Any, count: int, size: int) -> Any:
    """A sorted set of distinct rows; all sets are equally likely.

    Repeated rows are drawn again. The cost does not grow with `count`.
    """

    def has_repeats(carry: tuple[Any, Any, Any]) -> Any:
        return jnp.any(carry[1])

    def draw(carry: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
        rows, missing, attempt = carry
        fresh = integers(_bits(key, event, attempt, size), 0, count)
        rows = jnp.sort(jnp.where(missing, fresh, rows))
        repeated = jnp.concatenate([jnp.zeros(1, bool), rows[1:] == rows[:-1]])
        return rows, repeated, attempt + np.uint32(1)

    blank = jnp.zeros(size, np.int64)
    return lax.while_loop(has_repeats, draw, (blank, jnp.ones(size, bool), jnp.uint32(0)))[0]


def _bits(key: Any, event: Any, attempt: Any, size: int) -> Source:
    key = (key[0], key[1], key[2], key[3])
    events = (event, jnp.asarray(attempt, jnp.uint32))
    return event_source(key, events, np.uint32(_ROWS), (size,), np.dtype(np.float64))
