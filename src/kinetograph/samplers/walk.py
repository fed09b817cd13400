"""Walk: walkers move by noise with the covariance of other walkers.

    q' = q_k + h / sqrt(|S| - 1) sum_{j of S} R_j (q_j - mean_S)
    accepted with probability min(1, exp(-beta (U(q') - U(q_k))))

for each k of one half of the walkers, with S a random subset of the other half; then the halves
change roles. Given S the step is normal, with h^2 times the covariance of the walkers in S.

Samples  exp(-beta U), exactly, with the same efficiency in all coordinates that are affine maps of
         each other
Cost     no gradient, except for observables that are computed from it
Tuned    to an acceptance of 0.3
Source   J. Goodman, J. Weare, Ensemble samplers with affine invariance, Communications in Applied
         Mathematics and Computational Science 5 (2010) 65-80, section 2.
"""

from typing import Any

from ..graph.functions.arranging import sort
from ..graph.functions.mathematics import sqrt
from ..graph.functions.reductions import sum as sum_of
from ..graph.public import public
from .ensemble import Ensemble
from .hyper import hyper

__all__ = ["Walk"]


@public
class Walk(Ensemble):
    """Metropolis moves of an ensemble with the covariance of other walkers.

        q' = q_k + h / sqrt(|S| - 1) sum_{j of S} R_j (q_j - mean_S)
        accepted with probability min(1, exp(-beta (U(q') - U(q_k))))

    Parameters
    ----------
    step_size
        h; the initial value if warm-up tunes it.
    target_acceptance
        The mean acceptance probability to which warm-up tunes the step size.
    walkers
        The number of walkers: even, and at least twice the number of free coordinates. Each walker
        is a chain of the results.
    inverse_temperature
        beta.
    subset
        The number of walkers in S, which is drawn for each move; by default S is the other half.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.normal(1.0, 2.0)
    >>> tree = kg.mcmc(kg.model(x), kg.samplers.Walk(walkers=10), seed=1, progress=False)
    >>> bool(abs(tree["posterior"]["x"].mean() - 1.0) < 0.2)
    True

    Source: J. Goodman, J. Weare, Communications in Applied Mathematics and Computational Science 5
    (2010).
    """

    walkers = hyper(40, lower=4, static=True)
    step_size = hyper(1.0, positive=True, scalar=True)
    target_acceptance = hyper(0.3, above=0, below=1, scalar=True)
    subset = hyper(None, static=True)
    tunes = ("step_size",)

    def __init__(self, *values: Any, **settings: Any) -> None:
        super().__init__(*values, **settings)
        s, half = self.subset, self.walkers // 2
        if s is not None and not (type(s) is int and 2 <= s <= half):
            raise ValueError(
                f"{type(self).__name__}: subset must be a whole number from 2 to half the walkers, "
                f"{half}; got {s!r}"
            )

    def propose(self, q: Any, others: Any) -> tuple[Any, Any]:
        """Propose moves by noise with the covariance of a subset."""
        half, s = q.shape[0], self.subset or q.shape[0]
        centred = others - sum_of(others, axis=0) / half
        weights = self.noise("walk", shape=(half, half))
        if s < half:
            u = self.noise.uniform(shape=(half, half), name="subset")
            chosen = u <= sort(u, axis=1)[:, s - 1 : s]
            # The sum of R_j (q_j - mean_S), with the mean subtracted from the weights instead.
            weights = chosen * (weights - sum_of(chosen * weights, axis=1, keepdims=True) / s)
        else:
            weights = weights - sum_of(weights, axis=1, keepdims=True) / s
        return q + self.step_size / sqrt(s - 1.0) * (weights @ centred), 0.0
