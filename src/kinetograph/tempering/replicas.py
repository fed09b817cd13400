"""Parallel tempering: replicas at rising powers of the likelihood exchange their states.

    b_0 = 0 < b_1 < ... < b_R = 1,   replica r samples prior x L^b_r

A scan moves each replica at its power, and then proposes to swap the states of neighbours r and
r + 1, where r is even in one scan and odd in the next. A swap is accepted with probability

    min(1, exp((b_(r+1) - b_r) (l_r - l_(r+1)))),   l = log L

The replica at b = 0 takes a new draw of the prior in each scan. Each chain is a ladder of its own.

Source: S. Syed, A. Bouchard-Cote, G. Deligiannidis, A. Doucet, Non-reversible parallel tempering: a
scalable highly parallel MCMC scheme, JRSS B 84 (2022), algorithms 1 to 4.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ..runs.signals import holding
from .barrier import barrier_of_rejections, ladder_of
from .checkpoints import RunCheckpoints, State
from .moves import Moves, steps_of
from .points import TemperedPoints
from .prior import PriorDraws

__all__ = ["Replicas", "Scanned"]

FEWEST_SCANS = 4  # after which Ctrl-C returns the draws so far
EVERY = 5.0  # seconds between checkpoints
STATE = ("free", "powers", "scales", "step_sizes", "scans", "replica", "rising", "gradients")


class ScanRecord(NamedTuple):
    """The record of one scan."""

    free: np.ndarray  # at b = 1, (chains, free_size)
    log_likelihood: np.ndarray  # (chains, rungs)
    chances: np.ndarray  # of the swaps of each pair of neighbours; NaN if they were not tried
    round_trips: np.ndarray  # of each chain
    acceptance: np.ndarray  # of each rung above 0
    gradients: int
    divergences: np.ndarray  # of each chain and rung above 0


class Scanned(NamedTuple):
    """The record of several scans."""

    free: np.ndarray  # at b = 1, (chains, scans, free_size)
    log_likelihood: np.ndarray  # (chains, scans, rungs)
    rejections: np.ndarray  # of each pair of neighbours
    round_trips: np.ndarray  # of each chain
    acceptance: np.ndarray  # of each rung above 0
    divergences: np.ndarray  # of each chain and rung above 0
    interrupted: bool  # by Ctrl-C


def mean_of_known(values: np.ndarray) -> np.ndarray:
    """The means along the first axis, NaN left out."""
    is_finite = np.isfinite(values)
    with np.errstate(invalid="ignore"):
        means: np.ndarray = np.where(is_finite, values, 0.0).sum(0) / is_finite.sum(0)
    return means


@dataclass
class Replicas:
    """The states of all ladders.

    Attributes
    ----------
    points
        The points of the rungs above 0, chain by chain.
    prior
        `prior(count)` gives new draws of the prior, as free states.
    free
        The states, (chains, rungs, free_size), from b = 0 to b = 1.
    powers
        The ladder.
    scales, step_sizes
        Of each rung above 0.
    gradients
        Of all transitions before the present scans.
    """

    points: TemperedPoints
    prior: PriorDraws
    free: np.ndarray
    powers: np.ndarray
    scales: np.ndarray
    step_sizes: np.ndarray
    moves: Moves
    rng: np.random.Generator
    gradients: int = 0
    scans: int = 0
    records: list[ScanRecord] = field(default_factory=list, init=False)  # of the present scans
    replica: np.ndarray = field(init=False)  # the number of the replica at each rung
    rising: np.ndarray = field(init=False)  # whether a replica was last at 0, or at 1

    def __post_init__(self) -> None:
        chains, rungs = self.free.shape[:2]
        self.replica = np.tile(np.arange(rungs), (chains, 1))
        self.rising = np.zeros((chains, rungs), bool)

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of chains and rungs."""
        return self.free.shape[0], self.free.shape[1]

    def _likelihoods(self) -> np.ndarray:
        flat = self.free.reshape(-1, self.free.shape[-1])
        return self.points.log_likelihood(flat).reshape(self.free.shape[:2])

    def _hyper(self) -> dict[str, np.ndarray]:
        tunes, chains = self.moves.tunes, self.shape[0]
        values: dict[str, np.ndarray] = {}
        if "scale" in tunes:
            values["scale"] = np.tile(self.scales, (chains, 1))
        if "step_size" in tunes:
            values["step_size"] = np.tile(self.step_sizes, chains)
        if "n_steps" in tunes:
            values["n_steps"] = np.tile([steps_of(h) for h in self.step_sizes], chains)
        return values

    @property
    def begun(self) -> int:
        """The scans before the present ones."""
        return self.scans - len(self.records)

    def scan(
        self,
        count: int,
        tuning: bool,
        check: Callable[[], None],
        checkpoints: RunCheckpoints | None = None,
    ) -> Scanned:
        """Make scans; with `tuning`, the step sizes follow the acceptance.

        `check` is called after each scan. Signals wait for the end of a scan. Ctrl-C ends scans
        that do not tune, and the record has the scans so far.
        """
        records, interrupted = self.records, False
        try:
            while len(records) < count:
                with holding() as delayed:
                    records.append(self._scan(tuning))
                    if checkpoints is not None:
                        checkpoints.keep(self.state, EVERY, now=bool(delayed))
                if delayed:
                    raise KeyboardInterrupt
                check()
        except KeyboardInterrupt:
            if tuning or len(records) < FEWEST_SCANS:
                raise
            interrupted = True
        self.records = []
        free, log_likelihood, chances, trips, acceptance, gradients, divergences = (
            np.stack(values) for values in zip(*records, strict=True)
        )
        self.gradients += int(gradients.sum())
        return Scanned(
            np.moveaxis(free, 0, 1),
            np.moveaxis(log_likelihood, 0, 1),
            1 - mean_of_known(chances),
            trips.sum(0),
            mean_of_known(acceptance),
            divergences.sum(0),
            interrupted,
        )

    def _scan(self, tuning: bool) -> ScanRecord:
        """Move all replicas, and swap the states of neighbours."""
        (chains, rungs), size = self.shape, self.free.shape[-1]
        above = rungs - 1
        free = self.free[:, 1:].reshape(-1, size)
        self.points.place(free, np.tile(self.powers[1:], chains)[:, None], self._hyper())
        sweep = self.points.sweep()
        self.free[:, 1:] = sweep.free.reshape(chains, above, size)
        self.free[:, 0] = self.prior(chains)
        self.log_likelihood = self._likelihoods()
        acceptance = mean_of_known(sweep.acceptance.reshape(chains, above))
        if tuning and "step_size" in self.moves.tunes:
            gain = 1 / math.sqrt(1 + self.scans)
            errors = np.nan_to_num(acceptance - self.moves.target)
            self.step_sizes = self.step_sizes * np.exp(gain * errors)
        at_one, log_likelihood = self.free[:, -1].copy(), self.log_likelihood.copy()
        pairs = np.arange(self.scans % 2, above, 2)
        chances = self._chances(pairs)
        self._swap(pairs, chances)
        self.scans += 1
        of_pairs = np.full(above, np.nan)
        of_pairs[pairs] = chances.mean(0)
        divergences = sweep.diverging.reshape(chains, above)
        trips = self._trips()
        return ScanRecord(
            at_one, log_likelihood, of_pairs, trips, acceptance, sweep.gradients, divergences
        )

    def _chances(self, pairs: np.ndarray) -> np.ndarray:
        """The probabilities that swaps of rungs and the rungs above are accepted."""
        steps = self.powers[pairs + 1] - self.powers[pairs]
        lower, upper = self.log_likelihood[:, pairs], self.log_likelihood[:, pairs + 1]
        with np.errstate(invalid="ignore"):
            exponent = np.where(lower == upper, 0.0, steps * (lower - upper))
        chances: np.ndarray = np.exp(np.minimum(exponent, 0.0))
        return chances

    def _swap(self, pairs: np.ndarray, chances: np.ndarray) -> None:
        accepted = self.rng.random(chances.shape) < chances
        for chain, row in enumerate(accepted):
            low = pairs[row]
            for states in (self.free, self.log_likelihood, self.replica):
                states[chain, low], states[chain, low + 1] = (
                    states[chain, low + 1].copy(),
                    states[chain, low].copy(),
                )

    def _trips(self) -> np.ndarray:
        """The round trips of each chain that end in this scan.

        A round trip goes from b = 0 to b = 1 and back.
        """
        chains = np.arange(self.shape[0])
        top, bottom = self.replica[:, -1], self.replica[:, 0]
        done = self.rising[chains, bottom].copy()
        self.rising[chains, bottom] = False
        self.rising[chains, top] = True
        return done.astype(int)

    def retune(self, rejections: np.ndarray) -> None:
        """Set a ladder of equal rejection, from the rejections of scans."""
        barrier = barrier_of_rejections(rejections)
        old = self.powers
        self.powers = ladder_of(old, barrier, len(old))
        near = np.abs(self.powers[1:, None] - old[1:]).argmin(1)
        self.scales, self.step_sizes = self.scales[near], self.step_sizes[near]

    def state(self) -> State:
        """All on which the further scans depend, and the records."""
        columns = zip(ScanRecord._fields, zip(*self.records, strict=True), strict=True)
        return {
            **{name: getattr(self, name) for name in STATE},
            **{f"record_{name}": np.stack(values) for name, values in columns},
            "generator": self.rng.bit_generator.state,
            "placed": self.points.placed,
            "prior_taken": self.prior.next_batch,
            "prior_spare": self.prior.spare,
        }

    def restore(self, state: State) -> None:
        """Continue from a state."""
        for name in STATE:
            setattr(self, name, state[name])
        columns = [state[f"record_{name}"] for name in ScanRecord._fields]
        self.records = [ScanRecord(*values) for values in zip(*columns, strict=True)]
        self.rng.bit_generator.state = state["generator"]
        self.points.placed = state["placed"]
        self.prior.next_batch, self.prior.spare = state["prior_taken"], state["prior_spare"]
