"""The method for stiff equations: its order, SciPy's Radau and BDF, its derivatives."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import kinetograph as kg
from kinetograph.graph.control.structure import LEAF
from kinetograph.ode.arguments import Tolerance
from kinetograph.ode.dense_output import row_of, value_inside
from kinetograph.ode.right_hand_side import Right
from kinetograph.ode.rosenbrock import RODAS5P, Rosenbrock, _factors, _solution

RATES = np.array([0.04, 3e7, 1e4])


def steps_of(f):
    return kg.explain(f)["steps"].most_trips


def bent(t, y, cos=np.cos):
    """Neither linear nor autonomous."""
    return [y[1] * cos(t) - y[0] ** 2, -y[0] - t * y[1] * y[0]]


def chemistry(k):
    """Robertson's reactions."""

    def slope(t, y):
        slow, fast, back = k[0] * y[0], k[1] * y[1] ** 2, k[2] * y[1] * y[2]
        return [-slow + back, slow - back - fast, fast]

    return slope


def test_solutions_of_equations_whose_rows_change_places():
    """Forward and backward, by the matrix and by the right-hand side, against NumPy."""
    jacobian = np.array([[0.0, 2.0, 0.1], [0.2, 0.0, -3.0], [1.5, 0.3, 0.0]])
    j, b = kg.placeholder((3, 3), name="j"), kg.placeholder((3,), name="b")
    x = _solution(*_factors(j, kg.data(0.1)), b)
    weights = np.array([1.0, -2.0, 0.5])
    total = (weights * x).sum()
    outputs = [x, *kg.gradients(total, [b, j]), kg.jvp(total, b, np.array([1.0, 0.0, 2.0]))]
    solution, by_b, by_j, forward = kg.compile([j, b], outputs)(jacobian, [1.0, 2.0, 3.0])
    matrix = 0.1 * np.eye(3) - jacobian
    wanted, adjoint = np.linalg.solve(matrix, [1.0, 2.0, 3.0]), np.linalg.solve(matrix.T, weights)
    np.testing.assert_allclose(solution, wanted, rtol=1e-12)
    np.testing.assert_allclose(by_b, adjoint, rtol=1e-12)
    np.testing.assert_allclose(by_j, np.outer(adjoint, wanted), rtol=1e-12)
    assert forward == pytest.approx(adjoint @ [1.0, 0.0, 2.0], rel=1e-12)


def relaxation(mu):
    """Van der Pol's oscillator."""
    return lambda t, y: [y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]]


def test_the_order_of_a_step():
    """Half the size: the error of a step is 64 times less, inside of it and of its estimate 32."""
    size, t0, y0 = kg.placeholder(name="size"), 0.3, np.array([1.0, 0.5])
    y = [kg.placeholder((2,), name="y")]
    right = Right(lambda t, y: bent(t, y, kg.cos), LEAF, [""], y)
    method = Rosenbrock(right, RODAS5P, Tolerance(0.0, [np.ones(2)]))
    t = size * 0 + t0
    made = method.step(t, y, right(t, y), size, t + size)
    inside = value_inside(t + 0.4 * size, row_of(t, size, y, made.new, made.bends))
    f = kg.compile([*y, size], [made.new[0], inside, made.square, made.slopes[0]])
    errors = []
    for h in (0.1, 0.05, 0.025):
        exact = solve_ivp(
            bent, (t0, t0 + h), y0, method="DOP853", rtol=1e-14, atol=1e-14, dense_output=True
        ).sol
        new, middle, square, slopes = f(y0, h)
        errors.append(
            [
                np.linalg.norm(new - exact(t0 + h)),
                np.linalg.norm(middle - exact(t0 + 0.4 * h)),
                np.sqrt(square),
            ]
        )
        np.testing.assert_allclose(slopes, bent(t0 + h, new), rtol=1e-13)
    orders = np.log2(np.array(errors)[:-1] / np.array(errors)[1:])
    np.testing.assert_allclose(orders[-1], [6, 5, 5], atol=0.25)


@pytest.mark.slow
@pytest.mark.parametrize("mu", [1000.0])
def test_van_der_pol(mu):
    """Jumps of a thousandth of the time between them; explicit steps would be a million."""
    ts = np.array([0.0, 300.0, 500.0, 1000.0])
    parameter = kg.placeholder(name="mu")
    options = {"method": "rodas5p", "rtol": 1e-8, "atol": 1e-10}
    y = kg.ode.solve(relaxation(parameter), np.array([2.0, 0.0]), ts, **options)
    f = kg.compile([parameter], [y, kg.gradients(y[2, 0], parameter)])
    value, gradient = f(mu)
    assert steps_of(f) < 1500

    def by_scipy(mu, method="Radau"):
        options = {"method": method, "rtol": 1e-10, "atol": 1e-12}
        return solve_ivp(relaxation(mu), (0, 1000), [2.0, 0.0], t_eval=ts, **options).y.T

    np.testing.assert_allclose(value, by_scipy(mu), rtol=1e-5, atol=1e-8)
    difference = (by_scipy(mu + 1)[2, 0] - by_scipy(mu - 1)[2, 0]) / 2
    assert gradient == pytest.approx(difference, rel=1e-4)


