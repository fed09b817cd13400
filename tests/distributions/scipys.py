"""Distributions made of SciPy's, with its methods, where it has none or one that rounds."""

import numpy as np
from scipy import special, stats


def ordered(law, eta, cutpoints):
    """The labels of a number of this law between cutpoints."""
    bounds = law.cdf(np.array([-np.inf, *cutpoints, np.inf]) - eta)
    return stats.rv_discrete(values=(range(len(bounds) - 1), np.diff(bounds)))


class SkewNormal:
    """By sums of the density far into the tails; `ppf` and `isf` are points, and no more."""

    def __init__(self, location, scale, alpha):
        self.location, self.scale, self.alpha = location, scale, alpha
        points, weights = np.polynomial.legendre.leggauss(40)
        parts = np.arange(100)[:, None]
        self.share = ((parts + 0.5 * (points + 1)) / 100).ravel()
        self.weights = np.tile(0.005 * weights, 100)

    def _sum(self, z, alpha):
        """P(Z <= z)."""
        low = np.minimum(z, 0.0) - 9.0
        t = low + (z - low) * self.share
        density = 2 * stats.norm.pdf(t) * special.ndtr(alpha * t)
        return np.sum(density * self.weights) * (z - low)

    def cdf(self, x):
        z = (np.atleast_1d(x) - self.location) / self.scale
        return np.array([self._sum(v, self.alpha) for v in z])

    def sf(self, x):
        z = (np.atleast_1d(x) - self.location) / self.scale
        return np.array([self._sum(-v, -self.alpha) for v in z])

    def ppf(self, p):
        return stats.norm.ppf(p, self.location, self.scale)

    def isf(self, p):
        return stats.norm.isf(p, self.location, self.scale)

    def support(self):
        return -np.inf, np.inf


class VonMises:
    """By sums of SciPy's density on [-pi, pi]; `ppf` and `isf` are points, and no more."""

    def __init__(self, mu, kappa):
        self.law = stats.vonmises(kappa, mu)
        self.near = stats.norm(np.angle(np.exp(1j * mu)), 1 / np.sqrt(kappa))
        points, weights = np.polynomial.legendre.leggauss(40)
        parts = np.arange(200)[:, None]
        self.share = ((parts + 0.5 * (points + 1)) / 200).ravel()
        self.weights = np.tile(0.0025 * weights, 200)

    def _sums(self, low, high):
        low, span = np.atleast_1d(low), np.atleast_1d(high - low)
        density = self.law.pdf(low[:, None] + span[:, None] * self.share)
        return span * (density @ self.weights)

    def _inside(self, x):
        return np.clip(x, -np.pi, np.pi)

    def cdf(self, x):
        return self._sums(-np.pi, self._inside(x))

    def sf(self, x):
        return self._sums(self._inside(x), np.pi)

    def ppf(self, p):
        return 3.1 * np.tanh(self.near.ppf(p) / np.pi)

    def isf(self, p):
        return 3.1 * np.tanh(self.near.isf(p) / np.pi)

    def _moment(self, power, centre):
        x = -np.pi + 2 * np.pi * self.share
        return 2 * np.pi * (self.law.pdf(x) * (x - centre) ** power) @ self.weights

    def mean(self):
        return self._moment(1, 0.0)

    def var(self):
        return self._moment(2, self.mean())

    def support(self):
        return -np.pi, np.pi


class BetaBinomial:
    """The sums of SciPy's probabilities, of which it subtracts some from 1."""

    def __init__(self, size, alpha, beta):
        self.size, self.counts = size, stats.betabinom(size, alpha, beta)
        self.ppf, self.isf, self.support = self.counts.ppf, self.counts.isf, self.counts.support
        self.pmf = self.counts.pmf(np.arange(size + 1))

    def cdf(self, x):
        return np.concatenate([[0.0], np.cumsum(self.pmf)])[np.asarray(x, int) + 1]

    def sf(self, x):
        return np.concatenate([np.cumsum(self.pmf[::-1])[::-1], [0.0]])[np.asarray(x, int) + 1]


