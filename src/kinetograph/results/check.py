"""Checks of results that are given to public functions."""

from pathlib import Path
from typing import Any

import numpy as np

from ..graph.source import place_text
from ..graph.value_texts import in_words
from ..models.model import Model
from ..models.recorded_unknowns import GROUP

__all__ = ["check_tree", "unknowns_of", "walkers_of"]


def walkers_of(tree: Any) -> int:
    """The number of chains of results that are walkers of one ensemble."""
    count = int(getattr(tree, "attrs", {}).get("walkers", 1))
    return count if tree["posterior"].sizes["chain"] % count == 0 else 1


def check_tree(tree: Any, what: str) -> Any:
    """The posterior of results; raises TypeError if they are not results."""
    try:
        return tree["posterior"].dataset
    except (KeyError, TypeError, AttributeError, IndexError):
        part = (
            ", which has no such group: give the complete results"
            if hasattr(tree, "data_vars")
            else ""
        )
        opened = "; write xarray.open_datatree(path)" if isinstance(tree, (str, Path)) else ""
        if isinstance(tree, Model):
            opened = "; kg.mcmc(model) returns results"
        raise TypeError(
            f"{what}: expected results (a DataTree with a posterior, from kg.mcmc, kg.pathfinder, "
            f"kg.advi or kg.laplace_approximation), got {in_words(tree)}{part}{place_text()}"
            f"{opened}"
        ) from None


def unknowns_of(tree: Any) -> Any:
    """The draws of unknowns that are not targets, by name.

    The mapping is empty if this group and the posterior have different chains or draws, as after a
    selection from the posterior alone.
    """
    if GROUP not in getattr(tree, "children", ()):
        return {}
    posterior, group = tree["posterior"].dataset, tree[GROUP].dataset
    same = all(
        dim in posterior.coords
        and dim in group.coords
        and np.array_equal(posterior[dim].values, group[dim].values)
        for dim in ("chain", "draw")
    )
    return group.data_vars if same else {}
