"""Compiled functions in other JAX programs, compared with JAX itself."""

import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kinetograph as kg


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def powers():
    """Compute x w^n by a loop of unknown length.

    n is the smallest number for which the result is at least 100.
    """
    x, w = kg.placeholder(name="x"), kg.placeholder(name="w")
    (y,) = kg.while_loop(lambda v: v < 100, lambda v: v * w, [x])
    return kg.compile([x, w], y)


POWERS = powers()
W = jnp.array([2.0, 3.0, 1.05, 20.0])
N = np.array([6, 4, 81, 2])  # trips from x = 2


def of_base(w):
    return POWERS(2.0, w)


def agree(found, order):
    w = np.asarray(W, float)
    falling = [1, N, N * (N - 1)][order]
    np.testing.assert_allclose(found, 2 * falling * w ** (N - order), rtol=1e-6)  # float32


def test_a_loop_of_unknown_length_its_gradient_and_hessian():
    values, slopes = jax.jit(jax.vmap(jax.value_and_grad(of_base)))(W)
    agree(values, 0)
    agree(slopes, 1)
    agree(jax.jit(jax.vmap(jax.jacfwd(of_base)))(W), 1)
    assert jax.jit(jax.hessian(of_base))(2.0) == 960


@pytest.mark.slow
def test_a_loop_of_unknown_length_under_every_other_composition():
    agree(jax.jit(jax.grad(lambda w: jax.vmap(of_base)(w).sum()))(W), 1)
    agree(jax.jit(jax.vmap(jax.hessian(of_base)))(W), 2)
    agree(jax.vmap(jax.jacrev(jax.jacfwd(of_base)))(W), 2)
    agree(jax.vmap(jax.jacfwd(jax.jacfwd(of_base)))(W), 2)
    agree(jax.jit(jax.vmap(jax.grad(jax.grad(of_base))))(W), 2)


def test_inside_of_scan_cond_checkpoint_and_linear_transposes():
    def f(x):
        return POWERS(x, 2.0)

    def chain(x):
        return jax.lax.scan(lambda c, _: (f(c) / 50, None), x, None, length=3)[0]

    def branch(x):
        return jax.lax.cond(x > 0, f, lambda x: x, x)

    # 3 -> 192 / 50 = 3.84 -> 122.88 / 50 = 2.4576 -> 157.2864 / 50
    value, slope = jax.jit(jax.value_and_grad(chain))(3.0)
    np.testing.assert_allclose([value, slope], [157.2864 / 50, 64 * 32 * 64 / 50**3], rtol=1e-6)
    assert jax.jit(jax.grad(branch))(3.0) == 64
    assert jax.jit(jax.grad(jax.checkpoint(f)))(3.0) == 64
    assert jax.linear_transpose(jax.linearize(f, 3.0)[1], 3.0)(1.0) == (64,)


@pytest.mark.parametrize("wide", [False, True])
def test_computed_in_double_precision_given_in_the_callers(wide):
    x = kg.placeholder(name="x")
    big = kg.placeholder((), "int64", name="big")
    f = kg.compile([x, big], [(x * x - 1 - 2.0**-11) * 2.0**24, big + 1, x > 0])
    with jax.enable_x64(wide):
        inputs = jnp.asarray(1 + 2.0**-12), jnp.asarray(7)
        for found in (jax.jit(f)(*inputs), f(*inputs)):
            assert [r.dtype.name for r in found] == (
                ["float64", "int64", "bool"] if wide else ["float32", "int32", "bool"]
            )
            assert found[0] == 1  # 0 in float32
            assert found[1] == 8
            assert found[2]
        slope = jax.jacrev(lambda x: f(x, 7)[0])(inputs[0])
        assert slope.dtype == inputs[0].dtype


def test_data_keep_their_precision_whatever_the_mode_around():
    offsets = kg.data(np.full(100, 1.0) + np.arange(100) * 1e-12)
    x = kg.placeholder(name="x")
    f = kg.compile(x, ((offsets - 1.0) * 1e12 * x).sum())
    np.testing.assert_allclose(jax.jit(f)(1.0), 4950.0, rtol=1e-3)  # by 1e-16 / 1e-12
    np.testing.assert_allclose(jax.jit(jax.grad(f))(1.0), 4950.0, rtol=1e-3)


