"""Points of a tempered model that a sampler moves in batches.

The points are cut into groups of one size. A group is a batch of chains, and all groups share one
compiled program and run on threads, or on devices in turn. The random numbers of a point depend on
the key, on how often points have been placed, and on the place of the point. So the results do not
depend on the number of threads or devices.
"""

import copy
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..adaptation.schedule import NEVER
from ..bits.draws import words
from ..graph.lower import Scope
from ..graph.precision import x64
from ..kernels.blas import one_thread
from ..models.tempered_model import TemperedModel
from ..programs.engine import Engine, build
from ..programs.program import Program
from ..programs.state import ChainState, Plan
from ..samplers.sampler import Sampler
from .prior import refuse_infinite

__all__ = ["Sweep", "TemperedPoints", "tempered_program"]

RECORDED = 8  # rows of a block; a sweep records one
UNLIMITED = 2**40  # gradients of a block
AT_ONCE = 4096  # points whose likelihood is computed at once
_KEYS = 7  # the purpose of these random words


class Sweep(NamedTuple):
    """The points after a transition of each."""

    free: np.ndarray  # (points, free_size)
    acceptance: np.ndarray  # of the transition; NaN if the sampler does not record it
    diverging: np.ndarray  # whether it diverged, or left the support
    gradients: int  # of all points together


def tempered_program(model: TemperedModel, sampler: Sampler) -> Program:
    """The program that moves points of a tempered model."""
    untuned = copy.copy(sampler)
    untuned.tune = ()
    return Program(model, untuned, (), varied=model.settings, most_rows=RECORDED)


