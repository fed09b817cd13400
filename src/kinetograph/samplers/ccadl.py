"""CCAdL: covariance-controlled adaptive Langevin thermostat, for gradient noise that varies.

    dq = p dt;  dp = -grad U~ dt - h beta / 2 S(q) p dt - xi p dt + sqrt(2 A / beta) dW
    d xi = (p p - N / beta) / mu dt

where the gradient of U~ has noise with covariance S(q). The splitting is
C/2 B/2 A/2 D/2 O D/2 A/2 B/2 C/2 with

    C(t)   p <- exp(-t h beta / 2 S) p
    D(t)   xi <- xi + t (p p - N / beta) / mu
    O(t)   p <- exp(-xi t) p + sqrt(A / beta (1 - exp(-2 xi t)) / xi) R

S is estimated from the gradients of the rows of each mini-batch, S_t = (1 - kappa_t) S_t-1 +
kappa_t S^, kappa_t = 1 / t or constant.

Samples  a density that tends to exp(-beta U) with h -> 0, for any noise of the gradient, if the
         estimate of S is right
Order    2 with the exact gradient, 1 in the noise
Cost     one gradient per step, computed for each row
Source   X. Shang, Z. Zhu, B. Leimkuhler, A. J. Storkey, Covariance-controlled adaptive Langevin
         thermostat for large-scale Bayesian sampling, NIPS 2015.
"""

from typing import Any

import numpy as np

from ..graph.functions.mathematics import exp, expm1, sqrt, where
from ..graph.functions.reductions import sum as sum_of
from ..graph.public import public
from .hyper import hyper
from .noise_norm import record_noise
from .sampler import Point, Sampler

__all__ = ["CCAdL"]


@public
class CCAdL(Sampler):
    """Langevin dynamics with a thermostat, and friction against known gradient noise.

    The noise of a mini-batch's gradient heats the chain. A friction of h beta / 2 times the noise's
    covariance removes this heat where it arises, and the thermostat removes the remainder. Batches
    have to be independent, `kg.minibatch(..., order="random")`: the noise of batches in an epoch is
    anticorrelated, and its heat is smaller.

    Parameters
    ----------
    step_size
        h.
    friction
        A, the friction that belongs to the added noise.
    thermal_mass
        mu, the inertia of the thermostat; by default the number of free coordinates.
    forgetting
        kappa, the weight of the newest estimate of the covariance, from 0 to 1. By default it is 1
        / t at step t, which gives the mean of all estimates. If the noise depends on the position,
        give a constant, so that old estimates are forgotten.
    covariance
        "diagonal", or "full": a matrix, which costs an eigenvalue decomposition per step.
    inverse_temperature
        beta.

    Examples
    --------
    >>> import numpy as np, kinetograph as kg
    >>> y = kg.data(np.random.default_rng(1).normal(size=1000), "y")
    >>> mu = kg.normal(0.0, 10.0, name="mu")
    >>> likelihood = kg.observe(y, kg.student(5, mu, 1.0))
    >>> noisy = kg.minibatch(kg.model(mu), 20)
    >>> chain = kg.chain(noisy, kg.samplers.CCAdL(step_size=0.005), seed=1)
    >>> chain.step(100).sample_stats["thermostat"].shape
    (100,)

    Source: X. Shang et al., NIPS 2015.
    """

    step_size = hyper(0.01, positive=True, scalar=True)
    friction = hyper(1.0, positive=True, scalar=True)
    thermal_mass = hyper(None, positive=True, scalar=True)
    forgetting = hyper(None, above=0, upper=1, scalar=True)
    covariance = hyper("diagonal", choices=("diagonal", "full"))
    inverse_temperature = hyper(1.0, positive=True, scalar=True)

    def init(self, at: Point) -> dict[str, Any]:
        """Draw momenta at the temperature; the estimated noise begins at 0."""
        p = self.noise("momentum", like=at.q) / sqrt(self.inverse_temperature)
        shape = at.q.shape * (2 if self.covariance == "full" else 1)
        return {"p": p, "xi": 1.0 * self.friction, "noise": np.zeros(shape)}

    def controlled(self, p: Any, noise: Any) -> Any:
        """The momenta after half a step of the friction against the noise."""
        rate = 0.25 * self.step_size**2 * self.inverse_temperature
        if self.covariance == "diagonal":
            return exp(-rate * noise) * p
        size, axes = np.linalg.eigh(noise)
        return axes @ (exp(-rate * size) * (axes.T @ p))

    def step(self, at: Point, p: Any, xi: Any, noise: Any) -> Any:
        """Make one step."""
        h, beta, size = self.step_size, self.inverse_temperature, at.q.size
        mass = size if self.thermal_mass is None else self.thermal_mass
        p = self.controlled(p, noise) - 0.5 * h * at.gradient
        q = at.q + 0.5 * h * p
        xi = xi + 0.5 * h * (sum_of(p * p) - size / beta) / mass
        spread = where(xi == 0, 2 * h, -expm1(-2 * xi * h) / where(xi == 0, 1.0, xi))
        added = sqrt(self.friction / beta * spread) * self.noise("O", like=p)
        p = exp(-xi * h) * p + added
        xi = xi + 0.5 * h * (sum_of(p * p) - size / beta) / mass
        self.record("thermostat", xi)
        full = self.covariance == "full"
        at, newest = self.evaluate_with_covariance(q + 0.5 * h * p, full=full)
        weight = 1.0 / (1.0 + self.iteration) if self.forgetting is None else self.forgetting
        noise = noise + weight * (newest - noise)
        p = self.controlled(p - 0.5 * h * at.gradient, noise)
        self.record("kinetic_energy", 0.5 * sum_of(p * p))
        record_noise(self, added)
        return at, {"p": p, "xi": xi, "noise": noise}
