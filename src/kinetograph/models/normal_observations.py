"""Normal data whose means are linear in the elements of a vector.

    y_i ~ normal(k_i f_i + c_i, sd_i)

Given k, c and sd, such data are one observation of each element, of the precision h_i and with

    h_i = sum (k_i / sd_i)^2,   r_i = sum k_i (y_i - c_i) / sd_i^2

where the sums are over all data of an element.
"""

from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

import jax.numpy as jnp
import numpy as np

from ..distributions.variable import Distribution
from ..graph.lower import Environment
from ..graph.node import Apply, Data, Node, ancestors
from ..graph.operations.elementwise import ELEMENTWISE
from ..graph.operations.shaping import STACK

if TYPE_CHECKING:
    from .term import Term

__all__ = ["Line", "NormalData", "is_known", "line_of", "normal_data"]

_ADD, _SUBTRACT, _MULTIPLY, _DIVIDE, _NEGATE = (
    ELEMENTWISE[name] for name in ("add", "subtract", "multiply", "divide", "negative")
)
Values = Callable[[Environment], Any]


class Line(NamedTuple):
    """The values k and c of a node k f + c."""

    slope: Values
    constant: Values
    factors: tuple[Node, ...] = ()  # of k
    nodes: tuple[Node, ...] = ()  # of k and c

    def times(self, factor: Values, node: Node) -> "Line":
        """The line, times a node."""
        return Line(
            lambda e: self.slope(e) * factor(e),
            lambda e: self.constant(e) * factor(e),
            (*self.factors, node),
            (*self.nodes, node),
        )

    def plus(self, addend: Values, node: Node) -> "Line":
        """The line, plus a node."""
        return self._replace(
            constant=lambda e: self.constant(e) + addend(e), nodes=(*self.nodes, node)
        )

    def negative(self) -> "Line":
        """The line, times -1."""
        return self._replace(slope=lambda e: -self.slope(e), constant=lambda e: -self.constant(e))


class NormalData(NamedTuple):
    """The data of one vector."""

    shape: tuple[int, ...]  # of the vector
    lines: tuple[Line, ...]  # of the means
    sds: tuple[Node, ...]
    values: tuple[Node, ...]

    @property
    def of_precision(self) -> tuple[Node, ...]:
        """The nodes from which h is computed."""
        return (*(node for line in self.lines for node in line.factors), *self.sds)

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes from which h and r are computed."""
        nodes = (node for line in self.lines for node in line.nodes)
        return tuple(dict.fromkeys((*nodes, *self.sds, *self.values)))

    def information(self, environment: Environment) -> tuple[Any, Any]:
        """h and r, in the shape of the vector."""
        h: Any = 0.0
        r: Any = 0.0
        for line, sd, value in zip(self.lines, self.sds, self.values, strict=True):
            slope, constant = line.slope(environment), line.constant(environment)
            weight = slope / environment[sd] ** 2
            h = h + self._summed(weight * slope, value)
            r = r + self._summed(weight * (environment[value] - constant), value)
        return jnp.broadcast_to(h, self.shape), jnp.broadcast_to(r, self.shape)

    def _summed(self, rows: Any, value: Node) -> Any:
        """The sum over the axes along which an element has several data."""
        rows = jnp.broadcast_to(rows, value.shape)
        rows = jnp.sum(rows, tuple(range(rows.ndim - len(self.shape))))
        single = (i for i, n in enumerate(self.shape) if n == 1 != rows.shape[i])
        return jnp.sum(rows, tuple(single), keepdims=True)


def normal_data(f: Node, unknowns: Collection[Node], terms: "Iterable[Term]") -> NormalData | None:
    """The data of unknowns, if all are normal.

    Other terms with the unknowns, apart from their own distributions, would tell more about them.
    """

    def depends(nodes: Iterable[Node]) -> bool:
        return not set(ancestors(nodes)).isdisjoint(unknowns)

    lines, sds, values = [], [], []
    for term in terms:
        node = term.node
        if term.target in unknowns or not depends(term.plain_needs()):
            continue
        if not isinstance(node, Distribution) or node.family.key != "normal":
            return None
        mean, sd, target = node.arguments["mean"], node.arguments["sd"], node.target
        line = None
        if not is_known(target) or depends([sd]):
            return None
        if np.broadcast_shapes(mean.shape, target.shape) == target.shape:
            line = line_of(mean, f)
        if line is None or depends(line.nodes):
            return None
        lines.append(line)
        sds.append(sd)
        values.append(target)
    return NormalData(f.shape, tuple(lines), tuple(sds), tuple(values)) if lines else None


def is_known(target: Node | None) -> TypeGuard[Node]:
    """Whether a target is data, or a stack of data."""
    stacked = isinstance(target, Apply) and target.operation is STACK
    nodes = target.parents if stacked and target else (target,)
    return all(isinstance(node, Data) for node in nodes)


def line_of(node: Node, f: Node) -> Line | None:
    """A node as a line of f, element by element, if possible."""
    if node is f:
        return Line(lambda _: 1.0, lambda _: 0.0)
    fits = node.shape[len(node.shape) - len(f.shape) :] == f.shape
    if not fits or not isinstance(node, Apply):
        return None
    depends = [f in ancestors([parent]) for parent in node.parents]
    if node.operation not in _LINEAR or sum(depends) != 1:
        return None
    place = depends.index(True)
    line = line_of(node.parents[place], f)
    if line is None or (place == 1 and node.operation is _DIVIDE):
        return None
    if node.operation is _NEGATE:
        return line.negative()
    other = node.parents[1 - place]
    if node.operation is _MULTIPLY:
        return line.times(lambda e: e[other], other)
    if node.operation is _DIVIDE:
        return line.times(lambda e: 1.0 / e[other], other)
    if node.operation is _ADD:
        return line.plus(lambda e: e[other], other)
    line = line if place == 0 else line.negative()
    return line.plus(lambda e: e[other] if place else -e[other], other)


_LINEAR = {_ADD, _SUBTRACT, _MULTIPLY, _DIVIDE, _NEGATE}
