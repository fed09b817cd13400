"""RandomWalk: Metropolis with random steps from the present point.

    q' = q + h R,  R normal or uniform;  accepted with probability min(1, exp(-beta (U(q') - U(q))))

Samples  exp(-beta U), exactly
Cost     one gradient per step, for warm-up's metric; none with tune="step_size" or tune=()
Tuned    to an acceptance of 0.3 (0.44 is best for one unknown, 0.234 for many)
Source   N. Metropolis et al., Journal of Chemical Physics 21 (1953) 1087-1092; G. Roberts,
         A. Gelman, W. Gilks, Annals of Applied Probability 7 (1997) 110-120.
"""

from typing import Any

from ..graph.public import public
from .acceptance import is_accepted, probability, record_bad
from .hyper import hyper
from .sampler import Point, Sampler

__all__ = ["RandomWalk"]


@public
class RandomWalk(Sampler):
    """Random-walk Metropolis.

        q' = q + h R;  accepted with probability min(1, exp(-beta (U(q') - U(q))))

    Parameters
    ----------
    step_size
        h; the initial value if warm-up tunes it.
    target_acceptance
        The mean acceptance probability to which warm-up tunes the step size.
    inverse_temperature
        beta.
    proposal
        "normal", or "uniform" on (-1, 1).

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.normal(1.0, 2.0)
    >>> walk = kg.samplers.RandomWalk()
    >>> tree = kg.mcmc(kg.model(x), walk, draws=5000, seed=1, progress=False)
    >>> bool(abs(tree["posterior"]["x"].mean() - 1.0) < 0.2)
    True

    Source: N. Metropolis et al., Journal of Chemical Physics 21 (1953) 1087-1092.
    """

    step_size = hyper(1.0, positive=True)
    target_acceptance = hyper(0.3, above=0, below=1, scalar=True)
    inverse_temperature = hyper(1.0, positive=True, scalar=True)
    proposal = hyper("normal", choices=("normal", "uniform"))
    tunes = ("step_size", "scale")

    def step(self, at: Point) -> Any:
        """Make one proposal, which is accepted or rejected."""
        if self.proposal == "normal":
            move = self.noise("proposal", like=at.q)
        else:
            move = self.noise.uniform(-1.0, 1.0, at.q.shape, name="proposal")
        new = self.evaluate(at.q + self.step_size * move)
        gain = self.inverse_temperature * (at.potential - new.potential)
        self.record("acceptance_rate", probability(gain))
        record_bad(self, gain)
        accepted = is_accepted(self, gain)
        if accepted:
            at = new
        self.record("accepted", accepted)
        return at
