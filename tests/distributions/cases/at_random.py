"""Parameters and points at random, and logarithms of SciPy's densities."""

import numpy as np
from scipy import special

N = 120


def wide(rng, low=-3.0, high=3.0):
    return 10.0 ** rng.uniform(low, high, N)


def real(rng):
    return rng.normal(size=N) * wide(rng)


def unit(rng):
    return special.expit(rng.uniform(-25, 8, N))


def location_scale(rng):
    return real(rng), wide(rng)


def tails(rng, location, scale):
    """Mostly the centre, one point in three far out."""
    z = np.where(rng.random(N) < 1 / 3, wide(rng, -2, 5), rng.exponential(2.0, N) + 0.01)
    return location + scale * z * rng.choice([-1, 1], N)


def positives(rng, *parameters):
    return wide(rng, -4, 4)


def or_zero(points):
    """The points, a third of which are replaced by 0."""

    def mixed(rng, *parameters):
        return np.where(rng.random(N) < 1 / 3, 0.0, points(rng, *parameters))

    return mixed


def counts(rng, *parameters):
    return np.floor(wide(rng, -1, 3)).astype(int)


def binomial_parameters(rng):
    return np.floor(wide(rng, 0, 4)).astype(int), unit(rng)


def up_to(rng, size, *rest):
    return rng.integers(0, size + 1)


def binomial_logit(x, n, t):
    choose = special.gammaln(n + 1) - special.gammaln(x + 1) - special.gammaln(n - x + 1)
    return choose + x * special.log_expit(t) + (n - x) * special.log_expit(-t)


def beta_binomial_parameters(rng):
    return np.floor(wide(rng, 0, 3)).astype(int), wide(rng, -2, 1), wide(rng, -2, 1)


def hypergeometric_parameters(rng):
    m, n = np.floor(wide(rng, 1, 4)).astype(int), np.floor(wide(rng, 1, 4)).astype(int)
    return m, n, rng.integers(0, m + n + 1)


def inflated(x, zero, of_count):
    counted = np.log1p(-zero) + of_count
    return np.where(x == 0, np.logaddexp(np.log(zero), counted), counted)


def hurdle(x, zero, of_count, above_zero):
    return np.where(x == 0, np.log(zero), np.log1p(-zero) + of_count - above_zero)


def by_mean(mean, dispersion):
    return 1 / dispersion, 1 / (1 + mean * dispersion)


def mean_parameters(rng):
    return wide(rng, -2, 3), wide(rng, -2, 1)


def prob_parameters(rng):
    return wide(rng, -2, 3), special.expit(rng.uniform(-9, 9, N))


def exponnorm(z, ratio):
    """SciPy's own forms the exponential of the square."""
    scaled = np.log(special.erfcx((ratio - z) / np.sqrt(2)) / 2) - z * z / 2
    return np.log(ratio) + np.where(
        ratio > z, scaled, ratio * (ratio / 2 - z) + special.log_ndtr(z - ratio)
    )
