"""The normal distribution of vectors whose elements add up to zero."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..bits.source import Source
from ..graph.dims import last_length
from ..graph.errors import ShapeError
from ..graph.numerics.special import divide
from ..graph.source import place_text
from ..graph.value_texts import shown
from .declaration import Chosen, declared
from .family import Family
from .moments import Moments
from .normal import HALF_LOG_2PI
from .numbers import nan_unless, possible, reals
from .parameter import spread
from .support import ZeroSum

__all__ = ["draw", "length_of", "zero_sum_normal"]


def _terms(x: Any, sd: Any) -> tuple[Any, ...]:
    z = divide(x, sd[..., None])
    return -0.5 * jnp.sum(z * z, -1), -(x.shape[-1] - 1) * (jnp.log(sd) + HALF_LOG_2PI)


def draw(source: Source, sd: Any) -> Any:
    """Draw sd (z - mean(z)) with a standard normal vector z."""
    (sd,) = reals(source, sd)
    z = source.normal()
    value = sd[..., None] * (z - jnp.mean(z, -1, keepdims=True))
    return nan_unless(possible(0, sd)[..., None], value)


def _moments(sd: Any, event: tuple[int, ...]) -> Moments:
    sd = sd[..., None] * jnp.ones(event, sd.dtype)
    return jnp.zeros_like(sd), sd * sd * (1.0 - 1.0 / event[0])


ZERO_SUM_NORMAL = Family(
    "zero_sum_normal",
    (spread("sd"),),
    _terms,
    lambda sd: ZeroSum(),
    event_ndim=1,
    draw=draw,
    moments=_moments,
)


def length_of(
    dim: Any,
    name: str,
    least: int = 2,
    shape: Any = None,
    dims: Any = None,
    drawn: bool = False,
) -> tuple[int]:
    """The length of a vector, as a shape of one axis.

    It is `dim` or the last length of `shape` or `dims`. A draw without these has length 2.

    Raises
    ------
    ShapeError
        If the length is not known or is below `least`.
    """
    if dim is None and drawn and not shape:
        dim = 2
    if dim is None:
        sizes = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape or ())
        dim = sizes[-1] if sizes else last_length(dims)
        if dim is None:
            raise ShapeError(
                f"{name}: the length of the vector is not known{place_text()}; give it as dim=, "
                "or as the last element of shape= or of dims=, made by kg.dim"
            )
    if not isinstance(dim, (int, np.integer)) or dim < least:
        raise ShapeError(
            f"{name}: dim must be a whole number of at least {least}, got {shown(dim)}"
            f"{place_text()}; dim is the number of elements, and the second value by position"
        )
    return (int(dim),)


@declared(
    ZERO_SUM_NORMAL,
    draws="Normal numbers minus their mean, along the last axis.",
    aliases={"": "sumtozerovector"},
    same={"sd": "scale sigma"},
)
def zero_sum_normal(
    sd: Any = 1.0,
    dim: int | None = None,
    *,
    shape: Any = None,
    dims: Any = None,
    drawn: bool = False,
) -> Chosen:
    """Vectors of normal unknowns that add up to zero.

    Examples are the effects of groups around a separate mean.

        log p(x) = -|x|**2 / (2 sd**2) - (dim - 1) (log(sd) + log(2 pi) / 2),  sum x = 0

    Parameters
    ----------
    sd
        Scale, above zero; the standard deviation of an element is sd sqrt(1 - 1 / dim).
    dim
        The length of the vector, at least 2; by default the last length of `shape` or of `dims`.

    Raises
    ------
    ShapeError
        If `dim` is below 2, or the length is not known.

    Notes
    -----
    The density is that of dim - 1 coordinates along orthogonal directions of sum 0.

    Examples
    --------
    >>> import kinetograph as kg
    >>> effects = kg.zero_sum_normal(kg.half_normal(1), 5, name="effects")
    >>> effects.shape
    (5,)
    """
    return Chosen(ZERO_SUM_NORMAL, (sd,), length_of(dim, "zero_sum_normal", 2, shape, dims, drawn))
