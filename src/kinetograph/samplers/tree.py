"""The transition of NUTS: a tree of leaves, one leapfrog step each, that doubles.

    leapfrog    p <- p + h/2 grad log pi(q);  q <- q + h p;  p <- p + h/2 grad log pi(q)
                or another integrator, with as many gradients a leaf as it has stages
    tree        doubles to a random side until it turns back (`turning`), diverges, or reaches
                max_depth; a subtree that turns or diverges is discarded
    choice      inside a new subtree each leaf replaces the candidate with probability
                w_leaf / w_so_far, w = exp(beta (H_0 - H)); the new subtree's candidate replaces
                the old one with probability min(1, W_new / W_old)

in the coordinates of the warm-up's metric, where the mass is 1.

One chain makes its leaves in a loop in a loop of doublings. In a batch of chains, which none of
them is to hold up, a transition is cut into turns of one gradient, made of the same pieces.

A doubling takes one random number u. Where a leaf is chosen with probability r = w / W that is
u < r, and u / r, or else (u - r) / (1 - r), is a random number for the next leaf: as many bits are
spent as the choice of a leaf of 2**k has, at most k of 53.

Source   M. Hoffman, A. Gelman, JMLR 15 (2014) 1593-1623; M. Betancourt, arXiv:1701.02434,
         appendix A.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..bits.source import unit
from ..kernels.batching import once
from ..kernels.contract import Info, Moment, State, Statistic
from ..kernels.target import Position, any_short
from .integrators import Integrator
from .turning import HalfTrees, read, straight, write

__all__ = ["NutsKernel"]

_NUMBERS = 1  # the purpose of a transition's random numbers
_DOUBLE = np.dtype(np.float64)
# exp(beta (H_0 - H)) at most: sums of 2**20 such numbers are finite. Where the start is less likely
# than others by more than that, it is not known by how much.
_GAIN = 600.0


class _End(NamedTuple):
    """An end of the path; momentum and force (the gradient) are in the metric's coordinates."""

    q: Any
    p: Any
    force: Any


class _Candidate(NamedTuple):
    position: Position
    energy: Any


class _Tree(NamedTuple):
    ends: _End  # of both sides: backward, forward
    candidate: _Candidate
    rho: Any  # sum of the momenta
    weight: Any  # sum of the weights, relative to exp(-beta H_0)
    energy: Any  # H_0
    sides: Any  # to which each doubling goes,
    choices: Any  # and the random number of its choices
    depth: Any
    leaves: Any  # beside the start
    acceptance: Any  # summed over them
    diverging: Any
    finished: Any
    worst: Any = None  # the energy error of largest size, where it is wanted


class _Inside(NamedTuple):
    """Inside of a leaf, of an integrator with several stages."""

    stage: Any  # how many are done
    end: _End


class _Room(NamedTuple):
    """What the first leaf of a subtree writes anew, whatever was there before."""

    halves: HalfTrees
    candidate: _Candidate


class _Subtree(NamedTuple):
    """What a doubling adds, as it grows."""

    end: _End
    direction: Any  # 1 or -1
    room: Any  # a `_Room`
    weight: Any
    choice: Any  # what is left of the random number
    leaves: Any
    acceptance: Any  # of the whole tree
    diverging: Any
    stopped: Any  # it turns or diverges
    worst: Any
    inside: _Inside | None


class _Growing(NamedTuple):
    """A transition in turns."""

    tree: _Tree
    subtree: _Subtree


# Recorded where they are asked for.
OF_WORST = (
    Statistic("max_energy_error", float, "energy error of largest size in the tree"),
    Statistic("bad", bool, "whether a leaf had no finite energy"),
)


