"""MCLMC: microcanonical Langevin Monte Carlo, at constant speed.

    dq = u dt;  du = -(1 - u u^T) beta grad U / (N - 1) dt,  |u| = 1, and noise that turns u

One step is a leapfrog step, or a step of another integrator, between two turns of the direction:

    kick of time t     g = beta grad U, e = -g / |g|, d = t |g| / (N - 1), z = exp(-d), c = e u
                       u <- [e (1 - z)(1 + z + c (1 - z)) + 2 z u], normalised
    turn of time t     u <- u + n R, normalised,  n^2 = (exp(2 t / L) - 1) / N

Samples  a density that tends to exp(-beta U) with h -> 0; the variance of a step's energy error
         (recorded as `energy_error`), divided by N, measures the bias (5e-4 is usual)
Order    2
Cost     one gradient per step and stage of the integrator; leapfrog has one stage
Source   J. Robnik, G. De Luca, E. Silverstein, U. Seljak, Microcanonical Hamiltonian Monte Carlo,
         JMLR 24 (2023); J. Robnik, U. Seljak, arXiv:2303.18221.
"""

from typing import Any

import numpy as np

from ..graph.functions.mathematics import exp, expm1, log, logaddexp, sqrt, where
from ..graph.functions.reductions import sum as sum_of
from ..graph.public import public
from .hyper import hyper
from .integrators import integrator_hyper
from .sampler import Point, Sampler

__all__ = ["MCLMC", "kicked", "moved", "unit"]

LOG_2 = float(np.log(2.0))


@public
class MCLMC(Sampler):
    """Microcanonical Langevin Monte Carlo, unadjusted, for two or more coordinates.

    Parameters
    ----------
    step_size
        h, a length in the space of the unknowns.
    length
        L, the length after which the direction is forgotten. By default it is the square root of
        the number of coordinates.
    inverse_temperature
        beta.
    integrator
        The integrator of the steps at constant speed; see `HMC`.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.normal(0.0, 1.0, shape=10, name="x")
    >>> chain = kg.chain(kg.model(x), kg.samplers.MCLMC(step_size=0.5), seed=1)
    >>> chain.step(100).sample_stats["energy_error"].shape
    (100,)

    Source: J. Robnik et al., JMLR 24 (2023).
    """

    step_size = hyper(0.5, positive=True, scalar=True)
    length = hyper(None, positive=True, scalar=True)
    inverse_temperature = hyper(1.0, positive=True, scalar=True)
    integrator = integrator_hyper()

    def init(self, at: Point) -> dict[str, Any]:
        """Draw a direction."""
        if at.q.shape[0] < 2:
            raise ValueError(f"{type(self).__name__}: it needs two or more free numbers")
        return {"u": self.noise.sphere("direction", like=at.q)}

    def step(self, at: Point, u: Any) -> Any:
        """Make one step."""
        h, beta, before = self.step_size, self.inverse_temperature, at.potential
        u = self._turned(u, 0.5 * h)
        at, u, kinetic = moved(self, at, u, 0.0, h)
        u = self._turned(u, 0.5 * h)
        self.record("energy_error", kinetic + beta * at.potential - beta * before)
        return at, {"u": u}

    def _turned(self, u: Any, t: Any) -> Any:
        """The direction after a random turn of time t."""
        size = u.shape[0]
        length = sqrt(1.0 * size) if self.length is None else self.length
        return unit(u + sqrt(expm1(2 * t / length) / size) * self.noise("turn", like=u))


def moved(
    sampler: Any, at: Point, u: Any, kinetic: Any, h: Any, *, reversibly: bool = False
) -> tuple[Point, Any, Any]:
    """Make a step of the integrator at constant speed.

    Returns the point, the direction and the kinetic energy. With `reversibly` the energy is
    infinite after a kick that cannot be reversed because of rounding.
    """
    beta = sampler.inverse_temperature

    def kick(moving: Any, gradient: Any, t: Any) -> Any:
        u, change, is_irreversible = kicked(moving[0], beta * gradient, t)
        return u, moving[1] + (where(is_irreversible, np.inf, change) if reversibly else change)

    start, velocity = (u, kinetic), lambda moving: moving[0]
    at, (u, kinetic) = sampler.integrator.motion(sampler, at, start, h, kick, velocity)
    return at, u, kinetic


def kicked(u: Any, gradient: Any, t: Any) -> tuple[Any, Any, Any]:
    """The direction after a kick, and the change of kinetic energy.

    Also returns whether rounding makes the kick, of time t, irreversible. It multiplies tan^2 of
    half the angle between u and e by exp(-2 d). If this angle is within rounding errors of pi
    before the kick, or of 0 after it, the direction does not determine it, so neither the reverse
    kick nor the energy is right.
    """
    size = u.shape[0]
    norm = sqrt(sum_of(gradient * gradient))
    e = where(norm > 0, -gradient / where(norm > 0, norm, 1.0), u)
    delta = t * norm / (size - 1)
    # (1 + c) and (1 - c) without cancellation if u is parallel or antiparallel to e.
    with_e, against = 0.5 * sum_of((e + u) ** 2), 0.5 * sum_of((e - u) ** 2)
    zeta = exp(-delta)
    turned = e * ((1 - zeta) * (with_e + zeta * against)) + 2 * zeta * u
    change = (size - 1) * (logaddexp(log(with_e) + delta, log(against) - delta) - LOG_2)
    least = (100 * np.finfo(u.dtype).eps) ** 2
    is_irreversible = (with_e < least) | (against * zeta * zeta < least * with_e) & (zeta < 0.5)
    return unit(turned), change, is_irreversible


def unit(u: Any) -> Any:
    """The unit vector in the direction of a vector."""
    return u / sqrt(sum_of(u * u))
