"""Discrete unknowns in loops, against sums over all their values written with NumPy."""

from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import special, stats
from tests.models.marginal.by_hand import check_density_and_gradient

import kinetograph as kg
from kinetograph.graph.node import Apply
from kinetograph.graph.precision import x64

N = 10
T = np.arange(N)
RNG = np.random.default_rng(5)
COUNTS = np.array([3, 5, 4, 6, 1, 0, 2, 1, 1, 4])
REALS, X = RNG.normal(size=N), RNG.normal(size=N)
ROWS = RNG.normal(size=(N, 2))
ONE, TWO = np.array([0.1, 0.2, 0.05, 0.15, 0.1, 0.3, 0.1]), np.array([0.3, 0.2, 0.4, 0.1])
POINTS = np.random.default_rng(4).normal(0, 0.7, (2, 3))


def levels():
    return [kg.normal(0, 1, name=name) for name in "abc"]


def poisson(log_rate, y=COUNTS):
    return stats.poisson(np.exp(log_rate)).logpmf(y)


def normal(mean, sd=1.0, y=REALS):
    return -0.5 * ((y - mean) / sd) ** 2 - np.log(sd) - 0.5 * np.log(2 * np.pi)


def logit(p, z):
    """log p(z) of a Bernoulli number with the log odds p."""
    return np.where(z, special.log_expit(p), special.log_expit(-p))


def change_point():
    (a, b, c), s = levels(), kg.categorical(ONE)
    for t in range(N):
        kg.observe(COUNTS[t], kg.poisson(kg.exp(kg.where(t < s, a, b) + c)))

    def by_hand(u, z):
        return np.log(ONE)[z[:, 0]] + poisson(np.where(z > T, u[0], u[1]) + u[2]).sum(1)

    return [a, b, c], [7], by_hand


def change_outside():
    """Some places of the change are before or after all steps; one step is left out."""
    (a, b, c), s = levels(), kg.discrete_uniform(-3, 12)
    for t in range(N):
        if t != 4:
            rate = kg.where(s <= t, b, a + c * X[t])
            kg.observe(REALS[t], kg.normal(rate, kg.where(s > t, 1.0, 0.5)))

    def by_hand(u, z):
        z = z - 3
        terms = normal(np.where(z <= T, u[1], u[0] + u[2] * X), np.where(z > T, 1.0, 0.5))
        return -np.log(16) + np.delete(terms, 4, 1).sum(1)

    return [a, b, c], [16], by_hand


def two_changes():
    (a, b, c), s, r = levels(), kg.categorical(ONE), kg.categorical(TWO)
    for t in range(N):
        rate = kg.where(t < s, a, kg.where(2 * r >= t, b, c))
        kg.observe(COUNTS[t], kg.poisson(kg.exp(rate)))
    kg.factor(kg.where(s < r, -0.5, 0.0))

    def by_hand(u, z):
        s, r = z[:, :1], z[:, 1:]
        terms = poisson(np.where(s > T, u[0], np.where(2 * r >= T, u[1], u[2])))
        prior = np.log(ONE)[z[:, 0]] + np.log(TWO)[z[:, 1]]
        return prior + terms.sum(1) - 0.5 * (s < r)[:, 0]

    return [a, b, c], [7, 4], by_hand


def two_loops_with_their_own_changes():
    (a, b, c), s, r = levels(), kg.categorical(ONE), kg.categorical(ONE[::-1])
    for t in range(N):
        kg.observe(COUNTS[t], kg.poisson(kg.exp(kg.where(t < s, a, b))))
    for day in range(N):
        kg.observe(COUNTS[::-1][day], kg.poisson(kg.exp(kg.where(day < r, b, c))))

    def by_hand(u, z):
        first = poisson(np.where(z[:, :1] > T, u[0], u[1]))
        second = poisson(np.where(z[:, 1:] > T, u[1], u[2]), COUNTS[::-1])
        prior = np.log(ONE)[z[:, 0]] + np.log(ONE[::-1])[z[:, 1]]
        return prior + (first + second).sum(1)

    return [a, b, c], [7, 7], by_hand


def mixture():
    a, b, c = levels()
    shares = kg.softmax(kg.stack([0.0, c]))
    mu = kg.stack([a, b])
    for i in range(N):
        z = kg.categorical(shares)
        kg.observe(REALS[i], kg.normal(mu[z], 0.7))

    def by_hand(u, z):
        return (logit(u[2], z) + normal(u[:2][z], 0.7)).sum(1)

    return [a, b, c], [2] * N, by_hand


def rows_with_regressions():
    """Coefficients and spreads of the group of each row."""
    a, b, c = levels()
    beta = kg.stack([[a, b], [b, c], [0.1, -0.3]])
    sd = kg.exp(kg.stack([0.0, 0.2, a]))
    for i in range(N - 1):
        z = kg.categorical([0.2, 0.5, 0.3])
        kg.observe(REALS[i], kg.normal(beta[z] @ ROWS[i] + c * X[i], sd[z]))

    def by_hand(u, z):
        beta = np.array([[u[0], u[1]], [u[1], u[2]], [0.1, -0.3]])
        mean = (beta[z] * ROWS[:-1]).sum(-1) + u[2] * X[:-1]
        sd = np.exp([0.0, 0.2, u[0]])[z]
        return (np.log([0.2, 0.5, 0.3])[z] + normal(mean, sd, REALS[:-1])).sum(1)

    return [a, b, c], [3] * (N - 1), by_hand


