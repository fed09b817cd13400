"""Alike pieces of a model, found: the same operations on other unknowns and data.

A loop that makes an unknown and observes a number in each step says the same n times. Its terms are
found by what they are computed from: two nodes are of one class if they are the same operation with
the same attributes, and their parents are of one class each, down to unknowns with one support, to
data of one shape and to places of one array. What is computed from the last step is of another
class in each step, and stays as it is.
"""

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from ...distributions import support as sp
from ...distributions.variable import Distribution, Variable
from ...graph.faults import has_faults
from ...graph.node import Apply, Data, FormOf, Node, ancestors
from ...graph.operations.indexing import SLICE
from ..term import Term

__all__ = ["FEWEST", "Column", "alike_terms", "classes", "is_batchable", "place_of"]

FEWEST = 8  # pieces that are worth an axis
Column = tuple[Node, ...]  # what stands at one place in all pieces


def is_batchable(node: Node) -> bool:
    """Whether alike nodes can be computed as one with an axis more."""
    if type(node) not in (Apply, FormOf) or node.context is not None:
        return False
    assert isinstance(node, Apply)
    return node.alike is None and not node.computes and not node.tracks and not has_faults(node)


def place_of(node: Node) -> int | None:
    """The place along the first axis that a node reads, as `x[3]` does; None of all others."""
    if not isinstance(node, Apply) or node.operation is not SLICE:
        return None
    template = node.attributes["template"]
    if len(template) != 1 or not isinstance(template[0], (int, np.integer)):
        return None
    return int(template[0]) % node.parents[0].shape[0]


def classes(nodes: Iterable[Node], unknowns: Iterable[Variable]) -> dict[Node, int]:
    """The class of each node; the nodes come parents first."""
    free = set(unknowns)
    numbers: dict[Hashable, int] = {}
    found: dict[Node, int] = {}
    for node in nodes:
        key = _key(node, found, free)
        found[node] = numbers.setdefault(("one", node) if key is None else key, len(numbers))
    return found


def _key(node: Node, found: dict[Node, int], free: set[Variable]) -> Hashable:
    """What nodes of a class have in common; None where a node is like no other."""
    if isinstance(node, Data):
        return ("data", node.literal, node.shape, node.dtype)
    if isinstance(node, Variable):
        support = _support_key(node.support) if node in free else None
        return None if support is None else ("unknown", support, node.shape, node.dtype)
    if not is_batchable(node):
        return None
    assert isinstance(node, Apply)
    attributes = "place" if place_of(node) is not None else _hashable(node.attributes)
    if attributes is None:
        return None
    parents = tuple(found[p] for p in node.parents)
    return (type(node), id(node.operation), attributes, node.shape, node.dtype, parents)


def _support_key(support: sp.Support) -> Hashable:
    """A support by its values; None of one with a bound from the graph."""
    values = vars(support)
    if any(isinstance(v, Node) for v in values.values()):
        return None
    return (type(support), _hashable(values))


def _hashable(value: Any) -> Hashable:
    """A text or tuple that tells attributes apart; None where there is none."""
    if isinstance(value, np.ndarray):
        return (value.shape, value.dtype.str, value.tobytes())
    if hasattr(value, "items"):
        value = tuple(sorted(value.items()))
    if isinstance(value, (tuple, list)):
        parts = tuple(map(_hashable, value))
        return None if None in parts else ("of", *parts)
    if value is None:
        return "None"
    if isinstance(value, slice):
        return ("slice", repr(value))
    try:
        hash(value)
    except TypeError:
        return None
    return (type(value).__name__, value)


def alike_terms(terms: Sequence[Term], unknowns: Sequence[Variable]) -> list[list[Term]]:
    """The terms that are of one kind, where there are enough of them."""
    plain = [t for t in terms if type(t) is Term and t.compressed is None]
    if len(plain) < FEWEST:
        return []
    nodes = ancestors([*unknowns, *(n for t in plain for n in t.plain_needs())])
    found = classes(nodes, unknowns)
    kinds: dict[Hashable, list[Term]] = {}
    for term in plain:
        node = term.node
        if isinstance(node, Distribution):
            own: tuple[Any, ...] = (node.family.key, node.shape, node.dtype, term.small)
        else:
            own = ("factor", node.shape, node.dtype)
        needs = tuple(found[n] for n in term.plain_needs())
        kinds.setdefault((*own, tuple(term.forms), needs), []).append(term)
    return [group for group in kinds.values() if len(group) >= FEWEST]
