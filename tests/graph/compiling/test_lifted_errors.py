"""Errors about missing derivatives: the function's name, line and advice."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kinetograph as kg


@jax.custom_vjp
def squared(x):
    return x * x


squared.defvjp(lambda x: (x * x, x), lambda x, ct: (2 * x * ct,))


def doubled_up(x):
    return jax.lax.while_loop(lambda v: v < 100, lambda v: 2 * v, x)


def on_the_host(x):
    return jax.pure_callback(np.sin, jax.ShapeDtypeStruct((), jnp.float64), x)


def loop(x):
    return kg.while_loop(lambda v: v < 100, lambda v: kg.lift(squared)(v), [x], 5)[0]


X = kg.placeholder(name="x")
REFUSED = {
    "forward": (
        lambda: kg.jvp(kg.lift(squared)(X) * X, X, 1.0),
        r"squared\(x\) .*test_lifted_errors.py:\d+.*forward mode .*kg.gradients \(twice",
    ),
    "hessian of a loop": (lambda: kg.hessian(loop(X), X), r"squared\(v\) .*forward mode"),
    "reverse of JAX's loop": (
        lambda: kg.gradients(kg.lift(doubled_up)(X), X),
        r"doubled_up\(x\) .*reverse mode .*kg.while_loop",
    ),
    "host": (lambda: kg.gradients(kg.lift(on_the_host)(X), X), "'on_the_host' .*custom_jvp"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    make, message = REFUSED[name]
    with pytest.raises(kg.DerivativeError, match=message):
        kg.compile([X], make())(3.0)


def test_ways_out():
    y = kg.lift(squared)(X) * X
    first = kg.gradients(loop(X), X)
    f = kg.compile([X], [kg.gradients(kg.gradients(y, X), X), kg.gradients(first, X)])
    assert [float(v) for v in f(3.0)] == [18.0, 8 * 7 * 3.0**6]


def test_gradient_of_a_model():
    mu = kg.normal(0, 1, name="mu")
    y = kg.data(1.0)
    kg.observe(y, kg.normal(kg.lift(doubled_up)(mu), 1.0))
    with pytest.raises(kg.DerivativeError, match=r"doubled_up\(mu\) .*reverse mode"):
        kg.model(mu).gradient([1.0])


def test_an_array_that_was_not_given_is_named():
    scale = kg.data(2.0)
    with pytest.raises(kg.SymbolicError, match="reads scale, which are kinetograph arrays"):
        kg.lift(lambda v: scale * v)(X)
    with pytest.raises(kg.SymbolicError, match=r"reads scale, .* pass them as arguments"):
        kg.lift(lambda p: {"a": p["a"] * scale})({"a": X})
    f = kg.compile([X], kg.lift(lambda v, scale: scale * v)(X, scale))
    assert f(3.0) == 6.0
