"""What was asked of operations when they were written, asked again of other values of data."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..distributions.derived import family_of
from ..distributions.variable import Distribution
from ..graph.control.control import everything, origin
from ..graph.errors import ModelError, ShapeError
from ..graph.forms.representations import Forms
from ..graph.messages import describe, site_text
from ..graph.node import Apply, Data, FormOf, Inner, Node, ancestors, sources
from ..graph.operations.elementwise import ELEMENTWISE, ON_PARTIAL, PARTIAL
from ..graph.operations.indexing import ONE_HOT, check_bounds, trusted_indices
from ..graph.operations.segments import SEGMENTS
from .density import Density
from .factor import DERIVED, LOG_DENSITY, known_support
from .followed import check_support

if TYPE_CHECKING:
    from .model import Model

__all__ = ["check_nodes_again", "same_density"]

_DENSITIES = {*LOG_DENSITY.values(), DERIVED}


def check_nodes_again(model: "Model", density: Density, changed: Mapping[Node, np.ndarray]) -> None:
    """Ask of operations what they were asked when they were written."""
    affected: set[Node] = set(changed)
    for node in everything(ancestors([*density.nodes, *model.targets], above=sources)):
        outer = (node.outer,) if isinstance(node, Inner) else sources(node)
        if affected.isdisjoint(outer):
            continue
        affected.add(node)
        if isinstance(node, Apply):
            _check_whole_numbers(node, changed)
            if isinstance(node, FormOf) and Forms()(node.of, node.attributes["kind"]) is None:
                raise written_for_others(node.of)
            if node.operation in _DENSITIES and node.context is None and not same_density(node):
                raise written_for_others(node)


def _check_whole_numbers(node: Apply, changed: Mapping[Node, np.ndarray]) -> None:
    """Indices, labels and divisors, which are trusted or have no answer."""
    for index, axis, size in trusted_indices(node):
        data = origin(index)
        if data in changed:
            assert isinstance(data, Data)
            check_bounds(data.value, axis, size, node.parents[0], data)
    if node.operation is ONE_HOT:
        _check_labels(node, node.parents[0], node.attributes["size"], changed)
    if node.operation in SEGMENTS.values():
        _check_labels(node, node.parents[1], node.attributes["size"], changed)
    if node.operation.name in PARTIAL and node.dtype.kind in "iu":
        operands = [origin(parent) for parent in node.parents]
        if operands[1] in changed:
            for demand in ON_PARTIAL:
                demand(node.operation, operands)


def _check_labels(node: Apply, labels: Node, size: int, changed: Mapping[Node, np.ndarray]) -> None:
    """Labels of several kinds are one number: `first * count + second`."""
    labels = origin(labels)
    if isinstance(labels, Apply) and labels.operation is ELEMENTWISE["add"]:
        above, last = labels.parents
        if isinstance(above, Apply) and above.operation is ELEMENTWISE["multiply"]:
            first, count = above.parents
            if isinstance(count, Data) and count.literal and count.value > 0:
                _check_labels(node, last, int(count.value), changed)
                _check_labels(node, first, size // int(count.value), changed)
    elif labels in changed and labels.size:
        assert isinstance(labels, Data)
        low, high = int(labels.value.min()), int(labels.value.max())
        if low < 0 or high >= size:
            raise ShapeError(
                f"set_data: the labels {describe(labels)} of {describe(node)} run from {low} to "
                f"{high}, not from 0 to {size - 1}"
            )


def same_density(node: Apply) -> bool:
    """Whether a log density would be written down as it is."""
    family = family_of(node.attributes["family"])
    target, parents = node.parents[0], node.parents[1 : 1 + len(family.parameters)]
    family.check_values(parents)
    event = target.shape[len(target.shape) - family.event_ndim :]
    follows = Distribution(family, parents, (*node.attributes["shape"], *event))
    follows.target = target
    if isinstance(target, Data):
        check_support("set_data", target, follows)
    return node.attributes["small"] == follows.small() and all(
        _equal(known, node.attributes["support"][key])
        for key, known in known_support(follows).items()
    )


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(_equal, a, b))
    return not isinstance(a, tuple) and not isinstance(b, tuple) and np.array_equal(a, b)


def written_for_others(node: Node) -> ModelError:
    return ModelError(
        f"set_data: {describe(node)}{site_text(node)} is computed in a way that the new values do "
        "not allow, as by logarithms of what was positive; make the model in a function, and call "
        "it again with new data"
    )
