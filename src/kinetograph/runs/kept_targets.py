"""The targets of a model whose draws a run keeps."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..graph.array import Array
from ..graph.errors import ModelError
from ..graph.messages import describe, site_text
from ..graph.node import Node
from ..graph.suggestions import meant
from ..models.model import Model

__all__ = ["kept_targets", "named_targets"]


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
            f"got {keep!r:.80}"
        )
    if not targets_and_names:
        raise ValueError("mcmc: keep=[] keeps nothing; write keep=False, and averages=")
    kept_names = {_name(model, each): True for each in targets_and_names}
    return {name: node for name, node in targets.items() if name in kept_names}


def named_targets(model: Model, kept: dict[str, Node] | None) -> list[tuple[str, Node]]:
    """The targets in the results, by name.

    They are the kept targets. If none is kept, they are all targets, without draws.
    """
    if kept is not None:
        return list(kept.items())
    return list(zip(model.target_names, model.targets, strict=True))


def _name(model: Model, wanted: Any) -> str:
    names = model.target_names
    if isinstance(wanted, Array):
        if wanted.node in model.targets:
            return model.name(wanted.node)
        text = f"{describe(wanted.node)}{site_text(wanted.node)}"
    elif isinstance(wanted, str):
        if wanted in names:
            return wanted
        text = repr(wanted)
    else:
        raise TypeError(f"mcmc: keep: expected a target or its name, got {wanted!r:.80}")
    raise ModelError(
        f"mcmc: keep: {text} is not a target of the model, which has {', '.join(names)}"
        f"{meant(wanted, names)}"
    )
