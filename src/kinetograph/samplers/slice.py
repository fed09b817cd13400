"""Slice sampling, one coordinate of the free state after the other.

    level      h = log pi(x) + log u,  u uniform on (0, 1): the slice is {x' : log pi(x') >= h}
    stepping   an interval of length w around x, at a random place, grows at either end by w as long
               as that end is in the slice, at most m - 1 times in all, shared at random
    shrinkage  x' uniform on the interval; if it is outside the slice it becomes the new end on its
               side of x, and another is drawn

or, with `doubling=True`, by intervals that double: see `doubling.py`.

Samples  pi^beta, exactly; beta is 1 unless it is given.
Cost     about 5 log densities a coordinate and no gradient; one gradient a transition, for warm-up.
Source   R. Neal, Slice sampling, Annals of Statistics 31 (2003) 705-767, figures 3 to 6.
"""

from typing import Any

import numpy as np

from ..graph.functions.mathematics import floor, log1p, where
from ..graph.ranges import range
from .doubling import TINY, sweep
from .hyper import hyper
from .sampler import Point, Sampler

__all__ = ["Slice"]


class Slice(Sampler):
    """Slice sampling, one coordinate of the free state after the other.

    Takes no step that has to be tuned and no gradient to move; the scales of the coordinates are
    set by warm-up. Good for few unknowns and for densities with kinks; where unknowns are many or
    strongly correlated, NUTS is better.

    Parameters
    ----------
    width
        The width of the first interval, in scales of the coordinate (a standard deviation, if it
        is normal).
    max_steps
        An interval grows to at most so many widths.
    doubling
        Whether an interval doubles, to a random side, where it does not reach out of the slice. It
        then finds its length in few evaluations where `width` is far too small; each proposal is
        tested for whether it would have led to the same interval, which takes more.
    max_doublings
        At most so many times: an interval grows to at most 2**max_doublings widths.
    inverse_temperature
        beta.

    Raises
    ------
    TypeError, ValueError
        If a setting is out of its range.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.gamma(3.0, 2.0)
    >>> model = kg.model(x)
    >>> tree = kg.mcmc(model, kg.samplers.Slice(), draws=500, chains=2, seed=1, progress=False)
    >>> bool(abs(tree["posterior"]["x"].mean() - 1.5) < 0.2)
    True

    Source: R. Neal, Slice sampling, Annals of Statistics 31 (2003) 705-767.
    """

    width = hyper(3.0, positive=True)
    max_steps = hyper(100, lower=1, scalar=True)
    doubling = hyper(False, choices=(False, True))
    max_doublings = hyper(5, lower=1, scalar=True)
    inverse_temperature = hyper(1.0, positive=True, scalar=True)
    tunes = ("scale",)

    def step(self, at: Point) -> Point:
        """Each coordinate once. Intervals are measured in widths, from x."""
        if self.doubling:
            q, taken, tried = sweep(self, at)
            self.record("acceptance_rate", at.q.shape[0] / tried)
            self.record("n_evaluations", taken + tried)
            return self.evaluate(q)
        beta = self.inverse_temperature
        x, log_p, size = at.q, -beta * at.potential, at.q.shape[0]
        evaluations: Any = 0
        proposals: Any = 0
        for i in range(size):
            along = where(np.arange(size) == i, self.width, 0.0)
            level = log_p + log1p(-self._uniform())
            left = -self._uniform()
            right = left + 1
            to_left = floor(self.max_steps * self._uniform()).astype(int)
            to_right = self.max_steps - 1 - to_left
            evaluations = evaluations + self.max_steps + 1
            while -beta * self.potential(x + left * along) > level and to_left > 0:
                left = left - 1
                to_left = to_left - 1
            while -beta * self.potential(x + right * along) > level and to_right > 0:
                right = right + 1
                to_right = to_right - 1
            evaluations = evaluations - to_left - to_right

            offset, found = 0.0, log_p - np.inf
            while found < level and right - left > TINY:
                offset = left + (right - left) * self._uniform()
                found = -beta * self.potential(x + offset * along)
                proposals = proposals + 1
                if offset < 0:
                    left = offset
                else:
                    right = offset
            if found < level:  # an interval that closed around x
                offset, found = 0.0, log_p
            x = x + offset * along
            log_p = found
        self.record("acceptance_rate", size / proposals)
        self.record("n_evaluations", evaluations + proposals)
        return self.evaluate(x)

    def _uniform(self) -> Any:
        return self.noise.uniform(name="slice")
