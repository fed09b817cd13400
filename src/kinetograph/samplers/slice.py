"""Slice sampling, one coordinate of the free state after the other.

    level      h = log pi(x) + log u,  u uniform on (0, 1): the slice is {x' : log pi(x') >= h}
    stepping   an interval of length w, placed at random around x, grows at either end by w as long
               as that end is in the slice; at most m - 1 times, divided at random among the ends
    shrinkage  x' is uniform on the interval; if it is outside of the slice it becomes the new end
               on its side of x, and another x' is drawn

With `doubling=True` the intervals double instead: see `doubling.py`.

Samples  pi^beta, exactly; beta is 1 by default
Cost     about 5 log densities per coordinate and no gradient; one gradient per transition, for
         warm-up
Source   R. Neal, Slice sampling, Annals of Statistics 31 (2003) 705-767, figures 3 to 6.
"""

from typing import Any

import numpy as np

from ..graph.functions.mathematics import floor, log1p, where
from ..graph.public import public
from ..graph.ranges import range
from .doubling import TINY, sweep
from .hyper import hyper
from .sampler import Point, Sampler

__all__ = ["Slice"]


@public
class Slice(Sampler):
    """Slice sampling, one coordinate of the free state after the other.

    The sampler needs neither a tuned step size nor gradients; warm-up sets the scales of the
    coordinates. It is good for few unknowns and for densities with kinks. For many or strongly
    correlated unknowns NUTS is better.

    Parameters
    ----------
    width
        The width of the first interval, in scales of the coordinate (for a normal distribution,
        standard deviations).
    max_steps
        The largest length of an interval, in widths.
    doubling
        Whether an interval doubles, to a random side, until both ends are outside of the slice. It
        then finds its length in few evaluations even if `width` is far too small. On the other hand
        each proposal is tested for whether it could have led to the same interval, which takes
        further evaluations.
    max_doublings
        The largest number of doublings: an interval grows to at most 2**max_doublings widths.
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
        """Update each coordinate once. Intervals are measured from x, in widths."""
        if self.doubling:
            q, n_evaluated, n_proposed = sweep(self, at)
            self.record("acceptance_rate", at.q.shape[0] / n_proposed)
            self.record("n_evaluations", n_evaluated + n_proposed)
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

            offset, log_p_new = 0.0, log_p - np.inf
            while log_p_new < level and right - left > TINY:
                offset = left + (right - left) * self._uniform()
                log_p_new = -beta * self.potential(x + offset * along)
                proposals = proposals + 1
                if offset < 0:
                    left = offset
                else:
                    right = offset
            if log_p_new < level:  # the interval has closed around x
                offset, log_p_new = 0.0, log_p
            x = x + offset * along
            log_p = log_p_new
        self.record("acceptance_rate", size / proposals)
        self.record("n_evaluations", evaluations + proposals)
        return self.evaluate(x)

    def _uniform(self) -> Any:
        return self.noise.uniform(name="slice")
