"""The loops of a block, for a chain and for a batch.

The large buffers of rows are separate from the state of the loops. Every transition writes its row;
a row that is not kept is overwritten by the next one. A branch or a choice on buffers would copy
them at each step.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..graph.precision import x64
from ..kernels.noise import Noise
from .block_steps import BatchSteps, BlockSteps, chosen
from .state import BY_CHAIN, Block, BlockLoop, ChainState, DrawRecord, Plan

if TYPE_CHECKING:
    from .program import Program

__all__ = ["in_step", "in_turns", "one_chain", "transitions_at_once"]

DRAWN = 64  # transitions of one chain whose random arrays are drawn at once,
DRAWN_ELEMENTS = 2048  # and the bound for the elements of these arrays


def transitions_at_once(program: "Program") -> int:
    """Transitions of one chain whose random arrays are drawn at once."""
    draw = program.kernel.draw
    if draw is None:
        return 1
    with x64():
        arrays = jax.eval_shape(draw, Noise(np.zeros(4, np.uint32), np.int32(0)))
    return min(DRAWN_ELEMENTS // max(sum(array.size for array in arrays), 1), DRAWN)


def one_chain(
    program: "Program", chain: ChainState, data: Sequence[Any], plan: Plan
) -> tuple[ChainState, Block]:
    """A loop of transitions of one chain.

    If transitions are cheap, their random arrays are drawn for many transitions at once.
    """
    steps, at_once = BlockSteps(program, data, plan), transitions_at_once(program)

    def more(carry: tuple[BlockLoop, DrawRecord]) -> Any:
        return steps.more(carry[0])

    def transition(
        carry: tuple[BlockLoop, DrawRecord], drawn: Sequence[Any] = ()
    ) -> tuple[BlockLoop, DrawRecord]:
        loop, rows = carry
        after, row = steps.transition(loop, drawn=drawn)
        return after, _written(rows, row, loop.count)

    def transitions(carry: tuple[BlockLoop, DrawRecord]) -> tuple[BlockLoop, DrawRecord]:
        first = carry[0].chain.transition
        drawn = steps.draw(carry[0].chain, at_once)

        def place(carry: tuple[BlockLoop, DrawRecord]) -> Any:
            return carry[0].chain.transition - first

        return lax.while_loop(
            lambda carry: more(carry) & (place(carry) < at_once),
            lambda carry: transition(carry, [array[place(carry)] for array in drawn]),
            carry,
        )

    carry = (steps.start(chain), steps.buffers(steps.most))
    body = transitions if at_once > 1 else transition
    loop, rows = lax.while_loop(more, body, carry)
    return steps.result(loop, rows, steps.rows_to_compute(loop))


def in_step(
    program: "Program", chains: ChainState, data: Sequence[Any], plan: Plan
) -> tuple[ChainState, Block]:
    """A loop in which all chains of a batch make transitions together.

    Chains that have ended are left as they are. The block ends when the first running chain has to.
    """
    steps = BatchSteps(program, data, plan, len(chains.transition))
    start = steps.each("start", chains)
    ended = ~steps.each("more", start)

    def more(carry: tuple[BlockLoop, DrawRecord]) -> Any:
        return jnp.all(steps.each("more", carry[0]) | ended) & ~jnp.all(ended)

    def transition(carry: tuple[BlockLoop, DrawRecord]) -> tuple[BlockLoop, DrawRecord]:
        loops, rows = carry
        after, row = steps.each("transition", loops, _any_warming(loops), axes=(0, None))
        if program.host_tunes:  # each chain has its own end of warm-up
            after = jax.vmap(chosen)(ended, loops, after)
            return after, _scattered(rows, row, loops.count)
        return after, _written(rows, row, loops.count[0])

    return _results(steps, *lax.while_loop(more, transition, (start, steps.buffers())))


def in_turns(
    program: "Program", chains: ChainState, data: Sequence[Any], plan: Plan
) -> tuple[ChainState, Block]:
    """A loop of turns in which each chain opens transitions independently.

    A chain opens its next transition when it needs to, without waiting for the other chains.
    """
    steps = BatchSteps(program, data, plan, len(chains.transition))

    def more(carry: tuple[BlockLoop, Any, Any, DrawRecord]) -> Any:
        return jnp.any(steps.each("more", carry[0]))

    def turn(carry: tuple[BlockLoop, Any, Any, DrawRecord]) -> Any:
        loops, states, first, rows = carry
        warming = _any_warming(loops)
        turned = steps.each("turn", loops, states, first, warming, axes=(0, 0, None, None))
        after, opened, row = turned
        return after, opened, np.bool_(False), _scattered(rows, row, loops.count)

    opened = jax.eval_shape(lambda: steps.each("open", chains))
    blank = jax.tree.map(lambda array: jnp.zeros(array.shape, array.dtype), opened)
    carry = (steps.each("start", chains), blank, np.bool_(True), steps.buffers())
    loops, _, _, rows = lax.while_loop(more, turn, carry)
    return _results(steps, loops, rows)


def _any_warming(loops: BlockLoop) -> Any:
    return jnp.any(loops.chain.transition < loops.chain.phases.end)


def _written(rows: DrawRecord, row: DrawRecord, place: Any) -> DrawRecord:
    def write(buffer: Any, new: Any) -> Any:
        return lax.dynamic_update_index_in_dim(buffer, new, place, 0)

    written: DrawRecord = jax.tree.map(write, rows, row)
    return written


def _scattered(rows: DrawRecord, row: DrawRecord, places: Any) -> DrawRecord:
    chains = jnp.arange(len(places))

    def write(buffer: Any, new: Any) -> Any:  # no effect if the chain has filled its rows
        return buffer.at[places, chains].set(new, mode="drop")

    scattered: DrawRecord = jax.tree.map(write, rows, row)
    return scattered


def _results(steps: BatchSteps, loops: BlockLoop, rows: DrawRecord) -> tuple[ChainState, Block]:
    # One bound for all chains: a loop with an end for each chain would select among buffers.
    most = jnp.max(steps.each("rows_to_compute", loops))
    results: tuple[ChainState, Block] = steps.each(
        "result", loops, rows, most, axes=(0, 1, None), out_axes=(0, BY_CHAIN)
    )
    return results
