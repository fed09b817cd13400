"""MALA: the Metropolis-adjusted Langevin algorithm.

    q' = q - h grad U(q) + sqrt(2 h / beta) R

is accepted with the Metropolis-Hastings probability of this proposal. The proposal is one leapfrog
step of length sqrt(2 h) with a new momentum, and is computed in this form:

    p = R / sqrt(beta);  p* = p - e/2 grad U(q);  q' = q + e p*;  p' = p* - e/2 grad U(q')
    accepted with probability min(1, exp(-beta (H(q', p') - H(q, p)))),  e = sqrt(2 h)

Samples  exp(-beta U), exactly
Cost     one gradient per step
Tuned    to an acceptance of 0.574
Source   G. Roberts, R. Tweedie, Exponential convergence of Langevin distributions and their
         discrete approximations, Bernoulli 2 (1996) 341-363.
"""

from typing import Any

from ..graph.functions.mathematics import sqrt
from ..graph.functions.reductions import sum as sum_of
from ..graph.public import public
from .acceptance import divergent, is_accepted, probability, record_bad
from .hyper import hyper
from .sampler import Point, Sampler

__all__ = ["MALA"]


@public
class MALA(Sampler):
    """The Metropolis-adjusted Langevin algorithm.

        q' = q - h grad U(q) + sqrt(2 h / beta) R, accepted or rejected

    Parameters
    ----------
    step_size
        h; the initial value if warm-up tunes it.
    target_acceptance
        The mean acceptance probability to which warm-up tunes the step size.
    inverse_temperature
        beta.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.normal(1.0, 2.0)
    >>> tree = kg.mcmc(kg.model(x), kg.samplers.MALA(), draws=2000, seed=1, progress=False)
    >>> bool(abs(tree["posterior"]["x"].mean() - 1.0) < 0.2)
    True

    Source: G. Roberts, R. Tweedie, Bernoulli 2 (1996) 341-363.
    """

    step_size = hyper(0.5, positive=True)
    target_acceptance = hyper(0.574, above=0, below=1, scalar=True)
    inverse_temperature = hyper(1.0, positive=True, scalar=True)
    tunes = ("step_size", "scale")

    def step(self, at: Point) -> Any:
        """Make one proposal, which is accepted or rejected."""
        beta, e = self.inverse_temperature, sqrt(2 * self.step_size)
        p = self.noise("momentum", like=at.q) / sqrt(beta)
        kicked = p - 0.5 * e * at.gradient
        new = self.evaluate(at.q + e * kicked)
        after = kicked - 0.5 * e * new.gradient
        gain = at.potential - new.potential + 0.5 * (sum_of(p * p) - sum_of(after * after))
        self.record("acceptance_rate", probability(beta * gain))
        error = -beta * gain
        self.record("energy_error", error)
        self.record("diverging", divergent(error))
        record_bad(self, error)
        accepted = is_accepted(self, beta * gain)
        if accepted:
            at = new
        self.record("accepted", accepted)
        return at
