"""`kg.minibatch`: a model of which each step of a sampler sees some rows of the data."""

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
from ..graph.source import place_text
from ..graph.suggestions import meant
from ..graph.text import in_words
from .batch import Batch
from .checks import no_model
from .density import data_environment
from .model import Model
from .term import Term

__all__ = ["minibatch"]


class _Stuck(Exception):
    """A node that cannot be computed of other than all rows."""

    def __init__(self, node: Node) -> None:
        self.node = node


def minibatch(
    model: Model,
    size: int,
    *,
    rows: Any = None,
    replace: bool = False,
    allow_noisy: bool = False,
) -> Model:
    """The model again, of which samplers see a random batch of the data's rows in each step.

        log p~(u) = log prior + n / size * sum over the batch of log p(row i | u)

    is what a transition is given in the place of the log density: with the same mean, and a
    gradient that costs `size` rows instead of n. Each transition has a batch of its own, drawn anew
    from the chain's random numbers (a function of seed, chain and number of the transition), which
    all points that it evaluates share, and all walkers of an ensemble. The starting point is
    evaluated with all rows.

    Everything else sees the full data: `log_prob` and the like, targets, `kg.opt`. In results the
    log density of a row of draws is called `batch_lp`, and observables of the potential or its
    gradient `batch_potential` and so on, for they are the batch's and not the model's.

    Parameters
    ----------
    model
        Made by `kg.model` or `kg.jax_model`. What a row adds to the log density must depend on that
        row alone, in terms of the log density with an element (or more) for each row: observed
        data, or a factor that has not been summed up.
    size
        The number of rows of a batch.
    rows
        The data arrays that are given by rows, along their first axis, or their names. By default
        all of as many rows as the observed data have.
    replace
        Whether a batch may have a row more than once. If not, each set of rows is as likely as any
        other, and batches of n rows give the exact gradient.
    allow_noisy
        Whether samplers may compare values of the potential, as a Metropolis test does. They do not
        sample the posterior then.

    Returns
    -------
    Model

    Raises
    ------
    TypeError, ValueError
        If `model` is no model, or `size` no number of rows.
    ModelError
        If it is not clear which data have rows, if what a row adds depends on others, too, or if an
        unknown belongs to the rows.

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

    Source: M. Welling, Y. W. Teh, Bayesian learning via stochastic gradient Langevin dynamics,
    ICML 2011.
    """
    if not isinstance(model, Model):
        raise no_model("minibatch", model)
    if model.component.discrete:
        names = ", ".join(model.name(v) for v in model.component.discrete)
        raise ModelError(
            f"minibatch: {names} is summed out of the density, with all rows together; write a "
            "mixture of it (kg.mixture), whose rows stand by themselves"
        )
    by_rows = _found(model) if rows is None else _given(model, rows)
    count = by_rows[0].shape[0]
    whole = isinstance(size, (int, np.integer)) and not isinstance(size, bool)
    if not whole or not 1 <= size <= count:
        raise ValueError(
            f"minibatch: size must be a whole number from 1 to {count}, the number of rows, got "
            f"{size!r}"
        )
    found = model._seen_by(tuple(by_rows), int(size), bool(replace), bool(allow_noisy))
    assert found.batch is not None
    _check(found, found.batch)
    return found


def _rows_of(term: Term) -> int | None:
    """How many rows a term may have: those of observed data, or of a factor of data's length."""
    if isinstance(term.target, Data):
        return term.target.shape[0] if term.target.shape else None
    if term.target is not None or not term.node.shape:
        return None
    length = term.node.shape[0]
    return length if length in {n.shape[0] for n in _data(term) if n.shape} else None


def _data(term: Term) -> list[Data]:
    return [node for node in ancestors(term.plain_needs()) if isinstance(node, Data)]


def _found(model: Model) -> list[Data]:
    """The data of as many rows as what is observed has."""
    terms = [term for term in model.density.terms if (_rows_of(term) or 0) > 1]
    observed = [term for term in terms if isinstance(term.target, Data)]
    terms = observed or terms
    lengths = {_rows_of(term) for term in terms}
    if len(lengths) != 1:
        reason = (
            "no term of the log density is seen to have an element for each of several rows"
            if not lengths
            else f"there are data of {', '.join(map(str, sorted(map(int, filter(None, lengths)))))}"
            " rows"
        )
        raise ModelError(f"minibatch: {reason}; say by rows=[x, y] which data are given by rows")
    (length,) = lengths
    data = dict.fromkeys(node for term in terms for node in _data(term))
    return [node for node in data if node.shape and node.shape[0] == length]


