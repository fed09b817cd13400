"""The arguments that both methods of tempering have in common."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..bits.draws import chain_key
from ..graph.source import warn_user
from ..models.model import Model
from ..models.tempered_model import TemperedModel
from ..results.advice import SamplingWarning
from ..runs.progress.reporting import LoggedProgress
from ..samplers.sampler import Sampler
from .annealing import Annealing
from .checkpoints import RunCheckpoints
from .moves import Moves
from .paths import LevelPath, PowerPath, TemperingPath
from .points import TemperedPoints
from .prior import PriorDraws, check_reached

__all__ = ["REPLICAS", "TemperingTask"]

PARTICLES, REPLICAS = range(2)  # uses of random numbers

FIRST_STEP = 0.8  # step size of HMC in standard deviations, times d^(-1/4)
USUAL_TARGET = 0.8  # acceptance for samplers without a target


@dataclass
class TemperingTask:
    """A model to temper, and how.

    Attributes
    ----------
    standard
        Whether the sampler is the default.
    ladder
        The powers above 0, if they are given.
    by_levels
        Whether points go up levels of the likelihood, not powers.
    devices
        The devices of the points; empty for JAX's default device.
    """

    model: Model
    sampler: Sampler
    standard: bool
    ladder: np.ndarray | None
    seed: int
    threads: int
    display: LoggedProgress
    by_levels: bool = False
    devices: tuple[Any, ...] = ()
    checkpoints: RunCheckpoints = field(default_factory=RunCheckpoints)

    @property
    def path(self) -> TemperingPath:
        """The path from the prior to the posterior."""
        return LevelPath() if self.by_levels else PowerPath(self.ladder)

    @cached_property
    def tempered(self) -> TemperedModel:
        """The tempered model; all points share its compiled programs."""
        return TemperedModel(self.model, self.path.names)

    def points(self, size: int, group: int, use: int) -> TemperedPoints:
        """Points of the tempered model; `use` gives their random numbers."""
        key = chain_key(self.seed, use)
        at_once = self.threads, self.devices
        return TemperedPoints(self.tempered, self.sampler, size, group, key, *at_once)

    def generator(self, use: int) -> np.random.Generator:
        """The random numbers of the host for one use."""
        return np.random.default_rng(np.random.SeedSequence([self.seed, use]))

    def moves(self, points: TemperedPoints) -> Moves:
        """The moves of points, before anything is learnt."""
        hyper = points.program.hyper()
        tunes = {*self.sampler.tune} | ({"n_steps"} if self.standard else set())
        target = float(hyper.get("target_acceptance", np.asarray(USUAL_TARGET)))
        step_size = float(np.mean(hyper.get("step_size", np.ones(1))))
        if self.standard:
            step_size = FIRST_STEP * self.model.free_size**-0.25
        return Moves(points, frozenset(tunes), target, step_size)

    def along[Kind: Annealing](
        self,
        kind: type[Kind],
        size: int,
        group: int,
        check: Callable[[], None],
        keeps: bool = False,
    ) -> Kind:
        """Particles at the end of the path; `keeps` keeps all steps."""
        self.display.say("compiling ...")
        moves, rng = self.moves(self.points(size, group, PARTICLES)), self.generator(PARTICLES)
        self._warn_of_bias(moves.points)
        particles = kind(moves, self.path, rng, keeps)
        name = self.path.names[0]
        if (state := self.checkpoints.last) is not None:
            particles.restore(state)
            self.display.say(f"continues at {name} {particles.settings[0]:.3g}")
        else:
            drawn = PriorDraws(self.model, self.seed, "temper")(size)
            particles.begin(drawn.astype(moves.points.program.dtype))
            check_reached(self.model, particles.free, particles.log_likelihood, "temper")
        while not particles.ended:
            rung = particles.step()
            self.checkpoints.keep(particles.state)
            check()
            self.display.say(
                f"{name} {rung.settings[0]:.3g}: {rung.sweeps} sweeps, acceptance "
                f"{rung.acceptance:.2f}, step size {rung.step_size:.3g}"
            )
        return particles

    def _warn_of_bias(self, points: TemperedPoints) -> None:
        """Warn of a sampler without a Metropolis test."""
        if not points.program.kernel.moves_by_values:
            name = type(self.sampler).__name__
            warn_user(
                f"temper: {name} has no Metropolis test, so that its step size changes the "
                "distribution of the draws: log_evidence has an error that log_evidence_se does "
                "not contain. Take a sampler with a test, such as kg.samplers.HMC(), or compare "
                "with a smaller step_size",
                SamplingWarning,
            )
