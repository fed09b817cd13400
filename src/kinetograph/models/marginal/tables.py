"""Terms that depend on discrete unknowns, for all values of these."""

import math
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...distributions.variable import Distribution, Variable
from ...graph.control.control_node import loops_in
from ...graph.errors import ModelError
from ...graph.faults import FAULT
from ...graph.lower import Environment, Scope, evaluate
from ...graph.messages import describe, site_text
from ...graph.node import Apply, Data, Node, ancestors
from ...graph.operations.elementwise import WHERE
from ...graph.rewriting.slopes import has_finite_slopes
from ...graph.trips import Trips
from .advice import CHAIN_ADVICE, singles_text
from .owners import NONE, SEVERAL, merged, merged_along, owners_of, thin_shapes

__all__ = ["COMBINATIONS", "NUMBERS", "Table", "depends", "grouped"]

COMBINATIONS = 10_000  # largest number of combinations of values, if each costs much
NUMBERS = 4_000_000  # largest number of numbers in a table


def depends(nodes: Iterable[Node], on: Iterable[Node]) -> set[Node]:
    """The nodes that are computed from given ones; parents come first."""
    dependent = set(on)
    for node in nodes:
        if any(parent in dependent for parent in node.parents):
            dependent.add(node)
    return dependent


def _guarded(order: Sequence[Node], dependent: Container[Node]) -> set[Node]:
    """Nodes in sides of dependent `where` whose slopes may be infinite.

    They are computed again together with the `where`, which chooses their derivatives.
    """
    choices = [n for n in order if n in dependent and getattr(n, "operation", None) is WHERE]
    sides = set(ancestors([side for choice in choices for side in choice.parents[1:]]))
    guarded: set[Node] = set()
    for node in order:
        if node not in sides or node in dependent or type(node) is not Apply:
            continue
        if not has_finite_slopes(node) or not guarded.isdisjoint(node.parents):
            guarded.add(node)
    return guarded


