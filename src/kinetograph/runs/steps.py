"""The loops of a block: of one chain, and of a batch of chains.

What is large, the buffers of rows, is kept apart from the state of the loops and written whatever
happened; a row that is not kept is overwritten by the next one. A branch or a choice on buffers
would copy them at each step.
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..adaptation.schedule import Adaptation
from ..graph.lower import Scope
from ..graph.trips import Trips
from ..kernels.batching import once
from ..kernels.contract import Info, Moment, State
from ..kernels.noise import Noise
from ..kernels.target import Position, any_short
from .state import BY_CHAIN, Block, ChainState, Loop, Plan, Row, Where

if TYPE_CHECKING:
    from .program import Program

__all__ = ["in_step", "in_turns", "one_chain"]


def one_chain(
    program: "Program", chain: ChainState, data: Sequence[Any], plan: Plan
) -> tuple[ChainState, Block]:
    """A loop of transitions of one chain."""
    steps = _Steps(program, data, plan)

    def more(carry: tuple[Loop, Row]) -> Any:
        return steps.more(carry[0])

    def transition(carry: tuple[Loop, Row]) -> tuple[Loop, Row]:
        loop, rows = carry
        after, row = steps.transition(loop)
        return after, _written(rows, row, loop.count)

    carry = (steps.start(chain), steps.buffers(steps.most))
    loop, rows = lax.while_loop(more, transition, carry)
    return steps.result(loop, rows, steps.told(loop))


def in_step(
    program: "Program", chains: ChainState, data: Sequence[Any], plan: Plan
) -> tuple[ChainState, Block]:
    """A loop of transitions that all chains of a batch make at once, but for those that have ended.

    The block ends when one of them has to.
    """
    batch = len(chains.transition)
    steps = _Steps(program, data, plan, batch)
    start = jax.vmap(steps.start)(chains)
    ended = ~jax.vmap(steps.more)(start)

    def more(carry: tuple[Loop, Row]) -> Any:
        return jnp.all(jax.vmap(steps.more)(carry[0]) | ended) & ~jnp.all(ended)

    def transition(carry: tuple[Loop, Row]) -> tuple[Loop, Row]:
        loops, rows = carry
        after, row = jax.vmap(steps.transition, (0, None))(loops, _any_warming(loops))
        if program.host_tunes:  # each chain ends its warm-up for itself
            after = jax.vmap(_chosen)(ended, loops, after)
            return after, _scattered(rows, row, loops.count)
        return after, _written(rows, row, loops.count[0])

    carry = (start, steps.buffers(steps.most, batch))
    return _results(steps, *lax.while_loop(more, transition, carry))


def in_turns(
    program: "Program", chains: ChainState, data: Sequence[Any], plan: Plan
) -> tuple[ChainState, Block]:
    """A loop of turns, in which each chain of a batch opens its next transition as it needs to."""
    batch = len(chains.transition)
    steps = _Steps(program, data, plan, batch)

    def more(carry: tuple[Loop, Any, Row]) -> Any:
        return jnp.any(jax.vmap(steps.more)(carry[0]))

    def turn(carry: tuple[Loop, Any, Row]) -> tuple[Loop, Any, Row]:
        loops, states, rows = carry
        warming = _any_warming(loops)
        after, opened, row = jax.vmap(steps.turn, (0, 0, None))(loops, states, warming)
        return after, opened, _scattered(rows, row, loops.count)

    start, opened = jax.vmap(steps.start)(chains), jax.vmap(steps.open)(chains)
    carry = (start, opened, steps.buffers(steps.most, batch))
    loops, _, rows = lax.while_loop(more, turn, carry)
    return _results(steps, loops, rows)


def _any_warming(loops: Loop) -> Any:
    return jnp.any(loops.chain.transition < loops.chain.phases.end)


def _written(rows: Row, row: Row, place: Any) -> Row:
    def write(buffer: Any, new: Any) -> Any:
        return lax.dynamic_update_index_in_dim(buffer, new, place, 0)

    written: Row = jax.tree.map(write, rows, row)
    return written


def _scattered(rows: Row, row: Row, places: Any) -> Row:
    chains = jnp.arange(len(places))

    def write(buffer: Any, new: Any) -> Any:  # nothing, if the chain has filled its rows
        return buffer.at[places, chains].set(new, mode="drop")

    scattered: Row = jax.tree.map(write, rows, row)
    return scattered


def _results(steps: "_Steps", loops: Loop, rows: Row) -> tuple[ChainState, Block]:
    # The same bound for all: a loop that ended for each by itself would select among buffers.
    each = jax.vmap(steps.result, (0, 1, None), (0, BY_CHAIN))
    most = jnp.max(jax.vmap(steps.told)(loops))
    results: tuple[ChainState, Block] = each(loops, rows, most)
    return results


class _Told(NamedTuple):
    """What a block tells of its draws beside the sampler's record."""

    targets: tuple[Any, ...]
    observed: Any  # None without observables
    trips: tuple[Trips, ...]  # of the loops in their graph


