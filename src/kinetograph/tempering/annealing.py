"""Sequential Monte Carlo: particles of the prior become particles of the posterior.

    b_0 = 0 < b_1 < ... < b_T = 1
    weights w_i = L_i^(b_t - b_(t-1)), resampling in proportion to them, moves that keep the density
    prior x L^b_t

    Z = product over t of the mean of the weights

Sources: P. Del Moral, A. Doucet, A. Jasra, Sequential Monte Carlo samplers, JRSS B 68 (2006); the
next power by the conditional effective sample size: Y. Zhou, A. Johansen, J. Aston, Toward
automatic model comparison, JCGS 25 (2016); tuning of moves: A. Buchholz, N. Chopin, P. Jacob,
Adaptive tuning of Hamiltonian Monte Carlo within sequential Monte Carlo, Bayesian Analysis 16
(2021).
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from .checkpoints import State
from .moves import Moves, scale_of
from .resampling import log_mean, next_power, systematic, variance_of_evidence

__all__ = ["Annealing", "Rung", "Stage"]


STATE = ("free", "log_likelihood", "first", "rungs", "noise", "variance", "gradients")


class Rung(NamedTuple):
    """A power of the likelihood, and what happened there."""

    power: float
    log_evidence: float  # of the step to this power
    efficiency: float  # conditional effective sample size of the step, by particle
    sweeps: int
    acceptance: float
    step_size: float
    correlation: float
    divergences: int


class Stage(NamedTuple):
    """The particles at a power, and what their moves have learnt."""

    free: np.ndarray
    scale: np.ndarray
    step_size: float


@dataclass
class Annealing:
    """Particles on their way from the prior to the posterior.

    Attributes
    ----------
    rng
        Gives the random number of each resampling.
    efficiency
        The efficiency of the weights by which the powers are found.
    ladder
        The powers above 0, if they are given.
    keeps
        Whether the particles of each power are kept, as `stages`.
    """

    moves: Moves
    rng: np.random.Generator
    efficiency: float
    ladder: np.ndarray | None
    keeps: bool
    free: np.ndarray = field(init=False)
    log_likelihood: np.ndarray = field(init=False)
    first: np.ndarray = field(init=False)  # the particle of the prior from which each one comes
    rungs: list[Rung] = field(default_factory=list, init=False)
    stages: list[Stage] = field(default_factory=list, init=False)  # from b = 0 on
    noise: float = field(default=0.0, init=False)  # that resampling added
    variance: float = field(default=0.0, init=False)  # of the log evidence
    gradients: int = field(default=0, init=False)

    @property
    def power(self) -> float:
        """The present power of the likelihood."""
        return self.rungs[-1].power if self.rungs else 0.0

    @property
    def log_evidence(self) -> float:
        """The log evidence at the present power."""
        return sum(rung.log_evidence for rung in self.rungs)

    def begin(self, free: np.ndarray) -> None:
        """Take draws of the prior as particles."""
        self.free, self.first = free, np.arange(len(free))
        self.log_likelihood = self.moves.points.log_likelihood(free)
        self._keep()

    def step(self) -> Rung:
        """Bring the particles to the next power."""
        before, log_likelihood = self.power, self.log_likelihood
        if self.ladder is None:
            power = next_power(log_likelihood, before, self.efficiency)
        else:
            power = float(self.ladder[len(self.rungs)])
        log_weights = (power - before) * log_likelihood
        weights = np.exp(log_weights - log_weights.max())
        kept = weights.sum() ** 2 / (weights**2).sum() / len(weights)
        self.variance = variance_of_evidence(self.first, log_weights, self.noise)
        parents, added = systematic(log_weights, self.rng.random(), self.first)
        self.noise += added
        self.first = self.first[parents]
        moved = self.moves.move(self.free[parents], log_likelihood[parents], power)
        self.free, self.log_likelihood = moved.free, moved.log_likelihood
        self.gradients += moved.gradients
        self._keep()
        self.rungs.append(
            Rung(
                power,
                log_mean(log_weights),
                float(kept),
                moved.sweeps,
                moved.acceptance,
                self.moves.step_size,
                moved.correlation,
                moved.divergences,
            )
        )
        return self.rungs[-1]

    def _keep(self) -> None:
        if self.keeps:
            self.stages.append(Stage(self.free, scale_of(self.free), self.moves.step_size))

    def state(self) -> State:
        """All on which the further steps depend."""
        return {
            **{name: getattr(self, name) for name in STATE},
            "generator": self.rng.bit_generator.state,
            "step_size": self.moves.step_size,
            "placed": self.moves.points.placed,
            "stages": np.stack([s.free for s in self.stages]) if self.stages else None,
            "step_sizes": [s.step_size for s in self.stages],
        }

    def restore(self, state: State) -> None:
        """Continue from a state."""
        for name in STATE:
            setattr(self, name, state[name])
        self.rungs = [Rung(*values) for values in self.rungs]
        self.rng.bit_generator.state = state["generator"]
        self.moves.step_size = state["step_size"]
        self.moves.points.placed = state["placed"]
        self.stages = (
            [
                Stage(free, scale_of(free), step_size)
                for free, step_size in zip(state["stages"], state["step_sizes"], strict=True)
            ]
            if self.keeps
            else []
        )
