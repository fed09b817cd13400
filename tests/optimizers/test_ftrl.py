"""Follow the regularised leader."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kinetograph as kg


def reference(x, gradient, steps, rate, initial):
    """The point that minimises g . x + sum of s_i (x - x_i)**2 / 2, found from all steps anew."""
    points, gradients, scales = [], [], []
    squares = np.full_like(x, initial)
    for _ in range(steps):
        g = gradient(x)
        scales.append((np.sqrt(squares + g * g) - np.sqrt(squares)) / rate)
        squares = squares + g * g
        points.append(x)
        gradients.append(g)
        # What is left of the first scale pulls to 0.
        total = np.sqrt(initial) / rate + sum(scales)
        x = (sum(s * p for s, p in zip(scales, points)) - sum(gradients)) / total
    return x


def test_steps_are_those_of_the_paper():
    def gradient(x):
        return np.array([1.0, 4.0]) * (x - np.array([1.0, -2.0]))

    with jax.enable_x64(True):
        transformation = kg.optimizers.ftrl(0.7, initial_accumulator=0.2).make(0.7)
        x = jnp.asarray([3.0, 0.5])
        state = transformation.init(x)
        for _ in range(6):
            step, state = transformation.update(gradient(x), state, x)
            x = x + step
    expected = reference(np.array([3.0, 0.5]), gradient, 6, 0.7, 0.2)
    np.testing.assert_allclose(x, expected, rtol=1e-12)


def test_bad_settings():
    with pytest.raises(ValueError, match="initial_accumulator must be positive"):
        kg.optimizers.ftrl(initial_accumulator=0.0)
    with pytest.raises(ValueError, match=r"power must be negative or 0, got 0.5"):
        kg.optimizers.ftrl(power=0.5)
    with pytest.raises(TypeError, match="must be a number, got a schedule"):
        kg.optimizers.ftrl(lambda step: 0.1)
