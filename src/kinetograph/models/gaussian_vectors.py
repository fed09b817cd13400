"""Unknown vectors that are jointly normal given other unknowns.

    written as a value             f ~ kg.multivariate_normal(m, K),  h ~ kg.ar(phi, sd, 100)
    written by standard numbers    f = m + kg.cholesky(K) @ z,  b = (z @ L.T) * sd
    written by normal steps        f = m + sd * kg.cumsum(z),  f = kg.cumsum(kg.normal(m, sd, 100))

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
from ..graph.operations.reductions import CUMULATIVE
from ..graph.operations.shaping import TRANSPOSE
from .gaussian_laws import DenseLaw, ElementwiseLaw, SumLaw
from .hierarchies import ScaledUnknown, is_real, products
from .normal_observations import NormalData, line_of, normal_data
from .vector_laws import LAWS, signed, usable

if TYPE_CHECKING:
    from .model import Model

__all__ = ["GaussianVector", "gaussian_vectors"]

_MULTIPLY, _ADD = ELEMENTWISE["multiply"], ELEMENTWISE["add"]
_CUMSUM = CUMULATIVE["cumsum"]
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
    markov: bool = False  # whether each element depends on the one before it only

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
    needed = set(model.density.nodes)
    for node, uses in users.items():  # results that are only reported do not count
        users[node] = [use for use in uses if use in needed] or uses
    unknowns = set(model.density.unknowns)
    scaled = {product.unknown: product for product in products(model)}
    sums = [n for n in model.density.nodes if isinstance(n, Apply) and n.operation is _CUMSUM]
    for unknown in model.density.unknowns:
        vector = _by_value(unknown, users) or _by_numbers(unknown, users)
        vector = vector or _by_steps(unknown, sums, users)
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
    found = LAWS.get(follows.family.key)
    if found is None:
        return None
    names, law = found
    parameters = tuple(follows.arguments[name] for name in names)
    if follows.family.key == "ar" and parameters[0].shape[-1] != 1:
        return None
    if follows.family.key == "multivariate_normal" and not _is_small(unknown.shape):
        return None
    markov = follows.family.key != "multivariate_normal"
    f, location = _sum(unknown, unknown, users)
    return GaussianVector(unknown, False, parameters, law, f, location, markov=markov)


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


def _by_steps(
    unknown: Variable, sums: list[Apply], users: dict[Node, list[Apply]]
) -> GaussianVector | None:
    """Independent normal steps, of which the density needs the running sum."""
    follows = unknown.distribution
    if follows is None or follows.family.key != "normal" or not is_real(unknown):
        return None
    for total in sums:
        axis, flat = total.attributes["axis"], total.attributes["flat"]
        (steps,) = total.parents
        line = None if flat or steps.shape != unknown.shape else line_of(steps, unknown)
        if line is not None and unknown not in ancestors(line.nodes):
            break
    else:
        return None
    columns = axis == 0 and len(unknown.shape) == 2
    if not (columns or axis == len(unknown.shape) - 1) or unknown.shape[axis] < 2:
        return None
    scaled = next((n for n in users.get(total, ()) if n.operation is _MULTIPLY), None)
    scale = scaled and _other(scaled, total, unknown)
    varies = scale and np.broadcast_shapes(scale.shape, (1,) * len(unknown.shape))[axis] > 1
    end = total if scaled is None or scale is None or varies else scaled
    scale = None if end is total else scale
    mean, sd = (follows.arguments[name] for name in ("mean", "sd"))
    parameters = (mean, sd, *line.nodes, *(() if scale is None else (scale,)))

    def law(shape: tuple[int, ...], *values: Any) -> SumLaw:
        value = dict(zip(parameters, values, strict=True))

        def rows(array: Any) -> Any:
            array = jnp.broadcast_to(array, unknown.shape)
            return array.T if columns else array

        factor = 1.0 if scale is None else value[scale]
        slope = factor * line.slope(value)
        drift = factor * line.constant(value) + slope * value[mean]
        scales = signed(slope * value[sd])
        return SumLaw(*map(rows, (drift, scales, value[mean], usable(value[sd]))))

    f, location = _sum(end, unknown, users)
    return GaussianVector(unknown, columns, parameters, law, f, location, markov=True)


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
        mean, scale = (jnp.broadcast_to(p, shape) for p in (mean, signed(scale)))
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
