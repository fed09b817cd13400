"""Settings of the optimisers that go step by step."""

import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kinetograph as kg

DEFAULTS = {
    "gradient_descent": 0.01,
    "adam": 0.1,
    "adagrad": 0.8,
    "adadelta": 0.001,
    "adamax": 0.1,
    "nadam": 0.1,
    "rmsprop": 0.1,
    "adamw": 0.1,
}


def first_step(optimizer, gradient):
    with jax.enable_x64(True):
        transformation = optimizer.make(optimizer.learning_rate)
        free = jnp.zeros(len(gradient))
        step, _ = transformation.update(jnp.asarray(gradient), transformation.init(free), free)
        return np.asarray(step)


def test_defaults_known_to_users_of_greta():
    for name, rate in DEFAULTS.items():
        signature = inspect.signature(getattr(kg.optimizers, name))
        assert signature.parameters["learning_rate"].default == rate
    assert inspect.signature(kg.optimizers.adadelta).parameters["rho"].default == 1


def test_first_steps_from_their_equations():
    g = np.array([2.0, -0.5])
    near = {"rtol": 1e-6}  # of the epsilons in denominators
    np.testing.assert_allclose(first_step(kg.optimizers.gradient_descent(), g), -0.01 * g)
    nesterov = kg.optimizers.gradient_descent(0.1, momentum=0.5, nesterov=True)
    np.testing.assert_allclose(first_step(nesterov, g), -0.1 * 1.5 * g)
    np.testing.assert_allclose(first_step(kg.optimizers.adam(), g), -0.1 * np.sign(g), **near)
    np.testing.assert_allclose(first_step(kg.optimizers.adamax(), g), -0.1 * np.sign(g), **near)
    adagrad = -0.8 * g / np.sqrt(0.1 + g * g)
    np.testing.assert_allclose(first_step(kg.optimizers.adagrad(), g), adagrad, **near)
    np.testing.assert_allclose(first_step(kg.optimizers.adadelta(), g), -0.001 * g, **near)
    rmsprop = -0.1 * np.sign(g) / np.sqrt(0.1)
    np.testing.assert_allclose(first_step(kg.optimizers.rmsprop(), g), rmsprop, **near)


BAD = [
    (lambda o: o.adam(0.0), ValueError, "adam: learning_rate must be positive and finite, got 0"),
    (lambda o: o.adam(float("inf")), ValueError, "adam: learning_rate must be positive and finite"),
    (lambda o: o.nadam("0.1"), TypeError, "nadam: learning_rate must be a number or a schedule"),
    (lambda o: o.adam(b1=1.0), ValueError, r"adam: b1 must be in \[0, 1\), got 1"),
    (lambda o: o.adamax(b2=None), TypeError, "adamax: b2 must be a number"),
    (lambda o: o.adamw(weight_decay=-1.0), ValueError, "adamw: weight_decay must be in"),
    (lambda o: o.rmsprop(decay=2.0), ValueError, "rmsprop: decay must be in"),
    (lambda o: o.adadelta(rho=1.5), ValueError, "adadelta: rho must be in"),
    (
        lambda o: o.adagrad(initial_accumulator=0),
        ValueError,
        "initial_accumulator must be positive",
    ),
    (lambda o: o.gradient_descent(momentum=1.0), ValueError, "momentum must be in"),
    (lambda o: o.lbfgs(memory=0), ValueError, "lbfgs: memory must be a whole number"),
]


@pytest.mark.parametrize(("make", "error", "text"), BAD)
def test_bad_settings(make, error, text):
    with pytest.raises(error, match=text):
        make(kg.optimizers)
