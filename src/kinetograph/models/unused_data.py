"""Warnings about data and unknowns that a model does not use."""

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from ..distributions.variable import Variable
from ..graph.array import Array
from ..graph.errors import KinetographWarning
from ..graph.frame_variables import local_variables
from ..graph.messages import describe, site_text
from ..graph.node import Apply, Data, Node
from ..graph.source import place_text, user_frame, warn_user
from .discovery import above, discover, unknowns_above
from .factor import is_density
from .statement_store import EARLIER, building
from .statements import placed

if TYPE_CHECKING:
    from .model import Model

__all__ = ["in_a_list", "warn_of_later", "warn_of_left_out", "warn_of_unused"]


def warn_of_unused(model: "Model") -> None:
    """Warn about data and unknowns whose posterior would be the prior.

    If nothing is observed, the warning names data in the caller's variables that are in no
    likelihood and no array of the model, or arrays that are computed from unknowns of the model and
    from numbers such as a column of a table, and that the model does not have. Otherwise it names
    targets that are isolated unknowns: nothing is computed from them, they depend on no other
    unknown, and no likelihood or factor depends on them. In a model without observations, it names
    targets that are log densities first, and data that follow from other unknowns last.
    """
    stated = [*model.component.likelihoods, *model.factors]
    if stated:
        text = _isolated_unknowns(model, stated)
    else:
        text = _log_densities(model) or _unused_data(model) or _other_data(model)
    if text:
        warn_user(f"model: {text}", KinetographWarning)


def warn_of_later(model: "Model", doing: str) -> None:
    """Warn of data that were observed after the model was made."""
    component = model.component
    if component.likelihoods or model.factors or component.fixed or component.cut:
        return
    later = discover(model.targets).observed
    if later:
        names = in_a_list([describe(node) for node in later])
        verb = "was" if len(later) == 1 else "were"
        warn_user(
            f"{doing}: the model has no data{place_text()}: {names} {verb} observed after it was "
            "made; write kg.model(...) after kg.observe",
            KinetographWarning,
        )


def warn_of_left_out(model: "Model") -> None:
    """Warn of terms that the model of a function leaves out."""
    store, component = building(), model.component
    if store is None or component.fixed or component.cut:
        return
    used = {*component.likelihoods, *component.factors}
    pairs = dict(pair for stated in store.statements.values() for pair in stated)
    texts, needed = [], set[Variable]()
    for statement, data in pairs.items():
        term = statement.parents[0] if data is None else data
        if used.isdisjoint((statement, term)):
            texts.append(describe(term))
            needed.update(unknowns_above([statement]))
    if not texts:
        return
    verb, it = ("is", "it depends") if len(texts) == 1 else ("are", "they depend")
    names = in_a_list([describe(v) for v in sorted(needed, key=lambda v: v.serial)])
    warn_user(
        f"model: {in_a_list(texts)} {verb} not in the model of this function{place_text()}: {it} "
        f"on {names}, on which no target depends; return {names}, too",
        KinetographWarning,
    )


def _unused_data(model: "Model") -> str:
    """The warning about data that are not used, or an empty string."""
    frame = user_frame()
    variables = {} if frame is None else local_variables(frame)
    variables = {name: v for name, v in variables.items() if not name.startswith("_")}
    arrays = {name: v.node for name, v in variables.items() if isinstance(v, Array)}
    predictor, numbers = _predictor(model, arrays)
    used = {*model.component.nodes, *model.targets, *numbers}
    names = [
        name
        for name, node in arrays.items()
        if isinstance(node, Data) and not node.literal and node._owned is None and node not in used
    ]
    distribution, first = "distribution", names[:1]
    if predictor and not names:
        node = arrays[predictor]
        names = first = _unused_numbers(variables, node.shape, [n.value for n in numbers])
        if node not in used:
            names = [*names, predictor]
            distribution = predictor if isinstance(node, Variable) else distribution
    if not names:
        return ""
    verb = "is" if len(names) == 1 else "are"
    return (
        f"nothing is observed{place_text()}, so that the posterior is the prior; "
        f"{in_a_list(names)} {verb} not used: write kg.observe({(first or ['data'])[0]}, "
        f"{distribution})"
    )


