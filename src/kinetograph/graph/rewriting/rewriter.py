"""Writes a graph again where some of its nodes are replaced.

Each operation below a replaced node is made again from its own attributes and its new operands, by
the function that a user's line would call: shapes are inferred, and forms (`graph.forms`) chosen,
as for a new line. Branches, loops and batches are written again with new bodies (`bodies`).

The graph shows where a length has become a number, as the end of a slice or the shape given to a
reshape. Such an operation cannot be written again: the rewriter refuses it.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn

import jax
import numpy as np

from ..control.contexts import ControlFlowContext
from ..control.control_node import Control
from ..derivative import Derivative
from ..derivatives import derivative_again
from ..forms.representations import represent
from ..lower import Scope, lower_node
from ..messages import describe
from ..node import PART, Apply, Data, FormOf, Inner, Node, ancestors, within
from ..operations.elementwise import elementwise
from ..operations.indexing import (
    READS,
    SLICE,
    SLOT,
    WRITES,
    index,
    update,
)
from ..operations.linear_algebra import CHOLESKY, cholesky
from ..operations.shaping import BROADCAST, REPEAT, RESHAPE, TILE
from ..precision import x64
from .bodies import control_again, part_again, places_read

__all__ = ["Rewriter"]

_INDEXED = {*READS, SLICE, *WRITES}
_WRITTEN = {"square": lambda of: elementwise("square", of), "cholesky": cholesky}
_UNKNOWN_WAY = "is computed in a way that is not written again"


class Rewriter:
    """Writes nodes of a graph again; a call writes one node.

    Attributes
    ----------
    made
        The new node of each old one that was reached; nodes that do not change map to themselves.
    contexts
        The new context of each old one whose body is written again.
    places
        The places of the parents that each branch, loop or batch needs, if forms are left out.
    """

    def __init__(
        self,
        refuse: Callable[[Node, str], NoReturn],
        new: Mapping[Node, Node],
        unchanged: Iterable[Node] = (),
    ) -> None:
        self.refuse = refuse
        self.made: dict[Node, Node] = {**{node: node for node in unchanged}, **new}
        self.contexts: dict[ControlFlowContext | None, ControlFlowContext | None] = {None: None}
        self.places: dict[Node, frozenset[int]] = {}

    def __call__(self, node: Node) -> Node:
        """Return the new node.

        It is the old node where no node above it is replaced.
        """
        for n in ancestors([node], self.made.__contains__, self.above):
            if n not in self.made:
                same = n.context is None and all(self.made[p] is p for p in self.above(n))
                self.made[n] = n if same else self._rewritten(n)
        return self.made[node]

    def above(self, node: Node) -> tuple[Node, ...]:
        """The nodes from which a node is written again.

        Forms that were chosen for a node are not among them.
        """
        if isinstance(node, FormOf):
            return (node.of,)
        if isinstance(node, Derivative):
            tangents = node.parents[len(node.subgraphs[0].inputs) :]
            return (*node.values, *node.parents[: node.count], *tangents)
        if isinstance(node, Control):
            if node not in self.places:
                self.places[node] = places_read(node, self.above)
            return tuple(node.parents[place] for place in sorted(self.places[node]))
        return (node.outer,) if isinstance(node, Inner) else node.parents

    def _rewritten(self, node: Node) -> Node:
        if node.context not in self.contexts:
            self.refuse(node, _UNKNOWN_WAY)
        with within(self.contexts[node.context]):
            operands = tuple(self.made[n] for n in self.above(node))
            new_node = self.write(node, operands)
        new_node.name, new_node.weak, new_node._place = node.name, node.weak, node._place
        if node.dims is not None and len(node.dims) == len(new_node.shape):
            new_node.dims = node.dims
        return new_node

    def write(self, node: Node, operands: tuple[Node, ...]) -> Node:
        """Write one node with new operands."""
        if isinstance(node, Data):  # a number written in the body of a loop
            return Data(node.value, literal=node.literal)
        if isinstance(node, Derivative):
            return derivative_again(node, operands)
        if isinstance(node, Control):
            control = control_again(self, node)
            return self.refuse(node, _UNKNOWN_WAY) if control is None else control
        if isinstance(node, FormOf):
            kind, (of,) = node.attributes["kind"], operands
            form = _WRITTEN[kind](of) if kind in _WRITTEN else represent(of, kind)
            return self.refuse(node, _UNKNOWN_WAY) if form is None else form
        if type(node) is not Apply:
            self.refuse(node, _UNKNOWN_WAY)
        if node.operation is PART:
            part = part_again(node, *operands)
            return self.refuse(node, _UNKNOWN_WAY) if part is None else part
        if node.operation is CHOLESKY:
            return cholesky(*operands)
        if node.operation in _INDEXED:
            return self._index(node, operands)
        return self._operation(node, operands)

    def _index(self, node: Apply, operands: tuple[Node, ...]) -> Node:
        writes = node.operation in WRITES
        template, first = node.attributes["template"], 2 if writes else 1
        old, new = node.parents[0], operands[0]
        changed = [a != b for a, b in zip(old.shape, new.shape, strict=True)]
        axis_count = sum(part is not None and part is not Ellipsis for part in template)
        indices = iter(zip(node.parents[first:], operands[first:], strict=True))
        key: list[Any] = []
        axis = 0
        for part in template:
            if part is SLOT:
                before, part = next(indices)
                if changed[axis] and isinstance(before, Data) and before.literal:
                    self.refuse(node, "takes given places of an axis that changes")
            elif isinstance(part, slice) and changed[axis] and (part.stop or -1) >= 0:
                self.refuse(node, f"takes a slice up to {part.stop} of an axis that changes")
            elif type(part) is int and changed[axis] and part == old.shape[axis] - 1 > 0:
                self.refuse(node, f"takes the last place, {part}, by its number and not as -1")
            key.append(part)
            axis += len(changed) - axis_count if part is Ellipsis else part is not None
        if writes:
            return update(new, tuple(key), operands[1], node.attributes["how"])
        return index(new, tuple(key))

    def _operation(self, node: Apply, operands: tuple[Node, ...]) -> Node:
        attributes = dict(node.attributes)
        old, new = node.parents[0].shape if node.parents else (), operands[0].shape
        if node.operation is RESHAPE:
            attributes["shape"] = self._reshaped(node, old, new)
        elif node.operation is BROADCAST:
            attributes["shape"] = grown(node.shape, old, new)
        elif node.operation in (TILE, REPEAT):
            times = attributes["reps"] if node.operation is TILE else (attributes["repeats"],)
            if {o for o, n in zip(old, new, strict=True) if o != n} & set(times):
                self.refuse(node, "repeats what changes as often as it was long")
        new_node = Apply(node.operation, operands, (), node.dtype, attributes)
        specs = [jax.ShapeDtypeStruct(p.shape, p.dtype) for p in new_node.parents]

        def lowered(*tensors: Any) -> Any:
            return lower_node(new_node, dict(zip(new_node.parents, tensors, strict=True)), Scope())

        with x64():
            try:
                new_node.shape = tuple(jax.eval_shape(lowered, *specs).shape)
            except (TypeError, ValueError):
                shapes = ", ".join(f"{describe(p)} {p.shape}" for p in operands)
                self.refuse(node, f"does not fit together: {shapes}")
        if len(new_node.shape) != len(node.shape):
            self.refuse(node, "has another number of axes")
        return new_node

    def _reshaped(self, node: Apply, old: tuple[int, ...], new: tuple[int, ...]) -> tuple[int, ...]:
        """The new shape of a reshape.

        A reshape can be written again if it moves axes of length 1, or makes a vector.
        """
        if [n for n in old if n != 1] == [n for n in node.shape if n != 1]:
            lengths = iter(n for o, n in zip(old, new, strict=True) if o != 1)
            if all(o != 1 or n == 1 for o, n in zip(old, new, strict=True)):
                return tuple(1 if n == 1 else next(lengths) for n in node.shape)
        elif len(node.shape) == 1:
            return (int(np.prod(new)),)
        self.refuse(node, f"is of the given shape {node.shape}")


def grown(whole: tuple[int, ...], old: tuple[int, ...], new: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of a broadcast whose operand has a new shape.

    `whole` is the shape to which the operand of shape `old` was broadcast.
    """
    first = len(whole) - len(old)
    pairs = zip(old, new, whole[first:], strict=True)
    return (*whole[:first], *(n if o == length else length for o, n, length in pairs))
