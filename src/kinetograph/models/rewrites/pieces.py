"""Search for alike pieces: the same operations on other inputs.

A loop that makes an unknown and observes data in each step states the same term n times. Such terms
are found by the nodes that they are computed from. Two nodes are of one class if they are the same
operation with the same attributes, and their parents are pairwise of one class, up to unknowns with
the same support, data of the same shape and places of the same array. A node that is computed from
the step before is of another class in each step: terms of many such nodes are batched, too, and
their nodes are stacked (see `graph.rewriting.stacked_steps`).

Pieces may also have different numbers of rows, if they are computed row by row. Then nodes that
have a row for each row of the piece can be of one class with any number of rows.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...distributions import support as sp
from ...distributions.variable import Distribution, Variable
from ...graph.node import Apply, Data, Node, ancestors
from ...graph.operations.indexing import READ, SLICE
from ...graph.operations.linear_algebra import MATMUL
from ...graph.rewriting.alike import hashable, is_batchable, place_of
from ...graph.rewriting.stacked_steps import FEWEST as FEWEST_STEPS
from ..term import Term

__all__ = ["FEWEST", "Alike", "alike_terms", "classes", "row_parents"]

FEWEST = 8  # smallest number of pieces for which a further axis pays


@dataclass(frozen=True, eq=False)
class Alike:
    """Terms of one kind.

    `by_rows` says which of the needed nodes have a row for each row of the term. It is empty if all
    terms have the same shape.
    """

    terms: tuple[Term, ...]
    by_rows: tuple[bool, ...] = ()


def classes(nodes: Iterable[Node], unknowns: Iterable[Variable]) -> dict[Node, int]:
    """The class of each node; the nodes come parents first."""
    free = set(unknowns)
    numbers: dict[Hashable, int] = {}
    numbers_of_nodes: dict[Node, int] = {}
    for node in nodes:
        key = _key(node, numbers_of_nodes, free)
        numbers_of_nodes[node] = numbers.setdefault(
            ("one", node) if key is None else key, len(numbers)
        )
    return numbers_of_nodes


def _key(node: Node, keys: dict[Node, int], free: set[Variable]) -> Hashable:
    """The key that the nodes of a class share.

    None for a node without alike nodes.
    """
    if isinstance(node, Data):
        return ("data", node.literal, node.shape, node.dtype)
    if isinstance(node, Variable):
        support = _support_key(node.support) if node in free else None
        return None if support is None else ("unknown", support, node.shape, node.dtype)
    if not is_batchable(node):
        return None
    assert isinstance(node, Apply)
    attributes = "place" if place_of(node) is not None else hashable(node.attributes)
    if attributes is None:
        return None
    parents = tuple(keys[p] for p in node.parents)
    return (type(node), id(node.operation), attributes, node.shape, node.dtype, parents)


def _support_key(support: sp.Support) -> Hashable:
    """The key of a support by its values.

    None if a bound is a node.
    """
    values = vars(support)
    if any(isinstance(v, Node) for v in values.values()):
        return None
    return (type(support), hashable(values))


def row_parents(node: Apply) -> tuple[bool, ...] | None:
    """Tell which parents have a row for each row of the result.

    None if a row of the result depends on more than one row of such a parent.
    """
    operation, parents = node.operation, node.parents
    if not node.shape or not is_batchable(node):
        return None
    if operation.elementwise:
        ndim = len(node.shape)
        rows = tuple(len(p.shape) == ndim and p.shape[0] == node.shape[0] for p in parents)
        return rows if any(rows) else None  # the other parents have one row, or none
    if operation is MATMUL and len(parents[0].shape) == 2 and len(parents[1].shape) < 3:
        return (True, False)
    template: tuple[Any, ...] = node.attributes.get("template", ())
    if operation is READ and len(parents) == 2 and len(template) == 1:
        return (False, True) if len(parents[1].shape) == 1 else None
    if operation is SLICE and isinstance(template[0], slice) and template[0] == slice(None):
        plain = all(part is None or isinstance(part, (int, np.integer, slice)) for part in template)
        return (True,) if plain else None
    return None


def _row_classes(nodes: Iterable[Node], exact: Mapping[Node, int]) -> dict[Node, int]:
    """The class of each node with rows, of any number.

    Parents come first.
    """
    numbers: dict[Hashable, int] = {}
    numbers_of_nodes: dict[Node, int] = {}
    for node in nodes:
        key: Hashable = None
        if isinstance(node, Data) and node.shape:
            key = ("data", node.literal, node.shape[1:], node.dtype)
        elif isinstance(node, Apply) and (rows := row_parents(node)) is not None:
            key = _row_key(node, rows, numbers_of_nodes, exact)
        if key is not None:
            numbers_of_nodes[node] = numbers.setdefault(key, len(numbers))
    return numbers_of_nodes


def _row_key(
    node: Apply, rows: tuple[bool, ...], keys: Mapping[Node, int], exact: Mapping[Node, int]
) -> Hashable:
    pairs = list(zip(node.parents, rows, strict=True))
    attributes = hashable(node.attributes)
    if attributes is None or any(row and p not in keys for p, row in pairs):
        return None
    parents = tuple((row, (keys if row else exact)[p]) for p, row in pairs)
    return (type(node), id(node.operation), attributes, node.shape[1:], node.dtype, parents)


def _rows_of(term: Term) -> tuple[bool, ...] | None:
    """Tell which needs of a term have the term's rows.

    None if the term has no rows.
    """
    node = term.node
    if not isinstance(node, Distribution):
        return (True,) if node.shape else None
    if not node.batch_shape:
        return None
    ndims = {p.name: p.event_ndim for p in node.family.parameters} | {"x": node.family.event_ndim}
    names = [*(p.name for p in node.family.parameters), "x"]
    names += [name.partition("_")[2] for name in term.forms]
    rows = []
    for need, name in zip(term.plain_needs(), names, strict=True):
        batch = need.shape[: len(need.shape) - ndims[name]]
        row = len(batch) == len(node.batch_shape) and batch[0] == node.batch_shape[0]
        if not row and len(batch) >= len(node.batch_shape) and batch[0] != 1:
            return None
        rows.append(row)
    return tuple(rows)


def alike_terms(terms: Sequence[Term], unknowns: Sequence[Variable]) -> list[Alike]:
    """The groups of terms of one kind.

    A group has at least `FEWEST` members.
    """
    plain = [t for t in terms if type(t) is Term]
    if len(plain) < FEWEST:
        return []
    nodes = ancestors([*unknowns, *(n for t in plain for n in t.plain_needs())])
    exact = classes(nodes, unknowns)
    by_rows = _kinds_by_rows(plain, nodes, exact)
    groups = [Alike(tuple(group), rows) for rows, group in by_rows if len(group) >= FEWEST]
    done = {term for group in groups for term in group.terms}
    kinds: dict[Hashable, list[Term]] = {}
    for term in plain:
        if term not in done:
            needs = tuple(exact[n] for n in term.plain_needs())
            kinds.setdefault((*_kind(term), term.node.shape, needs), []).append(term)
    alike = [group for group in kinds.values() if len(group) >= FEWEST]
    steps: dict[Hashable, list[Term]] = {}
    for term in (term for group in kinds.values() if len(group) < FEWEST for term in group):
        keys = tuple(_step_key(node, exact) for node in term.plain_needs())
        steps.setdefault((*_kind(term), term.node.shape, keys), []).append(term)
    alike += (group for group in steps.values() if len(group) >= FEWEST_STEPS)
    return groups + [Alike(tuple(group)) for group in alike]


def _step_key(node: Node, exact: Mapping[Node, int]) -> Hashable:
    """The key of a node of a step, without its parents."""
    if not isinstance(node, Apply) or not is_batchable(node):
        return exact[node]
    return (id(node.operation), node.shape, node.dtype)


def _kind(term: Term) -> tuple[Any, ...]:
    """The kind of a term, without its shape and its inputs."""
    node = term.node
    if isinstance(node, Distribution):
        return (node.family.key, node.dtype, term.small, tuple(term.forms))
    return ("factor", node.dtype)


def _kinds_by_rows(
    terms: Sequence[Term], nodes: Sequence[Node], exact: Mapping[Node, int]
) -> Iterable[tuple[tuple[bool, ...], list[Term]]]:
    """Terms that are alike row by row.

    Their numbers of rows differ.
    """
    classes = _row_classes(nodes, exact)
    kinds: dict[tuple[tuple[bool, ...], Hashable], list[Term]] = {}
    for term in terms:
        rows = _rows_of(term)
        if rows is None:
            continue
        pairs = list(zip(term.plain_needs(), rows, strict=True))
        if all(n in classes for n, row in pairs if row):
            needs = tuple((row, (classes if row else exact)[n]) for n, row in pairs)
            key = (*_kind(term), term.node.shape[1:], needs)
            kinds.setdefault((rows, key), []).append(term)
    for (rows, _), group in kinds.items():
        if len({term.node.shape for term in group}) > 1:
            yield rows, group
