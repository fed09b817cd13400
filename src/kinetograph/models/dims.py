"""Dims and labels of arrays, propagated from data and unknowns."""

from collections.abc import Container, Iterable, Mapping

import numpy as np

from ..distributions.variable import Variable
from ..graph.dims import labels_agree, named
from ..graph.errors import DimsError
from ..graph.messages import describe, site_text
from ..graph.node import Apply, Data, Node
from ..graph.operations.indexing import READS, known_indices
from .axes import Axes, Part, axes_of

__all__ = ["check_codes", "check_labels", "collect_coords", "dims_of", "labels_of_parts", "whole"]

Dims = tuple[str | None, ...]


def dims_of(nodes: Iterable[Node]) -> dict[Node, Dims]:
    """The dims of the given nodes and their ancestors.

    None marks an axis without a name.

    Raises
    ------
    DimsError
        If an elementwise operation aligns two axes with different names.
    """
    return {node: whole(axes) for node, axes in axes_of(nodes).items()}


def whole(axes: Axes) -> Dims:
    """The names of the axes that are whole dimensions."""
    return tuple(axis if isinstance(axis, str) else None for axis in axes)


def labels_of_parts(
    members: Iterable[tuple[Axes, tuple[str, ...]]], coords: dict[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Labels of axes that are parts of dimensions, by name in results."""
    labels = {}
    for axes, names in members:
        for axis, name in zip(axes, names, strict=True):
            if isinstance(axis, Part):
                places = np.array(axis.places, int)
                dim_labels = coords.get(axis.dim)
                labels[name] = places if dim_labels is None else dim_labels[places]
    return labels


def collect_coords(
    nodes: Iterable[Node], given: dict[str, np.ndarray], used: Container[str | None]
) -> dict[str, np.ndarray]:
    """The labels of each dimension in use, from the arrays.

    `given` labels win over the labels of data.

    Raises
    ------
    DimsError
        If two arrays have different labels for a dimension, or an unknown has labels that differ
        from the given ones.
    """
    coords = dict(given)
    holders: dict[str, Node | None] = dict.fromkeys(given)
    for node in nodes:
        node_coords: dict[str, np.ndarray] = getattr(node, "coords", {})
        for dim, labels in node_coords.items():
            yields = dim in given and isinstance(node, Data) and dim in (node.dims or ())
            if dim not in used or yields:
                continue
            old = coords.setdefault(dim, labels)
            other = holders.setdefault(dim, node)
            if not labels_agree(old, labels):
                raise _differ(dim, old, other, labels, node)
            if named(labels) and not named(old):
                coords[dim], holders[dim] = labels, node
    return coords


def check_labels(
    doing: str, axes_of_nodes: Mapping[Node, Axes], labels: Mapping[str, np.ndarray]
) -> None:
    """Refuse data whose labels differ from the labels of draws.

    Dimensions of unknowns are compared. Elements are combined by position, so other labels, or
    another order, give wrong values.

    Raises
    ------
    DimsError
        If they differ.
    """
    holders: dict[str, Node] = {}
    for node, axes in axes_of_nodes.items():
        if isinstance(node, Variable):
            holders |= {axis: node for axis in whole(axes) if axis is not None and axis in labels}
    for node in axes_of_nodes:
        if not isinstance(node, Data):
            continue
        for dim, node_labels in node.coords.items():
            if dim in holders and not labels_agree(np.asarray(labels[dim]), node_labels):
                unknown = describe(holders[dim])
                way_out = _way_of_codes(node, dim) or (
                    "elements are combined by position: give the data the same labels in the same "
                    "order, or give the dimension another name"
                )
                raise DimsError(
                    f"{doing}: {describe(node)}{site_text(node)} has the labels "
                    f"{_few(node_labels)} for dimension {dim!r}, and the draws of "
                    f"{unknown} have {_few(labels[dim])}; {way_out}"
                )


def check_codes(
    doing: str, axes_of_nodes: Mapping[Node, Axes], labels: Mapping[str, np.ndarray]
) -> None:
    """Refuse codes of `kg.groups` that index a dimension of other labels.

    The effect of one group would be that of another one. Codes whose labels are 0, 1, ... are
    positions.

    Raises
    ------
    DimsError
        If the dimension of the codes and the indexed dimension have different labels.
    """
    for node in axes_of_nodes:
        if not isinstance(node, Apply) or node.operation not in READS:
            continue
        source = node.parents[0]
        for _, index, axis, _ in known_indices(node):
            indexed = axes_of_nodes[source][axis] if source in axes_of_nodes else None
            if not isinstance(index, Data) or isinstance(source, Data):
                continue
            if not isinstance(indexed, str) or indexed not in labels:
                continue
            for group, group_labels in index.coords.items():
                is_of_rows = group in (index.dims or ()) or group == indexed
                if is_of_rows or not named(group_labels):
                    continue
                if not labels_agree(np.asarray(labels[indexed]), group_labels):
                    effects = describe(source)
                    raise DimsError(
                        f"{doing}{effects}[{describe(index)}]{site_text(node)}: the codes are of "
                        f"{group!r}, with {_few(group_labels)}, and the dimension of {effects} is "
                        f"{indexed!r}, with {_few(labels[indexed])}: an effect would belong to "
                        f"another group; index with the codes of kg.groups(..., {indexed!r}), or "
                        f"give the effects the dimension of the codes, dims={group}.dim"
                    )


def _differ(
    dim: str, old: np.ndarray, holder: Node | None, new: np.ndarray, node: Node
) -> DimsError:
    """The error for two different lists of labels."""
    both = "data arrays" if isinstance(holder, Data) and isinstance(node, Data) else "arrays"
    first = f"coords= has {_few(old)}"
    way_out = _way_of_codes(node, dim) or (holder and _way_of_codes(holder, dim))
    way_out = way_out or (
        "give the dimensions different names, or give both arrays the same labels in the same "
        "order; for a lag, slice one array: y = kg.data(series), then y[1:] and y[:-1]"
    )
    if holder is not None:
        first = f"{describe(holder)}{site_text(holder)} has {_few(old)}"
    problem = f"two {both} have different labels for dimension {dim!r}"
    if holder is None:
        problem = f"different labels for dimension {dim!r}"
    return DimsError(
        f"{problem}: {first}, {describe(node)}{site_text(node)} has {_few(new)}; {way_out}"
    )


def _way_of_codes(node: Node, dim: str) -> str:
    """The way out for codes whose labels differ from the effects'."""
    if not isinstance(node, Data) or dim in (node.dims or ()):
        return ""
    return (
        "codes index the effects by position: make them by encode(values) of the effects' groups, "
        "or by kg.groups(values, levels=...) of the effects' dimension"
    )


def _few(labels: np.ndarray) -> str:
    """The number of labels, and the first three."""
    few = ", ".join(map(str, labels[:3]))
    return f"{len(labels)} ({few}{', ...' if len(labels) > 3 else ''})"
