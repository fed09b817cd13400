"""Exact identities between averages of a discrete scheme, for any smooth potential.

A stationary mean does not change over a step. Written out for q^2 and q.p, this relates the virial
q.grad U to mean squares that are recorded inside of the step. The relation is exact at any stable
step size, in any number of dimensions. A misplaced half kick or a wrong amount of noise violates it
by far more than the Monte Carlo error, even if no moment of the target is known.
"""

import math
from typing import Any

import numpy as np

from ..graph.public import public
from .estimates import as_draws, mean_test
from .outcomes import MeanTest

__all__ = ["virial_identity"]

_RECORDS = {
    "SGLD": ("gradient_square",),
    "GLA1": ("after_kick",),
    "GLA2": ("after_kick",),
    "BAOAB": ("after_kick", "after_friction"),
}


@public
def virial_identity(
    scheme: str,
    virial: Any,
    *,
    step_size: float,
    friction: float = 1.0,
    inverse_temperature: float = 1.0,
    dimension: int = 1,
    gradient_square: Any = None,
    after_kick: Any = None,
    after_friction: Any = None,
) -> MeanTest:
    """Test the discrete virial identity of a scheme.

    The mean of the difference between the identity's two sides must be 0. With V = <q.grad U> at
    the step's q, a = exp(-friction h), and mean squares of M^(-1/2) p:

    - SGLD: V = N / beta + (h/2) <|grad U|^2>
    - GLA1 (BAO): V = (1 + a) P / 2, with P after the kick
    - GLA2 (BABO): V = P, with P after the first half kick
    - BAOAB: V = (1 - a) / (4 (1 + a)) ((1 + 2a) P + R) + (a P + R) / 2, with P after the first
      half kick and R after the friction

    Parameters
    ----------
    scheme
        "SGLD", "GLA1", "GLA2" or "BAOAB".
    virial
        Draws of q.grad U, of shape (chain, draw): the sum over all coordinates, or the product of
        one coordinate.
    step_size, friction, inverse_temperature, dimension
        h, gamma, beta, and N, the number of coordinates in the sum.
    gradient_square, after_kick, after_friction
        Draws of |grad U|^2 and of p.M^-1 p at these points of the step, of shape (chain, draw),
        over the same coordinates. Give the draws that the scheme's line
        above needs.

    Examples
    --------
    >>> import numpy as np
    >>> from kinetograph import laws
    >>> h, U = 0.3, laws.cosine
    >>> rng, q, rows = np.random.default_rng(1), np.zeros(1000), []
    >>> for _ in range(300):
    ...     g = U.gradient(q)
    ...     rows.append((q * g, g * g))
    ...     q = q - h * g + np.sqrt(2 * h) * rng.normal(size=1000)
    >>> virial, square = np.moveaxis(np.array(rows)[50:], 0, -1)
    >>> laws.virial_identity("SGLD", virial, step_size=h, gradient_square=square).passed()
    True
    """
    if scheme not in _RECORDS:
        raise ValueError(
            f"kg.laws.virial_identity: there is no identity for {scheme!r}; choose one of "
            f"{', '.join(_RECORDS)}"
        )
    given = {
        "gradient_square": gradient_square,
        "after_kick": after_kick,
        "after_friction": after_friction,
    }
    required = _RECORDS[scheme]
    if tuple(name for name, value in given.items() if value is not None) != required:
        raise ValueError(
            f"kg.laws.virial_identity: {scheme} takes {' and '.join(required)} and the virial"
        )
    v, *squares = (
        as_draws(x, "virial_identity") for x in (virial, *(given[name] for name in required))
    )
    if any(x.shape != v.shape for x in squares):
        shapes = ", ".join(str(x.shape) for x in (v, *squares))
        raise ValueError(f"kg.laws.virial_identity: the draws have different shapes: {shapes}")
    a = math.exp(-friction * step_size)
    right: np.ndarray
    if scheme == "SGLD":
        right = dimension / inverse_temperature + 0.5 * step_size * squares[0]
    elif scheme == "GLA1":
        right = 0.5 * (1 + a) * squares[0]
    elif scheme == "GLA2":
        right = squares[0]
    else:
        p, r = squares
        right = (1 - a) / (4 * (1 + a)) * ((1 + 2 * a) * p + r) + 0.5 * (a * p + r)
    return mean_test(v - right, 0.0)
