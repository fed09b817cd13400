"""Batches of chains that a program advances together.

If chains are divided into several batches, they have equal sizes, because the last bits of draws
depend on the size. So the last batch may have places that idle chains fill. Each batch is run as if
it were alone, and the draws do not depend on the devices on which batches are run.
"""

import time
from collections.abc import Iterator, Sequence
from typing import Any

import jax
import numpy as np

from ..adaptation.host_warmup import Tuner
from ..adaptation.metric_search import Tuned, judged
from ..adaptation.schedule import Phases
from ..programs.engine import Engine
from ..programs.program import Program
from ..programs.state import ChainState, Where
from .chain import IdleChain, Lengths, RunningChain
from .control import ThreadControl, beginnings, plan_of, tuned_of

__all__ = ["RunningBatch", "batches_of"]


class RunningBatch:
    """Chains that one call of a program advances, and their states."""

    def __init__(self, engine: Engine, chains: Sequence[RunningChain]) -> None:
        first, size = chains[0], engine.batch or len(chains)
        self.engine, self.chains = engine, chains
        self.places = [*chains, *(IdleChain.like(first) for _ in range(len(chains), size))]
        self.states: ChainState | None = None  # stacked; None until a block has been taken

    def settle(self) -> None:
        """Give each chain its state."""
        if self.states is not None:
            each = _members(jax.device_get(self.states))
            for chain, state in zip(self.chains, each, strict=False):
                chain.state = state

    def turns(
        self, shared: Sequence[Any], lengths: Lengths, control: ThreadControl
    ) -> Iterator[None]:
        """Run the chains block by block, until they or the run end."""
        engine, chains, pace = self.engine, self.chains, self.engine.pace
        data = _data(engine.program, shared, chains)
        states = self._begun(data, control)
        while states is not None and not control.ends():
            if all(c.left(lengths) <= 0 for c in chains):
                break
            phases = [c.phases(lengths.sampled) for c in self.places]
            plan = plan_of(lengths, pace, chains[0])
            states = states._replace(phases=Phases(*np.array(phases, np.int32).T))
            states, started = engine.prepared(states, data), time.perf_counter()
            states, blocks = engine.advance(states, data, plan)
            if all(c.transition >= c.tuner.late for c in chains):  # the tuner does not need them
                blocks = blocks._replace(free=None, slopes=None)
            rows = engine.on_host(blocks)
            computed = time.perf_counter() - started
            with control.taking() as continues:
                if not continues:
                    return
                RunningChain.take_each(self.places, rows)
                self.states = states = self._tuned(states)
                if control.keeper is not None and control.keeper.due(chains[0]):
                    self.settle()
                    for chain in chains:
                        control.keeper.keep(chain)
            elapsed = time.perf_counter() - started
            for chain in chains:
                chain.seconds += elapsed
            spent = rows.progress[: len(chains), Where._fields.index("spent")]
            # The time in which chains wait for slower ones is lost.
            waited = computed * (1 - spent.mean() / max(spent.max(), 1))
            pace.adjust(int(spent.max()), computed, elapsed - computed + float(waited))
            yield

    def _begun(self, data: Any, control: ThreadControl) -> Any:
        """The states of the chains: starting points, or the present states."""
        begun = [chain.state is not None for chain in self.places]
        if not all(begun):
            arguments = _stacked(beginnings(self.engine.program, self.places))
            result = self.engine.find(arguments, data, control.stop.is_set)
            if result is None:
                return None
            with control.taking() as continues:
                if not continues:
                    return None
                each = _members(jax.device_get(result))
                for chain, start in zip(self.places, each, strict=True):
                    if chain.state is None:
                        chain.begin(start)
                    if chain.failed:
                        control.failed.set()
            if not any(begun):
                return result.chain
        return jax.device_put(_stacked([chain.state for chain in self.places]), self.engine.device)

    def _tuned(self, states: ChainState) -> ChainState:
        """The states, after the host has tuned the chains that are due."""
        transitions = [chain.transition for chain in self.chains]
        tuners = [chain.tuner for chain in self.chains]
        choosing = [i for i, t in enumerate(tuners) if t.chooses_at(transitions[i])]
        due = [i for i, chain in enumerate(self.chains) if chain.at_stop()]
        if not choosing and not due:
            return states
        leaves, structure = jax.tree.flatten(tuned_of(states))
        leaves = [np.array(leaf) for leaf in leaves]
        tuned_states: Tuned = jax.tree.unflatten(structure, leaves)
        if choosing:
            chosen = Tuner.chosen(
                [tuners[i] for i in choosing],
                [transitions[i] for i in choosing],
                jax.tree.map(lambda leaf: leaf[choosing], tuned_states),
            )
            for leaf, value in zip(leaves, jax.tree.leaves(chosen), strict=True):
                leaf[choosing] = value
        if due:
            self._retune(due, tuned_states)
        return states._replace(**tuned_states._asdict())

    def _retune(self, due: Sequence[int], tuned_states: Tuned) -> None:
        """Examine the draws of some chains, and change their tuning in place."""
        leaves, structure = jax.tree.flatten(tuned_states)
        chains = [self.chains[i] for i in due]
        befores = [jax.tree.unflatten(structure, [leaf[i] for leaf in leaves]) for i in due]
        windows = [
            chain.tuner.window(chain.transition, before)
            for chain, before in zip(chains, befores, strict=True)
        ]
        hyper = jax.tree.map(lambda a: a[due], tuned_states.hyper)
        divergences = judged(hyper, windows, chains[0].tuner.dense)
        each = zip(due, chains, befores, windows, divergences, strict=True)
        for i, chain, before, window, chain_divergences in each:
            tuned = chain.tuner.examined(
                chain.transition, chain.gradients, window, before, chain_divergences
            )
            if tuned is not before:
                for leaf, value in zip(leaves, jax.tree.leaves(tuned), strict=True):
                    leaf[i] = value


def batches_of(engines: Sequence[Engine], chains: Sequence[RunningChain]) -> list[RunningBatch]:
    """The batches of chains, for each of the engines in turn."""
    size = engines[0].batch or len(chains)
    parts = [chains[i : i + size] for i in range(0, len(chains), size)]
    return [RunningBatch(engines[i % len(engines)], part) for i, part in enumerate(parts)]


def _data(program: Program, shared: Sequence[Any], chains: Sequence[RunningChain]) -> Any:
    """The model's arguments, stacked where chains have their own values."""
    each = zip(program.arguments, shared, strict=True)
    return tuple(
        np.stack([chain.data[node] for chain in chains]) if node in program.varied else value
        for node, value in each
    )


def _stacked(rows: Sequence[Any]) -> Any:
    return jax.tree.map(lambda *leaves: np.stack(leaves), *rows)


def _members(tree: Any) -> Iterator[Any]:
    """The members of a stack."""
    leaves, structure = jax.tree.flatten(tree)
    for parts in zip(*leaves, strict=True):
        yield jax.tree.unflatten(structure, parts)
