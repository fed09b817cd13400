"""Means and variances by SciPy, by mpmath and by linear algebra."""

import itertools

import mpmath as mp
import numpy as np


def of(other):
    return other.mean(), other.var()


def numbers(mean, variance):
    """Of formulas in mpmath's numbers."""

    def both(*parameters):
        with mp.workdps(60):
            exact = [mp.mpf(p) for p in parameters]
            return float(mean(*exact)), float(variance(*exact))

    return both


def by_scipy(make):
    return lambda *parameters: of(make(*parameters))


def by_table(probabilities):
    """Of labels with these probabilities."""
    k = np.arange(len(probabilities))
    mean = k @ probabilities
    return mean, (k - mean) ** 2 @ probabilities


def by_draws_of_chain(initial, transition, length):
    """Of all ways through a Markov chain."""
    ways = np.array(list(itertools.product(range(len(initial)), repeat=length)))
    share = initial[ways[:, 0]]
    for a, b in itertools.pairwise(ways.T):
        share = share * transition[a, b]
    mean = share @ ways
    return mean, share @ (ways - mean) ** 2


def by_equations(matrix, constants, variances):
    """Of the solution of matrix x = constants + independent numbers of these variances."""
    inverse = np.linalg.inv(matrix)
    return inverse @ constants, inverse**2 @ variances


def ar(rho, sd, constant, init_mean, init_sd, length):
    matrix, order = np.eye(length), len(rho)
    for t in range(order, length):
        matrix[t, t - order : t] = -np.asarray(rho)[::-1]
    first = np.arange(length) < order
    return by_equations(
        matrix, np.where(first, init_mean, constant), np.where(first, init_sd**2, sd**2)
    )


def half_student(df, sigma):
    mean = 2 * sigma * mp.sqrt(df / mp.pi) * mp.gammaprod([(df + 1) / 2], [df / 2]) / (df - 1)
    return mean, sigma**2 * df / (df - 2) - mean**2


def weibull(alpha, scale):
    first, second = (mp.gamma(1 + k / alpha) for k in (1, 2))
    return scale * first, scale**2 * (second - first**2)


def lkj_cholesky(eta, dim):
    """Row by row, by the density of its elements before the diagonal, p(u) ~ (1 - |u|^2)^(c/2)."""
    mean, variance = np.zeros((2, dim, dim))
    mean[0, 0] = 1.0
    for i in range(1, dim):
        power = mp.mpf(dim - i - 1 + 2 * eta - 2) / 2

        def moment(k, j, i=i, power=power):  # of |u|^k and L_ii^j; the integral of the angle is 1
            return mp.quad(lambda r: r ** (i - 1 + k) * (1 - r * r) ** (power + j / 2), [0, 1])

        with mp.workdps(40):
            whole = moment(0, 0)
            mean[i, i] = moment(0, 1) / whole
            variance[i, i] = moment(0, 2) / whole - (moment(0, 1) / whole) ** 2
            variance[i, :i] = moment(2, 0) / whole / i
    return mean, variance


COV = np.array([[2.0, 0.6, -0.3], [0.6, 1.0, 0.2], [-0.3, 0.2, 0.5]])
CHOL = np.linalg.cholesky(COV)
CENTRE = np.array([1.0, -2.0, 0.5])
SHARES = np.array([0.2, 0.5, 0.3])
ROWS = np.array([[0.9, 0.1, 0.0], [0.2, 0.5, 0.3], [0.25, 0.25, 0.5]])
FEW = np.array([[1.5, 0.0], [0.4, 0.7]])
CUTS = np.array([-1.0, 0.5, 2.0])
