"""Observations of single numbers in a loop, as observed series.

    for t in range(n):
        level = level + sd * z[t]
        kg.observe(y[t], kg.normal(level, error))       y ~ normal(kg.stack(levels), error)

The series are made for the search of vectors alone; the density is computed from the terms.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..distributions.variable import Distribution
from ..graph.node import Data, Node
from ..graph.operations.shaping import stack
from ..graph.rewriting.alike import Column
from ..graph.rewriting.joined_columns import JoinedColumns
from ..graph.rewriting.stacked_steps import FEWEST
from ..graph.rewriting.step_columns import NotAlike
from .rewrites.pieces import Alike
from .term import Term

if TYPE_CHECKING:
    from .density import Density

__all__ = ["SeriesTerm", "series_terms"]


class SeriesTerm(Term):
    """An observation of a series, which holds its data."""

    def __init__(self, distribution: Distribution, data: Node) -> None:
        self.data = distribution.target = data
        super().__init__(distribution)


def series_terms(density: "Density") -> Iterator[Term]:
    """The terms of a density, with series in place of numbers."""
    groups = () if density.batches is None else density.batches.groups
    numbers = [term for term in density.terms if _is_number(term)]
    joined: set[Term] = set()
    for group in groups:
        if len(group.terms) < FEWEST or not _is_number(group.terms[0]):
            continue
        terms = (*_before(group, numbers, groups), *group.terms)
        joined.update(terms)
        yield _series(terms)
    yield from (term for term in density.terms if term not in joined)


def _is_number(term: Term) -> bool:
    """Whether a term is the observation of a single number."""
    node = term.node
    return isinstance(node, Distribution) and node.shape == () and isinstance(node.target, Data)


def _before(group: Alike, numbers: Sequence[Term], groups: Sequence[Alike]) -> Sequence[Term]:
    """The observations of first steps that are written differently."""
    grouped = {term for each in groups for term in each.terms}
    first = [term for term in numbers if term not in grouped]
    place = numbers.index(group.terms[0])
    same = all(_family(term) == _family(group.terms[0]) for term in first)
    return first if same and first == list(numbers[place - len(first) : place]) else ()


def _family(term: Term) -> object:
    return term.node.family.key if isinstance(term.node, Distribution) else None


def _series(terms: Sequence[Term]) -> SeriesTerm:
    nodes = [term.node for term in terms if isinstance(term.node, Distribution)]
    targets = tuple(node.target for node in nodes if node.target is not None)
    parameters = tuple(_array(column) for column in zip(*(n.parents for n in nodes), strict=True))
    return SeriesTerm(Distribution(nodes[0].family, parameters, (len(nodes),)), stack(targets))


def _array(column: Column) -> Node:
    """The numbers of a column as one array."""
    try:
        return JoinedColumns({}, ()).of(column).node
    except NotAlike:
        return stack(column)
