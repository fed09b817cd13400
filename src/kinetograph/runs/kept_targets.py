"""The targets and unknowns of a model whose draws a run keeps."""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..graph.array import Array
from ..graph.errors import ModelError
from ..graph.messages import describe, site_text
from ..graph.node import Node
from ..graph.suggestions import did_you_mean
from ..graph.value_texts import shown
from ..models.model import Model
from ..models.recorded_unknowns import GROUP, MOST, unknowns_beside
from .arguments import check_flag

__all__ = ["KeptArray", "kept_arrays", "kept_nodes", "kept_targets", "kept_unknowns"]


class KeptArray(NamedTuple):
    """An array whose draws are kept, and their group of results."""

    name: str
    node: Node
    group: str = "posterior"


def kept_targets(model: Model, keep: Any) -> dict[str, Node] | None:
    """The targets whose draws are kept, by name; None for `keep=False`.

    Raises
    ------
    ModelError
        If one is not a target of the model.
    TypeError
        If `keep` is not True, False, or a list of names and arrays.
    """
    targets = dict(zip(model.target_names, model.targets, strict=True))
    if isinstance(keep, (bool, np.bool_)):
        return targets if keep else None
    targets_and_names: Sequence[Any] = [keep] if isinstance(keep, (str, Array)) else keep
    if not isinstance(targets_and_names, (list, tuple, set, frozenset)):
        raise TypeError(
            "mcmc: keep must be True, False, or a list of targets of the model and their names, "
            f"got {shown(keep)}"
        )
    if not targets_and_names:
        raise ValueError("mcmc: keep=[] keeps nothing; write keep=False, and averages=")
    kept_names = {_name(model, each): True for each in targets_and_names}
    return {name: node for name, node in targets.items() if name in kept_names}


def kept_unknowns(model: Model, keep: Any, keep_unknowns: bool | None) -> list[str]:
    """The names of the unknowns that are kept.

    They are kept in addition to the targets. By default they are all unknowns that cannot be read
    from the targets, up to `MOST` numbers of a draw, or none if `keep` selects targets.

    Raises
    ------
    TypeError, ValueError
        If `keep_unknowns` is not True, False or None, or True without any draws.
    """
    targets = kept_targets(model, keep)
    by_default = keep_unknowns is None
    if not by_default and check_flag("mcmc", "keep_unknowns", keep_unknowns) and targets is None:
        raise ValueError("mcmc: keep=False keeps no draws; leave out keep_unknowns=True")
    if targets is None or not (keep is True if by_default else keep_unknowns):
        return []
    nodes = unknowns_beside(model, targets.values(), MOST if by_default else None)
    return [model.name(unknown) for unknown in nodes]


def kept_nodes(model: Model, keep: Any, unknowns: Sequence[str]) -> dict[str, Node] | None:
    """The targets and unknowns whose draws are kept, by name.

    `unknowns` are the names of the unknowns. None for `keep=False`. Raises as `kept_targets`.
    """
    kept = kept_targets(model, keep)
    by_name = dict(zip(model.names, model.component.unknowns, strict=True))
    return None if kept is None else kept | {name: by_name[name] for name in unknowns}


def kept_arrays(
    model: Model, kept: dict[str, Node] | None, unknowns: Collection[str]
) -> list[KeptArray]:
    """The targets and unknowns in the results.

    `unknowns` are the names of the unknowns. If no array is kept, all targets are in the results,
    without draws.
    """
    if kept is None:
        kept = dict(zip(model.target_names, model.targets, strict=True))
    return [
        KeptArray(name, node, GROUP if name in unknowns else "posterior")
        for name, node in kept.items()
    ]


def _name(model: Model, target: Any) -> str:
    names = model.target_names
    if isinstance(target, Array):
        if target.node in model.targets:
            return model.name(target.node)
        text = f"{describe(target.node)}{site_text(target.node)}"
    elif isinstance(target, str):
        if target in names:
            return target
        text = repr(target)
    else:
        raise TypeError(f"mcmc: keep: expected a target or its name, got {shown(target)}")
    raise ModelError(
        f"mcmc: keep: {text} is not a target of the model, which has {', '.join(names)}"
        f"{did_you_mean(target, names)}"
    )
