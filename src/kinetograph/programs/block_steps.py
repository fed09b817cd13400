"""The pieces from which the loops of a block are made.

The pieces are the start of a loop, a transition or a turn of it, the tuning after a transition, and
the results after the loop.
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..adaptation.centring_choice import GRID
from ..adaptation.joint_choice import WANTED
from ..adaptation.schedule import Adaptation
from ..graph.errors import ShapeError
from ..graph.lower import Scope
from ..graph.trips import Trips, any_short
from ..kernels.batching import once
from ..kernels.contract import Info, KernelState, Moment
from ..kernels.noise import Noise
from ..models.bound_density import Position
from ..models.centring import ChosenForms
from .state import Block, BlockLoop, ChainState, DrawRecord, Plan, Where

if TYPE_CHECKING:
    from .program import Program

__all__ = ["BatchSteps", "BlockSteps", "chosen"]


def _temperature(chain: ChainState) -> Any:
    return 1.0 / chain.hyper["inverse_temperature"]


class _Outputs(NamedTuple):
    """The values that a block computes from its draws after the loop."""

    targets: tuple[Any, ...]  # packed
    observed: Any  # the values of observables, or None
    trips: tuple[Trips, ...]  # of the loops in the graph of the targets


class BlockSteps:
    """The pieces of the loops, for one chain."""

    def __init__(
        self, program: "Program", data: Sequence[Any], plan: Plan, batch: int | None = None
    ) -> None:
        self.program, self.plan, self.batch = program, plan, batch
        self.most = program.rows(batch)  # the largest number of draws in a block
        self.density = program.bound(data)

    def moment(self, chain: ChainState, drawn: Sequence[Any] = ()) -> Moment:
        noise = Noise(chain.key, chain.transition)
        density, batch = self.density, self.density.batch
        if batch is not None:
            density = density._replace(rows=batch.rows_of(*noise))
        if self.program.centring is not None:
            forms = ChosenForms.of(chain.hyper)
            density = density._replace(
                centring=self.program.centring, forms=forms, temperature=_temperature(chain)
            )
        return Moment(chain.hyper, noise, density, drawn)

    def draw(self, chain: ChainState, count: int) -> Sequence[Any]:
        """The random arrays of the next transitions, stacked."""
        draw = self.program.kernel.draw
        assert draw is not None
        events = chain.transition + jnp.arange(count, dtype=np.int32)
        arrays: Sequence[Any] = jax.vmap(lambda event: draw(Noise(chain.key, event)))(events)
        return arrays

    def start(self, chain: ChainState) -> BlockLoop:
        return BlockLoop(chain, jnp.int32(0), jnp.int64(0), self.density.no_trips())

    def buffers(self, count: int, *batch: int) -> DrawRecord:
        """Buffers for `count` draws, of each chain."""
        program, observed = self.program, self.program.observed
        later = sum(s.size for s in observed.statistics) if observed else 0
        width = sum(s.size for s in program.computed) - later
        lead = (count, *batch)
        free = jnp.zeros((*lead, *program.space.shape), program.dtype)
        return DrawRecord(
            free,
            jnp.zeros((*lead, width), program.dtype),
            tuple(jnp.zeros((*lead, *x.shape), x.dtype) for x in program.observable_inputs),
            (free,) * (program.keeps_slopes * (1 if program.centring is None else 2)),
        )

    def more(self, loop: BlockLoop) -> Any:
        """Whether this chain allows the block to continue."""
        chain, phases = loop.chain, loop.chain.phases
        glance = (chain.transition >= phases.glance) & (chain.gradients >= phases.worth)
        return (
            (chain.transition < phases.stop)
            & ~glance
            & (loop.spent < self.plan.gradients)
            & (loop.count < self.most)
            & ~any_short(loop.trips)
            & self._belongs(chain)
        )

    def _belongs(self, chain: ChainState) -> Any:
        """Whether the chain moves in the coordinates of this program.

        If it asks for information, it moves in none.
        """
        centring = self.program.centring
        if centring is None or centring.joint is None:
            return np.bool_(True)
        first = chain.hyper["joint"][0, 0]
        return first >= 0 if centring.maps_jointly else (first < 0) & (first != WANTED)

    def transition(
        self, loop: BlockLoop, any_warming: Any = None, drawn: Sequence[Any] = ()
    ) -> tuple[BlockLoop, DrawRecord]:
        """Make a transition, and return its row."""
        chain = loop.chain
        moment = self.moment(chain, drawn)
        state = KernelState(moment.density.into(chain.position), chain.slots, loop.trips)
        return self.close(loop, *self.program.kernel.step(moment, state), any_warming)

    def open(self, chain: ChainState, before: Any = None) -> Any:
        """The state at the start of a transition in turns.

        It uses the memory of the state of the transition before, if there is one.
        """
        turns = self.program.kernel.turns
        assert turns is not None
        moment = self.moment(chain)
        return turns.begin(moment, moment.density.into(chain.position), before)

    def turn(
        self, loop: BlockLoop, state: Any, first: Any, any_warming: Any
    ) -> tuple[BlockLoop, Any, DrawRecord]:
        """Make a turn of a transition, and return its row.

        The row is meaningful only after the last turn of a transition. The first turn of a block
        only opens a transition. All transitions are opened here: another copy of the same
        operations may round differently.
        """
        turns = self.program.kernel.turns
        assert turns is not None
        moment = self.moment(loop.chain)
        point, trips = moment.density.evaluate(turns.ask(moment, state), loop.trips)
        told_state = turns.tell(moment, state, point)
        position, info = once(turns.end(told_state))
        ending = KernelState(position, loop.chain.slots, trips)
        closed, row = self.close(loop, ending, info, any_warming)
        running, finished = self.more(loop), turns.finished(told_state)
        ended, running, opens = once(
            (running & finished & ~first, running & ~first, finished | first)
        )
        after = chosen(ended, closed, loop)._replace(trips=chosen(running, trips, loop.trips))
        # The next transition of a chain that has filled its block is discarded.
        chain = once(chosen(first, loop.chain, closed.chain))
        return after, chosen(opens, self.open(chain, told_state), told_state), row

    def close(
        self, loop: BlockLoop, state: KernelState, info: Info, any_warming: Any = None
    ) -> tuple[BlockLoop, DrawRecord]:
        """The loop after a transition, and the row of its draw."""
        chain, plan, position = loop.chain, self.plan, state.position
        gradients, alone = info.gradients, info.values
        if not self.program.takes_gradient:  # the gradient is not used, so XLA does not compute it
            position = position._replace(gradient=chain.position.gradient)
            one = math.prod(self.program.walkers)
            spared = one if self.program.kernel.takes_gradient else gradients
            gradients, alone = gradients - spared, alone + spared
        done = chain.transition
        warming = done < chain.phases.end
        sampled_position = position  # in the coordinates in which the sampler moves
        if self.program.centring is not None:
            # Computed again for each of its users, it could round differently.
            position = once(self.moment(chain).density.out_of(position))
        adaptation, hyper = self._adapt(
            chain, sampled_position, position, info, warming, any_warming
        )
        statistics, size = info.statistics, sum(s.size for s in self.program.kernel.statistics)
        if jnp.shape(statistics) != (size,):
            raise ShapeError(
                f"{type(self.program.sampler).__name__}: the statistics of a transition must be a "
                f"vector of shape ({size},), got shape {jnp.shape(statistics)}"
            )
        if self.program.centring is not None:
            place = [s.name for s in self.program.kernel.statistics].index("lp")
            statistics = statistics.at[place].set(position.log_density)
        if "step_size" in self.program.sampler.tune:
            step_size = jnp.mean(chain.hyper["step_size"]).astype(statistics.dtype)
            statistics = jnp.concatenate([statistics, step_size[None]])
        for name in self.program.steps_within:
            step_size = jnp.mean(chain.hyper[name]).astype(statistics.dtype)
            statistics = jnp.concatenate([statistics, step_size[None]])
        observed = self.program.observed
        for_observables = observed.keep(position, state.slots, chain.hyper) if observed else ()
        is_draw = warming | ((done + 1 - chain.phases.end) % plan.thin == 0)
        counts = dict(chain.counts)
        for name, more in (("n_grad", gradients), ("n_value", alone)):
            if name in counts:
                count = counts[name] + more
                statistics = jnp.append(statistics, count.astype(statistics.dtype))
                counts[name] = jnp.where(is_draw, 0, count)
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
        after = BlockLoop(chain, loop.count + is_draw, loop.spent + info.gradients, state.trips)
        slopes = (sampled_position.gradient,) if self.program.keeps_slopes else ()
        if self.program.centring is not None:
            slopes += (sampled_position.q,)[: len(slopes)]
        return after, DrawRecord(position.q, statistics, tuple(for_observables), slopes)

    def _adapt(
        self,
        chain: ChainState,
        sampled_position: Position,
        position: Position,
        info: Info,
        warming: Any,
        any_warming: Any,
    ) -> tuple[Adaptation, Any]:
        """Update the tuning during warm-up, and keep it afterwards.

        `sampled_position` is the position in the coordinates in which the sampler moves.
        In a batch a branch is a choice whose two sides are both computed. So a branch around it
        first asks whether any chain of the batch is in warm-up.
        """
        warmup = self.program.warmup
        if not warmup.tune and not warmup.within:
            return chain.adaptation, chain.hyper
        tuned = {name: chain.hyper[name] for name in warmup.changed if name in chain.hyper}
        centring: Any = self.program.centring
        data = self.density.data

        def update(carry: Any) -> Any:
            _, state, tuned = carry
            done, phases = chain.transition, chain.phases
            forms = evidence = joint = None
            if warmup.parts:
                points = *position[::2], *sampled_position[::2]
                forms = centring.forms(
                    *points, ChosenForms.of(chain.hyper), data, GRID, _temperature(chain)
                )
            if warmup.vector_parts:
                evidence = centring.evidence(*position[::2], *sampled_position[::2], data)
            if warmup.joint_places is not None:
                rows = [v[warmup.joint_places] for v in (*position[::2], *sampled_position[::2])]
                joint = jnp.stack(rows), position.q
            before, choices = chain.hyper | tuned, (forms, evidence, joint)
            adapted, hyper = warmup.update(
                state, before, done, phases, sampled_position, info, *choices
            )
            return jnp.zeros_like(warming), adapted, {name: hyper[name] for name in tuned}

        # A loop with at most one trip: a branch would copy the state.
        carry = (warming, chain.adaptation, tuned)
        chosen = lax.while_loop(lambda carry: carry[0], update, carry)[1:]
        return chosen[0], chain.hyper | chosen[1]

    def result(self, loop: BlockLoop, rows: DrawRecord, most: Any) -> tuple[ChainState, Block]:
        """The state after a block, and the block.

        `most` is the largest number of draws that a chain of the batch has kept.
        """
        if not self.program.takes_gradient:
            position, trips = self.density.evaluate(loop.chain.position.q, loop.trips)
            end_position = loop.chain.position._replace(gradient=position.gradient)
            loop = loop._replace(chain=loop.chain._replace(position=end_position), trips=trips)
        outputs = self._outputs(loop, rows, most)
        scope = Scope()
        scope.receive(self.density.loops, loop.trips)
        scope.receive(self.program.loops, outputs.trips)
        chain = loop.chain
        where = Where(loop.count, chain.transition, chain.gradients, chain.divergences, loop.spent)
        progress = jnp.stack([jnp.asarray(number, jnp.int64) for number in where])
        step_size = jnp.mean(jnp.asarray(chain.hyper.get("step_size", jnp.nan)))
        reports = scope.reports(self.program.loops)
        statistics = rows.statistics
        if self.program.observed is not None:
            statistics = jnp.concatenate([statistics, outputs.observed], 1)
        if self.program.averages:
            running = self.program.running
            count = jnp.where(self.warming(loop), 0, loop.count)
            targets = self.program.packing.unpack_tensors(outputs.targets)
            averages = running.add(chain.averages, count, targets, statistics)
            chain = chain._replace(averages=averages)
        recorded = sum(s.size for s in self.program.statistics)
        if statistics.shape[1] > recorded:
            statistics = statistics[:, :recorded]
        by_host = (rows.free, *rows.slopes) if self.program.host_tunes else ()
        if len(rows.slopes) == 2:  # the host tunes the coordinates in which the sampler moves
            by_host = (rows.slopes[1], rows.slopes[0])
        return chain, Block(progress, step_size, statistics, outputs.targets, reports, *by_host)

    def warming(self, loop: BlockLoop) -> Any:
        """Whether the rows of a block belong to warm-up.

        A block ends where warm-up ends, so either all of them do or none.
        """
        return loop.chain.transition <= loop.chain.phases.end

    def rows_to_compute(self, loop: BlockLoop) -> Any:
        """The number of rows whose targets are computed."""
        return jnp.where(self.warming(loop) & ~self.plan.warmup, 0, loop.count)

    def _outputs(self, loop: BlockLoop, rows: DrawRecord, most: Any) -> _Outputs:
        """Targets and observables of the draws, computed in small parts."""
        few = min(self.program.few(self.batch), self.most)

        def part(number: Any) -> _Outputs:
            first = number * few
            some = jax.tree.map(lambda buffer: lax.dynamic_slice_in_dim(buffer, first, few), rows)
            return self._outputs_of(loop, some, first + jnp.arange(few))

        def add(number: Any, outputs: _Outputs) -> _Outputs:
            def put(buffer: Any, new: Any) -> Any:
                return lax.dynamic_update_slice_in_dim(buffer, new, number * few, 0)

            new = part(number)
            targets, observed = jax.tree.map(put, (outputs.targets, outputs.observed), new[:2])
            trips = [old.join(more) for old, more in zip(outputs.trips, new.trips, strict=True)]
            return _Outputs(targets, observed, tuple(trips))

        def blank(shape: Any) -> Any:
            return jnp.zeros((self.most, *shape.shape[1:]), shape.dtype)

        shapes = jax.eval_shape(part, jnp.int32(0))
        targets, observed = jax.tree.map(blank, shapes[:2])
        empty = _Outputs(targets, observed, Scope().reports(self.program.loops))
        outputs: _Outputs = lax.fori_loop(0, (most + few - 1) // few, add, empty)
        return outputs

    def _outputs_of(self, loop: BlockLoop, rows: DrawRecord, numbers: Any) -> _Outputs:
        """Targets and observables of some rows, given their numbers."""
        targets, loops = tuple(self.program.targets), self.program.loops

        def record(q: Any, row: Any) -> Any:
            # Rows without a draw are computed, too, but their loops make no trips.
            scope = Scope(
                capacity=self.density.capacity,
                active=row < self.rows_to_compute(loop) if loops else None,
            )
            values = self.density.targets(q, targets, scope)
            return tuple(self.program.packing.pack_tensors(values, ())), scope.reports(loops)

        walkers = self.program.walkers
        each = jax.vmap(record, (0, None)) if walkers else record
        # With the rows on the last axis, XLA joins numbers that are next to each other in a state.
        values, reports = jax.vmap(each, (-1, 0))(jnp.moveaxis(rows.free, 0, -1), numbers)
        trips = tuple(Trips(*(jnp.max(x) for x in trips)) for trips in reports)
        return _Outputs(values, self._observed(loop, rows, numbers), trips)

    def _observed(self, loop: BlockLoop, rows: DrawRecord, numbers: Any) -> Any:
        """Observables of draws."""
        observed, plan, count = self.program.observed, self.plan, loop.count
        if observed is None:
            return None
        done, end = loop.chain.transition, loop.chain.phases.end
        thin = jnp.where(done <= end, 1, plan.thin)
        last = end + (done - end) // thin * thin - 1  # the number of the transition of the last row

        def of(q: Any, statistics: Any, needed_values: Any, _: Any, number: Any) -> Any:
            event = (last - (count - 1 - number) * thin).astype(np.uint32)
            return observed.values(q, statistics, needed_values, event, number < count)

        return jax.vmap(of)(*rows, numbers)


class BatchSteps:
    """The pieces of the loops, for a batch of chains."""

    def __init__(self, program: "Program", data: Sequence[Any], plan: Plan, batch: int) -> None:
        self.program, self.data, self.plan, self.batch = program, tuple(data), plan, batch

    def each(
        self, piece: str, *arguments: Any, axes: tuple[Any, ...] = (0,), out_axes: Any = 0
    ) -> Any:
        """A piece of each chain, with the values of its data."""

        def of_one(data: Sequence[Any], *arguments: Any) -> Any:
            steps = BlockSteps(self.program, data, self.plan, self.batch)
            return getattr(steps, piece)(*arguments)

        mapped = jax.vmap(of_one, (self.program.data_axes, *axes), out_axes)
        return mapped(self.data, *arguments)

    def buffers(self) -> DrawRecord:
        """Buffers for the draws of all chains."""
        steps = BlockSteps(self.program, self.data, self.plan, self.batch)
        return steps.buffers(steps.most, self.batch)


def chosen(which: Any, first: Any, second: Any) -> Any:
    """The first tree where a condition holds, otherwise the second."""
    return jax.tree.map(lambda a, b: jnp.where(which, a, b), first, second)