def rows_of_bernoulli_numbers():
    """A probability of its own for each row; one row is observed twice."""
    a, b, c = levels()
    for i in range(N):
        z = kg.bernoulli(kg.ilogit(c * X[i]))
        kg.observe(REALS[i], kg.normal(kg.where(z == 1, a, b), 1))
        if i == 2:
            kg.observe(0.3, kg.normal(z * a, 2))

    def by_hand(u, z):
        terms = logit(u[2] * X, z) + normal(np.where(z, u[0], u[1]))
        return terms.sum(1) + normal(z[:, 2] * u[0], 2.0, 0.3)

    return [a, b, c], [2] * N, by_hand


def rows_of_vectors():
    a, b, c = levels()
    mu = kg.stack([[a, b], [c, a]])
    scale = np.array([[1.0, 0.0], [0.4, 0.8]])
    for i in range(N):
        z = kg.categorical([0.4, 0.6])
        kg.observe(ROWS[i], kg.normal(mu[z], 1.5))
        kg.observe(ROWS[i, ::-1], kg.multivariate_normal(mu[z], chol=scale))

    def by_hand(u, z):
        mean = np.array([[u[0], u[1]], [u[2], u[0]]])[z]
        second = stats.multivariate_normal([0, 0], scale @ scale.T).logpdf(ROWS[:, ::-1] - mean)
        terms = normal(mean, 1.5, ROWS).sum(-1) + second
        return (np.log([0.4, 0.6])[z] + terms).sum(1)

    return [a, b, c], [2] * N, by_hand


def tables_of_rows():
    """A table of its own for each row, read by row and by column."""
    a, b, c = levels()
    table = kg.stack([[a, b], [c, 0.5]])
    for i in range(N - 1):
        z = kg.bernoulli(0.3)
        kg.observe(REALS[i], kg.normal(kg.stack([a * X[i], b + c * X[i]])[z], 1))
        kg.observe(ROWS[i], kg.normal(table[z] * X[i], 1))
        kg.observe(ROWS[i, ::-1], kg.normal(table[:, z], 2))
        square = kg.stack([a * X[1:], b * X[1:] + c], axis=1)  # as many rows as steps
        kg.observe(REALS[1:] * i, kg.normal(square[:, z], 3))

    def by_hand(u, z):
        table = np.array([[u[0], u[1]], [u[2], 0.5]])
        first = np.where(z, u[1] + u[2] * X[:-1], u[0] * X[:-1])
        terms = normal(first, 1.0, REALS[:-1])
        terms = terms + normal(table[z] * X[:-1, None], 1.0, ROWS[:-1]).sum(-1)
        terms = terms + normal(table.T[z], 2.0, ROWS[:-1, ::-1]).sum(-1)
        square = np.stack([u[0] * X[1:], u[1] * X[1:] + u[2]])
        terms = terms + normal(square[z], 3.0, REALS[1:] * T[:-1, None]).sum(-1)
        return (np.log([0.7, 0.3])[z] + terms).sum(1)

    return [a, b, c], [2] * (N - 1), by_hand


def labels_that_are_observed():
    a, b, c = levels()
    table = kg.softmax(kg.stack([[0.0, a, b], [c, 0.0, a]]), axis=-1)
    for i in range(N):
        z = kg.bernoulli(0.3)
        kg.observe(i % 3, kg.categorical(table[z]))

    def by_hand(u, z):
        logs = special.log_softmax([[0.0, u[0], u[1]], [u[2], 0.0, u[0]]], axis=-1)
        return (np.log([0.7, 0.3])[z] + logs[z, T % 3]).sum(1)

    return [a, b, c], [2] * N, by_hand


def two_for_each_row():
    a, b, c = levels()
    for i in range(N - 2):
        z, out = kg.categorical([0.3, 0.7]), kg.bernoulli(0.2)
        sd = kg.where(out == 1, 3.0, 0.5)
        kg.observe(REALS[i], kg.normal(kg.stack([a, b])[z], sd))
        kg.observe(COUNTS[i], kg.poisson(kg.exp(c * out)))

    def by_hand(u, each):
        z, out = each[:, ::2], each[:, 1::2]
        prior = np.log([0.3, 0.7])[z] + np.log([0.8, 0.2])[out]
        terms = normal(u[:2][z], np.where(out, 3.0, 0.5), REALS[:-2])
        return (prior + terms + poisson(u[2] * out, COUNTS[:-2])).sum(1)

    return [a, b, c], [2, 2] * (N - 2), by_hand


def sites_with_visits():
    """Sites of different numbers of visits."""
    a, b, c = levels()
    visits = [3, 1, 2, 2, 0, 4, 1, 1, 2, 1]
    for i, count in enumerate(visits):
        z = kg.bernoulli(kg.ilogit(a))
        for k in range(count):
            kg.observe((i + k) % 2, kg.bernoulli(0.05 + 0.9 * z * kg.ilogit(b + c * X[k])))

    def by_hand(u, z):
        total = logit(u[0], z).sum(1)
        for i, count in enumerate(visits):
            for k in range(count):
                p = 0.05 + 0.9 * z[:, i] * special.expit(u[1] + u[2] * X[k])
                total = total + np.log(p if (i + k) % 2 else 1 - p)
        return total

    return [a, b, c], [2] * N, by_hand