class Table:
    """A term, and the discrete unknowns that it depends on."""

    def __init__(self, term: Any, discrete: Sequence[Variable], domains: Any) -> None:
        self.term = term
        roots = term.plain_needs()
        order = ancestors(roots)
        inside = set(order)
        self.variables = tuple(v for v in discrete if v in inside)
        self.domains = {v: domains[v] for v in self.variables}
        self.sizes = tuple(len(self.domains[v].values) for v in self.variables)
        dependent = depends(order, self.variables)
        if any(isinstance(n, Variable) and n not in self.domains for n in dependent):
            dependent = self._without_supports(order)
        self.guarded = _guarded(order, dependent)
        computed = dependent | self.guarded
        self.captured = tuple(
            dict.fromkeys(
                p
                for n in order
                if n in computed and n not in self.domains
                for p in n.parents
                if p not in computed
            )
        )
        self.captured += tuple(n for n in roots if n not in dependent and n not in self.captured)
        self.loops = tuple(loops_in([n for n in order if n in dependent]))
        self.owner = self._owners([n for n in order if n in dependent])

    def _without_supports(self, order: list[Node]) -> set[Node]:
        bad = depends(order, self.variables)
        node = next(n for n in order if isinstance(n, Variable) and n in bad - set(self.domains))
        raise ModelError(
            f"model: a bound of {describe(node)}{site_text(node)} depends on "
            f"the discrete unknown {self._names()}; an unknown that bounds depend on cannot be "
            "marginalised"
        )

    def _names(self) -> str:
        return ", ".join(describe(v) for v in self.variables)

    def check_size(self) -> None:
        """Refuse a table of too many combinations of values (ModelError)."""
        combinations = math.prod(self.sizes)
        few = COMBINATIONS if self.owner is not None or self.loops else NUMBERS // self._elements
        if combinations > max(few, COMBINATIONS):
            raise ModelError(
                f"model: {self._what()} depends on {self._names()} together. To marginalise them, "
                f"{combinations} combinations of values are needed; at most "
                f"{max(few, COMBINATIONS)} are allowed for {self._elements} elements. More are "
                "allowed if the elements depend on the unknowns only through comparisons with "
                "known numbers, such as kg.where(t < s, a, b); else use fewer values"
            )

    @property
    def _elements(self) -> int:
        """The number of elements of the term."""
        return max(math.prod(self.shape), 1)

    def _what(self) -> str:
        node, target = self.term.node, self.term.target
        if isinstance(node, Distribution) and target is not None:
            title = "likelihood" if isinstance(target, Data) else "prior"
            return f"the {title} of {describe(target)}{site_text(target)}"
        return f"the factor {describe(node)}{site_text(node)}"

    @cached_property
    def atoms(self) -> int:
        """The number of independent sums.

        It is the size of the arrays among the unknowns.
        """
        return max((v.size for v in self.variables), default=1)

    def _owners(self, order: list[Node]) -> np.ndarray | None:
        """The atom of each element of the term; None for one atom."""
        arrays = [v for v in self.variables if v.size > 1]
        if not arrays:
            return None
        if len({v.size for v in arrays}) > 1:
            sizes = ", ".join(f"{describe(v)} {v.shape}" for v in arrays)
            raise self._several(arrays, f"unknowns of different sizes at once: {sizes}")
        each = [self._owners_of(v, order) for v in arrays]
        owners = merged(*each)
        if (owners == SEVERAL).any():
            names = ", ".join(describe(v) for v in arrays)
            raise self._several(arrays, f"several elements of {names} at once")
        return np.where(owners == NONE, 0, owners).reshape(-1)

    def _several(self, arrays: list[Variable], title: str) -> ModelError:
        combinations = math.prod(len(self.domains[v].values) ** v.size for v in arrays)
        singles = singles_text(arrays) if combinations <= NUMBERS else ""
        return ModelError(
            f"model: an element of {self._what()} depends on {title}, so that they cannot be "
            f"marginalised one by one; {singles or CHAIN_ADVICE}"
        )

    def _owners_of(self, variable: Variable, order: list[Node]) -> np.ndarray:
        places = np.arange(variable.size).reshape(variable.shape)
        return self._owners_from({variable: places}, order)

    def _owners_from(self, node_owners: Mapping[Node, np.ndarray], order: list[Node]) -> np.ndarray:
        """The owners of the term's elements, given the owners of some nodes."""
        by_node = {
            n: owners_of(n, order, node_owners) for n in self.term.plain_needs() if n in set(order)
        }
        node = self.term.node
        if not isinstance(node, Distribution):
            owners = by_node.get(node)
            return np.full(node.shape, NONE) if owners is None else owners
        merged_pieces = []
        for piece, ndim in self._pieces():
            owners = by_node.get(piece)
            owners = np.full(piece.shape, NONE) if owners is None else owners
            if ndim:
                axes = tuple(range(owners.ndim - ndim, owners.ndim))
                owners = merged_along(owners, axes).reshape(owners.shape[: owners.ndim - ndim])
            merged_pieces.append(owners)
        return merged(*merged_pieces)

    def _pieces(self) -> list[tuple[Node, int]]:
        """The target and the parameters of a distribution, with event axes."""
        node, target = self.term.node, self.term.target
        if not isinstance(node, Distribution):
            return []
        pairs = zip(node.parents, node.family.parameters, strict=True)
        return [(target, node.family.event_ndim), *((p, q.event_ndim) for p, q in pairs)]

    @cached_property
    def thin(self) -> bool:
        """Whether one element can replace all elements of an array of unknowns.

        The array then has length 1, and so has each node that is computed from it until the last
        broadcast: mu[z] is one number for each value of z, instead of one for each value and each
        element.
        """
        ones: dict[Node, tuple[int, ...]] = {v: (1,) * len(v.shape) for v in self.variables}
        shapes = thin_shapes(ancestors(self.term.plain_needs()), ones)
        return shapes is not None and all(
            ndim == 0 or shapes.get(piece, piece.shape)[-ndim:] == piece.shape[-ndim:]
            for piece, ndim in self._pieces()
        )

    def sums_like(self, other: "Table") -> bool:
        """Whether another table sums the same elements over the same values."""
        if self.variables != other.variables or (self.owner is None) != (other.owner is None):
            return False
        domains = (
            np.array_equal(getattr(self.domains[v], part), getattr(other.domains[v], part))
            for v in self.variables
            for part in ("values", "possible")
        )
        return all(domains) and (self.owner is None or np.array_equal(self.owner, other.owner))  # type: ignore[arg-type]

    @property
    def constants(self) -> list[np.ndarray | None]:
        """Known values that are part of a program."""
        domains = [part for d in self.domains.values() for part in (d.values, d.possible)]
        return [*domains, self.owner]

    def evaluate(self, environment: Environment, scope: Scope) -> Any:
        """The log density for all values of the unknowns.

        It has an axis for each unknown, and one for the atoms.
        """
        totals = self._for_all(environment, scope, self._by_atom)
        if not isinstance(self.term.node, Distribution):  # which guards its own elements
            totals = self._guarded(totals, environment, scope)
        return self._shaped(totals)

    def _guarded(self, totals: Any, environment: Environment, scope: Scope) -> Any:
        """The same totals, without a slope where they are -inf.

        At such places the factor is computed at other values of the unknowns, at which it is
        finite, and then left out. The elements of arrays are changed one by one. If no values of
        the arrays make the factor finite, the values of the other unknowns are impossible, and the
        total has no slope.
        """
        is_impossible = jnp.isneginf(jax.lax.stop_gradient(totals))
        arrays = [i for i, v in enumerate(self.variables) if v.size > 1]
        moving = arrays or list(range(len(self.variables)))
        order = [*moving, *(i for i in range(len(self.variables)) if i not in moving)]
        sizes = [self.sizes[i] for i in order]
        count = int(np.prod(sizes[: len(moving)]))
        good = ~jnp.transpose(is_impossible.reshape(*self.sizes, -1), (*order, len(order)))
        good = good.reshape(count, -1, is_impossible.shape[-1])
        own_atoms = np.arange(count)[:, None, None]
        place = jnp.where(good, own_atoms, jnp.argmax(good, 0))
        dead = jnp.broadcast_to(~good.any(0).all(-1), good.shape[:-1]).reshape(-1)
        places = jnp.unravel_index(place, sizes[: len(moving)])
        still = np.unravel_index(np.arange(good.shape[1]), sizes[len(moving) :] or [1])
        choices: list[Any] = [None] * len(order)
        for k, i in enumerate(order):
            settings = jnp.asarray(self.domains[self.variables[i]].settings())
            at = places[k] if k < len(moving) else still[k - len(moving)][None, :, None]
            settings_found = settings[at, np.arange(settings.shape[1])]
            settings_found = jnp.broadcast_to(
                settings_found, (count, good.shape[1], settings_found.shape[-1])
            )
            choices[i] = settings_found.reshape(-1, settings_found.shape[-1])
        guarded = self._for_all(environment, scope, self._by_atom, choices, dead)
        back = (*np.argsort(order), len(order))
        guarded = jnp.transpose(guarded.reshape(*sizes, -1), back).reshape(totals.shape)
        return jnp.where(is_impossible, -jnp.inf, guarded)

    @property
    def element_count(self) -> int:
        """The number of numbers in `elements`."""
        return math.prod((*self.sizes, *self.shape))

    def elements(self, environment: Environment, scope: Scope) -> Any:
        """The log density of each element for all values: (values, *shape)."""
        return self._for_all(environment, scope, lambda each: jnp.broadcast_to(each, self.shape))

    def gathered(self, elements: Any) -> Any:
        """The result of `evaluate`, given the result of `elements`."""
        return self._shaped(jax.vmap(self._by_atom)(elements))

    def _shaped(self, totals: Any) -> Any:
        return totals.reshape(*self.sizes, -1)

    def _by_atom(self, elements: Any) -> Any:
        if self.owner is None:
            return jnp.sum(elements, keepdims=True).reshape(1)
        return grouped(self._flat(elements), self.owner, self.atoms)

    def _flat(self, elements: Any) -> Any:
        return jnp.broadcast_to(elements, self.shape).reshape(-1)

    def _for_all(
        self,
        environment: Environment,
        scope: Scope,
        of: Callable[[Any], Any],
        choices: Sequence[Any] | None = None,
        dead: Any = False,
    ) -> Any:
        """A function of the term's elements, for all values.

        `choices` may hold the values instead. The result has no slope where it is `dead`.
        """
        if choices is None:
            indices = np.indices(self.sizes).reshape(len(self.sizes), -1)
            pairs = zip(self.variables, indices, strict=True)
            choices = [self.domains[v].settings()[i] for v, i in pairs]
        return self._vmapped(environment, scope, of, self._unknowns_at, choices, dead)

    def _unknowns_at(self, values: Sequence[Any]) -> Environment:
        """The tensors of the unknowns with these values."""
        inside: Environment = {}
        for v, value in zip(self.variables, values, strict=True):
            alike = self.thin and value.size == 1
            shape = (1,) * len(v.shape) if alike else v.shape
            full = value if alike else jnp.broadcast_to(value, (v.size,))
            inside[v] = full.astype(v.dtype).reshape(shape)
        return inside

    def _vmapped(
        self,
        environment: Environment,
        scope: Scope,
        of: Callable[[Any], Any],
        tensors_at: Callable[[Sequence[Any]], Environment],
        choices: Sequence[Any],
        dead: Any,
    ) -> Any:
        """A function of the term's elements, for all choices of tensors."""
        given = {n: tensor for n, tensor in environment.items() if n not in self.guarded}
        names = (*self.loops, FAULT)

        def at(dead: Any, *values: Any) -> Any:
            inner = scope.inside(watch=None, live=None)
            inside = dict(given)
            if dead is not False:
                inside |= {n: _still(inside[n], dead) for n in self.captured if n in inside}
            inside |= tensors_at(values)
            evaluate(self.term.plain_needs(), inside, scope=inner)
            return of(self.term.guarded_elements(inside)), inner.reports(names)

        each = (None if dead is False else 0, *(0 for _ in choices))
        densities, reports = jax.vmap(at, each)(dead, *map(jnp.asarray, choices))
        for name, report in zip(names, reports, strict=True):
            if name is not FAULT or scope.indices is not None:
                scope.note(name, Trips(report[0].max(), *(r.any() for r in report[1:])))
        return densities

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The shape of the term's elements."""
        node = self.term.node
        if not isinstance(node, Distribution):
            return node.shape
        return node.batch_shape


def grouped(elements: Any, owner: np.ndarray, count: int) -> Any:
    """Sums of the elements of each owner."""
    if np.array_equal(owner, np.arange(count)):
        return elements  # a sum over single elements would be lowered to a scatter
    return jax.ops.segment_sum(elements, owner, count)


def _still(tensor: Any, dead: Any) -> Any:
    """The tensor, without a slope where it is dead."""
    tensor = jnp.asarray(tensor)
    if tensor.dtype.kind != "f":
        return tensor
    return jnp.where(dead, jax.lax.stop_gradient(tensor), tensor)
