"""Warnings about data and unknowns that a model does not use."""

from typing import TYPE_CHECKING

from ..graph.array import Array
from ..graph.errors import KinetographWarning
from ..graph.frame_variables import local_variables
from ..graph.messages import describe
from ..graph.node import Data, Node
from ..graph.source import place_text, user_frame, warn_user
from .discovery import above, discover, unknowns_above

if TYPE_CHECKING:
    from .model import Model

__all__ = ["in_a_list", "warn_of_later", "warn_of_unused"]


def warn_of_unused(model: "Model") -> None:
    """Warn about data and unknowns whose posterior would be the prior.

    If nothing is observed, the warning names data in the caller's variables that are in no
    likelihood and no array of the model. Otherwise it names targets that are isolated unknowns:
    nothing is computed from them, they depend on no other unknown, and no likelihood or factor
    depends on them.
    """
    stated = [*model.component.likelihoods, *model.factors]
    text = _isolated_unknowns(model, stated) if stated else _unused_data(model)
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


def _unused_data(model: "Model") -> str:
    """The warning about data that are not used, or an empty string."""
    frame = user_frame()
    variables = {} if frame is None else local_variables(frame)
    used = {*model.component.nodes, *model.targets}
    names = [
        name
        for name, value in variables.items()
        if isinstance(value, Array) and isinstance(value.node, Data) and not name.startswith("_")
        if not value.node.literal and value.node._owned is None and value.node not in used
    ]
    if not names:
        return ""
    verb = "is" if len(names) == 1 else "are"
    return (
        f"nothing is observed{place_text()}, so that the posterior is the prior; "
        f"{in_a_list(names)} {verb} not used: write kg.observe({names[0]}, distribution)"
    )


def _isolated_unknowns(model: "Model", stated: list[Node]) -> str:
    """The warning about isolated unknowns, or an empty string."""
    reached = {*unknowns_above(stated)}
    used = {parent for node in model.component.nodes for parent in above(node)}
    names = [
        model.name(v)
        for v in model.component.unknowns
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
