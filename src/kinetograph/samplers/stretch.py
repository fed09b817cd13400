"""Stretch: an ensemble's walkers move along the lines between them.

    q' = q_j + z (q_k - q_j),  z = ((a - 1) u + 1)^2 / a,  u uniform on (0, 1)
    accepted with probability min(1, z^(N - 1) exp(-beta (U(q') - U(q_k))))

for each k of one half of the walkers, with j of the other half; then the halves change roles.

Samples  exp(-beta U), exactly, with the same efficiency in all coordinates that are affine maps of
         each other
Cost     no gradient, except for observables that are computed from it
Source   J. Goodman, J. Weare, Ensemble samplers with affine invariance, Communications in Applied
         Mathematics and Computational Science 5 (2010) 65-80; D. Foreman-Mackey et al., emcee,
         Publications of the Astronomical Society of the Pacific 125 (2013) 306-312 (the halves).
"""

from typing import Any

from ..graph.functions.mathematics import log
from ..graph.public import public
from .ensemble import Ensemble
from .hyper import hyper

__all__ = ["Stretch"]


@public
class Stretch(Ensemble):
    """The affine-invariant ensemble sampler: walkers move along the lines between them.

        q' = q_j + z (q_k - q_j),  z = ((a - 1) u + 1)^2 / a,  u uniform on (0, 1)
        accepted with probability min(1, z^(N - 1) exp(-beta (U(q') - U(q_k))))

    The sampler needs neither gradients nor tuning, for any scales and correlations. It is good for
    few unknowns; for many unknowns NUTS is much better.

    Parameters
    ----------
    walkers
        The number of walkers: even, and at least twice the number of free coordinates. Each walker
        is a chain of the results.
    inverse_temperature
        beta.
    stretch
        a: the distance to the other walker changes by at most this factor.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.normal(1.0, 2.0)
    >>> stretch = kg.samplers.Stretch(walkers=10)
    >>> tree = kg.mcmc(kg.model(x), stretch, seed=1, progress=False)
    >>> tree["posterior"].sizes["chain"]
    40
    >>> bool(abs(tree["posterior"]["x"].mean() - 1.0) < 0.2)
    True

    Source: J. Goodman, J. Weare, Communications in Applied Mathematics and Computational Science 5
    (2010).
    """

    walkers = hyper(40, lower=4, static=True)
    stretch = hyper(2.0, above=1, scalar=True)

    def propose(self, q: Any, others: Any) -> tuple[Any, Any]:
        """Propose moves along the lines to walkers of the other half."""
        half, size = q.shape
        a, u = self.stretch, self.noise.uniform(shape=half, name="stretch")
        z = ((a - 1) * u + 1) ** 2 / a
        partner = others[self.pick(half, "partner")]
        return partner + z[:, None] * (q - partner), (size - 1) * log(z)
