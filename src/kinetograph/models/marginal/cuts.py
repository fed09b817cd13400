"""Terms that discrete unknowns cut into ranges, as change points do.

Element t of `normal(where(t < s, a, b), sd)` depends on s only through the comparison t < s. It has
two cases for any number of values of s. The density is computed for each case of each
element, and the totals for all values of s are sums over the elements,

    log p(y | s) = sum_t d[case of t at s, t]

If the case of each element changes once along the values of s, these are cumulative sums,

    log p(y | s) = sum_{t: j[t] <= s} d[1, t] + sum_{t: j[t] > s} d[0, t]

where j[t] is the first value of s at which element t has case 1. Cases of several unknowns are
combinations of the cases of each: all unknowns but one are expanded to their values, and the sum
over the elements is taken along the last one. All sums are sums of the densities of cases. Nothing
is subtracted, so that a very low density of one case does not cost digits in sums without it.

A comparison such as t < first + gap depends on two unknowns, through a single number. That number,
`first + gap`, is then in the place of an unknown, with the values that it can have. The totals for
all values of the unknowns are read from the totals for its values.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...distributions.variable import Variable
from ...graph.lower import Environment, Scope, evaluate
from ...graph.node import Apply, Data, Node
from ...graph.precision import x64
from .tables import depends

__all__ = ["Cuts", "cut_nodes", "cuts_of"]

CASES = 16  # largest number of cases of a row, and of comparisons with an unknown
SIZE = 4_000_000  # largest number of known values of a comparison
MOST = 4  # times as many totals as combinations, or as many as there are rows

Settings = Mapping[Variable, np.ndarray]  # the values of single unknowns


@dataclass(frozen=True)
class Cases:
    """The cases of rows along the values of one unknown.

    `case` numbers them in the order in which they first appear: (values, rows). `first` is a value,
    as a place in the domain, at which a row has a case: (cases, rows).
    """

    case: np.ndarray
    first: np.ndarray

    @property
    def count(self) -> int:
        """The number of cases of the row with most of them."""
        return len(self.first)

    @property
    def threshold(self) -> bool:
        """Whether each row changes at most once."""
        return self.count <= 2 and bool((np.diff(self.case, axis=0) >= 0).all())


def cut_nodes(
    roots: Iterable[Node], order: Sequence[Node], variables: Sequence[Variable]
) -> dict[Node, list[Node]] | None:
    """The comparisons through which nodes depend on discrete unknowns.

    Each comparison depends on known values and on one number: an unknown, or a number computed from
    unknowns. `order` has all nodes above the roots, parents first. None if a root depends on an
    unknown in another way.
    """
    above = _known_above(order, variables)
    dependent = depends(order, variables)
    cuts: dict[Node, list[Node]] = {v: [] for v in variables}
    pending, visited = [r for r in roots if r in dependent], set[Node]()
    while pending:
        node = pending.pop()
        if node in visited:
            continue
        visited.add(node)
        if not isinstance(node, Apply):
            return None
        number = _number_of(node, above) if node.dtype.kind == "b" else None
        if number is not None:
            cuts.setdefault(number, []).append(node)
            continue
        pending += [p for p in node.parents if p in dependent]
    return {n: sorted(each, key=lambda node: node.serial) for n, each in cuts.items() if each}


def _number_of(node: Node, above: Mapping[Node, frozenset[Variable]]) -> Node | None:
    """The number through which a node depends on unknowns, or None."""
    unknowns = above.get(node, frozenset())
    if len(unknowns) == 1:
        return next(iter(unknowns))
    operands = [node]
    while len(operands) == 1:
        node = operands[0]
        operands = [p for p in dict.fromkeys(node.parents) if above.get(p)]
    return node if unknowns and node.size == 1 else None


def _known_above(
    order: Sequence[Node], variables: Sequence[Variable]
) -> dict[Node, frozenset[Variable]]:
    """The unknowns above each node that depends on them and data alone."""
    above: dict[Node, frozenset[Variable]] = {v: frozenset([v]) for v in variables}
    for node in order:
        if isinstance(node, Data):
            above[node] = frozenset()
        elif type(node) is Apply and node.context is None and all(p in above for p in node.parents):
            unknowns = frozenset[Variable]().union(*(above[p] for p in node.parents))
            if not unknowns or node.operation.elementwise:
                above[node] = unknowns
    return above


def cuts_of(nodes: Mapping[Node, Sequence[Node]], settings: Settings) -> "Cuts | None":
    """The cases of comparisons, at the present values of data.

    None if the comparisons have different shapes or too many values, or if cases are not fewer than
    the combinations of values.
    """
    shapes = {node.shape for each in nodes.values() for node in each}
    if len(shapes) != 1:
        return None
    combinations = math.prod(map(len, settings.values()))
    values, places = _values(list(nodes), settings)
    rows = math.prod(*shapes)
    if not 0 < max(map(len, values.values())) * rows <= SIZE:
        return None
    if math.prod(map(len, values.values())) > combinations * max(MOST, rows):
        return None
    compared = {n: _compared(each, n, values[n]) for n, each in nodes.items()}
    cases = {n: _cases(tables) for n, tables in compared.items()}
    if any(c is None for c in cases.values()):
        return None
    cut_cases = {n: c for n, c in cases.items() if c is not None}
    if math.prod(c.count for c in cut_cases.values()) >= combinations:
        return None
    tensors = {
        node: table[cut_cases[v].first, np.arange(table.shape[1])]
        for v, each in nodes.items()
        for node, table in zip(each, compared[v], strict=True)
    }
    by_number = {n: tuple(each) for n, each in nodes.items()}
    return Cuts(cut_cases, by_number, tensors, shapes.pop(), places)


def _values(
    numbers: Sequence[Node], settings: Settings
) -> tuple[dict[Node, np.ndarray], tuple[np.ndarray, ...]]:
    """The values of each number, and the places of those values.

    The places are for all values of the unknowns. There are none if the numbers are the unknowns.
    """
    if numbers == [*settings]:
        return {n: settings[n] for n in settings}, ()
    grid = np.meshgrid(*settings.values(), indexing="ij")
    each = [jnp.asarray(axis.reshape(-1)) for axis in grid]

    def at(point: Sequence[Any]) -> list[Any]:
        pairs = zip(settings, point, strict=True)
        inside: Environment = {v: jnp.full(v.shape, x, v.dtype) for v, x in pairs}
        evaluate(numbers, inside, scope=Scope())
        return [inside[node].reshape(()) for node in numbers]

    with jax.ensure_compile_time_eval(), x64():
        tables = jax.vmap(at)(each)
    distinct = [np.unique(np.asarray(table), return_inverse=True) for table in tables]
    values = {n: each for n, (each, _) in zip(numbers, distinct, strict=True)}
    return values, tuple(place.reshape(grid[0].shape) for _, place in distinct)


def _compared(nodes: Sequence[Node], number: Node, values: np.ndarray) -> list[np.ndarray]:
    """The comparisons for all values of their number: (values, rows)."""

    def at(value: Any) -> list[Any]:
        inside: Environment = {number: jnp.full(number.shape, value, number.dtype)}
        evaluate(nodes, inside, scope=Scope())
        return [jnp.ravel(inside[node]) for node in nodes]

    with jax.ensure_compile_time_eval(), x64():
        return [np.asarray(t) for t in jax.vmap(at)(jnp.asarray(values))]


def _cases(tables: Sequence[np.ndarray]) -> Cases | None:
    """The cases of rows; None if these are too many."""
    if len(tables) >= CASES:
        return None
    codes = sum(table.astype(np.int64) << i for i, table in enumerate(tables))
    different, code = np.unique(codes, return_inverse=True)
    if len(different) > CASES:
        return None
    code = code.reshape(np.shape(codes))
    never = len(code)
    at = [np.where((code == k).any(0), (code == k).argmax(0), never) for k in range(len(different))]
    order = np.argsort(at, 0)
    rank = np.argsort(order, 0)
    case = np.take_along_axis(rank, code, 0)
    first = np.take_along_axis(np.array(at), order, 0)[: case.max(initial=0) + 1]
    return Cases(case, np.where(first == never, 0, first))


@dataclass(frozen=True)
class Cuts:
    """The comparisons of a term, and the cases of their rows.

    A row is an element of the comparisons. Rows of the same cases are a class; the classes are
    sorted by the value at which the case changes along the last number. `tensors` has the values
    of a comparison in each case of its number: (cases, rows). `places` are the places of the values
    of each number for all values of the unknowns; empty if the numbers are the unknowns.
    """

    by_number: Mapping[Node, Cases]
    nodes: Mapping[Node, tuple[Node, ...]]
    tensors: Mapping[Node, np.ndarray]
    shape: tuple[int, ...]
    places: tuple[np.ndarray, ...]

    @cached_property
    def rows(self) -> int:
        """The number of rows."""
        return int(np.prod(self.shape))

    @cached_property
    def last(self) -> Node:
        """The number along which the elements are added up."""
        return max(
            self.by_number, key=lambda n: (self._cases(n).threshold, len(self._cases(n).case))
        )

    @property
    def size(self) -> int:
        """The number of numbers in the largest array of the sums."""
        lengths = (len(c.case) for n, c in self.by_number.items() if n is not self.last)
        last = self._cases(self.last)
        along = last.count if last.threshold else len(last.case)
        return math.prod(lengths) * along * len(self.classes[1])

    def _cases(self, number: Node) -> Cases:
        return self.by_number[number]

    @cached_property
    def classes(self) -> tuple[np.ndarray, np.ndarray]:
        """The class of each row, and a row of each class."""
        cases = [self._cases(n).case for n in self.by_number if n is not self.last]
        columns = np.concatenate([*cases, self._cases(self.last).case])
        _, row, of_row = np.unique(columns, axis=1, return_index=True, return_inverse=True)
        later = -self._cases(self.last).case[:, row].sum(0)
        order = np.argsort(later, kind="stable")
        return np.argsort(order)[of_row.reshape(-1)], row[order]

    @cached_property
    def choices(self) -> dict[Node, np.ndarray]:
        """The values of each comparison for all combinations of cases: (combinations, rows)."""
        counts = [c.count for c in self.by_number.values()]
        indices = np.indices(counts).reshape(len(counts), -1)
        at = dict(zip(self.by_number, indices, strict=True))
        return {n: self.tensors[n][at[v]] for v, each in self.nodes.items() for n in each}

    def totals(self, densities: Any) -> Any:
        """Sums over the classes, for all values of the unknowns.

        `densities` has the log density of each class for all combinations of cases.
        """
        totals = self._totals_of_numbers(densities)
        return totals[self.places] if self.places else totals

    def _totals_of_numbers(self, densities: Any) -> Any:
        """Sums over the classes, for all values of the numbers."""
        numbers = list(self.by_number)
        table = densities.reshape(*(c.count for c in self.by_number.values()), -1)
        _, row = self.classes
        for axis, number in enumerate(numbers):
            if number is not self.last:
                table = _expanded(table, axis, self._cases(number).case[:, row])
        cases, axis = self._cases(self.last), numbers.index(self.last)
        case = cases.case[:, row]
        if not cases.threshold:
            return jnp.sum(_expanded(table, axis, case), -1)
        table = jnp.moveaxis(table, axis, 0)
        return jnp.moveaxis(_cumulative(table[0], table[-1], case.sum(1)), -1, axis)

    def like(self, other: "Cuts") -> bool:
        """Whether other comparisons of the same nodes have the same cases."""
        return all(
            np.array_equal(a, b) for a, b in zip(self.constants, other.constants, strict=True)
        )

    @property
    def constants(self) -> list[np.ndarray]:
        """All known values that are part of a program."""
        cases = (c.case for c in self.by_number.values())
        return [*cases, *self.tensors.values(), *self.places]


def _expanded(table: Any, axis: int, case: np.ndarray) -> Any:
    """The table with an axis of cases replaced by values."""
    shape = [1] * table.ndim
    shape[axis], shape[-1] = case.shape
    place = case.reshape(shape)
    each = [
        jnp.expand_dims(table[(slice(None),) * axis + (k,)], axis) for k in range(table.shape[axis])
    ]
    result = jnp.broadcast_to(each[0], np.broadcast_shapes(each[0].shape, shape))
    for k, part in enumerate(each[1:], 1):
        result = jnp.where(place == k, part, result)
    return result


def _cumulative(before: Any, after: Any, changed: np.ndarray) -> Any:
    """Sums over the first classes of `after` and the last of `before`.

    `changed` holds the numbers of first classes, one for each value."""
    zero = jnp.zeros_like(before[..., :1])
    head = jnp.concatenate([zero, jnp.cumsum(after, -1)], -1)
    tail = jnp.concatenate([jnp.flip(jnp.cumsum(jnp.flip(before, -1), -1), -1), zero], -1)
    return jnp.take(head, changed, -1) + jnp.take(tail, changed, -1)
