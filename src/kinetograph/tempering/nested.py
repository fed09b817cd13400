"""Nested sampling: weighted particles of all levels are draws of the posterior.

Particles of the prior go up the levels of `LevelPath`. The N particles of each level l, with the
estimate Z_l of its mass, are draws of the mixture of all levels, and weights make them draws of the
posterior:

    w_i = L_i / sum over l of (N / Z_l) f_l(log L_i),    Z = sum of w_i,    f_l = p_l / p

The levels end when the particles have gathered at the maximum of the likelihood, or when the mass
above the level is negligible. The maximum is farther up than the posterior needs, because a small
region of large mass may be found only there.

The variance of log Z adds that of the levels, each in proportion to the posterior mass from it on,
and that of the weights.

Source: R. Salomone et al., Unbiased and consistent nested sampling via sequential Monte Carlo, JRSS
B (2024); the mixture: M. Shirts, J. Chodera, Statistically optimal analysis of samples from
multiple equilibrium states, J. Chem. Phys. 129 (2008).
"""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import logsumexp

from ..graph.errors import ModelError
from ..runs.signals import stoppable
from .annealing import Annealing
from .checkpoints import State
from .moves import Moved
from .paths import LevelPath
from .results import as_results
from .sequential import GROUP, columns_of, warn_of_few
from .task import TemperingTask

__all__ = ["NestedParticles", "nested"]

GATHERED = 0.1  # largest width of the last level, and largest log L above it
REMAINS = math.log(1e-12)  # largest mass above the level that is neglected, as a part of Z
NEGLIGIBLE = 1e-4  # a weight, times the number of particles, that is not kept
MOST_LEVELS = 5000
FAR = 60.0  # above log L, a level gives the posterior
ARCHIVE = ("free", "log_likelihood", "log_mixture", "first", "level")


@dataclass
class Archive:
    """Particles of all levels whose weights are not negligible.

    Attributes
    ----------
    log_mixture
        The logarithm of the density of the mixture of all levels, divided by the prior.
    first
        The first ancestor of each particle.
    level
        The number of its level; the prior has 0.
    """

    free: np.ndarray
    log_likelihood: np.ndarray
    log_mixture: np.ndarray
    first: np.ndarray
    level: np.ndarray

    @property
    def log_evidence(self) -> float:
        """The log evidence of the posterior."""
        return float(logsumexp(self.log_likelihood - self.log_mixture))

    @property
    def weights(self) -> np.ndarray:
        """The weights of the particles as draws of the posterior."""
        weights: np.ndarray = np.exp(self.log_likelihood - self.log_mixture - self.log_evidence)
        return weights

    def taken(self, places: np.ndarray) -> "Archive":
        """The particles at some places."""
        return Archive(*(getattr(self, name)[places] for name in ARCHIVE))

    def joined(self, other: "Archive") -> "Archive":
        """These particles, and then the other ones."""
        both = ((getattr(self, name), getattr(other, name)) for name in ARCHIVE)
        return Archive(*(np.concatenate(pair) for pair in both))


