"""Alike terms of single discrete unknowns, as terms of arrays.

    for t in range(n):                                          the same density as
        kg.observe(y[t], kg.poisson(kg.where(t < s, a, b)))     poisson(where(times < s, a, b))
        kg.observe(x[t], kg.normal(mu[z[t]], sd))               normal(mu[zs], sd)

Terms are alike if they are the same operations on discrete unknowns, and on other nodes of the same
shapes. A discrete unknown of each term becomes an array in the joined term, which stands for these
unknowns. An unknown that all terms share stays as it is.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from typing import Any

import numpy as np

from ...distributions.variable import Distribution, Variable
from ...graph.node import Apply, Data, Node, ancestors
from ...graph.operations.shaping import stack
from ...graph.rewriting.alike import Column, hashable, is_plain, is_single, place_of
from ...graph.rewriting.branches_as_sides import branches_as_sides
from ...graph.rewriting.joined_columns import JoinedColumn, JoinedColumns
from ...graph.rewriting.step_columns import NotAlike
from ..rewrites.pieces import FEWEST
from ..term import Term
from .domains import Domain
from .tables import depends

__all__ = ["JoinedTerm", "arrays_of_unknowns", "has_rows", "joined_terms", "operands", "parts_of"]


class JoinedTerm(Term):
    """A term of arrays, with a row for each part if `by_rows`.

    `unknowns` has the array of each column of discrete unknowns. An array stands for the unknowns,
    and is not an unknown of the model.
    """

    def __init__(
        self,
        node: Node,
        parts: Sequence[Term],
        target: Node | None,
        unknowns: Mapping[Any, Column],
        by_rows: bool = True,
    ) -> None:
        self.by_rows = by_rows
        self.parts, self._target = tuple(parts), target  # a distribution does not hold its target
        self.unknowns: dict[Variable, tuple[Variable, ...]] = dict(unknowns)
        super().__init__(node)
        self.small = all(part.small for part in parts)

    def renewed(self, changed: Set[Node]) -> Term:
        """The term for the present values of data."""
        parts = [part.renewed(changed) for part in self.parts]
        same = all(a is b for a, b in zip(parts, self.parts, strict=True))
        if same:
            return self
        return JoinedTerm(self.node, parts, self._target, self.unknowns, self.by_rows)

    def above(self, discrete: Sequence[Variable]) -> frozenset[Node]:
        """The arrays and other unknowns that the term depends on."""
        return _among((*self.unknowns, *discrete), self.plain_needs())

    def domains(self, unknown_domains: Mapping[Variable, Domain]) -> dict[Variable, Domain]:
        """The domains of the arrays."""
        domains = {}
        for array, column in self.unknowns.items():
            possible = np.concatenate([unknown_domains[v].possible for v in column], 1)
            domains[array] = Domain(unknown_domains[column[0]].values, possible)
        return domains

    def scopes(self, variables: Sequence[Variable]) -> list[tuple[Variable, ...]]:
        """The unknowns of each row, in the order of given variables."""
        columns = [self.unknowns.get(v) for v in variables]
        rows = next(len(c) for c in columns if c is not None)
        return [
            tuple(v if c is None else c[i] for v, c in zip(variables, columns, strict=True))
            for i in range(rows)
        ]


def parts_of(term: Term) -> tuple[Term, ...]:
    """The terms that a term stands for."""
    return term.parts if isinstance(term, JoinedTerm) else (term,)


def has_rows(term: Term) -> bool:
    """Whether a term has a row for each of several terms."""
    return isinstance(term, JoinedTerm) and term.by_rows


def joined_terms(
    terms: Sequence[Term], discrete: Sequence[Variable], domains: Mapping[Variable, Domain]
) -> list[Term]:
    """The terms, with joined terms in place of alike ones."""
    plain = [t for t in terms if type(t) is Term and len(t.node.shape) < _MOST_AXES]
    if len(plain) < FEWEST:
        return list(terms)
    needs = _needs(plain)
    order = ancestors([n for each in needs.values() for n in each])
    by_term: dict[Term, JoinedTerm] = {}
    dependent = depends(order, discrete)
    above = {t: _among(discrete, needs[t]) for t in plain}
    for exact in (True, False):
        keys = _keys(order, dependent, domains, exact)
        groups: dict[Hashable, list[Term]] = {}
        for term in plain:
            key = None if term in by_term else _key(term, needs[term], keys)
            if key is not None:
                groups.setdefault((key, len(above[term])), []).append(term)
        for group in (part for whole in groups.values() for part in _split(whole, above)):
            joined = _joined(group, needs, discrete, dependent) if len(group) >= FEWEST else None
            if joined is None or len(joined.above(discrete)) != len(above[group[0]]):
                continue  # two places have one unknown in some of the terms
            by_term |= dict.fromkeys(group, joined)
    return list(dict.fromkeys(by_term.get(term, term) for term in terms))


_MOST_AXES = 8


def _among(unknowns: Iterable[Variable], needs: Iterable[Node]) -> frozenset[Node]:
    """The unknowns among the ancestors of nodes."""
    return frozenset(unknowns).intersection(ancestors(needs))


def _split(group: list[Term], above: Mapping[Term, frozenset[Node]]) -> list[list[Term]]:
    """The terms of each set of discrete unknowns, if these are few.

    Terms that share their unknowns can be cut into ranges; see `cuts`.
    """
    parts: dict[frozenset[Node], list[Term]] = {}
    for term in group:
        parts.setdefault(above[term], []).append(term)
        if len(parts) >= FEWEST:
            return [group]
    return list(parts.values())


def _keys(
    order: Sequence[Node],
    dependent: Set[Node],
    domains: Mapping[Variable, Domain],
    exact: bool,
) -> dict[Node, int | None]:
    """The class of each node; None for nodes that are not joined.

    With `exact`, arrays that do not depend on discrete unknowns are of one class if they are one
    node.
    """
    numbers: dict[Hashable, int] = {}
    keys: dict[Node, int | None] = {}
    for node in order:
        key: Hashable = None
        if node not in dependent:
            key = ("known", node.shape, node.dtype, node if exact and _is_array(node) else None)
        elif isinstance(node, Variable):
            if node.shape:
                key = ("array", node)
            elif node in domains:
                key = ("unknown", domains[node].values.tobytes(), node.dtype)
        elif is_plain(node):
            assert isinstance(node, Apply)
            attributes = "place" if place_of(node) is not None else hashable(node.attributes)
            parents = tuple(keys[p] for p in node.parents)
            if attributes is not None and None not in parents:
                key = (id(node.operation), attributes, node.shape, node.dtype, parents)
        keys[node] = None if key is None else numbers.setdefault(key, len(numbers))
    return keys


def _is_array(node: Node) -> bool:
    return bool(node.shape) and not isinstance(node, Data)


def _needs(terms: Sequence[Term]) -> dict[Term, tuple[Node, ...]]:
    """The operands of each term, written without branches."""
    needs = {term: operands(term) for term in terms}
    written = branches_as_sides([n for each in needs.values() for n in each])
    return {term: tuple(written.get(n, n) for n in each) for term, each in needs.items()}


def operands(term: Term) -> tuple[Node, ...]:
    """The parameters and the target of a distribution, or the factor."""
    node, target = term.node, term.target
    return (node,) if target is None else (*node.parents, target)


def _key(term: Term, needs: Sequence[Node], keys: Mapping[Node, int | None]) -> Hashable:
    """The key that alike terms share; None for other terms."""
    node, target = term.node, term.target
    kinds = tuple(keys[n] for n in needs)
    if None in kinds:
        return None
    if not isinstance(node, Distribution):
        return ("factor", kinds)
    assert target is not None
    kind = "data" if isinstance(target, Data) else target.dtype.kind
    return (node.family.key, node.dtype, node.shape, kind, kinds)


def _joined(
    group: Sequence[Term],
    needs: Mapping[Term, tuple[Node, ...]],
    discrete: Sequence[Variable],
    dependent: Set[Node],
) -> JoinedTerm | None:
    """The joined term of alike terms, or None."""
    columns: list[Column] = list(zip(*(needs[term] for term in group), strict=True))
    unknowns = arrays_of_unknowns(columns, set(discrete))
    arrays = JoinedColumns(unknowns, dependent)
    try:
        operands = [arrays.of(column) for column in columns]
    except NotAlike:
        return None
    of_array = {array: column for column, array in unknowns.items()}
    node, target = _term_node(group, operands)
    return None if node is None else JoinedTerm(node, group, target, of_array)


def arrays_of_unknowns(
    columns: Sequence[Column], discrete: set[Variable]
) -> dict[Column, Variable]:
    """The arrays that stand for columns of different unknowns above columns."""
    arrays, pending, visited = dict[Column, Variable](), list(columns), set[Column]()
    while pending:
        column = pending.pop()
        if column in visited or is_single(column):
            continue
        visited.add(column)
        if all(v in discrete for v in column):
            arrays[column] = _array(column)
        elif len({len(node.parents) for node in column}) == 1:
            pending += zip(*(node.parents for node in column), strict=True)
    return arrays


def _array(column: Column) -> Variable:
    """An array that stands for single unknowns."""
    first = column[0]
    assert isinstance(first, Variable)
    array = Variable(first.support, (len(column),), first.dtype)
    array._place = first._place
    return array


def _term_node(
    group: Sequence[Term], operands: Sequence[JoinedColumn]
) -> tuple[Node | None, Node | None]:
    """The node of the joined term, and its target."""
    node, count = group[0].node, len(group)
    if not isinstance(node, Distribution):
        return (operands[0].node if operands[0].moves else None), None
    *parameters, x = operands
    x_node = x.node if x.moves else stack([x.node] * count)
    ndim = len(node.batch_shape)
    aligned = tuple(
        each.aligned(ndim + parameter.event_ndim)
        for each, parameter in zip(parameters, node.family.parameters, strict=True)
    )
    distribution = Distribution(node.family, aligned, (count, *node.shape))
    distribution._place = node._place
    distribution.dtype = node.dtype
    distribution.target = x_node
    return distribution, x_node
