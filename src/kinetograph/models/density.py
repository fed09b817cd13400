"""The joint log density of a model, as one JAX function.

    log p(u) = sum of log p(target | parameters) + sum of log |d f_v / d u_v| + factors

u is the flat free state. Each unknown v is the image f_v of its own slice of u under a bijector.
JAX traces all functions here.
"""

from collections.abc import Container, Mapping, Sequence, Set
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..distributions.variable import Variable
from ..graph.compiling.lifted_errors import refused_derivative
from ..graph.control.control_node import Control, Looping, everything, loops_in
from ..graph.control.differentiable_loop import REVERSE
from ..graph.control.liveness import Places, live
from ..graph.faults import FAULT, numbered
from ..graph.lower import Environment, Scope, evaluate
from ..graph.node import Node, ancestors
from ..graph.trips import Capacity
from .bijectors import SupportBijector, bijector
from .custom_bijectors import CustomBijectorSupport
from .marginal.marginal import MarginalTerm
from .rewrites.batches import Batches, find_batches
from .term import Term

__all__ = ["Density"]


class Density:
    """Unknowns, their places in the free state, and terms.

    `shapes` holds the shapes of unknowns with another number of rows than their nodes have.
    """

    def __init__(
        self,
        unknowns: Sequence[Variable],
        terms: Sequence[Term],
        shapes: Mapping[Variable, tuple[int, ...]] | None = None,
    ) -> None:
        self.unknowns = tuple(unknowns)
        self.terms = tuple(terms)
        lengths = shapes or {}
        self.bijectors: dict[Variable, SupportBijector] = {
            v: bijector(v.support, lengths.get(v, v.shape)) for v in self.unknowns
        }
        sizes = [self.bijectors[v].free_size for v in self.unknowns]
        ends = np.cumsum(sizes, dtype=int)
        self.free_size = int(ends[-1]) if sizes else 0
        self.sizes = tuple(sizes)
        self.batches = find_batches(self.terms, self.unknowns)
        for term in () if self.batches is None else self.batches.terms:
            term.compressed = None  # the batch is compressed instead
        derived = [n for t in self.terms if t.compressed is not None for n in t.compressed.derived]
        self.derived = (*derived, *(() if self.batches is None else self.batches.derived))
        self.slices = {
            v: slice(int(end) - size, int(end))
            for v, size, end in zip(self.unknowns, sizes, ends, strict=True)
        }

    def renewed(self, changed: Set[Node]) -> "Density":
        """The density for the present values of data.

        `changed` holds the data whose values changed.
        """
        return Density(self.unknowns, [term.renewed(changed) for term in self.terms])

    def fits(self, other: "Density") -> bool:
        """Whether another density of these nodes has the same program."""
        same = all(a.fits(b) for a, b in zip(self.terms, other.terms, strict=True))
        batches, its = self.batches, other.batches
        return same and (its is None if batches is None else batches.fits(its))

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """All nodes that the log density is computed from."""
        return tuple(ancestors(self._roots))

    @cached_property
    def maps(self) -> tuple[Node, ...]:
        """The nodes of the user's own bijectors."""
        supports = [
            v.support for v in self.unknowns if isinstance(v.support, CustomBijectorSupport)
        ]
        return tuple(ancestors([node for s in supports for node in (s.image, s.log_det)]))

    @cached_property
    def _roots(self) -> tuple[Node, ...]:
        needed = (node for term in self.terms for node in (*term.needs(), *term.plain_needs()))
        return (*self.unknowns, *needed)

    @cached_property
    def marginal(self) -> MarginalTerm | None:
        """The term in which discrete unknowns are marginalised, if there is one."""
        return next((t for t in self.terms if isinstance(t, MarginalTerm)), None)

    @property
    def _summed(self) -> tuple[Node, ...]:
        return () if self.marginal is None else self.marginal.inner

    @cached_property
    def live(self) -> Mapping[Control, Places]:
        """The results of branches and loops that the log density needs."""
        every = tuple(ancestors((*self.nodes, *self.maps)))
        return live(every, (*self._roots, *self.maps)).results

    @cached_property
    def indices(self) -> dict[Node, int]:
        """Numbers for the nodes whose indices may fall outside of their axes."""
        return numbered(everything((*self.nodes, *self.maps, *self._summed)))

    @cached_property
    def loops(self) -> tuple[Looping, ...]:
        """The loops that the log density evaluates; they report their trips."""
        return tuple(dict.fromkeys(loops_in((*self.nodes, *self.maps, *self._summed))))

    def values(
        self,
        free: Any,
        data: Environment,
        scope: Scope | None = None,
        among: Container[Node] | None = None,
    ) -> tuple[Environment, Any]:
        """The tensors of the unknowns, and the sum of the log Jacobians.

        They are returned in an environment. `among` holds the unknowns that are needed; None for
        all.
        """
        environment: Environment = dict(data)
        define = self.images(self.pieces(free), environment, scope)
        unknowns = [v for v in self.unknowns if among is None or v in among]
        evaluate(unknowns, environment, define, scope)
        return environment, define.log_jacobian

    def pieces(self, free: Any) -> dict[Variable, Any]:
        """The free numbers of each unknown.

        They are read by one split, whose derivative is one concatenation.
        """
        parts: Sequence[Any] = jax.lax.split(free, self.sizes) if len(self.sizes) > 1 else (free,)
        return dict(zip(self.unknowns, parts, strict=True))

    def images(
        self, pieces: Mapping[Variable, Any], environment: Environment, scope: Scope | None
    ) -> "_Images":
        """The images of free numbers, which `evaluate` takes as a definition."""
        return _Images(self.bijectors, pieces, environment, scope)

    def log_density(
        self, free: Any, data: Environment, *, adjusted: bool = True, scope: Scope | None = None
    ) -> Any:
        """The log density of the free state, without Jacobians unless `adjusted`."""
        scope = replace(Scope() if scope is None else scope, indices=self.indices or None)
        if self.batches is None:
            environment, log_jacobian = self.values(free, data, scope)
            total = self._total(self.terms, environment, scope)
        else:
            total, log_jacobian = self._by_batches(self.batches, free, data, scope)
        if FAULT in scope.trips:
            # No error is raised here for an index outside of its axis, and a value that was read
            # there may look like any other value.
            total = jnp.where(scope.trips[FAULT].most != 0, jnp.nan, total)
        return (total + log_jacobian if adjusted else total).astype(free.dtype)

    def _total(
        self, terms: Sequence[Term], environment: Environment, scope: Scope, define: Any = None
    ) -> Any:
        needed = [node for term in terms for node in term.needs()]
        evaluate(needed, environment, define, scope)
        return sum((term.value(environment, scope) for term in terms), start=jnp.zeros(()))

    def _by_batches(
        self, batches: Batches, free: Any, data: Environment, scope: Scope
    ) -> tuple[Any, Any]:
        """The total and the log Jacobians, with alike terms batched."""
        images, log_jacobian = batches.unknowns(free, self.slices)
        parts = {v: piece for v, piece in self.pieces(free).items() if v not in batches.row}
        environment: Environment = dict(data)
        single = self.images(parts, environment, scope)

        def define(node: Node, environment: Environment) -> Any:
            if node in batches.row:
                return batches.one(node, images, environment)  # type: ignore[arg-type]
            return single(node, environment)

        def ensure(node: Node) -> Any:
            evaluate((node,), environment, define, scope)
            return environment[node]

        evaluate(tuple(parts), environment, define, scope)
        single_terms = [term for term in self.terms if term not in batches.terms]
        total = self._total(single_terms, environment, scope, define)
        total = total + batches.total(images, environment, ensure)
        return total, log_jacobian + single.log_jacobian

    def value_and_gradient(
        self, free: Any, data: Environment, capacity: Capacity, *, adjusted: bool = True
    ) -> tuple[Any, Any, tuple[Any, ...]]:
        """The log density, its gradient, and what its loops report."""
        try:
            return self._value_and_gradient(free, data, capacity, adjusted)
        except (TypeError, ValueError) as error:
            named = refused_derivative((*self.nodes, *self.maps), error)
            if named is None:
                raise
            raise named from error

    def _value_and_gradient(
        self, free: Any, data: Environment, capacity: Capacity, adjusted: bool
    ) -> tuple[Any, Any, tuple[Any, ...]]:
        log_density = partial(self.log_density, data=data, adjusted=adjusted)
        if not self.loops:
            value, gradient = jax.value_and_grad(log_density)(free)
            return value, self._spoilt(value, gradient), ()

        def function(free: Any, anchor: Any) -> Any:
            scope = Scope(capacity=capacity, live=self.live).derived(REVERSE, anchor)
            return log_density(free, scope=scope), scope.reports(self.loops)

        anchor = jnp.zeros((), free.dtype)
        (value, reports), (gradient, _) = jax.value_and_grad(function, (0, 1), has_aux=True)(
            free, anchor
        )
        return value, self._spoilt(value, gradient), reports

    def _spoilt(self, value: Any, gradient: Any) -> Any:
        """The gradient, set to NaN where the value is NaN.

        An index outside of its axis has no gradient.
        """
        return jnp.where(jnp.isnan(value), jnp.nan, gradient) if self.indices else gradient

    def targets(
        self, free: Any, targets: Sequence[Node], data: Environment, scope: Scope | None = None
    ) -> tuple[Any, ...]:
        """The tensors of the targets at a free state."""
        needed = [*targets, *(() if self.marginal is None else self.marginal.needs())]
        environment, _ = self.values(free, data, scope, set(ancestors(needed)))
        if self.marginal is not None and self._asks_for_summed(targets):
            evaluate(self.marginal.needs(), environment, scope=scope)
            environment.update(self.marginal.draw(environment, free))
        evaluate(targets, environment, scope=scope)
        return tuple(environment[node] for node in targets)

    def _asks_for_summed(self, targets: Sequence[Node]) -> bool:
        assert self.marginal is not None
        return not set(self.marginal.discrete).isdisjoint(ancestors(targets))

    def free_state(self, values: dict[Variable, Any], data: Environment) -> Any:
        """The free state of given values of all unknowns."""
        environment: Environment = dict(data)
        for node, value in values.items():
            environment[node] = value
        parts = []
        for node in self.unknowns:
            evaluate(node.parents, environment)
            part = self.bijectors[node].inverse(
                environment[node], lambda b: environment[b] if isinstance(b, Node) else b
            )
            parts.append(jnp.reshape(part, -1))
        return jnp.concatenate(parts) if parts else jnp.zeros(0)


class _Images:
    """Computes unknowns from their free numbers, and adds up log Jacobians."""

    def __init__(
        self,
        bijectors: Mapping[Variable, SupportBijector],
        pieces: Mapping[Variable, Any],
        environment: Environment,
        scope: Scope | None,
    ) -> None:
        self.bijectors, self.pieces, self.environment = bijectors, pieces, environment
        self.scope = scope
        self.log_jacobian: Any = 0.0

    def _lookup(self, bound: Any) -> Any:
        return self.environment[bound] if isinstance(bound, Node) else bound

    def __call__(self, node: Node, environment: Environment) -> Any:
        assert isinstance(node, Variable)
        transform = self.bijectors[node]
        part = self.pieces[node].reshape(transform.free_shape)
        image = transform.image(part, self._lookup, self.scope)
        for kind, form in node.forms_in_use.items():
            environment[form] = image.forms[kind].astype(form.dtype)
        self.log_jacobian = self.log_jacobian + image.log_jacobian
        return image.value.astype(node.dtype)
