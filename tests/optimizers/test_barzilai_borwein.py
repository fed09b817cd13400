"""The rates of Barzilai and Borwein."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.optimizers.models import CENTRE, SCALE, quadratic

import kinetograph as kg
from kinetograph.optimizers.barzilai_borwein import barzilai_borwein

CURVATURE = 1 / SCALE**2


def reference(x, rate, steps):
    """The same in NumPy, on the quadratic model."""
    gradient = CURVATURE * (x - CENTRE)
    for _ in range(steps):
        new = x - rate * gradient
        turned = CURVATURE * (new - CENTRE) - gradient
        rate = abs((new - x) @ turned) / (turned @ turned)
        x, gradient = new, gradient + turned
    return x


@pytest.mark.filterwarnings("ignore::kinetograph.ConvergenceWarning")
def test_a_quadratic_step_by_step_and_faster_than_any_rate():
    start, model, errors = np.array([4.0, 1.0]), quadratic(), []
    for steps in (1, 2, 3, 5, 8):
        fit = kg.opt(model, "barzilai_borwein", initial=start, max_iterations=steps, tolerance=0.0)
        assert fit.iterations == steps
        np.testing.assert_allclose(fit["x"], reference(start, 0.01, steps), atol=1e-12)
        errors.append(np.linalg.norm(fit["x"] - CENTRE) ** (1 / steps))
    # R-superlinear: the k-th root of the k-th error goes to 0.
    assert errors[-1] < errors[-2] / 2 < errors[2] / 4


def steps(*gradients, moved=1.0):
    """The rates that follow gradients met at points one `moved` apart, from a first rate of 0.1."""
    with jax.enable_x64(True):
        transformation = barzilai_borwein(0.1).make(0.1)
        free = jnp.zeros(2)
        state = transformation.init(free)
        rates = []
        for gradient in gradients:
            step, state = transformation.update(jnp.asarray(gradient), state, free)
            rates.append(float(state.rate))
            np.testing.assert_allclose(step, -rates[-1] * np.asarray(gradient))
            free = free + moved
        return rates


def test_guards():
    assert steps([1.0, 1.0], [3.0, 3.0]) == pytest.approx([0.1, 0.5])
    # A gradient that stays keeps the last rate.
    assert steps([1.0, 1.0], [3.0, 3.0], [3.0, 3.0]) == pytest.approx([0.1, 0.5, 0.5])
    assert steps([1.0, 1.0], [3.0, 3.0], [3.0, 3.0 + 1e-14]) == pytest.approx([0.1, 0.5, 0.5])
    # Below 1e-10 it is the first again, above 1e10 it is 1.
    assert steps([1.0, 1.0], [3.0, 3.0], [1e12, 1e12]) == pytest.approx([0.1, 0.5, 0.1])
    assert steps([1.0, 1.0], [1.0, 1.0 + 1e-9], moved=1e3) == pytest.approx([0.1, 1.0])


def test_bad_settings():
    with pytest.raises(ValueError, match="learning_rate must be positive"):
        kg.optimizers.barzilai_borwein(0.0)
    with pytest.raises(TypeError, match="does not take a schedule"):
        kg.optimizers.barzilai_borwein(lambda step: 0.1)
