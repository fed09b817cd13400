"""Unknown vectors that are jointly normal given other unknowns.

    written as a value             f ~ kg.multivariate_normal(m, K),  h ~ kg.ar(phi, sd, 100)
    written by standard numbers    f = m + kg.cholesky(K) @ z,  b = (z @ L.T) * sd
                                   b = z @ (kg.diag(sd) @ L).T
    written by normal steps        f = m + sd * kg.cumsum(z),  f = kg.cumsum(kg.normal(m, sd, 100))

A sum with the vector, such as m + b, has the numbers that the data are about.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from ..distributions.support import CholeskyCorrelation, CholeskyCovariance
from ..distributions.variable import Variable
from ..graph.node import FORM, Apply, Node, ancestors
from ..graph.operations.elementwise import ELEMENTWISE
from ..graph.operations.linear_algebra import CHOLESKY, MATMUL
from ..graph.operations.shaping import DIAG, TRANSPOSE
from .common_scales import users_among
from .gaussian_laws import DenseLaw, ElementwiseLaw
from .hierarchies import ScaledUnknown, is_real, is_standard_normal, products
from .linear_systems import linear_systems
from .normal_observations import normal_data
from .normal_vector import GaussianVector, Users, used
from .running_sums import running_sums, summed_steps
from .series_terms import series_terms
from .vector_laws import LAWS, signed

if TYPE_CHECKING:
    from .model import Model

__all__ = ["gaussian_vectors"]

_MULTIPLY, _ADD = ELEMENTWISE["multiply"], ELEMENTWISE["add"]
MOST_NUMBERS = 200_000  # of the factors of all vectors of an unknown


def gaussian_vectors(model: "Model") -> Iterator[GaussianVector]:
    """The vectors whose law depends on unknowns."""
    terms = tuple(series_terms(model.density))
    of_terms = ancestors([*model.density.nodes, *(n for t in terms for n in t.plain_needs())])
    nodes = ancestors([*model.component.nodes, *of_terms])
    users = users_among(nodes)
    unknowns = set(model.density.unknowns)
    scaled = {product.unknown: product for product in products(model)}
    sums = running_sums(of_terms)
    single: list[Variable] = []  # unknowns with a law of their own
    for unknown in model.density.unknowns:
        vector = _by_value(unknown, users) or _by_numbers(unknown, users)
        vector = vector or summed_steps(unknown, sums, users)
        if vector is not None:
            single.append(unknown)
            if not unknowns.isdisjoint(ancestors(vector.parameters)):
                yield vector._replace(data=normal_data(vector.f, (unknown,), terms))
            continue
        vector = _elements(unknown, scaled.get(unknown), users)
        data = vector and normal_data(vector.f, (unknown,), terms)
        # For data of a known precision, the forms of `Centring.shifts` are as good.
        if vector and data and not unknowns.isdisjoint(ancestors(data.of_precision)):
            yield vector._replace(data=data)
    yield from linear_systems(model, terms, single)


def _by_value(unknown: Variable, users: Users) -> GaussianVector | None:
    """A vector with a distribution of vectors."""
    distribution = unknown.distribution
    if distribution is None or not is_real(unknown) or unknown.shape[-1:] in ((), (0,), (1,)):
        return None
    entry = LAWS.get(distribution.family.key)
    if entry is None:
        return None
    names, law = entry
    parameters = tuple(distribution.arguments[name] for name in names)
    if distribution.family.key == "ar" and parameters[0].shape[-1] != 1:
        return None
    if distribution.family.key == "multivariate_normal" and not _is_small(unknown.shape):
        return None
    markov = distribution.family.key != "multivariate_normal"
    f, location = used(_ADD, unknown, unknown, users)
    return GaussianVector(unknown, False, parameters, law, f, location, markov=markov)


def _by_numbers(unknown: Variable, users: Users) -> GaussianVector | None:
    """Standard normal numbers that are multiplied with a Cholesky factor."""
    if not is_standard_normal(unknown) or not 1 <= len(unknown.shape) <= 2:
        return None
    product = next((n for n in users.get(unknown, ()) if n.operation is MATMUL), None)
    if product is None or product.shape != unknown.shape:
        return None
    left, right = product.parents
    rows = left is unknown
    columns = not rows and len(unknown.shape) == 2
    factor = right if rows else left
    shape = unknown.shape[::-1] if columns else unknown.shape
    if not _is_triangular(factor, upper=rows) or not _is_small(shape) or shape[-1] < 2:
        return None
    end, scale = used(_MULTIPLY, product, unknown, users)
    parameters: tuple[Node, ...] = (factor,) if scale is None else (factor, scale)

    def law(shape: tuple[int, ...], factor: Any, scale: Any = 1.0) -> DenseLaw:
        scale = jnp.broadcast_to(scale, unknown.shape)
        scale = scale.T if columns else scale
        factor = factor.T if rows else factor
        return DenseLaw(jnp.zeros(shape, factor.dtype), factor * scale[..., None], True)

    return GaussianVector(unknown, columns, parameters, law, *used(_ADD, end, unknown, users))


def _elements(
    unknown: Variable, product: ScaledUnknown | None, users: Users
) -> GaussianVector | None:
    """An unknown with independent normal elements."""
    distribution = unknown.distribution
    if not unknown.shape or distribution is None or distribution.family.key != "normal":
        return None
    f: Node | None
    parameters: tuple[Node, ...]
    if product is None:
        f, standard = unknown, False
        mean, scale = (distribution.arguments[name] for name in ("mean", "sd"))
        parameters = (mean, scale)
    else:
        f, standard = product.node, True
        if product.factor is not unknown or not is_standard_normal(unknown):
            return None
        parameters = (product.scale,)
        if product.location is not None:
            parameters = (product.location, product.scale)
            f = next((u for u in users.get(f, ()) if _adds(u, product.location)), None)
    if f is None or not is_real(unknown) or f.shape != unknown.shape:
        return None

    def law(shape: tuple[int, ...], *parameters: Any) -> ElementwiseLaw:
        mean, scale = parameters if len(parameters) == 2 else (0.0, *parameters)
        mean, scale = (jnp.broadcast_to(p, shape) for p in (mean, signed(scale)))
        return ElementwiseLaw(mean, scale, standard)

    return GaussianVector(unknown, False, parameters, law, f, joint=False)


def _adds(use: Apply, addend: Node) -> bool:
    return use.operation is _ADD and addend in use.parents


def _is_triangular(node: Node, *, upper: bool) -> bool:
    """Whether a matrix is a triangular product of Cholesky factors."""
    if isinstance(node, Variable):
        return not upper and isinstance(node.support, (CholeskyCorrelation, CholeskyCovariance))
    if len(node.shape) != 2 or not isinstance(node, Apply):
        return False
    parents = [parent for parent in node.parents if parent.shape == node.shape]
    if node.operation is TRANSPOSE:
        return _is_triangular(node.parents[0], upper=not upper)
    if node.operation is MATMUL:
        dense = [parent for parent in node.parents if not _is_diagonal(parent)]
        return bool(dense) and all(_is_triangular(parent, upper=upper) for parent in dense)
    if node.operation in (FORM, _MULTIPLY):
        return any(_is_triangular(parent, upper=upper) for parent in parents)
    return node.operation is CHOLESKY and not upper


def _is_diagonal(node: Node) -> bool:
    return isinstance(node, Apply) and node.operation is DIAG and node.attributes["k"] == 0


def _is_small(shape: tuple[int, ...]) -> bool:
    return int(np.prod(shape)) * shape[-1] <= MOST_NUMBERS
