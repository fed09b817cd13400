"""Arrays that a loop fills row by row, as results of `kg.scan`.

    for t in kg.range(1, n): x[t] = rho * x[t - 1] + sd * z[t]

gives the array

    _, later = kg.scan(lambda x, z: (rho * x + sd * z,) * 2, x[0], z[1:])
    kg.concatenate([x[:1], later])

The plan of `rowwise` has the rows that a trip reads and writes.
"""

from typing import NoReturn

import numpy as np

from ..array import Array
from ..control.scan import Scan, scan
from ..node import CURRENT, PART, Apply, Data, Node, within
from ..operations.indexing import WRITES, fixed_parts, index
from ..operations.shaping import concatenate, stack
from ..precision import x64
from .affine import Affine
from .rewriter import Rewriter
from .row_tensors import LoopRows, is_all
from .rowwise import Rowwise

__all__ = ["joined_rows"]


class _NotRewritten(Exception):
    """A part of a loop cannot be written again."""


def joined_rows(node: Apply) -> Apply:
    """A filled array as first rows and stacked results.

    Other nodes are returned as they are.
    """
    if node.operation is not PART:
        return node
    loop, place = node.parents[0], node.attributes["place"]
    if not isinstance(loop, Scan) or loop.reverse or loop.context is not None or not loop.length:
        return node
    plan = Rowwise(loop, (), loop.length)
    if place not in plan.filled_places:
        return node
    with within(None):
        try:
            return _joined(loop, plan, place)
        except _NotRewritten:
            return node


def _joined(loop: Scan, plan: Rowwise, place: int) -> Apply:
    """The rows of the array in one place of a loop."""
    firsts: dict[int, list[Node]] = {}
    carried = [loop.parents[i] for i in plan.carried_places]
    for array in plan.arrays:
        before = loop.parents[array.rows.place]
        start = before.shape[array.rows.axis] - loop.length
        if array.rows[1:] != (0, Affine(1, start)) or array.lags > start:
            raise _NotRewritten
        firsts[array.rows.place] = [_row(before, number) for number in range(start)]
        carried += firsts[array.rows.place][::-1][: array.lags]
    if not carried:
        raise _NotRewritten
    rows = list(loop.parents[loop.carried : loop.carried + loop.rows])
    rows += [_rows(loop, each) for each in plan.inputs]

    def trip(carry: list[Array], row: list[Array]) -> tuple[list[Array], list[Array]]:
        nodes = [each.node for each in (*carry, *row)]
        return _trip(loop, plan, nodes[: len(carry)], nodes[len(carry) :])

    _, results = scan(trip, [*map(Array, carried)], [*map(Array, rows)], loop.length)
    later, first = results[plan.filled_places.index(place)].node, firsts[place]
    joined = concatenate([stack(first), later]) if first else later
    assert isinstance(joined, Apply)
    return joined


def _trip(
    loop: Scan, plan: Rowwise, carry: list[Node], rows: list[Node]
) -> tuple[list[Array], list[Array]]:
    """The body of a loop, with rows in place of arrays."""
    (body,), (old,) = loop.subgraphs, loop.contexts
    with x64():
        variables, instead = plan.begin(carry, rows[loop.rows :])
    inputs = [*variables, *rows[: loop.rows], *loop.parents[loop.carried + loop.rows :]]
    replacements = {
        inner: outer
        for place, (inner, outer) in enumerate(zip(body.inputs, inputs, strict=True))
        if place not in plan.filled_places
    }
    rewriter = Rewriter(_refuse, replacements)
    rewriter.contexts[old] = CURRENT.context
    for node in body.nodes:
        if node not in instead:
            continue
        assert isinstance(node, Apply)
        if not is_all(fixed_parts(node)):
            raise _NotRewritten
        row = instead[node].operand
        if row is None and node.operation in WRITES:
            row = rewriter(node.parents[1])
            as_row = (node.shape[1:], node.dtype)
            if node.attributes["how"] != "set" or (row.shape, row.dtype) != as_row:
                raise _NotRewritten
        elif row is None:
            row = rewriter(node.parents[0])
        rewriter.made[node] = row
    after = [rewriter(output) for output in body.outputs[: loop.carried]]
    following, written = plan.end(carry, after)
    return [*map(Array, following)], [*map(Array, written)]


def _row(array: Node, number: int) -> Node:
    """A row of an array that may have been written by updates."""
    while isinstance(array, Apply) and array.operation in WRITES:
        before, value = array.parents[:2]
        template, how = array.attributes["template"], array.attributes["how"]
        if len(template) != 1 or type(template[0]) is not int or how != "set":
            break
        if template[0] % array.shape[0] == number and value.shape == array.shape[1:]:
            return value
        array = before
    if isinstance(array, Data) and array.literal:
        return Data(np.asarray(array.value[number]), literal=True)
    return index(array, number)  # type: ignore[no-any-return]


def _rows(loop: Scan, read: LoopRows) -> Node:
    """The rows that the trips read from an array outside."""
    array, line = loop.parents[read.place], read.line
    end = line.at(loop.length)
    if read.place < loop.carried or read.axis or line.step != 1 or line.start < 0:
        raise _NotRewritten
    whole = (line.start, end) == (0, array.shape[0])
    return array if whole else index(array, slice(line.start, end))  # type: ignore[no-any-return]


def _refuse(node: Node, why: str) -> NoReturn:
    raise _NotRewritten
