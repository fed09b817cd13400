"""SGHMC: stochastic gradient HMC by Euler steps; biased, for comparisons.

    p <- p - h grad U(q) - h gamma p + sqrt(2 gamma h / beta) R;  q <- q + h p

Samples  a density that tends to exp(-beta (U + p^2 / 2)) with h -> 0; the error of positions and
         momenta is of first order. BAOAB has an error of second order at the same cost
Order    1
Cost     one gradient per step
Source   T. Chen, E. Fox, C. Guestrin, Stochastic gradient Hamiltonian Monte Carlo, ICML 2014.
"""

from typing import Any

from ..graph.functions.mathematics import sqrt
from ..graph.functions.reductions import sum as sum_of
from ..graph.public import public
from .hyper import hyper
from .noise_norm import record_noise
from .sampler import Point, Sampler

__all__ = ["SGHMC"]


@public
class SGHMC(Sampler):
    """Stochastic gradient HMC; `BAOAB` is more accurate at the same cost.

    Parameters
    ----------
    step_size
        h.
    friction
        gamma.
    inverse_temperature
        beta.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.normal(0.0, 1.0, name="x")
    >>> chain = kg.chain(kg.model(x), kg.samplers.SGHMC(step_size=0.1), seed=1)
    >>> chain.step(100).posterior["x"].shape
    (100,)

    Source: T. Chen, E. Fox, C. Guestrin, ICML 2014.
    """

    step_size = hyper(0.1, positive=True)
    friction = hyper(1.0, lower=0)
    inverse_temperature = hyper(1.0, positive=True, scalar=True)

    def init(self, at: Point) -> dict[str, Any]:
        """Draw momenta at the temperature."""
        return {"p": self.noise("momentum", like=at.q) / sqrt(self.inverse_temperature)}

    def step(self, at: Point, p: Any) -> Any:
        """Make one step."""
        h, gamma = self.step_size, self.friction
        noise = sqrt(2 * gamma * h / self.inverse_temperature) * self.noise("noise", like=p)
        p = p - h * at.gradient - h * gamma * p + noise
        self.record("kinetic_energy", 0.5 * sum_of(p * p))
        record_noise(self, noise)
        return self.evaluate(at.q + h * p), {"p": p}