def test_jax_arrays_in_jax_arrays_out():
    found = POWERS(jnp.asarray(2.0), 2.0)
    assert isinstance(found, jax.Array)
    assert found == 128
    assert type(POWERS(2.0, 2.0)) is np.ndarray


def test_known_values_are_computed_with_where_jax_traces_something_else():
    known = []

    def f(x):
        known.append(POWERS(2.0, 2.0))
        return x + known[-1]

    assert jax.jit(f)(1.0) == 129
    assert type(known[0]) is np.ndarray


def test_shapes_types_and_counts_are_checked():
    x = kg.placeholder((2,), name="x")
    n = kg.placeholder((), "int64", name="n")
    f = kg.compile([x, n], x * n)
    with pytest.raises(kg.ShapeError, match=r"input x: expected shape \(2,\), got \(3,\)"):
        jax.jit(f)(jnp.zeros(3), 1)
    with pytest.raises(kg.SymbolicError, match="input n: expected int64, got float32"):
        jax.jit(f)(jnp.zeros(2), 1.5)
    with pytest.raises(TypeError, match="takes 2 values"):
        jax.jit(f)(jnp.zeros(2))
    assert jax.jit(lambda a: f([a, 1.0], 2))(3.0).tolist() == [6, 2]


def test_keys_and_arrays_without_a_value_are_refused():
    x = kg.placeholder(name="x")
    f = kg.compile(x, x * 2)
    for call in (f, jax.jit(f)):
        with pytest.raises(kg.SymbolicError, match=r"input x: expected float64, got key"):
            call(jax.random.key(0))
    with pytest.raises(kg.SymbolicError, match=r"multiply: an array that JAX is tracing \(float32"):
        jax.jit(lambda y: kg.compile(x, x * y)(1.0))(2.0)
    with pytest.raises(kg.SymbolicError, match="data: an array that JAX is tracing"):
        jax.jit(kg.data)(2.0)


def test_gradients_in_the_graph_and_derivatives_of_them():
    x, w = kg.placeholder(name="x"), kg.placeholder(name="w")
    (y,) = kg.while_loop(lambda v: v < 100, lambda v: v * w, [x])
    f = kg.compile([x, w], [y, kg.gradients(y, w)])
    values, slopes = jax.jit(lambda w: jax.jvp(lambda w: f(2.0, w), (w,), (1.0,)))(2.0)
    assert [float(v) for v in (*values, *slopes)] == [128, 384, 384, 960]


@pytest.mark.slow
def test_higher_derivatives_of_gradients_in_the_graph():
    x, w = kg.placeholder(name="x"), kg.placeholder(name="w")
    (y,) = kg.while_loop(lambda v: v < 100, lambda v: v * w, [x])
    f = kg.compile([x, w], kg.gradients(y, w))
    assert jax.jit(jax.grad(f, 1))(2.0, 2.0) == 960
    assert jax.jit(jax.hessian(f, 1))(2.0, 2.0) == 1920


def test_states_are_refused_by_name_and_go_through_pure():
    total, x = kg.state(0.0, name="total"), kg.placeholder(name="x")
    add = kg.compile([x], total.assign_add(x * x))
    with pytest.raises(kg.ModelError, match=r"of \(x\).* state 'total'.* f\.pure\(states"):
        jax.jit(add)(1.0)
    with pytest.raises(kg.ModelError, match="cannot update state 'total'"):
        jax.jit(lambda: add(1.0))()
    assert add.state[total] == 0

    def step(states, x):
        result, states = add.pure(states, x)
        return states, result

    start = add.state.copy()
    after, sums = jax.jit(lambda s: jax.lax.scan(step, s, jnp.arange(4.0)))(start)
    assert sums.tolist() == [0, 1, 5, 14]
    assert (after[total], start[total], add.state[total]) == (14, 0, 0)
    assert jax.grad(lambda x: add.pure(start, x)[1][total])(3.0) == 6
    add.state.restore(after)
    assert add(1.0) == 15
    other = kg.compile([x], kg.state(0.0, name="other").assign_add(x))
    with pytest.raises(kg.ModelError, match="no value of state 'total'"):
        add.pure(other.state.copy(), 1.0)