def _log_densities(model: "Model") -> str:
    """The warning about log densities as targets, or an empty string."""
    names = [model.name(node) for node in model.targets if _is_log_density(node)]
    if not names or model.component.fixed:
        return ""
    verb = "is a log density" if len(names) == 1 else "are log densities"
    return (
        f"nothing is observed{place_text()}, so that the posterior is the prior: "
        f"{in_a_list(names)} {verb}, and the model only records its targets; "
        f"kg.factor({names[0]}) adds a term to the model"
    )


def _is_log_density(node: Node) -> bool:
    """Whether a node is a log density, or a sum of one."""
    while isinstance(node, Apply) and node.operation.name in ("sum", "mean", "reshape"):
        node = node.parents[0]
    return is_density(node)


def _other_data(model: "Model") -> str:
    """The warning about data that only other unknowns of the caller have.

    Unknowns that an earlier model has are not meant, nor the statements of a model function, whose
    warning is `warn_of_left_out`.
    """
    frame = user_frame()
    if frame is None or building() is not None or model.component.fixed:
        return ""
    variables = local_variables(frame).items()
    nodes = [v.node for name, v in variables if isinstance(v, Array) and not name.startswith("_")]
    others_with_data = [v for v in unknowns_above(nodes) if v.statements and v not in EARLIER]
    if not others_with_data:
        return ""
    pairs = dict(pair for v in others_with_data for pair in v.statements)
    first, data = next(iter(pairs.items()))
    name = describe(first.parents[0] if data is None else data)
    more = f" and {len(pairs) - 1} more" if len(pairs) > 1 else ""
    named = [v for v in others_with_data if v in nodes] or others_with_data
    unknowns = in_a_list([f"{describe(v)}{site_text(v)}" for v in named])
    missing = in_a_list([describe(v) for v in named])
    return (
        f"nothing is observed{place_text()}, so that the posterior is the prior: no target depends "
        f"on {unknowns}, and so {name}{more}, {placed(first)}, {'are' if more else 'is'} not "
        f"in this model; give {missing} as {'a target' if len(named) == 1 else 'targets'}, too, "
        "or use the targets in the distribution of observed data"
    )


def _predictor(model: "Model", arrays: dict[str, Node]) -> tuple[str, list[Data]]:
    """The last array of unknowns and vectors of data, and these vectors.

    An unknown that is a target is left out: it could be given data by `kg.condition`.
    """
    unknowns = {*model.component.unknowns, *model.component.discrete}
    for name, node in reversed(arrays.items()):
        above_it: set[Node] = set()
        unknowns_above([node], above_it)
        vectors = [n for n in above_it if isinstance(n, Data) and n.size > 1]
        if vectors and not unknowns.isdisjoint(above_it) and node not in unknowns:
            return name, vectors
    return "", []


def _unused_numbers(
    variables: dict[str, Any], shape: tuple[int, ...], used: list[np.ndarray]
) -> list[str]:
    """The last variable with numbers of this shape that nothing uses."""
    for name, value in reversed(variables.items()):
        listed = isinstance(value, (list, tuple)) and shape[:1] == (len(value),)
        if not shape or not (listed or getattr(value, "shape", None) == shape):
            continue
        with suppress(TypeError, ValueError):
            array = np.asarray(value)
            kind = array.dtype.kind in "biuf" and array.shape == shape
            if kind and not any(np.array_equal(array, each) for each in used):
                return [name]
    return []


def _isolated_unknowns(model: "Model", stated: list[Node]) -> str:
    """The warning about isolated unknowns, or an empty string."""
    reached = {*unknowns_above(stated)}
    used = {parent for node in model.component.nodes for parent in above(node)}
    names = [
        model.name(v)
        for v in (*model.component.unknowns, *model.component.discrete)
        if v in model.targets and v not in reached and v not in used and unknowns_above([v]) == [v]
    ]
    if not names:
        return ""
    its = "its posterior is its prior" if len(names) == 1 else "their posteriors are their priors"
    it = "it" if len(names) == 1 else "them"
    return (
        f"no data depend on {in_a_list(names)}{place_text()}: {its}; use {it} in the distribution "
        f"of observed data, or leave {it} out"
    )


def in_a_list(names: list[str]) -> str:
    """Names as a list in words: `mu, tau and theta`.

    Of more than four names, the first three are listed.
    """
    shown = names if len(names) <= 4 else [*names[:3], f"{len(names) - 3} more"]
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if shown[1:] else shown)
