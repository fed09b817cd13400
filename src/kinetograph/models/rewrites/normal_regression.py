"""Normal likelihoods with a linear mean, compressed before sampling.

Condition: the mean of normal likelihoods is linear in unknown quantities with known coefficients,
and the observations form groups j within which these quantities and the sd are the same,

    mean_n = o_n + sum_k Z_nk psi_k[j(n)].

Identity: the data enter only through the triangular factor of each group's coefficients, with Z_j =
Q_j R_j,

    sum_n (y_n - mean_n)**2 = sum_j rest_j + |R_j psi_j - b_j|**2,    b_j = Q_j' (y_j - o_j).

R_j has at most as many rows as psi_j has elements. So the cost of the log density does not grow
with the number of observations, and no indexing by group is left. The identity is exact. The
factorisation is computed once, on the host, without cancellation.

A group is where an array of observations reads one element, or one piece of a model that was
written as a loop. Otherwise all observations are one group.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np

from ...distributions.normal import HALF_LOG_2PI, NORMAL
from ...distributions.variable import Distribution
from ...graph.lower import Environment
from ...graph.node import Data, Node
from ...graph.rewriting.alike import Column, is_single, same_place
from .linear_form import LinearPredictor, NotLinear, Reader

__all__ = ["Compressed", "compress"]

LARGEST_GROUP = 16  # columns per group: with more, the written-out products grow too long
LEAST_GAIN = 2  # observations per compressed row: with fewer, compression gains nothing

Tensor = Callable[[Column], Any]  # of one node, or of several along a new first axis


@dataclass(frozen=True, eq=False)
class RegressionBlock:
    """Unknown quantities that are multiplied by columns of the factor.

    `nodes` is one node, or one for each group. `elements` holds the element of an array that each
    group reads; without it, all `width` elements belong to every group.
    """

    nodes: Column
    width: int = 1
    elements: np.ndarray | None = None

    def columns(self, tensor: Tensor) -> list[Any]:
        """The quantities, each one number or one number for each group."""
        values = tensor(self.nodes)
        for_each_group = len(self.nodes) > 1
        if self.elements is None:
            flat = values.reshape(len(self.nodes), -1) if for_each_group else values.reshape(-1)
            return [flat[..., k] for k in range(self.width)]
        if for_each_group:
            return [values[np.arange(len(self.nodes)), self.elements]]
        whole = np.array_equal(self.elements, np.arange(values.shape[0]))
        return [values if whole else values[self.elements]]

    def flat(self, tensor: Tensor) -> Any:
        """All quantities of a single group, as a vector."""
        values = tensor(self.nodes)
        return values.reshape(-1) if self.elements is None else values[self.elements]

    def has_same_quantities(self, other: "RegressionBlock") -> bool:
        """Whether two blocks are the same quantities of the same groups."""
        first, second = self.elements, other.elements
        if (self.nodes, self.width, first is None) != (other.nodes, other.width, second is None):
            return False
        return first is None or np.array_equal(first, second)  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class Compressed:
    """Normal likelihoods in compressed form: a term of the log density.

    `factor` has shape (groups, rows, columns), `right` (groups, rows). `rest` is the remaining sum
    of squares and `counts` the number of observations, of each group if `sd` is a node for each
    group, else of all observations. `log_scale` is the sum of the logarithms of known sds.
    """

    nodes: tuple[Distribution, ...]
    blocks: tuple[RegressionBlock, ...]
    sd: Column | None
    factor: Data
    right: Data
    rest: Data
    counts: Data
    log_scale: Data

    @property
    def derived(self) -> tuple[Data, ...]:
        """The arrays computed from the data, which are arguments of the program."""
        return self.factor, self.right, self.rest, self.counts, self.log_scale

    @property
    def columns(self) -> tuple[Column, ...]:
        """The nodes that the quantities are computed from."""
        sd = () if self.sd is None else (self.sd,)
        return (*(block.nodes for block in self.blocks), *sd)

    @property
    def structure(self) -> tuple[Any, ...]:
        """The static part of the program.

        The nodes and the shapes of the arrays are not part of it.
        """
        return tuple(
            (block.width, None if block.elements is None else block.elements.tolist())
            for block in self.blocks
        )

    def fits(self, other: "Compressed | None") -> bool:
        """Whether another compressed form differs only in the values of its data."""
        if other is None or len(self.blocks) != len(other.blocks):
            return False
        first, second = ((c.nodes, c.sd, _kinds(c.derived)) for c in (self, other))
        pairs = zip(self.blocks, other.blocks, strict=True)
        return first == second and all(a.has_same_quantities(b) for a, b in pairs)

    def needs(self) -> tuple[Node, ...]:
        """The nodes whose tensors `total` needs."""
        return tuple(node for nodes in self.columns for node in nodes)

    def total(self, environment: Environment, tensor: Tensor | None = None) -> Any:
        """The log likelihood of all observations."""
        factor, right, rest, counts, log_scale = (environment[node] for node in self.derived)

        def of_one(nodes: Column) -> Any:
            return environment[nodes[0]]

        tensor = of_one if tensor is None else tensor
        if factor.shape[0] == 1:
            parts = [block.flat(tensor) for block in self.blocks]
            residual = factor[0] @ jnp.concatenate(parts) - right[0]
            squares = jnp.sum(residual * residual)[None]
        else:
            squares = self._written_out(factor, right, tensor)
        if self.sd is None:
            return jnp.sum(-0.5 * (rest + jnp.sum(squares)) - counts * HALF_LOG_2PI) - log_scale
        sd = tensor(self.sd).reshape(-1)
        squares = jnp.sum(squares)[None] if len(self.sd) == 1 else squares
        sums = -0.5 * (rest + squares) / (sd * sd) - counts * (jnp.log(sd) + HALF_LOG_2PI)
        return jnp.sum(sums)

    def _written_out(self, factor: Any, right: Any, tensor: Tensor) -> Any:
        """The sum of squares of each group."""
        columns = [column for block in self.blocks for column in block.columns(tensor)]
        squares = jnp.zeros(factor.shape[:1], factor.dtype)
        for row in range(factor.shape[1]):
            residual = -right[:, row]
            for k in range(row, len(columns)):  # R is upper triangular
                residual = residual + factor[:, row, k] * columns[k]
            squares = squares + residual * residual
        return squares


def compress(likelihoods: Sequence[Distribution]) -> Compressed | None:
    """The compressed form of alike likelihoods, or None if it gains nothing."""
    if any(node.family is not NORMAL for node in likelihoods):
        return None
    single = len(likelihoods) == 1
    targets = [node.target for node in likelihoods]
    if any(not isinstance(y, Data) or len(y.shape) not in {1, int(single)} for y in targets):
        return None
    lengths = np.array([y.size for y in targets if y is not None])
    means, sds = zip(*(node.parents for node in likelihoods), strict=True)
    forms: list[_Design] = []
    for deep in (False,) if single else (False, True):
        reader = Reader(lengths.tolist(), deep)
        try:
            weights, sd = _weights(reader, sds)
            with np.errstate(invalid="ignore", over="ignore"):  # of infinite data
                form = reader.read(means)
        except NotLinear:
            continue
        design = _Design(form, sd, lengths)
        if design.gains:
            forms.append(design)
    if not forms:
        return None
    return _factorise(likelihoods, min(forms, key=lambda design: design.cost), weights)


def _weights(reader: Reader, sds: Column) -> tuple[Any, Column | None]:
    """1 / sd for each observation, if the sd is known.

    If it is unknown: None, and the nodes of the sds.
    """
    if reader.all_known(sds):
        spread = np.broadcast_to(reader.value(sds), (int(reader.lengths.sum()),))
        if not np.all(spread > 0):
            raise NotLinear
        return 1.0 / spread, None
    if any(node.size != 1 for node in sds):
        raise NotLinear
    return None, sds


class _Design:
    """The coefficients of a linear form, and groups of observations.

    Observations are in one group if they read the same nodes and the same elements of arrays.
    """

    def __init__(self, form: LinearPredictor, sd: Column | None, lengths: np.ndarray) -> None:
        self.form, self.piece = form, np.repeat(np.arange(len(lengths)), lengths)
        self.length = len(self.piece)
        parts: list[tuple[Any, Column, np.ndarray | None]] = []
        parts += [(c, nodes, None) for c, nodes in form.scalars]
        parts += [(matrix, nodes, None) for matrix, nodes in form.vectors]
        parts += [(c, nodes, index) for c, nodes, index in form.grouped]
        columns = [c if np.ndim(c) == 2 else self._column(c)[:, None] for c, _, _ in parts]
        self.matrix = np.concatenate(columns, 1) if parts else np.zeros((self.length, 0))
        self.width = self.matrix.shape[1]
        self._group(parts, sd)
        self.blocks = tuple(
            self._block(nodes, c.shape[1], index)
            for c, (_, nodes, index) in zip(columns, parts, strict=True)
        )
        self.sd = None if sd is None else self._nodes(sd)

    def _column(self, coefficient: Any) -> np.ndarray:
        return np.broadcast_to(np.asarray(coefficient, float), (self.length,))

    def _group(self, parts: Sequence[tuple[Any, Column, Any]], sd: Column | None) -> None:
        """Find the group of each observation, and one observation of each group."""
        marks: list[np.ndarray] = []
        arrays: list[np.ndarray] = []
        for nodes in [nodes for _, nodes, _ in parts] + ([] if sd is None else [sd]):
            if not is_single(nodes):
                numbers: dict[object, int] = {}
                each = [numbers.setdefault(same_place(node), len(numbers)) for node in nodes]
                marks.append(np.array(each)[self.piece])
        arrays = [index for _, _, index in parts if index is not None]
        sizes = {nodes[0].shape[0] for _, nodes, index in parts if index is not None}
        if not marks and len(sizes) == 1 and all(np.array_equal(a, arrays[0]) for a in arrays):
            # Groups are the elements of arrays, also those without observations.
            (self.groups,), self.index = sizes, arrays[0]
            self.first = None
            return
        marks += arrays
        if not marks:
            self.groups, self.index, self.first = 1, np.zeros(self.length, int), np.zeros(1, int)
            return
        _, first, index = np.unique(
            np.stack(marks, 1), axis=0, return_index=True, return_inverse=True
        )
        self.groups, self.index, self.first = len(first), index.reshape(-1), first

    def _nodes(self, nodes: Column) -> Column:
        if is_single(nodes) or self.first is None:
            return nodes[:1]
        return tuple(nodes[i] for i in self.piece[self.first])

    def _block(self, nodes: Column, width: int, index: np.ndarray | None) -> RegressionBlock:
        elements = index
        if index is not None:
            elements = np.arange(self.groups) if self.first is None else index[self.first]
        return RegressionBlock(self._nodes(nodes), width, elements)

    @property
    def gains(self) -> bool:
        """Whether the compressed form has few enough rows."""
        few = self.length >= LEAST_GAIN * self.groups * self.width > 0
        return few and (self.groups == 1 or self.width <= LARGEST_GROUP)

    @property
    def cost(self) -> int:
        """The number of products that the density takes."""
        return self.groups * self.width * (self.width + 1)


def _kinds(nodes: tuple[Data, ...]) -> list[tuple[tuple[int, ...], np.dtype]]:
    return [(node.shape, node.dtype) for node in nodes]


def _factorise(
    likelihoods: Sequence[Distribution], design: _Design, weights: Any
) -> Compressed | None:
    values = [node.target.value.reshape(-1) for node in likelihoods]  # type: ignore[union-attr]
    right = np.concatenate(values) - design.form.offset
    rows = np.concatenate([design.matrix, right[:, None]], axis=1)
    if not np.all(np.isfinite(rows)):
        return None
    if weights is not None:
        rows = rows * weights[:, None]
    factor, right, rest, counts = _triangular(rows, design.index, design.groups)
    if design.sd is None or len(design.sd) == 1:
        rest, counts = rest.sum(keepdims=True), counts.sum(keepdims=True)
    log_scale = np.asarray(0.0 if weights is None else -np.sum(np.log(weights)))
    # The type in which the plain form computes.
    first = likelihoods[0]
    kinds = [
        n.dtype for n in (first.target, *first.parents) if n is not None and n.dtype.kind == "f"
    ]
    dtype = np.result_type(*kinds) if kinds else np.dtype(float)
    arrays = (Data(array.astype(dtype)) for array in (factor, right, rest, counts, log_scale))
    return Compressed(tuple(likelihoods), design.blocks, design.sd, *arrays)


def _triangular(
    design: np.ndarray, index: np.ndarray, groups: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The triangular factor, right side, remaining squares and size of each group."""
    width = design.shape[1] - 1
    factor = np.zeros((groups, width, width))
    right = np.zeros((groups, width))
    remaining_squares = np.zeros(groups)
    order = np.argsort(index, kind="stable")
    bounds = np.searchsorted(index[order], np.arange(groups + 1))
    for j in range(groups):
        rows = design[order[bounds[j] : bounds[j + 1]]]
        if not len(rows):
            continue
        # The last column of R holds Q'y, and below it the norm of the remainder.
        triangle = np.linalg.qr(rows, mode="r")
        rows_kept = min(len(triangle), width)
        factor[j, :rows_kept] = triangle[:rows_kept, :width]
        right[j, :rows_kept] = triangle[:rows_kept, width]
        remaining_squares[j] = np.sum(triangle[width:, width] ** 2)
    return factor, right, remaining_squares, np.diff(bounds).astype(float)
