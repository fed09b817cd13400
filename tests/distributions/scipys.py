"""Distributions made of SciPy's, with its methods, where it has none or one that rounds."""

import numpy as np
from scipy import special, stats


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
