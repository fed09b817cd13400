"""Chains stepped by hand, as one batch."""

import time
from collections.abc import Sequence

import jax
import numpy as np

from ..adaptation.schedule import NEVER
from ..graph.precision import x64
from ..programs.engine import build
from ..programs.state import Plan, Where
from .rows import TransitionRows
from .stepping import Chain, StepResults

__all__ = ["ChainBatch"]


class ChainBatch:
    """Chains of one program that make each transition together.

    One executable holds all chains, so a transition of a small model costs far less than the same
    transitions one after the other. Draws equal the draws of `Chain.step` up to rounding.

    Parameters
    ----------
    chains
        Chains of the same model, sampler and observables, after equally many transitions.
    """

    def __init__(self, chains: Sequence[Chain]) -> None:
        self.chains = chains
        self._engine = build(chains[0]._program, len(chains))

    def step(self, n: int, *, thin: int = 1) -> list[StepResults]:
        """Make n transitions; returns the results of each chain."""
        first, data = self.chains[0], self.chains[0]._data
        until, pace = first.iteration + n, self._engine.pace
        first._program.check_schedules(first.iteration, until)
        parts: list[list[TransitionRows]] = [[] for _ in self.chains]
        with x64():
            states = jax.tree.map(lambda *x: np.stack(x), *(c.state for c in self.chains))
            ends = np.full(len(self.chains), until, np.int32)
            never = np.full(len(self.chains), NEVER, np.int32)
            transition = first.iteration
            while transition < until:
                begun = time.perf_counter()
                phases = states.phases._replace(stop=ends, glance=never)
                plan = Plan(np.int32(thin), np.int64(pace.gradients))
                states, block = self._engine.advance(states._replace(phases=phases), data, plan)
                block = self._engine.on_host(block)
                where = [Where(*values) for values in block.progress.tolist()]
                transition = min(each.transition for each in where)
                spent = max(each.spent for each in where)
                pace.adjust(spent, time.perf_counter() - begun)
                for i, rows in enumerate(parts):
                    count = where[i].rows
                    targets = [np.array(values[:count, i]) for values in block.targets]
                    rows.append(TransitionRows(targets, np.array(block.statistics[:count, i])))
            states = jax.device_get(states)
        for i, chain in enumerate(self.chains):
            chain._state = jax.tree.map(lambda x, i=i: x[i], states)
        return [c._results(rows) for c, rows in zip(self.chains, parts, strict=True)]
