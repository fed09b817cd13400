"""One chain as one compiled program, run in blocks.

A block advances a chain until it has made the wished number of transitions or has spent its
gradients. The chain's whole state goes in and comes out, so a chain does not depend on how it is
cut into blocks. The model's gradient appears once in the program: finding a starting point,
warm-up and sampling share one loop.

    search      the position is not set: each turn evaluates a point drawn from uniform(-2, 2)
    warm-up     transitions 0 .. warmup - 1, after each of which the tuning is updated
    sampling    transitions warmup .. warmup + draws thin - 1, of which each thin-th is kept

For one chain the transition is a loop of turns inside a loop of transitions. In a batch of chains
there is one loop of turns only, in which each chain opens its next transition as soon as the last
one is finished, so that no chain waits for another's.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..graph.control.subgraph import Looping, loops_in
from ..graph.lower import Scope, Trips
from ..graph.node import Node, ancestors
from ..models.density import data_environment
from ..models.model import Model
from ..models.starts import START_ATTEMPTS
from ..samplers.protocol import Info, Noise, Position, Sampler, Statistic
from ..streams.draws import uniforms
from ..warmup.schedule import Adaptation, Warmup

__all__ = ["ROWS", "Block", "ChainState", "Plan", "Program", "Where", "GIVEN_UP"]

ROWS = 1000  # draws a block can hold at most,
ELEMENTS = 2**20  # and numbers, so that its memory is bounded
GIVEN_UP = START_ATTEMPTS + 1
STEP_SIZE = Statistic("step_size", float, "the step size of the transition")
_START = 0  # the purpose of the random numbers of starting points; samplers use others


class ChainState(NamedTuple):
    """Everything a chain is: a pytree that can be saved and continued."""

    position: Position
    adaptation: Adaptation
    key: Any
    transition: Any  # transitions made so far, warm-up included
    attempts: Any  # starting points tried
    started: Any  # whether a starting point was found
    gradients: Any  # gradients evaluated so far
    divergences: Any  # since warm-up


class Plan(NamedTuple):
    """What a block is to do: values of the compiled program, not part of it."""

    warmup: Any
    thin: Any
    until: Any  # stop before this transition
    gradients: Any  # or after this many gradients


class Block(NamedTuple):
    """What a block gives: new rows, and where the chain is, in few arrays to copy out."""

    progress: Any  # whole numbers, in the order of `Where`
    step_size: Any
    statistics: Any
    targets: tuple[Any, ...]
    reports: tuple[Any, ...]  # of the loops in the model's graph


class Where(NamedTuple):
    """Where a chain is after a block."""

    rows: Any  # new draws
    transition: Any
    gradients: Any
    divergences: Any
    started: Any
    attempts: Any


class _Loop(NamedTuple):
    chain: ChainState
    free: Any
    statistics: Any
    count: Any
    spent: Any
    reports: tuple[Trips, ...]  # of the loops in the model's graph


@dataclass(frozen=True)
class Program:
    """The program of a model, a sampler and what is to be recorded."""

    model: Model
    sampler: Sampler
    targets: Sequence[Node]

    @property
    def dtype(self) -> np.dtype:
        """The type of the free state."""
        unknowns = self.model.component.unknowns
        return np.result_type(*(v.dtype for v in unknowns))

    @property
    def statistics(self) -> tuple[Statistic, ...]:
        """What is recorded of each draw: the sampler's statistics, and the run's."""
        return (*self.sampler.statistics, STEP_SIZE)

    @cached_property
    def loops(self) -> tuple[Looping, ...]:
        """The loops in the graph of the log density and of the targets."""
        nodes = ancestors([*self.model.density.nodes, *self.targets])
        return tuple(dict.fromkeys(loops_in(nodes)))

    @property
    def rows(self) -> int:
        """How many draws a block can hold."""
        width = self.model.free_size + sum(node.size for node in self.targets)
        return int(np.clip(ELEMENTS // max(width, 1), 1, ROWS))

    def initial(self, key: Any, free: Any = None) -> ChainState:
        """The state before the first block; a given free state is tried first, and only."""
        size = self.model.free_size
        q = np.zeros(size, self.dtype) if free is None else np.asarray(free, self.dtype)
        zeros = np.zeros(size, self.dtype)
        position = Position(q, np.zeros((), self.dtype), zeros)
        return ChainState(
            position=position,
            adaptation=Warmup.blank(size, self.dtype),
            key=np.asarray(key, np.uint32),
            transition=np.int32(0),
            attempts=np.int32(0 if free is None else -1),
            started=np.bool_(False),
            gradients=np.int64(0),
            divergences=np.int32(0),
        )

    def block(self, chain: ChainState, data: Sequence[Any], plan: Plan) -> tuple[ChainState, Block]:
        """Advance one chain: a loop of turns inside a loop of transitions."""
        steps = _Steps(self, data, plan)

        def transition(loop: _Loop) -> _Loop:
            opened = steps.open(loop.chain)

            def unfinished(carry: tuple[Any, ...]) -> Any:
                return ~carry[2] & ~_any_short(carry[3])

            def turn(carry: tuple[Any, ...]) -> tuple[Any, ...]:
                return steps.turn(loop.chain, carry[0], carry[3])

            first = (*steps.turn_zero(opened), loop.reports)
            state, point, _, reports = lax.while_loop(unfinished, turn, first)
            loop = loop._replace(reports=reports)
            return steps.close(loop, state, point)

        return steps.result(lax.while_loop(steps.more, transition, steps.start(chain)))

    def flat_block(
        self, chain: ChainState, data: Sequence[Any], plan: Plan
    ) -> tuple[ChainState, Block]:
        """The same, as one loop of turns: for a batch of chains under `vmap`."""
        steps = _Steps(self, data, plan)

        def more(carry: tuple[_Loop, Any]) -> Any:
            return steps.more(carry[0])

        def turn(carry: tuple[_Loop, Any]) -> tuple[_Loop, Any]:
            loop, state = carry
            state, point, finished, reports = steps.turn(loop.chain, state, loop.reports)
            loop = loop._replace(reports=reports)

            def close(_: None) -> tuple[_Loop, Any]:
                closed = steps.close(loop, state, point)
                return closed, steps.open(closed.chain)

            return lax.cond(finished, close, lambda _: (loop, state), None)

        loop, _ = lax.while_loop(more, turn, (steps.start(chain), steps.open(chain)))
        return steps.result(loop)


def _any_short(reports: tuple[Trips, ...]) -> Any:
    """Whether a gradient may be wrong for want of room: the block is then of no use."""
    short = np.bool_(False)
    for trips in reports:
        short = short | trips.short
    return short


class _Steps:
    """The pieces both loops are made of."""

    def __init__(self, program: Program, data: Sequence[Any], plan: Plan) -> None:
        self.program, self.plan = program, plan
        self.sampler, self.model = program.sampler, program.model
        self.warmup = Warmup(program.sampler)
        self.data = data_environment(self.model.arguments, data)
        self.room = self.model.room

    def noise(self, chain: ChainState) -> Noise:
        return Noise(chain.key, chain.transition)

    def start(self, chain: ChainState) -> _Loop:
        rows = jnp.zeros((self.program.rows, self.model.free_size), chain.position.q.dtype)
        statistics = jnp.zeros((self.program.rows, len(self.program.statistics)), rows.dtype)
        reports = Scope().reports(self.program.loops)
        return _Loop(chain, rows, statistics, jnp.int32(0), jnp.int64(0), reports)

    def more(self, loop: _Loop) -> Any:
        chain = loop.chain
        return (
            (chain.transition < self.plan.until)
            & (loop.spent < self.plan.gradients)
            & (loop.count < self.program.rows)
            & (chain.started | (chain.attempts < GIVEN_UP))
            & ~_any_short(loop.reports)
        )

    def open(self, chain: ChainState) -> Any:
        """A new transition; while the chain has no position, its state is only carried along."""
        arguments = chain.position, chain.adaptation.tuned, self.noise(chain)
        if not getattr(self.sampler, "uses_density", False):
            return self.sampler.begin(*arguments)
        # From no position no move is made: nothing compares with NaN.
        known = jnp.where(chain.started, chain.position.log_density, jnp.nan)
        position = chain.position._replace(log_density=known)
        begin: Any = self.sampler.begin
        return begin(position, *arguments[1:], self.log_density)

    def log_density(self, q: Any) -> Any:
        """The log density alone; -inf where it is not a number."""
        value = self.model.density.log_density(q, self.data, scope=Scope(room=self.room))
        return jnp.where(jnp.isnan(value), -jnp.inf, value)

    def turn_zero(self, state: Any) -> tuple[Any, Position, Any]:
        """What the loop of turns starts from."""
        size, dtype = self.model.free_size, self.program.dtype
        blank = jnp.zeros(size, dtype)
        return state, Position(blank, jnp.zeros((), dtype), blank), jnp.array(False)

    def turn(
        self, chain: ChainState, state: Any, reports: tuple[Trips, ...]
    ) -> tuple[Any, Position, Any, tuple[Trips, ...]]:
        """One gradient: at the point the sampler asks for, or at a possible starting point."""
        tuned = chain.adaptation.tuned
        q = jnp.where(chain.started, self.sampler.ask(state, tuned), chain.position.q)
        density = self.model.density
        value, gradient, found = density.value_and_gradient(q, self.data, self.room)
        scope = Scope()
        scope.receive(self.program.loops, reports)
        scope.receive(density.loops, found)
        point = Position(q, value, gradient)
        state = self.sampler.tell(state, point, tuned, self.noise(chain))
        finished = self.sampler.finished(state) | ~chain.started
        return state, point, finished, scope.reports(self.program.loops)

    def _starting_point(self, chain: ChainState) -> Any:
        u = uniforms(chain.key, chain.attempts, _START, self.model.free_size)
        return (4.0 * u - 2.0).astype(self.program.dtype)

    def close(self, loop: _Loop, state: Any, point: Position) -> _Loop:
        """After a transition, or after a starting point was tried.

        What is large, the buffers of rows, is written whatever happened, and a row that is not
        kept is overwritten by the next one: a branch on it would copy it.
        """
        chain, plan, started = loop.chain, self.plan, loop.chain.started
        tuned = chain.adaptation.tuned
        moved, info = self.sampler.end(state)
        finite = jnp.isfinite(point.log_density) & jnp.all(jnp.isfinite(point.gradient))
        # Attempt 0 only makes room for the first random point; -1 is a point the user gave,
        # which is not replaced by another.
        good = finite & (chain.attempts != 0)
        tried = jnp.where((chain.attempts < 0) & ~good, GIVEN_UP, chain.attempts + 1)
        done = chain.transition
        warming = done < plan.warmup
        spent = jnp.where(started, info.gradients, 1)
        position = jax.tree.map(lambda a, b: jnp.where(started, a, b), moved, point)
        chain = chain._replace(
            position=position,
            adaptation=self._adapt(chain, point, moved, info, warming),
            attempts=jnp.where(started, chain.attempts, tried),
            started=started | good,
            transition=done + started,
            gradients=chain.gradients + spent,
            divergences=chain.divergences + (started & info.diverging & ~warming),
        )
        chain = self._with_candidate(chain, ~chain.started & (tried < GIVEN_UP))
        step_size = jnp.asarray(tuned.step_size, info.statistics.dtype)
        statistics = jnp.concatenate([info.statistics, step_size[None]])
        kept = started & ~warming & ((done + 1 - plan.warmup) % plan.thin == 0)
        return _Loop(
            chain,
            lax.dynamic_update_index_in_dim(loop.free, position.q, loop.count, 0),
            lax.dynamic_update_index_in_dim(loop.statistics, statistics, loop.count, 0),
            loop.count + kept,
            loop.spent + spent,
            loop.reports,
        )

    def _with_candidate(self, chain: ChainState, wanted: Any) -> ChainState:
        """Put the next starting point to try where the position will be."""
        q = lax.cond(
            wanted, lambda _: self._starting_point(chain), lambda _: chain.position.q, None
        )
        return chain._replace(position=chain.position._replace(q=q))

    def _adapt(
        self, chain: ChainState, point: Position, moved: Position, info: Info, warming: Any
    ) -> Adaptation:
        """Begin warm-up at the starting point, update it while warming, then leave it alone."""

        def keep(_: None) -> Adaptation:
            return chain.adaptation

        def update(_: None) -> Adaptation:
            return self.warmup.update(
                chain.adaptation, chain.transition, self.plan.warmup, moved, info
            )

        def begin(_: None) -> Adaptation:
            return self.warmup.start(point)

        which = jnp.where(chain.started, warming.astype(jnp.int32), 2)
        return lax.switch(which, (keep, update, begin), None)

    def result(self, loop: _Loop) -> tuple[ChainState, Block]:
        targets, loops = tuple(self.program.targets), self.program.loops

        def record(q: Any, row: Any) -> Any:
            # Rows that hold no draw are computed, too, but no loop turns for them.
            scope = Scope(room=self.room, active=row < loop.count if loops else None)
            values = self.model.density.targets(q, targets, self.data, scope)
            return values, scope.reports(loops)

        values, found = jax.vmap(record)(loop.free, jnp.arange(self.program.rows))
        scope = Scope()
        scope.receive(loops, loop.reports)
        scope.receive(loops, [[jnp.max(x, 0) for x in trips] for trips in found])
        chain = loop.chain
        where = Where(
            loop.count,
            chain.transition,
            chain.gradients,
            chain.divergences,
            chain.started,
            chain.attempts,
        )
        progress = jnp.stack([jnp.asarray(number, jnp.int64) for number in where])
        step_size = chain.adaptation.tuned.step_size
        reports = scope.reports(loops)
        return chain, Block(progress, step_size, loop.statistics, values, reports)
