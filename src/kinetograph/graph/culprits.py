"""Which operation made a value, or a derivative, that is not finite.

A constant may be infinite, and so may what never reaches the result: only a bad result is followed
back, through the bad values it was computed from, to the operation that made the first of them out
of better ones. A NaN is worse than an infinity: where one is made of infinities, that is where it
began. The backward pass of a derivative is looked at operand by operand, in the order in which it
runs: the first bad one is the fault of the operation that handed it on.
"""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from .control.derivable import FORWARD, REVERSE
from .lower import Environment, Scope
from .messages import describe
from .node import Apply, Bundle, Data, Inner, Node
from .operations.elementwise import WHERE
from .participation import Tracked, plain
from .text import value_text

__all__ = ["Culprits", "Origin"]


class Origin(NamedTuple):
    """Where bad values began."""

    text: str  # expression, value, file and line, trip
    when: int  # its place in the order of the evaluation
    constant: bool = False


class Culprits:
    """Watches an evaluation, node by node; `of` then tells who is to blame for a bad value."""

    def __init__(self, scope: Scope, names: Mapping[int, str]) -> None:
        self._scope, self._names = scope, dict(names)
        self._of_tensor: dict[int, tuple[Any, Origin]] = {}  # tensors are held: ids stay theirs
        self._of_node: dict[Node, Origin] = {}
        self._latest: Origin | None = None
        self._count = itertools.count()
        self._slope: Origin | None = None  # where the derivative being taken became bad
        scope.watch = self

    def of(self, node: Node, value: Any) -> str | None:
        """The operation that made a value bad, as text; None for a finite value."""
        if not _badness(value):
            return None
        origin = self._origin(node, value)
        return self._text(node, value) if origin is None else origin.text

    def of_slope(self) -> str | None:
        """The operation that made the last derivative bad."""
        return None if self._slope is None else self._slope.text

    def seen(self, node: Node, environment: Environment) -> None:
        """Look at the value of a node that has just been computed."""
        value = jax.tree.map(plain, environment[node], is_leaf=lambda t: isinstance(t, Tracked))
        if isinstance(node, Bundle):
            if any(isinstance(result, jax.core.Tracer) for result in value):
                return
            slope, self._slope = self._slope, None
            for result in value:
                if _badness(result) and id(result) not in self._of_tensor:
                    self._keep(node, result, slope or self._latest)
            return
        bad = _badness(value)
        if not bad:
            return
        known = self._of_tensor.get(id(value))
        if known is not None:
            origin = known[1]
        elif isinstance(node, Data):
            text = self._text(node, value)
            if node.literal:
                text = _placed(f"the constant {value_text(value)}", node, self._scope.trail)
            origin = Origin(text, next(self._count), constant=True)
        else:
            inherited = self._inherited(node, value, bad, environment)
            origin = inherited or self._begins(node, value)
        self._keep(node, value, origin)

    def operands(self, node: Node, tensors: list[Any], modes: Sequence[str]) -> list[Any]:
        """The operands of an operation, watched in the backward pass of a derivative."""
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
        """The result of an operation, watched in the forward pass of a derivative."""
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
            what = f"the derivative of {self._say(node)} by {self._say(parent)}"
            self._note_slope(node, what, cotangent, trail)
            return (cotangent,)

        pass_on.defvjp(lambda value: (value, None), backward)
        return pass_on(tensor)

    def _note_slope(self, node: Node, what: str, value: Any, trail: tuple[str, ...]) -> None:
        if self._slope is None and _badness(value):
            text = _placed(f"{what} = {value_text(value)}", node, trail)
            self._slope = Origin(text, next(self._count))

    def _inherited(
        self, node: Node, value: Any, bad: int, environment: Environment
    ) -> Origin | None:
        """The origin of the operand that made the value bad; None if none did.

        The first computed one that is bad where the value is; of arrays in which other elements are
        bad, too, one that is as bad. Of infinite constants a NaN is not inherited.
        """
        found = []
        for parent in _responsible(node, value, environment):
            tensor = plain(environment[parent])
            badness = _badness(tensor)
            origin = self._origin(parent, tensor) if badness else None
            if origin is not None and not (origin.constant and badness < bad):
                found.append((origin.constant, badness < bad and not _by_element(node), origin))
        return min(found, key=lambda f: (*f[:2], f[2].when))[2] if found else None

    def _begins(self, node: Node, value: Any) -> Origin:
        return Origin(self._text(node, value), next(self._count))

    def _origin(self, node: Node, tensor: Any) -> Origin | None:
        """Where a bad value began, as far as it is known."""
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
    """0 for finite values, 1 where some are infinite, 2 where some are NaN."""
    if isinstance(value, (list, tuple, jax.core.Tracer)):
        return 0
    array = np.asarray(value)
    if array.dtype.kind != "f" or np.isfinite(array).all():
        return 0
    return 2 if np.isnan(array).any() else 1


def _by_element(node: Node) -> bool:
    return isinstance(node, Apply) and node.operation.elementwise


def _responsible(node: Node, value: Any, environment: Environment) -> list[Node]:
    """The operands from which the first bad element of a value was computed."""
    parents = [parent for parent in node.parents if parent in environment]
    if not isinstance(node, Apply) or not _by_element(node) or len(parents) < 2:
        return parents
    array = np.asarray(value)
    flat = np.isnan(array) if np.isnan(array).any() else ~np.isfinite(array)
    place = np.unravel_index(int(flat.argmax()), array.shape)

    def there(parent: Node) -> Any:
        return np.broadcast_to(np.asarray(plain(environment[parent])), array.shape)[place]

    if node.operation is WHERE:
        return [parents[1] if there(parents[0]) else parents[2]]
    return [p for p in parents if p.dtype.kind == "f" and not np.isfinite(there(p))]
