import dataclasses
import gc
import pickle
import weakref
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.graph.helpers import check_gradient

import kinetograph as kg
from kinetograph.graph.lower import evaluate
from kinetograph.graph.precision import x64


def counting(counter):
    """A lifted function that counts its traces."""

    def f(x):
        counter.append(1)
        return x * 2.0

    return kg.lift(f)


def test_a_shared_expression_is_lowered_once():
    calls = []
    x = kg.placeholder()
    z = counting(calls)(x)
    f = kg.compile([x], [z + z, z * 3, kg.exp(z)])
    calls.clear()
    assert [float(v) for v in f(1.0)] == [4.0, 6.0, np.exp(2.0)]
    assert len(calls) == 1
    with x64():
        jaxpr = str(
            jax.make_jaxpr(lambda t: evaluate([(kg.exp(z) + z).node], {x.node: t})[z.node])(1.0)
        )
    assert jaxpr.count("mul") == 1


def test_calls_compile_once():
    calls = []
    x, d = kg.placeholder((2,)), kg.data([1.0, 2.0])
    f = kg.compile([x], counting(calls)(x) + d)
    calls.clear()
    for i in range(5):
        assert f([i, 1]).tolist() == [2 * i + 1, 4]
    f(np.float32([1, 2]))
    f([True, False])
    assert len(calls) == 1


def test_data_are_arguments_literals_are_not():
    x, d = kg.placeholder((100,)), kg.data(np.arange(100.0))
    f = kg.compile([x], x + d * 2.0 + np.arange(100.0) + np.ones(1))
    assert [n.size for n in f._data] == [100, 100]
    np.testing.assert_array_equal(f(np.zeros(100)), 3 * np.arange(100.0) + 1)
    g = kg.compile([d], d.sum())
    assert float(g(np.ones(100))) == 100


def test_outputs():
    x = kg.placeholder((2,))
    assert isinstance(kg.compile(x, x + 1)([1, 2]), np.ndarray)
    several = kg.compile([x], [x, x.sum(), x > 1])([1, 2])
    assert [(a.shape, a.dtype.kind) for a in several] == [((2,), "f"), ((), "f"), ((2,), "b")]
    assert kg.compile([x], [])([1, 2]) == []
    y = x * 2
    assert kg.compile([y], y + 1)([1, 2]).tolist() == [2, 3]  # the operands of y are ignored
    assert "compiled function of (x)" in repr(kg.compile([x], y))


def test_the_process_keeps_its_precision():
    assert jax.config.jax_enable_x64 is False
    x = kg.placeholder((2,))
    f = kg.compile([x], x / 3)
    assert f([1.0, 2.0]).dtype == np.float64
    assert f([1.0, 2.0])[0] == 1 / 3
    assert jax.config.jax_enable_x64 is False
    assert jnp.ones(2).dtype == np.float32
    assert jnp.asarray(np.ones(2)).dtype == np.float32


def test_single_precision():
    with kg.precision("float32"):
        x, d = kg.placeholder((2,)), kg.data(np.array([1.0, 2.0]))
        n = kg.placeholder((2,), int)
        outputs = [
            x * d,
            x + np.ones(2),
            kg.exp(n),
            n / 2,
            n.mean(),
            x @ d,
            kg.where(n > 0, 1.0, x),
        ]
        outputs += [kg.one_hot(n, 3), kg.stack([x, np.ones(2)]), kg.softmax(n), x.at[0].set(1.5)]
        outputs += [x @ np.arange(2), kg.stack([x, n])]
        assert {o.dtype for o in outputs} == {np.dtype(np.float32)}
        assert {v.dtype for v in kg.compile([x, n], outputs)([1, 2], [1, 2])} == {
            np.dtype(np.float32)
        }
    assert kg.placeholder().dtype == np.float64
    with pytest.raises(ValueError, match="choose 'float32' or 'float64'"), kg.precision("half"):
        pass


def test_long_sums_are_right():
    # jax#39103: older versions of JAX computed this wrongly on CPU, from 16,385 rows on.
    matrix = np.random.default_rng(0).normal(size=(4, 4))
    rows = np.random.default_rng(1).normal(size=(20_000, 4))
    with x64():
        found = jax.jit(jax.vmap(lambda row: jnp.sum((matrix @ row) ** 2)))(rows)
    np.testing.assert_allclose(found, ((rows @ matrix.T) ** 2).sum(1), rtol=1e-12)


def test_compiled_functions_are_freed():
    def build():
        x = kg.placeholder((2,))
        f = kg.compile([x], x + 1)
        f([1.0, 2.0])
        return weakref.ref(f), weakref.ref(x.node)

    references = build()
    gc.collect()
    assert [r() for r in references] == [None, None]


def test_lift_with_several_results_runs_once():
    calls = []

    def both(x, y, *, scale=1.0):
        calls.append(1)
        return {"sum": scale * (x + y), "parts": (x * y, 3)}

    x, y = kg.placeholder((2,)), kg.placeholder((2,))
    result = kg.lift(both)(x, y, scale=2.0)
    assert result["sum"].shape == (2,)
    assert result["parts"][1].shape == ()
    calls.clear()
    f = kg.compile([x, y], [result["sum"], *result["parts"]])
    total, product, three = f([1.0, 2.0], [3.0, 4.0])
    assert (total.tolist(), product.tolist(), int(three)) == ([8, 12], [3, 8], 3)
    assert len(calls) == 1


