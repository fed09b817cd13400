"""Checks of results that are given to public functions."""

from pathlib import Path
from typing import Any

import numpy as np

from ..graph.source import place_text
from ..graph.value_texts import in_words
from ..models.model import Model
from ..models.recorded_unknowns import GROUP

__all__ = [
    "as_group",
    "check_draws",
    "check_tree",
    "opening_of",
    "statistics_of",
    "unknowns_of",
    "walkers_of",
]

LEAD = ("chain", "draw")


def walkers_of(tree: Any) -> int:
    """The number of chains that are walkers of one ensemble.

    `tree` are results or a group of results.
    """
    count = int(getattr(getattr(tree, "root", tree), "attrs", {}).get("walkers", 1))
    chains = tree.get("posterior", tree).sizes["chain"]
    return count if chains % count == 0 else 1


def as_group(tree: Any) -> Any:
    """A variable with draws as a group of one variable.

    Other values are returned as they are.
    """
    dims = getattr(tree, "dims", ())
    if isinstance(dims, tuple) and dims[:2] == LEAD and hasattr(tree, "to_dataset"):
        return tree.to_dataset(name=tree.name or "variable")
    return tree


def check_draws(tree: Any, title: str) -> Any:
    """The posterior of results, or the draws of a group.

    A group has draws if it has variables (chain, draw, ...), such as the predictions. Raises
    TypeError if `tree` is neither.
    """
    data = getattr(tree, "dataset", tree)
    if "posterior" in getattr(tree, "children", ()) or not getattr(data, "data_vars", ()):
        return check_tree(tree, title)
    other = [name for name, variable in data.data_vars.items() if variable.dims[:2] != LEAD]
    draws = data.drop_vars(other)
    if not draws.data_vars:
        group = f"the group {tree.name}" if getattr(tree, "name", None) else in_words(tree)
        raise TypeError(
            f"{title}: {group} has no draws, (chain, draw, ...){place_text()}; give the complete "
            "results, or a group with draws, such as results['posterior']"
        )
    return draws


def opening_of(value: Any) -> str:
    """Advice on a path in place of results, or an empty text."""
    if not isinstance(value, (str, Path)):
        return ""
    ending = Path(value).suffix
    if ending in ("", ".nc", ".zarr", ".h5"):
        engine = ', engine="zarr"' if ending == ".zarr" else ""
        return f"; write xarray.open_datatree({str(value)!r}{engine})"
    return (
        f"; results.to_netcdf(path) stores results, and xarray.open_datatree(path) reads them: a "
        f"{ending} file has no chains, draws and groups"
    )


def check_tree(tree: Any, title: str) -> Any:
    """The posterior of results; raises TypeError if they are not results."""
    try:
        return tree["posterior"].dataset
    except (KeyError, TypeError, AttributeError, IndexError):
        part = (
            ", which has no such group: give the complete results"
            if hasattr(tree, "data_vars")
            else ""
        )
        opened = opening_of(tree)
        if isinstance(tree, np.ndarray):
            opened = "; give the variable itself, results['posterior'][name], without .values"
        if isinstance(tree, Model):
            opened = "; kg.mcmc(model) returns results"
        raise TypeError(
            f"{title}: expected results (a DataTree with a posterior, from kg.mcmc, kg.pathfinder, "
            f"kg.advi or kg.laplace_approximation), got {in_words(tree)}{part}{place_text()}"
            f"{opened}"
        ) from None


def statistics_of(tree: Any) -> Any:
    """The statistics of draws, by name; empty if the results have none."""
    return tree["sample_stats"].dataset if "sample_stats" in tree.children else {}


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
