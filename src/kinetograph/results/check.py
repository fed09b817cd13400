"""Checks of results that are given to public functions."""

from pathlib import Path
from typing import Any

from ..graph.source import place_text
from ..graph.value_texts import in_words
from ..models.model import Model

__all__ = ["check_tree", "walkers_of"]


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
