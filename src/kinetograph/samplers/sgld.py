"""SGLD: stochastic gradient Langevin dynamics, overdamped.

    q <- q - h grad U(q) + sqrt(2 h / beta) R

Samples  a density that tends to exp(-beta U) with h -> 0; on U = k q^2 / 2,
         beta k <q^2> = 1 / (1 - h k / 2). With the exact gradient it is the unadjusted Langevin
         algorithm. A step size that falls as h_t = a (b + t)^-c, 1/2 < c <= 1, removes the error:
         `step_size=lambda t: 0.1 * (10.0 + t) ** -0.6`, with averages weighted by h_t.
Order    1
Stable   for h k < 2
Cost     one gradient per step
Source   M. Welling, Y. W. Teh, Bayesian learning via stochastic gradient Langevin dynamics,
         ICML 2011.
"""

from typing import Any

from ..graph.functions.mathematics import sqrt
from ..graph.public import public
from .hyper import hyper
from .noise_norm import record_noise
from .sampler import Point, Sampler

__all__ = ["SGLD"]


@public
class SGLD(Sampler):
    """Overdamped Langevin dynamics by the Euler-Maruyama scheme.

        q <- q - h grad U(q) + sqrt(2 h / beta) R

    With `scale=s` the scheme is preconditioned: h becomes h s^2, the noise s sqrt(2 h / beta) R.

    Parameters
    ----------
    step_size
        h, or a function of the step's number.
    inverse_temperature
        beta.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.normal(0.0, 1.0, name="x")
    >>> sampler = kg.samplers.SGLD(step_size=0.2)
    >>> chain = kg.chain(kg.model(x), sampler, seed=1)
    >>> chain.step(100).posterior["x"].shape
    (100,)

    Source: M. Welling, Y. W. Teh, ICML 2011.
    """

    step_size = hyper(0.01, positive=True)
    inverse_temperature = hyper(1.0, positive=True, scalar=True)

    def step(self, at: Point) -> Any:
        """Make one step."""
        h, beta = self.step_size, self.inverse_temperature
        noise = sqrt(2 * h / beta) * self.noise("noise", like=at.q)
        record_noise(self, noise)
        return self.evaluate(at.q - h * at.gradient + noise)
