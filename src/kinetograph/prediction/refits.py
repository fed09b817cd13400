"""Refits of a model without some observations, as one run."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..graph.node import Node
from ..graph.source import warn_user
from ..models.starting_points import free_states
from ..results.advice import SamplingWarning
from ..results.diagnosis import LOOKED_AT, findings
from ..runs.restoring import restored_samplers
from ..runs.variants import run_variants
from .masked_model import MaskedModel

__all__ = ["refit"]


def refit(
    masked: MaskedModel,
    masks: Sequence[np.ndarray],
    titles: Sequence[str],
    results: Any,
    **run: Any,
) -> list[np.ndarray]:
    """The draws of each refit, as free states (chain, draw, free_size).

    `masks` hold the observations of each refit, `titles` name the refits in warnings. The sampler
    is that of `results`, unless `run` gives one; `run` are options of `run_variants`.
    """
    if run.get("sampler") is None and results is not None and "sampler" in results.attrs:
        run["sampler"] = _sampler_of(results)
    model = masked.model
    variants: list[dict[Node, np.ndarray]] = [
        {masked.mask: np.asarray(mask, bool)} for mask in masks
    ]
    trees = run_variants(masked.doing, model, variants, results, **run)
    _warn(masked.doing, trees, titles)
    states = []
    for tree in trees:
        posterior = tree["posterior"].dataset
        rows = [posterior[model.name(v)].values for v in model.component.unknowns]
        lead = rows[0].shape[:2]
        flat = [r.reshape((-1, *r.shape[2:])) for r in rows]
        states.append(free_states(model, flat).reshape((*lead, model.free_size)))
    return states


def _sampler_of(results: Any) -> Any:
    """The sampler of results, or None if it cannot be restored."""
    try:
        return restored_samplers(results.attrs, None, 1, "refit")[0]
    except (KeyError, ValueError):
        return None


def _warn(doing: str, trees: Sequence[Any], titles: Sequence[str]) -> None:
    """Warn of refits whose draws cannot be trusted."""
    for tree in trees:
        tree.attrs["refit"] = 1  # no run that a user could continue
    bad = [
        (title, advice)
        for title, tree in zip(titles, trees, strict=True)
        if (advice := findings(tree, LOOKED_AT))
    ]
    if bad:
        title, advice = bad[0]
        warn_user(
            f"{doing}: {len(bad)} of {len(trees)} refits have problems; the one without {title}: "
            f"{advice[0].message}",
            SamplingWarning,
        )
