"""What results know of a model's arrays: their draws, row by row."""

import json
import math
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from ..distributions.variable import Variable
from ..graph.errors import ModelError, ShapeError
from ..graph.messages import site_text
from ..graph.node import Apply, Data, Node, ancestors
from ..graph.operations.indexing import READ
from ..graph.operations.shaping import CONCATENATE, RESHAPE
from ..models.ancestral.rows import in_rows
from ..models.groups import FIXED
from ..models.model import Model
from ..runs.results import check_tree

__all__ = ["Recorded", "called_in", "is_stale", "recorded", "recorded_of"]


class Recorded:
    """The draws of some nodes, a row each, and how rows lie in chains."""

    def __init__(self, values: Mapping[Node, np.ndarray], lead: tuple[int, int]) -> None:
        self.values, self.lead = dict(values), lead

    @property
    def count(self) -> int:
        """How many rows."""
        return math.prod(self.lead)

    def of(self, nodes: tuple[Node, ...]) -> list[np.ndarray]:
        """The rows of these nodes."""
        return [self.values[node] for node in nodes]

    def by_chain(self, rows: np.ndarray) -> np.ndarray:
        """Rows as (chain, draw, ...)."""
        return rows.reshape((*self.lead, *rows.shape[1:]))


def recorded(
    doing: str,
    results: Any,
    names: Mapping[Node, str],
    fixed: Mapping[Node, np.ndarray] = MappingProxyType({}),
) -> Recorded:
    """The draws of those of the named nodes that results hold, and values that are `fixed`.

    Of unknowns, too, that a node only arranges, as what is missing of data that are a target.

    Raises
    ------
    TypeError
        If these are no results.
    ModelError
        If there are no draws.
    ShapeError
        If draws have another shape than their node: they are of another model. If there is no
        dimension of chains or draws.
    """
    posterior = check_tree(results, doing)
    for axis in ("chain", "draw"):
        if axis not in posterior.sizes:
            raise ShapeError(
                f"{doing}: the results have no dimension {axis!r}; keep it where you take one, as "
                f"in results.isel({axis}=[0])"
            )
    lead = posterior.sizes["chain"], posterior.sizes["draw"]
    if not math.prod(lead):
        raise ModelError(
            f"{doing}: the results hold no draws: they were made with keep=False, draws=0, or by a "
            "run that was stopped before the first"
        )
    found = {}
    held = fixed_in(results)
    for node, name in names.items():
        if name in held:
            found[node] = in_rows(np.asarray(held[name].values, node.dtype), math.prod(lead))
        if name not in posterior:
            continue
        draws = posterior[name].transpose("chain", "draw", ...)
        if draws.shape[2:] != node.shape:
            raise ShapeError(
                f"{doing}: the results are of another model: {name} has shape {draws.shape[2:]} "
                f"in them, and {node.shape} here"
            )
        values = np.asarray(draws.values, node.dtype)
        found[node] = values.reshape((math.prod(lead), *node.shape))
    found |= {node: in_rows(value, math.prod(lead)) for node, value in fixed.items()}
    for node, rows in tuple(found.items()):
        for unknown, values in _within(node, rows):
            found.setdefault(unknown, values)
    return Recorded(found, lead)


def recorded_of(doing: str, model: Model, results: Any) -> tuple[Recorded, dict[Node, str]]:
    """The draws of a model's unknowns and targets that results hold, and the names of these.

    Without targets that were computed of other data, or other fixed values, than the model has:
    those are computed anew, of the unknowns.
    """
    check_tree(results, doing)
    names: dict[Node, str] = {n: model.name(n) for n in model.component.unknowns}
    names |= {
        n: model.name(n)
        for n in model.targets
        if isinstance(n, Variable) or not is_stale(model, n, results)
    }
    return recorded(doing, results, names, model.fixed_values), names


def is_stale(model: Model, target: Node, results: Any) -> bool:
    """Whether draws of a target are of data or fixed values that the model no longer has."""
    fixed, used = set(model.fixed), {*model.data, *model.fixed}
    for node in ancestors([target], lambda node: node in used or isinstance(node, Variable)):
        if node not in used:
            continue
        name = model.name(node)
        groups = [results[g] for g in ("constant_data", "observed_data") if g in results]
        held = next((group[name].values for group in groups if name in group), None)
        if held is None:
            if node in fixed:
                return True
        elif not np.array_equal(held, model.value_of(node), equal_nan=True):
            return True
    return False


def _within(node: Node, rows: np.ndarray) -> Iterator[tuple[Variable, np.ndarray]]:
    """The rows of unknowns of which a node has the elements, from its own rows."""
    if isinstance(node, Variable):
        yield node, np.asarray(rows, node.dtype)
    elif not isinstance(node, Apply) or node.context is not None:
        return
    elif node.operation is RESHAPE:
        (inner,) = node.parents
        yield from _within(inner, rows.reshape((len(rows), *inner.shape)))
    elif node.operation is CONCATENATE:
        axis = node.attributes["axis"] + 1
        ends = np.cumsum([part.shape[axis - 1] for part in node.parents])[:-1]
        for part, own in zip(node.parents, np.split(rows, ends, axis), strict=True):
            yield from _within(part, own)
    elif node.operation is READ and len(node.parents) == 2:
        inner, places = node.parents
        if (
            isinstance(places, Data)
            and places.literal
            and inner.shape == node.shape == places.shape
        ):
            order = np.asarray(places.value)
            if np.array_equal(np.sort(order), np.arange(inner.shape[0])):
                yield from _within(inner, rows[:, np.argsort(order)])


def fixed_in(results: Any) -> dict[str, Any]:
    """The unknowns that the model of results was given values of."""
    if "constant_data" not in results:
        return {}
    constant = results["constant_data"].dataset
    return {str(n): v for n, v in constant.data_vars.items() if FIXED in v.attrs}


def called_in(results: Any, doing: str, names: Mapping[Node, str]) -> dict[Node, str]:
    """How results call unknowns, of those that they are of; `names` are theirs here.

    It is as models called them. Where none did, as if results were loaded and the graph written
    anew, it is as they are called here.

    Raises
    ------
    ModelError
        If that is not clear.
    """
    posterior = check_tree(results, doing)
    of = {*map(str, posterior.data_vars), *json.loads(results.attrs.get("unknowns", "{}"))}
    of |= set(fixed_in(results))
    called = {n: sorted(of & n.called) for n in names if isinstance(n, Variable)}
    if not any(called.values()):
        return {n: name for n, name in names.items() if name in of}
    taken: dict[str, Node] = {}
    for node, found in called.items():
        what = f"{doing}: {names[node]}{site_text(node)}"
        if len(found) > 1:
            raise ModelError(
                f"{what} was called {' and '.join(found)} by models, and the results hold both; "
                "call it the same in all of them"
            )
        if not found and names[node] in of:
            raise ModelError(
                f"{what} is not what the results are of, but is called so; give it another name="
            )
        for name in found:
            if name in taken:
                raise ModelError(
                    f"{what} was called {name} by a model, and {names[taken[name]]}"
                    f"{site_text(taken[name])} by another; give them names by name="
                )
            taken[name] = node
    return {node: name for name, node in taken.items()}
