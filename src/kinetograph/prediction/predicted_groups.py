"""Values as groups of results, with dims and labels of arrays."""

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from ..graph.dims import named
from ..graph.errors import KinetographWarning
from ..graph.node import Node
from ..graph.source import warn_user
from ..models.axes import axes_of, axes_of_draws
from ..models.dims import check_codes, check_labels, collect_coords, labels_of_parts, whole
from ..models.labels import axis_names, check_group
from ..models.result_groups import stamp, stored

__all__ = ["as_group", "tree_of", "with_earlier", "with_group"]


def as_group(
    doing: str,
    values: Mapping[str, tuple[Node, np.ndarray]],
    lead: tuple[str, ...],
    labels: Mapping[str, Any] = MappingProxyType({}),
    data: Collection[Node] = (),
    *,
    drawn: bool = False,
) -> Any:
    """The dataset of named values, each given with its node.

    Every value starts with the dimensions `lead`. `labels` are used for dimensions that get no
    labels from the arrays, if their number equals the length of the dimension. `data` are the data
    of a model, whose present labels are in `labels`. If the values are `drawn` for results that
    exist, an unknown without dims has the axes of its distribution's parameters.

    Raises
    ------
    ModelError, DimsError
        If names clash, or labels of data and draws differ.
    """
    import xarray as xr

    dims = (axes_of_draws if drawn else axes_of)([node for node, _ in values.values()])
    with_labels = {node: axes for node, axes in dims.items() if node not in data}
    check_labels(doing, with_labels, labels)
    check_codes(f"{doing}: ", dims, labels)
    members = [(name, dims[node], node.shape) for name, (node, _) in values.items()]
    array_labels = collect_coords(
        with_labels, {}, {dim for axes in dims.values() for dim in whole(axes)}
    )
    check_group("draws", members, lead, doing)
    variables: dict[str, Any] = {}
    coords: dict[str, Any] = {}
    for name, (node, array) in values.items():
        node_dims = dims[node][: array.ndim - len(lead)]
        axes = axis_names(name, node_dims)
        variables[name] = ((*lead, *axes), stored(node, array))
        for axis, size in zip((*lead, *axes), array.shape, strict=True):
            choices = (array_labels.get(axis), labels.get(axis), np.arange(size))
            fitting = [c for c in choices if c is not None and len(c) == size]
            coords[axis] = next((c for c in fitting if named(np.asarray(c))), fitting[0])
        coords |= labels_of_parts([(node_dims, axes)], {**array_labels, **labels})
    return xr.Dataset(variables, coords)


def tree_of(groups: dict[str, Any], attributes: dict[str, Any]) -> Any:
    """A results tree of the groups, stamped with the library's version."""
    from ..models.results_tree import tree_of

    shared = stamp()
    for group in groups.values():
        group.attrs.update(shared)
    tree = tree_of(groups)
    tree.attrs.update(shared | attributes)
    return tree


def with_group(
    results: Any, name: str, group: Any, attributes: Mapping[str, Any] = MappingProxyType({})
) -> Any:
    """A copy of results with a group added or replaced.

    The given results are not changed.
    """
    from ..models.results_tree import DataTree

    posterior = results["posterior"].dataset
    for dim in ("chain", "draw"):
        group = group.assign_coords({dim: posterior[dim]}) if dim in posterior.coords else group
    group.attrs.update(stamp() | dict(attributes))
    tree = results.copy()
    tree[name] = DataTree(group)
    return tree


def with_earlier(doing: str, results: Any, name: str, group: Any) -> Any:
    """A new group, with the variables that it does not replace.

    Warns
    -----
    KinetographWarning
        If an earlier variable is left out, because an axis of its name has other labels now.
    """
    if name not in results.children:
        return group
    earlier = results[name].to_dataset()
    earlier_names = [variable for variable in earlier.data_vars if variable not in group]
    shared = {*earlier.dims} & {*group.dims}
    changed = {dim for dim in shared if earlier.sizes[dim] != group.sizes[dim]}
    draws = {dim: group[dim] for dim in ("chain", "draw") if dim in shared - changed}
    earlier = earlier.assign_coords(draws)
    changed |= {dim for dim in shared - changed if not earlier[dim].equals(group[dim])}
    left_out = [variable for variable in earlier_names if changed & {*earlier[variable].dims}]
    if left_out:
        axes = " and ".join(sorted(map(str, changed)))
        warn_user(
            f"{doing}: {', '.join(map(str, left_out))} of an earlier call is left out of the group "
            f"{name}, because {axes} has other labels now; keep the earlier results as well, or "
            "give all quantities in one call",
            KinetographWarning,
        )
    return group.assign({v: earlier[v] for v in earlier_names if v not in left_out})
