"""Probabilities of 0, 1, 2, ... of numbers that may be complex."""

import numpy as np
from scipy import special

MANY = np.arange(90)  # what lies beyond does not count


def poisson(rate):
    return np.exp(MANY * np.log(rate) - rate - special.loggamma(MANY + 1.0))


def negative_binomial(size, prob):
    ways = special.loggamma(MANY + size) - special.loggamma(size) - special.loggamma(MANY + 1.0)
    return np.exp(ways + size * np.log(prob) + MANY * np.log(1 - prob))


def negative_binomial_mean(mean, dispersion):
    return negative_binomial(1 / dispersion, 1 / (1 + mean * dispersion))


def binomial(size, prob):
    k = np.arange(size.real + 1)
    return special.comb(size.real, k) * prob**k * (1 - prob) ** (size.real - k)


def beta_binomial(size, alpha, beta):
    def log_beta(a, b):
        return special.loggamma(a) + special.loggamma(b) - special.loggamma(a + b)

    k = np.arange(size.real + 1)
    shares = np.exp(log_beta(k + alpha, size.real - k + beta) - log_beta(alpha + 0j, beta + 0j))
    return special.comb(size.real, k) * shares


def expit(x):
    return 1 / (1 + np.exp(-x))


def ordered(below):
    def labels(eta, *cutpoints):
        cumulative = below(np.array(cutpoints) - eta)
        return np.diff(np.concatenate([[0.0], cumulative, [1.0]]))

    return labels


def inflated(counts):
    return lambda zero, *rest: zero * (MANY == 0) + (1 - zero) * counts(*rest)


def hurdle(counts):
    def probabilities(zero, *rest):
        every = counts(*rest)
        return np.where(MANY == 0, zero, (1 - zero) * every / (1 - every[0]))

    return probabilities


def hypergeometric(m, n, k):
    m, n, k = (round(v.real) for v in (m, n, k))
    x = np.arange(min(m, k) + 1)
    return special.comb(m, x) * special.comb(n, k - x) / special.comb(m + n, k)
