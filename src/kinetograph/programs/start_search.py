"""The search for a starting point: a small program before the blocks.

A point drawn from uniform(-2, 2) on the free scale, moved by `start_centres`, may be absurd: its
density is finite, but may be 1e80 below that of the posterior. So a short ascent is made from each
of the first twelve points at which log density and gradient are finite, and the end of one ascent
is chosen in proportion to its density:

    q' = q + rate sign(gradient)         accepted if the density rises, else tried with 0.3 rate;
    rate = 0.1, times 1.5 where the gradient's sign has held, halved where it turned, at most 0.5

An ascent ends when 20 gradients are spent, or when a step gains less than 0.3 units of the log
density for each unknown. That is near the foot of the posterior, not at its top. The last step of
the ascent shows the curvature of the density, and so gives the first scale of each unknown:

    scale = (|gradient| + |change of gradient / change of q|)^(-1/2).

No ascent is made from a point that the user gave, nor if the first finite point was asked for. Each
walker of an ensemble takes its own first finite point, so that the walkers begin apart.

The program stops after a given number of gradients, and continues from where it stopped.
"""

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..adaptation.metric import first_scale
from ..graph.trips import NO_TRIPS, Trips, any_short
from ..kernels.noise import Noise
from ..models.bound_density import BoundDensity, Position
from ..models.start_centres import HALF_WIDTH, start_centres
from ..models.starting_points import START_ATTEMPTS
from .block_steps import chosen
from .state import ASCENTS, ChainState, Start

if TYPE_CHECKING:
    from .program import Program

__all__ = ["SearchResult", "SearchState", "blank_search", "search"]

_START = 0  # the purpose of these random numbers; samplers use other purposes
STEPS = 20
RATE, LONGEST = 0.1, 0.5
FASTER, SLOWER, REFUSED = 1.5, 0.5, 0.3
ENOUGH = 0.3  # an ascent ends if a step gains less log density than this for each unknown


class SearchResult(NamedTuple):
    """The result of a search.

    Without success its position is the last point tried.
    """

    chain: ChainState
    start: Start
    success: Any
    reports: tuple[Trips, ...]  # of the loops in the log density
    search: "SearchState"  # the state to continue from, unless the search is over
    over: Any


class _Climb(NamedTuple):
    """An ascent in progress."""

    at: Position
    scale: Any
    rate: Any
    steps: Any  # evaluations since the first point of the ascent; -1: a new point is needed


class SearchState(NamedTuple):
    """The state of the search of one walker."""

    climb: _Climb
    start: Start
    score: Any  # log density of the best end so far, plus Gumbel noise
    ascents: Any  # number of ascents that have ended
    trips: tuple[Trips, ...]


def search(
    program: "Program",
    key: Any,
    free: Any,
    given: Any,
    climbing: Any,
    scaled: Any,
    hyper: Any,
    begun: SearchState,
    gradients: Any,
    data: Sequence[Any],
) -> SearchResult:
    """The state of a chain before its first transition."""
    density = program.bound(data)
    singleone = partial(_search, program, density, key, gradients)
    if program.walkers:
        climbing, walkers = jnp.bool_(False), jnp.arange(program.walkers[0])
        axes = (0, None, None, 0, 0)
        end, over = jax.vmap(singleone, axes)(free, given, climbing, walkers, begun)
        trips = tuple(Trips(*(jnp.max(x, 0) for x in reports)) for reports in end.trips)
    else:
        end, over = singleone(free, given, climbing, 0, begun)
        trips = end.trips
    start = end.start
    if "scale" in program.sampler.tune:
        start = start._replace(scale=jnp.where(scaled, hyper["scale"], start.scale))
    chain = program.begin(density, key, hyper, start)
    return SearchResult(chain, start, jnp.all(end.score > -jnp.inf), trips, end, jnp.all(over))


