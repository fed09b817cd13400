"""SGNHT: Langevin dynamics with a thermostat, for gradients with unknown noise.

    dq = p dt;  dp = -grad U dt - xi p dt + sqrt(2 A / beta) dW;  d xi = (p p - N / beta) / mu dt

The friction xi is the thermostat. The splitting is B/2 A/2 D/2 O D/2 A/2 B/2, where

    D(t)   xi <- xi + t (p p - N / beta) / mu
    O(t)   p <- exp(-xi t) p + sqrt(A / beta (1 - exp(-2 xi t)) / xi) R

Samples  a density that tends to exp(-beta U) with h -> 0, also if the gradient has noise of a
         constant variance sigma^2: xi settles at the friction that removes the heat of the noise,
         A + beta h sigma^2 / 2
Order    2
Cost     one gradient per step
Source   N. Ding et al., Bayesian sampling using stochastic gradient thermostats, NIPS 2014;
         B. Leimkuhler, X. Shang, Adaptive thermostats for noisy gradient systems, SIAM Journal on
         Scientific Computing 38 (2016) A712-A736.
"""

from typing import Any

from ..graph.functions.mathematics import exp, expm1, sqrt, where
from ..graph.functions.reductions import sum as sum_of
from ..graph.public import public
from .hyper import hyper
from .noise_norm import record_noise
from .sampler import Point, Sampler

__all__ = ["SGNHT"]


@public
class SGNHT(Sampler):
    """Langevin dynamics with a thermostat that removes the heat of gradient noise.

    Parameters
    ----------
    step_size
        h.
    friction
        A, the friction that belongs to the added noise.
    thermal_mass
        mu, the inertia of the thermostat; by default the number of free coordinates.
    inverse_temperature
        beta.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.normal(0.0, 1.0, name="x")
    >>> chain = kg.chain(kg.model(x), kg.samplers.SGNHT(step_size=0.1), seed=1)
    >>> chain.step(100).sample_stats["thermostat"].shape
    (100,)

    Source: N. Ding et al., NIPS 2014; B. Leimkuhler, X. Shang (2016).
    """

    step_size = hyper(0.1, positive=True, scalar=True)
    friction = hyper(1.0, positive=True, scalar=True)
    thermal_mass = hyper(None, positive=True, scalar=True)
    inverse_temperature = hyper(1.0, positive=True, scalar=True)

    def init(self, at: Point) -> dict[str, Any]:
        """Draw momenta at the temperature; the thermostat begins at the friction."""
        p = self.noise("momentum", like=at.q) / sqrt(self.inverse_temperature)
        return {"p": p, "xi": 1.0 * self.friction}

    def step(self, at: Point, p: Any, xi: Any) -> Any:
        """Make one step."""
        h, beta, size = self.step_size, self.inverse_temperature, at.q.size
        mass = size if self.thermal_mass is None else self.thermal_mass
        p = p - 0.5 * h * at.gradient
        q = at.q + 0.5 * h * p
        xi = xi + 0.5 * h * (sum_of(p * p) - size / beta) / mass
        spread = where(xi == 0, 2 * h, -expm1(-2 * xi * h) / where(xi == 0, 1.0, xi))
        noise = sqrt(self.friction / beta * spread) * self.noise("O", like=p)
        p = exp(-xi * h) * p + noise
        xi = xi + 0.5 * h * (sum_of(p * p) - size / beta) / mass
        self.record("thermostat", xi)
        at = self.evaluate(q + 0.5 * h * p)
        p = p - 0.5 * h * at.gradient
        self.record("kinetic_energy", 0.5 * sum_of(p * p))
        record_noise(self, noise)
        return at, {"p": p, "xi": xi}
