"""`kg.minibatch`: models whose samplers use random batches of rows."""

from typing import Any

import numpy as np

from ..graph.errors import ModelError
from ..graph.node import Data
from ..graph.public import public
from .batch_order import batch_order
from .checks import no_model
from .model import Model
from .row_checks import ArgumentOfRows, check_rows, rows_found, rows_given
from .rows_one_by_one import refuse_rows_one_by_one

__all__ = ["in_batches", "minibatch"]


BY = ArgumentOfRows("minibatch", "rows")


@public
def minibatch(
    model: Model,
    size: int,
    *,
    rows: Any = None,
    order: str = "random",
    replace: bool = False,
    last: str | None = None,
    allow_noisy: bool = False,
) -> Model:
    """Make a model whose samplers use random batches of rows.

        log p~(u) = log prior + n / size * sum over the batch of log p(row i | u)

    replaces the log density in each transition. It has the same mean, and its gradient costs `size`
    rows instead of n. The batch of a transition is a function of seed, chain and number of the
    transition, computed in the compiled program; so a continued run uses the batches of an
    uninterrupted one. All points that the transition evaluates share the batch, and so do all
    walkers of an ensemble. The starting point is evaluated with all rows.

    All other functions use the full data: `log_prob` and its derivatives, targets, `kg.opt`. In
    results the log density of a draw is named `batch_lp`, and observables of the potential or its
    gradient are named `batch_potential` and so on, because they belong to the batch and not to the
    model.

    Parameters
    ----------
    model
        Made by `kg.model` or `kg.jax_model`. The contribution of a row to the log density must
        depend on that row alone, in terms with an element (or more) for each row: observed data, or
        a factor that is not summed over the rows.
    size
        The number of rows in a batch.
    rows
        The data arrays with one row for each observation, along their first axis, or their names.
        By default all arrays with as many rows as the observed data.
    order
        Which rows are the batch of transition t. "random": new random rows. "epochs": the
        rows of random orders of all rows, a new order in each epoch, cut into batches. "cyclic":
        the same in the order of the data, without random numbers; the noise of consecutive
        gradients is then correlated. "symmetric": the n // size batches of a random order, forward
        and then backward, and then of a new random order; with `kg.samplers.UBU` this is SMS-UBU.
    replace
        With "random", whether a batch may contain a row several times. If not, all sets of rows are
        equally likely, and batches of n rows give the exact gradient.
    last
        What happens to the last rows of an epoch if `size` does not divide n. "wrap", the default
        of "epochs" and "cyclic": a batch continues with the first rows of the next epoch, so that
        each row is used once in each epoch. "drop", the default of "symmetric" and possible for
        "epochs": they are left out of this epoch; each epoch has another order and thus leaves out
        other rows. "keep", for "epochs" and "symmetric": they are a batch of their own, with
        r < `size` rows, and the factor of this batch is n / r; so the noise of its gradient is
        larger, and the noise of an epoch does not add up to zero.
    allow_noisy
        Whether samplers may compare values of the potential, as a Metropolis test does. Such
        samplers then do not sample the posterior.

    Returns
    -------
    Model

    Raises
    ------
    TypeError, ValueError
        If `model` is not a model, `size` is not a valid number of rows, or `order`, `replace` and
        `last` do not fit each other.
    ModelError
        If it is not clear which data have rows, if the contribution of a row depends on other rows,
        or if an unknown is computed from the rows.

    Examples
    --------
    >>> import numpy as np, kinetograph as kg
    >>> rng = np.random.default_rng(1)
    >>> x = kg.data(rng.normal(size=(1000, 3)), "x")
    >>> y = kg.data(rng.normal(size=1000), "y")
    >>> w = kg.normal(0.0, 1.0, shape=3, name="w")
    >>> likelihood = kg.observe(y, kg.normal(x @ w, 1.0))
    >>> noisy = kg.minibatch(kg.model(w), 50)
    >>> sampler = kg.samplers.CCAdL(step_size=0.003)
    >>> tree = kg.mcmc(noisy, sampler, draws=2000, warmup=500, seed=1, progress=False)
    >>> tree["sample_stats"]["batch_lp"].shape
    (4, 2000)

    Each row once in each epoch:

    >>> epochs = kg.minibatch(kg.model(w), 50, order="epochs")
    >>> kg.chain(epochs, sampler, seed=1).step(20).posterior["w"].shape
    (20, 3)

    Sources: M. Welling, Y. W. Teh, Bayesian learning via stochastic gradient Langevin dynamics,
    ICML 2011. D. Paulin, P. A. Whalley, N. K. Chada, B. Leimkuhler, Sampling from Bayesian neural
    network posteriors with symmetric minibatch splitting Langevin dynamics, 2024.
    """
    if not isinstance(model, Model):
        raise no_model("minibatch", model)
    if model.component.discrete:
        names = ", ".join(model.name(v) for v in model.component.discrete)
        raise ModelError(
            f"minibatch: {names} is marginalised over all rows together; write a mixture instead "
            "(kg.mixture), whose rows are independent"
        )
    refuse_rows_one_by_one(model, BY.function)
    by_rows = rows_found(model, BY) if rows is None else rows_given(model, rows, BY)
    noise = None
    if model.batch is not None and model.batch.noise is not None:
        noise, words = model.batch.noise, model.batch.rows[-1]
        by_rows = [*(node for node in by_rows if node is not words), words]
    count = by_rows[0].shape[0]
    is_whole = isinstance(size, (int, np.integer)) and not isinstance(size, bool)
    if not is_whole or not 1 <= size <= count:
        raise ValueError(
            f"minibatch: size must be a whole number from 1 to {count}, the number of rows, got "
            f"{size!r}"
        )
    batch_order(count, int(size), order, bool(replace), last)  # raises errors of the arguments
    return in_batches(
        model, tuple(by_rows), int(size), order, bool(replace), last, bool(allow_noisy), noise
    )


def in_batches(model: Model, rows: tuple[Data, ...], *settings: Any) -> Model:
    """The model whose samplers see batches of these rows.

    `settings` are the arguments of `RowBatch` after the rows.

    Raises
    ------
    ValueError
        If the order of batches does not fit the number of rows.
    ModelError
        If what a row adds to the log density depends on other rows, too.
    """
    batched = model._seen_by(rows, *settings)
    assert batched.batch is not None
    check_rows(batched, batched.batch, BY)
    return batched
