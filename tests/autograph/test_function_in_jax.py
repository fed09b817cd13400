"""Staged functions in other JAX programs: arguments and results of any structure."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import kinetograph as kg


@kg.function
def steps(p, n):
    s, i = p["a"], 0
    while i < n:
        if s > 3:
            s = s * 0.5 + p["b"].sum()
        else:
            s = s * s + 1.0
        i += 1
    return {"s": s, "trips": i}


def plain(a, b, n):
    s = a
    for _ in range(n):
        s = s * 0.5 + b.sum() if s > 3 else s * s + 1.0
    return s


P = {"a": 2.0, "b": np.array([0.1, 0.2])}


def test_structures_under_jit_and_grad():
    out = jax.jit(steps)(P, 5)
    np.testing.assert_allclose(out["s"], plain(**P, n=5), rtol=1e-6)
    assert out["trips"] == 5
    assert out["trips"].dtype == np.int32
    slopes = jax.jit(jax.grad(lambda p, n: steps(p, n)["s"]))(P, 5)
    h = 1e-6
    forward, backward = plain(2.0 + h, P["b"], 5), plain(2.0 - h, P["b"], 5)
    np.testing.assert_allclose(slopes["a"], (forward - backward) / (2 * h), rtol=1e-5)
    forward, backward = plain(2.0, P["b"] + h, 5), plain(2.0, P["b"] - h, 5)
    np.testing.assert_allclose(slopes["b"], [(forward - backward) / (4 * h)] * 2, rtol=1e-5)


def test_rows_of_a_batch_make_trips_of_their_own():
    trips = jnp.arange(5)
    found = jax.jit(jax.vmap(lambda n: steps(P, n)["s"]))(trips)
    np.testing.assert_allclose(found, [plain(**P, n=n) for n in range(5)], rtol=1e-6)


def test_one_graph_for_traced_and_known_arrays():
    @kg.function
    def double(x):
        return x * 2

    double(1.5)
    for x in (jnp.float32(1.5), np.float64(1.5)):
        assert jax.jit(double)(x) == 3
        assert double(x) == 3
    assert isinstance(double(jnp.float32(1.5)), jax.Array)
    assert double.traces == 1


def test_static_results_and_methods():
    class Scale:
        factor = 3.0

        @kg.function
        def __call__(self, x):
            return "text", self.factor * x, None

        @kg.function
        def noisy(self, x):
            return x + kg.random.normal()

    scale = Scale()
    text, found, none = scale(jnp.float32(2.0))
    assert (text, float(found), none) == ("text", 6.0, None)
    assert jax.grad(lambda x: scale(x)[1])(2.0) == 3
    scale.noisy.trace(1.0)
    states = scale.noisy.state.copy()
    first, after = scale.noisy.pure(states, 1.0)
    second, _ = scale.noisy.pure(after, 1.0)
    assert first != second
    np.testing.assert_allclose([first, second], [scale.noisy(1.0), scale.noisy(1.0)], rtol=1e-6)


def test_draws_are_refused_by_the_functions_name():
    @kg.function
    def noisy(x):
        return x + kg.random.normal()

    with pytest.raises(kg.ModelError, match=r"noisy is called .* noisy\.pure\(states"):
        jax.jit(noisy)(1.0)
    with pytest.raises(kg.ModelError, match="no value of stream"):
        noisy.pure(kg.function(lambda x: x).state.copy(), 1.0)


def test_lifted_functions_call_staged_ones_and_staged_ones_lifted():
    @kg.function
    def halved(x):
        while x > 1:
            x = x / 2
        return x

    lifted = kg.lift(lambda v: halved(v) + 1)

    @kg.function
    def outer(x):
        if x > 0:
            x = lifted(x)
        return x, kg.gradients(x, x)

    assert outer(6.0)[0] == 1.75
    x = kg.placeholder(name="x")
    f = kg.compile(x, [lifted(x), kg.gradients(lifted(x), x)])
    assert [float(v) for v in f(6.0)] == [1.75, 0.125]


def test_an_optimizers_update_is_lifted_with_its_state():
    optimizer = optax.sgd(0.5, momentum=0.5)
    update = kg.lift(lambda g, s, p: optimizer.update(g, s, p))

    @kg.function
    def descend(p, n):
        velocity = p * 0
        i = 0
        while i < n:
            moved, after = update(2 * p, optimizer.init(jnp.zeros(2)), p)
            p = p + moved
            velocity = after[0].trace
            i += 1
        return p, velocity

    p, velocity = descend(np.array([1.0, 2.0]), 1)
    np.testing.assert_allclose(p, 0)
    np.testing.assert_allclose(velocity, [2, 4])
