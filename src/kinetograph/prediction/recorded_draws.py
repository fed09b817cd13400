"""Draws of a model's arrays, read from results row by row."""

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from ..distributions.support import Interval
from ..distributions.variable import Variable
from ..graph.dims import labels_agree
from ..graph.errors import ModelError, ShapeError
from ..graph.messages import site_text
from ..graph.node import Node, ancestors
from ..graph.source import place_text
from ..graph.tables import plain_labels
from ..models.ancestral.rows import in_rows
from ..models.model import Model
from ..models.recorded_distributions import warn_of_other_distributions
from ..models.recorded_unknowns import rows_of_unknowns
from ..models.result_groups import FIXED
from ..results.check import check_tree, unknowns_of
from ..results.recorded_density import warn_of_other_density

__all__ = [
    "DATA_GROUPS",
    "Recorded",
    "called_in",
    "is_same",
    "is_stale",
    "recorded",
    "recorded_data",
    "recorded_of",
]

DATA_GROUPS = ("observed_data", "constant_data")

ROUNDING = 1e-6  # relative, of draws that were stored in single precision


class Recorded:
    """Draws of nodes as rows, and the numbers of chains and draws."""

    def __init__(self, values: Mapping[Node, np.ndarray], lead: tuple[int, int]) -> None:
        self.values, self.lead = dict(values), lead

    @property
    def count(self) -> int:
        """The number of rows."""
        return math.prod(self.lead)

    def of(self, nodes: tuple[Node, ...]) -> list[np.ndarray]:
        """The rows of these nodes."""
        return [self.values[node] for node in nodes]

    def by_chain(self, rows: np.ndarray) -> np.ndarray:
        """Reshape rows to (chain, draw, ...)."""
        return rows.reshape((*self.lead, *rows.shape[1:]))


def recorded(
    doing: str,
    results: Any,
    names: Mapping[Node, str],
    fixed: Mapping[Node, np.ndarray] = MappingProxyType({}),
) -> Recorded:
    """The draws of named nodes in results, and the `fixed` values.

    A node that only rearranges unknowns, such as data with missing values that are a target, also
    gives the draws of these unknowns.

    Raises
    ------
    TypeError
        If `results` is not a results tree.
    ModelError
        If the results hold no draws, no array of the model, or draws outside of an unknown's range.
    ShapeError
        If draws and their node have different shapes, so that the results are of another model; or
        if there is no dimension of chains or draws.
    """
    posterior = check_tree(results, doing)
    for axis in ("chain", "draw"):
        if axis not in posterior.sizes:
            raise ShapeError(
                f"{doing}: the results have no dimension {axis!r}; keep it when you select one, as "
                f"in results.isel({axis}=[0])"
            )
    lead = posterior.sizes["chain"], posterior.sizes["draw"]
    if not math.prod(lead):
        raise ModelError(
            f"{doing}: the results hold no draws: they were made with keep=False or draws=0, or by "
            "a run that was stopped before its first draw"
        )
    rows_by_node, unknowns = {}, unknowns_of(results)
    fixed_values = fixed_in(results)
    for node, name in names.items():
        if name in fixed_values:
            rows_by_node[node] = in_rows(
                np.asarray(fixed_values[name].values, node.dtype), math.prod(lead)
            )
        if name not in posterior and name not in unknowns:
            continue
        draws = (posterior if name in posterior else unknowns)[name].transpose("chain", "draw", ...)
        if draws.shape[2:] != node.shape:
            raise ShapeError(
                f"{doing}: the results are of another model: {name} has shape {draws.shape[2:]} "
                f"in the results, and {node.shape} in the model"
            )
        values = np.asarray(draws.values, node.dtype)
        _check_range(doing, name, node, values)
        rows_by_node[node] = values.reshape((math.prod(lead), *node.shape))
    rows_by_node |= {node: in_rows(value, math.prod(lead)) for node, value in fixed.items()}
    for node, rows in tuple(rows_by_node.items()):
        for unknown, values in rows_of_unknowns(node, rows):
            rows_by_node.setdefault(unknown, values)
    return Recorded(rows_by_node, lead)


def _check_range(doing: str, name: str, node: Node, draws: np.ndarray) -> None:
    """Refuse draws outside of the range of an unknown.

    Rounding to single precision may move draws onto a bound, or just beyond it.
    """
    support = node.support if isinstance(node, Variable) else None
    if not isinstance(support, Interval) or any(
        isinstance(bound, Node) for bound in (support.lower, support.upper)
    ):
        return
    wide = replace(support, closed=True)
    inside = wide.contains(draws) | np.isnan(draws)
    if not inside.all():
        inside |= wide.contains(draws * (1 - ROUNDING)) | wide.contains(draws * (1 + ROUNDING))
    if not inside.all():
        raise ModelError(
            f"{doing}: the results are of another model: {name} is {draws[~inside][0]:.4g} in a "
            f"draw, and {support.describe()} in the model{place_text()}; give results of this model"
        )


