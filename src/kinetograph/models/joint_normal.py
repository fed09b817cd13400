"""Unknowns that are jointly normal given scales and data.

    eta = X b + A (s * z) + B (z' L')        coefficients b, effects z of unknown scales s, L

Coefficients and effects have the values f = m + C z with standard normal z, where C depends on
other unknowns, and enter the density through sums with known factors. If the log likelihood were
v'f - f'G f / 2, then

    z | data ~ normal(P^-1 C'(v - G m), P^-1),    P = 1 + C'G C

A member of the block is written by its numbers z or by its values f. The map takes standard normal
numbers u to z = P^-1 C'(v - G m) + R^-T u, where R R' = P. It is one to one for all G and v.

Source   H. Rue, S. Martino, N. Chopin, JRSS B 71 (2009) 319-392, section 2; C. C. Margossian et
         al., NeurIPS 2020.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import block_diag

from ..distributions.variable import Variable
from ..graph.lower import Environment
from ..graph.node import Apply, Node, ancestors
from ..graph.operations.elementwise import ELEMENTWISE
from ..graph.operations.indexing import READS, SLICE
from ..graph.operations.linear_algebra import MATMUL, small_cholesky, triangular_solve
from ..graph.operations.shaping import BROADCAST, CONCATENATE, RESHAPE, STACK, TRANSPOSE
from .discovery import unknowns_above
from .gaussian_vectors import GaussianVector
from .hierarchies import is_real, products
from .shifts import Shift, centred

if TYPE_CHECKING:
    from .model import Model

__all__ = ["JointNormal", "joint_normal"]

MOST = 64  # elements of all members
_LARGEST = 1e12  # of an element of C


class Member(NamedTuple):
    """An unknown of the block."""

    unknown: Variable
    standard: bool  # whether the unknown is z, otherwise f
    nodes: tuple[Node, ...]
    law: Callable[[Environment], tuple[Any, Any]]  # m, and C as a vector (a diagonal) or a matrix


class JointNormal:
    """A block of unknowns, and its map.

    Information about the block is an array of shape (p + 1, p): G, and below it v. It is not used
    if its first number is negative.
    """

    def __init__(self, members: tuple[Member, ...], slices: Mapping[Variable, slice]) -> None:
        self.members = members
        self.unknowns = tuple(member.unknown for member in members)
        self.nodes = tuple(node for member in members for node in member.nodes)
        ranges = [slices[unknown] for unknown in self.unknowns]
        self.places = np.concatenate([np.arange(r.start, r.stop) for r in ranges])
        sizes = [r.stop - r.start for r in ranges]
        self.ends = np.cumsum(sizes)[:-1].tolist()
        self.standard = np.repeat([member.standard for member in members], sizes)

    @property
    def size(self) -> int:
        """The number of elements."""
        return len(self.places)

    @cached_property
    def written(self) -> np.ndarray:
        """The information of a block as the model has it."""
        blank = np.zeros((self.size + 1, self.size))
        blank[0, 0] = -1.0
        return blank

    def law(self, environment: Environment) -> tuple[Any, Any]:
        """m and C of the block; C is a vector if it is diagonal."""
        means, factors = zip(*(m.law(environment) for m in self.members), strict=True)
        if all(jnp.ndim(factor) == 1 for factor in factors):
            factor = jnp.concatenate(factors)
        else:
            factor = block_diag(*(jnp.diag(f) if jnp.ndim(f) == 1 else f for f in factors))
        limited = jnp.clip(jnp.where(jnp.isfinite(factor), factor, 0.0), -_LARGEST, _LARGEST)
        mean = jnp.concatenate(means)
        return jnp.where(jnp.isfinite(mean), mean, 0.0), limited

    def spread(self, u: Any, information: Any, environment: Environment) -> tuple[Any, Any]:
        """The unknowns of u, with the logarithm of the Jacobian."""
        mean, factor = self.law(environment)
        root, shift = _posterior(mean, factor, information)
        z = _solved(root, shift + u, transposed=True)
        log_size = -jnp.sum(jnp.log(jnp.diagonal(root)))
        diagonal = factor if factor.ndim == 1 else jnp.diagonal(factor)
        by_value = jnp.where(self.standard, 1.0, _usable(diagonal))
        value = mean + _times(factor, z)
        return jnp.where(self.standard, z, value), log_size + jnp.sum(jnp.log(jnp.abs(by_value)))

    def gathered(self, x: Any, information: Any, environment: Environment) -> Any:
        """u of the unknowns."""
        mean, factor = self.law(environment)
        root, shift = _posterior(mean, factor, information)
        return root.T @ self._numbers(x, mean, factor) - shift

    def information(self, x: Any, gradient: Any, curvature: Any, environment: Environment) -> Any:
        """G and v at a point of the block.

        `gradient` and `curvature` (minus the matrix of second derivatives) are those of the log
        density with respect to x. Negative eigenvalues of G become 0.
        """
        mean, factor = self.law(environment)
        c = jnp.diag(factor) if factor.ndim == 1 else factor
        identity = jnp.eye(self.size, dtype=x.dtype)
        z = self._numbers(x, mean, factor)
        # In units of z, in which the prior has the curvature 1.
        units = jnp.where(self.standard[:, None], identity, c)
        likelihood = units.T @ curvature @ units - identity
        slope = units.T @ gradient + z
        inverse = triangular_solve(c, identity)
        g = inverse.T @ likelihood @ inverse
        values, vectors = jnp.linalg.eigh((g + g.T) / 2)
        g = (vectors * jnp.maximum(values, 0.0)) @ vectors.T
        v = inverse.T @ slope + g @ (mean + c @ z)
        return jnp.concatenate([g, v[None]])

    def _numbers(self, x: Any, mean: Any, factor: Any) -> Any:
        """z of the unknowns."""
        if factor.ndim == 1:
            return jnp.where(self.standard, x, (x - mean) / _usable(factor))
        identity = jnp.eye(self.size, dtype=x.dtype)
        units = jnp.where(self.standard[:, None], identity, factor)  # members do not mix
        return _solved(units, jnp.where(self.standard, x, x - mean))


def _usable(scale: Any) -> Any:
    return jnp.where(scale == 0, 1.0, scale)


def _times(factor: Any, vector: Any) -> Any:
    return factor * vector if factor.ndim == 1 else factor @ vector


def _solved(lower: Any, right: Any, *, transposed: bool = False) -> Any:
    if transposed:
        return jax.lax.linalg.triangular_solve(
            lower, right[:, None], left_side=True, lower=True, transpose_a=True
        )[:, 0]
    return triangular_solve(lower, right[:, None])[:, 0]


def _posterior(mean: Any, factor: Any, information: Any) -> tuple[Any, Any]:
    """R, and R^-1 C'(v - G m)."""
    g, v = information[:-1], information[-1]
    identity = jnp.eye(len(v), dtype=v.dtype)
    if factor.ndim == 1:
        precision = identity + factor[:, None] * g * factor
        right = factor * (v - g @ mean)
    else:
        precision = identity + factor.T @ g @ factor
        right = factor.T @ (v - g @ mean)
    root = small_cholesky(precision)
    return root, _solved(root, right)


