"""Slice sampling, one coordinate of the free state after the other.

    level      h = log pi(x) + log u,  u uniform on (0, 1): the slice is {x' : log pi(x') >= h}
    stepping   an interval of length w around x, at a random place, grows at either end by w as long
               as that end is in the slice, at most m - 1 times in all, shared at random
    shrinkage  x' uniform on the interval; if it is outside the slice it becomes the new end on its
               side of x, and another is drawn

Samples  pi, exactly.
Cost     about 5 log densities a coordinate and no gradient; one gradient a transition, for warm-up.
Source   R. Neal, Slice sampling, Annals of Statistics 31 (2003) 705-767, figures 3 and 5.
"""

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from ..autograph.lazily import convert_lazily
from ..graph.functions import log, where
from ..graph.mathematics import floor
from ..graph.ranges import range
from ..streams.draws import one_uniform
from .protocol import Info, Noise, Position, Statistic, Tuned
from .staged import call_staged, operation

__all__ = ["Slice"]

_DRAW = 1  # the purpose of a transition's random numbers
TINY = 2.0**-40  # of the width: an interval as short as this holds x alone


class _Moved(NamedTuple):
    position: Position
    evaluations: Any
    proposals: Any
    finished: Any


@convert_lazily
def sweep(x: Any, log_p: Any, widths: Any, steps: int, log_density: Any, uniform: Any) -> Any:
    """Each coordinate once: the new x, and how many densities and proposals it took.

    `uniform(n)` is random number n of the transition. Intervals are measured in widths, from x.
    """
    draws: Any = 0
    evaluations: Any = 0
    proposals: Any = 0
    order = np.arange(x.shape[0])
    for i in range(x.shape[0]):
        along = where(order == i, widths, 0.0)
        level = log_p + log(uniform(draws))
        left = -uniform(draws + 1)
        right = left + 1
        to_left = floor(steps * uniform(draws + 2)).astype(int)
        to_right = steps - 1 - to_left
        draws = draws + 3
        evaluations = evaluations + steps + 1
        while log_density(x + left * along) > level and to_left > 0:
            left = left - 1
            to_left = to_left - 1
        while log_density(x + right * along) > level and to_right > 0:
            right = right + 1
            to_right = to_right - 1
        evaluations = evaluations - to_left - to_right

        offset, found = 0.0, log_p - np.inf
        while found < level and right - left > TINY:
            offset = left + (right - left) * uniform(draws)
            found = log_density(x + offset * along)
            draws = draws + 1
            proposals = proposals + 1
            if offset < 0:
                left = offset
            else:
                right = offset
        if found < level:  # an interval that closed around x
            offset, found = 0.0, log_p
        x = x + offset * along
        log_p = found
    return x, evaluations + proposals, proposals


@dataclass(frozen=True)
class Slice:
    """Slice sampling, one coordinate of the free state after the other.

    Takes no step that has to be tuned and no gradient to move; the widths of the coordinates are
    set by warm-up. Good for few unknowns and for densities with kinks; where unknowns are many or
    strongly correlated, NUTS is better.

    Parameters
    ----------
    width
        The width of the first interval, in scales of the coordinate (a standard deviation, if it
        is normal).
    max_steps
        An interval grows to at most so many widths.

    Raises
    ------
    ValueError
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

    width: float = 3.0
    max_steps: int = 100

    target_acceptance = None
    tunes_scale = True
    uses_density = True
    statistics = (
        Statistic("lp", float, "joint log density of the free state"),
        Statistic("acceptance_rate", float, "share of the proposals that lay in the slice"),
        Statistic("n_evaluations", int, "log densities evaluated to move"),
    )

    def __post_init__(self) -> None:
        if not (self.width > 0 and np.isfinite(self.width)):
            raise ValueError(f"Slice: width must be positive, got {self.width}")
        whole = isinstance(self.max_steps, (int, np.integer))
        if isinstance(self.max_steps, bool) or not whole or self.max_steps < 1:
            raise ValueError(
                f"Slice: max_steps must be a whole number of at least 1, got {self.max_steps!r}"
            )

    @property
    def initial_step_size(self) -> float:
        """The width; it stays as it is."""
        return self.width

    def settings(self) -> dict[str, Any]:
        """The settings, for the record."""
        return asdict(self)

    def begin(self, position: Position, tuned: Tuned, noise: Noise, log_density: Any) -> _Moved:
        """The whole move, whose end is the only point that is asked for."""
        dtype = position.q.dtype

        def uniform(lane: Any) -> Any:
            high, low, *_ = noise.words(_DRAW, lane)
            return one_uniform(high, low).astype(dtype)

        def move(x: Any, log_p: Any, widths: Any) -> Any:
            density = operation(log_density, "log_density", dtype)
            draw = operation(uniform, "uniform", dtype)
            return sweep(x, log_p, widths, int(self.max_steps), density, draw)

        widths = tuned.step_size * tuned.scale
        q, evaluations, proposals = call_staged(move, position.q, position.log_density, widths)
        return _Moved(position._replace(q=q), evaluations, proposals, jnp.array(False))

    def ask(self, state: _Moved, tuned: Tuned) -> Any:
        """Where the move ended."""
        return state.position.q

    def tell(self, state: _Moved, point: Position, tuned: Tuned, noise: Noise) -> _Moved:
        """The transition is over."""
        return state._replace(position=point, finished=jnp.array(True))

    def finished(self, state: _Moved) -> Any:
        """Whether the gradient at the end is known."""
        return state.finished

    def end(self, state: _Moved) -> tuple[Position, Info]:
        """The new position, and what the move took."""
        point = state.position
        share = point.q.shape[0] / jnp.maximum(state.proposals, 1)
        row = [jnp.asarray(v, point.q.dtype) for v in (point.log_density, share, state.evaluations)]
        return point, Info(share, 1, jnp.array(False), jnp.stack(row))
