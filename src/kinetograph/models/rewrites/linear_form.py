"""Alike nodes read as one linear form in unknown quantities.

    o_n + sum_k C_nk theta_k + sum_k D_nk phi_k[i(n)] + sum_k E_nk chi_k[j(n)]

The index n runs over the observations of all pieces i. theta is the same in all pieces, phi is
another quantity in each piece, and chi an element j(n) of an array. An array of observations is one
piece.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...graph.lower import Environment, Scope, evaluate
from ...graph.node import Apply, Data, Node
from ...graph.operations.elementwise import ELEMENTWISE
from ...graph.operations.indexing import READ
from ...graph.operations.linear_algebra import MATMUL
from ...graph.precision import x64
from ...graph.rewriting.alike import Column, is_single, place_of

__all__ = ["LinearPredictor", "NotLinear", "Reader"]

_ADD, _SUBTRACT, _MULTIPLY, _DIVIDE, _NEGATIVE = (
    ELEMENTWISE[name] for name in ("add", "subtract", "multiply", "divide", "negative")
)


@dataclass
class LinearPredictor:
    """An offset, and columns of coefficients with the nodes they multiply.

    `nodes` holds one node of each piece.
    """

    offset: Any = 0.0
    scalars: list[tuple[Any, Column]] = field(default_factory=list)  # coefficient, one number
    # And the element of an array for each observation, from 0.
    grouped: list[tuple[Any, Column, np.ndarray]] = field(default_factory=list)
    vectors: list[tuple[np.ndarray, Column]] = field(default_factory=list)  # matrix, vector

    def scaled(self, factor: Any) -> "LinearPredictor":
        def rows(matrix: np.ndarray) -> np.ndarray:
            return matrix * (factor[:, None] if np.ndim(factor) else factor)

        return LinearPredictor(
            self.offset * factor,
            [(c * factor, nodes) for c, nodes in self.scalars],
            [(c * factor, nodes, index) for c, nodes, index in self.grouped],
            [(rows(matrix), nodes) for matrix, nodes in self.vectors],
        )

    def plus(self, other: "LinearPredictor") -> "LinearPredictor":
        return LinearPredictor(
            self.offset + other.offset,
            self.scalars + other.scalars,
            self.grouped + other.grouped,
            self.vectors + other.vectors,
        )


class NotLinear(Exception):
    """Raised for a node that is not a linear form."""


class Reader:
    """Reads the nodes of pieces as a linear form in unknown nodes.

    `lengths` holds the number of observations of each piece. A single number that differs between
    pieces is an unknown quantity of its own; a `deep` reader searches for common parts of such
    numbers.
    """

    def __init__(self, lengths: Sequence[int], deep: bool = False) -> None:
        self.lengths = np.asarray(lengths)
        self.deep = deep
        self._answers: dict[Node, bool] = {}
        self._values: Environment = {}

    def all_known(self, nodes: Column) -> bool:
        """Whether nodes are computed from data alone.

        Up to 50 nodes above each are examined.
        """
        return all(self._is_known(node) for node in dict.fromkeys(nodes))

    def _is_known(self, node: Node) -> bool:
        if node not in self._answers:
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
            self._answers[node] = answer and not stack
        return self._answers[node]

    def arrays(self, nodes: Column) -> list[np.ndarray]:
        """The values of known nodes."""
        return [np.asarray(value) for value in self._computed(nodes)]

    def _computed(self, nodes: Column) -> list[Any]:
        values: dict[Node, Any] = {}
        for node in nodes:
            place = place_of(node)
            if isinstance(node, Data):
                values[node] = node.value
            elif place is not None and isinstance(node.parents[0], Data):
                values[node] = node.parents[0].value[place]
        pending = [node for node in dict.fromkeys(nodes) if node not in values]
        if pending:
            with x64():
                evaluate(pending, self._values, scope=Scope(eager=len(pending) == 1))
            values |= {node: self._values[node] for node in pending}
        return [values[node] for node in nodes]

    def value(self, nodes: Column) -> Any:
        """The value of known nodes, for each observation, or as one number."""
        if is_single(nodes):
            arrays = self.arrays(nodes[:1])
            if arrays[0].size == 1:
                return arrays[0].reshape(()).astype(float)
            arrays = arrays * len(nodes)
        else:
            arrays = self.arrays(nodes)
        rows = []
        for array, length in zip(arrays, self.lengths, strict=True):
            if array.size == 1:
                array = np.broadcast_to(array.reshape(()), (length,))
            elif array.shape != (length,):
                raise NotLinear
            rows.append(array)
        return np.concatenate(rows).astype(float)

    def read(self, nodes: Column) -> LinearPredictor:
        """The linear form of the nodes of all pieces."""
        if self.all_known(nodes):
            return LinearPredictor(offset=self.value(nodes))
        if all(node.size == 1 for node in nodes):
            if is_single(nodes) or not self.deep:
                return LinearPredictor(scalars=[(1.0, nodes)])
            try:
                return self._parts(nodes)
            except NotLinear:
                return LinearPredictor(scalars=[(1.0, nodes)])
        if any(n.shape != (length,) for n, length in zip(nodes, self.lengths, strict=True)):
            raise NotLinear
        return self._parts(nodes)

    def _parts(self, nodes: Column) -> LinearPredictor:
        first = nodes[0]
        if not isinstance(first, Apply) or len({(type(n), len(n.parents)) for n in nodes}) > 1:
            raise NotLinear
        operation = first.operation
        if any(node.operation is not operation for node in nodes):  # type: ignore[attr-defined]
            raise NotLinear
        parents: list[Column] = list(zip(*(node.parents for node in nodes), strict=True))
        if operation is _ADD:
            return self.read(parents[0]).plus(self.read(parents[1]))
        if operation is _SUBTRACT:
            return self.read(parents[0]).plus(self.read(parents[1]).scaled(-1.0))
        if operation is _NEGATIVE:
            return self.read(parents[0]).scaled(-1.0)
        if operation is _MULTIPLY:
            for a, b in (parents, parents[::-1]):
                if self.all_known(a):
                    return self.read(b).scaled(self.value(a))
        if operation is _DIVIDE and self.all_known(parents[1]):
            divisor = self.value(parents[1])
            if not np.all(divisor):
                raise NotLinear
            return self.read(parents[0]).scaled(1.0 / divisor)
        if operation is MATMUL:
            return self._product(*parents)
        if operation is READ and len(parents) == 2:
            return self._elements(nodes, *parents)
        raise NotLinear

    def _product(self, left: Column, right: Column) -> LinearPredictor:
        if not self.all_known(left) and all(len(n.shape) == 1 for n in (*left, *right)):
            left, right = right, left
        if not self.all_known(left) or any(len(n.shape) != 1 for n in right):
            raise NotLinear
        matrices = [np.atleast_2d(array) for array in self.arrays(left)]
        if len({m.shape[1:] for m in matrices}) > 1 or matrices[0].ndim > 2:
            raise NotLinear
        return LinearPredictor(vectors=[(self._rows(matrices).astype(float), right)])

    def _rows(self, arrays: Sequence[np.ndarray]) -> np.ndarray:
        """Put arrays together that have a row for each observation.

        An array with one row is repeated for the observations of its piece.
        """
        pairs = list(zip(arrays, self.lengths, strict=True))
        if any(len(array) not in (1, length) for array, length in pairs):
            raise NotLinear
        return np.concatenate([np.broadcast_to(a, (n, *a.shape[1:])) for a, n in pairs])

    def _elements(self, nodes: Column, base: Column, index: Column) -> LinearPredictor:
        sizes = {node.shape for node in base}
        if len(sizes) > 1 or len(base[0].shape) != 1:
            raise NotLinear
        for node, i in zip(nodes, index, strict=True):
            assert isinstance(node, Apply)
            one = len(node.attributes["template"]) == 1
            if not one or not isinstance(i, Data) or len(i.shape) > 1:
                raise NotLinear
        indices = [array.astype(np.int64).reshape(-1) for array in self.arrays(index)]
        rows = self._rows(indices)
        rows[rows < 0] += base[0].shape[0]  # counted from the end
        return LinearPredictor(grouped=[(1.0, base, rows)])
