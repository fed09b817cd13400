"""MAMS: the Metropolis-adjusted microcanonical sampler.

    u uniform on the sphere;  n steps of length h at constant speed (MCLMC's, without its turns);
    accepted with probability min(1, exp(-sum of the steps' energy errors))

Samples  exp(-beta U), exactly
Cost     n times the number of the integrator's stages in gradients, with n near L / h
Tuned    to an acceptance of 0.9
Source   J. Robnik, R. Cohn-Gordon, U. Seljak, Metropolis adjusted microcanonical Hamiltonian Monte
         Carlo, arXiv:2503.01707.
"""

from typing import Any

from ..graph.functions.mathematics import floor, maximum, minimum, sqrt
from ..graph.public import public
from .acceptance import divergent, is_accepted, probability, record_bad
from .hyper import hyper
from .integrators import integrator_hyper
from .mclmc import moved
from .sampler import Point, Sampler

__all__ = ["MAMS"]


@public
class MAMS(Sampler):
    """The Metropolis-adjusted microcanonical sampler, for two or more coordinates.

    Parameters
    ----------
    step_size
        h; the initial value if warm-up tunes it.
    length
        L, the length of a trajectory, in scales of the coordinates. By default it is the square
        root of the number of coordinates.
    target_acceptance
        The mean acceptance probability to which warm-up tunes the step size.
    path_jitter
        j: a trajectory's length is uniform between L (1 - j) and L (1 + j).
    most_steps
        The largest number of steps of a trajectory.
    inverse_temperature
        beta.
    integrator
        The integrator of the steps at constant speed; see `HMC`.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.normal(1.0, 2.0, shape=3)
    >>> tree = kg.mcmc(kg.model(x), kg.samplers.MAMS(), draws=2000, seed=1, progress=False)
    >>> bool(abs(tree["posterior"]["x"].mean() - 1.0) < 0.2)
    True

    Source: J. Robnik, R. Cohn-Gordon, U. Seljak, arXiv:2503.01707.
    """

    step_size = hyper(0.5, positive=True, scalar=True)
    length = hyper(None, positive=True, scalar=True)
    target_acceptance = hyper(0.9, above=0, below=1, scalar=True)
    path_jitter = hyper(0.5, lower=0, below=1, scalar=True)
    most_steps = hyper(1000, lower=1, scalar=True)
    inverse_temperature = hyper(1.0, positive=True, scalar=True)
    integrator = integrator_hyper()
    tunes = ("step_size", "scale")

    def step(self, at: Point) -> Any:
        """Make a trajectory, which is accepted or rejected."""
        size = at.q.shape[0]
        if size < 2:
            raise ValueError(f"{type(self).__name__}: it needs two or more free numbers")
        h, beta = self.step_size, self.inverse_temperature
        length = sqrt(1.0 * size) if self.length is None else self.length
        stretch = 1 + self.path_jitter * self.noise.uniform(-1.0, 1.0, name="path")
        rounded = floor(minimum(length * stretch / h + 0.5, 1.0 * self.most_steps))
        count = maximum(1, rounded.astype(int))
        u = self.noise.sphere("direction", like=at.q)
        start, kinetic, i = at, 0.0, 0
        while i < count:
            at, u, kinetic = moved(self, at, u, kinetic, h, reversibly=True)
            i = i + 1
        error = kinetic + beta * at.potential - beta * start.potential
        accepted = is_accepted(self, -error)
        if not accepted:
            at = start
        self.record("acceptance_rate", probability(-error))
        self.record("accepted", accepted)
        self.record("n_steps", count)
        self.record("energy_error", error)
        self.record("diverging", divergent(error))
        record_bad(self, error)
        return at
