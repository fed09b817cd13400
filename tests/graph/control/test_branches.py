"""kg.cond, kg.switch and kg.case: values, structures, laziness, NaN-safe derivatives."""

import dataclasses
from collections import namedtuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.graph.control.helpers import interpreted

import kinetograph as kg

Pair = namedtuple("Pair", "a b")


@dataclasses.dataclass
class Box:
    low: object
    high: object = 0


def callback(calls, x, label):
    """x, which records on the host when it is computed."""

    def note(value):
        calls.append(label)
        return np.asarray(value)

    def f(x):
        return jax.pure_callback(
            note, jax.ShapeDtypeStruct(x.shape, x.dtype), x, vmap_method="sequential"
        )

    return kg.lift(f)(x)


def test_takes_a_branch_by_the_predicate():
    x, y = kg.placeholder(), kg.placeholder()
    z = kg.cond(x < y, lambda: x * 17, lambda: y + 23)
    f = kg.compile([x, y], z)
    assert (f(2, 5), f(9, 5)) == (34, 28)
    assert interpreted([z], {x: 9.0, y: 5.0}) == [28]


def test_a_predicate_of_one_element_is_a_scalar():
    x = kg.placeholder((1,))
    f = kg.compile([x], kg.cond(x > 0, lambda: 1.5, lambda: 2.5))
    assert (f([1.0]), f([-1.0])) == (1.5, 2.5)
    assert f([1.0]).shape == ()


def test_each_function_is_called_once_and_not_at_run():
    calls = []
    x = kg.placeholder()

    def yes():
        calls.append("yes")
        return x + 1

    def no():
        calls.append("no")
        return x - 1

    f = kg.compile([x], kg.cond(x > 0, yes, no))
    assert sorted(calls) == ["no", "yes"]
    f(1.0), f(-1.0)
    assert len(calls) == 2


def test_only_the_taken_branch_runs_and_what_is_outside_always_does():
    calls = []
    x = kg.placeholder()
    outside = callback(calls, x, "outside")
    y = kg.cond(
        x > 0,
        lambda: callback(calls, x, "yes") + outside,
        lambda: callback(calls, x * 2, "no"),
    )
    f = kg.compile([x], y)
    assert f(3.0) == 6
    assert sorted(calls) == ["outside", "yes"]
    calls.clear()
    assert f(-3.0) == -6
    assert sorted(calls) == ["no", "outside"]


@pytest.mark.parametrize(
    "structure",
    [
        lambda a, b: (a, b),
        lambda a, b: {"a": a, "b": (b, a)},
        lambda a, b: Pair(a, [b, b]),
        lambda a, b: Box(a, {"x": b}),
        lambda a, b: [a, None, b],
    ],
)
def test_structures_come_back(structure):
    x = kg.placeholder()
    result = kg.cond(x > 0, lambda: structure(x, 1.0), lambda: structure(2.0, x))
    expected = {1.5: structure(1.5, 1.0), -1.5: structure(2.0, -1.5)}
    arrays, values = leaves(result, expected[1.5]), leaves(expected[1.5], expected[1.5])
    f = kg.compile([x], arrays)
    assert f(1.5) == values
    assert f(-1.5) == leaves(expected[-1.5], expected[-1.5])


def leaves(found, pattern):
    """The leaves of a value with a given structure."""
    if isinstance(pattern, float):
        return [found]
    assert type(found) is type(pattern)
    if dataclasses.is_dataclass(found):
        found, pattern = vars(found), vars(pattern)
    if isinstance(found, dict):
        assert list(found) == list(pattern)
        found, pattern = found.values(), pattern.values()
    rows = zip(found or (), pattern or (), strict=True)
    return [leaf for a, b in rows for leaf in leaves(a, b)]


def test_a_list_of_one_is_unpacked_unless_strict():
    x = kg.placeholder()
    loose = kg.cond(x > 0, lambda: [x], lambda: [x + 1])
    strict = kg.cond(x > 0, lambda: [x], lambda: [x + 1], strict=True)
    assert isinstance(loose, kg.Array)
    assert isinstance(strict, list)
    assert len(strict) == 1


