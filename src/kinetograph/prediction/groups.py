"""Values as groups of results, with the dims and labels of their arrays."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from ..graph.dims import named
from ..graph.node import Node
from ..models.axes import axes_of
from ..models.dims import collect_coords, labels_of_parts, whole
from ..models.groups import stamp
from ..models.labels import axis_names, check_group

__all__ = ["as_group", "tree_of", "with_group"]


def as_group(
    doing: str,
    values: Mapping[str, tuple[Node, np.ndarray]],
    lead: tuple[str, ...],
    labels: Mapping[str, Any] = MappingProxyType({}),
) -> Any:
    """The dataset of values by name, each with its node; `lead` are dimensions that all have.

    `labels` are taken where arrays bring none along and there are as many as the dimension is long.

    Raises
    ------
    ModelError, DimsError
        If names clash.
    """
    import xarray as xr

    dims = axes_of([node for node, _ in values.values()])
    members = [(name, dims[node], node.shape) for name, (node, _) in values.items()]
    own = collect_coords(dims, {}, {dim for axes in dims.values() for dim in whole(axes)})
    check_group("draws", members, lead, doing)
    variables: dict[str, Any] = {}
    coords: dict[str, Any] = {}
    for name, (node, array) in values.items():
        kept = dims[node][: array.ndim - len(lead)]
        axes = axis_names(name, kept)
        variables[name] = ((*lead, *axes), array)
        for axis, size in zip((*lead, *axes), array.shape, strict=True):
            choices = (own.get(axis), labels.get(axis), np.arange(size))
            known = [c for c in choices if c is not None and len(c) == size]
            coords[axis] = next((c for c in known if named(np.asarray(c))), known[0])
        coords |= labels_of_parts([(kept, axes)], {**own, **labels})
    return xr.Dataset(variables, coords)


def tree_of(groups: dict[str, Any], attributes: dict[str, Any]) -> Any:
    """A tree of groups, each with who made it."""
    from ..models.tree import tree_of

    shared = stamp()
    for group in groups.values():
        group.attrs.update(shared)
    tree = tree_of(groups)
    tree.attrs.update(shared | attributes)
    return tree


def with_group(
    results: Any, name: str, group: Any, attributes: Mapping[str, Any] = MappingProxyType({})
) -> Any:
    """Results with a group more, or in place of one; those given stay as they are."""
    from ..models.tree import DataTree

    posterior = results["posterior"].dataset
    for dim in ("chain", "draw"):
        group = group.assign_coords({dim: posterior[dim]}) if dim in posterior.coords else group
    group.attrs.update(stamp() | dict(attributes))
    tree = results.copy()
    tree[name] = DataTree(group)
    return tree