@pytest.mark.slow
def test_robertson():
    """To 10^11, through 14 decades of time, with a tolerance for each element."""
    k, ts = kg.placeholder((3,), name="k"), np.concatenate([[0.0], 10.0 ** np.arange(-2, 12)])
    atol = np.array([1e-10, 1e-14, 1e-10])
    y = kg.ode.solve(
        chemistry(k), np.array([1.0, 0.0, 0.0]), ts, rtol=1e-8, atol=atol, method="rodas5p"
    )
    f = kg.compile([k], [y, kg.gradients(y[7, 0], k)])
    value, gradient = f(RATES)
    assert steps_of(f) < 800

    def by_scipy(k, method="Radau", end=1e11):
        inside = ts[ts <= end]
        options = {"method": method, "rtol": 1e-10, "atol": atol / 100, "t_eval": inside}
        return solve_ivp(chemistry(k), (0, end), [1.0, 0.0, 0.0], **options).y.T

    np.testing.assert_allclose(value, by_scipy(RATES), rtol=1e-4, atol=1e-9)
    np.testing.assert_allclose(value[:9], by_scipy(RATES, "BDF", ts[8]), rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(value.sum(1), 1.0, rtol=1e-9)
    scales = 1e-3 * np.diag(RATES)
    differences = [
        (by_scipy(RATES + e, end=ts[7])[7, 0] - by_scipy(RATES - e, end=ts[7])[7, 0]) / (2 * e[i])
        for i, e in enumerate(scales)
    ]
    np.testing.assert_allclose(gradient, differences, rtol=1e-4)


@pytest.mark.slow
def test_a_structure_with_a_dose():
    """y' = -1e6 (y - cos t), z' = -z with a dose of z at an unknown time."""
    at = kg.placeholder(name="at")

    def slope(t, y):
        return {"y": -1e6 * (y["y"] - kg.cos(t)), "z": -y["z"]}

    ts, y0 = np.array([0.0, 1.0, 2.0]), {"y": 0.0, "z": np.ones(2)}
    doses = [(at, {"y": 0.0, "z": np.array([1.0, 3.0])})]
    y = kg.ode.solve(slope, y0, ts, method="rodas5p", doses=doses, rtol=1e-8, atol=1e-10)
    f = kg.compile([at], [y["y"], y["z"], kg.gradients(y["z"][2].sum(), at)])
    fast, slow, gradient = f(0.7)
    np.testing.assert_allclose(fast[1:], np.cos(ts[1:]), atol=2e-6)
    given = np.where(ts[:, None] > 0.7, np.array([1.0, 3.0]) * np.exp(0.7 - ts[:, None]), 0.0)
    np.testing.assert_allclose(slow, np.exp(-ts)[:, None] + given, rtol=1e-6)
    assert gradient == pytest.approx(4 * np.exp(-1.3), rel=1e-6)
    assert steps_of(f) < 200


@pytest.mark.slow
def test_forward_reverse_and_second_derivatives():
    k = kg.placeholder((2,), name="k")

    def slope(t, y):
        return [-k[0] * y[0] ** 2, 1e4 * (k[1] * y[0] - y[1])]

    options = {"method": "rodas5p", "rtol": 1e-9, "atol": 1e-11}
    z = kg.ode.solve(slope, np.array([1.0, 0.0]), [0.0, 0.6, 1.5], **options)[:, 1].sum()
    outputs = [kg.gradients(z, k), kg.jvp(z, k, np.ones(2)), kg.hessian(z, k)]
    f = kg.compile([k], outputs)
    x = np.array([0.7, 1.3])
    gradient, forward, hessian = f(x)
    assert gradient.sum() == pytest.approx(forward, rel=1e-9)
    np.testing.assert_allclose(hessian, hessian.T, rtol=1e-7, atol=1e-9)
    steps = 1e-4 * np.eye(2)
    columns = [(f(x + e)[0] - f(x - e)[0]) / 2e-4 for e in steps]
    np.testing.assert_allclose(hessian, np.stack(columns, -1), rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_in_a_batch():
    ks = kg.placeholder((3,), name="ks")
    slope = lambda k: lambda t, y: -k * (y - kg.cos(t))
    one = lambda k: kg.ode.solve(slope(k), 0.0, [0.0, 1.0], method="rodas5p")[1]
    rates = np.array([2.0, 1e3, 1e6])
    value, gradient = kg.compile(
        [ks], [kg.vmap(one)(ks), kg.gradients(kg.vmap(one)(ks).sum(), ks)]
    )(rates)
    k = rates
    exact = (k * np.sin(1) + k**2 * (np.cos(1) - np.exp(-k))) / (1 + k**2)
    np.testing.assert_allclose(value, exact, rtol=1e-5)
    h = 1e-4 * k
    solution = lambda k: (k * np.sin(1) + k**2 * (np.cos(1) - np.exp(-k))) / (1 + k**2)
    np.testing.assert_allclose(
        gradient, (solution(k + h) - solution(k - h)) / (2 * h), rtol=1e-3, atol=1e-9
    )
