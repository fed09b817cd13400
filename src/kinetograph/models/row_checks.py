"""Data that have rows, and terms that belong to single rows."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from ..graph.array import Array
from ..graph.errors import ModelError
from ..graph.lower import Environment, evaluate
from ..graph.messages import describe, site_text
from ..graph.node import Data, Node, ancestors
from ..graph.precision import x64
from ..graph.source import place_text
from ..graph.suggestions import did_you_mean
from ..graph.value_texts import in_words
from .density import Density
from .model import Model
from .row_terms import RowTerms
from .term import Term

__all__ = ["ArgumentOfRows", "check_rows", "rows_found", "rows_given"]


MANY = 8192  # rows whose terms are compared


class ArgumentOfRows(NamedTuple):
    """A function, and its argument that names data with rows."""

    function: str
    argument: str


class _Stuck(Exception):
    """A node that cannot be computed for a part of the rows."""

    def __init__(self, node: Node) -> None:
        self.node = node


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


def rows_found(model: Model, by: ArgumentOfRows) -> list[Data]:
    """The data with as many rows as the observed data.

    Raises
    ------
    ModelError
        If there are none, or several numbers of rows.
    """
    doing, argument = by
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
        raise ModelError(f"{doing}: {reason}; list the data that have rows, as {argument}=[x, y]")
    (length,) = lengths
    data = dict.fromkeys(node for term in terms for node in _data(term))
    return [node for node in data if node.shape and node.shape[0] == length]


def rows_given(model: Model, rows: Any, by: ArgumentOfRows) -> list[Data]:
    """The data that `rows` lists, and literal arrays as long.

    Raises
    ------
    ModelError
        If an item is not data of the model, or numbers of rows differ.
    """
    doing, argument = by
    data = {model.name(node): node for node in model.data}
    row_data: dict[Data, None] = {}
    for item in rows if isinstance(rows, (list, tuple)) else [rows]:
        node = data.get(item) if isinstance(item, str) else getattr(item, "node", None)
        if not isinstance(node, Data) or node not in data.values():
            named = isinstance(item, str)
            item_text = describe(item.node) if isinstance(item, Array) else in_words(item)
            hint = (
                did_you_mean(item, data)
                if named
                else "; make it data with kg.data before the model is made"
            )
            raise ModelError(
                f"{doing}: {argument}: {repr(item) if named else item_text} is not a data array of "
                f"the model; it has: {', '.join(data) or 'none'}{place_text()}{hint}"
            )
        if not node.shape:
            raise ModelError(
                f"{doing}: {argument}: {model.name(node)} is one number and has no rows"
            )
        row_data[node] = None
    lengths = {node.shape[0] for node in row_data}
    if len(lengths) != 1:
        shapes = ", ".join(f"{model.name(node)} {node.shape}" for node in row_data) or "nothing"
        raise ModelError(f"{doing}: {argument}: data need the same number of rows, got {shapes}")
    (length,) = lengths
    terms = [t for t in model.density.terms if not row_data.keys().isdisjoint(_data(t))]
    for node in (node for term in terms for node in _data(term)):
        if node.literal and node.shape and node.shape[0] == length:
            row_data[node] = None  # it has no name by which it could be listed
    return list(row_data)


def _title(model: Model, term: Term) -> str:
    """A term as text."""
    target = term.target
    if target is None:
        return f"the factor {describe(term.node)}{site_text(term.node)}"
    kind = "the prior" if target in model.component.unknowns else "the likelihood"
    return f"{kind} of {model.name(target)}{site_text(target)}"


def check_rows(model: Model, batch: RowTerms, by: ArgumentOfRows) -> None:
    """Raise ModelError if the contribution of a row depends on other rows.

    The terms of some random rows are compared with the same rows of the terms of more rows.
    """
    doing, argument = by
    if not batch.terms:
        raise ModelError(f"{doing}: no term of the log density is computed from these rows")
    for term in batch.of_unknowns:
        raise ModelError(
            f"{doing}: {_title(model, term)} is computed from the rows, but a prior enters every "
            f"step in full; leave its data out of {argument}="
        )
    if model.density.loops:
        loop = model.density.loops[0]
        raise ModelError(
            f"{doing}: the log density has a {loop.title}{site_text(loop)}, and a loop cannot "
            "run over a part of the rows; write it with arrays, or as a JAX function with kg.lift"
        )
    random = np.random.default_rng(0)
    free = random.normal(scale=0.5, size=model.free_size)
    size = max(batch.size, min(2, batch.count))  # an axis of one row would fit any other axis
    some = batch.count if batch.count <= MANY else random.choice(batch.count, MANY, replace=False)
    many = random.permutation(some)
    places = random.permutation(len(many))[: size if len(many) < MANY else min(size, MANY // 2)]
    few = many[places]  # in another order, so that cumulative sums differ
    values = model.argument_values

    def elements(free: Any, values: Sequence[Any], rows: Any) -> list[Any]:
        data, density = model.bind(values).data, model.density
        if rows is not None:
            data, density = batch.taken(data, rows), batch.of_rows(len(rows))
            free = batch.row_unknowns.taken(free, rows)
        environment = _unknowns(density, free, data)
        return [_elements(term, environment) for term in batch.terms]

    with x64():
        whole = jax.eval_shape(lambda f, v: elements(f, v, None), free, values)
        try:
            parts = [
                (n, jax.eval_shape(elements, free, values, few[:n]))
                for n in sorted({min(batch.size, len(few)), len(few)}, reverse=True)
            ]
        except _Stuck as stuck:
            raise _not_of_rows(stuck.node, len(few), batch.count, by) from stuck.__cause__
    for count, part in parts:
        for term, all_, part_elements in zip(batch.terms, whole, part, strict=True):
            lead = all_.shape[:1] == (batch.count,)
            if not lead or part_elements.shape != (count, *all_.shape[1:]):
                raise ModelError(
                    f"{doing}: {_title(model, term)} has shape {all_.shape} with all "
                    f"{batch.count} rows and {part_elements.shape} with {count}; it must have an "
                    "element for each row, along its first axis (leave out a sum over the rows: "
                    "terms are added up anyway)"
                )
    with x64():
        both = jax.jit(lambda f, v, a, b: (elements(f, v, a), elements(f, v, b)))
        whole, part = both(free, values, many, few)
    for term, all_, part_elements in zip(batch.terms, whole, part, strict=True):
        expected, got = np.asarray(all_)[places], np.asarray(part_elements)
        tolerance = 1e-3 if got.dtype == np.float32 else 1e-6
        equal = np.isclose(got, expected, rtol=tolerance, atol=tolerance, equal_nan=True)
        if not equal.all():
            place = tuple(int(i) for i in np.argwhere(~equal)[0])
            whole_text = "all rows" if len(many) == batch.count else f"{len(many)} rows"
            raise ModelError(
                f"{doing}: {_title(model, term)} mixes rows: row {few[place[0]]} adds "
                f"{expected[place]:.6g} to the log density with {whole_text}, but "
                f"{got[place]:.6g} in a batch of {len(few)} of {batch.count} rows. The "
                "contribution of a row must depend on that row alone: compute means over all rows "
                "and similar quantities "
                f"beforehand, or list the data that have rows with {argument}="
            )


def _unknowns(density: Density, free: Any, data: Environment) -> Environment:
    """The tensors of the unknowns, or _Stuck with the unknown that failed."""
    environment = dict(data)
    define = density.images(density.pieces(free), environment, None)
    for unknown in density.unknowns:
        try:
            evaluate([unknown], environment, define)
        except (TypeError, ValueError) as error:
            raise _Stuck(unknown) from error
    return environment


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


def _not_of_rows(node: Node, size: int, count: int, by: ArgumentOfRows) -> ModelError:
    """The error for a node that needs all rows."""
    doing, argument = by
    shapes = ", ".join(f"{describe(n)} {n.shape}" for n in node.parents)
    unknowns = (
        "elements of an unknown with rows need a density for each, and bounds that are numbers"
        if argument == "shard"
        else "unknowns cannot have rows"
    )
    return ModelError(
        f"{doing}: {describe(node)}{site_text(node)} cannot be computed with {size} of "
        f"{count} rows ({shapes} with all rows). Write it for any number of rows, "
        f"x.reshape(-1, 3) rather than x.reshape(1000, 3), and list with {argument}= exactly the "
        f"data that have a value for each row; {unknowns}"
    )
