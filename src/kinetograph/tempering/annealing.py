"""Sequential Monte Carlo: particles of the prior go along a path.

A step takes new settings from the path (`paths.py`), such as the power b_t of the likelihood. It
weights the particles by the ratio of the densities p_t / p_(t-1), resamples them in proportion to
the weights, and moves them so that p_t is kept.

    Z_t = product over the steps up to t of the mean of the weights

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
from .paths import Settings, TemperingPath
from .resampling import log_mean, systematic, variance_of_evidence

__all__ = ["Annealing", "Rung", "Stage"]


STATE = ("free", "log_likelihood", "first", "rungs", "noise", "gradients")


class Rung(NamedTuple):
    """A step of the path, and what happened there."""

    settings: Settings
    log_evidence: float  # of the step to these settings
    variance: float  # of log Z up to here
    efficiency: float  # conditional effective sample size of the step, by particle
    sweeps: int
    acceptance: float
    step_size: float
    correlation: float
    divergences: int


class Stage(NamedTuple):
    """The particles of a step, and what their moves have learnt."""

    free: np.ndarray
    scale: np.ndarray
    step_size: float


@dataclass
class Annealing:
    """Particles on their way along a path.

    Attributes
    ----------
    rng
        Gives the random number of each resampling.
    keeps
        Whether the particles of each step are kept, as `stages`.
    """

    moves: Moves
    path: TemperingPath
    rng: np.random.Generator
    keeps: bool = False
    free: np.ndarray = field(init=False)
    log_likelihood: np.ndarray = field(init=False)
    first: np.ndarray = field(init=False)  # the particle of the prior from which each one comes
    rungs: list[Rung] = field(default_factory=list, init=False)
    stages: list[Stage] = field(default_factory=list, init=False)  # from the prior on
    noise: float = field(default=0.0, init=False)  # that resampling added
    gradients: int = field(default=0, init=False)

    @property
    def settings(self) -> Settings:
        """The present settings of the path."""
        return self.rungs[-1].settings if self.rungs else self.path.begin

    @property
    def ended(self) -> bool:
        """Whether the particles are draws of the posterior."""
        return self.settings[0] >= 1.0

    @property
    def log_evidence(self) -> float:
        """The log evidence at the present settings."""
        return sum(rung.log_evidence for rung in self.rungs)

    def begin(self, free: np.ndarray) -> None:
        """Take draws of the prior as particles."""
        self.free, self.first = free, np.arange(len(free))
        self.log_likelihood = self.moves.points.log_likelihood(free)
        self._keep()

    def step(self) -> Rung:
        """Bring the particles to the next settings."""
        before, log_likelihood = self.settings, self.log_likelihood
        settings = self.path.step(log_likelihood, before, len(self.rungs))
        log_weights = self.path.log_weights(log_likelihood, before, settings)
        weights = np.exp(log_weights - log_weights.max())
        efficiency = weights.sum() ** 2 / (weights**2).sum() / len(weights)
        variance = variance_of_evidence(self.first, log_weights, self.noise)
        parents, added = systematic(log_weights, self.rng.random(), self.first)
        self.noise += added
        self.first = self.first[parents]
        particles = self.moves.move(self.free[parents], log_likelihood[parents], settings)
        self.free, self.log_likelihood = particles.free, particles.log_likelihood
        self.gradients += particles.gradients
        self.rungs.append(
            Rung(
                settings,
                log_mean(log_weights),
                variance,
                float(efficiency),
                particles.sweeps,
                particles.acceptance,
                self.moves.step_size,
                particles.correlation,
                particles.divergences,
            )
        )
        self._keep()
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
        self.rungs = [Rung(tuple(values[0]), *values[1:]) for values in self.rungs]
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
