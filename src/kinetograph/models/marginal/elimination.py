"""Elimination of discrete unknowns, one after the other, and their draws.

    p(rest) = sum_z p(rest, z),   z ~ p(z | rest), the last one eliminated is drawn first

Each step adds up the tables that contain an unknown, keeps the sum for the draws, and leaves a
table over the other unknowns in it. Unknowns with fewer neighbours are eliminated first. The
elements of an array are eliminated side by side, and a Markov chain by the forward algorithm.

Sources: D. Koller, N. Friedman (2009), Probabilistic Graphical Models, chapter 9; L. R. Rabiner
(1989), A tutorial on hidden Markov models, Proceedings of the IEEE 77.
"""

import math
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ...distributions.markov_chain import MARKOV_CHAIN, log_steps
from ...distributions.variable import Variable
from ...graph.errors import ModelError
from ...graph.lower import Environment
from ...graph.messages import describe, site_text
from ...graph.numerics.log_sums import logsumexp
from .domains import Domain
from .tables import COMBINATIONS, NUMBERS

__all__ = ["Elimination", "AtomTable", "EliminationStep"]

Numbers = Callable[[Variable], Any]  # gives uniform numbers, one for each element


@dataclass(frozen=True)
class AtomTable:
    """A table over some unknowns.

    It has an axis for each unknown, and a last axis for the atoms. A chain that is named twice has
    axes for an element and the next one; the atoms are then the pairs of neighbours.
    """

    variables: tuple[Variable, ...]
    table: Any = None


@dataclass(frozen=True)
class EliminationStep:
    """The elimination of an unknown, and the other unknowns in its table."""

    variable: Variable
    neighbours: tuple[Variable, ...]
    chain: bool


def is_chain(variable: Variable) -> bool:
    """Whether an unknown follows the distribution of Markov chains."""
    distribution = variable.distribution
    return distribution is not None and distribution.family is MARKOV_CHAIN


