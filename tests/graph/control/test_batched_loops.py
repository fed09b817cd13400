"""Loops in a batch: each member makes its own trips, together or in turn."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from tests.graph.control.helpers import DIRECTION, Graph, plain_derivatives

import kinetograph as kg
from kinetograph.graph.control import batched_loops
from kinetograph.graph.precision import x64
from kinetograph.graph.rewriting.participation import track

STARTS = np.array([0.2, 3.0, 0.9, -0.4, 1.7])
RATES = np.array([0.9, 0.5, 1.2, 0.8, 0.3])


def simple(ops, x, w):
    """Sums and products, with a number of trips for each member."""
    return ops.loop(lambda s, y: s < 6 * w, lambda s, y: (s + 1, y * w + x * x * 0.1), (0 * w, x))[
        1
    ]


def costly(ops, x, w):
    return ops.loop(lambda s, y: s < 6 * w, lambda s, y: (s + 1, ops.sin(y) * w + x), (0 * w, x))[1]


def nested(ops, x, w):
    """A loop in a loop, each with a number of trips for each member."""

    def outer(i, y):
        return i + 1, y * 0.5 + simple(ops, y, w)

    return ops.loop(lambda i, y: i < 4 * w, outer, (0, x))[1]


def in_branch(ops, x, w):
    return ops.cond(x > 0.5, lambda: simple(ops, x, w), lambda: x * w)


def as_often(ops, x, w):
    """All members make the same number of trips."""
    return ops.loop(lambda i, y: i < 5, lambda i, y: (i + 1, y * w + ops.sin(x) * i), (0, x))[1]


PROGRAMS = {f.__name__: f for f in (simple, costly, nested, in_branch, as_often)}


def derivatives(rows, xs):
    slopes = kg.gradients(rows.sum(), xs)
    return [
        rows,
        *slopes,
        *kg.jvp(slopes, xs, [np.full(x.shape, d) for x, d in zip(xs, DIRECTION)]),
    ]


def expected(program, points):
    found = [plain_derivatives(program, at) for at in points]
    return np.transpose([[v, *g, *(h @ np.array(DIRECTION))] for v, g, h in found])


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("name", PROGRAMS)
def test_each_member_makes_its_own_trips(name, together, monkeypatch):
    monkeypatch.setattr(batched_loops, "_faster_together", lambda body, size: together)
    program = PROGRAMS[name]
    x, w = kg.placeholder((5,), name="x"), kg.placeholder((5,), name="w")
    rows = kg.vmap(functools.partial(program, Graph()))(x, w)
    f = kg.compile([x, w], derivatives(rows, [x, w]))
    wanted = expected(program, zip(STARTS, RATES, strict=True))
    np.testing.assert_allclose(f(STARTS, RATES), wanted, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("ways", [(True, True), (True, False), (False, True), (False, False)])
def test_batches_of_batches(ways, monkeypatch):
    monkeypatch.setattr(batched_loops, "_faster_together", lambda body, size: ways[size == 5])
    x, w = kg.placeholder((5,), name="x"), kg.placeholder((3,), name="w")
    graph = functools.partial(simple, Graph())
    rows = kg.vmap(lambda v: kg.vmap(lambda u: graph(u, v))(x))(w)
    f = kg.compile([x, w], [rows, *kg.gradients(rows.sum(), [x, w])])
    found, of_x, of_w = f(STARTS, RATES[:3])
    points = [[expected(simple, [(u, v)])[:3, 0] for u in STARTS] for v in RATES[:3]]
    np.testing.assert_allclose(found, np.array(points)[:, :, 0], rtol=1e-12)
    np.testing.assert_allclose(of_x, np.array(points)[:, :, 1].sum(0), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(of_w, np.array(points)[:, :, 2].sum(1), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("together", [True, False])
def test_loops_in_branches_that_read_constants(together, monkeypatch):
    """A branch in a batch makes rows of all values that it reads, even of constants."""
    monkeypatch.setattr(batched_loops, "_faster_together", lambda body, size: together)
    matrix = np.array([[0.5, 0.1], [0.05, 0.45]])

    def powers(v, n):
        def loop():
            return kg.while_loop(lambda i, u: i < n, lambda i, u: (i + 1, u @ matrix), (0, v))[1]

        return kg.cond(v[0] > 0, loop, lambda: v * 2)

    x = kg.placeholder((3, 2), name="x")
    trips = np.array([1, 2, 3])
    rows = kg.vmap(powers)(x, kg.data(trips))
    at = np.array([[1.0, 2.0], [-1.0, 2.0], [0.5, 1.0]])
    value, slope = kg.compile([x], [rows, kg.gradients(rows.sum(), x)])(at)
    ways = [np.linalg.matrix_power(matrix, n) for n in trips]
    ways[1] = 2 * np.eye(2)
    np.testing.assert_allclose(value, np.einsum("ri,rij->rj", at, ways), rtol=1e-12)
    np.testing.assert_allclose(slope, np.sum(ways, axis=2), rtol=1e-12)


def test_forward_derivatives_of_a_batch():
    x, w = kg.placeholder((5,), name="x"), kg.placeholder((5,), name="w")
    rows = kg.vmap(functools.partial(simple, Graph()))(x, w)
    f = kg.compile([x, w], kg.jvp(rows, [x, w], [np.full(5, d) for d in DIRECTION]))
    wanted = expected(simple, zip(STARTS, RATES, strict=True))
    np.testing.assert_allclose(f(STARTS, RATES), wanted[1:3].T @ DIRECTION, rtol=1e-10)


@pytest.mark.parametrize(
    ("program", "size", "gains"),
    [(simple, 5, True), (simple, 3, False), (costly, 5, False), (nested, 5, False)],
)
def test_simple_trips_are_made_together(program, size, gains, monkeypatch):
    found = []
    judge = batched_loops._faster_together

    def noted(body, size):
        found.append(judge(body, size))
        return found[-1]

    monkeypatch.setattr(batched_loops, "_faster_together", noted)
    monkeypatch.setattr(jax, "default_backend", lambda: "cpu")
    x, w = kg.placeholder((size,), name="x"), kg.placeholder((size,), name="w")
    f = kg.compile([x, w], kg.vmap(functools.partial(program, Graph()))(x, w))
    f(np.ones(size), np.arange(size) + 1.0)
    assert found[0] is gains
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    assert batched_loops._faster_together(jax.make_jaxpr(jax.numpy.sin)(1.0).jaxpr, 2)


ROWS = 64  # the initial capacity of a loop without a bound


def trips_of(jaxpr):
    for equation in jaxpr.eqns:
        for value in jax.tree.leaves(dict(equation.params), is_leaf=lambda v: hasattr(v, "eqns")):
            if hasattr(value, "eqns"):
                inner = getattr(value, "jaxpr", value)
                if equation.primitive.name == "while":
                    yield inner
                yield from trips_of(inner)


def large(jaxpr):
    """Values as large as all rows of a batch, except for writes of one row."""
    for equation in jaxpr.eqns:
        name = equation.params.get("name", equation.primitive.name)
        if name != "dynamic_update_index_in_dim" and equation.primitive.name != "while":
            yield from (v for v in equation.outvars if v.aval.size >= 5 * ROWS)


def test_a_trip_of_a_batch_costs_its_rows(monkeypatch):
    monkeypatch.setattr(batched_loops, "_faster_together", lambda body, size: True)
    x, w = kg.placeholder((5,), name="x"), kg.placeholder((5,), name="w")
    rows = kg.vmap(functools.partial(simple, Graph()))(x, w)
    f = kg.compile([x, w], kg.gradients(rows.sum(), [x, w]))
    with x64():
        program = functools.partial(f._lower, f._scope(f.capacity))
        jaxpr = jax.make_jaxpr(program)([STARTS, RATES], (), []).jaxpr
    bodies = list(trips_of(jaxpr))
    assert len(bodies) >= 4  # predicates and bodies, forward and backward
    assert not any(list(large(body)) for body in bodies)


def with_own_vjp(x):
    function = jax.custom_vjp(jnp.sin)
    function.defvjp(lambda x: (jnp.sin(x), x), lambda x, cotangent: (cotangent * jnp.cos(x),))
    return function(x)


# How to make JAX write each operation that the cost model of `batched` knows by name.
FLOATS, FLAGS = np.ones((2, 3)), np.ones((2, 3), bool)
EXAMPLES = {
    **{
        name: getattr(lax, name)
        for name in "abs ceil exp exp2 expm1 floor is_finite log log1p logistic neg round rsqrt "
        "sign sqrt square tanh".split()
    },
    **{
        name: functools.partial(getattr(lax, name), FLOATS)
        for name in "add div eq ge gt le lt max min mul ne rem sub".split()
    },
    **{
        name: lambda x, name=name: getattr(lax, f"bitwise_{name}")(x > 0, FLAGS)
        for name in ("and", "or", "xor")
    },
    "not": lambda x: lax.bitwise_not(x > 0),
    "add_any": jax.grad(lambda x: (jnp.sin(x) * jnp.cos(x)).sum()),
    "broadcast_in_dim": lambda x: jnp.broadcast_to(x, (4, 2, 3)),
    "clamp": lambda x: lax.clamp(0.0, x, 1.0),
    "concatenate": lambda x: jnp.concatenate([x, x]),
    "convert_element_type": lambda x: x.astype(int),
    "copy": jnp.copy,
    "dynamic_slice": lambda x: lax.dynamic_slice(x, (x[0, 0].astype(int), 0), (1, 3)),
    "dynamic_update_slice": lambda x: lax.dynamic_update_slice(x, x[:1], (x[0, 0].astype(int), 0)),
    "integer_pow": lambda x: lax.integer_pow(x, 3),
    "iota": lambda x: x + lax.iota(float, 3),
    "pad": lambda x: jnp.pad(x, 1),
    "reduce_and": lambda x: (x > 0).all(),
    "reduce_max": jnp.max,
    "reduce_min": jnp.min,
    "reduce_or": lambda x: (x > 0).any(),
    "reduce_sum": jnp.sum,
    "reshape": lambda x: x.reshape(6),
    "select_n": lambda x: jnp.where(x > 0, x, 0.0),
    "slice": lambda x: lax.slice(x, (0, 0), (1, 3)),
    "split": lambda x: jnp.split(x, [1]),
    "squeeze": lambda x: jnp.squeeze(x[:1]),
    "stop_gradient": lax.stop_gradient,
    "track": lambda x: track(x, x[0] > 0, x[0] > 1),
    "transpose": jnp.transpose,
    "jit": lambda x: jax.jit(jnp.sin)(x),
    "custom_jvp_call": jax.nn.relu,
    "custom_vjp_call": with_own_vjp,
    "cond": lambda x: lax.cond(x[0, 0] > 0, jnp.sin, jnp.cos, x),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_jax_uses_the_name_that_the_cost_model_knows(name):
    """JAX must not rename a primitive: the table in `batched_loops` would miss it."""
    program = jax.make_jaxpr(EXAMPLES[name])(FLOATS)
    assert name in {e.primitive.name for e in batched_loops._equations(program.jaxpr)}


def test_every_name_of_the_cost_model_has_an_example():
    assert batched_loops._SIMPLE | batched_loops._CALLS == set(EXAMPLES)