def one_for_all_and_one_for_each():
    (a, b, c), s = levels(), kg.categorical(TWO)
    for i in range(N - 1):
        z = kg.bernoulli(kg.where(s > 1, 0.2, 0.6))
        kg.observe(REALS[i], kg.normal(kg.where(z == 1, a, b) + kg.where(i < s, c, 0.0), 1))

    def by_hand(u, each):
        s, z = each[:, :1], each[:, 1:]
        p = np.where(s > 1, 0.2, 0.6)
        mean = np.where(z, u[0], u[1]) + np.where(s > T[:-1], u[2], 0.0)
        terms = np.log(np.where(z, p, 1 - p)) + normal(mean, 1.0, REALS[:-1])
        return np.log(TWO)[each[:, 0]] + terms.sum(1)

    return [a, b, c], [4] + [2] * (N - 1), by_hand


def random_numbers_with_groups():
    """Unknown numbers whose prior depends on the group."""
    (a, b, _), x = levels(), []
    for i in range(N):
        z = kg.bernoulli(0.4)
        x.append(kg.normal(kg.where(z == 1, a, b), 0.5, name=f"x{i}"))
        kg.observe(REALS[i], kg.normal(x[-1], 0.3))

    def by_hand(u, z):
        x = u[2:]
        prior = np.log([0.6, 0.4])[z] + normal(np.where(z, u[0], u[1]), 0.5, x)
        fixed = normal(x, 0.3).sum() - normal(0.0, 1.0, x).sum()  # `total` has a normal prior
        return prior.sum(1) + fixed

    return [a, b, *x], [2] * N, by_hand


def chain(steps=N, skipped=(), first=(0.3, 0.7)):
    def build():
        a, b, c = levels()
        moves = kg.softmax(kg.stack([[c, 0.0], [0.3, -c]]), axis=-1)
        mu = kg.stack([a, b])
        z = kg.categorical(first)
        for t in range(steps):
            if t:
                z = kg.categorical(moves[z])
            if t not in skipped:
                kg.observe(REALS[t], kg.normal(mu[z], 0.8))

        def by_hand(u, z):
            logs = special.log_softmax([[u[2], 0.0], [0.3, -u[2]]], axis=-1)
            terms = normal(u[:2][z], 0.8, REALS[:steps])
            terms = np.delete(terms, list(skipped), 1)
            prior = np.log(first)[z[:, 0]] + logs[z[:, :-1], z[:, 1:]].sum(1)
            return prior + terms.sum(1)

        return [a, b, c], [2] * steps, by_hand

    return build


def chain_of_bernoulli_numbers():
    """Transitions that depend on the step, made from the last to the first."""
    (a, b, c), z = levels(), {N - 1: kg.bernoulli(0.4)}
    for t in range(N - 2, -1, -1):
        odds = kg.where(z[t + 1] == 1, a, b) + c * X[t]
        z[t] = kg.bernoulli(kg.ilogit(odds))
    for t in range(N):
        kg.observe(REALS[t], kg.normal(1.0 * z[t], kg.exp(0.2 * a)))

    def by_hand(u, z):
        z = z[:, ::-1]
        odds = np.where(z[:, 1:], u[0], u[1]) + u[2] * X[:-1]
        prior = np.log([0.6, 0.4])[z[:, -1]] + logit(odds, z[:, :-1]).sum(1)
        return prior + normal(z, np.exp(0.2 * u[0])).sum(1)

    return [a, b, c], [2] * N, by_hand


def several_chains(lengths=(4, 5, 4)):
    def build():
        a, b, c = levels()
        moves = kg.stack([[kg.ilogit(c), 1 - kg.ilogit(c)], [0.2, 0.8]])
        mu, place = kg.stack([a, b]), 0
        for length in lengths:
            z = kg.categorical([0.5, 0.5])
            for t in range(length):
                if t:
                    z = kg.categorical(moves[z])
                kg.observe(REALS[place % N], kg.normal(mu[z], 1))
                place += 1

        def by_hand(u, z):
            p = special.expit(u[2])
            logs = np.log([[p, 1 - p], [0.2, 0.8]])
            total, place = 0.0, 0
            for length in lengths:
                own = z[:, place : place + length]
                y = REALS[np.arange(place, place + length) % N]
                total = total + np.log(0.5) + logs[own[:, :-1], own[:, 1:]].sum(1)
                total = total + normal(u[:2][own], 1.0, y).sum(1)
                place += length
            return total

        return [a, b, c], [2] * sum(lengths), by_hand

    return build


def chain_with_mixtures():
    """An outlier and a component in each step, beside the state."""
    a, b, c = levels()
    mu = kg.stack([[a, b], [c, 0.5]])
    z, share = kg.bernoulli(0.4), kg.data([[0.3, 0.7], [0.8, 0.2]])
    for t in range(8):
        z = kg.bernoulli(kg.where(z == 1, 0.9, kg.ilogit(b))) if t else z
        part = kg.categorical(share[z])
        kg.observe(REALS[t], kg.normal(mu[z, part], kg.exp(0.1 * a)))

    def by_hand(u, each):
        z, part = each[:, ::2], each[:, 1::2]
        odds = np.where(z[:, :-1], special.logit(0.9), u[1])
        prior = np.log([0.6, 0.4])[z[:, 0]] + logit(odds, z[:, 1:]).sum(1)
        mean = np.array([[u[0], u[1]], [u[2], 0.5]])[z, part]
        terms = np.log([[0.3, 0.7], [0.8, 0.2]])[z, part]
        return prior + (terms + normal(mean, np.exp(0.1 * u[0]), REALS[:8])).sum(1)

    return [a, b, c], [2, 2] * 8, by_hand


