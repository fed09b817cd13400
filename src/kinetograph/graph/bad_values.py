"""The search for the operation that made a NaN or an infinity.

Infinite constants, and infinite values that do not reach a result, are harmless. So the search
starts at a bad result only. It follows the bad values that the result was computed from, back to
the operation that computed the first bad value from better operands. A NaN is worse than an
infinity: an operation that computes a NaN from infinities is an origin. In the backward pass of a
derivative the cotangent of each operand is checked, in the order of the pass. The operation that
passed on the first bad cotangent is the origin.
"""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from .control.differentiable_loop import FORWARD, REVERSE
from .lower import Environment, Scope
from .messages import describe
from .node import Apply, Bundle, Data, Inner, Node
from .operations.elementwise import WHERE
from .rewriting.participation import Tracked, plain
from .value_texts import value_text

__all__ = ["Culprits", "Origin"]


class Origin(NamedTuple):
    """The place where bad values began."""

    text: str  # expression, value, file and line, trip
    when: int  # position in the order of the evaluation
    constant: bool = False
    node: Node | None = None  # the node with the first bad value
    is_nan: bool = False


class Culprits:
    """An observer of an evaluation, which finds the origins of bad values."""

    def __init__(self, scope: Scope, names: Mapping[int, str]) -> None:
        self._scope, self._names = scope, dict(names)
        self._of_tensor: dict[int, tuple[Any, Origin]] = {}  # keeps tensors alive: ids stay unique
        self._of_node: dict[Node, Origin] = {}
        self._latest: Origin | None = None
        self._count = itertools.count()
        self._slope: Origin | None = None  # where the present derivative became bad
        scope.watch = self

    def of(self, node: Node, value: Any) -> str | None:
        """Describe the operation that made a value bad; None if finite."""
        if not _badness(value):
            return None
        origin = self._origin(node, value)
        return self._text(node, value) if origin is None else origin.text

    def first_number(self, node: Node, value: Any) -> Node | None:
        """The node that made a value NaN, or data with infinite elements.

        Data whose elements are all infinite are left out: they are written on purpose.
        """
        origin = self._origin(node, value) if _badness(value) else None
        if origin is None or origin.node is None:
            return None
        data = origin.node if origin.constant and isinstance(origin.node, Data) else None
        is_culprit = origin.is_nan or (data is not None and np.isfinite(data.value).any())
        return origin.node if is_culprit else None

    def of_slope(self) -> str | None:
        """Describe the operation that made the last derivative bad."""
        return None if self._slope is None else self._slope.text

    def inspect(self, node: Node, environment: Environment) -> None:
        """Check the value of a node that has just been computed."""
        value = jax.tree.map(plain, environment[node], is_leaf=lambda t: isinstance(t, Tracked))
        if isinstance(node, Bundle):
            if any(isinstance(result, jax.core.Tracer) for result in value):
                return
            slope, self._slope = self._slope, None
            for result in value:
                if _badness(result) and id(result) not in self._of_tensor:
                    self._keep(node, result, slope or self._latest)
            return
        badness = _badness(value)
        if not badness:
            return
        recorded = self._of_tensor.get(id(value))
        if recorded is not None:
            origin = recorded[1]
        elif isinstance(node, Data):
            text = self._text(node, value)
            if node.literal:
                named = f"{node.variable} = " if node.variable else ""
                text = f"the constant {named}{value_text(value)}"
                text = _placed(text, node, self._scope.trail)
            origin = Origin(text, next(self._count), True, node, badness == 2)
        else:
            inherited = self._inherited(node, value, badness, environment)
            origin = inherited or self._begins(node, value)
        self._keep(node, value, origin)

    def operands(self, node: Node, tensors: list[Any], modes: Sequence[str]) -> list[Any]:
        """Wrap the operands of an operation to check cotangents backward."""
        if tuple(modes) != (REVERSE,) or isinstance(node, Bundle):
            return tensors
        trail = tuple(self._scope.trail)
        return [
            self._watched(node, parent, tensor, trail)
            if isinstance(tensor, jax.core.Tracer) and tensor.dtype.kind == "f"
            else tensor
            for parent, tensor in zip(node.parents, tensors, strict=True)
        ]

    def result(self, node: Node, tensor: Any, modes: Sequence[str]) -> Any:
        """Wrap the result of an operation to check tangents forward."""
        if tuple(modes) != (FORWARD,) or isinstance(node, Bundle):
            return tensor
        if not isinstance(tensor, jax.core.Tracer) or tensor.dtype.kind != "f":
            return tensor
        trail = tuple(self._scope.trail)

        @jax.custom_jvp
        def pass_on(value: Any) -> Any:
            return value

        @pass_on.defjvp
        def _(primals: Any, tangents: Any) -> Any:
            self._note_slope(node, f"the derivative of {self._say(node)}", tangents[0], trail)
            return primals[0], tangents[0]

        return pass_on(tensor)

    def _watched(self, node: Node, parent: Node, tensor: Any, trail: tuple[str, ...]) -> Any:
        @jax.custom_vjp
        def pass_on(value: Any) -> Any:
            return value

        def backward(_: Any, cotangent: Any) -> Any:
            derivative = f"the derivative of {self._say(node)} by {self._say(parent)}"
            self._note_slope(node, derivative, cotangent, trail)
            return (cotangent,)

        pass_on.defvjp(lambda value: (value, None), backward)
        return pass_on(tensor)

    def _note_slope(self, node: Node, quantity: str, value: Any, trail: tuple[str, ...]) -> None:
        if self._slope is None and _badness(value):
            text = _placed(f"{quantity} = {value_text(value)}", node, trail)
            self._slope = Origin(text, next(self._count))

    def _inherited(
        self, node: Node, value: Any, value_badness: int, environment: Environment
    ) -> Origin | None:
        """The origin of the operand that made the value bad, if any.

        Computed operands come before constants, then operands as bad as the value, then the
        operand that became bad first. The order of badness does not matter for elementwise
        operations, whose responsible operands are bad in the same element. A NaN is not inherited
        from an infinite constant.
        """
        candidates = []
        for parent in _responsible(node, value, environment):
            tensor = plain(environment[parent])
            badness = _badness(tensor)
            origin = self._origin(parent, tensor) if badness else None
            if origin is not None and not (origin.constant and badness < value_badness):
                candidates.append(
                    (origin.constant, badness < value_badness and not _by_element(node), origin)
                )
        return min(candidates, key=lambda c: (*c[:2], c[2].when))[2] if candidates else None

    def _begins(self, node: Node, value: Any) -> Origin:
        return Origin(
            self._text(node, value), next(self._count), node=node, is_nan=_badness(value) == 2
        )

    def _origin(self, node: Node, tensor: Any) -> Origin | None:
        """The recorded origin of a bad value, or else the latest origin."""
        if id(tensor) in self._of_tensor:
            return self._of_tensor[id(tensor)][1]
        if node in self._of_node:
            return self._of_node[node]
        while isinstance(node, Inner):
            node = node.outer
            if node in self._of_node:
                return self._of_node[node]
        return self._latest

    def _keep(self, node: Node, value: Any, origin: Origin | None) -> None:
        if origin is None:
            origin = self._begins(node, value)
        self._of_tensor[id(value)] = value, origin
        self._of_node[node] = origin
        if not origin.constant:
            self._latest = origin

    def _text(self, node: Node, value: Any) -> str:
        return _placed(f"{self._say(node)} = {value_text(value)}", node, self._scope.trail)

    def _say(self, node: Node) -> str:
        return describe(node, self._names)


