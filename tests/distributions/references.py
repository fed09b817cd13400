"""Log densities in mpmath's numbers, written from their definitions."""

import mpmath as mp


def _power(x, log):
    return mp.mpf(0) if x == 0 else x * log


def log(x):
    return mp.log(x) if x > 0 else -mp.inf


def log1m(x):
    return mp.log1p(-x) if x < 1 else -mp.inf


def normal(x, mean, sd):
    return -(((x - mean) / sd) ** 2) / 2 - mp.log(sd) - mp.log(2 * mp.pi) / 2


def gamma_density(x, alpha, rate):
    return alpha * mp.log(rate) - mp.loggamma(alpha) + (alpha - 1) * mp.log(x) - rate * x


def log_choose(n, x):
    return mp.loggamma(n + 1) - mp.loggamma(x + 1) - mp.loggamma(n - x + 1)


def binomial_by_logs(x, n, log_p, log_q):
    return log_choose(n, x) + _power(x, log_p) + _power(n - x, log_q)


def binomial(x, n, p):
    return binomial_by_logs(x, n, log(p), log1m(p))


def negative_binomial_by_logs(x, size, log_p, log_q):
    ways = mp.loggamma(x + size) - mp.loggamma(size) - mp.loggamma(x + 1)
    return ways + _power(size, log_p) + _power(x, log_q)


def negative_binomial(x, size, p):
    return negative_binomial_by_logs(x, size, log(p), log1m(p))


def poisson(x, rate):
    return _power(x, log(rate)) - rate - mp.loggamma(x + 1)


def student(x, df, mu, sigma):
    z = (x - mu) / sigma
    constant = mp.loggamma((df + 1) / 2) - mp.loggamma(df / 2) - mp.log(mp.pi * df) / 2
    return constant - (df + 1) / 2 * mp.log1p(z * z / df) - mp.log(sigma)


def beta(x, a, b):
    constant = mp.loggamma(a + b) - mp.loggamma(a) - mp.loggamma(b)
    return constant + _power(a - 1, mp.log(x)) + _power(b - 1, mp.log1p(-x))


def weibull(x, alpha, scale):
    log_z = mp.log(x / scale) if x > 0 else -mp.inf
    power = _power(alpha - 1, log_z) if alpha != 1 else 0
    return mp.log(alpha / scale) + power - (x / scale) ** alpha


def gumbel(x, location, scale):
    z = (x - location) / scale
    return -z - mp.exp(-z) - mp.log(scale)


def log_logistic(t):
    return -mp.log1p(mp.exp(-t))


def logistic(x, location, scale):
    z = (x - location) / scale
    return log_logistic(z) + log_logistic(-z) - mp.log(scale)


def uniform(x, low, high):
    return -mp.log(high - low) if low <= x <= high else -mp.inf


def bernoulli_logit(x, t):
    return log_logistic(t if x == 1 else -t)


def negative_binomial_mean(x, mean, dispersion):
    ratio = mean * dispersion
    log_p = -mp.log1p(ratio)
    return negative_binomial_by_logs(x, 1 / dispersion, log_p, log_p + log(ratio))


def beta_binomial(x, n, a, b):
    rising = mp.loggamma(x + a) - mp.loggamma(a) + mp.loggamma(n - x + b) - mp.loggamma(b)
    return log_choose(n, x) + rising - mp.loggamma(n + a + b) + mp.loggamma(a + b)


def inflated(count):
    def density(x, zero, *parameters):
        at = count(x, *parameters)
        if x == 0:
            return mp.log(zero + (1 - zero) * mp.exp(at))
        return mp.log1p(-zero) + at

    return density


def hurdle(count):
    def density(x, zero, *parameters):
        if x == 0:
            return mp.log(zero)
        above_zero = mp.log(-mp.expm1(count(mp.mpf(0), *parameters)))
        return mp.log1p(-zero) + count(x, *parameters) - above_zero

    return density


def zero_or(density):
    def with_zero(x, zero, *parameters):
        return mp.log(zero) if x == 0 else mp.log1p(-zero) + density(x, *parameters)

    return with_zero


def f(x, df1, df2):
    a, b = df1 / 2, df2 / 2
    constant = mp.loggamma(a + b) - mp.loggamma(a) - mp.loggamma(b) + a * mp.log(df1 / df2)
    return constant + (_power(a - 1, mp.log(x)) if x > 0 else 0) - (a + b) * mp.log1p(df1 * x / df2)


def wald(x, mu, lam):
    constant = (mp.log(lam) - 3 * mp.log(x) - mp.log(2 * mp.pi)) / 2
    return constant - lam * (x - mu) ** 2 / (2 * mu * mu * x)


def asymmetric_laplace(x, mu, sigma, kappa):
    z = (x - mu) / sigma
    return (-z * kappa if z > 0 else z / kappa) - mp.log(sigma * (kappa + 1 / kappa))


def skew_normal(x, location, scale, alpha):
    z = (x - location) / scale
    return mp.log(2) + normal(x, location, scale) + mp.log(mp.ncdf(alpha * z))


def von_mises(x, mu, kappa):
    return kappa * mp.cos(x - mu) - mp.log(2 * mp.pi * mp.besseli(0, kappa))


def exponentially_modified_normal(x, mean, sd, rate):
    z, ratio = (x - mean) / sd, rate * sd
    return mp.log(rate) + ratio**2 / 2 - ratio * z + mp.log(mp.ncdf(z - ratio))
