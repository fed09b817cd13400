"""Normal likelihoods whose mean is linear, compressed to a few numbers before sampling.

Where the mean of a normal likelihood is linear in unknown quantities with known coefficients,

    mean_n = o_n + sum_k C_nk theta_k + sum_g D_ng phi_g[j(n)],

and its sd is one number (or known), the data enter only through the triangular factor of each
group's coefficients. With Z_j the rows of (C, D) in group j and Z_j = Q_j R_j,

    sum_n (y_n - mean_n)**2 = rest + sum_j |R_j psi_j - b_j|**2,    b_j = Q_j' (y_j - o_j),

psi_j = (theta, phi[j]). R_j has at most as many rows as psi_j has elements, so the cost of the log
density no longer grows with the number of observations, and indexing by group disappears from the
loop. The identity is exact, and the factorisation is done once, on the host: no cancellation.
"""

from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np

from ...distributions.normal import HALF_LOG_2PI, NORMAL
from ...distributions.variable import Distribution
from ...graph.lower import Environment
from ...graph.node import Data, Node
from .linear_form import LinearForm, NotLinear, Reader

__all__ = ["Compressed", "compress"]

LARGEST_GROUP = 16  # columns a group: beyond that the written-out products grow too long
LEAST_GAIN = 2  # observations a compressed row: below it nothing is gained


@dataclass(frozen=True, eq=False)
class Compressed:
    """A normal likelihood in compressed form: a term of the log density.

    `factor` has shape (groups, rows, columns), `right` (groups, rows); `rest` is what is left of
    the sum of squares, `log_scale` the sum of the logarithms of known sds.
    """

    node: Distribution
    scalars: tuple[Node, ...]
    vectors: tuple[Node, ...]
    grouped: tuple[Node, ...]
    sd: Node | None
    count: int
    factor: Data
    right: Data
    rest: Data
    log_scale: Data

    @property
    def derived(self) -> tuple[Data, ...]:
        """The arrays computed from the data: arguments of the program, as data are."""
        return self.factor, self.right, self.rest, self.log_scale

    def fits(self, other: "Compressed | None") -> bool:
        """Whether another one differs in the values of its data alone."""
        if other is None:
            return False
        own, its = (
            (c.node, c.scalars, c.vectors, c.grouped, c.sd, c.count, _kinds(c.derived))
            for c in (self, other)
        )
        return own == its

    def needs(self) -> tuple[Node, ...]:
        """The nodes whose tensors `total` needs."""
        sd = () if self.sd is None else (self.sd,)
        return (*self.scalars, *self.vectors, *self.grouped, *sd)

    def total(self, environment: Environment) -> Any:
        """The log likelihood of all observations."""
        factor, right, rest, log_scale = (environment[node] for node in self.derived)
        shared = [environment[node].reshape(()) for node in self.scalars]
        if not self.grouped:
            squares = self._dense(factor[0], right[0], shared, environment)
        else:
            for node in self.vectors:
                shared.extend(environment[node][i] for i in range(node.shape[0]))
            columns = shared + [environment[node] for node in self.grouped]
            squares = jnp.zeros((), factor.dtype)
            for row in range(factor.shape[1]):
                residual = -right[:, row]
                for k in range(row, len(columns)):  # R is upper triangular
                    residual = residual + factor[:, row, k] * columns[k]
                squares = squares + jnp.sum(residual * residual)
        log_norm = self.count * HALF_LOG_2PI + log_scale
        if self.sd is None:
            return -0.5 * (rest + squares) - log_norm
        sd = environment[self.sd].reshape(())
        return -0.5 * (rest + squares) / (sd * sd) - self.count * jnp.log(sd) - log_norm

    def _dense(self, factor: Any, right: Any, shared: list[Any], environment: Environment) -> Any:
        parts = [jnp.stack(shared)] if shared else []
        parts += [environment[node] for node in self.vectors]
        residual = factor @ jnp.concatenate(parts) - right
        return jnp.sum(residual * residual)