def two_chains_read_together(steps=8):
    a, b, c = levels()
    z, w = kg.bernoulli(0.4), kg.bernoulli(0.5)
    for t in range(steps):
        if t:
            z, w = kg.bernoulli(kg.where(z == 1, 0.9, 0.2)), kg.bernoulli(0.3 + 0.4 * w)
        kg.observe(REALS[t], kg.normal(a * z + b * w, kg.exp(0.1 * c)))

    def by_hand(u, each):
        z, w = each[:, ::2], each[:, 1::2]
        after, later = np.where(z, 0.9, 0.2)[:, :-1], (0.3 + 0.4 * w)[:, :-1]
        prior = np.log([0.6, 0.4])[z[:, 0]] + np.log(0.5)
        prior = prior + np.log(np.where(z[:, 1:], after, 1 - after)).sum(1)
        prior = prior + np.log(np.where(w[:, 1:], later, 1 - later)).sum(1)
        terms = normal(u[0] * z + u[1] * w, np.exp(0.1 * u[2]), REALS[:steps])
        return prior + terms.sum(1)

    return [a, b, c], [2, 2] * steps, by_hand


def chain_and_one_for_all():
    (a, b, c), s = levels(), kg.categorical(TWO)
    z = kg.bernoulli(0.5)
    for t in range(N):
        if t:
            z = kg.bernoulli(kg.ilogit(kg.where(z == 1, a + s, b - s)))
        kg.observe(REALS[t], kg.normal(kg.where(z == 1, c, -0.5), 1))

    def by_hand(u, each):
        s, z = each[:, :1], each[:, 1:]
        odds = np.where(z[:, :-1], u[0] + s, u[1] - s)
        prior = np.log(TWO)[each[:, 0]] + np.log(0.5) + logit(odds, z[:, 1:]).sum(1)
        return prior + normal(np.where(z, u[2], -0.5)).sum(1)

    return [a, b, c], [4] + [2] * N, by_hand


def neighbours_by_factors(ring=False):
    def build():
        (a, b, c), z = levels(), [kg.bernoulli(0.3) for _ in range(N)]
        for t in range(N if ring else N - 1):
            kg.factor(kg.where(z[t] == z[(t + 1) % N], a, b * c))
        kg.observe(0.2, kg.normal(z[3] * a, 1))

        def by_hand(u, z):
            after = np.roll(z, -1, 1) if ring else z[:, 1:]
            equal = (z if ring else z[:, :-1]) == after
            total = np.log([0.7, 0.3])[z].sum(1) + np.where(equal, u[0], u[1] * u[2]).sum(1)
            return total + normal(z[:, 3] * u[0], 1.0, 0.2)

        return [a, b, c], [2] * N, by_hand

    return build


def impossible_moves():
    """A state that can only be left, and one that can only be entered."""
    a, b, c = levels()
    moves = kg.stack([[kg.ilogit(c), 1 - kg.ilogit(c), 0.0], [0.0, 0.5, 0.5], [0.0, 0.0, 1.0]])
    mu, z = kg.stack([a, b, 0.0]), kg.categorical([1.0, 0.0, 0.0])
    for t in range(N - 1):
        if t:
            z = kg.categorical(moves[z])
        kg.observe(REALS[t], kg.normal(mu[z], 1))

    def by_hand(u, z):
        p = special.expit(u[2])
        with np.errstate(divide="ignore"):
            logs = np.log([[p, 1 - p, 0], [0, 0.5, 0.5], [0, 0, 1]])
            first = np.log([1.0, 0, 0])
        mean = np.array([u[0], u[1], 0.0])[z]
        prior = first[z[:, 0]] + logs[z[:, :-1], z[:, 1:]].sum(1)
        return prior + normal(mean, 1.0, REALS[:-1]).sum(1)

    return [a, b, c], [3] * (N - 1), by_hand


def two_steps_back():
    a, b, c = levels()
    z = [kg.bernoulli(0.4), kg.bernoulli(0.6)]
    for t in range(2, N + 2):
        z.append(kg.bernoulli(kg.ilogit(a * z[t - 1] + b * z[t - 2])))
        kg.observe(REALS[t - 2], kg.normal(c * z[t], 1))

    def by_hand(u, z):
        prior = np.log([0.6, 0.4])[z[:, 0]] + np.log([0.4, 0.6])[z[:, 1]]
        odds = u[0] * z[:, 1:-1] + u[1] * z[:, :-2]
        return prior + logit(odds, z[:, 2:]).sum(1) + normal(u[2] * z[:, 2:]).sum(1)

    return [a, b, c], [2] * (N + 2), by_hand


