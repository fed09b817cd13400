"""BAOAB: Langevin dynamics by the splitting B/2 A/2 O A/2 B/2.

    p <- p - h/2 grad U(q);  q <- q + h/2 p;  p <- a p + sqrt((1 - a^2) / beta) R
    q <- q + h/2 p;  p <- p - h/2 grad U(q),  a = exp(-gamma h)

Samples  a density that tends to exp(-beta (U + p^2 / 2)) with h -> 0; on U = k q^2 / 2 positions
         exactly, and beta <p^2> = 1 - h^2 k / 4
Order    2; 4 for averages over positions as gamma -> infinity
Stable   for h^2 k < 4
Cost     one gradient per step
Records  the kinetic energy at the end of the step
Source   B. Leimkuhler, C. Matthews, Robust and efficient configurational molecular sampling via
         Langevin dynamics, Journal of Chemical Physics 138 (2013) 174102.
"""

from typing import Any

from ..graph.functions.mathematics import exp, sqrt
from ..graph.functions.reductions import sum as sum_of
from ..graph.public import public
from .hyper import hyper
from .noise_norm import record_noise
from .sampler import Point, Sampler

__all__ = ["BAOAB"]


@public
class BAOAB(Sampler):
    """Langevin dynamics by the splitting B/2 A/2 O A/2 B/2.

    It is the most accurate splitting for averages over positions.

        p <- p - h/2 grad U(q);  q <- q + h/2 p;  p <- a p + sqrt((1 - a^2) / beta) R
        q <- q + h/2 p;  p <- p - h/2 grad U(q)

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
    >>> chain = kg.chain(kg.model(x), kg.samplers.BAOAB(step_size=0.2), seed=1)
    >>> chain.step(100).sample_stats["kinetic_energy"].shape
    (100,)

    Source: B. Leimkuhler, C. Matthews, Journal of Chemical Physics 138 (2013) 174102.
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
        p = p - 0.5 * h * at.gradient
        q = at.q + 0.5 * h * p
        noise = sqrt((1 - a * a) / beta) * self.noise("O", like=p)
        p = a * p + noise
        at = self.evaluate(q + 0.5 * h * p)
        p = p - 0.5 * h * at.gradient
        self.record("kinetic_energy", 0.5 * sum_of(p * p))
        record_noise(self, noise)
        return at, {"p": p}
