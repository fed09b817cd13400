"""Values and derivatives of functions of numbers to many digits, by mpmath."""

import jax
import jax.numpy as jnp
import mpmath as mp
import numpy as np

from kinetograph.graph.precision import x64

DIGITS = 60


def exact(reference, point, digits=DIGITS):
    """The value and partial derivatives of an mpmath function, as floats.

    Derivatives are finite differences, with steps relative to the argument and enough digits.
    """
    with mp.workdps(digits):
        numbers = [mp.mpf(float(x)) for x in point]
        value = reference(*numbers)
        slopes = []
        for i, x in enumerate(numbers):

            def along(h, i=i, x=x):
                return reference(*(x + h if j == i else y for j, y in enumerate(numbers)))

            step = mp.mpf(10) ** (-digits // 3) * (abs(x) if x else 1)
            slopes.append((along(step) - along(-step)) / (2 * step))
        return float(value), [float(s) for s in slopes]


def computed(function, points):
    """The values and partial derivatives of a function of tensors at points."""

    @jax.jit
    def run(*columns):
        value, back = jax.vjp(function, *columns)
        return [value, *back(jnp.ones_like(value))]

    with x64():
        columns = [jnp.asarray(c, float) for c in zip(*points, strict=True)]
        return [np.asarray(a) for a in run(*columns)]


def compare(function, reference, points, rtol=1e-10, atol=0.0, digits=DIGITS):
    """Compare values and partial derivatives of a function of tensors with mpmath's."""
    value, *slopes = computed(function, points)
    for row, point in enumerate(points):
        right, right_slopes = exact(reference, point, digits)
        found = [value[row], *(s[row] for s in slopes)]
        np.testing.assert_allclose(found, [right, *right_slopes], rtol, atol, err_msg=str(point))