def branches():
    """Branches with operations and branches inside; an index outside is not in them."""
    (a, b, c), s, r = levels(), kg.discrete_uniform(0, 11), kg.bernoulli(0.4)
    mu = kg.stack([a, b, c])

    @kg.function
    def rate(t, s, r):
        level = a
        if t < s:
            level = 2.0 * b + X[t] * c
        elif t % 3 == r:
            level = c
        return level

    for t in range(N):
        kg.observe(COUNTS[t], kg.poisson(kg.exp(rate(t, s, r))))
        z = kg.bernoulli(0.3)
        mean = kg.cond(z == 1, lambda: kg.exp(0.1 * a), lambda z=z: mu[z + 1])
        kg.observe(REALS[t], kg.normal(mean, 1))
        place = kg.cond(z == 1, lambda z=z: mu[z + 1], lambda z=z: mu[z - 1])
        kg.observe(X[t], kg.normal(place, 1))

    def by_hand(u, each):
        s, r, z = each[:, :1], each[:, 1:2], each[:, 2:]
        last = np.where(T % 3 == r, u[2], u[0])
        first = poisson(np.where(s > T, 2 * u[1] + X * u[2], last))
        second = normal(np.where(z, np.exp(0.1 * u[0]), u[1])) + normal(u[2], 1.0, X)
        prior = np.log([0.6, 0.4])[r[:, 0]] - np.log(12) + np.log([0.7, 0.3])[z].sum(1)
        return prior + (first + second).sum(1)

    return [a, b, c], [12, 2] + [2] * N, by_hand


def stacks():
    """Unknowns and values that a loop collects, observed as one array."""
    (a, b, c), s, mu = levels(), kg.discrete_uniform(0, 11), None
    mu = kg.stack([a, b])
    z, x, means, rates = [], [], [], []
    for t in range(N):
        p = 0.3 if t == 0 else kg.where(z[-1] == 1, 0.8, kg.ilogit(c))
        z.append(kg.bernoulli(p))
        x.append(kg.bernoulli(0.4))
        means.append(kg.where(x[t] == 1, mu[0], c) * X[t])
        rates.append(kg.where(t < s, a, b))
    kg.observe(REALS, kg.normal(mu[kg.stack(z)], 1))
    kg.observe(REALS[::-1], kg.normal(kg.stack(means)[::-1], 1))
    kg.observe(COUNTS, kg.poisson(kg.exp(kg.stack(rates))))
    kg.factor(kg.stack(z[1:]) * kg.stack(z[:-1]) * c)

    def by_hand(u, values):
        s = np.arange(12)[:, None]
        first = special.logsumexp(poisson(np.where(s > T, u[0], u[1])).sum(1)) - np.log(12)
        z = values
        odds = np.where(z[:, :-1], special.logit(0.8), u[2])
        prior = np.log([0.7, 0.3])[z[:, 0]] + logit(odds, z[:, 1:]).sum(1)
        chain = prior + normal(u[:2][z]).sum(1) + u[2] * (z[:, 1:] * z[:, :-1]).sum(1)
        rows = np.log([0.6, 0.4])[z] + normal(np.where(z, u[0], u[2]) * X, 1.0, REALS)
        return first + chain + special.logsumexp(rows.sum(1))

    return [a, b, c], [2] * N, by_hand


def elements_of_arrays():
    """Unknowns in arrays, of which a loop reads the elements."""
    a, b, c = levels()
    z = kg.categorical([0.3, 0.7], shape=N)
    s = kg.markov_chain([0.5, 0.5], kg.stack([[kg.ilogit(c), kg.ilogit(-c)], [0.2, 0.8]]), N)
    for t in range(N):
        kg.observe(REALS[t], kg.normal(kg.stack([a, b])[z[t]], 1))
        kg.observe(X[t], kg.normal(kg.where(s[t] == 1, a, c), 1))

    def by_hand(u, values):
        p = special.expit(u[2])
        z, logs = values[:1024, N:], np.log([[p, 1 - p], [0.2, 0.8]])
        first = special.logsumexp((np.log([0.3, 0.7])[z] + normal(u[:2][z])).sum(1))
        prior = np.log(0.5) + logs[z[:, :-1], z[:, 1:]].sum(1)
        second = prior + normal(np.where(z, u[0], u[2]), 1.0, X).sum(1)
        return first + second

    return [a, b, c], [1] * N + [2] * N, by_hand


def itself_as_neighbour():
    """The first pair has one unknown twice."""
    (a, b, c), z = levels(), [kg.bernoulli(0.3) for _ in range(N)]
    for t in range(N):
        before = z[max(t - 1, 0)]
        kg.factor(kg.where(z[t] == before, a, b) + c * z[t] * before)

    def by_hand(u, z):
        before = z[:, np.maximum(T - 1, 0)]
        terms = np.where(z == before, u[0], u[1]) + u[2] * z * before
        return np.log([0.7, 0.3])[z].sum(1) + terms.sum(1)

    return [a, b, c], [2] * N, by_hand


def itself_in_turn():
    """Three places, of which two have one unknown: the first two or the last two."""
    (a, b, c), z = levels(), [kg.bernoulli(0.3) for _ in range(N)]
    for t in range(N - 1):
        kg.factor(a * (z[t] + 2 * z[t + t % 2]) * z[t + 1] + b * z[t + t % 2] * c)

    def by_hand(u, z):
        middle = z[:, T[:-1] + T[:-1] % 2]
        terms = u[0] * (z[:, :-1] + 2 * middle) * z[:, 1:] + u[1] * middle * u[2]
        return np.log([0.7, 0.3])[z].sum(1) + terms.sum(1)

    return [a, b, c], [2] * N, by_hand


