"""Values of a model's arrays as groups of results.

A group is an `xarray.Dataset` with dims and labels.
"""

import datetime
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..graph.memory_maps import is_in_a_file
from ..graph.node import Data, Node
from ..version import __version__
from .model import Model

__all__ = ["FIXED", "as_group", "data_groups", "stamp", "stored"]

FIXED = "fixed_by"  # the attribute, in results, of an unknown with a fixed value


def as_group(
    model: Model, values: Mapping[str, tuple[Node, np.ndarray]], lead: tuple[str, ...] = ()
) -> Any:
    """The dataset of named values, each given with its node.

    Every value starts with the dimensions `lead`.
    """
    import xarray as xr

    variables: dict[str, Any] = {}
    coords: dict[str, Any] = {}
    for name, (node, array) in values.items():
        dims = model.axes(node)
        variables[name] = ((*lead, *dims), stored(node, array))
        in_file = isinstance(node, Data) and is_in_a_file(array)
        for dim, size in zip(dims, node.shape, strict=True):
            if dim in model.coords or not in_file:  # numbers of rows need memory
                coords[dim] = model.coords.get(dim, np.arange(size))
        coords |= {dim: np.arange(size) for dim, size in zip(lead, array.shape)}
    return xr.Dataset(variables, coords)


def stored(node: Node, array: np.ndarray) -> np.ndarray:
    """Values as results hold them: outcomes are 1 and 0.

    ArviZ subtracts outcomes, and takes booleans for continuous values.
    """
    outcomes = isinstance(node, Data) and node._owned is not None and array.dtype.kind == "b"
    return array.astype(np.int64) if outcomes else array


def data_groups(model: Model) -> dict[str, Any]:
    """The groups of observed data and of other data that exist."""
    observed: dict[str, Any] = {model.name(n): (n, model.value_of(n)) for n in model.observed}
    constant: dict[str, Any] = {
        model.name(n): (n, model.value_of(n)) for n in model.data if n not in model.observed
    }
    constant |= {model.name(v): (v, value) for v, value in model.fixed_values.items()}
    groups = {"observed_data": observed, "constant_data": constant}
    datasets = {name: as_group(model, values) for name, values in groups.items() if values}
    for v in model.fixed:
        reason = "do" if v in model.component.cut else "condition"
        datasets["constant_data"][model.name(v)].attrs[FIXED] = reason
    return datasets


def stamp() -> dict[str, str]:
    """Attributes with the library, its version and the time."""
    return {
        "created_at": datetime.datetime.now(datetime.UTC).isoformat(),
        "inference_library": "kinetograph",
        "inference_library_version": __version__,
    }