def _search(
    program: "Program",
    density: BoundDensity,
    key: Any,
    gradients: Any,
    free: Any,
    given: Any,
    climbing: Any,
    walker: Any,
    begun: SearchState,
) -> tuple[SearchState, Any]:
    """Try points and climb, until ascents or points run out.

    Also returns whether that is so.
    """
    size, dtype = program.model.free_size, program.dtype
    centres = start_centres(program.model)
    count = math.prod(program.walkers)
    most = jnp.where(given, 1, START_ATTEMPTS)
    ascents = jnp.where(climbing & ~given, ASCENTS, 1)

    def drawn(number: Any) -> tuple[Any, Any]:
        """Point `number` to try, and Gumbel noise."""
        u = Noise(key, number).uniforms(_START, count * size + 1)
        q = lax.dynamic_slice(u, (walker * size,), (size,))
        q = 2 * HALF_WIDTH * q - HALF_WIDTH
        q = q if centres is None else q + centres
        return jnp.where(given, free, q.astype(dtype)), -jnp.log(-jnp.log(u[-1]))

    def more(state: SearchState) -> Any:
        under_way = (state.climb.steps >= 0) | (state.start.attempts < most)
        return (state.ascents < ascents) & under_way & ~any_short(state.trips)

    def evaluate(state: SearchState) -> SearchState:
        climb, start = state.climb, state.start
        fresh = climb.steps < 0
        attempts = start.attempts + fresh
        point, noise = drawn(attempts)
        q = jnp.where(fresh, point, climb.at.q + climb.rate * jnp.sign(climb.at.gradient))
        tried, trips = density.evaluate(q, state.trips)
        tried = lax.optimization_barrier(tried)  # so that XLA does not compute it again at each use
        finite = jnp.isfinite(tried.log_density) & jnp.all(jnp.isfinite(tried.gradient))
        after, gain = _climbed(climb, tried, finite, fresh)
        enough = (after.steps >= STEPS) | (gain < ENOUGH * size) | ~climbing
        ended = jnp.where(fresh, finite & ~climbing, enough)
        score = jnp.where(ended, after.at.log_density + noise, -jnp.inf)
        best = score > state.score
        # If no point is finite, the last one is kept for the error.
        nothing = fresh & ~finite & (state.score == -jnp.inf)
        position = chosen(best, after.at, chosen(nothing, tried, start.position))
        number = state.ascents
        begins = start.begins.at[number].set(
            jnp.where(fresh & finite, tried.log_density, start.begins[number])
        )
        ends = start.ends.at[number].set(jnp.where(ended, after.at.log_density, start.ends[number]))
        start = Start(
            position,
            jnp.where(best, after.scale, start.scale),
            attempts,
            start.gradients + 1,
            jnp.where(best, number, start.taken),
            begins,
            ends,
        )
        after = after._replace(steps=jnp.where(ended, -1, after.steps))
        score = jnp.maximum(score, state.score)
        return SearchState(after, start, score, number + ended, trips)

    def goes_on(state: SearchState) -> Any:
        return more(state) & (state.start.gradients - begun.start.gradients < gradients)

    end: SearchState = lax.while_loop(goes_on, evaluate, begun)
    return end, ~more(end)


def _climbed(climb: _Climb, tried: Position, finite: Any, fresh: Any) -> tuple[_Climb, Any]:
    """The ascent after an evaluation, and its gain.

    The gain of a refused step is infinite, so that the ascent continues.
    """
    at = climb.at
    accepted = finite & (fresh | (tried.log_density > at.log_density))
    same_sign = jnp.sign(tried.gradient) * jnp.sign(at.gradient) > 0
    faster = jnp.minimum(LONGEST, climb.rate * jnp.where(same_sign, FASTER, SLOWER))
    rate = jnp.where(fresh, RATE, jnp.where(accepted, faster, REFUSED * climb.rate))
    change = tried.q - at.q
    still = fresh | (change == 0)
    secant = jnp.where(still, 0.0, (tried.gradient - at.gradient) / jnp.where(still, 1.0, change))
    scale = jnp.where(accepted, first_scale(tried.gradient, secant), climb.scale)
    steps = jnp.where(fresh, jnp.where(finite, 0, -1), climb.steps + 1)
    gain = jnp.where(accepted, tried.log_density - at.log_density, jnp.inf)
    return _Climb(chosen(accepted, tried, at), scale, rate.astype(at.q.dtype), steps), gain


def blank_search(program: "Program") -> SearchState:
    """The state of each walker's search before the first point."""
    size, dtype = program.model.free_size, program.dtype
    blank = np.zeros(size, dtype)
    start = Start.at(Position(blank, np.zeros((), dtype), blank))
    climb = _Climb(start.position, start.scale, np.full(size, RATE, dtype), np.int32(-1))
    trips = tuple(NO_TRIPS for _ in program.model.density.loops)
    single = SearchState(climb, start, np.float64(-np.inf), np.int32(0), trips)
    stacked: SearchState = jax.tree.map(
        lambda x: np.broadcast_to(x, (*program.walkers, *x.shape)), single
    )
    return stacked