def test_derivatives_flow_through_lift():
    check_gradient(lambda x: kg.lift(jnp.sinc)(x) * x, np.array([0.3, 1.2]))
    check_gradient(lambda x: kg.lift(lambda a: (a * 2, a**2))(x)[1], np.array([0.3, 1.2]))

    @jax.custom_jvp
    def odd(x):
        return x * 2

    odd.defjvp(lambda primals, tangents: (odd(primals[0]), 7 * tangents[0]))
    x = kg.placeholder()
    output = kg.lift(odd)(x)
    with x64():
        slope = jax.grad(lambda t: evaluate([output.node], {x.node: t})[output.node])(1.0)
    assert float(slope) == 7


def test_lift_takes_numbers_and_keeps_the_name():
    def shifted(x, by):
        """Moved."""
        return x + by

    lifted = kg.lift(shifted)
    assert (lifted.__name__, lifted.__doc__) == ("shifted", "Moved.")
    x = kg.placeholder((2,))
    assert kg.compile([x], lifted(x, np.array([1.0, 2.0])))([0, 0]).tolist() == [1, 2]


def test_whole_numbers_that_do_not_fit_are_refused():
    i, j = kg.placeholder(dtype=int, name="i"), kg.placeholder((2,), dtype=np.int32, name="j")
    f = kg.compile([i, j], i + j.sum())
    assert f(2**62, [3, 4]) == 2**62 + 7
    assert f(-(2**63), [0, 0]) == -(2**63)
    for value, other, named in (
        (2**63, [0, 0], "input i: 9223372036854775808 does not fit into int64"),
        (np.uint64(2**63), [0, 0], "input i: 9223372036854775808 does not fit into int64"),
        (0, [1, 2**31], "input j: 2147483648 does not fit into int32"),
    ):
        with pytest.raises(kg.DataError, match=named):
            f(value, other)


class Point(NamedTuple):
    x: Any
    y: Any


@dataclasses.dataclass
class Line:
    slope: Any
    name: Any


def test_outputs_in_any_structure():
    x = kg.placeholder(name="x")
    outputs = {"p": Point(x, [x + 1, (x + 2,)]), "l": Line(2 * x, 3 * x)}
    found = kg.compile([x], outputs)(1.0)
    assert found["p"] == Point(1.0, [2.0, (3.0,)])
    assert found["l"] == Line(2.0, 3.0)
    assert isinstance(kg.compile(x, [x])(1.0), list)
    assert isinstance(kg.compile(x, (x, x))(1.0), tuple)


def test_arguments_in_any_structure():
    x, y, z = (kg.placeholder(name=name) for name in "xyz")
    a, b = kg.placeholder(name="a"), kg.placeholder(name="b")
    f = kg.compile([{"x": x, "rest": (y, [z])}, Point(a, b)], x - 10 * y + 100 * z + a / b)
    assert f({"rest": [2.0, (3.0,)], "x": 1.0}, Point(1.0, 2.0)) == 281.5
    whole = kg.compile({"x": x, "y": y}, x / y)
    assert whole({"y": 2.0, "x": 1.0}) == 0.5
    assert kg.compile(Point(x, y), x / y)(Point(1.0, 4.0)) == 0.25


def test_structures_under_jax_and_in_a_pickle():
    x, y = kg.placeholder((2,), name="x"), kg.placeholder(name="y")
    f = kg.compile([{"x": x, "y": y}], {"total": x.sum() * y, "both": (x, y)})
    given = {"x": jnp.arange(2.0), "y": jnp.float32(3.0)}
    gradient = jax.grad(lambda p: f(p)["total"])(given)
    assert gradient["x"].tolist() == [3.0, 3.0]
    assert gradient["y"] == 1.0
    assert isinstance(f(given)["both"], tuple)
    again = pickle.loads(pickle.dumps(f))
    assert again({"x": [1.0, 2.0], "y": 2.0})["total"] == 6.0
    assert isinstance(again({"x": [1.0, 2.0], "y": 2.0})["both"], tuple)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"x": 1.0}, "argument 0: expected dict of x, rest, got dict of x"),
        ({"x": 1.0, "rest": [1.0]}, r"argument 0\['rest'\]: expected tuple of 2, got list of 1"),
        ([1.0, 2.0], "argument 0: expected dict of x, rest, got list of 2"),
        (1.0, "argument 0: expected dict of x, rest, got a value of type float"),
    ],
)
def test_an_argument_of_another_structure_says_where(value, text):
    x, y, z = (kg.placeholder(name=name) for name in "xyz")
    f = kg.compile([{"x": x, "rest": (y, z)}], x + y + z)
    with pytest.raises(TypeError, match=text):
        f(value)
    with pytest.raises(TypeError, match="takes 1 argument, for x, y, z, got 2"):
        f(value, value)


def test_what_is_no_array_in_a_structure_is_named():
    x = kg.placeholder(name="x")
    for outputs, place in [
        ({"a": x, "b": 1}, r"\['b'\] is a int"),
        ([x, {"b": None}], r" 1\['b'\] is a NoneType"),
        (None, " is a NoneType"),
    ]:
        with pytest.raises(TypeError, match=f"output{place}"):
            kg.compile([x], outputs)


def test_a_whole_number_beyond_all_types_does_not_fit():
    i = kg.placeholder((), int, name="i")
    for value in (2**63, 2**70, -(2**90)):
        with pytest.raises(kg.DataError, match=f"input i: {value} does not fit into int64"):
            kg.compile([i], i)(value)


def test_pure_asks_for_the_states_first():
    x = kg.placeholder(name="x")
    with pytest.raises(TypeError, match=r"pure: the first argument must be values of .* float"):
        kg.compile([x], x).pure(1.0, 2.0)
