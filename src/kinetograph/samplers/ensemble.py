"""Metropolis moves of an ensemble: each half in turn.

    q' is proposed from q_k and the positions of the other half, and accepted with probability
    min(1, exp(log f - beta (U(q') - U(q_k))))

where f is the density of the reverse proposal divided by the density of the proposal. A move
depends on no other walker of the same half, so all walkers of a half move at once.
"""

from typing import Any

import numpy as np

from ..graph.functions.arranging import concatenate
from ..graph.functions.mathematics import floor, minimum
from ..graph.public import public
from ..graph.ranges import range
from ..kernels.contract import Space, TransitionKernel
from .acceptance import is_accepted, probability, record_bad
from .hyper import hyper
from .points import Point
from .sampler import Sampler

__all__ = ["Ensemble"]

FLAT = 1e-8  # relative to the longest axis of the walkers' positions; shorter axes count as 0


@public
class Ensemble(Sampler):
    """The base class of ensemble samplers; a subclass defines `propose`."""

    walkers = hyper(40, lower=4, static=True)
    inverse_temperature = hyper(1.0, positive=True, scalar=True)

    def __init__(self, *values: Any, **settings: Any) -> None:
        super().__init__(*values, **settings)
        self._check_halves()

    def _check_halves(self) -> None:
        if self.walkers % 2:
            raise ValueError(
                f"{type(self).__name__}: walkers must be an even number, because one half moves "
                f"after the other; got {self.walkers}"
            )

    def propose(self, q: Any, others: Any) -> tuple[Any, Any]:
        """The proposed positions of a half of the walkers, and log f."""
        raise NotImplementedError

    def pick(self, count: int, name: str) -> Any:
        """A random whole number below `count` for each walker of a half."""
        u = self.noise.uniform(shape=self.walkers // 2, name=name)
        return minimum(floor(count * u).astype(int), count - 1)

    def kernel(self, space: Space) -> TransitionKernel:
        """The kernel of this sampler on a space.

        Raises
        ------
        ValueError
            If there are too few walkers for the size of the space.
        """
        self._check_halves()
        title, size = type(self).__name__, space.shape[-1]
        if self.walkers < 2 * size:
            raise ValueError(
                f"{title}: {self.walkers} walkers are too few for {size} free numbers; there "
                f"must be at least twice as many: {title}(walkers={2 * size})"
            )
        return super().kernel(space)

    def check_start(self, q: np.ndarray) -> None:
        """Refuse walkers in a common plane, which their moves never leave."""
        if not np.isfinite(q).all():  # the run reports that the density is 0 there
            return
        spread = q - q.mean(0)
        size = np.abs(spread).max(0)
        lengths = np.linalg.svd(spread / np.where(size > 0, size, 1.0), compute_uv=False)
        rank = int((lengths > FLAT * max(lengths.max(), FLAT)).sum()) if (size > 0).all() else 0
        if rank < q.shape[1]:
            raise ValueError(
                f"{type(self).__name__}: the {len(q)} starting points do not span the "
                f"{q.shape[1]} free numbers, and moves between them would never leave their "
                "plane; give them some spread, as in "
                f"initial=point + 1e-4 * rng.standard_normal(({len(q)}, {q.shape[1]}))"
            )

    def step(self, at: Point) -> Any:
        """Move each half once."""
        half, beta = self.walkers // 2, self.inverse_temperature
        rate, gains, has_moved = 0 * at.potential, 0 * at.potential, at.potential < 0
        for _ in range(2):  # after two moves the halves are in their order again
            moving, resting = at.split(half)
            q, log_factor = self.propose(moving.q, resting.q)
            new = self.evaluate(q)
            gain = log_factor + beta * (moving.potential - new.potential)
            accepted = is_accepted(self, gain)
            at = resting.join(new.where(accepted, moving))
            rate = concatenate([rate[half:], probability(gain)])
            gains = concatenate([gains[half:], gain])
            has_moved = concatenate([has_moved[half:], accepted])
        self.record("acceptance_rate", rate)
        self.record("accepted", has_moved)
        record_bad(self, gains)
        return at