def impossible_sides():
    """The side of a `where` that is not taken has an infinite slope, or is -inf."""
    a, b, c = levels()
    for t in range(N):
        z = kg.bernoulli(0.3)
        kg.observe(REALS[t], kg.normal(kg.where(z > 0, kg.sqrt(z * kg.exp(a)), b), 1))
        kg.factor(kg.log(kg.where(z > 0, 0.5, kg.exp(c)) * (z if t % 2 else 1 - 0.1 * z)))

    def by_hand(u, z):
        weight = np.where(T % 2, z, 1 - 0.1 * z) * np.where(z, 0.5, np.exp(u[2]))
        with np.errstate(divide="ignore"):
            factors = np.log(weight)
        terms = normal(np.where(z, np.exp(u[0] / 2), u[1])) + np.log([0.7, 0.3])[z]
        return (terms + factors).sum(1)

    return [a, b, c], [2] * N, by_hand


def steps_of_a_random_walk():
    """The level of each step is computed from the level before."""
    a, b, c = levels()
    level, place = 0.0, kg.categorical(TWO)
    for t in range(N):
        level = 0.7 * level + c * X[t]
        z = kg.bernoulli(kg.ilogit(a))
        kg.observe(REALS[t], kg.normal(level + kg.where(z == 1, b, 0.0), 1))
        kg.observe(COUNTS[t], kg.poisson(kg.exp(kg.where(t < place, level, a))))

    def by_hand(u, each):
        place, z = each[:, :1], each[:, 1:]
        levels = [0.0]
        for t in range(N):
            levels.append(0.7 * levels[-1] + u[2] * X[t])
        terms = logit(u[0], z) + normal(np.array(levels[1:]) + np.where(z, u[1], 0.0))
        terms = terms + poisson(np.where(place > T, levels[1:], u[0]))
        return np.log(TWO)[each[:, 0]] + terms.sum(1)

    return [a, b, c], [4] + [2] * N, by_hand


# The numbers of terms, of arrays that stand for unknowns, and of chains among these.
CASES = {
    "change_point": (change_point, 2, 0, 0),
    "change_outside": (change_outside, 2, 0, 0),
    "two_changes": (two_changes, 4, 0, 0),
    "two_loops_with_their_own_changes": (two_loops_with_their_own_changes, 4, 0, 0),
    "mixture": (mixture, 2, 1, 0),
    "rows_with_regressions": (rows_with_regressions, 2, 1, 0),
    "rows_of_bernoulli_numbers": (rows_of_bernoulli_numbers, 3, 1, 0),
    "rows_of_vectors": (rows_of_vectors, 3, 1, 0),
    "tables_of_rows": (tables_of_rows, 21, 1, 0),
    "labels_that_are_observed": (labels_that_are_observed, 2, 1, 0),
    "two_for_each_row": (two_for_each_row, 4, 2, 0),
    "sites_with_visits": (sites_with_visits, 2, 1, 0),
    "one_for_all_and_one_for_each": (one_for_all_and_one_for_each, 3, 1, 0),
    "random_numbers_with_groups": (random_numbers_with_groups, 2, 1, 0),
    "chain": (chain(), 3, 1, 1),
    "chain_with_gaps": (chain(N, (0, 4)), 3, 1, 1),
    "chain_without_data_at_its_ends": (chain(N, (0, N - 1), (0.9, 0.1)), 3, 1, 1),
    "chain_of_bernoulli_numbers": (chain_of_bernoulli_numbers, 3, 1, 1),
    "several_chains": (several_chains(), 5, 2, 2),
    "chains_of_one_length": (several_chains((3, 3, 3, 3)), 6, 1, 1),
    "a_chain_and_single_numbers": (several_chains((9, 1, 1, 1)), 6, 2, 1),
    "chain_with_mixtures": (chain_with_mixtures, 10, 2, 1),
    "two_chains_read_together": (two_chains_read_together, 17, 0, 0),
    "chain_and_one_for_all": (chain_and_one_for_all, 4, 1, 1),
    "neighbours_by_factors": (neighbours_by_factors(), 3, 1, 1),
    "ring": (neighbours_by_factors(ring=True), 3, 0, 0),
    "impossible_moves": (impossible_moves, 3, 1, 1),
    "branches": (branches, 23, 1, 0),
    "stacks": (stacks, 7, 2, 1),
    "elements_of_arrays": (elements_of_arrays, 3, 0, 0),
    "itself_as_neighbour": (itself_as_neighbour, 3, 1, 1),
    "itself_in_turn": (itself_in_turn, 10, 1, 1),
    "impossible_sides": (impossible_sides, 12, 1, 0),
    "steps_of_a_random_walk": (steps_of_a_random_walk, 4, 1, 0),
    "two_steps_back": (two_steps_back, 4, 0, 0),
}


def total(u, sizes, by_hand):
    """The log density with all combinations of values written out."""
    values = np.array(list(product(*map(range, sizes))))
    return special.logsumexp(by_hand(u, values)) + stats.norm.logpdf(u).sum()


