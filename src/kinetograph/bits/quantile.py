"""The standard normal quantile, by Wichura's AS 241 (PPND16).

The relative error is about 1e-16.

Source: M. J. Wichura, Algorithm AS 241: the percentage points of the normal distribution,
Applied Statistics 37 (1988) 477-484.
"""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

__all__ = ["quantile", "upper_quantile"]

# Coefficients of AS 241, highest power first: near the centre, in the tails, far in the tails.
_CENTRE = (
    (2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4,
     4.5921953931549871457e4, 1.3731693765509461125e4, 1.9715909503065514427e3,
     1.3314166789178437745e2, 3.3871328727963666080e0),
    (5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4,
     2.1213794301586595867e4, 5.3941960214247511077e3, 6.8718700749205790830e2,
     4.2313330701600911252e1, 1.0),
)  # fmt: skip
_TAIL = (
    (7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1,
     1.27045825245236838258e0, 3.64784832476320460504e0, 5.76949722146069140550e0,
     4.63033784615654529590e0, 1.42343711074968357734e0),
    (1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2,
     1.48103976427480074590e-1, 6.89767334985100004550e-1, 1.67638483018380384940e0,
     2.05319162663775882187e0, 1.0),
)  # fmt: skip
_FAR = (
    (2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3,
     2.65321895265761230930e-2, 2.96560571828504891230e-1, 1.78482653991729133580e0,
     5.46378491116411436990e0, 6.65790464350110377720e0),
    (2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5,
     7.86869131145613259100e-4, 1.48753612908506148525e-2, 1.36929880922735805310e-1,
     5.99832206555887937690e-1, 1.0),
)  # fmt: skip


def _ratio(coefficients: tuple[tuple[float, ...], tuple[float, ...]], x: Any) -> Any:
    numerator, denominator = (_horner(c, x) for c in coefficients)
    return numerator / denominator


def _horner(coefficients: tuple[float, ...], x: Any) -> Any:
    # lax functions, because operators take several times as long to trace.
    multiply, add = (np.multiply, np.add) if isinstance(x, np.ndarray) else (lax.mul, lax.add)
    first, second, *remaining = (np.asarray(c, x.dtype)[()] for c in coefficients)
    value: Any = add(multiply(x, first), second)
    for c in remaining:
        value = add(multiply(value, x), c)
    return value


def upper_quantile(tail: Any, library: Any = jnp, far: bool = True) -> Any:
    """The quantile z >= 0 of an upper tail probability.

    P(Z > z) = tail for a standard normal Z and tail in (0, 1/2]. `library` is jax.numpy or numpy.
    With `far=False` no tail probability may be below exp(-25), which is 1.4e-11.
    """
    near = tail >= 0.075
    centred = 0.5 - tail
    centre = centred * _ratio(_CENTRE, 0.180625 - centred * centred)
    r = library.sqrt(-library.log(library.where(near, 0.5, tail)))
    outer = _ratio(_TAIL, r - 1.6)
    if far:
        outer = library.where(r <= 5.0, outer, _ratio(_FAR, r - 5.0))
    return library.where(near, centre, outer)


def quantile(p: Any, library: Any = jnp) -> Any:
    """The standard normal quantile of p in (0, 1).

    `library`, jax.numpy or numpy, computes it.
    """
    value = upper_quantile(library.minimum(p, 1.0 - p), library)
    return library.where(p < 0.5, -value, value)
