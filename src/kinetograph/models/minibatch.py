"""`kg.minibatch`: models whose samplers use random batches of rows."""

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from ..graph.array import Array
from ..graph.errors import ModelError
from ..graph.lower import Environment, evaluate
from ..graph.messages import describe, site_text
from ..graph.node import Data, Node, ancestors
from ..graph.precision import x64
from ..graph.public import public
from ..graph.source import place_text
from ..graph.suggestions import meant
from ..graph.value_texts import in_words
from .batch import RowBatch
from .batch_order import batch_order
from .checks import no_model
from .model import Model
from .rows_one_by_one import refuse_rows_one_by_one
from .term import Term

__all__ = ["in_batches", "minibatch"]


class _Stuck(Exception):
    """A node that cannot be computed for a part of the rows."""

    def __init__(self, node: Node) -> None:
        self.node = node


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
        other rows. All batches have `size` rows, so the factor n / size is right for both.
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
    refuse_rows_one_by_one(model)
    by_rows = _found(model) if rows is None else _given(model, rows)
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
    made = model._seen_by(rows, *settings)
    assert made.batch is not None
    _check(made, made.batch)
    return made


def _rows_of(term: Term) -> int | None:
    """The number of rows that a term may have, or None.

    Rows are elements of observed data, or of a factor with the length of data.
    """
    if isinstance(term.target, Data):
        return term.target.shape[0] if term.target.shape else None
    if term.target is not None or not term.node.shape:
        return None
    length = term.node.shape[0]
    return length if length in {n.shape[0] for n in _data(term) if n.shape} else None


def _data(term: Term) -> list[Data]:
    """The data that a term depends on."""
    return [node for node in ancestors(term.plain_needs()) if isinstance(node, Data)]


def _found(model: Model) -> list[Data]:
    """The data with as many rows as the observed data."""
    terms = [term for term in model.density.terms if (_rows_of(term) or 0) > 1]
    observed = [term for term in terms if isinstance(term.target, Data)]
    terms = observed or terms
    lengths = {_rows_of(term) for term in terms}
    if len(lengths) != 1:
        reason = (
            "no term of the log density has an element for each of several rows"
            if not lengths
            else f"there are data of {', '.join(map(str, sorted(map(int, filter(None, lengths)))))}"
            " rows"
        )
        raise ModelError(f"minibatch: {reason}; list the data that have rows, as rows=[x, y]")
    (length,) = lengths
    data = dict.fromkeys(node for term in terms for node in _data(term))
    return [node for node in data if node.shape and node.shape[0] == length]


def _given(model: Model, rows: Any) -> list[Data]:
    """The data arrays that `rows` lists."""
    data = {model.name(node): node for node in model.data}
    row_data: dict[Data, None] = {}
    for item in rows if isinstance(rows, (list, tuple)) else [rows]:
        node = data.get(item) if isinstance(item, str) else getattr(item, "node", None)
        if not isinstance(node, Data) or node not in data.values():
            named = isinstance(item, str)
            item_text = describe(item.node) if isinstance(item, Array) else in_words(item)
            hint = (
                meant(item, data)
                if named
                else "; make it data with kg.data before the model is made"
            )
            raise ModelError(
                f"minibatch: rows: {repr(item) if named else item_text} is not a data array of the "
                f"model; it has: {', '.join(data) or 'none'}{place_text()}{hint}"
            )
        if not node.shape:
            raise ModelError(f"minibatch: rows: {model.name(node)} is one number and has no rows")
        row_data[node] = None
    lengths = {node.shape[0] for node in row_data}
    if len(lengths) != 1:
        shapes = ", ".join(f"{model.name(node)} {node.shape}" for node in row_data) or "nothing"
        raise ModelError(f"minibatch: rows: data need the same number of rows, got {shapes}")
    return list(row_data)


def _title(model: Model, term: Term) -> str:
    """A term as text."""
    target = term.target
    if target is None:
        return f"the factor {describe(term.node)}{site_text(term.node)}"
    kind = "the prior" if target in model.component.unknowns else "the likelihood"
    return f"{kind} of {model.name(target)}{site_text(target)}"


