"""The node of a derivative, which holds the subgraph that is differentiated.

The subgraph leads from the arrays x, by which y is differentiated, to y. JAX differentiates the
subgraph when the node is lowered. Values that do not depend on x enter the subgraph as constants.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from .control.control_node import Control
from .control.differentiable_loop import FORWARD, REVERSE
from .control.liveness import Places
from .control.subgraph import Subgraph
from .forms.by_value import FormByValue
from .lower import Scope, evaluate
from .node import Apply, Call, Node, Operation

__all__ = ["GRADIENTS", "HESSIAN", "JACOBIAN", "JVP", "Derivative"]


class Derivative(Control):
    """Derivatives of a subgraph by its first `count` inputs.

    The remaining inputs stay constant. Outputs of the subgraph that are forms by value replace the
    input that is their first parent.
    """

    __slots__ = ("count",)

    def __init__(
        self,
        operation: Operation,
        subgraph: Subgraph,
        count: int,
        tangents: Sequence[Node] = (),
    ) -> None:
        super().__init__(operation, (*subgraph.inputs, *tangents), (subgraph,), (), {})
        self.count = count

    @property
    def values(self) -> tuple[Node, ...]:
        """The nodes that are differentiated."""
        return tuple(n for n in self.subgraphs[0].outputs if not isinstance(n, FormByValue))

    def result(self, place: int) -> Apply:
        """Make the node of one result."""
        xs = self.parents[: self.count]
        like: tuple[Node, ...]
        if self.operation is JVP:
            like = (self.values[place],)
        elif self.operation is HESSIAN:
            like = (xs[place // self.count], xs[place % self.count])
        elif self.operation is JACOBIAN:
            like = (self.values[0], xs[place])
        else:
            like = (xs[place],)
        shape = tuple(n for node in like for n in node.shape)
        return self.part(place, shape, like[0].dtype)

    @property
    def early(self) -> bool:
        """Whether it is a gradient, which also computes the subgraph's own values."""
        return self.operation is GRADIENTS

    @property
    def title(self) -> str:
        """The name in messages."""
        return self.operation.name

    def static_text(self) -> str:
        """A text of the settings, besides parents and subgraphs, that matter."""
        return str(self.count)

    def call(self, place: int) -> Call:
        """The expression of one result alone, such as `gradients(y, x)`."""
        (part,) = self.subgraphs
        xs = self.parents[: self.count]
        if self.operation is JVP:
            operands = (part.outputs[place], *xs, *self.parents[len(part.inputs) :])
        elif self.operation is HESSIAN and self.count > 1:
            operands = (part.outputs[0], xs[place // self.count], xs[place % self.count])
        else:
            operands = (part.outputs[0], xs[place])
        return Call(self.operation.name, operands, ("",) * len(operands))

    def compute(self, tensors: list[Any], scope: Scope) -> list[Any]:
        """Compute the derivatives."""
        (part,) = self.subgraphs
        count, size = self.count, len(part.inputs)
        xs = [jnp.asarray(x) for x in tensors[:count]]
        constants, tangents = tensors[count:size], tensors[size:]
        ys = self.values
        forms = part.outputs[len(ys) :]
        # A gradient shares the values of its subgraph with the graph around, so that the subgraph's
        # effects run in here; other derivatives leave the effects to the graph around.
        effects = scope.effects if self.early and not scope.eager else None
        outer = scope
        live: Mapping[Control, Places] | None = part.live(None).results
        if outer.modes:  # the shared values take part in the derivatives around, too
            live = _union(part.live(None).results, outer.live)
        scope = outer.inside(effects=effects, live=live)
        anchor = jnp.zeros((), xs[0].dtype)
        loops = scope.reporting(part)

        def function(scope: Scope, anchor: Any, *xs: Any) -> Any:
            environment = dict(zip(part.inputs, (*xs, *constants), strict=True))
            for node in forms:
                evaluate((node,), environment, scope=scope)
                environment[node.parents[0]] = environment[node]
            evaluate(ys, environment, scope=scope)
            outputs = tuple(environment[node] for node in ys)
            shared = {i: environment[n] for i, n in enumerate(part.nodes) if n in environment}
            return outputs, (scope.reports(loops), shared)

        def forward(anchor: Any, *xs: Any) -> Any:
            return function(scope.derived(FORWARD, anchor), anchor, *xs)

        def gradient(scope: Scope, *xs: Any) -> Any:
            def reverse(anchor: Any, *xs: Any) -> Any:
                return function(scope.derived(REVERSE, anchor), anchor, *xs)

            (y,), pull, aux = jax.vjp(reverse, anchor, *xs, has_aux=True)
            return pull((jnp.ones_like(y),))[1:], aux

        if self.operation is GRADIENTS:
            results, (reports, shared) = gradient(scope, *xs)
            outer.shared.update((part.nodes[i], tensor) for i, tensor in shared.items())
        elif self.operation is JVP:
            zero = jnp.zeros_like(anchor)
            _, results, (reports, _) = jax.jvp(
                forward, (anchor, *xs), (zero, *tangents), has_aux=True
            )
        elif self.operation is JACOBIAN:
            results, (reports, _) = _jacobian(forward, anchor, xs, eager=scope.eager)
        else:

            def pushed(anchor: Any, *xs: Any) -> Any:
                return gradient(scope.derived(FORWARD, anchor), *xs)

            results, (reports, _) = _jacobian(pushed, anchor, xs, eager=scope.eager)
        outer.receive(loops, reports)
        return list(results)


def _union(
    one: Mapping[Control, Places], other: Mapping[Control, Places] | None
) -> Mapping[Control, Places] | None:
    """The results that take part in either derivative; None if all do."""
    if other is None:
        return None
    return {node: one.get(node, frozenset()) | other.get(node, frozenset()) for node in one}


GRADIENTS = Operation("gradients", lambda *tensors: None)
JVP = Operation("jvp", lambda *tensors: None)
JACOBIAN = Operation("jacobian", lambda *tensors: None)
HESSIAN = Operation("hessian", lambda *tensors: None)


def _jacobian(function: Any, anchor: Any, xs: Sequence[Any], *, eager: bool) -> Any:
    """The derivatives of each result by each x, and the function's reports.

    The derivative of result i by x j has the index i * len(xs) + j.
    """
    reports: Any = None

    def push(tangents: Sequence[Any]) -> Any:
        primals = (anchor, *xs)
        _, out, aux = jax.jvp(function, primals, (jnp.zeros_like(anchor), *tangents), has_aux=True)
        return out, aux

    columns = []
    for j, x in enumerate(xs):
        basis = jnp.eye(x.size, dtype=x.dtype).reshape(x.size, *x.shape)
        zeros = [jnp.zeros_like(value) for value in xs]

        def column(direction: Any, j: int = j, zeros: Any = zeros) -> Any:
            return push([*zeros[:j], direction, *zeros[j + 1 :]])

        if eager:
            rows = [column(direction) for direction in basis]
            out = [jnp.stack(parts, -1) for parts in zip(*(r[0] for r in rows), strict=True)]
            reports = rows[0][1]
        else:
            out, reports = jax.vmap(column, out_axes=(-1, None))(basis)
        columns.append([o.reshape(*o.shape[:-1], *x.shape) for o in out])
    return [row for rows in zip(*columns, strict=True) for row in rows], reports
