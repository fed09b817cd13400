"""HMC: Hamiltonian Monte Carlo with a trajectory of a given length.

    p ~ N(0, 1 / beta);  L steps of the integrator, of length h;
    accepted with probability min(1, exp(-beta (H(q', p') - H(q, p)))),  H = U + p^2 / 2

Samples  exp(-beta U), exactly: the integrators are reversible and preserve volume, and the random
         step size and length do not depend on the state
Cost     L times the number of the integrator's stages in gradients per transition
Records  the energy U + p^2 / 2 of the new position with its momentum; the energy error of the
         trajectory, times beta, accepted or rejected
Tuned    to an acceptance of 0.8 (0.651 is cheapest for many unknowns and long trajectories)
Source   S. Duane, A. Kennedy, B. Pendleton, D. Roweth, Physics Letters B 195 (1987) 216-222;
         R. Neal, MCMC using Hamiltonian dynamics, Handbook of Markov Chain Monte Carlo (2011).
"""

from typing import Any

from ..graph.functions.mathematics import floor, maximum, sqrt
from ..graph.functions.reductions import sum as sum_of
from ..graph.public import public
from .acceptance import divergent, is_accepted, probability, record_bad
from .hyper import hyper
from .integrators import integrator_hyper
from .sampler import Point, Sampler

__all__ = ["HMC"]


@public
class HMC(Sampler):
    """Hamiltonian Monte Carlo with a given number of steps.

    Parameters
    ----------
    step_size
        h; the initial value if warm-up tunes it.
    n_steps
        L, the number of steps of a trajectory.
    target_acceptance
        The mean acceptance probability to which warm-up tunes the step size.
    step_jitter
        j: the step size of each trajectory is uniform between h (1 - j) and h (1 + j).
    path_jitter
        j: the number of steps of each trajectory is uniform between L (1 - j) and L (1 + j),
        rounded, at least 1. Without it trajectories can be periodic.
    inverse_temperature
        beta.
    integrator
        "leapfrog", "minimum_norm", "bcss2", "bcss3" or a `kg.samplers.Integrator`.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.normal(1.0, 2.0)
    >>> hmc = kg.samplers.HMC(n_steps=5)
    >>> tree = kg.mcmc(kg.model(x), hmc, draws=1000, seed=1, progress=False)
    >>> bool(abs(tree["posterior"]["x"].mean() - 1.0) < 0.3)
    True

    Source: S. Duane et al., Physics Letters B 195 (1987) 216-222; R. Neal (2011).
    """

    step_size = hyper(0.1, positive=True)
    n_steps = hyper(10, lower=1, scalar=True)
    target_acceptance = hyper(0.8, above=0, below=1, scalar=True)
    step_jitter = hyper(0.1, lower=0, below=1, scalar=True)
    path_jitter = hyper(0.2, lower=0, upper=1, scalar=True)
    inverse_temperature = hyper(1.0, positive=True, scalar=True)
    integrator = integrator_hyper()
    tunes = ("step_size", "scale")

    def step(self, at: Point) -> Any:
        """Make a trajectory, which is accepted or rejected."""
        beta = self.inverse_temperature
        h = self.step_size * (1 + self.step_jitter * self.noise.uniform(-1.0, 1.0, name="step"))
        stretch = 1 + self.path_jitter * self.noise.uniform(-1.0, 1.0, name="path")
        count = maximum(1, floor(self.n_steps * stretch + 0.5).astype(int))
        p = self.noise("momentum", like=at.q) / sqrt(beta)
        start, before = at, at.potential + 0.5 * sum_of(p * p)
        i = 0
        while i < count:
            at, p = self.integrator.step(self, at, p, h)
            i = i + 1
        energy = at.potential + 0.5 * sum_of(p * p)
        error = beta * (energy - before)
        accepted = is_accepted(self, -error)
        if not accepted:
            at, energy = start, before
        self.record("acceptance_rate", probability(-error))
        self.record("accepted", accepted)
        self.record("n_steps", count)
        self.record("energy", energy)
        self.record("energy_error", error)
        self.record("diverging", divergent(error))
        record_bad(self, error)
        return at