class _Steps:
    """The pieces that the loops are made of, for one chain."""

    def __init__(
        self, program: "Program", data: Sequence[Any], plan: Plan, batch: int | None = None
    ) -> None:
        self.program, self.plan, self.batch = program, plan, batch
        self.most = program.rows(batch)  # draws that a block can hold
        self.target = program.target(data)

    def moment(self, chain: ChainState) -> Moment:
        noise = Noise(chain.key, chain.transition)
        return Moment(chain.hyper, noise, self.target.of_transition(noise))

    def start(self, chain: ChainState) -> Loop:
        return Loop(chain, jnp.int32(0), jnp.int64(0), self.target.no_trips())

    def buffers(self, count: int, *batch: int) -> Row:
        """Room for so many draws, of each chain."""
        program, observed = self.program, self.program.observed
        later = sum(s.size for s in observed.statistics) if observed else 0
        width = sum(s.size for s in program.computed) - later
        lead = (count, *batch)
        free = jnp.zeros((*lead, *program.space.shape), program.dtype)
        return Row(
            free,
            jnp.zeros((*lead, width), program.dtype),
            tuple(jnp.zeros((*lead, *x.shape), x.dtype) for x in program.kept),
            (free,) if program.keeps_slopes else (),
        )

    def more(self, loop: Loop) -> Any:
        """Whether the block goes on, as far as one chain is concerned."""
        chain, phases = loop.chain, loop.chain.phases
        glance = (chain.transition >= phases.glance) & (chain.gradients >= phases.worth)
        return (
            (chain.transition < phases.stop)
            & ~glance
            & (loop.spent < self.plan.gradients)
            & (loop.count < self.most)
            & ~any_short(loop.trips)
        )

    def transition(self, loop: Loop, any_warming: Any = None) -> tuple[Loop, Row]:
        """A transition, and what is noted of it."""
        chain = loop.chain
        state = State(chain.position, chain.slots, loop.trips)
        return self.close(loop, *self.program.kernel.step(self.moment(chain), state), any_warming)

    def open(self, chain: ChainState, before: Any = None) -> Any:
        """The state of a transition in turns, at its begin, in the room of the one before."""
        turns = self.program.kernel.turns
        assert turns is not None
        return turns.begin(self.moment(chain), chain.position, before)

    def turn(self, loop: Loop, state: Any, any_warming: Any) -> tuple[Loop, Any, Row]:
        """A turn of a transition, and what is noted of it if it was the last one."""
        turns = self.program.kernel.turns
        assert turns is not None
        moment = self.moment(loop.chain)
        point, trips = moment.target.evaluate(turns.ask(moment, state), loop.trips)
        told = turns.tell(moment, state, point)
        position, info = once(turns.end(told))
        ending = State(position, loop.chain.slots, trips)
        closed, row = self.close(loop, ending, info, any_warming)
        going, finished = self.more(loop), turns.finished(told)
        ended, going, finished = once((going & finished, going, finished))
        after = _chosen(ended, closed, loop)._replace(trips=_chosen(going, trips, loop.trips))
        # What a chain that has filled its block goes on with is thrown away.
        return after, _chosen(finished, self.open(closed.chain, told), told), row

    def close(
        self, loop: Loop, state: State, info: Info, any_warming: Any = None
    ) -> tuple[Loop, Row]:
        """The loop after a transition, and the row of its draw."""
        chain, plan, position = loop.chain, self.plan, state.position
        gradients, alone = info.gradients, info.values
        if not self.program.takes_gradient:  # nothing asks for it, and so it is not computed
            position = position._replace(gradient=chain.position.gradient)
            one = math.prod(self.program.walkers)
            spared = one if self.program.kernel.takes_gradient else gradients
            gradients, alone = gradients - spared, alone + spared
        done = chain.transition
        warming = done < chain.phases.end
        adaptation, hyper = self._adapt(chain, position, info, warming, any_warming)
        statistics = info.statistics
        if "step_size" in self.program.sampler.tune:
            step_size = jnp.mean(chain.hyper["step_size"]).astype(statistics.dtype)
            statistics = jnp.concatenate([statistics, step_size[None]])
        for name in self.program.steps_within:
            step_size = jnp.mean(chain.hyper[name]).astype(statistics.dtype)
            statistics = jnp.concatenate([statistics, step_size[None]])
        observed = self.program.observed
        for_observables = observed.keep(position, state.slots, chain.hyper) if observed else ()
        kept = warming | ((done + 1 - chain.phases.end) % plan.thin == 0)
        counts = dict(chain.counts)
        for name, more in (("n_grad", gradients), ("n_value", alone)):
            if name in counts:
                count = counts[name] + more
                statistics = jnp.append(statistics, count.astype(statistics.dtype))
                counts[name] = jnp.where(kept, 0, count)
        chain = chain._replace(
            position=position,
            slots=state.slots,
            hyper=hyper,
            adaptation=adaptation,
            transition=done + 1,
            gradients=chain.gradients + gradients,
            divergences=chain.divergences + (info.diverging & ~warming),
            counts=counts,
        )
        after = Loop(chain, loop.count + kept, loop.spent + info.gradients, state.trips)
        slopes = (position.gradient,) if self.program.keeps_slopes else ()
        return after, Row(position.q, statistics, tuple(for_observables), slopes)

    def _adapt(
        self, chain: ChainState, position: Position, info: Info, warming: Any, any_warming: Any
    ) -> tuple[Adaptation, Any]:
        """Update the tuning while warming, then leave it alone.

        In a batch a branch is a choice, whose sides are both computed. So there it is asked first
        whether any chain of it warms up.
        """
        warmup = self.program.warmup
        if not warmup.tune and not warmup.within:
            return chain.adaptation, chain.hyper
        tuned = {name: chain.hyper[name] for name in warmup.changed if name in chain.hyper}

        def update(_: None) -> tuple[Adaptation, Any]:
            state, done, phases = chain.adaptation, chain.transition, chain.phases
            found, hyper = warmup.update(state, chain.hyper, done, phases, position, info)
            return found, {name: hyper[name] for name in tuned}

        def keep(_: None) -> tuple[Adaptation, Any]:
            return chain.adaptation, tuned

        def choose(_: None) -> Any:
            return lax.cond(warming, update, keep, None)

        chosen = choose(None) if any_warming is None else lax.cond(any_warming, choose, keep, None)
        return chosen[0], chain.hyper | chosen[1]

    def result(self, loop: Loop, rows: Row, most: Any) -> tuple[ChainState, Block]:
        """What a block gives; `most` is how many draws a chain of it has kept at most."""
        if not self.program.takes_gradient:
            position, trips = self.target.evaluate(loop.chain.position.q, loop.trips)
            known = loop.chain.position._replace(gradient=position.gradient)
            loop = loop._replace(chain=loop.chain._replace(position=known), trips=trips)
        told = self._told(loop, rows, most)
        scope = Scope()
        scope.receive(self.target.density.loops, loop.trips)
        scope.receive(self.program.loops, told.trips)
        chain = loop.chain
        where = Where(loop.count, chain.transition, chain.gradients, chain.divergences, loop.spent)
        progress = jnp.stack([jnp.asarray(number, jnp.int64) for number in where])
        step_size = jnp.mean(jnp.asarray(chain.hyper.get("step_size", jnp.nan)))
        reports = scope.reports(self.program.loops)
        statistics = rows.statistics
        if self.program.observed is not None:
            statistics = jnp.concatenate([statistics, told.observed], 1)
        if self.program.averages:
            running = self.program.running
            count = jnp.where(self.warming(loop), 0, loop.count)
            averages = running.add(chain.averages, count, told.targets, statistics)
            chain = chain._replace(averages=averages)
        recorded = sum(s.size for s in self.program.statistics)
        if statistics.shape[1] > recorded:
            statistics = statistics[:, :recorded]
        by_host = (rows.free, *rows.slopes) if self.program.host_tunes else ()
        return chain, Block(progress, step_size, statistics, told.targets, reports, *by_host)

    def warming(self, loop: Loop) -> Any:
        """Whether the rows of a block are those of warm-up: where that ends a block does."""
        return loop.chain.transition <= loop.chain.phases.end

    def told(self, loop: Loop) -> Any:
        """Of how many rows the targets are computed."""
        return jnp.where(self.warming(loop) & ~self.plan.warmup, 0, loop.count)

    def _told(self, loop: Loop, rows: Row, most: Any) -> _Told:
        """Targets and observables of the draws: a few draws at a time, until all are done."""
        few = min(self.program.few(self.batch), self.most)

        def part(number: Any) -> _Told:
            first = number * few
            some = jax.tree.map(lambda buffer: lax.dynamic_slice_in_dim(buffer, first, few), rows)
            return self._told_of(loop, some, first + jnp.arange(few))

        def add(number: Any, told: _Told) -> _Told:
            def put(buffer: Any, new: Any) -> Any:
                return lax.dynamic_update_slice_in_dim(buffer, new, number * few, 0)

            new = part(number)
            targets, observed = jax.tree.map(put, (told.targets, told.observed), new[:2])
            trips = [old.join(more) for old, more in zip(told.trips, new.trips, strict=True)]
            return _Told(targets, observed, tuple(trips))

        def blank(shape: Any) -> Any:
            return jnp.zeros((self.most, *shape.shape[1:]), shape.dtype)

        shapes = jax.eval_shape(part, jnp.int32(0))
        targets, observed = jax.tree.map(blank, shapes[:2])
        none = _Told(targets, observed, Scope().reports(self.program.loops))
        told: _Told = lax.fori_loop(0, (most + few - 1) // few, add, none)
        return told

    def _told_of(self, loop: Loop, rows: Row, numbers: Any) -> _Told:
        """The same of some draws at once, by their numbers."""
        targets, loops = tuple(self.program.targets), self.program.loops
        density, data, capacity, *_ = self.target

        def record(q: Any, row: Any) -> Any:
            # Rows that hold no draw are computed, too, but no loop turns for them.
            scope = Scope(capacity=capacity, active=row < self.told(loop) if loops else None)
            values = density.targets(q, targets, data, scope)
            return values, scope.reports(loops)

        walkers = self.program.walkers
        each = jax.vmap(record, (0, None)) if walkers else record
        values, found = jax.vmap(each)(rows.free, numbers)
        trips = tuple(Trips(*(jnp.max(x) for x in trips)) for trips in found)
        return _Told(values, self._observed(loop, rows, numbers), trips)

    def _observed(self, loop: Loop, rows: Row, numbers: Any) -> Any:
        """Observables of draws."""
        observed, plan, count = self.program.observed, self.plan, loop.count
        if observed is None:
            return None
        done, end = loop.chain.transition, loop.chain.phases.end
        thin = jnp.where(done <= end, 1, plan.thin)
        last = end + (done - end) // thin * thin - 1  # the transition of the last row

        def of(q: Any, statistics: Any, kept: Any, _: Any, number: Any) -> Any:
            event = (last - (count - 1 - number) * thin).astype(np.uint32)
            return observed.values(q, statistics, kept, event, number < count)

        return jax.vmap(of)(*rows, numbers)


def _chosen(which: Any, first: Any, second: Any) -> Any:
    return jax.tree.map(lambda a, b: jnp.where(which, a, b), first, second)
