"""Values of a model's arrays as a group of results: an `xarray.Dataset` with dims and labels."""

import datetime
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..graph.node import Node
from ..version import __version__
from .model import Model

__all__ = ["as_group", "data_groups", "stamp"]


def as_group(
    model: Model, values: Mapping[str, tuple[Node, np.ndarray]], lead: tuple[str, ...] = ()
) -> Any:
    """The dataset of values by name, each with its node; `lead` are dimensions that all have."""
    import xarray as xr

    variables: dict[str, Any] = {}
    coords: dict[str, Any] = {}
    for name, (node, array) in values.items():
        dims = model.axes(node)
        variables[name] = ((*lead, *dims), array)
        for dim, size in zip(dims, node.shape, strict=True):
            coords[dim] = model.coords.get(dim, np.arange(size))
        coords |= {dim: np.arange(size) for dim, size in zip(lead, array.shape)}
    return xr.Dataset(variables, coords)


def data_groups(model: Model) -> dict[str, Any]:
    """The observed data of a model and its other data, as far as there are any."""
    observed = {model.name(n): (n, n.value) for n in model.observed}
    constant = {model.name(n): (n, n.value) for n in model.data if n not in model.observed}
    groups = {"observed_data": observed, "constant_data": constant}
    return {name: as_group(model, values) for name, values in groups.items() if values}


def stamp() -> dict[str, str]:
    """The attributes that tell who made results, and when."""
    return {
        "created_at": datetime.datetime.now(datetime.UTC).isoformat(),
        "inference_library": "kinetograph",
        "inference_library_version": __version__,
    }
