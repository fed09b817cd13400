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

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .moves import Moves, scale_of
from .resampling import log_mean, next_power, systematic, variance_of_evidence

__all__ = ["Annealed", "Rung", "Stage", "anneal"]


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
class Annealed:
    """Particles of the posterior, and the way to them."""

    free: np.ndarray
    log_likelihood: np.ndarray
    first: np.ndarray  # the particle of the prior from which each one comes
    rungs: list[Rung]
    log_evidence: float
    variance: float  # of the log evidence
    gradients: int
    stages: list[Stage]  # from b = 0 to b = 1


def anneal(
    moves: Moves,
    free: np.ndarray,
    rng: np.random.Generator,
    efficiency: float,
    ladder: np.ndarray | None,
    watch: Callable[[Rung], None],
) -> Annealed:
    """Bring draws of the prior to the posterior.

    `rng` gives the random number of each resampling. `ladder` has the powers, unless they
    are found by the efficiency of the weights. `watch` is called after each rung.
    """
    size = len(free)
    first = np.arange(size)
    log_likelihood = moves.points.log_likelihood(free)
    power, noise, gradients = 0.0, 0.0, 0
    rungs: list[Rung] = []
    stages = [Stage(free, scale_of(free), moves.step_size)]
    while power < 1.0:
        before = power
        if ladder is None:
            power = next_power(log_likelihood, before, efficiency)
        else:
            power = float(ladder[len(rungs)])
        log_weights = (power - before) * log_likelihood
        weights = np.exp(log_weights - log_weights.max())
        kept = weights.sum() ** 2 / (weights**2).sum() / size
        variance = variance_of_evidence(first, log_weights, noise)
        parents, added = systematic(log_weights, rng.random(), first)
        noise += added
        first = first[parents]
        moved = moves.move(free[parents], log_likelihood[parents], power)
        free, log_likelihood = moved.free, moved.log_likelihood
        gradients += moved.gradients
        stages.append(Stage(free, scale_of(free), moves.step_size))
        rungs.append(
            Rung(
                power,
                log_mean(log_weights),
                float(kept),
                moved.sweeps,
                moved.acceptance,
                moves.step_size,
                moved.correlation,
                moved.divergences,
            )
        )
        watch(rungs[-1])
    log_evidence = sum(rung.log_evidence for rung in rungs)
    return Annealed(free, log_likelihood, first, rungs, log_evidence, variance, gradients, stages)