class NutsKernel:
    """The transition, at once or in turns of one gradient each."""

    statistics: tuple[Statistic, ...] = (
        Statistic("lp", float, "joint log density of the free state"),
        Statistic("acceptance_rate", float, "mean of min(1, exp(beta (H_0 - H))) of new leaves"),
        Statistic("n_steps", int, "steps of the integrator, of as many gradients as its stages"),
        Statistic("tree_depth", int, "number of doublings"),
        Statistic("reached_max_treedepth", bool, "whether the tree has max_depth doublings"),
        Statistic("diverging", bool, "whether the energy error passed the threshold"),
        Statistic("energy", float, "Hamiltonian of the new position with its momentum"),
        Statistic("energy_error", float, "energy of the new position minus that of the start"),
    )

    moves_by_values = True  # the weights of the leaves
    takes_gradient = True
    ends_with_value = False

    def __init__(self, max_depth: int, integrator: Integrator, wanted: frozenset[str]) -> None:
        self.max_depth, self.integrator = max_depth, integrator
        self.of_worst = tuple(s for s in OF_WORST if s.name in wanted)
        self.statistics = (*self.statistics, *self.of_worst)

    @property
    def turns(self) -> "NutsKernel":
        """Itself."""
        return self

    def init(self, moment: Moment, position: Position) -> dict[str, Any]:
        """No slots."""
        return {}

    def step(self, moment: Moment, state: State) -> tuple[State, Info]:
        """A transition."""

        def unfinished(carry: tuple[_Tree, _Room, Any]) -> Any:
            tree, _, trips = carry
            return ~tree.finished & ~any_short(trips)

        def double(carry: tuple[_Tree, _Room, Any]) -> tuple[_Tree, _Room, Any]:
            tree, room, trips = carry

            def grows(carry: tuple[_Subtree, Any]) -> Any:
                subtree, trips = carry
                return ~self._is_over(tree, subtree) & ~any_short(trips)

            def grow(carry: tuple[_Subtree, Any]) -> tuple[_Subtree, Any]:
                subtree, trips = carry
                point, trips = moment.target.evaluate(self._next(moment, subtree), trips)
                return self._grown(moment, tree, subtree, point), trips

            planted = self._planted(tree, room)
            subtree, trips = lax.while_loop(grows, grow, (planted, trips))
            return self._joined(tree, subtree), subtree.room, trips

        position = state.position
        begun = self._start(moment, position), self._room(position), state.trips
        tree, _, trips = lax.while_loop(unfinished, double, begun)
        return State(tree.candidate.position, state.slots, trips), self._info(tree)

    # In turns.

    def begin(self, moment: Moment, position: Position, before: _Growing | None = None) -> _Growing:
        """A tree of one leaf with a fresh momentum, about to double."""
        tree = self._start(moment, position)
        room = self._room(position) if before is None else before.subtree.room
        return _Growing(tree, self._planted(tree, room))

    def ask(self, moment: Moment, state: _Growing) -> Any:
        """Where the next gradient is taken."""
        return self._next(moment, state.subtree)

    def tell(self, moment: Moment, state: _Growing, point: Position) -> _Growing:
        """The growing subtree with what was found, or, if that is its end, the next one."""
        tree = state.tree
        subtree = self._grown(moment, tree, state.subtree, point)

        def chosen(tree: _Tree, subtree: _Subtree) -> tuple[_Tree, _Subtree]:
            # In a batch a branch chooses: not among what is the same in both.
            return tree._replace(sides=None, choices=None), subtree._replace(room=None)

        def join(_: None) -> tuple[_Tree, _Subtree]:
            joined = self._joined(tree, subtree)
            return chosen(joined, self._planted(joined, subtree.room))

        def go_on(_: None) -> tuple[_Tree, _Subtree]:
            return chosen(tree, subtree)

        over = once(self._is_over(tree, subtree))
        after, growing = lax.cond(over, join, go_on, None)
        after = after._replace(sides=tree.sides, choices=tree.choices)
        return _Growing(after, growing._replace(room=subtree.room))

    def finished(self, state: _Growing) -> Any:
        """Whether the tree is complete."""
        return state.tree.finished

    def end(self, state: _Growing) -> tuple[Position, Info]:
        """The candidate becomes the new position."""
        return state.tree.candidate.position, self._info(state.tree)

    # The pieces.

    def _room(self, position: Position) -> _Room:
        size, dtype = position.q.shape[0], position.q.dtype
        halves = HalfTrees.room(self.max_depth - 1, size, dtype)
        return _Room(halves, _Candidate(position, jnp.zeros((), dtype)))

    def _start(self, moment: Moment, position: Position) -> _Tree:
        """A tree of one leaf, with all random numbers of the transition."""
        q, log_density, gradient = position
        normals, words = moment.noise.normals_and_words(_NUMBERS, q.shape[0], self.max_depth)
        p = normals.astype(q.dtype) / jnp.sqrt(moment.hyper["inverse_temperature"])
        energy = 0.5 * jnp.sum(p * p) - log_density
        end = _End(q, p, _force(moment.hyper, gradient))
        ends = _End(*(jnp.stack([x, x]) for x in end))
        zero, count = jnp.zeros((), q.dtype), jnp.int32(0)
        return _Tree(
            ends=ends,
            candidate=_Candidate(position, energy),
            rho=p,
            weight=jnp.ones((), _DOUBLE),
            energy=energy,
            # The lowest bits are not used by the numbers.
            sides=(words[1] & np.uint32(1)).astype(np.int32),
            choices=unit(words, _DOUBLE),
            depth=count,
            leaves=count,
            acceptance=zero,
            diverging=jnp.array(False),
            finished=jnp.array(False),
            worst=zero if self.of_worst else None,
        )

    def _planted(self, tree: _Tree, room: _Room) -> _Subtree:
        """A subtree without leaves at one end of the tree."""
        side = read(tree.sides, tree.depth)
        end = _End(*(read(ends, side) for ends in tree.ends))
        direction = jnp.where(side == 1, 1.0, -1.0).astype(end.q.dtype)
        count, no = jnp.int32(0), jnp.array(False)
        return _Subtree(
            end=end,
            direction=direction,
            room=room,
            weight=jnp.zeros((), _DOUBLE),
            choice=read(tree.choices, tree.depth),
            leaves=count,
            acceptance=tree.acceptance,
            diverging=no,
            stopped=no,
            worst=tree.worst,
            inside=_Inside(count, end) if self.integrator.stages > 1 else None,
        )

    def _is_over(self, tree: _Tree, subtree: _Subtree) -> Any:
        return subtree.stopped | ((subtree.leaves >> tree.depth) == 1)

    def _kicked(self, moment: Moment, subtree: _Subtree) -> Any:
        """The momentum after the kick that begins the next stage."""
        step = moment.hyper["step_size"] * subtree.direction
        if subtree.inside is None:
            return subtree.end.p + (0.5 * step) * subtree.end.force
        stage, (_, p, force) = subtree.inside
        kick = jnp.asarray(self.integrator.coefficients(p.dtype)[0])[stage]
        return p + kick * step * force

    def _next(self, moment: Moment, subtree: _Subtree) -> Any:
        """The end of a stage of the integrator's step, from the moving end."""
        step = moment.hyper["step_size"] * subtree.direction
        velocity = _velocity(moment.hyper, self._kicked(moment, subtree))
        if subtree.inside is None:
            return subtree.end.q + step * velocity
        stage, (q, *_) = subtree.inside
        drift = jnp.asarray(self.integrator.coefficients(q.dtype)[1])[stage]
        return q + drift * step * velocity

    def _grown(self, moment: Moment, tree: _Tree, subtree: _Subtree, point: Position) -> _Subtree:
        """Go on inside of a leaf, or add it."""
        if subtree.inside is None:
            return self._with_leaf(moment, tree, subtree, point)
        stage = subtree.inside.stage + 1

        def go_on(_: None) -> _Subtree:
            p = self._kicked(moment, subtree)
            end = _End(point.q, p, _force(moment.hyper, point.gradient))
            return subtree._replace(inside=_Inside(stage, end))

        def leaf(_: None) -> _Subtree:
            found = self._with_leaf(moment, tree, subtree, point)
            return found._replace(inside=_Inside(jnp.zeros_like(stage), found.end))

        found: _Subtree = lax.cond(stage < self.integrator.stages, go_on, leaf, None)
        return found

    def _with_leaf(
        self, moment: Moment, tree: _Tree, subtree: _Subtree, point: Position
    ) -> _Subtree:
        """The subtree with one more leaf."""
        # Or else it is put together of its parts again wherever it is used.
        point = point._replace(gradient=lax.optimization_barrier(point.gradient))
        force = _force(moment.hyper, point.gradient)
        step, last = moment.hyper["step_size"] * subtree.direction, float(self.integrator.kicks[-1])
        p = self._kicked(moment, subtree) + last * step * force
        p, point = once((p, point))
        energy = 0.5 * jnp.sum(p * p) - point.log_density
        gain = moment.hyper["inverse_temperature"] * (tree.energy - energy)
        gain = jnp.where(jnp.isfinite(gain), gain, -jnp.inf)
        gain, energy = once((gain, energy))
        diverging = -gain > moment.hyper["divergence_threshold"]
        worst = subtree.worst
        if self.of_worst:
            error = jnp.where(gain == -jnp.inf, jnp.inf, energy - tree.energy)
            worst = jnp.where(jnp.abs(error) > jnp.abs(worst), error, worst)

        own = jnp.exp(jnp.minimum(gain, _GAIN).astype(_DOUBLE))
        weight = subtree.weight + own
        mark = subtree.choice * weight
        take = once(mark < own)
        above, part = jnp.where(take, mark, mark - own), jnp.where(take, own, subtree.weight)
        halves, turning = once(subtree.room.halves.add(subtree.leaves, p))
        candidate = _chosen(take, _Candidate(point, energy), subtree.room.candidate)
        return subtree._replace(
            end=_End(point.q, p, force),
            room=_Room(halves, candidate),
            weight=weight,
            choice=jnp.where(part > 0, above / part, subtree.choice),
            leaves=subtree.leaves + 1,
            acceptance=subtree.acceptance + jnp.minimum(1.0, own).astype(p.dtype),
            diverging=diverging,
            stopped=turning | diverging,
            worst=worst,
        )

    def _joined(self, tree: _Tree, subtree: _Subtree) -> _Tree:
        """The tree with a finished subtree; one that was stopped is discarded and ends it."""
        side, stopped, end = read(tree.sides, tree.depth), subtree.stopped, subtree.end
        inner, outer = read(tree.ends.p, side), read(tree.ends.p, 1 - side)
        first, _, rho = subtree.room.halves.whole(tree.depth)
        grown = straight((outer, inner, tree.rho), (first, end.p, rho))
        goes_on = once(~stopped & grown)
        take = once((subtree.choice * tree.weight < subtree.weight) & ~stopped)
        depth = tree.depth + 1
        return tree._replace(
            ends=_End(*(write(ends, x, side) for ends, x in zip(tree.ends, end, strict=True))),
            candidate=_chosen(take, subtree.room.candidate, tree.candidate),
            rho=tree.rho + rho,
            weight=tree.weight + subtree.weight,
            depth=depth,
            leaves=tree.leaves + subtree.leaves,
            acceptance=subtree.acceptance,
            diverging=subtree.diverging,
            finished=~goes_on | (depth >= self.max_depth),
            worst=subtree.worst,
        )

    def _info(self, tree: _Tree) -> Info:
        """What a complete tree tells."""
        acceptance = tree.acceptance / tree.leaves
        position, energy = tree.candidate
        values: tuple[Any, ...] = (
            position.log_density,
            acceptance,
            tree.leaves,
            tree.depth,
            tree.depth >= self.max_depth,
            tree.diverging,
            energy,
            energy - tree.energy,
        )
        for statistic in self.of_worst:
            values += (tree.worst if statistic.dtype is float else jnp.isinf(tree.worst),)
        statistics = jnp.stack([jnp.asarray(v).astype(position.q.dtype) for v in values])
        stages = self.integrator.stages
        gradients = tree.leaves if stages == 1 else stages * tree.leaves
        return Info(acceptance, gradients, tree.diverging, statistics)


def _force(hyper: Mapping[str, Any], gradient: Any) -> Any:
    """S^T g, of a diagonal scale S, a matrix, or a diagonal with directions."""
    scale, directions = hyper["scale"], hyper.get("directions")
    if jnp.ndim(scale) == 2:
        return gradient @ scale
    return scale * gradient if directions is None else directions.stretched(scale * gradient)


def _velocity(hyper: Mapping[str, Any], p: Any) -> Any:
    """S p."""
    scale, directions = hyper["scale"], hyper.get("directions")
    if jnp.ndim(scale) == 2:
        return scale @ p
    return scale * p if directions is None else scale * directions.stretched(p)


def _chosen(take: Any, new: _Candidate, old: _Candidate) -> _Candidate:
    (q, log_density, gradient), energy = new
    chosen = [
        lax.select(jnp.broadcast_to(take, np.shape(a)), a, b)
        for a, b in zip(
            (q, log_density, gradient, energy), (*old.position, old.energy), strict=True
        )
    ]
    return _Candidate(Position(*chosen[:3]), chosen[3])
