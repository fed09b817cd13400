"""One chain as one compiled program, run in blocks.

A block advances a chain until it has made the wished number of transitions or has spent its
gradients. The chain's whole state goes in and comes out, so a chain does not depend on how it is
cut into blocks. Where the chain begins is another, small program (`search`).

    warm-up     transitions 0 .. warmup - 1, after each of which the tuning is updated
    sampling    transitions warmup .. warmup + draws thin - 1, of which each thin-th is kept

For one chain the kernel's step is called in a loop of transitions. In a batch of chains a kernel
with turns runs as one loop of turns, in which each chain opens its next transition as soon as the
last one is finished, so that no chain waits for another's.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..adaptation.schedule import Adaptation, Warmup
from ..graph.control.subgraph import Looping, loops_in
from ..graph.errors import ModelError
from ..graph.lower import Scope, Trips
from ..graph.node import Node, ancestors
from ..graph.precision import x64
from ..kernels.contract import Info, Kernel, Moment, Space, State, Statistic
from ..kernels.moments import Moments
from ..kernels.noise import BEFORE, Noise
from ..kernels.target import Position, Target, any_short
from ..models.density import data_environment
from ..models.model import Model
from ..observables.average import Average
from ..observables.graph import ObservableGraph
from ..observables.named import is_named, of_batch
from ..observables.observable import Observable, check_observables
from ..samplers.sampler import Sampler
from ..samplers.staged import StagedKernel
from .averages import Averages
from .schedules import Schedules

__all__ = ["ROWS", "Block", "ChainState", "Plan", "Program", "Where"]

ROWS = 1000  # draws a block can hold at most,
ELEMENTS = 2**20  # and numbers, so that its memory is bounded
BATCH_LP = Statistic("batch_lp", float, "estimate of the log density from the batch of the step")
STEP_SIZE = Statistic("step_size", float, "the step size of the transition")


class ChainState(NamedTuple):
    """Everything a chain is: a pytree that can be saved and continued."""

    position: Position
    slots: Any  # the sampler's own
    hyper: Any  # values of its hyper-parameters, by name
    adaptation: Adaptation
    key: Any
    attempts: Any  # starting points tried
    transition: Any  # transitions made so far, warm-up included
    gradients: Any  # gradients evaluated so far
    divergences: Any  # since warm-up
    averages: dict[str, Moments]  # of the draws kept since warm-up


class Plan(NamedTuple):
    """What a block is to do: values of the compiled program, not part of it."""

    warmup: Any
    thin: Any
    until: Any  # stop before this transition
    gradients: Any  # or after evaluations at this many points


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
    spent: Any  # points evaluated in this block


class _Loop(NamedTuple):
    chain: ChainState
    free: Any
    statistics: Any
    kept: tuple[Any, ...]  # of each draw, for the observables
    count: Any
    spent: Any
    trips: tuple[Trips, ...]  # of the loops in the log density


@dataclass(frozen=True)
class Program:
    """The program of a model, a sampler and what is to be recorded."""

    model: Model
    sampler: Sampler
    targets: Sequence[Node]
    observables: tuple[Observable, ...] = ()
    averages: tuple[Average, ...] = ()

    def __post_init__(self) -> None:
        if self.model.batch is not None:  # what a batch tells of the potential is called so
            observables, averages = of_batch(self.observables), of_batch(self.averages)
            object.__setattr__(self, "observables", observables)
            object.__setattr__(self, "averages", averages)

    @property
    def dtype(self) -> np.dtype:
        """The type of the free state."""
        unknowns = self.model.component.unknowns
        return np.result_type(*(v.dtype for v in unknowns))

    @cached_property
    def space(self) -> Space:
        """Where the sampler moves."""
        density = self.model.density
        names = dict(zip(density.unknowns, self.model.names, strict=True))
        parts = {
            names[v]: (place, density.bijectors[v].free_shape)
            for v, place in density.slices.items()
        }
        return Space((*self.walkers, self.model.free_size), self.dtype, parts, len(density.loops))

    @property
    def walkers(self) -> tuple[int, ...]:
        """The shape of a chain's walkers: none, or as many as the sampler has."""
        count = self.sampler.walkers
        return () if count is None else (int(count),)

    @cached_property
    def kernel(self) -> Kernel:
        """The sampler's transition."""
        return self.sampler.kernel(self.space)

    @cached_property
    def schedules(self) -> Schedules | None:
        """The hyper-parameters that are functions of the step's number."""
        kernel = self.kernel
        return Schedules(self.sampler, kernel.session) if isinstance(kernel, StagedKernel) else None

    def check_noise(self, doing: str) -> bool:
        """Whether the sampler compares values of a potential that has noise.

        Raises
        ------
        ModelError
            If it does, and nobody said that it may.
        """
        batch = self.model.batch
        if batch is None or not self.kernel.moves_by_values:
            return False
        if not batch.allow_noisy:
            raise ModelError(
                f"{doing}: {type(self.sampler).__name__} compares values of the potential, as a "
                f"Metropolis test does, but by {batch.size} of {batch.count} rows they are only "
                "estimated, and what it samples would not be the posterior. Take a sampler that "
                "uses the gradient alone (SGLD, BAOAB, SGNHT, CCAdL), or the model without "
                "kg.minibatch; kg.minibatch(..., allow_noisy=True) lets it run all the same"
            )
        return True

    def check_schedules(self, first: int, until: int) -> None:
        """Refuse schedules that leave their range in these transitions."""
        if self.schedules is not None:
            self.schedules.check(first, until)

    @cached_property
    def warmup(self) -> Warmup:
        """What is tuned."""
        return Warmup(tuple(self.sampler.tune))

    @cached_property
    def records(self) -> tuple[Statistic, ...]:
        """The sampler's statistics; the log density that a batch tells has a name of its own."""
        found = self.kernel.statistics
        if self.model.batch is None:
            return found
        return tuple(BATCH_LP._replace(shape=s.shape) if s.name == "lp" else s for s in found)

    @cached_property
    def observed(self) -> ObservableGraph | None:
        """The graph of the observables: of those that are recorded, then of others averaged."""
        records = self.records
        known = {statistic.name for statistic in records}
        averaged = [a.quantity for a in self.averages if isinstance(a.quantity, Observable)]
        every = list(dict.fromkeys([*self.observables, *averaged]))
        check_observables(every, "averages")
        wanted = [o for o in every if o.name not in known]
        for taken in (o for o in every if o.name in known and not is_named(o)):
            raise ValueError(
                f"observables: {taken.name!r} is what {type(self.sampler).__name__} records itself"
                "; give the observable another name: kg.observables.observable(function, name)"
            )
        if not wanted:
            return None
        shapes, schedules = self.unaveraged_shapes, self.schedules
        scheduled = (schedules.nodes, schedules.event) if schedules else ()
        return ObservableGraph(wanted, self.space, shapes.slots, shapes.hyper, records, *scheduled)

    @cached_property
    def computed(self) -> tuple[Statistic, ...]:
        """What is known of each draw: the sampler's statistics, the run's, and observables.

        An observable with a name, such as `kinetic_energy`, is the sampler's statistic of it.
        """
        tuned = (STEP_SIZE,) if "step_size" in self.sampler.tune else ()
        found = (*self.records, *tuned)
        return found if self.observed is None else (*found, *self.observed.statistics)

    @cached_property
    def statistics(self) -> tuple[Statistic, ...]:
        """What is recorded of it: all but the observables that are only averaged."""
        recorded = {o.name for o in self.observables}
        observed = self.observed.statistics if self.observed else ()
        unrecorded = sum(s.name not in recorded for s in observed)
        return self.computed[: len(self.computed) - unrecorded]

    @cached_property
    def running(self) -> Averages:
        """The running averages."""
        computed = self.computed if self.averages else ()
        return Averages(self.model, self.averages, self.targets, computed, self.walkers)

    @cached_property
    def takes_gradient(self) -> bool:
        """Whether a transition needs the gradient where it ends: for the next one, for the metric,
        for an observable. If not, it is not computed there, but at the end of a block alone.
        """
        observed = self.observed is not None and self.observed.takes_gradient
        tuned, batch = "scale" in self.sampler.tune, self.model.batch is not None
        return self.kernel.takes_gradient or observed or tuned or batch

    @cached_property
    def kept(self) -> tuple[Any, ...]:
        """Shapes and types of what is kept of each draw for the observables."""
        observed = self.observed
        if observed is None:
            return ()
        shapes = self.unaveraged_shapes
        with x64():
            found: tuple[Any, ...] = jax.eval_shape(observed.keep, shapes.position, shapes.slots)
        return found

    @cached_property
    def loops(self) -> tuple[Looping, ...]:
        """The loops in the graph of the log density and of the targets."""
        nodes = ancestors([*self.model.density.nodes, *self.targets])
        return tuple(dict.fromkeys((*self.model.density.loops, *loops_in(nodes))))

    @property
    def rows(self) -> int:
        """How many draws a block can hold."""
        width = self.model.free_size + sum(node.size for node in self.targets)
        width = width * math.prod(self.walkers) + sum(x.size for x in self.kept)
        return int(np.clip(ELEMENTS // max(width, 1), 1, ROWS))

    def target(self, data: Sequence[Any]) -> Target:
        """The log density with data."""
        model = self.model
        environment = data_environment(model.arguments, data)
        return Target(model.density, environment, model.room, model.batch)

    def hyper(self) -> dict[str, np.ndarray]:
        """The hyper-parameters as they are set."""
        return self.sampler.hypers(self.space)

    def begin(
        self, target: Target, key: Any, hyper: Any, position: Position, attempts: Any
    ) -> ChainState:
        """The state of a chain at its starting point, after so many attempts."""
        chain = self.unaveraged(target, key, hyper, position, attempts)
        return chain._replace(averages=self.running.start())

    def unaveraged(
        self, target: Target, key: Any, hyper: Any, position: Position, attempts: Any
    ) -> ChainState:
        """The same without averages."""
        moment = Moment(hyper, Noise(key, BEFORE), target)
        slots = self.kernel.init(moment, position)
        adaptation, hyper = self.warmup.start(position, hyper)
        zero, spent = jnp.int32(0), attempts.astype(jnp.int64) * math.prod(self.walkers)
        return ChainState(position, slots, hyper, adaptation, key, attempts, zero, spent, zero, {})

    def shapes(self) -> ChainState:
        """The shapes and types of a chain's state."""
        with x64():
            averages = jax.eval_shape(self.running.start)
        return self.unaveraged_shapes._replace(averages=averages)

    @cached_property
    def unaveraged_shapes(self) -> ChainState:
        """The same without averages: what observables, and so the averages of them, go by."""

        def begun(data: Any, key: Any, hyper: Any, q: Any) -> ChainState:
            position = Position(q, jnp.zeros(self.walkers, self.dtype), q)
            return self.unaveraged(self.target(data), key, hyper, position, jnp.int32(0))

        key = np.zeros(4, np.uint32)
        q = np.zeros(self.space.shape, self.dtype)
        data = self.model.argument_values
        with x64():
            shapes: ChainState = jax.eval_shape(begun, data, key, self.hyper(), q)
        return shapes

    def block(self, chain: ChainState, data: Sequence[Any], plan: Plan) -> tuple[ChainState, Block]:
        """Advance one chain: a loop of transitions."""
        steps = _Steps(self, data, plan)

        def transition(loop: _Loop) -> _Loop:
            chain = loop.chain
            state = State(chain.position, chain.slots, loop.trips)
            state, info = self.kernel.step(steps.moment(chain), state)
            return steps.close(loop, state, info)

        return steps.result(lax.while_loop(steps.more, transition, steps.start(chain)))

    def flat_block(
        self, chain: ChainState, data: Sequence[Any], plan: Plan
    ) -> tuple[ChainState, Block]:
        """The same, as one loop of turns: for a batch of chains under `vmap`."""
        turns = self.kernel.turns
        if turns is None:
            return self.block(chain, data, plan)
        steps = _Steps(self, data, plan)

        def more(carry: tuple[_Loop, Any]) -> Any:
            return steps.more(carry[0])

        def turn(carry: tuple[_Loop, Any]) -> tuple[_Loop, Any]:
            loop, state = carry
            moment = steps.moment(loop.chain)
            point, trips = moment.target.evaluate(turns.ask(moment, state), loop.trips)
            state = turns.tell(moment, state, point)
            loop = loop._replace(trips=trips)

            def close(_: None) -> tuple[_Loop, Any]:
                position, info = turns.end(state)
                closed = steps.close(loop, State(position, loop.chain.slots, trips), info)
                return closed, opened(closed.chain)

            return lax.cond(turns.finished(state), close, lambda _: (loop, state), None)

        def opened(chain: ChainState) -> Any:
            return turns.begin(steps.moment(chain), chain.position)

        loop, _ = lax.while_loop(more, turn, (steps.start(chain), opened(chain)))
        return steps.result(loop)


class _Steps:
    """The pieces both loops are made of."""

    def __init__(self, program: Program, data: Sequence[Any], plan: Plan) -> None:
        self.program, self.plan, self.model = program, plan, program.model
        self.target = program.target(data)

    def moment(self, chain: ChainState) -> Moment:
        noise = Noise(chain.key, chain.transition)
        return Moment(chain.hyper, noise, self.target.of_transition(noise))

    def start(self, chain: ChainState) -> _Loop:
        count = self.program.rows
        rows = jnp.zeros((count, *self.program.space.shape), chain.position.q.dtype)
        observed = self.program.observed
        later = sum(s.size for s in observed.statistics) if observed else 0
        width = sum(s.size for s in self.program.computed) - later
        statistics = jnp.zeros((count, width), rows.dtype)
        kept = tuple(jnp.zeros((count, *x.shape), x.dtype) for x in self.program.kept)
        trips = self.target.no_trips()
        return _Loop(chain, rows, statistics, kept, jnp.int32(0), jnp.int64(0), trips)

    def more(self, loop: _Loop) -> Any:
        chain = loop.chain
        return (
            (chain.transition < self.plan.until)
            & (loop.spent < self.plan.gradients)
            & (loop.count < self.program.rows)
            & ~any_short(loop.trips)
        )

    def close(self, loop: _Loop, state: State, info: Info) -> _Loop:
        """After a transition.

        What is large, the buffers of rows, is written whatever happened, and a row that is not
        kept is overwritten by the next one: a branch on it would copy it.
        """
        chain, plan, position = loop.chain, self.plan, state.position
        gradients = info.gradients
        if not self.program.takes_gradient:  # nothing asks for it, and so it is not computed
            position, gradients = position._replace(gradient=chain.position.gradient), 0
        done = chain.transition
        warming = done < plan.warmup
        adaptation, hyper = self._adapt(chain, position, info, warming)
        statistics = info.statistics
        if "step_size" in self.program.sampler.tune:
            step_size = jnp.mean(chain.hyper["step_size"]).astype(statistics.dtype)
            statistics = jnp.concatenate([statistics, step_size[None]])
        observed = self.program.observed
        for_observables = observed.keep(position, state.slots) if observed else ()
        kept = ~warming & ((done + 1 - plan.warmup) % plan.thin == 0)
        chain = chain._replace(
            position=position,
            slots=state.slots,
            hyper=hyper,
            adaptation=adaptation,
            transition=done + 1,
            gradients=chain.gradients + gradients,
            divergences=chain.divergences + (info.diverging & ~warming),
        )
        return _Loop(
            chain,
            lax.dynamic_update_index_in_dim(loop.free, position.q, loop.count, 0),
            lax.dynamic_update_index_in_dim(loop.statistics, statistics, loop.count, 0),
            tuple(
                lax.dynamic_update_index_in_dim(rows, row, loop.count, 0)
                for rows, row in zip(loop.kept, for_observables, strict=True)
            ),
            loop.count + kept,
            loop.spent + info.gradients,
            state.trips,
        )

    def _adapt(
        self, chain: ChainState, position: Position, info: Info, warming: Any
    ) -> tuple[Adaptation, Any]:
        """Update the tuning while warming, then leave it alone."""
        warmup = self.program.warmup
        if not warmup.tune:
            return chain.adaptation, chain.hyper

        def update(_: None) -> tuple[Adaptation, Any]:
            state, done, length = chain.adaptation, chain.transition, self.plan.warmup
            return warmup.update(state, chain.hyper, done, length, position, info)

        def keep(_: None) -> tuple[Adaptation, Any]:
            return chain.adaptation, chain.hyper

        return lax.cond(warming, update, keep, None)

    def result(self, loop: _Loop) -> tuple[ChainState, Block]:
        targets, loops = tuple(self.program.targets), self.program.loops
        density, data, room, *_ = self.target
        if not self.program.takes_gradient:
            position, trips = self.target.evaluate(loop.chain.position.q, loop.trips)
            known = loop.chain.position._replace(gradient=position.gradient)
            loop = loop._replace(chain=loop.chain._replace(position=known), trips=trips)

        def record(q: Any, row: Any) -> Any:
            # Rows that hold no draw are computed, too, but no loop turns for them.
            scope = Scope(room=room, active=row < loop.count if loops else None)
            values = density.targets(q, targets, data, scope)
            return values, scope.reports(loops)

        numbers, walkers = jnp.arange(self.program.rows), self.program.walkers
        each = jax.vmap(record, (0, None)) if walkers else record
        values, found = jax.vmap(each)(loop.free, numbers)
        axes = tuple(range(1 + len(walkers)))
        scope = Scope()
        scope.receive(density.loops, loop.trips)
        scope.receive(loops, [[jnp.max(x, axes) for x in trips] for trips in found])
        chain = loop.chain
        where = Where(loop.count, chain.transition, chain.gradients, chain.divergences, loop.spent)
        progress = jnp.stack([jnp.asarray(number, jnp.int64) for number in where])
        step_size = jnp.mean(jnp.asarray(chain.hyper.get("step_size", jnp.nan)))
        reports = scope.reports(loops)
        statistics = self._observed(loop, numbers)
        if self.program.averages:
            running = self.program.running
            averages = running.add(chain.averages, loop.count, values, statistics)
            chain = chain._replace(averages=averages)
        recorded = sum(s.size for s in self.program.statistics)
        if statistics.shape[1] > recorded:
            statistics = statistics[:, :recorded]
        return chain, Block(progress, step_size, statistics, values, reports)

    def _observed(self, loop: _Loop, numbers: Any) -> Any:
        """The statistics of the draws, with the observables; hyper-parameters are those of all."""
        observed, plan, count = self.program.observed, self.plan, loop.count
        if observed is None:
            return loop.statistics
        sampled = loop.chain.transition - plan.warmup
        last = plan.warmup + sampled // plan.thin * plan.thin - 1  # the transition of the last row

        def of(q: Any, statistics: Any, kept: Any, number: Any) -> Any:
            event = (last - (count - 1 - number) * plan.thin).astype(np.uint32)
            hyper, active = loop.chain.hyper, number < count
            return observed.values(q, statistics, kept, hyper, event, active)

        values = jax.vmap(of)(loop.free, loop.statistics, loop.kept, numbers)
        return jnp.concatenate([loop.statistics, values], 1)
