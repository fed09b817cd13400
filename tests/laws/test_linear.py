"""Laws of linear steps: read off a step, told from steps that are not linear."""

import numpy as np
import pytest
from scipy.linalg import solve_discrete_lyapunov

from kinetograph import laws

A = np.array([[0.6, 0.3], [-0.4, 0.5]])
B = np.array([[0.2, 0.0], [0.7, 1.1]])


def step(s, x, y):
    r, t = s.noise(), s.noise()
    u = A[0, 0] * x + A[0, 1] * y + B[0, 0] * r + B[0, 1] * t
    v = y / 2 - 0.4 * x - (-t) * B[1, 1] + B[1, 0] * r
    s.record(x=u, y=v, sum=sum([u, v]), before=-x)
    return u, v


@pytest.fixture(scope="module")
def law():
    return laws.oscillator(step, 1.0)


def test_covariances_are_scipys(law):
    S = solve_discrete_lyapunov(A, B @ B.T)
    assert law.covariance[:2, :2] == pytest.approx(S)
    assert law.moment("sum", "sum") == pytest.approx(S.sum())
    assert law.moment("before", "x") == pytest.approx(-(A @ S)[0, 0])
    for lag in (0, 1, 2, 7):
        expected = np.linalg.matrix_power(A, lag) @ S
        assert law.lag_covariance(lag)[:2, :2] == pytest.approx(expected)


def test_autocorrelation_times_are_sums_of_autocorrelations(law):
    lags = np.array([law.lag_covariance(s) for s in range(200)])
    for i, name in enumerate(law.names):
        rho = lags[:, i, i] / lags[0, i, i]
        assert law.autocorrelation_time(name) == pytest.approx(2 * rho.sum() - 1)
        time = 2 * (rho**2).sum() - 1
        assert law.autocorrelation_time(name, square=True) == pytest.approx(time)
        exact = np.sqrt(2 * lags[0, i, i] ** 2 * time / 500)
        assert law.mcse(name, 500, square=True) == pytest.approx(exact)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda s, q: q * q,
        lambda s, q: q + 1.0,
        lambda s, q: q * s.noise(),
        lambda s, q: 1.0 / q,
        lambda s, q: s.noise() / q,
        lambda s, q: np.array([0.5, 0.5]) * q,
        lambda s, q: 0.0,
    ],
)
def test_steps_that_are_not_linear_are_refused(wrong):
    with pytest.raises(TypeError):
        laws.oscillator(wrong, 0.1)


def test_an_unknown_name_is_told(law):
    with pytest.raises(KeyError, match="'z' is not recorded; the records are x, y, sum, before"):
        law.autocorrelation_time("z")
