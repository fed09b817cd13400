"""Constraints of a user's own: `kg.Bijector`, as the support of an unknown.

The user's functions are called once, when the unknown is made, with arrays in the place of the free
numbers and of the value. What they give is kept as a graph: it is differentiated, compiled, copied
and saved as any other, and the class is not asked again. Arrays from outside that the functions
read, parameters of the map, are parents of the unknown.
"""

import math
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..distributions.support import Support
from ..graph.array import Array, Computed
from ..graph.errors import ModelError, ShapeError
from ..graph.lower import Environment, Scope, evaluate
from ..graph.node import Data, Node, Placeholder, ancestors
from ..graph.operations.operands import as_node
from ..graph.operations.shaping import as_sizes
from ..graph.precision import FLOAT32, float_dtype, x64
from ..graph.source import place_text

__all__ = ["Bijector", "OwnSupport", "own_support"]

MOST = 20  # free numbers of which the Jacobian is looked at


class Bijector:
    """The base of constraints of your own: x = f(u) for free numbers u.

    A subclass has the methods below, written with arrays and functions of kinetograph; they are
    called when the unknown is made, `kg.variable(bijector=MyBijector(), shape=...)`. The density of
    the unknown is flat in x, so `log_det` enters the density of u.

    Where all that the map depends on is known, it is tried at two points when the unknown is made:
    whether `inverse` gives the free numbers back and, of as many of them as x has elements and at
    most 20, whether `log_det` is that of the derivatives.

    Examples
    --------
    >>> import kinetograph as kg
    >>> class Sinh(kg.Bijector):  # x = sinh(u): real numbers with light tails from heavy ones
    ...     def forward(self, u):
    ...         return kg.sinh(u)
    ...     def inverse(self, x):
    ...         return kg.arcsinh(x)
    ...     def log_det(self, u):
    ...         return kg.log(kg.cosh(u))
    >>> x = kg.variable(bijector=Sinh(), shape=2, name="x")
    >>> term = kg.factor(kg.log_density(kg.cauchy(0, 1), x))
    >>> model = kg.model(x)
    >>> model.transform([0.0, 1.0])["x"].round(3)
    array([0.   , 1.175])
    """

    def forward(self, u: Array) -> Computed:
        """The value of free numbers u, any real ones."""
        raise NotImplementedError(f"{type(self).__name__} has no method forward(u)")

    def inverse(self, x: Array) -> Computed:
        """The free numbers of a value."""
        raise NotImplementedError(f"{type(self).__name__} has no method inverse(x)")

    def log_det(self, u: Array) -> Any:
        """The logarithm of |det df/du|; elements are added up."""
        raise NotImplementedError(f"{type(self).__name__} has no method log_det(u)")

    def free_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of the free numbers of a value of this shape; by default the same."""
        return shape


@dataclass(frozen=True, eq=False)
class OwnSupport(Support):
    """What the map of a user's reaches.

    `image` and `log_det` follow from `free`, `preimage` from `value`, and all of them from `outer`.
    """

    name: str
    free: Node
    image: Node
    log_det: Node
    value: Node
    preimage: Node
    outer: tuple[Node, ...]

    @property
    def results(self) -> tuple[Node, ...]:
        """All that the map computes."""
        return self.image, self.log_det, self.preimage

    @property
    def is_known(self) -> bool:
        """Whether the map depends on data alone."""
        return all(isinstance(n, Data) for n in ancestors(self.outer) if not n.parents)

    def at(self, free: np.ndarray) -> tuple[np.ndarray, float]:
        """The value and the log determinant, of a map that is known."""
        image, log_det = self._found(self.free, free, self.image, self.log_det)
        return image, float(np.sum(log_det))

    def back(self, value: np.ndarray) -> np.ndarray:
        """The free numbers of a value, of a map that is known."""
        return self._found(self.value, value, self.preimage)[0]

    def _found(self, given: Node, value: np.ndarray, *wanted: Node) -> list[np.ndarray]:
        with x64(), np.errstate(all="ignore"):
            environment: Environment = {given: jnp.asarray(value, given.dtype)}
            evaluate(wanted, environment, scope=Scope(eager=True))
            return [np.asarray(environment[node]) for node in wanted]

    def contains(self, value: np.ndarray) -> np.ndarray:
        inside = bool(np.isfinite(value).all())
        if inside and self.is_known and np.shape(value) == self.image.shape:
            free = self.back(value)
            inside = bool(np.isfinite(free).all()) and _close(self.at(free)[0], value)
        return np.asarray(inside)

    def describe(self) -> str:
        return f"a value that {self.name}.forward gives"


def _close(found: np.ndarray, wanted: np.ndarray) -> bool:
    tolerance = 1e-6 if found.dtype != FLOAT32 else 1e-3
    size = float(np.max(np.abs(wanted), initial=0.0))
    return bool(np.all(np.abs(found - wanted) <= tolerance * (np.abs(wanted) + size + 1e-6)))


def own_support(given: Any, shape: tuple[int, ...], what: str) -> OwnSupport:
    """The support of an unknown of this shape that a user's bijector makes.

    Raises
    ------
    TypeError
        If it is no `kg.Bijector`, or gives no arrays of real numbers.
    ShapeError
        If these have other shapes.
    ModelError
        If `inverse` or `log_det` do not belong to `forward`.
    """
    if not isinstance(given, Bijector):
        hint = "; make an object of the class" if isinstance(given, type) else ""
        raise TypeError(
            f"{what}: bijector must be an object of a subclass of kg.Bijector, got "
            f"{given!r:.60}{hint}{place_text()}"
        )
    title = type(given).__name__
    sizes = as_sizes(given.free_shape(shape), f"{title}.free_shape")
    first = Array(Placeholder((), sizes, float_dtype(), "u"))
    second = Array(Placeholder((), shape, float_dtype(), "x"))
    image = _node(given.forward(first), shape, f"{title}.forward")
    preimage = _node(given.inverse(second), sizes, f"{title}.inverse")
    log_det = _node(given.log_det(first), None, f"{title}.log_det")
    results, ends = (image, log_det, preimage), {first.node, second.node}
    for node, allowed in zip(results, (first, first, second), strict=True):
        if (ends - {allowed.node}) & set(ancestors([node])):
            raise ModelError(f"{what}: a method of {title} has kept what another was given")
    found = OwnSupport(
        title, first.node, image, log_det, second.node, preimage, _outer(results, ends)
    )
    if found.is_known:
        _check(found, what)
    return found


def _node(result: Any, shape: tuple[int, ...] | None, method: str) -> Node:
    if result is None:
        raise TypeError(f"{method} gives None; is a return missing?{place_text()}")
    node = as_node(result, method)
    if node.dtype.kind not in "fiu":
        raise TypeError(f"{method} must give real numbers, got {node.dtype}{place_text()}")
    if shape is not None and node.shape != shape:
        raise ShapeError(
            f"{method} gives shape {node.shape}, where {shape} is wanted; of other free numbers "
            f"than elements, free_shape(shape) tells the shape{place_text()}"
        )
    return node


def _outer(results: tuple[Node, ...], ends: set[Node]) -> tuple[Node, ...]:
    """What the map reads from outside: nodes next to those that depend on its arguments."""
    inside: set[Node] = set(ends)
    found: dict[Node, None] = {}
    for node in ancestors(results):
        if inside.isdisjoint(node.parents):
            continue
        inside.add(node)
        found.update(dict.fromkeys(p for p in node.parents if p not in inside))
    found.update(dict.fromkeys(node for node in results if node not in inside))
    return tuple(n for n in found if not _is_literal(n))


def _is_literal(node: Node) -> bool:
    """Whether a node follows from numbers in the program alone."""
    return all(isinstance(n, Data) and n.literal for n in ancestors([node]) if not n.parents)


def _check(support: OwnSupport, what: str) -> None:
    """Try a map at two points."""
    shape = support.free.shape
    count = math.prod(shape)
    for shift in (1.0, 4.0):  # of both signs
        free = np.reshape(1.3 * np.sin(np.arange(count) + shift), shape)
        value, log_det = support.at(free)
        at = f"{what}: {support.name}{place_text()}: at u = {_text(free)}"
        if not (np.isfinite(value).all() and np.isfinite(log_det)):
            raise ModelError(
                f"{at} forward gives {_text(value)} and log_det {log_det:g}; both are finite for "
                "all real numbers u"
            )
        back = support.back(value)
        if not _close(back, free):
            raise ModelError(
                f"{at} forward gives {_text(value)}, of which inverse gives {_text(back)}; it has "
                "to give u"
            )
        if count == value.size and count <= MOST:
            wanted = _log_det_by_differences(support, free)
            if abs(wanted - log_det) > (1e-4 if value.dtype != FLOAT32 else 0.05) * (1 + count):
                raise ModelError(
                    f"{at} log_det gives {log_det:.6g}, the derivatives of forward {wanted:.6g}; "
                    "it is the logarithm of |det df/du|, of which elements are added up"
                )


def _log_det_by_differences(support: OwnSupport, free: np.ndarray) -> float:
    step = 1e-5 if support.free.dtype != FLOAT32 else 1e-2
    columns = []
    for move in step * np.eye(free.size):
        up, down = (support.at(free + np.reshape(m, free.shape))[0] for m in (move, -move))
        columns.append(np.ravel(up - down) / (2 * step))
    return float(np.linalg.slogdet(np.array(columns))[1])


def _text(values: np.ndarray) -> str:
    return np.array2string(np.asarray(values), precision=4, threshold=6)