EVERY_DAY = [
    "stacks",
    "branches",
    "change_outside",
    "two_changes",
    "two_for_each_row",
    "sites_with_visits",
]
EVERY_DAY += [
    "chain_with_gaps",
    "tables_of_rows",
    "chains_of_one_length",
    "chain_of_bernoulli_numbers",
]
EVERY_DAY += ["chain_and_one_for_all", "itself_as_neighbour", "steps_of_a_random_walk"]


def cases(names, often):
    slow = pytest.mark.slow
    return [pytest.param(n, marks=[] if n in often else slow, id=n) for n in names]


@pytest.mark.parametrize("name", cases(CASES, EVERY_DAY))
def test_density_and_gradient(name):
    build, terms, arrays, chains = CASES[name]
    unknowns, sizes, by_hand = build()
    model = kg.model(*unknowns)
    marginal = model.density.marginal
    lifted = marginal.lifted
    assert (len(marginal.tables), len(lifted.members), len(lifted.chains)) == (
        terms,
        arrays,
        chains,
    )
    points = np.random.default_rng(4).normal(0, 0.7, (2, len(unknowns)))
    check_density_and_gradient(model, points, lambda u: total(u, sizes, by_hand))


DRAWN = ["chain_with_gaps", "chain_and_one_for_all", "one_for_all_and_one_for_each", "two_changes"]
DRAWN += ["chain_with_mixtures", "chains_of_one_length", "two_for_each_row", "ring"]


@pytest.mark.parametrize("name", cases(DRAWN, ["chain_and_one_for_all", "chains_of_one_length"]))
def test_draws_have_their_conditional_distribution(name):
    """Pairs of discrete unknowns that were made one after the other, at one point."""
    unknowns, sizes, by_hand = CASES[name][0]()
    discrete = [kg.Array(v) for v in kg.model(*unknowns).component.discrete]
    together = kg.stack([z.astype(int) for z in discrete])
    model = kg.model(*unknowns, together=together)
    u = POINTS[0]
    states = u + 1e-9 * np.random.default_rng(1).normal(size=(20_000, 3))
    with x64():
        data = model.bind().data
        draw = jax.jit(jax.vmap(lambda u: model.density.targets(u, [together.node], data)[0]))
        drawn = np.asarray(draw(jnp.asarray(states)))
    values = np.array(list(product(*map(range, sizes))))
    logs = by_hand(u, values)
    shares = np.exp(logs - special.logsumexp(logs))
    for i in range(len(sizes) - 1):
        count = sizes[i] * sizes[i + 1]
        wanted, found = (v[:, i] * sizes[i + 1] + v[:, i + 1] for v in (values, drawn))
        expected = np.bincount(wanted, shares, count) * len(drawn)
        likely = expected > 5
        seen = np.bincount(found, minlength=count)[likely]
        scale = seen.sum() / expected[likely].sum()
        assert scale > 0.99
        assert stats.chisquare(seen, expected[likely] * scale).pvalue > 1e-9


@pytest.mark.parametrize("stacked", [True, False])
def test_a_change_in_a_loop_is_cut_into_ranges(stacked):
    """Each step has two densities, for any number of places of the change."""
    (a, b, _c), s, rates = levels(), kg.discrete_uniform(0, 40), []
    for t in range(N):
        rates.append(kg.exp(kg.where(t < s, a, b)))
        if not stacked:
            kg.observe(COUNTS[t], kg.poisson(rates[-1]))
    if stacked:
        kg.observe(COUNTS, kg.poisson(kg.stack(rates)))
    model = kg.model(a, b)
    (cuts,) = [t.cuts for t in model.density.marginal.tables if t.cuts is not None]
    assert cuts.rows == N
    assert len(next(iter(cuts.choices.values()))) == 2


def test_other_data():
    """The comparisons and the sizes of counts change with the data."""

    def made(times, x, y, vector=False):
        (a, b, c), s = levels(), kg.categorical(ONE)
        times, x = kg.data(times, name="times"), kg.data(x, name="x")
        if vector:
            z = kg.bernoulli(kg.ilogit(x * c))
            rate = kg.exp(kg.where(times < s, a, b) + 0.1 * z)
            kg.observe(kg.data(y, name="y"), kg.poisson(rate))
        for t in () if vector else range(N):
            z = kg.bernoulli(kg.ilogit(x[t] * c))
            rate = kg.exp(kg.where(times[t] < s, a, b) + 0.1 * z)
            kg.observe(kg.data(y[t], name=f"y{t}"), kg.poisson(rate))
        return kg.model(a, b, c)

    model, other = made(1.0 * T, X, COUNTS), made(T[::-1] * 0.5, 2 * X, COUNTS * 9000, vector=True)
    free = POINTS
    np.testing.assert_allclose(
        model.log_prob(free), made(1.0 * T, X, COUNTS, vector=True).log_prob(free), rtol=1e-12
    )
    model.set_data(times=T[::-1] * 0.5, x=2 * X, **{f"y{t}": COUNTS[t] * 9000 for t in range(N)})
    np.testing.assert_allclose(model.log_prob(free), other.log_prob(free), rtol=1e-12)
    np.testing.assert_allclose(model.gradient(free), other.gradient(free), rtol=1e-10)
    terms = model.density.marginal.joined
    assert not any(term.small for term in terms if isinstance(term.target, Apply))


