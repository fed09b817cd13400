"""Writes branches, loops and batches again, with new bodies.

Each body gets a new context. The nodes that enter the body become new inner nodes for the new
values outside, and the outputs are written again from them.

A `while` loop is written again only if all shapes stay. The graph does not show whether its number
of trips is a length that has become a number.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from ..control.batch import Batch
from ..control.conditional import Cond
from ..control.contexts import (
    BatchContext,
    CondContext,
    ControlFlowContext,
    ScanContext,
    WhileContext,
)
from ..control.control_node import Control
from ..control.loops import While
from ..control.scan import Scan
from ..control.subgraph import Subgraph
from ..derivative import Derivative
from ..node import Apply, Inner, Node, ancestors

if TYPE_CHECKING:
    from .rewriter import Rewriter

__all__ = ["control_again", "part_again", "places_read"]

Operands = Sequence[Node | None]  # None for a parent that is not needed
_ROLES = ("loop variable", "row", "captured")  # the order of the inputs of a loop's body


def places_read(node: Control, above: Callable[[Node], tuple[Node, ...]]) -> frozenset[int]:
    """The places of the parents that a node's bodies need.

    `above` gives the nodes from which a node is written again.
    """
    entries = list(_entries(node))
    inputs = {inner for inner, _ in entries}
    outputs = [output for subgraph in node.subgraphs for output in subgraph.outputs]
    read = set(ancestors(outputs, inputs.__contains__, above))
    loop_variables = range(getattr(node, "carried", 0))
    unread = {place for _, place in entries}.difference(
        loop_variables, (place for inner, place in entries if inner in read)
    )
    return frozenset(range(len(node.parents))) - unread


def control_again(rewriter: "Rewriter", node: Control) -> Control | None:
    """Write a branch, loop or batch with new parents.

    None if it cannot be written again.
    """
    if not all(isinstance(n, Inner) and n.role in _ROLES for n, _ in _entries(node)):
        return None
    operands = [rewriter.made.get(parent) for parent in node.parents]
    for place in set(range(len(operands))) - rewriter.places[node]:
        operands[place] = None
    if isinstance(node, Cond):
        return _branches(rewriter, node, operands)
    if isinstance(node, (Scan, Batch)):
        return _rows(rewriter, node, operands)
    same = all(b is None or a.shape == b.shape for a, b in zip(node.parents, operands, strict=True))
    return _while(rewriter, node, operands) if isinstance(node, While) and same else None


def part_again(node: Apply, new_node: Node) -> Node | None:
    """One result of a node that was written again.

    None if the node was not a branch, loop, batch or derivative.
    """
    if isinstance(new_node, Derivative):
        return new_node.result(node.attributes["place"])
    if not isinstance(new_node, Control):
        return None
    place, outputs = node.attributes["place"], new_node.subgraphs[-1].outputs
    shape = outputs[place].shape if place < len(outputs) else node.shape
    if isinstance(new_node, (Scan, Batch)) and place >= new_node.carried:
        shape = (new_node.length, *shape)
    return new_node.part(place, shape, node.dtype)


def _entries(node: Control) -> Iterator[tuple[Node, int]]:
    """The inputs of a node's bodies, with the places of their parents."""
    for number, subgraph in enumerate(node.subgraphs):
        places: Iterable[int] = range(len(subgraph.inputs))
        if isinstance(node, Cond):
            places = (1 + place for place in node.places[number])
        yield from zip(subgraph.inputs, places, strict=True)


def _branches(rewriter: "Rewriter", node: Cond, operands: Operands) -> Cond:
    index, *values = operands
    assert index is not None
    captures: dict[Node, int] = {}
    contexts, branches, places = [], [], []
    for subgraph, old, reads in zip(node.subgraphs, node.contexts, node.places, strict=True):
        assert isinstance(old, CondContext)
        context = CondContext(index, old.branch, old.name)
        outputs = _outputs(rewriter, old, context, subgraph, [values[place] for place in reads])
        inputs = context._arguments
        contexts.append(context)
        branches.append(Subgraph(inputs, outputs))
        places.append(tuple(captures.setdefault(n.outer, len(captures)) for n in inputs))
    for results in zip(*(branch.outputs for branch in branches), strict=True):
        shapes = sorted({result.shape for result in results})
        if len(shapes) > 1:
            text = " and of shape ".join(map(str, shapes))
            rewriter.refuse(node, f"has branches that return a value of shape {text}")
    return Cond(index, list(captures), branches, contexts, places)