def _placed(text: str, node: Node, trail: Sequence[str]) -> str:
    where = "".join(f", in {place}" for place in reversed(trail))
    return f"{text}  {node.site or ''}".rstrip() + where


def _badness(value: Any) -> int:
    """Grade a value: 0 finite, 1 with infinities, 2 with NaN."""
    if isinstance(value, (list, tuple, jax.core.Tracer)):
        return 0
    array = np.asarray(value)
    if array.dtype.kind != "f" or np.isfinite(array).all():
        return 0
    return 2 if np.isnan(array).any() else 1


def _by_element(node: Node) -> bool:
    return isinstance(node, Apply) and node.operation.elementwise


def _responsible(node: Node, value: Any, environment: Environment) -> list[Node]:
    """The operands that may have made a value's first bad element."""
    parents = [parent for parent in node.parents if parent in environment]
    if not isinstance(node, Apply) or not _by_element(node) or len(parents) < 2:
        return parents
    array = np.asarray(value)
    flat = np.isnan(array) if np.isnan(array).any() else ~np.isfinite(array)
    index = np.unravel_index(int(flat.argmax()), array.shape)

    def element(parent: Node) -> Any:
        return np.broadcast_to(np.asarray(plain(environment[parent])), array.shape)[index]

    if node.operation is WHERE:
        return [parents[1] if element(parents[0]) else parents[2]]
    return [p for p in parents if p.dtype.kind == "f" and not np.isfinite(element(p))]
