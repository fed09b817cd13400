"""Custom constraints: `kg.Bijector` as the support of an unknown.

The user's methods are called once, when the unknown is made, with arrays in place of the free
numbers and the value. Their results are stored as a graph, which is differentiated, compiled,
copied and saved like any other graph; the class is not used again. Outer arrays that the methods
read, the parameters of the map, are parents of the unknown.
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
from ..graph.public import public
from ..graph.source import place_text
from ..graph.value_texts import shown

__all__ = ["Bijector", "CustomBijectorSupport", "own_support"]

MOST = 20  # greatest number of free numbers for which the Jacobian is checked


@public
class Bijector:
    """The base class of custom constraints.

    A constraint is a map x = f(u) of free numbers u.

    A subclass implements the methods below with arrays and functions of kinetograph. They are
    called when the unknown is made, `kg.variable(bijector=MyBijector(), shape=...)`. The density of
    the unknown is flat in x, so `log_det` is added to the density of u.

    If the map depends on known values only, it is checked at two points when the unknown is made:
    whether `inverse` returns the free numbers; and, if there are as many free numbers as elements
    of x and at most 20, whether `log_det` agrees with the derivatives.

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
        """The value for free numbers u, which may be any real numbers."""
        raise NotImplementedError(f"{type(self).__name__} has no method forward(u)")

    def inverse(self, x: Array) -> Computed:
        """The free numbers of a value."""
        raise NotImplementedError(f"{type(self).__name__} has no method inverse(x)")

    def log_det(self, u: Array) -> Any:
        """The logarithm of |det df/du|; its elements are summed."""
        raise NotImplementedError(f"{type(self).__name__} has no method log_det(u)")

    def free_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of the free numbers for a value of shape `shape`.

        By default it is the same.
        """
        return shape


@dataclass(frozen=True, eq=False)
class CustomBijectorSupport(Support):
    """The image of a user's bijector, with the graphs of its methods.

    `image` and `log_det` are computed from `free`, `preimage` from `value`, and all three from
    `outer`.
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
        """All nodes that the bijector computes."""
        return self.image, self.log_det, self.preimage

    @property
    def is_known(self) -> bool:
        """Whether the bijector depends on data alone."""
        return all(isinstance(n, Data) for n in ancestors(self.outer) if not n.parents)

    def at(self, free: np.ndarray) -> tuple[np.ndarray, float]:
        """The value and log determinant of a bijector that is known."""
        image, log_det = self._evaluate(self.free, free, self.image, self.log_det)
        return image, float(np.sum(log_det))

    def back(self, value: np.ndarray) -> np.ndarray:
        """The free numbers of a value of a bijector that is known."""
        return self._evaluate(self.value, value, self.preimage)[0]

    def _evaluate(self, given: Node, value: np.ndarray, *nodes: Node) -> list[np.ndarray]:
        with x64(), np.errstate(all="ignore"):
            environment: Environment = {given: jnp.asarray(value, given.dtype)}
            evaluate(nodes, environment, scope=Scope(eager=True))
            return [np.asarray(environment[node]) for node in nodes]

    def contains(self, value: np.ndarray) -> np.ndarray:
        inside = bool(np.isfinite(value).all())
        if inside and self.is_known and np.shape(value) == self.image.shape:
            free = self.back(value)
            inside = bool(np.isfinite(free).all()) and _close(self.at(free)[0], value)
        return np.asarray(inside)

    def describe(self) -> str:
        return f"a value that {self.name}.forward returns"


def _close(actual: np.ndarray, expected: np.ndarray) -> bool:
    """Whether arrays are equal up to rounding."""
    tolerance = 1e-6 if actual.dtype != FLOAT32 else 1e-3
    size = float(np.max(np.abs(expected), initial=0.0))
    return bool(np.all(np.abs(actual - expected) <= tolerance * (np.abs(expected) + size + 1e-6)))


