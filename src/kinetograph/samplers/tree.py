"""The transition of NUTS: a tree of leapfrog steps that doubles.

    leapfrog    p <- p + h/2 grad log pi(q);  q <- q + h p;  p <- p + h/2 grad log pi(q)
                or another integrator, with one gradient per stage
    tree        doubles to a random side until it turns back (`turning`), diverges, or reaches
                max_depth; a subtree that turns or diverges is discarded
    choice      inside a new subtree each leaf replaces the candidate with probability
                w_leaf / w_so_far, w = exp(beta (H_0 - H)); the new subtree's candidate replaces
                the old one with probability min(1, W_new / W_old)

All this is in the coordinates of the warm-up's metric, where the mass is 1. A leaf follows its
neighbour by one step, or by several shorter ones (`leaf_steps`).

A single chain makes its leaves in a loop inside of a loop of doublings. In a batch of chains no
chain should wait for another chain, so a transition is cut into turns of one gradient each; both
forms are made of the same methods.

A doubling uses one random number u. If a leaf is chosen with probability r = w / W, the choice is
u < r. Then u / r, or (u - r) / (1 - r) if the leaf is not chosen, is a uniform number for the next
leaf. The choice among 2**k leaves thus uses at most k of the 53 bits of u.

Source   M. Hoffman, A. Gelman, JMLR 15 (2014) 1593-1623; M. Betancourt, arXiv:1701.02434,
         appendix A.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..bits.source import unit
from ..graph.trips import any_short
from ..kernels.batching import once
from ..kernels.contract import Info, KernelState, Moment, Statistic, TransitionKernel
from ..models.bound_density import Position
from .leaf_steps import End, LeafSteps, LeafWay
from .turning import HalfTrees, read, straight, write

__all__ = ["NutsKernel"]

_NUMBERS = 1  # the purpose of a transition's random numbers, a part of their key
_DOUBLE = np.dtype(np.float64)
# The upper bound of beta (H_0 - H): sums of 2**20 weights exp(600) are finite. Points that are more
# likely than the start by a larger factor all get this weight.
_GAIN = 600.0


class _Candidate(NamedTuple):
    position: Position
    energy: Any


class _Tree(NamedTuple):
    ends: End  # arrays of both ends: backward, forward
    candidate: _Candidate
    rho: Any  # the sum of the momenta
    weight: Any  # the sum of the weights, relative to exp(-beta H_0)
    energy: Any  # H_0
    sides: Any  # the side to which each doubling goes
    choices: Any  # the random number u of each doubling
    depth: Any
    leaves: Any  # the number of leaves without the start
    acceptance: Any  # the sum over these leaves
    diverging: Any
    finished: Any
    evaluations: Any  # the number of gradients
    halvings: Any  # the largest number of halvings of a step
    worst: Any = None  # the energy error of largest size, if it is recorded


class _Room(NamedTuple):
    """Arrays that a subtree reuses: its first leaf overwrites the old contents."""

    halves: HalfTrees
    candidate: _Candidate


class _Subtree(NamedTuple):
    """The growing subtree that a doubling adds."""

    end: End
    direction: Any  # 1 or -1
    room: Any  # a `_Room`
    weight: Any
    choice: Any  # the uniform number for the next choice
    leaves: Any
    acceptance: Any  # the sum over the whole tree
    diverging: Any
    stopped: Any  # whether the subtree has turned or diverged
    worst: Any
    evaluations: Any  # the number of gradients, over the whole tree
    halvings: Any  # the largest number of halvings in the whole tree
    way: LeafWay | None  # to the next leaf; None: a single gradient


class _Growing(NamedTuple):
    """The state of a transition that is cut into turns."""

    tree: _Tree
    subtree: _Subtree


OF_HALVINGS = (Statistic("halvings", int, "largest number of times that a step was halved"),)
# These statistics are recorded if a run asks for them.
OF_WORST = (
    Statistic("max_energy_error", float, "energy error of largest size in the tree"),
    Statistic("bad", bool, "whether a leaf had no finite energy"),
)


class NutsKernel(TransitionKernel):
    """The kernel of NUTS, for whole transitions or turns of one gradient."""

    statistics: tuple[Statistic, ...] = (
        Statistic("lp", float, "joint log density of the free state"),
        Statistic("acceptance_rate", float, "mean of min(1, exp(beta (H_0 - H))) of whole steps"),
        Statistic("n_steps", int, "steps of the integrator, each with one gradient per stage"),
        Statistic("tree_depth", int, "number of doublings"),
        Statistic("reached_max_treedepth", bool, "whether the tree has max_depth doublings"),
        Statistic("diverging", bool, "whether the energy error passed the threshold"),
        Statistic(
            "energy",
            float,
            "Hamiltonian of the new position with its momentum, in the sampler's coordinates",
        ),
        Statistic("energy_error", float, "energy of the new position minus that of the start"),
    )

    def __init__(self, max_depth: int, steps: LeafSteps, requested: frozenset[str]) -> None:
        self.max_depth, self.steps = max_depth, steps
        self.of_worst = tuple(s for s in OF_WORST if s.name in requested)
        of_halvings = OF_HALVINGS if steps.max_halvings else ()
        self.statistics = (*self.statistics, *of_halvings, *self.of_worst)
        self.turns = self

    def step(self, moment: Moment, state: KernelState) -> tuple[KernelState, Info]:
        """Make a transition."""

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
                way, trips = self._followed(moment, subtree, trips)
                return self._with_leaf(moment, tree, subtree, way), trips

            planted = self._planted(tree, room)._replace(way=None)
            subtree, trips = lax.while_loop(grows, grow, (planted, trips))
            return self._joined(tree, subtree), subtree.room, trips

        position = state.position
        begun = self._start(moment, position), self._room(position), state.trips
        tree, _, trips = lax.while_loop(unfinished, double, begun)
        return KernelState(tree.candidate.position, state.slots, trips), self._info(tree)

    # A transition in turns: `begin`, then `ask` and `tell` until `finished`, then `end`.

    def begin(self, moment: Moment, position: Position, before: _Growing | None = None) -> _Growing:
        """A tree of one leaf with a fresh momentum, about to double."""
        tree = self._start(moment, position)
        room = self._room(position) if before is None else before.subtree.room
        return _Growing(tree, self._planted(tree, room))

    def ask(self, moment: Moment, state: _Growing) -> Any:
        """The position at which the next gradient is needed."""
        return self.steps.next(moment, self._way(state.subtree), state.subtree.direction)

    def tell(self, moment: Moment, state: _Growing, point: Position) -> _Growing:
        """Continue with the evaluated point.

        If it completes the subtree, the subtree is joined to the tree and the next one begins.
        """
        tree = state.tree
        subtree = self._grown(moment, tree, state.subtree, point)

        def chosen(tree: _Tree, subtree: _Subtree) -> tuple[_Tree, _Subtree]:
            # In a batch a branch is a selection: leave out arrays that are the same in both.
            return tree._replace(sides=None, choices=None), subtree._replace(room=None)

        def join(_: None) -> tuple[_Tree, _Subtree]:
            joined = self._joined(tree, subtree)
            return chosen(joined, self._planted(joined, subtree.room))

        def proceed(_: None) -> tuple[_Tree, _Subtree]:
            return chosen(tree, subtree)

        over = once(self._is_over(tree, subtree))
        after, growing = lax.cond(over, join, proceed, None)
        after = after._replace(sides=tree.sides, choices=tree.choices)
        return _Growing(after, growing._replace(room=subtree.room))

    def finished(self, state: _Growing) -> Any:
        """Whether the tree is complete."""
        return state.tree.finished

    def end(self, state: _Growing) -> tuple[Position, Info]:
        """The new position, which is the candidate, and the records."""
        return state.tree.candidate.position, self._info(state.tree)

    # The methods that both forms use.

    def _room(self, position: Position) -> _Room:
        size, dtype = position.q.shape[0], position.q.dtype
        halves = HalfTrees.room(self.max_depth - 1, size, dtype)
        return _Room(halves, _Candidate(position, jnp.zeros((), dtype)))

    def _start(self, moment: Moment, position: Position) -> _Tree:
        """A tree of one leaf, with all random numbers of the transition."""
        q, log_density, _ = position
        normals, words = moment.noise.normals_and_words(_NUMBERS, q.shape[0], self.max_depth)
        p = normals.astype(q.dtype) / jnp.sqrt(moment.hyper["inverse_temperature"])
        energy = 0.5 * jnp.sum(p * p) - log_density
        end = self.steps.end(moment, position, p, energy)
        ends = jax.tree.map(lambda x: jnp.stack([x, x]), end)
        zero, count = jnp.zeros((), q.dtype), jnp.int32(0)
        return _Tree(
            ends=ends,
            candidate=_Candidate(position, energy),
            rho=p,
            weight=jnp.ones((), _DOUBLE),
            energy=energy,
            # The lowest bits are not used for the uniform numbers.
            sides=(words[1] & np.uint32(1)).astype(np.int32),
            choices=unit(words, _DOUBLE),
            depth=count,
            leaves=count,
            acceptance=zero,
            diverging=jnp.array(False),
            finished=jnp.array(False),
            evaluations=count,
            halvings=count,
            worst=zero if self.of_worst else None,
        )

    def _planted(self, tree: _Tree, room: _Room) -> _Subtree:
        """An empty subtree at one end of the tree."""
        side = read(tree.sides, tree.depth)
        end = jax.tree.map(lambda ends: read(ends, side), tree.ends)
        direction = jnp.where(side == 1, 1.0, -1.0).astype(end.q.dtype)
        count, false = jnp.int32(0), jnp.array(False)
        return _Subtree(
            end=end,
            direction=direction,
            room=room,
            weight=jnp.zeros((), _DOUBLE),
            choice=read(tree.choices, tree.depth),
            leaves=count,
            acceptance=tree.acceptance,
            diverging=false,
            stopped=false,
            worst=tree.worst,
            evaluations=tree.evaluations,
            halvings=tree.halvings,
            way=None if self.steps.single else self.steps.start(end),
        )

    def _is_over(self, tree: _Tree, subtree: _Subtree) -> Any:
        """Whether a subtree is complete or has stopped."""
        return subtree.stopped | ((subtree.leaves >> tree.depth) == 1)

    def _way(self, subtree: _Subtree) -> LeafWay:
        """The way to the next leaf."""
        return self.steps.start(subtree.end) if subtree.way is None else subtree.way

    def _followed(self, moment: Moment, subtree: _Subtree, trips: Any) -> tuple[LeafWay, Any]:
        """The complete way to the next leaf."""
        direction = subtree.direction

        def follow(carry: tuple[LeafWay, Any]) -> tuple[LeafWay, Any]:
            way, trips = carry
            point, trips = moment.density.evaluate(self.steps.next(moment, way, direction), trips)
            return self.steps.followed(moment, way, direction, point), trips

        way = self._way(subtree)
        if self.steps.single:
            return follow((way, trips))
        return lax.while_loop(
            lambda carry: ~carry[0].complete & ~any_short(carry[1]),
            follow,
            (way._replace(leaf=subtree.room.candidate.position), trips),
        )

    def _grown(self, moment: Moment, tree: _Tree, subtree: _Subtree, point: Position) -> _Subtree:
        """Continue on the way to a leaf, or add the finished leaf."""
        way = self.steps.followed(moment, self._way(subtree), subtree.direction, point)
        if self.steps.single:
            return self._with_leaf(moment, tree, subtree, way)

        def proceed(_: None) -> _Subtree:
            return subtree._replace(way=way._replace(leaf=None))

        def leaf(_: None) -> _Subtree:
            grown = self._with_leaf(moment, tree, subtree, way)
            return grown._replace(way=self.steps.start(grown.end))

        grown: _Subtree = lax.cond(once(way.complete), leaf, proceed, None)
        return grown

    def _with_leaf(self, moment: Moment, tree: _Tree, subtree: _Subtree, way: LeafWay) -> _Subtree:
        """The subtree with the leaf at the end of a complete way."""
        beta, end = moment.hyper["inverse_temperature"], way.here
        assert way.leaf is not None
        p, energy = end.p, once(end.energy)
        gain = beta * (tree.energy - energy)
        gain = once(jnp.where(jnp.isfinite(gain), gain, -jnp.inf))
        diverging = way.failed | (-gain > moment.hyper["divergence_threshold"])
        worst = subtree.worst
        if self.of_worst:
            error = jnp.where(gain == -jnp.inf, jnp.inf, energy - tree.energy)
            worst = jnp.where(jnp.abs(error) > jnp.abs(worst), error, worst)

        leaf_weight = jnp.exp(jnp.minimum(gain, _GAIN).astype(_DOUBLE))
        weight = subtree.weight + leaf_weight
        mark = subtree.choice * weight
        take = once(mark < leaf_weight)
        remainder = jnp.where(take, mark, mark - leaf_weight)
        part = jnp.where(take, leaf_weight, subtree.weight)
        acceptance, halvings = leaf_weight, subtree.halvings
        if way.halving is not None:
            whole = beta * (tree.energy - way.halving.first)
            acceptance = jnp.exp(jnp.where(jnp.isfinite(whole), whole, -jnp.inf).astype(_DOUBLE))
            halvings = jnp.maximum(subtree.halvings, way.halving.level)
        halves, turning = once(subtree.room.halves.add(subtree.leaves, p))
        candidate = _chosen(take, _Candidate(way.leaf, energy), subtree.room.candidate)
        return subtree._replace(
            end=end,
            room=_Room(halves, candidate),
            weight=weight,
            choice=jnp.where(part > 0, remainder / part, subtree.choice),
            leaves=subtree.leaves + 1,
            acceptance=subtree.acceptance + jnp.minimum(1.0, acceptance).astype(p.dtype),
            diverging=diverging,
            stopped=turning | diverging | way.blocked,
            worst=worst,
            evaluations=subtree.evaluations + way.evaluations,
            halvings=halvings,
        )

    def _joined(self, tree: _Tree, subtree: _Subtree) -> _Tree:
        """The tree with a finished subtree.

        A subtree that has stopped is discarded, and the tree is finished.
        """
        side, stopped, end = read(tree.sides, tree.depth), subtree.stopped, subtree.end
        inner, outer = read(tree.ends.p, side), read(tree.ends.p, 1 - side)
        first, _, rho = subtree.room.halves.whole(tree.depth)
        is_straight = straight((outer, inner, tree.rho), (first, end.p, rho))
        continues = once(~stopped & is_straight)
        take = once((subtree.choice * tree.weight < subtree.weight) & ~stopped)
        depth = tree.depth + 1
        return tree._replace(
            ends=jax.tree.map(lambda ends, x: write(ends, x, side), tree.ends, end),
            candidate=_chosen(take, subtree.room.candidate, tree.candidate),
            rho=tree.rho + rho,
            weight=tree.weight + subtree.weight,
            depth=depth,
            leaves=tree.leaves + subtree.leaves,
            acceptance=subtree.acceptance,
            evaluations=subtree.evaluations,
            halvings=subtree.halvings,
            diverging=subtree.diverging,
            finished=~continues | (depth >= self.max_depth),
            worst=subtree.worst,
        )

    def _info(self, tree: _Tree) -> Info:
        """The records of a complete tree."""
        acceptance = tree.acceptance / tree.leaves
        position, energy = tree.candidate
        values: tuple[Any, ...] = (
            position.log_density,
            acceptance,
            tree.evaluations // self.steps.stages,
            tree.depth,
            tree.depth >= self.max_depth,
            tree.diverging,
            energy,
            energy - tree.energy,
        )
        if self.steps.max_halvings:
            values += (tree.halvings,)
        for statistic in self.of_worst:
            values += (tree.worst if statistic.dtype is float else jnp.isinf(tree.worst),)
        statistics = jnp.stack([jnp.asarray(v).astype(position.q.dtype) for v in values])
        return Info(acceptance, tree.evaluations, tree.diverging, statistics)


def _chosen(take: Any, new: _Candidate, old: _Candidate) -> _Candidate:
    """The new candidate if `take`, else the old one."""
    (q, log_density, gradient), energy = new
    chosen = [
        lax.select(jnp.broadcast_to(take, np.shape(a)), a, b)
        for a, b in zip(
            (q, log_density, gradient, energy), (*old.position, old.energy), strict=True
        )
    ]
    return _Candidate(Position(*chosen[:3]), chosen[3])
