"""LM: the overdamped limit of BAOAB for large friction, of second order.

    q <- q - h grad U(q) + sqrt(h / (2 beta)) (R_n + R_{n+1})

Samples  a density that tends to exp(-beta U) for h -> 0; exact for a Gaussian density with
         h k < 2, where k is its largest curvature.
Order    2
Cost     one gradient per step
Source   B. Leimkuhler, C. Matthews, Rational construction of stochastic numerical methods for
         molecular sampling, Applied Mathematics Research eXpress (2013) 34-56.
"""

from typing import Any

from ..graph.functions.mathematics import sqrt
from ..graph.public import public
from .hyper import hyper
from .noise_norm import record_noise
from .sampler import Point, Sampler

__all__ = ["LM"]


@public
class LM(Sampler):
    """The BAOAB limit method: as cheap as SGLD, and of second order.

        q <- q - h grad U(q) + sqrt(h / (2 beta)) (R_n + R_{n+1})

    Each random vector is used twice: the slot `noise` keeps it for the next step.

    Parameters
    ----------
    step_size
        h.
    inverse_temperature
        beta.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.normal(0.0, 1.0, name="x")
    >>> chain = kg.chain(kg.model(x), kg.samplers.LM(step_size=0.5), seed=1)
    >>> chain.step(100).posterior["x"].shape
    (100,)

    Source: B. Leimkuhler, C. Matthews, AMRX (2013) 34-56.
    """

    step_size = hyper(0.01, positive=True)
    inverse_temperature = hyper(1.0, positive=True, scalar=True)

    def init(self, at: Point) -> dict[str, Any]:
        """Draw the first random vector."""
        return {"noise": self.noise("noise", like=at.q)}

    def step(self, at: Point, noise: Any) -> Any:
        """Make one step."""
        h, beta = self.step_size, self.inverse_temperature
        fresh = self.noise("noise", like=at.q)
        added = sqrt(h / (2 * beta)) * (noise + fresh)
        record_noise(self, added)
        return self.evaluate(at.q - h * at.gradient + added), {"noise": fresh}
