"""One transition of a sampler from given points, by its kernel, without warm-up."""

from collections.abc import Callable, Collection
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from kinetograph.bits.draws import chain_key
from kinetograph.graph.precision import x64
from kinetograph.kernels.contract import KernelState, Moment, Space
from kinetograph.kernels.noise import BEFORE, Noise
from kinetograph.models.bound_density import Position
from kinetograph.runs.assembly import split_statistics

__all__ = ["given", "series", "transitions"]

ROWS = 40_000  # transitions at most: with room for so many, one program serves any number
KERNELS: dict[Any, Any] = {}  # those that were made; of equal samplers one


class Function(NamedTuple):
    """A log density written in JAX, for a kernel."""

    function: Callable[[Any], Any]

    def no_trips(self) -> tuple:
        return ()

    def join(self, trips: Any, found: Any) -> tuple:
        return ()

    def evaluate(self, q: Any, trips: Any) -> Any:
        f = jax.value_and_grad(self.function)
        return Position(q, *(f if q.ndim == 1 else jax.vmap(f))(q)), trips

    def evaluate_with_covariance(self, q: Any, trips: Any, *, full: bool) -> Any:
        position, trips = self.evaluate(q, trips)
        return position, jnp.zeros((*q.shape, q.shape[-1]) if full else q.shape), trips

    def log_density(self, q: Any) -> Any:
        value = (self.function if q.ndim == 1 else jax.vmap(self.function))(q)
        return jnp.where(jnp.isnan(value), -jnp.inf, value)


def _run(kernel: Any, log_density: Callable, q: Any, count: Any, key: Any, hyper: Any):
    target = Function(log_density)

    def one(event: Any) -> Any:
        moment = Moment(hyper, Noise(key, event), target)
        position, _ = target.evaluate(q[event], ())
        state, info = kernel.step(moment, KernelState(position, kernel.init(moment, position), ()))
        return state.position.q, info.statistics

    def fill(event: Any, found: Any) -> Any:
        return jax.tree.map(lambda rows, row: rows.at[event].set(row), found, one(event))

    blank = jax.tree.map(
        lambda like: jnp.zeros((len(q), *like.shape), like.dtype),
        jax.eval_shape(one, jnp.uint32(0)),
    )
    # One after the other: in a batch every branch would run for every row.
    return lax.fori_loop(np.uint32(0), count, fill, blank)


_RUN = jax.jit(_run, static_argnums=(0, 1))
# Half the time to compile, for programs that do little.
_RUN_SMALL = jax.jit(
    _run, static_argnums=(0, 1), compiler_options={"xla_backend_optimization_level": 0}
)


def _follow(kernel: Any, log_density: Callable, q: Any, events: Any, key: Any, hyper: Any):
    target = Function(log_density)

    def one(start: Any) -> Any:
        def step(state: Any, event: Any) -> Any:
            moment = Moment(hyper, Noise(start[1], event), target)
            state, _ = kernel.step(moment, state)
            return state, state.position.q

        moment = Moment(hyper, Noise(start[1], BEFORE), target)
        position, _ = target.evaluate(start[0], ())
        state = KernelState(position, kernel.init(moment, position), ())
        return lax.scan(step, state, events)[1]

    return lax.map(one, (q, key))


_FOLLOW = jax.jit(
    _follow, static_argnums=(0, 1), compiler_options={"xla_backend_optimization_level": 0}
)


def _run_given(kernel: Any, log_density: Callable, q: Any, data: Any, key: Any, hyper: Any):
    def one(event: Any) -> Any:
        target = Function(lambda at: log_density(at, data[event]))
        moment = Moment(hyper, Noise(key, event), target)
        position, _ = target.evaluate(q[event], ())
        state, _ = kernel.step(moment, KernelState(position, kernel.init(moment, position), ()))
        return state.position.q

    return lax.map(one, jnp.arange(len(q), dtype=jnp.uint32))


_RUN_GIVEN = jax.jit(
    _run_given, static_argnums=(0, 1), compiler_options={"xla_backend_optimization_level": 0}
)


def given(sampler: Any, log_density: Callable, q: Any, data: Any, *, seed: int) -> np.ndarray:
    """The new positions of points that make a transition, each given a row of data."""
    q = np.asarray(q, float)
    space = Space(q.shape[1:], q.dtype, {}, 0)
    with x64():
        kernel = _kernel(sampler, space)
        found = _RUN_GIVEN(
            kernel, log_density, q, jnp.asarray(data), chain_key(seed, 0), sampler.hypers(space)
        )
    return np.asarray(found)


def _kernel(sampler: Any, space: Space) -> Any:
    """By which the compiled programs are found."""
    known = (sampler.structure(), space.shape, space.dtype, space.wanted)
    if known not in KERNELS:
        KERNELS[known] = sampler.kernel(space)
    return KERNELS[known]


def series(
    sampler: Any, log_density: Callable[[Any], Any], q: Any, length: int, *, seed: int = 1
) -> np.ndarray:
    """The positions of chains of transitions from points or ensembles q, (chain, draw, ...)."""
    q = np.asarray(q, float)
    space = Space(q.shape[1:], q.dtype, {}, 0)
    with x64():
        events = jnp.arange(length, dtype=jnp.uint32)
        keys = jnp.stack([chain_key(seed, i) for i in range(len(q))])
        values = sampler.hypers(space)
        found = _FOLLOW(sampler.kernel(space), log_density, q, events, keys, values)
    return np.asarray(found)


def transitions(
    sampler: Any,
    log_density: Callable[[Any], Any],
    q: Any,
    *,
    seed: int = 1,
    repeat: int | None = None,
    dtype: Any = float,
    small: bool = False,
    wanted: Collection[str] = (),
    **hyper: Any,
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The new positions and the statistics; each row, a point or an ensemble, makes a transition.

    With `repeat`, q is a single point from which so many transitions start. `small` programs are
    compiled with little effort. `wanted` are records that are made on demand. `hyper` are values of
    hyper-parameters in the place of the sampler's.
    """
    q = np.asarray(q, dtype)
    if repeat is not None:
        q = np.broadcast_to(q, (repeat, *q.shape))
    space = Space(q.shape[1:], np.dtype(dtype), {}, 0, frozenset(wanted))
    values = sampler.hypers(space)
    values |= {k: np.broadcast_to(np.asarray(v, dtype), values[k].shape) for k, v in hyper.items()}
    with x64():
        kernel = _kernel(sampler, space)
        starts = np.zeros((ROWS, *q.shape[1:]), dtype)
        starts[: len(q)] = q
        run = _RUN_SMALL if small else _RUN
        found = run(kernel, log_density, starts, np.uint32(len(q)), chain_key(seed, 0), values)
        after, rows = (np.asarray(part)[: len(q)] for part in found)
    return after, split_statistics(kernel.statistics, rows)