def joint_normal(
    model: "Model", shifts: Mapping[Variable, Shift], vectors: Mapping[Variable, GaussianVector]
) -> JointNormal | None:
    """The block of a model, if its effects and coefficients move together.

    `shifts` and `vectors` are the unknowns whose own law depends on other unknowns. Where each
    coefficient is the location of such an unknown, the maps of these unknowns are enough.
    """
    if model.density.loops:
        return None
    members = {member.unknown: (member, f) for member, f in _members(model, shifts, vectors)}
    follows = [u.distribution for u in model.density.unknowns if u.distribution is not None]
    laws = set(ancestors([node for distribution in follows for node in distribution.parents]))
    maps = set(ancestors([node for member, _ in members.values() for node in member.nodes]))
    users: dict[Node, list[Apply]] = {}
    for node in model.density.nodes:
        if isinstance(node, Apply):
            for parent in dict.fromkeys(node.parents):
                users.setdefault(parent, []).append(node)
    kept = tuple(  # no map and no law of an unknown depends on a member
        member
        for unknown, (member, f) in members.items()
        if unknown not in laws and unknown not in maps and _has_known_factors(f, users)
    )
    coefficients = [member.unknown for member in kept if not unknowns_above(member.nodes)]
    each = (*(s.location for s in shifts.values()), *(v.location for v in vectors.values()))
    locations = [location for location in each if location is not None]
    apart = set(coefficients).difference(ancestors(locations))
    fits = len(coefficients) < len(kept) and sum(member.unknown.size for member in kept) <= MOST
    return JointNormal(kept, model.density.slices) if apart and fits else None