def _rows(rewriter: "Rewriter", node: Scan | Batch, operands: Operands) -> Scan | Batch:
    (body,), (old,) = node.subgraphs, node.contexts
    given = operands[node.carried : node.carried + node.rows]
    lengths = {n.shape[0] for n in given if n is not None} or {node.length}
    if len(lengths) > 1:
        rewriter.refuse(node, f"goes over {' and '.join(map(str, sorted(lengths)))} rows at once")
    pairs = [
        (a.shape, b.shape) for a, b in zip(node.parents, operands, strict=True) if b is not None
    ]
    replaced_lengths = {a for old, new in pairs for a, b in zip(old, new, strict=True) if a != b}
    if lengths == {node.length} and node.length in replaced_lengths:
        rewriter.refuse(node, "makes as many trips as an axis that changes was long")
    (length,) = lengths
    if isinstance(node, Batch):
        assert isinstance(old, BatchContext)
        batch = BatchContext(old.name, size=length, _numbers=old._numbers)
        (_, rows, captures), (body,) = _bodies(rewriter, node, batch, operands)
        return Batch(batch, rows, captures, body)
    scan = ScanContext(old.name)
    parents, (body,) = _bodies(rewriter, node, scan, operands)
    return Scan(scan, parents, body, length=length, reverse=node.reverse)


def _while(rewriter: "Rewriter", node: While, operands: Operands) -> While:
    (old,), count = node.contexts, len(node.subgraphs[-1].inputs)
    assert isinstance(old, WhileContext)
    bound = operands[-1] if len(operands) > count else node.bound
    context = WhileContext(
        old.name,
        maximum_iterations=bound,
        grad=old.grad,
        back_prop=old.back_prop,
        parallel_iterations=old.parallel_iterations,
        swap_memory=old.swap_memory,
    )
    parents, (predicate, body) = _bodies(rewriter, node, context, operands[:count])
    carried, _, captures = parents
    return While(
        context,
        carried,
        captures,
        predicate,
        body,
        variables=node.variables,
        judging=node.judging,
        bound=bound,
        grad=node.grad,
        on_limit=node.on_limit,
    )


def _bodies(
    rewriter: "Rewriter",
    node: Scan | Batch | While,
    context: ControlFlowContext,
    operands: Operands,
) -> tuple[tuple[list[Node], list[Node], list[Node]], list[Subgraph]]:
    """The new parents, by their roles, and the new subgraphs."""
    (old,) = node.contexts
    outputs = [_outputs(rewriter, old, context, part, operands) for part in node.subgraphs]
    for variable, output in zip(context._arguments[: node.carried], outputs[-1], strict=False):
        if variable.shape != output.shape:
            rewriter.refuse(
                node,
                f"carries a value of shape {variable.shape} into a trip, and of "
                f"shape {output.shape} out of it",
            )
    by_role = [[n for n in context._arguments if n.role == role] for role in _ROLES]
    carried, rows, captures = ([n.outer for n in inputs] for inputs in by_role)
    inputs = [*chain(*by_role)]
    return (carried, rows, captures), [Subgraph(inputs, part) for part in outputs]


def _outputs(
    rewriter: "Rewriter",
    old: ControlFlowContext,
    context: ControlFlowContext,
    body: Subgraph,
    operands: Operands,
) -> list[Node]:
    """The outputs of a body, written again in a new context."""
    rewriter.contexts[old] = context
    for inner, outer in zip(body.inputs, operands, strict=True):
        assert isinstance(inner, Inner)
        if outer is not None and inner not in rewriter.made:
            rewriter.made[inner] = _entering(context, inner, outer)
    variables = [n for n in context._arguments if n.role == "loop variable"]
    if variables:
        context._set("loop_variables", tuple(variables))
    return [rewriter(output) for output in body.outputs]


def _entering(context: ControlFlowContext, inner: Inner, outer: Node) -> Inner:
    """The inner node for a new value from outside."""
    if inner.role == "captured" and outer in context._external:
        return context._external[outer]
    shape = outer.shape[1:] if inner.role == "row" else outer.shape
    new_inner = context.argument(outer, inner.role, inner.name, shape=shape, dtype=inner.dtype)
    new_inner.weak, new_inner.interval = inner.weak, inner.interval
    if inner.role == "captured":
        context._external[outer] = new_inner
    return new_inner
