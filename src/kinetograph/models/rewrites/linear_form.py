"""Nodes read as linear forms: an offset, and known coefficients of unknown quantities.

    o_n + sum_k C_nk theta_k + sum_g D_ng phi_g[j(n)]

of observations n, with single numbers and vectors theta, and phi by group.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...graph.lower import evaluate
from ...graph.node import Apply, Data, Node
from ...graph.operations.elementwise import ELEMENTWISE
from ...graph.operations.indexing import READ
from ...graph.operations.linear_algebra import MATMUL
from ...graph.precision import x64

__all__ = ["LinearForm", "NotLinear", "Reader"]

_ADD, _SUBTRACT, _MULTIPLY, _DIVIDE, _NEGATIVE = (
    ELEMENTWISE[name] for name in ("add", "subtract", "multiply", "divide", "negative")
)


@dataclass
class LinearForm:
    """A linear form: an offset, and columns of coefficients with the node each multiplies."""

    offset: Any = 0.0
    scalars: list[tuple[Any, Node]] = field(default_factory=list)  # coefficient, one number
    # And the row of each observation, from 0.
    grouped: list[tuple[Any, Node, np.ndarray]] = field(default_factory=list)
    vectors: list[tuple[np.ndarray, Node]] = field(default_factory=list)  # matrix, vector

    def scaled(self, factor: Any) -> "LinearForm":
        def rows(matrix: np.ndarray) -> np.ndarray:
            return matrix * (factor[:, None] if np.ndim(factor) else factor)

        return LinearForm(
            self.offset * factor,
            [(c * factor, node) for c, node in self.scalars],
            [(c * factor, node, index) for c, node, index in self.grouped],
            [(rows(matrix), node) for matrix, node in self.vectors],
        )

    def plus(self, other: "LinearForm") -> "LinearForm":
        return LinearForm(
            self.offset + other.offset,
            self.scalars + other.scalars,
            self.grouped + other.grouped,
            self.vectors + other.vectors,
        )


class NotLinear(Exception):
    """A node is no linear form, or none that is told as one."""


class Reader:
    """Reads a node as a linear form in unknown nodes, over `length` observations."""

    def __init__(self, length: int) -> None:
        self.length = length
        self._known: dict[Node, bool] = {}

    def known(self, node: Node) -> bool:
        """Whether a node is computed from data alone (looked up a few levels deep)."""
        if node not in self._known:
            stack, answer = [node], True
            for _ in range(50):
                if not stack:
                    break
                current = stack.pop()
                if isinstance(current, Apply):
                    stack.extend(current.parents)
                elif not isinstance(current, Data):
                    answer = False
                    break
            self._known[node] = answer and not stack
        return self._known[node]

    def value(self, node: Node) -> np.ndarray:
        """The value of a known node, over the observations or one number."""
        if isinstance(node, Data):
            array = node.value
        else:
            with x64():
                array = np.asarray(evaluate([node], {})[node])
        if array.size == 1:
            array = array.reshape(())
        elif array.shape != (self.length,):
            raise NotLinear
        return array.astype(float)

    def read(self, node: Node) -> LinearForm:
        if self.known(node):
            return LinearForm(offset=self.value(node))
        if node.size == 1:
            return LinearForm(scalars=[(1.0, node)])
        if not isinstance(node, Apply) or node.shape != (self.length,):
            raise NotLinear
        operation, parents = node.operation, node.parents
        if operation is _ADD:
            return self.read(parents[0]).plus(self.read(parents[1]))
        if operation is _SUBTRACT:
            return self.read(parents[0]).plus(self.read(parents[1]).scaled(-1.0))
        if operation is _NEGATIVE:
            return self.read(parents[0]).scaled(-1.0)
        if operation is _MULTIPLY:
            for a, b in (parents, parents[::-1]):
                if self.known(a):
                    return self.read(b).scaled(self.value(a))
        if operation is _DIVIDE and self.known(parents[1]):
            divisor = self.value(parents[1])
            if not np.all(divisor):
                raise NotLinear
            return self.read(parents[0]).scaled(1.0 / divisor)
        if operation is MATMUL and self.known(parents[0]) and len(parents[1].shape) == 1:
            with x64():
                matrix = np.asarray(evaluate([parents[0]], {})[parents[0]], float)
            return LinearForm(vectors=[(matrix, parents[1])])
        if operation is READ and len(parents) == 2 and len(node.attributes["template"]) == 1:
            base, index = parents
            if len(base.shape) == 1 and isinstance(index, Data) and len(index.shape) == 1:
                rows = index.value.astype(np.int64)
                rows[rows < 0] += base.shape[0]  # counted from the end
                return LinearForm(grouped=[(1.0, base, rows)])
        raise NotLinear
