"""Differential evolution: walkers move by the differences of other walkers.

    q' = q_k + gamma (q_a - q_b) + eps R,  gamma = 2.38 / sqrt(2 N), sometimes 1
    accepted with probability min(1, exp(-beta (U(q') - U(q_k))))

for each k of one half of the walkers, with a and b of the other half; then the halves change roles.
With gamma = 1 a walker jumps from one mode to another, if a and b are in these modes.

Samples  exp(-beta U), exactly; with eps = 0 with the same efficiency in all coordinates that are
         affine maps of each other
Cost     no gradient, except for observables that are computed from it
Source   C. ter Braak, A Markov chain Monte Carlo version of the genetic algorithm Differential
         Evolution, Statistics and Computing 16 (2006) 239-249; halves as in D. Foreman-Mackey et
         al., Publications of the Astronomical Society of the Pacific 125 (2013) 306-312.
"""

import math
from typing import Any

from ..graph.functions.mathematics import where
from ..graph.public import public
from .ensemble import Ensemble
from .hyper import hyper

__all__ = ["DifferentialEvolution"]


@public
class DifferentialEvolution(Ensemble):
    """Metropolis moves of an ensemble by the differences of its walkers.

        q' = q_k + gamma (q_a - q_b) + eps R
        accepted with probability min(1, exp(-beta (U(q') - U(q_k))))

    Parameters
    ----------
    walkers
        The number of walkers: even, and at least twice the number of free coordinates. Each walker
        is a chain of the results.
    inverse_temperature
        beta.
    gamma
        The factor of the difference; by default 2.38 / sqrt(2 N).
    jumps
        The share of the proposals with gamma = 1.
    epsilon
        The standard deviation of the normal noise, small compared with the target's.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.normal(1.0, 2.0)
    >>> evolution = kg.samplers.DifferentialEvolution(walkers=10)
    >>> tree = kg.mcmc(kg.model(x), evolution, seed=1, progress=False)
    >>> bool(abs(tree["posterior"]["x"].mean() - 1.0) < 0.2)
    True

    Source: C. ter Braak, Statistics and Computing 16 (2006).
    """

    walkers = hyper(40, lower=4, static=True)
    gamma = hyper(None, positive=True, scalar=True)
    jumps = hyper(0.1, lower=0, upper=1, scalar=True)
    epsilon = hyper(1e-4, lower=0)

    def propose(self, q: Any, others: Any) -> tuple[Any, Any]:
        """Propose moves by the difference of two walkers of the other half."""
        half, size = q.shape
        first, second = self.pick(half, "pair"), self.pick(half - 1, "pair")
        second = where(second < first, second, second + 1)  # never equal to `first`
        gamma = 2.38 / math.sqrt(2 * size) if self.gamma is None else self.gamma
        jump = self.noise.uniform(shape=half, name="jump") < self.jumps
        gamma = where(jump, 1.0, gamma)[:, None]
        moved = q + gamma * (others[first] - others[second])
        return moved + self.epsilon * self.noise("noise", like=q), 0.0