def test_streams_go_through_pure_and_rows_of_a_batch_have_their_own():
    streams = kg.RandomStreams(5)
    f = kg.compile([], streams.normal(shape=(3,)))
    rows = []
    for seed in (1, 2):
        streams.seed(f, seed)
        rows.append(f.state.copy())
    drawn, _ = jax.jit(jax.vmap(f.pure))(jax.tree.map(lambda *s: jnp.stack(s), *rows))
    for row, seed in zip(drawn, (1, 2), strict=True):
        streams.seed(f, seed)
        np.testing.assert_allclose(row, f(), rtol=1e-6)


def test_what_would_be_raised_makes_results_and_gradients_nan():
    x = kg.placeholder(name="x")
    kg.check(x > 0, "positive")
    checked = kg.compile(x, x * 2)
    (bounded,) = kg.while_loop(lambda v: v < 9, lambda v: v * 2, [x], 2, on_limit="error")
    limited = kg.compile(x, bounded)
    labels = kg.data([0, 1])
    read = kg.compile([labels, x], kg.data([3.0, 4.0])[labels] * x)
    points = jnp.array([5.0, -5.0])
    np.testing.assert_array_equal(jax.vmap(checked)(points), [10, np.nan])
    np.testing.assert_array_equal(jax.vmap(jax.grad(checked))(points), [2, np.nan])
    np.testing.assert_array_equal(jax.vmap(limited)(points), [10, np.nan])
    np.testing.assert_array_equal(jax.vmap(jax.grad(limited))(points), [2, np.nan])
    rows = jnp.array([[0, 1], [0, 2]])
    np.testing.assert_array_equal(jax.vmap(read, (0, None))(rows, 1.0), [[3, 4], [np.nan] * 2])
    kg.check(x > 0, "positive")
    mute = kg.compile(x, [x * 2, x > 1])
    with pytest.raises(kg.ModelError, match=r"\(positive: x > 0 is false.* result 1 \(bool"):
        jax.jit(mute)(1.0)


def test_prints_happen_in_programs_of_jax(capfd):
    x = kg.placeholder(name="x")
    kg.print("x is", x)
    f = kg.compile(x, kg.floor(x).astype(int))
    assert jax.jit(f)(2.5) == 2
    jax.effects_barrier()
    assert capfd.readouterr().out == "x is 2.5\n"


def test_a_lifted_function_may_call_compiled_ones():
    x = kg.placeholder(name="x")
    y = kg.lift(jax.jit(lambda v: POWERS(v, 2.0) + 1))(x)
    f = kg.compile(x, [y, kg.gradients(y, x)])
    assert [float(v) for v in f(3.0)] == [193, 64]


def test_lifted_functions_take_structures_and_lists_of_numbers_are_arrays():
    layers = kg.lift(lambda p, x, y: sum(layer["w"] @ x + layer["b"] for layer in p) * y[0])
    x = kg.placeholder(name="x")
    w = np.arange(4.0).reshape(2, 2)
    out = layers([{"w": w, "b": x}, {"w": w * x, "b": 1.0}], (1.0, 2.0), [[3.0, 4.0]][0])
    assert kg.compile(x, out)(2.0).tolist() == [27.0, 81.0]  # 3 (3 [2, 8] + 3)
    assert kg.compile(x, kg.lift(jnp.add)(1.0, 2.0))(0.0) == 3


def test_compiled_once_for_calls_and_derivatives_alike():
    traced = []

    def noted(x):
        traced.append(x)
        return x * x

    x = kg.placeholder(name="x")
    f = kg.compile(x, kg.lift(noted)(x))
    for k in range(3):
        assert jax.grad(f)(float(k)) == 2 * k
        if not k:
            first = len(traced)
    assert len(traced) == first
