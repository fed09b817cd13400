"""The Gaussian random walk."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..bits.source import Source
from ..graph.errors import ShapeError
from ..graph.numerics.special import divide
from ..graph.source import place_text
from .declaration import Chosen, declared
from .family import Family
from .moments import Moments
from .normal import HALF_LOG_2PI
from .numbers import nan_unless, possible, reals
from .parameter import Parameter, spread
from .zero_sum_normal import length_of

__all__ = ["draw", "random_walk"]


def _terms(x: Any, sd: Any, drift: Any, init_mean: Any, init_sd: Any) -> tuple[Any, ...]:
    first = divide(x[..., 0] - init_mean, init_sd)
    steps = divide(jnp.diff(x, axis=-1) - drift[..., None], sd[..., None])
    constant = (x.shape[-1] - 1) * jnp.log(sd) + x.shape[-1] * HALF_LOG_2PI
    return -0.5 * (first * first + jnp.sum(steps * steps, -1)), -jnp.log(init_sd), -constant


def draw(source: Source, sd: Any, drift: Any, init_mean: Any, init_sd: Any) -> Any:
    """Draw cumulative sums of the first value and of normal steps."""
    parameters = reals(source, sd, drift, init_mean, init_sd)
    sd, drift, init_mean, init_sd = (p[..., None] for p in parameters)
    z = source.normal()
    first = init_mean + init_sd * z[..., :1]
    steps = drift + sd * z[..., 1:]
    value = jnp.cumsum(jnp.concatenate([first, steps], -1), -1)
    return nan_unless(possible(drift, sd) & possible(init_mean, init_sd), value)


def _moments(sd: Any, drift: Any, init_mean: Any, init_sd: Any, event: tuple[int, ...]) -> Moments:
    sd, drift, init_mean, init_sd = (p[..., None] for p in (sd, drift, init_mean, init_sd))
    steps = np.arange(event[0])
    return init_mean + drift * steps, init_sd * init_sd + sd * sd * steps


RANDOM_WALK = Family(
    "random_walk",
    (spread("sd"), Parameter("drift"), Parameter("init_mean"), spread("init_sd")),
    _terms,
    event_ndim=1,
    draw=draw,
    moments=_moments,
)


@declared(
    RANDOM_WALK,
    draws="Gaussian random walks, along the last axis.",
    aliases={"": "gaussianrandomwalk"},
    advice={
        "steps": "give dim=steps + 1, the number of values",
        "init_dist": "give init_mean= and init_sd= of the first value",
        "innovation_dist": (
            "steps are normal, with sd= and drift=; for other steps write kg.cumsum(steps)"
        ),
    },
    same={"sd": "scale sigma", "dim": "num_steps", "drift": "mu"},
)
def random_walk(
    sd: Any = 1.0,
    dim: int | None = None,
    *,
    drift: Any = 0.0,
    init_mean: Any = 0.0,
    init_sd: Any = None,
    shape: Any = None,
    dims: Any = None,
    drawn: bool = False,
) -> Chosen:
    """A Gaussian random walk along the last axis: its steps are normal.

        x_1 ~ normal(init_mean, init_sd)
        x_t ~ normal(x_(t-1) + drift, sd),  t = 2 .. dim

    Parameters
    ----------
    sd
        Standard deviation of a step, above zero.
    dim
        The number of values, at least 2; by default the last length of `shape` or of `dims`.
    drift
        Mean of a step, the same for all steps. For a drift that changes, add
        `kg.concatenate([[0.0], kg.cumsum(drifts)])` to a walk without one.
    init_mean, init_sd
        Mean and standard deviation of the first value; the latter is `sd` if not given.

    Raises
    ------
    ShapeError
        If `dim` is below 2, or the length is not known; if `drift` has a number for each step and
        `shape` does not ask for as many walks.

    Examples
    --------
    >>> import kinetograph as kg
    >>> level = kg.random_walk(kg.half_normal(1), 100, init_sd=10, name="level")
    >>> level.shape
    (100,)
    """
    parameters = (sd, drift, init_mean, sd if init_sd is None else init_sd)
    length = length_of(dim, "random_walk", 2, shape, dims, drawn)
    shapes = [np.shape(p) for p in (sd, init_mean, init_sd) if p is not None]
    several = any(isinstance(axes, (tuple, list)) and len(axes) > 1 for axes in (shape, dims))
    if not several and np.shape(drift) not in shapes:
        _check_drift(np.shape(drift), length[0])
    return Chosen(RANDOM_WALK, parameters, length)


def _check_drift(sizes: tuple[int, ...], length: int) -> None:
    """Refuse a drift that looks like one number for each step (ShapeError)."""
    if sizes in ((length - 1,), (length,)) and sizes != (1,):
        raise ShapeError(
            f"random_walk: drift has shape {sizes}, which means {sizes[0]} walks of {length} values"
            f"{place_text()}; a walk whose drift changes is kg.random_walk(sd, {length}) + "
            "kg.concatenate([[0.0], kg.cumsum(drift)]), with a drift for each step; for "
            f"{sizes[0]} walks give shape={(sizes[0], length)}"
        )