def test_a_program_as_small_as_that_of_arrays():
    """The number of operations does not depend on the number of steps."""

    def operations(steps):
        rng = np.random.default_rng(1)
        a, b, _c = levels()
        s, z = kg.discrete_uniform(0, steps), kg.bernoulli(0.5)
        for t in range(steps):
            z = kg.bernoulli(kg.where(z == 1, 0.9, 0.2)) if t else z
            kg.observe(rng.normal(), kg.normal(kg.where(t < s, a, b), 1))
            kg.observe(rng.normal(), kg.normal(kg.where(z == 1, a, b), 1))
        model = kg.model(a, b)
        with x64():
            data = model.bind([jnp.asarray(v) for v in model.argument_values]).data
            density = jax.make_jaxpr(lambda free: model.density.log_density(free, data))
            return str(density(jnp.zeros(2))).count("\n")

    # Each observed number is an operand of a stack.
    assert operations(60) < operations(20) + 4 * 40 + 20


def test_values_too_many_for_one_array():
    """One for all, with 1,500 values, beside one for each row."""
    a, s, terms = kg.normal(0, 1, name="a"), kg.discrete_uniform(0, 1499), 0.0
    for t in range(N):
        z = kg.discrete_uniform(0, 9)
        kg.observe(REALS[t], kg.normal(a + 0.1 * z - 0.001 * s, 1))
        means = 0.3 + 0.1 * np.arange(10) - 0.001 * np.arange(1500)[:, None]
        terms = terms + special.logsumexp(normal(means, 1.0, REALS[t]), axis=1) - np.log(10)
    wanted = special.logsumexp(terms) - np.log(1500) + normal(0.3, 1.0, 0.0)
    assert kg.model(a).log_prob([0.3]) == pytest.approx(wanted, rel=1e-12)


def test_values_too_many_for_a_chain():
    """One for all, with 6,000 values, beside the states of a chain."""
    a, s, z = kg.normal(0, 1, name="a"), kg.discrete_uniform(0, 5999), kg.bernoulli(0.4)
    logs = np.log([0.6, 0.4]) + 0.0 * np.arange(6000)[:, None]
    moves = np.log([[0.8, 0.2], [0.1, 0.9]])
    for t in range(N):
        if t:
            z = kg.bernoulli(kg.where(z == 1, 0.9, 0.2))
            logs = special.logsumexp(logs[:, :, None] + moves, axis=1)
        kg.observe(REALS[t], kg.normal(a + z - 0.0005 * s, 1))
        mean = 0.3 + np.arange(2) - 0.0005 * np.arange(6000)[:, None]
        logs = logs + normal(mean, 1.0, REALS[t])
    wanted = special.logsumexp(logs) - np.log(6000) + normal(0.3, 1.0, 0.0)
    assert kg.model(a).log_prob([0.3]) == pytest.approx(wanted, rel=1e-12)


def test_a_stack_beside_one_of_its_unknowns():
    (a, b, _c), z = levels(), [kg.bernoulli(0.3) for _ in range(N)]
    mu = kg.stack([a, b])
    kg.observe(REALS, kg.normal(mu[kg.stack(z)] + 0.5 * z[2], 1))
    values, u = np.array(list(product(range(2), repeat=N))), np.array([0.4, -0.7])
    each = np.log([0.7, 0.3])[values] + normal(u[values] + 0.5 * values[:, 2:3])
    wanted = special.logsumexp(each.sum(1)) + normal(u, 1.0, 0.0).sum()
    assert kg.model(a, b).log_prob(u) == pytest.approx(wanted, rel=1e-12)


def test_single_precision():
    with kg.precision("float32"):
        a = kg.normal(0, 1, name="a")
        z = [kg.bernoulli(0.3) for _ in range(N)]
        for t in range(N):
            kg.observe(REALS[t], kg.normal(kg.where(z[t] == 1, a, 0.5), 1))
    model = kg.model(a)
    found = {table.term.node.dtype for table in model.density.marginal.tables}
    assert found == {np.dtype("float32")}
    each = np.logaddexp(np.log(0.3) + normal(0.2), np.log(0.7) + normal(0.5))
    assert model.log_prob([0.2]) == pytest.approx(each.sum() + normal(0.2, 1.0, 0.0), rel=1e-5)


def test_the_report_of_many_unknowns():
    a = kg.normal(0, 1, name="a")
    for t in range(N):
        kg.observe(REALS[t], kg.normal(a + kg.bernoulli(0.5, name=f"z{t}"), 1))
    names = [term.name for term in kg.model(a).debug([0.0]).terms]
    assert names == ["a", "z0, z1, ... (10 discrete unknowns)"]


def test_large_counts():
    """The terms of their densities cancel, unless the formula for large counts is used."""
    found, counts = [], 10 ** np.arange(N)
    for loop in (True, False):
        a, z = kg.normal(0, 1, name="a"), kg.bernoulli(0.3, shape=N)
        states = [kg.bernoulli(0.3) for _ in range(N)]
        for t in range(N) if loop else ():
            rate = counts[t] * kg.exp(1e-4 * (a + states[t]))
            kg.observe(counts[t], kg.poisson(rate))
        if not loop:
            kg.observe(counts, kg.poisson(counts * kg.exp(1e-4 * (a + z))))
        found.append(kg.model(a).log_prob([0.3]))
    assert found[0] == pytest.approx(found[1], rel=1e-12)
