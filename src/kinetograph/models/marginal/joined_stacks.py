"""Stacks of discrete unknowns, or of values computed from them, as arrays.

    states = [kg.categorical(w) for _ in range(n)]
    kg.observe(y, kg.normal(mu[kg.stack(states)], sd))
    kg.observe(y, kg.normal(kg.stack([mu[z] for z in states]), sd))

An array that stands for the unknowns takes the place of the stack. Each element of the term then
depends on one element of the array, as in a model that is written with arrays.
"""

from collections.abc import Sequence

from ...distributions.variable import Distribution, Variable
from ...graph.node import Apply, Node, ancestors
from ...graph.operations.shaping import STACK
from ...graph.rewriting.branches_as_sides import branches_as_sides, written_again
from ...graph.rewriting.joined_columns import JoinedColumns
from ...graph.rewriting.step_columns import NotAlike
from ..rewrites.pieces import FEWEST
from ..term import Term
from .joined_terms import JoinedTerm, arrays_of_unknowns, operands
from .tables import depends

__all__ = ["joined_stacks"]


def joined_stacks(terms: Sequence[Term], discrete: Sequence[Variable]) -> list[Term]:
    """The terms, with joined terms in place of terms that read stacks."""
    single = {v for v in discrete if v.shape == ()}
    return [_of_stacks(term, single) or term for term in terms]


def _of_stacks(term: Term, single: set[Variable]) -> JoinedTerm | None:
    """A term with arrays in place of its stacks, or None."""
    if type(term) is not Term:
        return None
    replacements = branches_as_sides(operands(term))
    needs = tuple(replacements.get(n, n) for n in operands(term))
    order = ancestors(needs)
    dependent = depends(order, single)
    stacks = [n for n in order if n in dependent and _is_stack(n)]
    unknowns = arrays_of_unknowns([stack.parents for stack in stacks], single)
    arrays = JoinedColumns(unknowns, dependent)
    written: dict[Node, Node] = {}
    for stack in stacks:
        try:
            joined = arrays.of(stack.parents)
        except NotAlike:
            return None
        if joined.moves and (joined.node.shape, joined.node.dtype) == (stack.shape, stack.dtype):
            written[stack] = joined.node
    if not written:
        return None
    written_again(order, written)
    needs = tuple(written.get(n, n) for n in needs)
    members = {v for column in unknowns for v in column}
    if not members.isdisjoint(ancestors(needs)):  # one of them is also read by itself
        return None
    node, target = needs[0], None
    if isinstance(term.node, Distribution):
        *parameters, target = needs
        node = Distribution(term.node.family, tuple(parameters), term.node.shape)
        node.dtype, node._place = term.node.dtype, term.node._place
        node.target = target
    return JoinedTerm(node, [term], target, {a: c for c, a in unknowns.items()}, by_rows=False)


def _is_stack(node: Node) -> bool:
    if not isinstance(node, Apply) or node.operation is not STACK or node.context is not None:
        return False
    return node.attributes["axis"] == 0 and len(node.parents) >= FEWEST
