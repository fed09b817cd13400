"""The members of the joint block of a model.

They are coefficients, whose distributions have known parameters, and effects, whose scales are
unknown, if they enter the density through sums and products with known factors.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import block_diag

from ..distributions.variable import Variable
from ..graph.lower import Environment
from ..graph.node import Apply, Node, ancestors
from ..graph.operations.linear_algebra import MATMUL
from .common_scales import LINEAR, PRODUCTS, SUMS, common_scales, users_among
from .discovery import unknowns_above
from .hierarchies import is_real, products
from .joint_normal import JointNormal, Member
from .normal_vector import GaussianVector
from .shifts import Shift, centred

if TYPE_CHECKING:
    from .model import Model

__all__ = ["joint_normal"]

MOST = 128  # elements of all members


def joint_normal(
    model: "Model", shifts: Mapping[Variable, Shift], vectors: Mapping[Variable, GaussianVector]
) -> JointNormal | None:
    """The block of a model, if its effects and coefficients move together.

    `shifts` and `vectors` are the unknowns whose own law depends on other unknowns. Where each
    coefficient is the location of such an unknown, and each effect enters the data by itself, the
    maps of these unknowns are enough.
    """
    if model.density.loops:
        return None
    distributions = [u.distribution for u in model.density.unknowns if u.distribution is not None]
    laws = set(ancestors([node for distribution in distributions for node in distribution.parents]))
    users = users_among(model.density.nodes)
    pairs = _members(model, shifts, vectors, users)
    members = {member.unknown: (member, f) for member, f in pairs}
    maps = set(ancestors([node for member, _ in members.values() for node in member.nodes]))
    fitting = tuple(  # no map and no law of an unknown depends on a member
        member
        for unknown, (member, f) in members.items()
        if unknown not in laws and unknown not in maps and _has_known_factors(f, users)
    )
    coefficients = {member.unknown for member in fitting if not unknowns_above(member.nodes)}
    effects = [member.unknown for member in fitting if member.unknown not in coefficients]
    each = (*(s.location for s in shifts.values()), *(v.location for v in vectors.values()))
    locations = [location for location in each if location is not None]
    apart = coefficients.difference(ancestors(locations))
    needed = apart or any(_is_mixed(unknown, users) for unknown in effects)
    fits = effects and sum(member.unknown.size for member in fitting) <= MOST
    return JointNormal(fitting, model.density.slices) if needed and fits else None


def _members(
    model: "Model",
    shifts: Mapping[Variable, Shift],
    vectors: Mapping[Variable, GaussianVector],
    users: Mapping[Node, list[Apply]],
) -> Iterator[tuple[Member, Node]]:
    """The unknowns that may be members, and the nodes of their values."""
    by_unknown = {product.unknown: product for product in products(model)}
    for unknown in model.density.unknowns:
        vector, shift = vectors.get(unknown), shifts.get(unknown)
        if vector is not None:
            distribution = unknown.distribution
            assert distribution is not None
            if vector.data is None and not vector.markov:
                standard = not unknowns_above(distribution.parents)
                yield Member(unknown, standard, vector.parameters, _of_vector(vector)), vector.f
            continue
        location = centred(unknown) if shift is None and is_real(unknown) else None
        shift = shift or location
        if shift is None or not is_real(unknown):
            continue
        if shift.centred:
            law = _of_elements(unknown, shift.location, (shift.scale,))
            yield Member(unknown, False, shift.nodes, law), unknown
        else:
            product = by_unknown.get(unknown)
            value, scales = common_scales(unknown, product.node if product else unknown, users)
            scales = (product.scale, *scales) if product else scales
            yield Member(unknown, True, scales, _of_elements(unknown, None, scales)), value


def _of_vector(vector: GaussianVector) -> Callable[[Environment], tuple[Any, Any]]:
    order = vector.flat(np.arange(vector.size).reshape(vector.shape))

    def law(environment: Environment) -> tuple[Any, Any]:
        vector_law = vector.law_of(vector.shape, *(environment[node] for node in vector.parameters))
        mean = vector.flat(jnp.broadcast_to(vector_law.mean, vector.shape))
        if hasattr(vector_law, "scales"):
            return mean, vector.flat(jnp.broadcast_to(vector_law.scales, vector.shape))
        n = vector.shape[-1]
        factors = jnp.broadcast_to(vector_law.factor, (*vector.shape, n)).reshape(-1, n, n)
        matrix = block_diag(*factors)
        return mean, matrix[order][:, order]

    return law


def _of_elements(
    unknown: Variable, location: Node | None, scales: tuple[Node, ...]
) -> Callable[[Environment], tuple[Any, Any]]:
    """The law of elements; those with a location are written by value."""

    def law(environment: Environment) -> tuple[Any, Any]:
        def flat(value: Any) -> Any:
            return jnp.broadcast_to(value, unknown.shape).reshape(-1).astype(unknown.dtype)

        scale = flat(math.prod(environment[node] for node in scales))
        if location is None:
            return jnp.zeros_like(scale), scale
        fits = (jnp.abs(scale) >= jnp.finfo(scale.dtype).tiny) & jnp.isfinite(scale)
        return flat(environment[location]), jnp.where(fits, jnp.abs(scale), 1.0)

    return law


def _linear_uses(f: Node, users: Mapping[Node, list[Apply]]) -> Iterator[tuple[Node, Apply]]:
    """The operations that are linear in f, each with its operand."""
    waiting, visited = [f], {f}
    while waiting:
        node = waiting.pop()
        for user in users.get(node, ()):
            if user.operation in LINEAR:
                yield node, user
                if user not in visited:
                    visited.add(user)
                    waiting.append(user)


def _has_known_factors(f: Node, users: Mapping[Node, list[Apply]]) -> bool:
    """Whether sums and products with f have no other unknown factor."""
    products = [(node, user) for node, user in _linear_uses(f, users) if user.operation in PRODUCTS]
    factors = [parent for node, user in products for parent in user.parents if parent is not node]
    return not unknowns_above(factors)


def _is_mixed(f: Node, users: Mapping[Node, list[Apply]]) -> bool:
    """Whether elements of f are summed up.

    This is by matrix products, or as in f[i, 0] + x * f[i, 1].
    """
    uses = [user for _, user in _linear_uses(f, users)]
    linear = {f, *uses}
    sums = (user for user in uses if user.operation in SUMS)
    return any(user.operation is MATMUL for user in uses) or any(
        sum(parent in linear for parent in user.parents) > 1 for user in sums
    )