def test_branches_may_return_outer_values_and_constants():
    x = kg.placeholder()
    results = [kg.cond(x > 0, lambda: x, lambda: x), kg.cond(x > 0, lambda: 7.0, lambda: x)]
    f = kg.compile([x], results)
    assert f(2.0) == [2, 7]
    assert f(-2.0) == [-2, -2]


def test_numbers_take_the_type_of_the_other_branch():
    x = kg.placeholder((), np.float32)
    n = kg.placeholder((), np.int32)
    assert kg.cond(x > 0, lambda: x, lambda: 0).dtype == np.float32
    assert kg.cond(x > 0, lambda: 2, lambda: n).dtype == np.int32


def test_three_levels_deep():
    x, y, z = kg.placeholder(), kg.placeholder(), kg.placeholder()
    result = kg.cond(
        x > 0,
        lambda: kg.cond(y > 0, lambda: kg.cond(z > 0, lambda: x * y * z, lambda: y), lambda: z),
        lambda: x,
    )
    f = kg.compile([x, y, z], [result, *kg.gradients(result, [x, y, z])])
    assert f(2, 3, 5) == [30, 15, 10, 6]
    assert f(2, 3, -5) == [3, 0, 1, 0]
    assert f(2, -3, 5) == [5, 0, 0, 1]
    assert f(-2, 3, 5) == [-2, 1, 0, 0]


def test_derivative_is_that_of_the_taken_branch():
    x, a, b = kg.placeholder(), kg.placeholder(), kg.placeholder()
    y = kg.cond(x > 0, lambda: a * x**2, lambda: -3 * x + b * 0)
    first = kg.gradients(y, [x, a, b])
    f = kg.compile([x, a, b], [*first, kg.hessian(y, x), kg.jvp(y, [x, a], [1.0, 10.0])])
    assert f(2, 1, 1) == [4, 4, 0, 2, 44]
    assert f(-1, 1, 1) == [-3, 0, 0, 0, -3]


def test_the_predicate_has_no_gradient():
    x, t = kg.placeholder(), kg.placeholder()
    y = kg.cond(x > t, lambda: x, lambda: 2 * x)
    f = kg.compile([x, t], kg.gradients(y, [x, t]))
    assert f(2, 1) == [1, 0]
    assert f(1, 2) == [2, 0]


def dangerous(x):
    """A branch that is not taken at 0 and whose derivatives are infinite there."""
    return kg.cond(x > 0, lambda: np.log(x) + np.sqrt(x) / x, lambda: 0.0)


def true_dangerous(x):
    return {
        "value": np.log(x) + x**-0.5,
        "first": 1 / x - 0.5 * x**-1.5,
        "second": -1 / x**2 + 0.75 * x**-2.5,
    }


def test_the_branch_not_taken_cannot_poison_derivatives():
    x = kg.placeholder()
    y = dangerous(x)
    slope = kg.gradients(y, x)
    push = kg.jvp(y, x, 1.0)
    f = kg.compile(
        [x],
        [
            slope,
            push,
            kg.hessian(y, x),
            kg.gradients(slope, x),
            kg.gradients(push, x),
            kg.jvp(slope, x, 1.0),
            kg.jvp(push, x, 1.0),
        ],
    )
    assert f(0.0) == [0] * 7
    assert f(-1.0) == [0] * 7
    want = true_dangerous(2.0)
    np.testing.assert_allclose(f(2.0), [want["first"]] * 2 + [want["second"]] * 5, rtol=1e-12)