def own_support(bijector: Any, shape: tuple[int, ...], noun: str) -> CustomBijectorSupport:
    """The support of an unknown with a custom bijector.

    Raises
    ------
    TypeError
        If it is not a `kg.Bijector`, or its results are not arrays of real numbers.
    ShapeError
        If its results have wrong shapes.
    ModelError
        If `inverse` or `log_det` do not match `forward`.
    """
    if not isinstance(bijector, Bijector):
        hint = "; make an object of the class" if isinstance(bijector, type) else ""
        raise TypeError(
            f"{noun}: bijector must be an object of a subclass of kg.Bijector, got "
            f"{shown(bijector)}{hint}{place_text()}"
        )
    title = type(bijector).__name__
    sizes = as_sizes(bijector.free_shape(shape), f"{title}.free_shape")
    first = Array(Placeholder((), sizes, float_dtype(), "u"))
    second = Array(Placeholder((), shape, float_dtype(), "x"))
    image = _node(bijector.forward(first), shape, f"{title}.forward")
    preimage = _node(bijector.inverse(second), sizes, f"{title}.inverse")
    log_det = _node(bijector.log_det(first), None, f"{title}.log_det")
    results, ends = (image, log_det, preimage), {first.node, second.node}
    for node, allowed in zip(results, (first, first, second), strict=True):
        if (ends - {allowed.node}) & set(ancestors([node])):
            raise ModelError(
                f"{noun}: a method of {title} uses the argument of another method; each method "
                "must depend on its own argument only"
            )
    support = CustomBijectorSupport(
        title, first.node, image, log_det, second.node, preimage, _outer(results, ends)
    )
    if support.is_known:
        _check(support, noun)
    return support


def _node(result: Any, shape: tuple[int, ...] | None, method: str) -> Node:
    """The node of a method's result, checked for type and shape."""
    if result is None:
        raise TypeError(f"{method} returns None; is a return missing?{place_text()}")
    node = as_node(result, method)
    if node.dtype.kind not in "fiu":
        raise TypeError(f"{method} must return real numbers, got {node.dtype}{place_text()}")
    if shape is not None and node.shape != shape:
        raise ShapeError(
            f"{method} returns shape {node.shape}, expected {shape}; if the free numbers have "
            f"another shape than the value, define free_shape(shape){place_text()}"
        )
    return node


def _outer(results: tuple[Node, ...], ends: set[Node]) -> tuple[Node, ...]:
    """Outer nodes next to nodes that depend on the bijector's arguments."""
    inside: set[Node] = set(ends)
    outer: dict[Node, None] = {}
    for node in ancestors(results):
        if inside.isdisjoint(node.parents):
            continue
        inside.add(node)
        outer.update(dict.fromkeys(p for p in node.parents if p not in inside))
    outer.update(dict.fromkeys(node for node in results if node not in inside))
    return tuple(n for n in outer if not _is_literal(n))


def _is_literal(node: Node) -> bool:
    """Whether a node is computed from numbers in the program alone."""
    return all(isinstance(n, Data) and n.literal for n in ancestors([node]) if not n.parents)


def _check(support: CustomBijectorSupport, title: str) -> None:
    """Check a bijector at two points."""
    shape = support.free.shape
    count = math.prod(shape)
    for shift in (1.0, 4.0):  # of both signs
        free = np.reshape(1.3 * np.sin(np.arange(count) + shift), shape)
        value, log_det = support.at(free)
        at = f"{title}: {support.name}{place_text()}: at u = {_text(free)}"
        if not (np.isfinite(value).all() and np.isfinite(log_det)):
            raise ModelError(
                f"{at} forward returns {_text(value)} and log_det {log_det:g}; both must be finite "
                "for all real numbers u"
            )
        back = support.back(value)
        if not _close(back, free):
            raise ModelError(
                f"{at} forward returns {_text(value)}, for which inverse returns {_text(back)}; it "
                "must return u"
            )
        if count == value.size and count <= MOST:
            expected = _log_det_by_differences(support, free)
            if abs(expected - log_det) > (1e-4 if value.dtype != FLOAT32 else 0.05) * (1 + count):
                raise ModelError(
                    f"{at} log_det returns {log_det:.6g}, but the derivatives of forward give "
                    f"{expected:.6g}; log_det must return the logarithm of |det df/du|, whose "
                    "elements are summed"
                )


def _log_det_by_differences(support: CustomBijectorSupport, free: np.ndarray) -> float:
    """The log determinant of the Jacobian by central differences."""
    step = 1e-5 if support.free.dtype != FLOAT32 else 1e-2
    columns = []
    for move in step * np.eye(free.size):
        up, down = (support.at(free + np.reshape(m, free.shape))[0] for m in (move, -move))
        columns.append(np.ravel(up - down) / (2 * step))
    return float(np.linalg.slogdet(np.array(columns))[1])


def _text(values: np.ndarray) -> str:
    return np.array2string(np.asarray(values), precision=4, threshold=6)