class TemperedPoints:
    """Points of a tempered model, and the program that moves them.

    Parameters
    ----------
    model
        The tempered model.
    sampler
        A sampler without walkers; its own tuning is not used.
    size
        The number of points.
    group
        The number of points of a batch; the last batch is filled up.
    key
        The key of the random numbers.
    threads
        The most groups that run at once.
    devices
        The devices of the groups; empty for JAX's default device.
    """

    def __init__(
        self,
        model: TemperedModel,
        sampler: Sampler,
        size: int,
        group: int,
        key: np.ndarray,
        threads: int,
        devices: tuple[Any, ...] = (),
    ) -> None:
        self.model, self.size, self.threads = model, size, threads
        self.program = tempered_program(model, sampler)
        places = np.minimum(np.arange(-(-size // group) * group), size - 1)
        self.groups = places.reshape(-1, group)
        engine = build(self.program, group, device=next(iter(devices), None))
        engines = engine.on(devices) if devices else [engine]
        self.engines = [engines[i % len(engines)] for i in range(len(self.groups))]
        self.key = key
        self.placed = 0
        self._states: list[tuple[ChainState, Any]] = []
        self._free = np.empty((size, 0))

    def place(
        self, free: np.ndarray, settings: np.ndarray, hyper: Mapping[str, np.ndarray]
    ) -> None:
        """Put the points at free states, each with its own settings.

        `settings` (points, settings) has a row for each point. `hyper` has values of
        hyper-parameters with a leading axis of points. The slots of the sampler are made again.
        """
        lanes = np.arange(self.groups.size, dtype=np.uint32)
        with x64():
            drawn = _words(self.key, np.uint32(self.placed), lanes)
            keys = np.stack(jax.device_get(drawn), -1)[self.groups]
        self.placed += 1
        self._free = free
        placed = partial(self._placed, free, settings, hyper)
        self._states = self._on_threads(placed, self.engines, keys, self.groups)

    def sweep(self) -> Sweep:
        """Make a transition from each of the present points.

        A sampler without a Metropolis test may reach points whose density is 0 or not a number;
        there the point keeps its last possible place.
        """
        moves = self._on_threads(self._moved, self.engines, self._states)
        self._states = [state for state, _ in moves]
        free, possible, acceptance, diverging, gradients = (
            np.concatenate(each)[: self.size] for each in zip(*(x for _, x in moves), strict=True)
        )
        free = self._free = np.where(possible[:, None], free, self._free)
        return Sweep(free, acceptance, (diverging != 0) | ~possible, int(gradients.sum()))

    def change(self, hyper: Mapping[str, np.ndarray]) -> None:
        """Set values of hyper-parameters, with a leading axis of points."""
        self._states = [
            (state._replace(hyper=state.hyper | self._given(hyper, places, state.hyper)), data)
            for (state, data), places in zip(self._states, self.groups, strict=True)
        ]

    def log_likelihood(self, free: np.ndarray) -> np.ndarray:
        """The log likelihood at free states; -inf where it is NaN.

        Raises
        ------
        ModelError
            If the likelihood is infinite at one of them.
        """
        parts = []
        with x64():
            for begin in range(0, len(free), AT_ONCE):
                rows = free[begin : begin + AT_ONCE]
                parts.append(np.asarray(self._likelihood(rows, self.model.argument_values)))
        values = np.concatenate(parts)
        if len(places := np.flatnonzero(values == np.inf)):
            refuse_infinite(self.model.original, free[places], len(free))
        return np.where(np.isnan(values), -np.inf, values)

    @cached_property
    def _likelihood(self) -> Any:
        def of_all(free: Any, values: Any) -> Any:
            bound = self.model.bind(values)

            def of_one(q: Any) -> Any:
                scope = Scope(capacity=bound.capacity)
                return self.model.density.likelihood(q, bound.data, scope)

            return jax.vmap(of_one)(free)

        return jax.jit(of_all)

    def _on_threads(self, run: Any, *arguments: Any) -> list[Any]:
        def in_precision(*each: Any) -> Any:
            with x64():
                return run(*each)

        with one_thread(), ThreadPoolExecutor(min(self.threads, len(self.groups))) as pool:
            return list(pool.map(in_precision, *arguments))

    def _given(
        self, hyper: Mapping[str, np.ndarray], places: np.ndarray, like: Mapping[str, Any]
    ) -> dict[str, np.ndarray]:
        return {
            name: np.asarray(values)[places].astype(like[name].dtype)
            for name, values in hyper.items()
            if name in like
        }

    def _placed(
        self,
        free: np.ndarray,
        settings: np.ndarray,
        hyper: Mapping[str, np.ndarray],
        engine: Engine,
        keys: np.ndarray,
        places: np.ndarray,
    ) -> tuple[ChainState, Any]:
        program, count = self.program, len(places)
        standard = program.hyper()

        def repeated(value: Any) -> Any:
            return np.broadcast_to(value, (count, *np.shape(value)))

        values = jax.tree.map(repeated, standard) | self._given(hyper, places, standard)
        points = np.asarray(free[places], program.dtype)
        arguments = zip(self.model.arguments, self.model.argument_values, strict=True)
        given = dict(zip(self.model.settings, settings[places].T, strict=True))
        data = tuple(given[n].astype(n.dtype) if n in given else value for n, value in arguments)
        yes, no = np.ones(count, bool), np.zeros(count, bool)
        result = engine.find((keys, points, yes, no, yes, values), data)
        return result.chain, data

    def _moved(self, engine: Engine, placed: tuple[ChainState, Any]) -> Any:
        state, data = placed
        first = np.asarray(state.transition)
        begun, last = np.asarray(state.gradients), first + 1
        never = np.full(len(last), NEVER, np.int32)
        phases = state.phases._replace(
            early=first, late=first, end=first, stop=last.astype(np.int32), glance=never
        )
        state, block = state._replace(phases=phases), None
        plan = Plan(np.int32(1), np.int64(UNLIMITED))
        while block is None or np.asarray(state.transition).min() < last[0]:
            state, block = engine.advance(state, data, plan)
        statistics = np.asarray(block.statistics)[0]
        position = state.position
        free, density, gradients = jax.device_get(
            (position.q, position.log_density, state.gradients)
        )
        possible = np.isfinite(free).all(-1) & (density > -np.inf)
        acceptance, diverging = (
            statistics[:, self._columns[name]] if name in self._columns else otherwise
            for name, otherwise in (
                ("acceptance_rate", np.full(len(last), np.nan)),
                ("diverging", np.zeros(len(last))),
            )
        )
        return (state, data), (np.array(free), possible, acceptance, diverging, gradients - begun)

    @cached_property
    def _columns(self) -> dict[str, int]:
        """The column of each statistic, among the statistics of a transition."""
        records = self.program.kernel.statistics
        ends = np.cumsum([statistic.size for statistic in records])
        return {s.name: int(end) - s.size for s, end in zip(records, ends, strict=True)}


@jax.jit
def _words(key: Any, event: Any, lanes: Any) -> Any:
    return words(key, event, _KEYS, jnp.asarray(lanes))