def test_the_branch_not_taken_cannot_poison_derivatives_of_a_batch():
    x = kg.placeholder((3,))
    y = kg.vmap(dangerous)(x)
    ones = np.ones(3)
    slope = kg.gradients(y.sum(), x)
    push = kg.jvp(y, x, ones)
    f = kg.compile(
        [x],
        [
            slope,
            push,
            kg.hessian(y.sum(), x).sum(0),
            kg.gradients(slope.sum(), x),
            kg.gradients(push.sum(), x),
            kg.jvp(slope, x, ones),
            kg.jvp(push, x, ones),
            kg.vmap(lambda x: kg.gradients(dangerous(x), x))(x),
            kg.vmap(lambda x: kg.hessian(dangerous(x), x))(x),
        ],
    )
    want = true_dangerous(2.0)
    first, second = [0, want["first"], 0], [0, want["second"], 0]
    expected = [first, first, *[second] * 5, first, second]
    np.testing.assert_allclose(f([0.0, 2.0, -1.0]), expected, rtol=1e-12)


def test_switch_without_a_default_takes_the_nearest_branch():
    i = kg.placeholder(dtype=int)
    f = kg.compile([i], kg.switch(i, [lambda: 10, lambda: 20, lambda: 30]))
    assert [f(k) for k in (-5, 0, 1, 2, 3, 2**40)] == [10, 10, 20, 30, 30, 30]


def test_switch_with_a_default():
    i, x = kg.placeholder(dtype=int), kg.placeholder()
    y = kg.switch(i, [lambda: x, lambda: x**2], default=lambda: x**3)
    f = kg.compile([i, x], [y, kg.gradients(y, x)])
    assert [f(k, 3.0) for k in (-1, 0, 1, 2, 2**40)] == [
        [27, 27],
        [3, 1],
        [9, 6],
        [27, 27],
        [27, 27],
    ]


def test_case_takes_the_first_true_predicate():
    x = kg.placeholder()
    with_default = kg.case([(x > 2, lambda: 2), (x > 1, lambda: 1)], default=lambda: 0)
    without = kg.case([(x > 2, lambda: 2), (x > 1, lambda: 1)])
    f = kg.compile([x], [with_default, without])
    assert [f(v) for v in (3, 1.5, 0)] == [[2, 2], [1, 1], [0, 1]]
    for v, wanted in ((3.0, 2), (1.5, 1), (0.0, 0)):
        assert interpreted([with_default], {x: v}) == [wanted]


def test_vectors_and_bools_and_ints_in_branches():
    x = kg.placeholder((3,))
    n = kg.placeholder(dtype=int)
    a, b, c = kg.cond(n > 2, lambda: (x[::-1], n * 2, n > 5), lambda: (x + n, n, n == 0))
    f = kg.compile([x, n], [a, b, c, kg.gradients((a * [1, 2, 3]).sum(), x)])
    for got, want in zip(f([1, 2, 4], 7), [[4, 2, 1], 14, True, [3, 2, 1]], strict=True):
        np.testing.assert_array_equal(got, want)
    for got, want in zip(f([1, 2, 4], 0), [[1, 2, 4], 0, True, [1, 2, 3]], strict=True):
        np.testing.assert_array_equal(got, want)


def test_branches_with_large_data_do_not_copy_it_into_the_program():
    data = kg.data(np.arange(1000.0))
    x = kg.placeholder()
    f = kg.compile([x], kg.cond(x > 0, lambda: (data * x).sum(), lambda: data[3]))
    assert f(2.0) == 999 * 1000
    assert f(-1.0) == 3


def test_a_batch_of_conditionals_is_each_alone():
    x = kg.placeholder((4,))
    y = kg.vmap(lambda v: kg.cond(v > 1, lambda: v**3, lambda: jnp_sin(v)))(x)
    f = kg.compile([x], [y, kg.gradients((y * [1, 2, 3, 4]).sum(), x)])
    at = np.array([0.5, 1.5, -2.0, 3.0])
    value, slope = f(at)
    np.testing.assert_allclose(value, np.where(at > 1, at**3, np.sin(at)), rtol=1e-12)
    weights = [1, 2, 3, 4]
    np.testing.assert_allclose(slope, weights * np.where(at > 1, 3 * at**2, np.cos(at)), rtol=1e-12)


def jnp_sin(x):
    return kg.lift(jnp.sin)(x)
