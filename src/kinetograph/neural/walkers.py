"""Walkers: running chains of one sampler, for copies of the parameters.

Independent walkers are chains of `kg.chain`, with the numbers 0, 1, ..., on threads or as one
batch; walkers with a common preconditioner are one chain of `kg.samplers.EQN`. Both have positions
and momenta of shape (walkers, N).
"""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import jax
import numpy as np

from ..bits.draws import chain_key
from ..graph.errors import ModelError
from ..runs.chain_batch import ChainBatch
from ..runs.chain_method import chain_method_of
from ..runs.stepping import Chain, chain

__all__ = ["WalkerRows", "Walkers"]


class WalkerRows(NamedTuple):
    """Rows of some steps.

    Attributes
    ----------
    steps
        The numbers of the steps, from 1, (rows,).
    draws
        Free parameters, (rows, walkers, N).
    statistics
        Records by name, (rows, walkers, ...).
    """

    steps: np.ndarray
    draws: np.ndarray
    statistics: dict[str, np.ndarray]


class Walkers:
    """Running chains.

    Attributes
    ----------
    steps_per_transition
        The number of steps in a transition of the chains: 1, or the steps of an ensemble between
        two preconditioners.
    first
        The number of the first walker.
    before
        The number of steps that were made before these chains began.
    """

    def __init__(
        self,
        model: Any,
        sampler: Any,
        starts: np.ndarray,
        *,
        seed: int,
        generation: int = 0,
        before: int = 0,
        first: int = 0,
        observables: Any = (),
        chain_method: str | None = None,
        threads: int | None = None,
    ) -> None:
        self.sampler, self.threads, self.seed = sampler, threads, seed
        self.is_ensemble = sampler.walkers is not None
        self.count, self.generation, self.before = len(starts), generation, before
        self.first = first
        self.steps_per_transition = int(sampler.steps) if self.is_ensemble else 1
        chains = 1 if self.is_ensemble else len(starts)
        numbers = [generation * 2**16 + first + i for i in range(chains)]
        self.keys = [chain_key(seed, number) for number in numbers]
        self.chains: list[Chain] = [
            chain(
                model,
                sampler,
                seed=seed,
                index=number,
                initial=starts if self.is_ensemble else starts[i],
                observables=observables,
            )
            for i, number in enumerate(numbers)
        ]
        method = chain_method_of(chain_method, threads, "walkers")
        as_batch = method == "batch" and len(self.chains) > 1
        self._batch = ChainBatch(self.chains) if as_batch else None

    @property
    def positions(self) -> np.ndarray:
        """The free parameters, (walkers, N)."""
        return np.stack([each.q for each in self.chains]).reshape(self.count, -1)

    @positions.setter
    def positions(self, values: np.ndarray) -> None:
        """Move the walkers whose parameters differ."""
        for running, value in zip(self.chains, self._by_chain(values), strict=True):
            if not np.array_equal(running.q, value):
                running.move(value)

    @property
    def has_momenta(self) -> bool:
        """Whether the sampler keeps momenta from step to step."""
        return "p" in self.chains[0].slots

    @property
    def momenta(self) -> np.ndarray:
        """The momenta, (walkers, N)."""
        self._need_momenta()
        return np.stack([each.slots["p"] for each in self.chains]).reshape(self.count, -1)

    @momenta.setter
    def momenta(self, values: np.ndarray) -> None:
        self._need_momenta()
        for running, value in zip(self.chains, self._by_chain(values), strict=True):
            running.slots["p"] = value

    def _need_momenta(self) -> None:
        if not self.has_momenta:
            name = type(self.sampler).__name__
            raise ModelError(
                f"momenta: the sampler {name} keeps no momenta from step to step; samplers of "
                "Langevin dynamics do, such as sampler='BAOAB'"
            )

    def _by_chain(self, values: np.ndarray) -> np.ndarray:
        return values[None] if self.is_ensemble else values

    @property
    def steps_made(self) -> int:
        """The number of steps made, also by earlier chains."""
        return self.before + self.chains[0].iteration * self.steps_per_transition

    @property
    def event(self) -> int:
        """The number of the last transition, whose batch is the current one."""
        return max(self.chains[0].iteration - 1, 0)

    def events(self, steps: np.ndarray) -> np.ndarray:
        """The numbers of the transitions of these steps, from 0."""
        return (steps - self.before) // self.steps_per_transition - 1

    def key(self, walker: int) -> np.ndarray:
        """The key of the random numbers of a walker."""
        return self.keys[0 if self.is_ensemble else walker]

    def set_hyper(self, values: Mapping[str, Any]) -> None:
        """Set hyper-parameters of the sampler."""
        for running in self.chains:
            for name, value in values.items():
                if name in running.hyper:
                    running.hyper[name] = value

    def hyper(self, name: str, walker: int = 0) -> Any:
        """The value of a hyper-parameter; NaN if it is missing."""
        values = self.chains[0 if self.is_ensemble else walker].hyper
        return values[name] if name in values else np.float64(np.nan)

    def snapshot(self) -> list[Any]:
        """The states of the chains, for `restore`."""
        return [each.state for each in self.chains]

    def restore(self, states: list[Any]) -> None:
        """Return to the states of a snapshot."""
        for running, state in zip(self.chains, states, strict=True):
            running.state = state

    def step(self, transitions: int, thin: int) -> WalkerRows:
        """Make transitions, and return each thin-th row."""
        first = self.chains[0].iteration
        workers = min(len(self.chains), self.threads or len(self.chains))
        if self._batch is not None:
            results = self._batch.step(transitions, thin=thin)
        elif workers == 1:
            results = [each.step(transitions, thin=thin) for each in self.chains]
        else:
            with ThreadPoolExecutor(workers) as pool:
                results = list(pool.map(lambda c: c.step(transitions, thin=thin), self.chains))
        last = self.chains[0].iteration
        transition_numbers = np.arange(first // thin + 1, last // thin + 1) * thin
        (draws,) = ([r.posterior[name] for r in results] for name in results[0].posterior)
        names = results[0].sample_stats
        return WalkerRows(
            self.before + transition_numbers * self.steps_per_transition,
            self._joined(draws),
            {name: self._joined([r.sample_stats[name] for r in results]) for name in names},
        )

    def _joined(self, arrays: list[np.ndarray]) -> np.ndarray:
        """Rows of all walkers, (rows, walkers, ...)."""
        if not self.is_ensemble:
            return np.stack(arrays, 1)
        (values,) = arrays
        if values.shape[1:2] == (self.count,):
            return values
        return np.repeat(values[:, None], self.count, 1)  # a value of the whole ensemble

    @property
    def state(self) -> list[list[np.ndarray]]:
        """The arrays of the complete state of each chain."""
        return [list(map(np.asarray, jax.tree.leaves(each.state))) for each in self.chains]

    @state.setter
    def state(self, arrays: list[list[np.ndarray]]) -> None:
        for running, leaves in zip(self.chains, arrays, strict=True):
            running.state = jax.tree.unflatten(jax.tree.structure(running.state), leaves)
