"""Metropolis moves of an ensemble: each half in turn, proposed from the places of the other half.

    q' from q_k and the other half;  accepted with probability
    min(1, exp(log f - beta (U(q') - U(q_k))))

where f is the ratio of the densities of the proposals back and there. As nothing of a half depends
on its own places but the walker that moves, all its walkers move at once.
"""

from typing import Any

import numpy as np

from ..graph.functions.arranging import concatenate
from ..graph.functions.mathematics import floor, minimum
from ..graph.ranges import range
from ..kernels.contract import Kernel, Space
from .acceptance import is_accepted, probability, record_bad
from .hyper import hyper
from .points import Point
from .sampler import Sampler

__all__ = ["Ensemble"]

FLAT = 1e-8  # of the longest axis of the walkers' places: an axis so short is none


class Ensemble(Sampler):
    """The base of samplers whose moves are made of the walkers' places: they write `propose`."""

    walkers = hyper(40, lower=4, static=True)
    inverse_temperature = hyper(1.0, positive=True, scalar=True)

    def __init__(self, *values: Any, **settings: Any) -> None:
        super().__init__(*values, **settings)
        self._check_halves()

    def _check_halves(self) -> None:
        if self.walkers % 2:
            raise ValueError(
                f"{type(self).__name__}: walkers must be an even number, of which one half moves "
                f"after the other; got {self.walkers}"
            )

    def propose(self, q: Any, others: Any) -> tuple[Any, Any]:
        """Where each walker of a half would go, and log f."""
        raise NotImplementedError

    def pick(self, count: int, name: str) -> Any:
        """For each walker of a half a whole number below `count`."""
        u = self.noise.uniform(shape=self.walkers // 2, name=name)
        return minimum(floor(count * u).astype(int), count - 1)

    def kernel(self, space: Space) -> Kernel:
        """Its transition on a space; refuses one that is too large for the walkers."""
        self._check_halves()
        title, size = type(self).__name__, space.shape[-1]
        if self.walkers < 2 * size:
            raise ValueError(
                f"{title}: {self.walkers} walkers are too few for {size} free numbers; it takes at "
                f"least twice as many: {title}(walkers={2 * size})"
            )
        return super().kernel(space)

    def check_start(self, q: np.ndarray) -> None:
        """Walkers must not begin in a plane: their moves would never leave it."""
        if not np.isfinite(q).all():  # there is no density there, as the run will say
            return
        spread = q - q.mean(0)
        size = np.abs(spread).max(0)
        lengths = np.linalg.svd(spread / np.where(size > 0, size, 1.0), compute_uv=False)
        rank = int((lengths > FLAT * max(lengths.max(), FLAT)).sum()) if (size > 0).all() else 0
        if rank < q.shape[1]:
            raise ValueError(
                f"{type(self).__name__}: the {len(q)} starting points do not span the "
                f"{q.shape[1]} free numbers, and moves between them would never leave where they "
                "are; give them some spread, as in "
                f"initial=point + 1e-4 * rng.standard_normal(({len(q)}, {q.shape[1]}))"
            )

    def step(self, at: Point) -> Any:
        """Each half once."""
        half, beta = self.walkers // 2, self.inverse_temperature
        rate, gains, moved = 0 * at.potential, 0 * at.potential, at.potential < 0
        for _ in range(2):  # after two turns the halves are in their places again
            mine, others = at.split(half)
            q, log_factor = self.propose(mine.q, others.q)
            new = self.evaluate(q)
            gain = log_factor + beta * (mine.potential - new.potential)
            accepted = is_accepted(self, gain)
            at = others.join(new.where(accepted, mine))
            rate = concatenate([rate[half:], probability(gain)])
            gains = concatenate([gains[half:], gain])
            moved = concatenate([moved[half:], accepted])
        self.record("acceptance_rate", rate)
        self.record("accepted", moved)
        record_bad(self, gains)
        return at