def _given(model: Model, rows: Any) -> list[Data]:
    known = {model.name(node): node for node in model.data}
    found: dict[Data, None] = {}
    for item in rows if isinstance(rows, (list, tuple)) else [rows]:
        node = known.get(item) if isinstance(item, str) else getattr(item, "node", None)
        if not isinstance(node, Data) or node not in known.values():
            named = isinstance(item, str)
            what = describe(item.node) if isinstance(item, Array) else in_words(item)
            hint = (
                meant(item, known) if named else "; make it one by kg.data, and the model of that"
            )
            raise ModelError(
                f"minibatch: rows: {repr(item) if named else what} is no data array of the model; "
                f"it has: {', '.join(known) or 'none'}{place_text()}{hint}"
            )
        if not node.shape:
            raise ModelError(f"minibatch: rows: {model.name(node)} is one number and has no rows")
        found[node] = None
    lengths = {node.shape[0] for node in found}
    if len(lengths) != 1:
        shapes = ", ".join(f"{model.name(node)} {node.shape}" for node in found) or "nothing"
        raise ModelError(f"minibatch: rows: data of one number of rows are expected, got {shapes}")
    return list(found)


def _title(model: Model, term: Term) -> str:
    target = term.target
    if target is None:
        return f"the factor {describe(term.node)}{site_text(term.node)}"
    kind = "the prior" if target in model.component.unknowns else "the likelihood"
    return f"{kind} of {model.name(target)}{site_text(target)}"


def _check(model: Model, batch: Batch) -> None:
    """Refuse a model in which a row's share of the log density is not its own."""
    if not batch.terms:
        raise ModelError("minibatch: no term of the log density is computed from these rows")
    for term in batch.of_unknowns:
        raise ModelError(
            f"minibatch: {_title(model, term)} is computed from the rows, but an unknown takes "
            "part in every step; leave its data out of rows="
        )
    if model.density.loops:
        loop = model.density.loops[0]
        raise ModelError(
            f"minibatch: the log density has a {loop.title}{site_text(loop)}, and loops cannot be "
            "made of some rows; write it with arrays, or as a JAX function by kg.lift"
        )
    random = np.random.default_rng(0)
    free = random.normal(scale=0.5, size=model.free_size)
    chosen = random.permutation(batch.count)[: batch.size]
    values = model.argument_values

    def elements(free: Any, values: Sequence[Any], rows: Any) -> list[Any]:
        data = data_environment(model.arguments, values)
        data = data if rows is None else batch.taken(data, rows)
        environment, _ = model.density.values(free, data)
        return [_elements(term, environment) for term in batch.terms]

    with x64():
        whole = jax.eval_shape(lambda f, v: elements(f, v, None), free, values)
        try:
            part = jax.eval_shape(elements, free, values, chosen)
        except _Stuck as stuck:
            raise _not_of_rows(batch, stuck.node) from stuck.__cause__
    for term, all_, some in zip(batch.terms, whole, part, strict=True):
        lead = all_.shape[:1] == (batch.count,)
        if not lead or some.shape != (batch.size, *all_.shape[1:]):
            raise ModelError(
                f"minibatch: {_title(model, term)} has shape {all_.shape} with all {batch.count} "
                f"rows and {some.shape} with {batch.size}; it must have an element for each row, "
                "along its first axis (leave out a sum over the rows: terms are added up anyway)"
            )
    with x64():
        both = jax.jit(lambda f, v, r: (elements(f, v, None), elements(f, v, r)))
        whole, part = both(free, values, chosen)
    for term, all_, some in zip(batch.terms, whole, part, strict=True):
        expected, got = np.asarray(all_)[chosen], np.asarray(some)
        room = 1e-3 if got.dtype == np.float32 else 1e-6
        same = np.isclose(got, expected, rtol=room, atol=room, equal_nan=True)
        if not same.all():
            place = tuple(int(i) for i in np.argwhere(~same)[0])
            raise ModelError(
                f"minibatch: {_title(model, term)} mixes rows: row {chosen[place[0]]} adds "
                f"{expected[place]:.6g} to the log density, but {got[place]:.6g} where only "
                f"{batch.size} of {batch.count} rows are there. What a row adds must depend on "
                "that row alone: compute means over all rows and the like beforehand, or say by "
                "rows= which data are given by rows"
            )


def _elements(term: Term, environment: Environment) -> Any:
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


def _not_of_rows(batch: Batch, node: Node) -> ModelError:
    shapes = ", ".join(f"{describe(n)} {n.shape}" for n in node.parents)
    return ModelError(
        f"minibatch: {describe(node)}{site_text(node)} cannot be computed where only {batch.size} "
        f"of {batch.count} rows are there ({shapes} with all of them). Write it for any number of "
        "rows, x.reshape(-1, 3) rather than x.reshape(1000, 3), and say by rows= which data are "
        "given by rows: all that have a value for each row, and no others; unknowns cannot be"
    )