def _members(
    model: "Model", shifts: Mapping[Variable, Shift], vectors: Mapping[Variable, GaussianVector]
) -> Iterator[tuple[Member, Node]]:
    """The unknowns that may be members, and the nodes of their values."""
    made = {product.unknown: product.node for product in products(model)}
    for unknown in model.density.unknowns:
        vector, shift = vectors.get(unknown), shifts.get(unknown)
        if vector is not None:
            follows = unknown.distribution
            assert follows is not None
            if vector.data is None and follows.family.key not in ("ar", "random_walk"):
                standard = not unknowns_above(follows.parents)
                yield Member(unknown, standard, vector.parameters, _of_vector(vector)), vector.f
            continue
        known = centred(unknown) if shift is None and is_real(unknown) else None
        shift = shift or known
        if shift is None or not is_real(unknown):
            continue
        if shift.centred:
            yield Member(unknown, False, shift.nodes, _of_shift(unknown, shift)), unknown
        else:
            scale = shift._replace(location=None)
            yield Member(unknown, True, scale.nodes, _of_shift(unknown, scale)), made[unknown]


def _of_vector(vector: GaussianVector) -> Callable[[Environment], tuple[Any, Any]]:
    order = vector.flat(np.arange(vector.size).reshape(vector.shape))

    def law(environment: Environment) -> tuple[Any, Any]:
        found = vector.law_of(vector.shape, *(environment[node] for node in vector.parameters))
        mean = vector.flat(jnp.broadcast_to(found.mean, vector.shape))
        if hasattr(found, "scales"):
            return mean, vector.flat(jnp.broadcast_to(found.scales, vector.shape))
        n = vector.shape[-1]
        factors = jnp.broadcast_to(found.factor, (*vector.shape, n)).reshape(-1, n, n)
        matrix = block_diag(*factors)
        return mean, matrix[order][:, order]

    return law


def _of_shift(unknown: Variable, shift: Shift) -> Callable[[Environment], tuple[Any, Any]]:
    def law(environment: Environment) -> tuple[Any, Any]:
        def flat(node: Node | None) -> Any:
            value = 0.0 if node is None else environment[node]
            shape = unknown.shape if np.ndim(value) else (unknown.size,)
            return jnp.broadcast_to(value, shape).reshape(-1).astype(unknown.dtype)

        scale = flat(shift.scale)
        if shift.centred:
            tiny = jnp.finfo(scale.dtype).tiny
            fits = (jnp.abs(scale) >= tiny) & jnp.isfinite(scale)
            scale = jnp.where(fits, jnp.abs(scale), 1.0)
        return flat(shift.location), scale

    return law


def _has_known_factors(f: Node, users: Mapping[Node, list[Apply]]) -> bool:
    """Whether sums and products with f have no other unknown factor."""
    waiting, seen = [f], {f}
    while waiting:
        node = waiting.pop()
        for user in users.get(node, ()):
            others = [parent for parent in user.parents if parent is not node]
            if user.operation in _PRODUCTS and unknowns_above(others):
                return False
            if user.operation in _LINEAR and user not in seen:
                seen.add(user)
                waiting.append(user)
    return True


_PRODUCTS = {ELEMENTWISE["multiply"], ELEMENTWISE["divide"], MATMUL}
_SUMS = {ELEMENTWISE[name] for name in ("add", "subtract", "negative")}
_MOVES = {*READS, SLICE, RESHAPE, TRANSPOSE, BROADCAST, STACK, CONCATENATE}
_LINEAR = {*_PRODUCTS, *_SUMS, *_MOVES}