def _check(model: Model, batch: RowBatch) -> None:
    """Raise ModelError if the contribution of a row depends on other rows.

    The terms of a random batch are compared with the same rows of the terms of all data.
    """
    if not batch.terms:
        raise ModelError("minibatch: no term of the log density is computed from these rows")
    for term in batch.of_unknowns:
        raise ModelError(
            f"minibatch: {_title(model, term)} is computed from the rows, but a prior enters every "
            "step in full; leave its data out of rows="
        )
    if model.density.loops:
        loop = model.density.loops[0]
        raise ModelError(
            f"minibatch: the log density has a {loop.title}{site_text(loop)}, and a loop cannot "
            "run over a part of the rows; write it with arrays, or as a JAX function with kg.lift"
        )
    random = np.random.default_rng(0)
    free = random.normal(scale=0.5, size=model.free_size)
    batch_rows = random.permutation(batch.count)[: batch.size]
    values = model.argument_values

    def elements(free: Any, values: Sequence[Any], rows: Any) -> list[Any]:
        data = model.bind(values).data
        data = data if rows is None else batch.taken(data, rows)
        environment, _ = model.density.values(free, data)
        return [_elements(term, environment) for term in batch.terms]

    with x64():
        whole = jax.eval_shape(lambda f, v: elements(f, v, None), free, values)
        try:
            part = jax.eval_shape(elements, free, values, batch_rows)
        except _Stuck as stuck:
            raise _not_of_rows(batch, stuck.node) from stuck.__cause__
    for term, all_, part_elements in zip(batch.terms, whole, part, strict=True):
        lead = all_.shape[:1] == (batch.count,)
        if not lead or part_elements.shape != (batch.size, *all_.shape[1:]):
            raise ModelError(
                f"minibatch: {_title(model, term)} has shape {all_.shape} with all {batch.count} "
                f"rows and {part_elements.shape} with {batch.size}; it must have an element for "
                "each row, along its first axis (leave out a sum over the rows: terms are added up "
                "anyway)"
            )
    with x64():
        both = jax.jit(lambda f, v, r: (elements(f, v, None), elements(f, v, r)))
        whole, part = both(free, values, batch_rows)
    for term, all_, part_elements in zip(batch.terms, whole, part, strict=True):
        expected, got = np.asarray(all_)[batch_rows], np.asarray(part_elements)
        tolerance = 1e-3 if got.dtype == np.float32 else 1e-6
        equal = np.isclose(got, expected, rtol=tolerance, atol=tolerance, equal_nan=True)
        if not equal.all():
            place = tuple(int(i) for i in np.argwhere(~equal)[0])
            raise ModelError(
                f"minibatch: {_title(model, term)} mixes rows: row {batch_rows[place[0]]} adds "
                f"{expected[place]:.6g} to the log density with all rows, but {got[place]:.6g} in "
                f"a batch of {batch.size} of {batch.count} rows. The contribution of a row must "
                "depend on that row alone: compute means over all rows and similar quantities "
                "beforehand, or list the data that have rows with rows="
            )


def _elements(term: Term, environment: Environment) -> Any:
    """The elements of a term, or _Stuck with the node that failed."""
    needed = term.plain_needs()
    for node in ancestors(needed, stop=environment.__contains__):
        try:
            evaluate([node], environment)
        except (TypeError, ValueError, IndexError) as error:
            raise _Stuck(node) from error
    try:
        return term.elements(environment)
    except (TypeError, ValueError) as error:
        raise _Stuck(term.node) from error


def _not_of_rows(batch: RowBatch, node: Node) -> ModelError:
    """The error for a node that needs all rows."""
    shapes = ", ".join(f"{describe(n)} {n.shape}" for n in node.parents)
    return ModelError(
        f"minibatch: {describe(node)}{site_text(node)} cannot be computed with {batch.size} of "
        f"{batch.count} rows ({shapes} with all rows). Write it for any number of rows, "
        "x.reshape(-1, 3) rather than x.reshape(1000, 3), and list with rows= exactly the data "
        "that have a value for each row; unknowns cannot have rows"
    )