def _check_axes(doing: str, model: Model, node: Node, results: Any) -> None:
    """Refuse draws along another dimension, or with other labels."""
    name = model.name(node)
    groups = [results["posterior"].dataset, unknowns_of(results)]
    recorded = next((group[name] for group in groups if name in group), None)
    if recorded is None:
        return
    there = [dim for dim in recorded.dims if dim not in ("chain", "draw")]
    for i, (dim, other) in enumerate(zip(model.dims(node), there, strict=True)):
        if dim is None or other == f"{name}_dim_{i}":
            continue
        difference = f"an axis of {name} is {other!r} in the results, and {dim!r} in the model"
        if dim == other:
            if dim not in recorded.coords or dim not in model.coords:
                continue
            labels, expected = plain_labels(recorded.coords[dim].values), model.coords[dim]
            if labels_agree(labels, expected):
                continue
            k = int(np.argmax(labels != expected))
            difference = (
                f"element {k} of {dim!r} is {labels[k]} in the results, and {expected[k]} in the "
                "model"
            )
        raise ModelError(
            f"{doing}: the results are of another model: {difference}{place_text()}; give results "
            "of this model"
        )


def recorded_of(doing: str, model: Model, results: Any) -> tuple[Recorded, dict[Node, str]]:
    """The recorded draws of a model's unknowns and targets, with their names.

    Targets that were computed from data or fixed values that the model no longer has are left out;
    they are computed again from the unknowns.
    """
    posterior = check_tree(results, doing)
    model._check_data(doing, results)
    names: dict[Node, str] = {n: model.name(n) for n in model.component.unknowns}
    names |= {
        n: model.name(n)
        for n in model.targets
        if isinstance(n, Variable) or not is_stale(model, n, results)
    }
    draws = recorded(doing, results, names, model.fixed_values)
    recorded_names = sorted(map(str, {*posterior.data_vars, *unknowns_of(results)}))
    model_names = {*names.values(), *(model.name(n) for n in model.targets)}
    if recorded_names and not draws.values and model_names.isdisjoint(recorded_names):
        raise ModelError(
            f"{doing}: the results are of another model: they hold "
            f"{', '.join(recorded_names)}, and the model has "
            f"{', '.join(names.values())}{place_text()}"
        )
    for node in draws.values.keys() & names.keys():
        _check_axes(doing, model, node, results)
    if not warn_of_other_distributions(doing, model, results):
        warn_of_other_density(doing, model, results)
    return draws, names


def is_stale(model: Model, target: Node, results: Any) -> bool:
    """Whether a target was computed from data or values that have changed."""
    fixed, used, recorded = set(model.fixed), {*model.data, *model.fixed}, recorded_data(results)
    for node in ancestors([target], lambda node: node in used or isinstance(node, Variable)):
        if node not in used:
            continue
        name = model.name(node)
        if name not in recorded:
            if node in fixed:
                return True
        elif not is_same(recorded[name].values, model.value_of(node)):
            return True
    return False


def recorded_data(results: Any) -> dict[str, Any]:
    """The data and fixed values in results by name."""
    children = getattr(results, "children", ())
    groups = (results[group].dataset for group in DATA_GROUPS if group in children)
    return {str(name): values for group in groups for name, values in group.items()}


def is_same(values: np.ndarray, current: np.ndarray) -> bool:
    """Whether recorded values are these, up to the precision of the record.

    Missing values are equal to each other.
    """
    floats = values.dtype.kind == "f"
    return np.array_equal(values, current.astype(values.dtype) if floats else current, floats)


def fixed_in(results: Any) -> dict[str, Any]:
    """The unknowns that had fixed values in the model of the results."""
    if "constant_data" not in results:
        return {}
    constant = results["constant_data"].dataset
    return {str(n): v for n, v in constant.data_vars.items() if FIXED in v.attrs}


def called_in(results: Any, doing: str, names: Mapping[Node, str]) -> dict[Node, str]:
    """Names of the unknowns as they appear in results.

    `names` are their current names.

    Models record the names that they give to unknowns. If no recorded name is in the results, for
    example because the results were loaded from a file and the model was written again, the current
    names are used. Unknowns that are not in the results are left out.

    Raises
    ------
    ModelError
        If the name of an unknown in the results is ambiguous.
    """
    posterior = check_tree(results, doing)
    recorded_names = {
        *map(str, posterior.data_vars),
        *map(str, unknowns_of(results)),
        *json.loads(results.attrs.get("unknowns", "{}")),
    }
    recorded_names |= set(fixed_in(results))
    called = {n: sorted(recorded_names & n.called) for n in names if isinstance(n, Variable)}
    if not any(called.values()):
        return {n: name for n, name in names.items() if name in recorded_names}
    node_of_name: dict[str, Node] = {}
    for node, candidates in called.items():
        subject = f"{doing}: {names[node]}{site_text(node)}"
        if len(candidates) > 1:
            raise ModelError(
                f"{subject} was called {' and '.join(candidates)} by models, and the results hold "
                "both; give it the same name in all models"
            )
        if not candidates and names[node] in recorded_names:
            raise ModelError(
                f"{subject} has the name of another unknown in the results; give it another name="
            )
        for name in candidates:
            if name in node_of_name:
                raise ModelError(
                    f"{subject} was called {name} by a model, and so was "
                    f"{names[node_of_name[name]]}{site_text(node_of_name[name])} by another; give "
                    "each of them a name="
                )
            node_of_name[name] = node
    return {node: name for name, node in node_of_name.items()}
