"""GLA1: the geometric Langevin algorithm of first order, B A O.

    p <- p - h grad U(q);  q <- q + h p;  p <- a p + sqrt((1 - a^2) / beta) R,  a = exp(-gamma h)

Samples  a density that tends to exp(-beta (U + p^2 / 2)) with h -> 0; on U = k q^2 / 2,
         beta k <q^2> = (1 + a)^2 / (2 (1 + a) - h^2 k)
Order    1
Stable   for h^2 k < 2 (1 + a)
Cost     one gradient per step
Records  the kinetic energy after the noise
Source   N. Bou-Rabee, H. Owhadi, Long-run accuracy of variational integrators in the stochastic
         context, SIAM Journal on Numerical Analysis 48 (2010) 278-297.
"""

from typing import Any

from ..graph.functions.mathematics import exp, sqrt
from ..graph.functions.reductions import sum as sum_of
from ..graph.public import public
from .hyper import hyper
from .noise_norm import record_noise
from .sampler import Point, Sampler

__all__ = ["GLA1"]


@public
class GLA1(Sampler):
    """Langevin dynamics, first order: kick, drift, friction and noise.

        p <- p - h grad U(q);  q <- q + h p;  p <- a p + sqrt((1 - a^2) / beta) R

    Parameters
    ----------
    step_size
        h.
    friction
        gamma; a = exp(-gamma h). Correlations fade fastest near the lowest frequency.
    inverse_temperature
        beta.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.normal(0.0, 1.0, name="x")
    >>> chain = kg.chain(kg.model(x), kg.samplers.GLA1(step_size=0.2), seed=1)
    >>> chain.step(100).sample_stats["kinetic_energy"].shape
    (100,)

    Source: N. Bou-Rabee, H. Owhadi, SIAM Journal on Numerical Analysis 48 (2010) 278-297.
    """

    step_size = hyper(0.1, positive=True)
    friction = hyper(1.0, lower=0)
    inverse_temperature = hyper(1.0, positive=True, scalar=True)

    def init(self, at: Point) -> dict[str, Any]:
        """Draw momenta at the temperature."""
        return {"p": self.noise("momentum", like=at.q) / sqrt(self.inverse_temperature)}

    def step(self, at: Point, p: Any) -> Any:
        """Make one step."""
        h, beta = self.step_size, self.inverse_temperature
        a = exp(-self.friction * h)
        p = p - h * at.gradient
        at = self.evaluate(at.q + h * p)
        noise = sqrt((1 - a * a) / beta) * self.noise("O", like=p)
        p = a * p + noise
        self.record("kinetic_energy", 0.5 * sum_of(p * p))
        record_noise(self, noise)
        return at, {"p": p}
