"""Bijectors: inverses, log Jacobians, supports, extreme states, all kinds of bounds."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests.models.own_maps import Mixing, Sinh, Softmax

import kinetograph as kg
from kinetograph.distributions import support as sp
from kinetograph.graph.precision import x64
from kinetograph.models.bijectors import SupportBijector, bijector
from kinetograph.models.custom_bijectors import own_support

INF = np.inf
MATRIX = np.array([[2.0, 1.0], [-1.0, 0.5]])


@dataclass
class Case:
    """A constraint, and the coordinates in which its density is defined."""

    support: sp.Support
    shape: tuple[int, ...]
    coordinates: Callable[[Any], Any] = lambda x: x


def all_but_one(x):
    """Coordinates on the plane of sum 0.

    The area is that of the projection along the first dimension.
    """
    n = x.shape[-1]
    return x[..., :-1] * np.array([np.sqrt(n), *np.ones(n - 2)])


def lower(x):
    rows, columns = np.tril_indices(x.shape[-1])
    return x[..., rows, columns]


def strict_lower(x):
    rows, columns = np.tril_indices(x.shape[-1], -1)
    return x[..., rows, columns]


CASES = {
    "real": Case(sp.REAL, (3,)),
    "open": Case(sp.Interval(np.array([-INF, -INF]), np.array([INF, INF])), (2,)),
    "positive": Case(sp.POSITIVE, (3,)),
    "lower": Case(sp.Interval(np.array([-1.0, 2.0, 30.0])), (3,)),
    "upper": Case(sp.Interval(-INF, 5.0), (2, 2)),
    "unit": Case(sp.UNIT, ()),
    "both": Case(sp.Interval(np.array([-1.0, 2.0]), np.array([1.5, 40.0])), (3, 2)),
    "mixed": Case(
        sp.Interval(np.array([-INF, 0.0, -INF, -2.0]), np.array([INF, INF, 3.0, 5.0])), (4,)
    ),
    "lower or open": Case(sp.Interval(np.array([-INF, 0.0])), (2,)),
    "simplex": Case(sp.Simplex(), (4,), lambda x: x[..., :-1]),
    "simplices": Case(sp.Simplex(), (3, 2), lambda x: x[..., :-1]),
    "ordered": Case(sp.Ordered(), (5,)),
    "ordered rows": Case(sp.Ordered(), (2, 3)),
    "positive and ordered": Case(sp.Ordered(positive=True), (2, 3)),
    "any factors": Case(sp.CholeskyCovariance(), (2, 3, 3), lower),
    "factor": Case(sp.CholeskyCorrelation(), (4, 4), strict_lower),
    "factors": Case(sp.CholeskyCorrelation(), (2, 3, 3), strict_lower),
    "correlation": Case(sp.CorrelationMatrix(), (4, 4), strict_lower),
    "zero sum": Case(sp.ZeroSum(), (4,), all_but_one),
    "zero sums": Case(sp.ZeroSum(), (3, 2), all_but_one),
    "covariance": Case(sp.CovarianceMatrix(), (3, 3), lower),
    "covariances": Case(sp.CovarianceMatrix(), (2, 3, 3), lower),
    "correlations": Case(sp.CorrelationMatrix(), (2, 2, 2), strict_lower),
    "own": Case(own_support(Sinh(2.0), (3,), "x"), (3,)),
    "own with fewer free numbers": Case(
        own_support(Softmax(), (2, 4), "x"), (2, 4), lambda x: x[..., :-1]
    ),
    "own of a matrix": Case(own_support(Mixing(MATRIX), (2,), "x"), (2,)),
}
# The remaining cases are of the same kinds.
EVERYDAY = {"real", "open", "both", "mixed", "lower or open", "simplex", "ordered rows"}
EVERYDAY |= {"factors", "correlations", "covariances", "zero sum"}
EVERYDAY |= {"positive and ordered", "any factors", "own", "own with fewer free numbers"}
all_cases = pytest.mark.parametrize(
    "name", [n if n in EVERYDAY else pytest.param(n, marks=pytest.mark.slow) for n in CASES]
)


def lookup(bound: Any) -> Any:
    return bound


@dataclass
class Found:
    """The results of a bijector at random, zero and extreme free states."""

    bijector: SupportBijector
    states: np.ndarray
    values: np.ndarray
    log_jacobian: np.ndarray
    back: np.ndarray  # the free numbers of the values
    again: np.ndarray  # the values at these free numbers
    matrices: np.ndarray  # the Jacobian by automatic differentiation
    slope: np.ndarray  # gradient of the sum of all values and the log Jacobian


@cache
def found(name: str) -> Found:
    """All results, computed by one program."""
    case = CASES[name]
    b = bijector(case.support, case.shape)

    def minimal(flat: Any) -> Any:
        x = b.forward(flat.reshape(b.free_shape), lookup).value
        return jnp.ravel(case.coordinates(x))

    def total(u: Any) -> Any:
        x, log_jacobian, _ = b.forward(u, lookup)
        return jnp.sum(x) + log_jacobian

    @jax.jit
    @jax.vmap
    def run(u: Any) -> tuple[Any, ...]:
        x, log_jacobian, _ = b.forward(u, lookup)
        back = b.inverse(x, lookup)
        return (
            x,
            jnp.asarray(log_jacobian),
            back,
            b.forward(back, lookup).value,
            jax.jacfwd(minimal)(jnp.ravel(u)),
            jax.grad(total)(u),
        )

    rng = np.random.default_rng(3)
    u = [scale * rng.normal(size=(100, *b.free_shape)) for scale in (2.0, 1.0)]
    u += [np.stack([np.full(b.free_shape, far) for far in (0.0, -30.0, 30.0)])]
    states = np.concatenate(u)
    with x64():
        return Found(b, states, *map(np.asarray, run(states)))


WIDE, NARROW, FAR = slice(100), slice(100, 201), slice(200, None)  # 0 is the last of the narrow


@all_cases
def test_values_lie_inside(name):
    x = found(name).values[WIDE]
    assert x.shape == (100, *CASES[name].shape)
    assert np.all(CASES[name].support.contains(x))


@all_cases
def test_round_trip(name):
    f = found(name)
    # A matrix close to singular does not determine its free numbers to all digits.
    tolerance = 1e-6 if "correlation" in name or "covariance" in name else 1e-10
    np.testing.assert_allclose(f.back[WIDE], f.states[WIDE], rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(f.again[WIDE], f.values[WIDE], rtol=1e-10, atol=1e-10)


@all_cases
def test_log_jacobian_is_that_of_autodiff(name):
    f = found(name)
    sign, wanted = np.linalg.slogdet(f.matrices[NARROW])
    assert np.all(sign != 0)
    np.testing.assert_allclose(f.log_jacobian[NARROW], wanted, rtol=1e-8, atol=1e-8)


@all_cases
def test_far_out_everything_is_finite(name):
    f = found(name)
    assert all(np.isfinite(a[FAR]).all() for a in (f.values, f.log_jacobian, f.slope))


# A correlation matrix is computed from its factor.
@pytest.mark.parametrize(
    "name", ["both", "correlation", "simplex", pytest.param("factor", marks=pytest.mark.slow)]
)
def test_derivatives_at_zero(name):
    """At 0, where starting points lie, abs() must not spoil the derivative."""
    b = bijector(CASES[name].support, CASES[name].shape)
    zero = np.zeros(b.free_shape)
    step = 1e-4

    def value(u: Any) -> Any:
        x, log_jacobian, _ = b.forward(u, lookup)
        weights = np.arange(1.0, x.size + 1).reshape(x.shape)
        return jnp.sum(weights * x) + log_jacobian

    with x64():
        slopes = jax.grad(value)
        moves = step * np.concatenate([0 * np.eye(1, zero.size), np.eye(zero.size)])
        points = np.concatenate([moves, -moves]).reshape(-1, *zero.shape)
        derivatives = jax.jit(
            lambda u, points: (slopes(u), jax.jacfwd(slopes)(u), jax.vmap(value)(points))
        )
        slope, curvature, values = map(np.asarray, derivatives(zero, points))
    (here, *up), (_, *down) = np.split(values, 2)
    up, down = np.array(up), np.array(down)
    np.testing.assert_allclose(np.ravel(slope), (up - down) / (2 * step), rtol=1e-6, atol=1e-6)
    curvature = np.diag(curvature.reshape(zero.size, zero.size))
    np.testing.assert_allclose(curvature, (up + down - 2 * here) / step**2, rtol=1e-4, atol=1e-4)


def test_unbounded_elements_do_not_spoil_the_gradient_of_bounded_ones():
    b = bijector(sp.Interval(np.array([-INF, 0.0])), (2,))
    with x64():
        slope = jax.grad(lambda u: jnp.sum(b.forward(u, lookup)[0]))(np.array([800.0, 1.0]))
    np.testing.assert_allclose(slope, [1.0, np.e])


@settings(max_examples=6, deadline=None)
@given(
    arrays(float, 4, elements=st.floats(-30, 30)),
    arrays(float, 4, elements=st.floats(-1e3, 1e3)),
    arrays(float, 4, elements=st.floats(0.1, 1e3)),
    arrays(bool, (2, 4)),
)
def test_any_bounds(u, lower, width, finite):
    low = np.where(finite[0], lower, -INF)
    high = np.where(finite[1], lower + width, INF)
    b = bijector(sp.Interval(low, high), (4,))
    with x64():
        x, log_jacobian, _ = b.forward(jnp.asarray(u), lookup)
        slopes = jax.jacfwd(lambda u: b.forward(u, lookup)[0])(jnp.asarray(u))
    x = np.asarray(x)
    # At u = 30 a value may round to its bound.
    assert ((low <= x) & (x <= high)).all()
    assert np.array_equal(slopes, np.diag(np.diag(slopes)))
    wanted = np.log(np.abs(np.diag(slopes))).sum()
    assert float(log_jacobian) == pytest.approx(wanted, rel=1e-9, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(arrays(float, 3, elements=st.floats(-30, 30)))
def test_any_simplex(u):
    b = bijector(sp.Simplex(), (4,))
    with x64():
        x = b.forward(jnp.asarray(u), lookup).value
        back = b.inverse(x, lookup)
    x = np.asarray(x)
    assert x.sum() == pytest.approx(1, rel=1e-13)
    assert (x > 0).all()
    np.testing.assert_allclose(back, u, rtol=1e-9, atol=1e-9)


# Bounds in models --------------------------------------------------------------------------------


def test_bounds_may_be_unknown():
    a = kg.normal(0, 1)
    b = a + kg.exponential(1, name="width")
    x = kg.uniform(a, b, shape=3)
    m = kg.model(x)
    u = np.random.default_rng(0).normal(size=(50, m.free_size))
    values = m.transform(u)
    low = values["a"][:, None]
    high = low + values["width"][:, None]
    assert ((low < values["x"]) & (values["x"] < high)).all()
    for row in u[:5]:
        v = m.transform(row)
        np.testing.assert_allclose(m.untransform(v), row, rtol=1e-9, atol=1e-9)
        # All other terms of the densities of a, width and x cancel.
        wanted = -0.5 * v["a"] ** 2 - 0.5 * np.log(2 * np.pi) - v["width"]
        wanted -= 3 * np.log(v["width"])
        assert float(m.log_prob(row, adjusted=False)) == pytest.approx(wanted, rel=1e-12)


def test_variable_between_arrays():
    low = kg.normal(0, 1, shape=2, name="low")
    x = kg.variable(lower=low, upper=low + 2)
    m = kg.model(x, factors=x.sum())
    values = m.transform([0.5, -0.5, 0.0, 30.0])
    np.testing.assert_allclose(values["x"], [1.5, 1.5])
    with pytest.raises(ValueError, match="x: must be between low and"):
        m.untransform({"low": [0.0, 0.0], "x": [1.0, 2.5]})


def test_variable_with_data_bounds():
    x = kg.variable(lower=kg.data([0.0, 5.0]))
    m = kg.model(x, factors=-x.sum())
    assert (m.transform(np.random.default_rng(0).normal(size=(9, 2)))["x"] > [0, 5]).all()


def test_a_bound_that_is_unknown_beside_one_that_is_infinite():
    u = kg.normal(0, 1, name="u")
    x = kg.variable(lower=[0.0, -np.inf], upper=u + np.array([1.0, 0.0]), name="x")
    gradient = kg.model(u, x, factors=x.sum()).gradient([0.0, 0.0, 0.0])
    # x[0] = (1 + u) / 2 has the Jacobian (1 + u) / 4, and x[1] = u - 1 has the Jacobian 1.
    np.testing.assert_allclose(gradient, [0.5 + 1 + 1, 0.25, 0.0], atol=1e-12)