class Elimination:
    """The order in which unknowns are eliminated."""

    def __init__(
        self,
        variables: Sequence[Variable],
        domains: Mapping[Variable, Domain],
        scopes: Any,
        chains: Set[Variable] = frozenset(),
    ) -> None:
        self.domains = domains
        chains = chains | {v for v in variables if is_chain(v)}
        self.steps: list[EliminationStep] = []
        remaining = list(variables)
        sets = [set(scope) for scope in scopes]
        while remaining:
            by_variable = {
                v: set().union(*(s for s in sets if v in s), {v}) - {v} for v in remaining
            }
            # Arrays first: their elements are independent of each other given the single ones.
            # Then chains, whose elements depend on one another: no array may be left with a chain.
            variable = min(
                remaining, key=lambda v: (v.size == 1, v in chains, len(by_variable[v]), -v.serial)
            )
            neighbours = tuple(sorted(by_variable[variable], key=lambda v: v.serial))
            self._check(variable, neighbours)
            sets = [s for s in sets if variable not in s] + [set(neighbours)]
            remaining.remove(variable)
            chain = variable in chains
            if chain and any(o.size > 1 for o in neighbours):
                raise ModelError(
                    f"model: the Markov chain {describe(variable)}{site_text(variable)} cannot be "
                    f"marginalised together with {', '.join(map(describe, neighbours))}, on which "
                    "the same part of the density depends"
                )
            self.steps.append(EliminationStep(variable, neighbours, chain))

    def _check(self, variable: Variable, neighbours: tuple[Variable, ...]) -> None:
        size = math.prod(len(self.domains[v].values) for v in (variable, *neighbours))
        single = variable.size == 1 and all(o.size == 1 for o in neighbours)
        most = NUMBERS if single else COMBINATIONS
        if size > most:
            names = ", ".join(map(describe, (variable, *neighbours)))
            raise ModelError(
                f"model: to marginalise {describe(variable)}{site_text(variable)}, {names} have "
                f"{size} combinations of values; at most {most} are allowed"
            )

    def run(self, factors: Sequence[AtomTable], environment: Environment) -> tuple[Any, list[Any]]:
        """The logarithm of the whole sum, and the state of each step.

        `draw` takes these states.
        """
        parts, states = self.parts(factors, environment)
        return sum(jnp.sum(part) for part in parts), states

    @cached_property
    def ends(self) -> dict[Variable, tuple[int, int]]:
        """The last table that each unknown reaches, and its number of sums.

        The sums are independent of one another.
        """
        ends: dict[Variable, tuple[int, int]] = {}
        for step in reversed(self.steps):
            if step.neighbours:
                ends[step.variable] = ends[step.neighbours[0]]
            else:
                place = self._last.index(step)
                ends[step.variable] = place, self.counts[place]
        return ends

    @cached_property
    def _last(self) -> list[EliminationStep]:
        return [step for step in self.steps if not step.neighbours]

    @cached_property
    def counts(self) -> list[int]:
        """The number of sums in each last table."""
        lengths = [step.variable.shape[-1] if step.chain else 1 for step in self._last]
        return [s.variable.size // n for s, n in zip(self._last, lengths, strict=True)]

    def parts(
        self, factors: Sequence[AtomTable], environment: Environment
    ) -> tuple[Any, list[Any]]:
        """The logarithms of the sums over independent groups of unknowns."""
        factors_left, states = list(factors), []
        for step in self.steps:
            own_factors = [f for f in factors_left if step.variable in f.variables]
            factors_left = [f for f in factors_left if step.variable not in f.variables]
            single = [f for f in own_factors if f.variables.count(step.variable) == 1]
            pairs = [f for f in own_factors if f.variables.count(step.variable) == 2]
            table = self._combined(step, single)
            if step.chain:
                axes = (step.variable, step.variable, *step.neighbours)
                links = _total(axes, pairs) if pairs else None
                table, state = _forward(step, table, links, environment)
            else:
                state, table = table, logsumexp(table, 0)
            states.append(state)
            if (
                step.neighbours
                and step.variable.size > 1
                and all(o.size == 1 for o in step.neighbours)
            ):
                table = jnp.sum(table, -1, keepdims=True)
            factors_left.append(AtomTable(step.neighbours, table))
        return [f.table for f in factors_left], states

    def _combined(self, step: EliminationStep, factors: Sequence[AtomTable]) -> Any:
        """The sum of tables.

        It has an axis for the unknown of the step, for each other unknown, and for the atoms.
        """
        total = _total((step.variable, *step.neighbours), factors)
        possible = self.domains[step.variable].possible
        if possible.all():
            return total
        ones = (1,) * len(step.neighbours)
        return jnp.where(possible.reshape(len(possible), *ones, -1), total, -jnp.inf)

    def draw(self, states: Sequence[Any], numbers: Numbers) -> dict[Variable, Any]:
        """Values of all unknowns, given the states from `run`."""
        chosen: dict[Variable, Any] = {}
        for step, state in zip(reversed(self.steps), reversed(states), strict=True):
            neighbour_values = [chosen[o] for o in step.neighbours]
            u = numbers(step.variable).reshape(-1)
            if step.chain:
                index = _backward(step, state, neighbour_values, u)
            else:
                index = _pick(_given(state, neighbour_values, u.size), u)
            chosen[step.variable] = index
        return {
            v: jnp.asarray(self.domains[v].values)[index].reshape(v.shape).astype(v.dtype)
            for v, index in chosen.items()
        }


def _total(axes: Sequence[Variable], factors: Sequence[AtomTable]) -> Any:
    """The sum of tables, with these axes and the atoms."""
    total: Any = 0.0 if factors else jnp.zeros((1,) * (len(axes) + 1))
    for factor in factors:
        left: list[Variable | None] = list(factor.variables)
        order: list[int] = []
        wide: list[bool] = []
        for v in axes:
            wide.append(v in left)
            if v in left:
                order.append(left.index(v))
                left[order[-1]] = None
        table = jnp.transpose(factor.table, (*order, len(order)))
        shape = iter(table.shape)
        total = total + table.reshape(*(next(shape) if w else 1 for w in wide), table.shape[-1])
    return total


def _given(table: Any, neighbour_values: Sequence[Any], atoms: int) -> Any:
    """The table at given values of the other unknowns: (values, atoms)."""
    table = jnp.broadcast_to(table, (*table.shape[:-1], atoms))
    if not neighbour_values:
        return table
    places = [jnp.broadcast_to(o, (atoms,)) for o in neighbour_values]
    return jax.vmap(lambda column, *at: column[(slice(None), *at)], (-1, *[0] * len(places)), -1)(
        table, *places
    )


def _pick(logits: Any, u: Any) -> Any:
    """The first value at which the cumulative share exceeds u."""
    top = jnp.max(logits, 0, keepdims=True)
    shares = jnp.exp(logits - jnp.where(jnp.isfinite(top), top, 0.0))
    bounds = jnp.cumsum(shares, 0)
    return jnp.sum(u * bounds[-1] >= bounds[:-1], 0)


def _forward(
    step: EliminationStep, table: Any, links: Any, environment: Environment
) -> tuple[Any, Any]:
    """The forward algorithm over the last axis of a chain.

    It runs for all values of the other unknowns. `links` has the log probabilities of the
    transitions, if the chain follows no distribution of chains.
    """
    variable = step.variable
    *batch, length = variable.shape
    states, sizes = table.shape[0], table.shape[1:-1]
    log_first: Any = 0.0
    if links is None:
        assert variable.distribution is not None
        initial, transition = (environment[p] for p in variable.distribution.parents)
        log_first, log_next = log_steps(initial, transition)
        states = log_first.shape[-1]
        log_first = jnp.broadcast_to(log_first, (*batch, states))
        log_next = jnp.broadcast_to(log_next, (*batch, states, states))
    else:
        states = links.shape[0]
        sizes = np.broadcast_shapes(sizes, links.shape[2:-1])
        wide = jnp.broadcast_to(links, (states, states, *sizes, links.shape[-1]))
        wide = wide.reshape(states, states, *sizes, *batch, length - 1)
        log_next = jnp.moveaxis(wide, (0, 1, -1), (-2, -1, 0))  # one for each pair of neighbours
    flat = jnp.broadcast_to(table, (states, *sizes, variable.size))
    tables = jnp.moveaxis(flat.reshape(states, *sizes, *batch, length), (0, -1), (-1, 0))

    def forward(before: Any, now: Any) -> Any:
        link, table = now
        after = logsumexp(before[..., None] + (log_next if link is None else link), -2) + table
        return after, after

    first = log_first + tables[0]
    each = None if links is None else log_next
    last, later = lax.scan(forward, first, (each, tables[1:]))
    filtered = jnp.concatenate([first[None], later])
    total = logsumexp(last, -1)
    return total.reshape(*sizes, -1), (filtered, log_next, links is not None)


def _backward(step: EliminationStep, state: Any, neighbour_values: Sequence[Any], u: Any) -> Any:
    """The states of a chain, drawn from the last one backward."""
    filtered, log_next, each = state
    *batch, length = step.variable.shape
    at = tuple(o.reshape(()) for o in neighbour_values)
    filtered = filtered[(slice(None), *at)]  # (length, *batch, states)
    links = log_next[(slice(None), *at)] if each else None
    u = jnp.moveaxis(u.reshape(*batch, length), -1, 0)

    def pick(logits: Any, u: Any) -> Any:
        return _pick(jnp.moveaxis(logits, -1, 0), u)

    def backward(after: Any, now: Any) -> Any:
        logits, u, link = now
        link = log_next if link is None else link
        into = jnp.take_along_axis(link, after[..., None, None], -1)[..., 0]
        state = pick(logits + into, u)
        return state, state

    last = pick(filtered[-1], u[-1])
    _, earlier = lax.scan(backward, last, (filtered[:-1], u[:-1], links), reverse=True)
    return jnp.moveaxis(jnp.concatenate([earlier, last[None]]), 0, -1).reshape(-1)