def compress(likelihood: Distribution) -> Compressed | None:
    """The compressed form of a likelihood, or None where it has none or would gain nothing."""
    target = likelihood.target
    if likelihood.family is not NORMAL or not isinstance(target, Data) or len(target.shape) != 1:
        return None
    length = target.shape[0]
    mean, sd = likelihood.parents
    reader = Reader(length)
    try:
        weights = None
        if reader.known(sd):
            spread = np.broadcast_to(reader.value(sd), (length,))
            if not np.all(spread > 0):
                return None
            weights = 1.0 / spread
        elif sd.size != 1:
            return None
        form = reader.read(mean)
    except NotLinear:
        return None
    return _factorise(likelihood, target, form, weights, None if weights is not None else sd)


def _kinds(nodes: tuple[Data, ...]) -> list[tuple[tuple[int, ...], np.dtype]]:
    return [(node.shape, node.dtype) for node in nodes]


def _column(coefficient: Any, length: int) -> np.ndarray:
    return np.broadcast_to(np.asarray(coefficient, float), (length,))


def _factorise(
    likelihood: Distribution, target: Data, form: LinearForm, weights: Any, sd: Node | None
) -> Compressed | None:
    length = target.shape[0]
    indices = [index for _, _, index in form.grouped]
    if any(not np.array_equal(index, indices[0]) for index in indices[1:]):
        return None
    sizes = {node.shape[0] for _, node, _ in form.grouped}
    if len(sizes) > 1:
        return None
    columns = [_column(c, length) for c, _ in form.scalars]
    for matrix, _ in form.vectors:
        columns += list(matrix.T)
    columns += [_column(c, length) for c, _, _ in form.grouped]
    groups = sizes.pop() if sizes else 1
    width = len(columns)
    if not width or length < LEAST_GAIN * groups * width:
        return None
    if form.grouped and width > LARGEST_GROUP:
        return None
    design = np.stack([*columns, target.value - _column(form.offset, length)], axis=1)
    if not np.all(np.isfinite(design)):
        return None
    if weights is not None:
        design = design * weights[:, None]
    index = indices[0] if indices else np.zeros(length, int)
    factor, right, rest = _triangular(design, index, groups)
    # The type in which the plain form computes.
    kinds = [n.dtype for n in (target, *likelihood.parents) if n.dtype.kind == "f"]
    dtype = np.result_type(*kinds) if kinds else np.dtype(float)
    return Compressed(
        likelihood,
        tuple(node for _, node in form.scalars),
        tuple(node for _, node in form.vectors),
        tuple(node for _, node, _ in form.grouped),
        sd,
        length,
        Data(factor.astype(dtype)),
        Data(right.astype(dtype)),
        Data(np.asarray(rest, dtype)),
        Data(np.asarray(0.0 if weights is None else -np.sum(np.log(weights)), dtype)),
    )


def _triangular(
    design: np.ndarray, index: np.ndarray, groups: int
) -> tuple[np.ndarray, np.ndarray, float]:
    """Each group's triangular factor, right side, and the sum of squares that is left."""
    width = design.shape[1] - 1
    factor = np.zeros((groups, width, width))
    right = np.zeros((groups, width))
    rest = 0.0
    order = np.argsort(index, kind="stable")
    bounds = np.searchsorted(index[order], np.arange(groups + 1))
    for j in range(groups):
        rows = design[order[bounds[j] : bounds[j + 1]]]
        if not len(rows):
            continue
        # The last column of R holds Q'y, and below it the norm of the remainder.
        triangle = np.linalg.qr(rows, mode="r")
        kept = min(len(triangle), width)
        factor[j, :kept] = triangle[:kept, :width]
        right[j, :kept] = triangle[:kept, width]
        rest += float(np.sum(triangle[width:, width] ** 2))
    return factor, right, rest
