"""Training of networks: many members in one compiled program, with optax."""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import lax

__all__ = ["Training", "train"]


class Training(NamedTuple):
    """Trained members.

    Attributes
    ----------
    parameters
        The best parameters of each member, (members, size).
    loss
        Their mean loss on the rows held out, (members,); on all rows if none were held out.
    epochs
        The number of epochs each member was trained for, (members,).
    """

    parameters: np.ndarray
    loss: np.ndarray
    epochs: np.ndarray


def train(
    mean_loss: Any,
    log_prior: Any,
    starts: Any,
    train_rows: tuple[Any, Any],
    held_rows: tuple[Any, Any],
    *,
    optimizer: Any = None,
    epochs: int = 2000,
    batch_size: int | None = None,
    patience: int = 100,
    key: Any,
) -> Training:
    """Train members from different starts.

    Each is trained until its loss on the held rows stops falling.

    The objective of a batch is the mean loss minus log_prior / n. Each epoch goes through the rows
    in a new random order, different for each member; the last rows that fill no batch are left out
    of that epoch.

    Parameters
    ----------
    mean_loss
        A function of the parameters of one member, inputs and labels.
    log_prior
        A function of the parameters.
    starts
        Initial parameters, (members, size).
    train_rows, held_rows
        Inputs and labels.
    optimizer
        An optax transformation; by default Adam with a learning rate of 0.005.
    epochs, batch_size, patience
        The largest number of epochs, the number of rows of a batch (all by default), and the number
        of epochs without improvement after which a member has ended.
    key
        A JAX key.

    Returns
    -------
    Training
    """
    optimizer = optax.adam(0.005) if optimizer is None else optimizer
    x, y = map(jnp.asarray, train_rows)
    count = len(x)
    size = count if batch_size is None else min(batch_size, count)
    batches = count // size

    def objective(w: Any, x: Any, y: Any) -> Any:
        return mean_loss(w, x, y) - log_prior(w) / count

    def epoch(key: Any, carry: Any) -> Any:
        number, w, state, best, best_loss, best_at = carry
        order = jax.random.permutation(jax.random.fold_in(key, number), count)

        def step(carry: Any, rows: Any) -> Any:
            w, state = carry
            gradient = jax.grad(objective)(w, x[rows], y[rows])
            updates, state = optimizer.update(gradient, state, w)
            return (optax.apply_updates(w, updates), state), None

        rows = order[: batches * size].reshape(batches, size)
        (w, state), _ = lax.scan(step, (w, state), rows)
        loss = mean_loss(w, *held_rows)
        better = loss < best_loss
        return (
            number + 1,
            w,
            state,
            jnp.where(better, w, best),
            jnp.where(better, loss, best_loss),
            jnp.where(better, number + 1, best_at),
        )

    def member(w: Any, key: Any) -> Any:
        start = (jnp.int32(0), w, optimizer.init(w), w, mean_loss(w, *held_rows), jnp.int32(0))

        def more(carry: Any) -> Any:
            return (carry[0] < epochs) & (carry[0] - carry[5] < patience)

        number, _, _, best, loss, _ = lax.while_loop(more, partial(epoch, key), start)
        return best, loss, number

    keys = jax.random.split(key, len(starts))
    results = jax.jit(jax.vmap(member))(jnp.asarray(starts), keys)
    return Training(*map(np.asarray, results))
