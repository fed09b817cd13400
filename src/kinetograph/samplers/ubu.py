"""UBU: Langevin dynamics by a kick between exact flows.

U is the exact solution of drift, friction and noise, and B is a kick:

    U(t)   q <- q + (1 - e) p / gamma + x;  p <- e p + y,   e = exp(-gamma t)
           Var x = 2 / (gamma beta) (t - 2 (1 - e) / gamma + (1 - e^2) / (2 gamma))
           Cov(x, y) = (1 - e)^2 / (gamma beta),  Var y = (1 - e^2) / beta
    B(h)   p <- p - h grad U(q)

One step is U/2 B U/2.

Samples  a density that tends to exp(-beta (U + p^2 / 2)) with h -> 0
Order    2
Cost     one gradient per step, at the kick, and the potential of the final position
Source   J. Sanz-Serna, K. Zygalakis, Wasserstein distance estimates for the distributions of
         numerical approximations to ergodic stochastic differential equations, JMLR 22 (2021);
         D. Paulin, P. Whalley, N. Chada, B. Leimkuhler, arXiv:2412.16710.
"""

from typing import Any

from ..graph.functions.mathematics import expm1, sqrt, where
from ..graph.functions.reductions import sum as sum_of
from ..graph.public import public
from .hyper import hyper
from .noise_norm import record_noise
from .sampler import Point, Sampler

__all__ = ["UBU"]

SMALL = 1e-2  # for a smaller gamma t, variances are computed by their series


@public
class UBU(Sampler):
    """Langevin dynamics by the splitting U/2 B U/2.

    Parameters
    ----------
    step_size
        h.
    friction
        gamma; with 0 there is no noise, and a step is drift, kick, drift.
    inverse_temperature
        beta.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.normal(0.0, 1.0, name="x")
    >>> chain = kg.chain(kg.model(x), kg.samplers.UBU(step_size=0.2), seed=1)
    >>> chain.step(100).posterior["x"].shape
    (100,)

    Source: J. Sanz-Serna, K. Zygalakis, JMLR 22 (2021).
    """

    step_size = hyper(0.1, positive=True)
    friction = hyper(1.0, lower=0)
    inverse_temperature = hyper(1.0, positive=True, scalar=True)

    def init(self, at: Point) -> dict[str, Any]:
        """Draw momenta at the temperature."""
        return {"p": self.noise("momentum", like=at.q) / sqrt(self.inverse_temperature)}

    def step(self, at: Point, p: Any) -> Any:
        """Make one step."""
        q, p, *before = self._flow(at.q, p)
        p = p - self.step_size * self.evaluate(q).gradient
        q, p, *after = self._flow(q, p)
        self.record("kinetic_energy", 0.5 * sum_of(p * p))
        record_noise(self, *before, *after)
        return self.evaluate(q), {"p": p}

    def _flow(self, q: Any, p: Any) -> tuple[Any, ...]:
        """The exact flow of half a step, and its noise."""
        gamma, beta, t = self.friction, self.inverse_temperature, 0.5 * self.step_size
        g = gamma * t
        safe_g = where(g > 0, g, 1.0)  # avoids a division by 0 without friction
        decay = -expm1(-g)  # 1 - e
        var_p = -expm1(-2 * g)
        series = g * (2 / 3 - g / 2 + 7 * g**2 / 30)
        var_q = where(g < SMALL, series, (2 * g - 4 * decay + var_p) / safe_g**2)
        sd_p = sqrt(var_p)
        with_p = decay**2 / (safe_g * where(g > 0, sd_p, 1.0))
        rest = sqrt(maximum_of(var_q - with_p**2))
        one, two = self.noise("U", like=q), self.noise("U", like=q)
        of_q, of_p = t * (with_p * one + rest * two) / sqrt(beta), sd_p * one / sqrt(beta)
        drift = t * where(g > 0, decay / safe_g, 1.0)
        return q + drift * p + of_q, (1 - decay) * p + of_p, of_q, of_p


def maximum_of(x: Any) -> Any:
    """The larger of x and 0; rounding may make a variance negative."""
    return where(x > 0, x, 0.0)