@dataclass
class NestedParticles(Annealing):
    """Particles on their way up the levels."""

    archive: Archive | None = field(default=None, init=False)

    @property
    def ended(self) -> bool:
        """Whether the levels have reached the end.

        Raises
        ------
        ModelError
            If there are too many levels.
        """
        if not self.rungs or self.archive is None:
            return False
        if len(self.rungs) >= MOST_LEVELS:
            raise ModelError(
                f"temper: after {MOST_LEVELS} levels the log likelihood still rises, to "
                f"{self.log_likelihood.max():.4g}. If it has no maximum, as where a standard "
                "deviation is 0, give this unknown a prior that keeps away from there. If the data "
                'are very informative, take method="smc"'
            )
        level, width = self.settings
        if max(self.log_likelihood.max() - level, width) < GATHERED:
            return True
        most = self.log_evidence + float(self.archive.log_likelihood.max())
        return most - self.archive.log_evidence < REMAINS

    def _factors(self, log_likelihood: np.ndarray, level: int) -> np.ndarray:
        settings = self.rungs[level - 1].settings if level else self.path.begin
        return LevelPath().log_factor(log_likelihood, settings)

    def _keep(self) -> None:
        """Take the present particles into the archive, and leave out negligible ones."""
        size, count = len(self.free), len(self.rungs)
        masses = np.cumsum([0.0, *(rung.log_evidence for rung in self.rungs)])

        def log_part(log_likelihood: np.ndarray, level: int) -> np.ndarray:
            return math.log(size) - masses[level] + self._factors(log_likelihood, level)

        mixture = np.full(size, -np.inf)
        for level in range(count + 1):
            mixture = np.logaddexp(mixture, log_part(self.log_likelihood, level))
        numbers = np.full(size, count)
        archive = Archive(self.free, self.log_likelihood, mixture, self.first, numbers)
        if self.archive is not None:
            old = self.archive
            old.log_mixture = np.logaddexp(old.log_mixture, log_part(old.log_likelihood, count))
            archive = old.joined(archive)
        possible = archive.log_likelihood > -np.inf
        archive = archive.taken(np.flatnonzero(possible))
        if possible.any():
            archive = archive.taken(np.flatnonzero(archive.weights > NEGLIGIBLE / size))
        self.archive = archive

    def variance(self, archive: Archive) -> float:
        """The variance of the log evidence of the posterior."""
        weights = archive.weights
        masses = np.bincount(archive.level, weights, minlength=len(self.rungs) + 1)
        from_level_on = masses[::-1].cumsum()[::-1]
        levels = np.maximum.accumulate([0.0, *(rung.variance for rung in self.rungs)])
        within = (weights**2).sum() - (masses**2).sum() / len(self.free)
        return float((np.diff(levels) * from_level_on[1:] ** 2).sum() + max(within, 0.0))

    def drawn(self, archive: Archive) -> tuple[Moved, np.ndarray]:
        """Draws of the posterior, moved, and their first ancestors.

        Draws of one ancestor are neighbours.
        """
        archive = archive.taken(np.lexsort((archive.level, archive.first)))
        ends = archive.weights.cumsum()
        size = len(self.free)
        places = (np.arange(size) + self.rng.random()) / size * ends[-1]
        chosen = archive.taken(np.searchsorted(ends, np.minimum(places, np.nextafter(ends[-1], 0))))
        posterior = (float(chosen.log_likelihood.max()) + FAR, 1.0)
        return self.moves.move(chosen.free, chosen.log_likelihood, posterior), chosen.first

    def state(self) -> State:
        """All on which the further steps depend."""
        archived = {} if self.archive is None else vars(self.archive)
        return super().state() | {f"archive_{name}": values for name, values in archived.items()}

    def restore(self, state: State) -> None:
        """Continue from a state."""
        super().restore(state)
        self.archive = Archive(*(state[f"archive_{name}"] for name in ARCHIVE))


def nested(task: TemperingTask, particles: int) -> Any:
    """The results tree of particles of the posterior."""
    with stoppable() as check:
        run = task.along(NestedParticles, particles, min(GROUP, particles), check)
        archive = run.archive
        assert archive is not None
        particles_moved, first = run.drawn(archive)
    families = np.bincount(archive.first, archive.weights, minlength=particles)
    ancestors = 1 / float((families**2).sum())
    warn_of_few(ancestors, particles)
    settings = np.array([rung.settings for rung in run.rungs])
    masses = np.bincount(archive.level, archive.weights, minlength=len(run.rungs) + 1)
    columns = columns_of(run) | {
        "level": ("rung", settings[:, 0], {"description": "the level of the log likelihood"}),
        "width": ("rung", settings[:, 1], {"description": "the width of the level"}),
        "mass": ("rung", masses[1:], {"description": "posterior mass of the particles from here"}),
    }
    attributes = {
        "particles": particles,
        "log_evidence": archive.log_evidence,
        "log_evidence_se": math.sqrt(run.variance(archive)),
        "effective_ancestors": ancestors,
        "gradients": run.gradients + particles_moved.gradients,
        "sampling_time": task.checkpoints.seconds,
    }
    return as_results(
        task, "nested", particles_moved.free, {"ancestor": first}, columns, attributes
    )
