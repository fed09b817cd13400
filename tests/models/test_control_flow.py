"""Branches and loops in a log density."""

import numpy as np
import pytest
from scipy import stats

import kinetograph as kg


def stopping(grad="auto", **options):
    """A likelihood that depends on the number of trips of a loop."""
    a = kg.half_normal(1.0, name="a")
    start = kg.data(1.0, name="start")
    (level,) = kg.while_loop(
        lambda y: y < 10, lambda y: y * (1.02 + 0.1 * a), [start], grad=grad, **options
    )
    y = kg.data(11.0, name="y")
    kg.observe(y, kg.normal(level, 1.0))
    return kg.model(a, coords=None)


def reference(u):
    """The log density and its derivative in plain Python."""
    a, rate = np.exp(u), 1.02 + 0.1 * np.exp(u)
    level, trips = 1.0, 0
    while level < 10:
        level, trips = level * rate, trips + 1
    value = stats.halfnorm.logpdf(a) + stats.norm.logpdf(11.0, level, 1.0) + u
    slope = (11.0 - level) * trips * level / rate * 0.1 * a
    return value, -a * a + slope + 1


@pytest.mark.parametrize("grad", ["auto", "checkpoint", "forward"])
def test_value_and_gradient(grad):
    model = stopping(grad)
    for u in (-6.0, -2.0, 0.3, 1.5):  # 115 to 2 trips
        value, gradient = reference(u)
        assert model.log_prob([u]) == pytest.approx(value, rel=1e-11)
        assert model.gradient([u])[0] == pytest.approx(gradient, rel=1e-10)


def test_a_batch_of_points_is_the_points_one_by_one():
    model = stopping()
    points = np.array([[-6.0], [0.3], [2.0]])
    alone = [stopping().gradient(p) for p in points]
    np.testing.assert_allclose(model.gradient(points), alone, rtol=1e-13)


def test_explain_and_debug():
    model = stopping()
    model.gradient([-6.0])
    (report,) = kg.explain(model).loops
    assert (report.strategy, report.most_trips, report.rows) == ("stack", 115, 128)
    assert "y" in str(model.debug([0.0]))


def test_debug_finds_a_bad_value_inside_of_a_loop():
    a = kg.normal(0, 1, name="a")
    total, _ = kg.scan(lambda s, v: (s + kg.log(v - a), None), 0.0, np.array([3.0, 2.0, 1.0]))
    model = kg.model(a, factors=total)
    assert "log(v - a) = nan" in str(model.debug([1.5]))
    assert "in row 2 of scan" in str(model.debug([1.5]))


def test_a_stack_of_unknown_size_is_refused_when_the_model_is_made():
    with pytest.raises(
        ValueError, match=r"gradient accumulator for 'y' .*maximum_iterations was not passed"
    ):
        stopping("stack")


def test_a_bound_that_is_an_error():
    model = stopping(maximum_iterations=20, on_limit="error")
    assert np.isfinite(model.gradient([1.0])).all()
    with pytest.raises(kg.LoopError, match=r"reached maximum_iterations = 20"):
        model.gradient([-6.0])


def test_states_are_refused():
    a = kg.normal(0, 1, name="a")
    s = kg.state(0.0, name="s")
    with pytest.raises(kg.ModelError, match=r"the density depends on state 's'"):
        kg.model(a, factors=s * a)


def test_unknowns_are_not_made_inside():
    x = kg.normal(0, 1, name="x")
    with pytest.raises(
        kg.ModelError,
        match=r"normal: an unknown cannot be made inside of a branch of cond .*_control_flow.py",
    ):
        kg.cond(x > 0, lambda: kg.normal(0, 1), lambda: x)
    assert kg.normal(x, 1).shape == ()  # the next graph is built without errors
