"""The transition of NUTS, flat: one gradient a turn, one leapfrog step a leaf of the tree.

    leapfrog    p <- p + h/2 grad log pi(q);  q <- q + h p;  p <- p + h/2 grad log pi(q)
                or another integrator, with as many turns a leaf as it has stages
    tree        doubles to a random side until it turns back, diverges, or reaches max_depth
    choice      inside a new subtree each leaf replaces the candidate with probability
                w_leaf / w_so_far, w = exp(beta (H_0 - H)); the new subtree's candidate replaces
                the old one with probability min(1, W_new / W_old)
    turning     for rho = sum of p over a (sub)tree: rho . p_first <= 0 or rho . p_last <= 0; also
                for left half + first leaf of the right, and last leaf of the left + right half

in the coordinates of the warm-up's metric, where the mass is 1.

The tree is a walk: a subtree of 2**k leaves is checked as its leaves arrive, by the bits of the
leaf's number, from k stored half-trees.

Source   M. Hoffman, A. Gelman, JMLR 15 (2014) 1593-1623; M. Betancourt, arXiv:1701.02434,
         appendix A; the extra checks: Stan pull request 2800.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..kernels.batching import once
from ..kernels.contract import Info, Moment, State, Statistic
from ..kernels.target import Position, any_short
from ..streams.draws import one_uniform
from .integrators import Integrator

__all__ = ["NutsKernel"]

# The purposes of a transition's random numbers.
_MOMENTUM, _DIRECTION, _LEAF = 1, 2, 3


class _Tree(NamedTuple):
    # the moving end; momenta and forces (the gradient) are in the metric's coordinates
    q: Any
    p: Any
    force: Any
    direction: Any
    # both ends of the whole tree: (backward, forward)
    ends_q: Any
    ends_p: Any
    ends_force: Any
    # candidates: of the whole tree, of the growing subtree; with their energies
    candidate: Position
    candidate_energy: Any
    sub: Position
    sub_energy: Any
    # sums over the whole tree, and log weights relative to exp(-H_0)
    rho: Any
    log_weight: Any
    sub_log_weight: Any
    energy: Any
    # finished half-trees of the growing subtree, one row a level: first p, last p, sum of p
    first: Any
    last: Any
    sums: Any
    # counters
    depth: Any
    leaf: Any
    leaves: Any
    acceptance: Any
    diverging: Any
    finished: Any
    # the energy error of largest size, where it is wanted
    worst: Any = None
    # inside of a leaf, of an integrator with several stages
    inside: "_Inside | None" = None


class _Inside(NamedTuple):
    stage: Any  # how many are done
    q: Any
    p: Any
    force: Any


def _straight(rho: Any, p_first: Any, p_last: Any) -> Any:
    """Whether a stretch of the path with summed momentum rho has not turned back on itself."""
    return (jnp.sum(rho * p_first) > 0) & (jnp.sum(rho * p_last) > 0)


def _straight_joint(
    a_first: Any, a_last: Any, a_sum: Any, b_first: Any, b_last: Any, b_sum: Any
) -> Any:
    """The three checks on two neighbouring stretches a, b."""
    return (
        _straight(a_sum + b_sum, a_first, b_last)
        & _straight(a_sum + b_first, a_first, b_first)
        & _straight(a_last + b_sum, a_last, b_last)
    )


# Recorded where they are asked for.
OF_WORST = (
    Statistic("max_energy_error", float, "energy error of largest size in the tree"),
    Statistic("bad", bool, "whether a leaf had no finite energy"),
)


class NutsKernel:
    """The transition, in turns of one leapfrog step each."""

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

        def unfinished(carry: tuple[_Tree, Any]) -> Any:
            tree, trips = carry
            return ~tree.finished & ~any_short(trips)

        def turn(carry: tuple[_Tree, Any]) -> tuple[_Tree, Any]:
            tree, trips = carry
            point, trips = moment.target.evaluate(self.ask(moment, tree), trips)
            return self.tell(moment, tree, point), trips

        begun = self.begin(moment, state.position)
        tree, trips = lax.while_loop(unfinished, turn, (begun, state.trips))
        position, info = self.end(tree)
        return State(position, state.slots, trips), info

    def begin(self, moment: Moment, position: Position, before: _Tree | None = None) -> _Tree:
        """A tree of one leaf with a fresh momentum; rows are written before they are read."""
        q, log_density, gradient = position
        p = moment.noise.normals(_MOMENTUM, q.shape[0]).astype(q.dtype)
        p = p / jnp.sqrt(moment.hyper["inverse_temperature"])
        energy = 0.5 * jnp.sum(p * p) - log_density
        first_word, *_ = moment.noise.words(_DIRECTION, 0)
        # Row 0 and the last row are never read: writes that are not due go there.
        rows = jnp.zeros((self.max_depth + 2, q.shape[0]), q.dtype)
        first, last, sums = (before.first, before.last, before.sums) if before else (rows,) * 3
        force = _force(moment.hyper, gradient)
        zero = jnp.zeros((), q.dtype)
        count = jnp.int32(0)
        return _Tree(
            q=q,
            p=p,
            force=force,
            direction=_sign(first_word, q.dtype),
            ends_q=jnp.stack([q, q]),
            ends_p=jnp.stack([p, p]),
            ends_force=jnp.stack([force, force]),
            candidate=position,
            candidate_energy=energy,
            sub=position,
            sub_energy=energy,
            rho=p,
            log_weight=zero,
            sub_log_weight=zero - jnp.inf,
            energy=energy,
            first=first,
            last=last,
            sums=sums,
            depth=count,
            leaf=count,
            leaves=count,
            acceptance=zero,
            diverging=jnp.array(False),
            finished=jnp.array(False),
            worst=zero if self.of_worst else None,
            inside=_Inside(count, q, p, force) if self.integrator.stages > 1 else None,
        )

    def _kicked(self, moment: Moment, tree: _Tree) -> Any:
        """The momentum after the kick that begins the next stage."""
        step_size = moment.hyper["step_size"]
        if tree.inside is None:
            return tree.p + (0.5 * step_size * tree.direction) * tree.force
        stage, _, p, force = tree.inside
        kick = jnp.asarray(self.integrator.coefficients(p.dtype)[0])[stage]
        return p + kick * step_size * tree.direction * force

    def ask(self, moment: Moment, tree: _Tree) -> Any:
        """The end of a stage of the integrator's step, from the moving end."""
        kicked = self._kicked(moment, tree)
        step_size, velocity = moment.hyper["step_size"], _velocity(moment.hyper, kicked)
        if tree.inside is None:
            return tree.q + (step_size * tree.direction) * velocity
        stage, q, *_ = tree.inside
        drift = jnp.asarray(self.integrator.coefficients(q.dtype)[1])[stage]
        return q + drift * step_size * tree.direction * velocity

    def tell(self, moment: Moment, tree: _Tree, point: Position) -> _Tree:
        """Go on inside of a leaf, or add it."""
        if tree.inside is None:
            return self._leaf(moment, tree, point)
        stage = tree.inside.stage + 1

        def go_on(_: None) -> _Tree:
            p = self._kicked(moment, tree)
            force = _force(moment.hyper, point.gradient)
            return tree._replace(inside=_Inside(stage, point.q, p, force))

        def leaf(_: None) -> _Tree:
            found = self._leaf(moment, tree, point)
            inside = _Inside(jnp.zeros_like(stage), found.q, found.p, found.force)
            return found._replace(inside=inside)

        found: _Tree = lax.cond(stage < self.integrator.stages, go_on, leaf, None)
        return found

    def _leaf(self, moment: Moment, tree: _Tree, point: Position) -> _Tree:
        """Add a leaf, and, where a subtree is complete, merge it into the tree."""
        force = _force(moment.hyper, point.gradient)
        step, last = moment.hyper["step_size"] * tree.direction, float(self.integrator.kicks[-1])
        p = self._kicked(moment, tree) + last * step * force
        p, point = once((p, point))
        energy = 0.5 * jnp.sum(p * p) - point.log_density
        gain = moment.hyper["inverse_temperature"] * (tree.energy - energy)
        gain = jnp.where(jnp.isfinite(gain), gain, -jnp.inf)
        gain, energy = once((gain, energy))
        diverging = -gain > moment.hyper["divergence_threshold"]
        if self.of_worst:
            error = jnp.where(gain == -jnp.inf, jnp.inf, energy - tree.energy)
            larger = jnp.abs(error) > jnp.abs(tree.worst)
            tree = tree._replace(worst=jnp.where(larger, error, tree.worst))

        words = moment.noise.words(_LEAF, tree.leaves)
        sub_log_weight = _log_sum(tree.sub_log_weight, gain)
        take = once(jnp.log(one_uniform(words[0], words[1])) < gain - sub_log_weight)
        sub = _select(take, point, tree.sub)
        sub_energy = jnp.where(take, energy, tree.sub_energy)

        level, first, rho, turning = once(self._close_half_trees(tree, p))
        row = jnp.where(level == 0, self.max_depth + 1, level)
        tree = tree._replace(
            first=_write(tree.first, first, row),
            last=_write(tree.last, p, row),
            sums=_write(tree.sums, rho, row),
            acceptance=tree.acceptance + jnp.minimum(1.0, jnp.exp(gain)),
            leaves=tree.leaves + 1,
            diverging=diverging,
        )
        stopped = turning | diverging
        complete = (tree.leaf + 1) == (jnp.int32(1) << tree.depth)
        subtree_over = once(stopped | complete)

        def merge(_: None) -> tuple[Any, ...]:
            return self._merge(
                tree, point, p, force, sub, sub_energy, sub_log_weight, first, rho, stopped, words
            )

        def go_on(_: None) -> tuple[Any, ...]:
            return (
                (point.q, p, force),
                (tree.ends_q, tree.ends_p, tree.ends_force),
                tree.candidate,
                tree.candidate_energy,
                tree.rho,
                tree.log_weight,
                tree.depth,
                tree.direction,
                jnp.array(False),
            )

        moving, ends, candidate, candidate_energy, total, log_weight, depth, direction, finished = (
            lax.cond(subtree_over, merge, go_on, None)
        )
        return tree._replace(
            q=moving[0],
            p=moving[1],
            force=moving[2],
            ends_q=ends[0],
            ends_p=ends[1],
            ends_force=ends[2],
            candidate=candidate,
            candidate_energy=candidate_energy,
            sub=sub,
            sub_energy=sub_energy,
            rho=total,
            log_weight=log_weight,
            sub_log_weight=jnp.where(subtree_over, -jnp.inf, sub_log_weight),
            depth=depth,
            leaf=jnp.where(subtree_over, 0, tree.leaf + 1),
            direction=direction,
            finished=finished,
        )

    def _close_half_trees(self, tree: _Tree, p: Any) -> tuple[Any, Any, Any, Any]:
        """Merge the new leaf with the half-trees that it completes: one for each trailing 1 bit.

        Gives the level reached, the first and the summed momentum of the stretch, and whether
        some merged stretch turns. The half-tree of level 0 is the leaf before.
        """

        def close(carry: tuple[Any, ...]) -> tuple[Any, ...]:
            level, a_first, a_last, a_sum, first, rho, turning = carry
            straight = _straight_joint(a_first, a_last, a_sum, first, p, rho)
            up = level + 1
            return (
                up,
                _read(tree.first, up),
                _read(tree.last, up),
                _read(tree.sums, up),
                a_first,
                a_sum + rho,
                turning | ~straight,
            )

        def more(carry: tuple[Any, ...]) -> Any:
            return (((tree.leaf >> carry[0]) & 1) == 1) & ~carry[-1]

        def odd(_: None) -> tuple[Any, ...]:
            before = tree.p
            carry = (jnp.int32(0), before, before, before, p, p, jnp.array(False))
            carry = lax.while_loop(more, close, close(carry))
            return carry[0], carry[4], carry[5], carry[6]

        def even(_: None) -> tuple[Any, ...]:
            return jnp.int32(0), p, p, jnp.array(False)

        return lax.cond((tree.leaf & 1) == 1, odd, even, None)

    def _merge(
        self,
        tree: _Tree,
        point: Position,
        p: Any,
        force: Any,
        sub: Position,
        sub_energy: Any,
        sub_log_weight: Any,
        first: Any,
        rho: Any,
        stopped: Any,
        words: Any,
    ) -> tuple[Any, ...]:
        """Join a finished subtree to the tree; a stopped one is discarded and ends the tree."""
        side = (tree.direction > 0).astype(jnp.int32)
        inner, outer = _read(tree.ends_p, side), _read(tree.ends_p, 1 - side)
        straight = once(_straight_joint(outer, inner, tree.rho, first, p, rho))
        uniform = one_uniform(words[2], words[3])
        take = once((jnp.log(uniform) < sub_log_weight - tree.log_weight) & ~stopped)
        depth = tree.depth + 1
        ends = (
            _write(tree.ends_q, point.q, side),
            _write(tree.ends_p, p, side),
            _write(tree.ends_force, force, side),
        )
        # The lowest bits are not used by the uniform.
        direction = _sign(words[3], p.dtype)
        towards = (direction > 0).astype(jnp.int32)
        return (
            tuple(_read(end, towards) for end in ends),
            ends,
            _select(take, sub, tree.candidate),
            jnp.where(take, sub_energy, tree.candidate_energy),
            tree.rho + rho,
            _log_sum(tree.log_weight, sub_log_weight),
            depth,
            direction,
            stopped | ~straight | (depth >= self.max_depth),
        )

    def finished(self, tree: _Tree) -> Any:
        """Whether the tree is complete."""
        return tree.finished

    def end(self, tree: _Tree) -> tuple[Position, Info]:
        """The candidate becomes the new position."""
        acceptance = tree.acceptance / tree.leaves
        dtype = tree.q.dtype
        values: tuple[Any, ...] = (
            tree.candidate.log_density,
            acceptance,
            tree.leaves,
            tree.depth,
            tree.depth >= self.max_depth,
            tree.diverging,
            tree.candidate_energy,
            tree.candidate_energy - tree.energy,
        )
        for statistic in self.of_worst:
            values += (tree.worst if statistic.dtype is float else jnp.isinf(tree.worst),)
        statistics = jnp.stack([jnp.asarray(v).astype(dtype) for v in values])
        stages = self.integrator.stages
        gradients = tree.leaves if stages == 1 else stages * tree.leaves
        return tree.candidate, Info(acceptance, gradients, tree.diverging, statistics)


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


def _sign(word: Any, dtype: Any) -> Any:
    return jnp.where((word & np.uint32(1)) == 1, 1.0, -1.0).astype(dtype)


def _log_sum(a: Any, b: Any) -> Any:
    """log(exp(a) + exp(b)), where one of them may be -inf."""
    larger = lax.max(a, b)
    both = larger + lax.log1p(lax.exp(-lax.abs(a - b)))
    return lax.select(lax.is_finite(larger), both, larger)


def _read(rows: Any, row: Any) -> Any:
    return lax.dynamic_index_in_dim(rows, row, keepdims=False)


def _write(rows: Any, value: Any, row: Any) -> Any:
    return lax.dynamic_update_index_in_dim(rows, value, row, 0)


def _select(take: Any, new: Position, old: Position) -> Position:
    return Position(
        *(lax.select(jnp.broadcast_to(take, a.shape), a, b) for a, b in zip(new, old, strict=True))
    )
