"""GLA2: the geometric Langevin algorithm of second order, B/2 A B/2 O.

    p <- p - h/2 grad U(q);  q <- q + h p;  p <- p - h/2 grad U(q)
    p <- a p + sqrt((1 - a^2) / beta) R,  a = exp(-gamma h)

Samples  a density that tends to exp(-beta (U + p^2 / 2)) with h -> 0; on U = k q^2 / 2,
         beta k <q^2> = 1 / (1 - h^2 k / 4), and p exactly
Order    2
Stable   for h^2 k < 4
Cost     one gradient per step and stage of the integrator; leapfrog has one stage
Records  the kinetic energy after the noise
Source   N. Bou-Rabee, H. Owhadi, Long-run accuracy of variational integrators in the stochastic
         context, SIAM Journal on Numerical Analysis 48 (2010) 278-297.
"""

from typing import Any

from ..graph.functions.mathematics import exp, sqrt
from ..graph.functions.reductions import sum as sum_of
from ..graph.public import public
from .hyper import hyper
from .integrators import integrator_hyper
from .noise_norm import record_noise
from .sampler import Point, Sampler

__all__ = ["GLA2"]


@public
class GLA2(Sampler):
    """Langevin dynamics, second order: a leapfrog step, then friction and noise.

        p <- p - h/2 grad U(q);  q <- q + h p;  p <- p - h/2 grad U(q)
        p <- a p + sqrt((1 - a^2) / beta) R

    Parameters
    ----------
    step_size
        h.
    friction
        gamma; a = exp(-gamma h). Correlations fade fastest near the lowest frequency.
    inverse_temperature
        beta.
    integrator
        The integrator in the place of the leapfrog step; see `HMC`.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.normal(0.0, 1.0, name="x")
    >>> chain = kg.chain(kg.model(x), kg.samplers.GLA2(step_size=0.2), seed=1)
    >>> chain.step(100).sample_stats["kinetic_energy"].shape
    (100,)

    Source: N. Bou-Rabee, H. Owhadi, SIAM Journal on Numerical Analysis 48 (2010) 278-297.
    """

    step_size = hyper(0.1, positive=True)
    friction = hyper(1.0, lower=0)
    inverse_temperature = hyper(1.0, positive=True, scalar=True)
    integrator = integrator_hyper()

    def init(self, at: Point) -> dict[str, Any]:
        """Draw momenta at the temperature."""
        return {"p": self.noise("momentum", like=at.q) / sqrt(self.inverse_temperature)}

    def step(self, at: Point, p: Any) -> Any:
        """Make one step."""
        h, beta = self.step_size, self.inverse_temperature
        a = exp(-self.friction * h)
        at, p = self.integrator.step(self, at, p, h)
        noise = sqrt((1 - a * a) / beta) * self.noise("O", like=p)
        p = a * p + noise
        self.record("kinetic_energy", 0.5 * sum_of(p * p))
        record_noise(self, noise)
        return at, {"p": p}
