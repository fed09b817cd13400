"""Unknowns that are shifted and scaled by other unknowns.

An unknown with location m and scale s, which depend on other unknowns, has the free numbers x. A
sampler may move y instead,

    x = m + s^(1 - c) (y - c m)         y has the prior location c m and scale s^c

c = 1 is the centred form, y = x; c = 0 is the non-centred form, in which y is x in units of s from
m. Any c between them gives the same posterior of x: log |dx / dy| = (1 - c) log s belongs to the
density of y. An unknown z that is written non-centred, as m + s z, has the coordinates

    z = s^(-c) (y - c m),  log |dz / dy| = -c log s

Source   O. Papaspiliopoulos, G. Roberts, M. Skold, Statistical Science 22 (2007) 59-73; M.
         Gorinova, D. Moore, M. Hoffman, Automatic reparameterisation of probabilistic programs,
         ICML 2020.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from ..distributions.variable import Variable
from ..graph.node import Apply, Node, ancestors
from ..graph.operations.elementwise import WHERE
from ..graph.rewriting.slopes import FINITE
from .hierarchies import LOCATION_SCALE, ScaledUnknown, has_log_form, is_real

if TYPE_CHECKING:
    from .model import Model

__all__ = [
    "Shift",
    "centred",
    "finite",
    "has_finite_slopes",
    "in_choices",
    "log_scale",
    "non_centred",
    "power",
    "shifted",
    "unshifted",
]


class Shift(NamedTuple):
    """The location and the scale of an unknown's free numbers."""

    location: Node | None  # None: 0
    scale: Node
    centred: bool  # the form in which the unknown is written

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes from which the map is computed."""
        return (self.scale,) if self.location is None else (self.location, self.scale)


def in_choices(model: "Model") -> set[Node]:
    """The nodes that are computed for a side of a `where`."""
    nodes = ancestors([*model.component.nodes, *model.density.nodes])
    choices = [n for n in nodes if isinstance(n, Apply) and n.operation is WHERE]
    return set(ancestors([side for choice in choices for side in choice.parents[1:]]))


def has_finite_slopes(shift: Shift) -> bool:
    """Whether location and scale have finite slopes wherever they are finite."""
    above = ancestors(shift.nodes)
    return all(n.operation in FINITE for n in above if isinstance(n, Apply))


def centred(unknown: Variable) -> Shift | None:
    """The location and scale by which an unknown is distributed."""
    distribution = unknown.distribution
    if distribution is None or distribution.family.key not in LOCATION_SCALE:
        return None
    fits = has_log_form if distribution.family.key == "lognormal" else is_real
    if not fits(unknown):
        return None
    location, scale, _ = LOCATION_SCALE[distribution.family.key]
    return Shift(distribution.arguments[location], distribution.arguments[scale], True)


def non_centred(product: ScaledUnknown) -> Shift | None:
    """The addend and the factor of an unknown, element by element.

    If the product has only some elements of the unknown, as z[group] has, the addend and the factor
    must be single numbers.
    """
    unknown = product.unknown
    if not is_real(unknown):
        return None
    shape = unknown.shape if product.factor is unknown else ()

    def fits(node: Node) -> bool:
        return len(node.shape) <= len(shape) and all(
            k in (1, n) for k, n in zip(node.shape[::-1], shape[::-1], strict=False)
        )

    if not fits(product.scale):
        return None
    location = product.location
    if location is not None and not fits(location):
        location = None
    return Shift(location, product.scale, False)


def finite(m: Any) -> Any:
    """The location; 0 where it is not finite."""
    return jnp.where(jnp.isfinite(m), m, 0.0)


def log_scale(s: Any) -> Any:
    """log |s|; 0 for scales of 0, inf and NaN.

    The maps are one to one for any positive scales, so 1 may take the place of these values.
    """
    size = jnp.abs(s)
    usable = (size >= jnp.finfo(size.dtype).tiny) & jnp.isfinite(size)
    return jnp.log(jnp.where(usable, size, 1.0))


def power(c: Any, log_s: Any, centred: np.ndarray) -> Any:
    """log dx / dy; exactly 0 for the form that is written."""
    return jnp.where(c == centred, 0.0, (centred - c) * log_s)


def shifted(y: Any, c: Any, m: Any, log_s: Any, centred: np.ndarray) -> tuple[Any, Any]:
    """x of y, and the sum of log dx / dy."""
    log_stretch = power(c, log_s, centred)
    stretch = jnp.exp(log_stretch)
    return stretch * y + m * (centred - c * stretch), jnp.sum(log_stretch)


def unshifted(x: Any, c: Any, m: Any, log_s: Any, centred: np.ndarray) -> Any:
    """y of x."""
    shrink = jnp.exp(-power(c, log_s, centred))
    return shrink * x + m * (c - centred * shrink)