class Zeros:
    """A share of 0, and numbers of SciPy's counts; without their own 0 if `hurdle`."""

    def __init__(self, zero, counts, hurdle=False):
        self.zero, self.counts = zero, counts
        self.some = counts.sf(0) if hurdle else 1.0

    def sf(self, x):
        x = np.asarray(x, float)
        return np.where(x < 0, 1.0, (1 - self.zero) * self.counts.sf(np.maximum(x, 0)) / self.some)

    def cdf(self, x):
        x = np.asarray(x, float)
        left = (self.counts.sf(0) - self.counts.sf(x)) / self.some if self.some < 1 else None
        below = self.counts.cdf(x) if left is None else np.maximum(left, 0)
        return np.where(x < 0, 0.0, self.zero + (1 - self.zero) * below)

    def ppf(self, p):
        x = np.arange(0, 2 + self.counts.isf(1e-12))
        return np.searchsorted(self.cdf(x), np.asarray(p) * (1 - 1e-12)).astype(float)

    def isf(self, p):
        x = np.arange(0, 4 * self.counts.isf(1e-12))
        reached = self.sf(x) <= np.atleast_1d(p)[:, None]
        found = np.where(reached.any(-1), x[reached.argmax(-1)], x[-1])
        return found.reshape(np.shape(p))

    def mean(self):
        return (1 - self.zero) * self.counts.mean() / self.some

    def var(self):
        square = self.counts.var() + self.counts.mean() ** 2
        return (1 - self.zero) * square / self.some - self.mean() ** 2

    def std(self):
        return np.sqrt(self.var())

    def support(self):
        return 0, np.inf


class ZeroOr:
    """A share of 0, and positive numbers of SciPy's law."""

    def __init__(self, zero, law):
        self.zero, self.law = zero, law

    def logpdf(self, x):
        some = np.log1p(-self.zero) + self.law.logpdf(np.where(x == 0, 0.5, x))
        return np.where(x == 0, np.log(self.zero), some)

    def cdf(self, x):
        return np.where(np.asarray(x) < 0, 0.0, self.zero + (1 - self.zero) * self.law.cdf(x))

    def sf(self, x):
        return np.where(np.asarray(x) < 0, 1.0, (1 - self.zero) * self.law.sf(x))

    def ppf(self, p):
        return self.law.ppf(np.maximum((np.asarray(p) - self.zero) / (1 - self.zero), 0.0))

    def isf(self, p):
        return self.law.isf(np.minimum(np.asarray(p) / (1 - self.zero), 1.0))

    def mean(self):
        return (1 - self.zero) * self.law.mean()

    def var(self):
        return (1 - self.zero) * (self.law.var() + self.zero * self.law.mean() ** 2)

    def std(self):
        return np.sqrt(self.var())

    def support(self):
        return 0.0, self.law.support()[1]


class Pareto:
    """b exp(e) of SciPy's exponential e, whose small probabilities are right."""

    def __init__(self, a, b):
        self.b, self.e = b, stats.expon(scale=1 / a)

    def cdf(self, x):
        return self.e.cdf(np.log1p((x - self.b) / self.b))

    def sf(self, x):
        return self.e.sf(np.log1p((x - self.b) / self.b))

    def ppf(self, p):
        return self.b * np.exp(self.e.ppf(p))

    def isf(self, p):
        return self.b * np.exp(np.minimum(self.e.isf(p), 600.0))

    def support(self):
        return self.b, np.inf


class HalfT:
    """|t| of SciPy's t."""

    def __init__(self, df, sigma):
        self.df, self.sigma, self.t = df, sigma, stats.t(df, 0, sigma)

    def cdf(self, x):
        square = (np.maximum(x, 0) / self.sigma) ** 2
        near = special.betainc(0.5, self.df / 2, square / (self.df + square))
        return np.where(near < 0.5, near, 1 - self.sf(x))

    def logpdf(self, x):
        return np.log(2) + self.t.logpdf(x)

    def sf(self, x):
        return 2 * self.t.sf(x)

    def ppf(self, p):
        share = special.betaincinv(0.5, self.df / 2, np.minimum(p, 1 - 1e-15))
        return self.sigma * np.sqrt(self.df * share / (1 - share))

    def isf(self, p):
        return self.t.isf(np.asarray(p) / 2)

    def support(self):
        return 0.0, np.inf
