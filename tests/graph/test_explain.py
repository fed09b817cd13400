"""Tests of kg.explain: the strategies and trips of loops."""

import numpy as np
import pytest

import kinetograph as kg


def program(**options):
    x = kg.placeholder(name="x")
    (y,) = kg.while_loop(
        lambda v: v < 1000, lambda v: v * kg.sqrt(v), [x], name="growing", **options
    )
    return kg.compile([x], [y, kg.gradients(y, x)])


def test_before_and_after_a_run():
    f = program()
    assert kg.explain(f)["growing"].most_trips is None
    f(2.0)
    report = kg.explain(f)["growing"]
    assert report.strategy == "stack"
    assert report.most_trips == 6  # 2 ** (1.5 ** 6) = 2675
    f(1.5)
    assert kg.explain(f)["growing"].most_trips == 7
    assert "growing" in str(kg.explain(f))
    assert "test_explain.py" in str(kg.explain(f))


def test_room_grows_in_powers_of_two():
    x = kg.placeholder(name="x")
    w = kg.data(1.01, name="w")
    (y,) = kg.while_loop(lambda v: v < 100, lambda v: v * w, [x], name="slow")
    f = kg.compile([x], kg.gradients(y, x))
    f(1.0)
    report = kg.explain(f)["slow"]
    assert (report.most_trips, report.rows) == (463, 512)
    np.testing.assert_allclose(f(99.9), 1.01, rtol=1e-12)
    assert kg.explain(f)["slow"].most_trips == 463


@pytest.mark.parametrize("grad", ["checkpoint", "forward", "none"])
def test_strategies_that_were_asked_for(grad):
    f = program(grad=grad)
    f(2.0)
    assert kg.explain(f)["growing"].strategy == grad


def test_a_stack_that_was_asked_for_has_the_size_of_the_bound():
    f = program(grad="stack", maximum_iterations=300)
    f(2.0)
    report = kg.explain(f)["growing"]
    assert (report.rows, report.reason) == (300, "room for all trips")


def test_a_large_bound_is_not_paid_for():
    f = program(maximum_iterations=2**20)
    f(2.0)
    assert kg.explain(f)["growing"].rows == 64


def test_only_what_the_derivative_needs_is_kept():
    """Test which values are kept for the backward pass.

    v * 2 needs none. v * w needs v, for the derivative by w. The counter n is never needed.
    """
    sizes = {}
    for name, factor in {"number": 2.0, "data": kg.data(2.0)}.items():
        x = kg.placeholder((3,), name="x")
        y, _ = kg.while_loop(
            lambda v, n: n < 70, lambda v, n, w=factor: (v * w, n + 1), [x, 0], name=name
        )
        f = kg.compile([x], kg.gradients(y.sum(), x))
        f([1.0, 2.0, 3.0])
        report = kg.explain(f)[name]
        sizes[name] = report.rows, report.bytes
    assert sizes == {"number": (64, 0), "data": (128, 128 * 3 * 8)}


def test_a_loop_that_nobody_differentiates_and_a_scan():
    x = kg.placeholder(name="x")
    (y,) = kg.while_loop(lambda v: v < 100, lambda v: v * 2, [x], name="plain")
    z, _ = kg.scan(lambda s, v: (s + v, None), y, np.arange(5.0), name="rows")
    f = kg.compile([x], z)
    f(1.0)
    explanation = kg.explain(f)
    assert explanation["plain"].strategy == "not differentiated"
    assert explanation["plain"].most_trips == 7
    assert (explanation["rows"].strategy, explanation["rows"].bound) == ("scan", 5)
    with pytest.raises(KeyError, match="no loop is called 'other'; the loops are: plain, rows"):
        explanation["other"]


def test_only_functions_and_models_are_explained():
    with pytest.raises(
        TypeError, match=r"expected a function from kg.compile or a model .*, got int"
    ):
        kg.explain(3)


def test_arrays_that_go_row_by_row_are_named():
    x = kg.placeholder(name="x")

    @kg.function
    def last(x):
        a, b, t = np.ones(9), np.ones(9), 1
        for i in kg.range(1, 9):
            a[i] = a[i - 1] * x
        while t < 9 and x < 5:
            b[t] = b[t - 1] * x
            t += 1
        return a[-1] + b[-1]

    f = kg.compile([x], kg.gradients(last(x), x))
    assert f(0.5) == pytest.approx(2 * 8 * 0.5**7)
    scan, loop = kg.explain(f).loops
    assert scan.reason == "the number of rows is known; a is computed row by row"
    assert (loop.strategy, loop.rows, loop.reason) == ("stack", 8, "arrays go row by row")
