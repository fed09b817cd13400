"""Unknown vectors that are jointly normal given other unknowns.

    written as a value             f ~ kg.multivariate_normal(m, K),  h ~ kg.ar(phi, sd, 100)
    written by standard numbers    f = m + kg.cholesky(K) @ z,  b = (z @ L.T) * sd

A sum with the vector, such as m + b, has the numbers that the data are about.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from ..distributions.support import CholeskyCorrelation, CholeskyCovariance
from ..distributions.variable import Variable
from ..graph.lower import Environment
from ..graph.node import FORM, Apply, Data, Node, ancestors
from ..graph.operations.elementwise import ELEMENTWISE
from ..graph.operations.linear_algebra import CHOLESKY, MATMUL
from ..graph.operations.shaping import TRANSPOSE
from .gaussian_laws import DenseLaw, ElementwiseLaw, MarkovLaw
from .hierarchies import ScaledUnknown, is_real, products
from .normal_observations import NormalData, normal_data

if TYPE_CHECKING:
    from .model import Model

__all__ = ["GaussianVector", "gaussian_vectors"]

_MULTIPLY, _ADD = ELEMENTWISE["multiply"], ELEMENTWISE["add"]
MOST_NUMBERS = 200_000  # of the factors of all vectors of an unknown


class GaussianVector(NamedTuple):
    """An unknown whose vectors are jointly normal."""

    unknown: Variable
    columns: bool  # whether the vectors are columns of the unknown
    parameters: tuple[Node, ...]  # of the law
    law_of: Callable[..., Any]  # the law of the values of the parameters and the shape
    f: Node  # the numbers that the data are about: the vector, or the first sum with it
    location: Node | None = None  # the other addend of the sum
    data: NormalData | None = None  # the data, if all of them are normal and linear in f
    joint: bool = True  # whether the elements depend on each other

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes from which the map is computed."""
        location = () if self.location is None else (self.location,)
        return (*self.parameters, *location, *(() if self.data is None else self.data.nodes))

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the unknown with the vectors along the last axis."""
        shape = self.unknown.shape
        return shape[::-1] if self.columns else shape

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(np.prod(self.shape))

    def rows(self, flat: Any) -> Any:
        """The vectors along the last axis, from the elements of the unknown."""
        array = jnp.reshape(flat, self.unknown.shape)
        return array.T if self.columns else array

    def flat(self, rows: Any) -> Any:
        """The elements of the unknown in their order."""
        return jnp.reshape(rows.T if self.columns else rows, -1)

    def law(self, environment: Environment) -> tuple[Any, Any]:
        """The law, and the location outside of it."""
        law = self.law_of(self.shape, *(environment[node] for node in self.parameters))
        if self.location is None:
            return law, jnp.zeros(self.shape, self.unknown.dtype)
        location = jnp.broadcast_to(environment[self.location], self.unknown.shape)
        return law, location.T if self.columns else location


def gaussian_vectors(model: "Model") -> Iterator[GaussianVector]:
    """The vectors whose law depends on unknowns."""
    nodes = ancestors([*model.component.nodes, *model.density.nodes])
    users: dict[Node, list[Apply]] = {}
    for node in nodes:
        if isinstance(node, Apply):
            for parent in dict.fromkeys(node.parents):
                users.setdefault(parent, []).append(node)
    unknowns = set(model.density.unknowns)
    scaled = {product.unknown: product for product in products(model)}
    for unknown in model.density.unknowns:
        vector = _by_value(unknown, users) or _by_numbers(unknown, users)
        if vector is not None:
            if not unknowns.isdisjoint(ancestors(vector.parameters)):
                yield vector._replace(data=normal_data(vector.f, unknown, model.density.terms))
            continue
        vector = _elements(unknown, scaled.get(unknown), users)
        data = vector and normal_data(vector.f, unknown, model.density.terms)
        # For data of a known precision, the forms of `Centring.shifts` are as good.
        if vector and data and not unknowns.isdisjoint(ancestors(data.of_precision)):
            yield vector._replace(data=data)


def _by_value(unknown: Variable, users: dict[Node, list[Apply]]) -> GaussianVector | None:
    """A vector with a distribution of vectors."""
    follows = unknown.distribution
    if follows is None or not is_real(unknown) or unknown.shape[-1:] in ((), (0,), (1,)):
        return None
    found = _LAWS.get(follows.family.key)
    if found is None:
        return None
    names, law = found
    parameters = tuple(follows.arguments[name] for name in names)
    if follows.family.key == "ar" and parameters[0].shape[-1] != 1:
        return None
    if follows.family.key == "multivariate_normal" and not _is_small(unknown.shape):
        return None
    return GaussianVector(unknown, False, parameters, law, *_sum(unknown, unknown, users))


def _by_numbers(unknown: Variable, users: dict[Node, list[Apply]]) -> GaussianVector | None:
    """Standard normal numbers that are multiplied with a Cholesky factor."""
    if not _is_standard_normal(unknown) or not 1 <= len(unknown.shape) <= 2:
        return None
    product = next((n for n in users.get(unknown, ()) if n.operation is MATMUL), None)
    if product is None or product.shape != unknown.shape:
        return None
    left, right = product.parents
    columns = right is unknown and len(unknown.shape) == 2
    factor: Node | None = left
    if left is unknown:
        factor = _transposed(right)
    shape = unknown.shape[::-1] if columns else unknown.shape
    if factor is None or not _is_lower(factor) or not _is_small(shape) or shape[-1] < 2:
        return None
    scaled = next((n for n in users.get(product, ()) if n.operation is _MULTIPLY), None)
    scale = None
    if scaled is not None:
        scale = _other(scaled, product, unknown)
    end = product if scaled is None or scale is None else scaled
    parameters: tuple[Node, ...] = (factor,) if scale is None else (factor, scale)

    def law(shape: tuple[int, ...], factor: Any, scale: Any = 1.0) -> DenseLaw:
        scale = jnp.broadcast_to(scale, unknown.shape)
        scale = scale.T if columns else scale
        return DenseLaw(jnp.zeros(shape, factor.dtype), factor * scale[..., None], True)

    return GaussianVector(unknown, columns, parameters, law, *_sum(end, unknown, users))


def _elements(
    unknown: Variable, product: ScaledUnknown | None, users: dict[Node, list[Apply]]
) -> GaussianVector | None:
    """An unknown with independent normal elements."""
    follows = unknown.distribution
    if not unknown.shape or follows is None or follows.family.key != "normal":
        return None
    f: Node | None
    parameters: tuple[Node, ...]
    if product is None:
        f, standard = unknown, False
        mean, scale = (follows.arguments[name] for name in ("mean", "sd"))
        parameters = (mean, scale)
    else:
        f, standard = product.node, True
        if product.factor is not unknown or not _is_standard_normal(unknown):
            return None
        parameters = (product.scale,)
        if product.location is not None:
            parameters = (product.location, product.scale)
            f = next((u for u in users.get(f, ()) if _adds(u, product.location)), None)
    if f is None or not is_real(unknown) or f.shape != unknown.shape:
        return None

    def law(shape: tuple[int, ...], *parameters: Any) -> ElementwiseLaw:
        mean, scale = parameters if len(parameters) == 2 else (0.0, *parameters)
        scale = jnp.where(scale < 0, -1.0, 1.0).astype(scale.dtype) * _usable(scale)
        mean, scale = (jnp.broadcast_to(p, shape) for p in (mean, scale))
        return ElementwiseLaw(mean, scale, standard)

    return GaussianVector(unknown, False, parameters, law, f, joint=False)


def _adds(use: Apply, addend: Node) -> bool:
    return use.operation is _ADD and addend in use.parents


def _sum(node: Node, unknown: Variable, users: dict[Node, list[Apply]]) -> tuple[Node, Node | None]:
    """The first sum with a node, and its other addend, if any."""
    use = next((use for use in users.get(node, ()) if use.operation is _ADD), None)
    other = use and _other(use, node, unknown)
    return (node, None) if use is None or other is None else (use, other)


def _other(use: Apply, node: Node, unknown: Variable) -> Node | None:
    """The other operand, if it fits and does not need the unknown."""
    left, right = use.parents
    other = right if left is node else left
    if use.shape != node.shape or unknown in ancestors([other]):
        return None
    return other


def _is_standard_normal(unknown: Variable) -> bool:
    follows = unknown.distribution
    if follows is None or follows.family.key != "normal" or not is_real(unknown):
        return False
    known = [follows.arguments[name] for name in ("mean", "sd")]
    return all(
        isinstance(node, Data) and node.literal and np.all(node.value == value)
        for node, value in zip(known, (0.0, 1.0), strict=True)
    )


def _is_lower(node: Node) -> bool:
    """Whether a matrix is a Cholesky factor, or its product with numbers."""
    if isinstance(node, Variable):
        return isinstance(node.support, (CholeskyCorrelation, CholeskyCovariance))
    if len(node.shape) != 2 or not isinstance(node, Apply):
        return False
    if node.operation is FORM:
        return _is_lower(node.parents[0])
    if node.operation is _MULTIPLY:
        return any(_is_lower(parent) for parent in node.parents)
    return node.operation is CHOLESKY


def _transposed(node: Node) -> Node | None:
    """The matrix whose transpose a node is."""
    transposes = isinstance(node, Apply) and node.operation is TRANSPOSE
    return node.parents[0] if transposes and len(node.shape) == 2 else None


def _is_small(shape: tuple[int, ...]) -> bool:
    return int(np.prod(shape)) * shape[-1] <= MOST_NUMBERS


def _multivariate(shape: tuple[int, ...], mean: Any, factor: Any) -> DenseLaw:
    return DenseLaw(jnp.broadcast_to(mean, shape), factor, False)


def _autoregressive(
    shape: tuple[int, ...], rho: Any, sd: Any, constant: Any, first: Any, first_sd: Any
) -> MarkovLaw:
    return _markov(shape, rho[..., 0], sd, constant, first, first_sd)


def _walk(shape: tuple[int, ...], sd: Any, drift: Any, first: Any, first_sd: Any) -> MarkovLaw:
    return _markov(shape, jnp.ones((), sd.dtype), sd, drift, first, first_sd)


def _markov(
    shape: tuple[int, ...], slope: Any, sd: Any, drift: Any, first: Any, first_sd: Any
) -> MarkovLaw:
    def joined(at_first: Any, later: Any) -> Any:
        at_first = jnp.broadcast_to(at_first, shape[:-1])[..., None]
        later = jnp.broadcast_to(jnp.asarray(later)[..., None], (*shape[:-1], shape[-1] - 1))
        return jnp.concatenate([at_first, later], -1)

    return MarkovLaw(
        joined(jnp.zeros_like(slope, shape=()), slope),
        joined(first, drift),
        joined(_usable(first_sd), _usable(sd)),
    )


def _usable(sd: Any) -> Any:
    """Standard deviations; 1 for 0, inf and NaN.

    The maps are one to one for any positive values.
    """
    fits = (jnp.abs(sd) > jnp.sqrt(jnp.finfo(sd.dtype).tiny)) & jnp.isfinite(sd)
    return jnp.where(fits, jnp.abs(sd), 1.0)


_LAWS: dict[str, tuple[tuple[str, ...], Callable[..., Any]]] = {
    "multivariate_normal": (("mean", "chol"), _multivariate),
    "random_walk": (("sd", "drift", "init_mean", "init_sd"), _walk),
    "ar": (("rho", "sd", "constant", "init_mean", "init_sd"), _autoregressive),
}
