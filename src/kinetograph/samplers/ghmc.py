"""GHMC: generalised Hamiltonian Monte Carlo, with persistent momenta.

    p <- a p + sqrt((1 - a^2) / beta) R,  a = exp(-gamma h L);  L steps of the integrator;
    accepted with probability min(1, exp(-beta (H' - H))), else back to the start with p reversed

Samples  exp(-beta (U + p^2 / 2)), exactly
Cost     L times the number of the integrator's stages in gradients per transition
Source   A. Horowitz, A generalized guided Monte Carlo algorithm, Physics Letters B 268 (1991)
         247-252.
"""

from typing import Any

from ..graph.functions.mathematics import exp, sqrt
from ..graph.functions.reductions import sum as sum_of
from ..graph.public import public
from .acceptance import divergent, is_accepted, probability, record_bad
from .hyper import hyper
from .integrators import integrator_hyper
from .noise_norm import record_noise
from .sampler import Point, Sampler

__all__ = ["GHMC"]


@public
class GHMC(Sampler):
    """Generalised HMC: short trajectories, momenta refreshed in part.

    Parameters
    ----------
    step_size
        h; the initial value if warm-up tunes it.
    friction
        gamma: a momentum keeps the share exp(-gamma h L) of itself.
    n_steps
        L, the number of steps of a trajectory.
    target_acceptance
        The mean acceptance probability to which warm-up tunes the step size. A rejection reverses
        the chain's direction, so rejections should be rare.
    inverse_temperature
        beta.
    integrator
        See `HMC`.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.normal(1.0, 2.0)
    >>> tree = kg.mcmc(kg.model(x), kg.samplers.GHMC(), draws=5000, seed=1, progress=False)
    >>> bool(abs(tree["posterior"]["x"].mean() - 1.0) < 0.3)
    True

    Source: A. Horowitz, Physics Letters B 268 (1991) 247-252.
    """

    step_size = hyper(0.1, positive=True)
    friction = hyper(1.0, lower=0)
    n_steps = hyper(1, lower=1, scalar=True)
    target_acceptance = hyper(0.95, above=0, below=1, scalar=True)
    inverse_temperature = hyper(1.0, positive=True, scalar=True)
    integrator = integrator_hyper()
    tunes = ("step_size", "scale")

    def init(self, at: Point) -> dict[str, Any]:
        """Draw momenta at the temperature."""
        return {"p": self.noise("momentum", like=at.q) / sqrt(self.inverse_temperature)}

    def step(self, at: Point, p: Any) -> Any:
        """Refresh the momenta and make a trajectory, which is accepted or reversed."""
        h, beta = self.step_size, self.inverse_temperature
        a = exp(-self.friction * h * self.n_steps)
        noise = sqrt((1 - a * a) / beta) * self.noise("O", like=p)
        p = a * p + noise
        start, turned = at, -p
        before = at.potential + 0.5 * sum_of(p * p)
        i = 0
        while i < self.n_steps:
            at, p = self.integrator.step(self, at, p, h)
            i = i + 1
        energy = at.potential + 0.5 * sum_of(p * p)
        error = beta * (energy - before)
        accepted = is_accepted(self, -error)
        if not accepted:
            at, p, energy = start, turned, before
        self.record("acceptance_rate", probability(-error))
        self.record("accepted", accepted)
        self.record("energy", energy)
        self.record("energy_error", error)
        self.record("diverging", divergent(error))
        record_bad(self, error)
        record_noise(self, noise)
        return at, {"p": p}
