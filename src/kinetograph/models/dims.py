"""The dims of arrays and their labels, carried from data and unknowns to what follows from them."""

from collections.abc import Container, Iterable

import numpy as np

from ..graph.dims import labels_agree, named
from ..graph.errors import DimsError
from ..graph.messages import describe, site_text
from ..graph.node import Data, Node
from .axes import Axes, Part, axes_of

__all__ = ["collect_coords", "dims_of", "labels_of_parts", "whole"]

Dims = tuple[str | None, ...]


def dims_of(nodes: Iterable[Node]) -> dict[Node, Dims]:
    """The dims of the given nodes and their ancestors; None for an axis without a name.

    Raises
    ------
    DimsError
        If an elementwise operation meets two different names on one axis.
    """
    return {node: whole(axes) for node, axes in axes_of(nodes).items()}


def whole(axes: Axes) -> Dims:
    """The names of the axes that are whole dimensions."""
    return tuple(axis if isinstance(axis, str) else None for axis in axes)


def labels_of_parts(
    members: Iterable[tuple[Axes, tuple[str, ...]]], coords: dict[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """The labels of axes that are parts of a dimension, by what results call them."""
    found = {}
    for axes, names in members:
        for axis, name in zip(axes, names, strict=True):
            if isinstance(axis, Part):
                places = np.array(axis.places, int)
                known = coords.get(axis.dim)
                found[name] = places if known is None else known[places]
    return found


def collect_coords(
    nodes: Iterable[Node], given: dict[str, np.ndarray], used: Container[str | None]
) -> dict[str, np.ndarray]:
    """The labels of each dimension in use that arrays bring along; `given` win over those of data.

    Raises
    ------
    DimsError
        If two arrays have different labels for a dimension, or an unknown others than those given.
    """
    coords = dict(given)
    holders: dict[str, Node | None] = dict.fromkeys(given)
    for node in nodes:
        own: dict[str, np.ndarray] = getattr(node, "coords", {})
        for dim, labels in own.items():
            if dim not in used or (dim in given and isinstance(node, Data)):
                continue
            old = coords.setdefault(dim, labels)
            other = holders.setdefault(dim, node)
            if not labels_agree(old, labels):
                raise _differ(dim, old, other, labels, node)
            if named(labels) and not named(old):
                coords[dim], holders[dim] = labels, node
    return coords


def _differ(
    dim: str, old: np.ndarray, holder: Node | None, new: np.ndarray, node: Node
) -> DimsError:
    both = "data arrays" if isinstance(holder, Data) and isinstance(node, Data) else "arrays"
    first = f"those of coords= are {_few(old)}"
    if holder is not None:
        first = f"{describe(holder)}{site_text(holder)} has {_few(old)}"
    what = f"two {both} have different labels for dimension {dim!r}"
    if holder is None:
        what = f"different labels for dimension {dim!r}"
    return DimsError(
        f"{what}: {first}, {describe(node)}{site_text(node)} has {_few(new)}; give two dimensions "
        "two names, or the same labels in the same order"
    )


def _few(labels: np.ndarray) -> str:
    few = ", ".join(map(str, labels[:3]))
    return f"{len(labels)} ({few}{', ...' if len(labels) > 3 else ''})"
