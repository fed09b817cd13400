"""The centres of random starting points.

Starting points are uniform on (-2, 2) on the free scale. A prior whose parameters are known may lie
elsewhere: lognormal(-6, 1) has the free scale normal(-6, 1). If more than two scales of the prior
are between its location and this interval, the interval is moved to the location.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from ..distributions.variable import Variable
from ..graph.node import Data, Node
from .hierarchies import LOCATION_SCALE, has_log_form, is_real

if TYPE_CHECKING:
    from .model import Model

__all__ = ["HALF_WIDTH", "start_centres"]

HALF_WIDTH = 2.0
FAR = 2.0  # scales of the prior
# For families of positive numbers: the parameters a and b of the location log(a / b) on the free
# scale. Their scale there is taken as 1.
_POSITIVE = {
    "half_normal": ("sd", None),
    "half_cauchy": ("scale", None),
    "half_student": ("sigma", None),
    "exponential": (None, "rate"),
    "gamma": ("alpha", "rate"),
    "inverse_gamma": ("beta", "alpha"),
    "weibull": ("scale", None),
}


def start_centres(model: "Model") -> np.ndarray | None:
    """The centre of each free number; None if all are 0."""
    density = model.density
    centres = np.zeros(density.free_size)
    for unknown in density.unknowns:
        prior = _prior(unknown)
        if prior is None:
            continue
        shape = density.bijectors[unknown].free_shape
        location, scale = (np.broadcast_to(value, shape).ravel() for value in prior)
        far = np.isfinite(location) & (abs(location) - HALF_WIDTH > FAR * scale)
        centres[density.slices[unknown]] = np.where(far, location, 0.0)
    return centres if centres.any() else None


def _prior(unknown: Variable) -> tuple[Any, Any] | None:
    """Known location and scale of a prior on the free scale."""
    distribution = unknown.distribution
    if distribution is None:
        return None
    key, arguments = distribution.family.key, distribution.arguments
    if key in LOCATION_SCALE:
        fits = has_log_form if key == "lognormal" else is_real
        location, scale = (_constant_of(arguments[name]) for name in LOCATION_SCALE[key][:2])
        is_constant = location is not None and scale is not None
        return (location, scale) if fits(unknown) and is_constant else None
    if key not in _POSITIVE or not has_log_form(unknown):
        return None
    above, below = (
        1.0 if name is None else _constant_of(arguments[name]) for name in _POSITIVE[key]
    )
    if above is None or below is None:
        return None
    with np.errstate(divide="ignore", invalid="ignore"):  # the prior refuses such parameters
        return np.log(above) - np.log(below), 1.0


def _constant_of(node: Node) -> Any:
    """The number that a user has written; None for other arrays."""
    return np.asarray(node.value) if isinstance(node, Data) and node.literal else None
