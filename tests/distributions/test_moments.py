"""Means and variances of every family, against SciPy, mpmath and linear algebra."""

import itertools
from functools import partial

import jax
import jax.numpy as jnp
import mpmath as mp
import numpy as np
import pytest
from scipy import special, stats
from tests.distributions.scipys import VonMises, Zeros, ordered

from kinetograph.distributions.family import FAMILIES
from kinetograph.distributions.mixture import mixture, mixture_of
from kinetograph.distributions.truncation import truncated
from kinetograph.graph.precision import x64


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

# A few sets of parameters, and what another says of them.
CASES = {
    "normal": ([(1.5, 2.0), (-1e8, 1e-3)], by_scipy(stats.norm)),
    "half_normal": ([(2.0,), (1e-3,)], by_scipy(lambda sd: stats.halfnorm(0, sd))),
    "cauchy": ([(1.0, 2.0)], by_scipy(stats.cauchy)),
    "half_cauchy": ([(2.0,)], by_scipy(lambda scale: stats.halfcauchy(0, scale))),
    "student": (
        [(3.0, 1.0, 2.0), (1.5, 0.0, 1.0), (2.0, -1.0, 1.0), (2.001, 1.0, 3.0), (1e7, 0.0, 2.0)],
        by_scipy(stats.t),
    ),
    "half_student": (
        [(3.0, 2.0), (2.001, 1.0), (60.0, 3.0), (1e8, 0.5)],
        numbers(lambda *p: half_student(*p)[0], lambda *p: half_student(*p)[1]),
    ),
    "lognormal": (
        [(0.5, 0.75), (-3.0, 1e-5), (1.0, 8.0)],
        numbers(
            lambda m, s: mp.exp(m + s * s / 2),
            lambda m, s: (mp.exp(s * s) - 1) * mp.exp(2 * m + s * s),
        ),
    ),
    "exponential": ([(0.5,), (1e4,)], by_scipy(lambda rate: stats.expon(scale=1 / rate))),
    "gamma": (
        [(2.5, 1.5), (1e-8, 3.0), (1e9, 1e-3)],
        by_scipy(lambda a, rate: stats.gamma(a, scale=1 / rate)),
    ),
    "chi_squared": ([(4.5,), (1e-3,)], by_scipy(stats.chi2)),
    "inverse_gamma": (
        [(2.5, 1.5), (1.5, 3.0), (0.8, 1.0), (2.0, 1.0), (1e6, 1e5)],
        by_scipy(lambda a, b: stats.invgamma(a, scale=b)),
    ),
    "f": ([(4.5, 9.0), (2.0, 3.0), (3.0, 1.5), (3.0, 4.001), (1e6, 1e7)], by_scipy(stats.f)),
    "wald": (
        [(1.5, 2.5), (1e4, 1e-2)],
        by_scipy(lambda mu, lam: stats.invgauss(mu / lam, scale=lam)),
    ),
    "asymmetric_laplace": (
        [(1.0, 2.0, 1.6), (0.0, 1.0, 1e-3)],
        by_scipy(lambda mu, sigma, kappa: stats.laplace_asymmetric(kappa, mu, sigma)),
    ),
    "skew_normal": (
        [(1.0, 2.0, 1.6), (0.0, 1.0, -1e9), (0.0, 1.0, 0.0)],
        by_scipy(lambda location, scale, alpha: stats.skewnorm(alpha, location, scale)),
    ),
    "exponentially_modified_normal": (
        [(1.0, 2.0, 1.6), (0.0, 1.0, 1e-3)],
        by_scipy(lambda mean, sd, rate: stats.exponnorm(1 / (sd * rate), mean, sd)),
    ),
    "weibull": (
        [(1.5, 2.0), (0.1, 1.0), (19.0, 2.0), (21.0, 2.0), (1e3, 1.0), (1e7, 3.0)],
        numbers(lambda *p: weibull(*p)[0], lambda *p: weibull(*p)[1]),
    ),
    "pareto": (
        [(2.5, 3.0), (1.5, 2.0), (0.5, 1.0), (1.0, 1.0), (1e5, 2.0)],
        by_scipy(lambda a, b: stats.pareto(a, scale=b)),
    ),
    "gumbel": ([(1.0, 2.0)], by_scipy(stats.gumbel_r)),
    "beta": ([(2.5, 1.5), (1e-5, 3.0), (3e8, 7e8)], by_scipy(stats.beta)),
    "uniform": ([(-1.0, 3.0), (1e6, 1e6 + 1)], by_scipy(lambda a, b: stats.uniform(a, b - a))),
    "von_mises": (
        [(0.0, 1.0), (1.2, 0.3), (-3.0, 40.0), (8.0, 1000.0), (-1.0, 2e-9)],
        by_scipy(VonMises),
    ),
    "laplace": ([(1.0, 2.0)], by_scipy(stats.laplace)),
    "logistic": ([(1.0, 2.0)], by_scipy(stats.logistic)),
    "bernoulli": ([(0.3,), (0.0,), (1.0,)], by_scipy(stats.bernoulli)),
    "bernoulli_logit": (
        [(-0.7,), (40.0,), (-300.0,)],
        numbers(lambda t: 1 / (1 + mp.exp(-t)), lambda t: 1 / (1 + mp.exp(-t)) / (1 + mp.exp(t))),
    ),
    "binomial": ([(40, 0.3), (10**9, 1e-9), (0, 0.5)], by_scipy(stats.binom)),
    "binomial_logit": ([(40, -0.7)], by_scipy(lambda n, t: stats.binom(n, special.expit(t)))),
    "poisson": ([(4.0,), (1e9,)], by_scipy(stats.poisson)),
    "poisson_log_rate": ([(1.5,)], by_scipy(lambda t: stats.poisson(np.exp(t)))),
    "geometric": ([(0.3,), (1e-9,), (1.0,)], by_scipy(lambda p: stats.geom(p, loc=-1))),
    "discrete_uniform": ([(-3, 17), (5, 5)], by_scipy(lambda a, b: stats.randint(a, b + 1))),
    "beta_binomial": ([(40, 0.7, 2.5), (300, 1e6, 2e6)], by_scipy(stats.betabinom)),
    "hypergeometric": (
        [(30, 25, 40), (10**6, 3, 10**5), (5, 0, 3)],
        by_scipy(lambda m, n, k: stats.hypergeom(m + n, m, k)),
    ),
    "negative_binomial": ([(2.5, 0.4), (1e6, 0.999)], by_scipy(stats.nbinom)),
    "negative_binomial_mean": (
        [(2.5, 0.4), (300.0, 1e-8)],
        numbers(lambda m, d: m, lambda m, d: m + d * m * m),
    ),
    "zero_inflated_poisson": (
        [(0.3, 4.0)],
        by_scipy(lambda z, m: Zeros(z, stats.poisson(m))),
    ),
    "hurdle_poisson": (
        [(0.3, 4.0), (0.01, 1e-6), (0.5, 300.0)],
        numbers(
            lambda z, m: (1 - z) * m / -mp.expm1(-m),
            lambda z, m: (1 - z) * (m + m * m) / -mp.expm1(-m) - ((1 - z) * m / -mp.expm1(-m)) ** 2,
        ),
    ),
    "zero_inflated_negative_binomial": (
        [(0.3, 2.5, 0.4)],
        by_scipy(lambda z, n, p: Zeros(z, stats.nbinom(n, p))),
    ),
    "hurdle_negative_binomial": (
        [(0.3, 2.5, 0.4)],
        by_scipy(lambda z, n, p: Zeros(z, stats.nbinom(n, p), True)),
    ),
    "zero_inflated_negative_binomial_mean": (
        [(0.3, 2.5, 0.4)],
        by_scipy(lambda z, m, d: Zeros(z, stats.nbinom(1 / d, 1 / (1 + m * d)))),
    ),
    "hurdle_negative_binomial_mean": (
        [(0.3, 2.5, 0.4)],
        by_scipy(lambda z, m, d: Zeros(z, stats.nbinom(1 / d, 1 / (1 + m * d)), True)),
    ),
    "ordered_logistic": (
        [(0.3, CUTS)],
        by_scipy(lambda eta, cuts: ordered(stats.logistic, eta, cuts)),
    ),
    "ordered_probit": (
        [(0.3, CUTS)],
        by_scipy(lambda eta, cuts: ordered(stats.norm, eta, cuts)),
    ),
    "categorical": ([(SHARES,), (np.array([1e-12, 0.0, 1 - 1e-12]),)], by_table),
    "categorical_logit": (
        [(np.array([0.3, -1.0, 2.0, 0.1]),)],
        lambda logit: by_table(special.softmax(logit)),
    ),
    "dirichlet": (
        [(np.array([0.5, 2.0, 7.0]),), (np.array([1e-6, 1e6, 1.0]),)],
        by_scipy(stats.dirichlet),
    ),
    "multinomial": (
        [(12, SHARES)],
        lambda n, p: (n * p, np.diag(stats.multinomial(n, p).cov())),
    ),
    "dirichlet_multinomial": (
        [(12, np.array([0.5, 2.0, 7.0]))],
        lambda n, a: of(stats.dirichlet_multinomial(a, n)),
    ),
    "multivariate_normal": ([(CENTRE, CHOL)], lambda mean, chol: (mean, np.diag(COV))),
    "multivariate_normal_precision": (
        [(CENTRE, CHOL)],
        lambda mean, chol: (mean, np.diag(np.linalg.inv(COV))),
    ),
    "multivariate_student": (
        [(5.0, CENTRE, CHOL), (1.5, CENTRE, CHOL)],
        lambda df, mean, chol: (mean, np.diag(COV) * stats.t(df).var()),
    ),
    "matrix_normal": (
        [(np.arange(6.0).reshape(3, 2), CHOL, FEW)],
        lambda mean, rows, columns: (
            mean,
            np.diag(np.kron(rows @ rows.T, columns @ columns.T)).reshape(3, 2),
        ),
    ),
    "wishart": ([(4.5, CHOL)], lambda df, chol: of(stats.wishart(df, COV))),
    "lkj_correlation": (
        [(0.7,), (50.0,)],
        lambda eta: (
            np.eye(4),
            np.where(np.eye(4) > 0, 0.0, 4 * stats.beta(eta + 1, eta + 1).var()),
        ),
    ),
    "lkj_cholesky": ([(1.7,), (300.0,)], lambda eta: lkj_cholesky(eta, 4)),
    "zero_sum_normal": (
        [(2.0,)],
        lambda sd: (np.zeros(4), np.diag((np.eye(4) - 0.25) @ (np.eye(4) - 0.25)) * sd**2),
    ),
    "random_walk": (
        [(0.5, 0.1, 1.0, 2.0)],
        lambda sd, drift, mean, first: ar([1.0], sd, drift, mean, first, 4),
    ),
    "ar": (
        [(np.array([0.5, -0.3]), 0.7, 0.2, 1.0, 2.0), (np.array([0.9]), 1.0, 0.0, 3.0, 0.1)],
        lambda *parameters: ar(*parameters, 4),
    ),
    "markov_chain": (
        [(SHARES, ROWS)],
        lambda initial, rows: by_draws_of_chain(initial, rows, 4),
    ),
}
EVENTS = {name: (4, 4) if name.startswith("lkj") else (4,) for name in CASES}
ENTRIES = [(name, parameters) for name, (sets, _) in CASES.items() for parameters in sets]
WHOLE = {
    (name, k)
    for name, family in FAMILIES.items()
    for k, parameter in enumerate(family.parameters)
    if parameter.integer
}


def event(name, parameters):
    family = FAMILIES[name]
    shapes = [np.shape(p) for p in parameters]
    return tuple(family.event_shape(*shapes)) or EVENTS[name][: 2 if "lkj" in name else 1]


def every(entries, *parameters):
    """The moments of all entries, in one program."""
    found = []
    for (name, given), own in zip(entries, parameters, strict=True):
        shape = event(name, given) if FAMILIES[name].event_ndim else ()
        found.append(FAMILIES[name].mean_and_variance(shape, *own))
    return found


def real(entries):
    return [tuple(np.asarray(p, float) for p in own) for _, own in entries]


def test_every_family_has_moments():
    assert set(FAMILIES) == set(CASES)
    assert all(family.moments is not None for family in FAMILIES.values())


def test_moments_are_those_of_others():
    with x64():
        found = jax.jit(partial(every, ENTRIES))(*real(ENTRIES))
    with np.errstate(all="ignore"):
        wanted = [CASES[name][1](*parameters) for name, parameters in ENTRIES]
    for (name, parameters), got, told in zip(ENTRIES, found, wanted, strict=True):
        for one, other, what in zip(got, told, ("mean", "variance"), strict=True):
            np.testing.assert_allclose(
                np.broadcast_to(one, np.shape(other)),
                other,
                rtol=1e-10,
                atol=1e-15 if name == "von_mises" or not np.all(other) else 1e-290,
                err_msg=f"{what} of {name}{parameters}",
            )


def test_what_does_not_exist():
    with x64():
        student = FAMILIES["student"].mean_and_variance((), 1.0, 0.0, 1.0)
        half = FAMILIES["half_student"].mean_and_variance((), 0.5, 1.0)
    assert np.isnan(student).all()  # SciPy: a mean of inf
    assert np.isinf(half).all()


# With a series, a sum over elements, or a choice.
SOME = {"dirichlet", "f", "half_student", "hurdle_poisson", "ordered_logistic", "weibull"}


@pytest.mark.parametrize("names", [SOME, pytest.param(set(CASES) - SOME, marks=pytest.mark.slow)])
def test_slopes_are_difference_quotients(names):
    # Beside a df of which there is no variance differences are large, and a mean near 0 is rounded.
    entries = [
        e
        for e in ENTRIES
        if e[0] in names and not {2.001, 4.001, 2e-9} & {p for p in e[1] if np.ndim(p) == 0}
    ]
    parameters = real(entries)
    rank = max(map(len, parameters))

    def along(k, h):
        """Each entry's parameter k moved by h of its size."""
        return [
            tuple(
                p * (1 + h) if j == k and (name, j) not in WHOLE else p for j, p in enumerate(own)
            )
            for (name, _), own in zip(entries, parameters, strict=True)
        ]

    with x64():
        value = jax.jit(partial(every, entries))
        slope = jax.jit(
            lambda at, change: jax.jvp(partial(every, entries), tuple(at), tuple(change))[1]
        )
        for k in range(rank):
            at = along(k, 0.0)
            change = [
                tuple(n - p for n, p in zip(new, own, strict=True))
                for new, own in zip(along(k, 1.0), at, strict=True)
            ]
            found = slope(at, change)
            h = 1e-4
            steps = [value(*along(k, s * h)) for s in (-2, -1, 1, 2)]
            for (name, given), got, *near in zip(entries, found, *steps, strict=True):
                for one, a, b, c, d in zip(got, *near, strict=True):
                    wanted = (8 * (c - b) - (d - a)) / (12 * h)
                    size = np.max(np.abs(np.where(np.isfinite(b), b, 0.0)), initial=1e-12)
                    sure = np.isfinite(wanted)
                    assert np.isfinite(np.where(sure, one, 0.0)).all(), name
                    np.testing.assert_allclose(
                        np.where(sure, one, 0.0),
                        np.where(sure, wanted, 0.0),
                        rtol=1e-7,
                        atol=1e-8 * size,
                        err_msg=f"{name}{given} by its parameter {k}",
                    )


def check_truncated(name, sides, bounds, parameters, other, rtol=1e-10):
    family = truncated(FAMILIES[name], sides)
    with x64():
        got = jax.jit(lambda *p: family.mean_and_variance((), *p))(
            *(np.asarray(p, float) for p in (*parameters, *bounds))
        )
    np.testing.assert_allclose(got, other, rtol=rtol, atol=1e-300)


def between(density, low, high):
    """The moments of a density between two bounds, in mpmath's numbers."""
    with mp.workdps(40):
        ends = mp.linspace(low, high, 9) if mp.isfinite(high) else [low, low + 1, low + 5, high]
        whole = mp.quad(density, ends)
        mean = mp.quad(lambda x: x * density(x), ends) / whole
        return float(mean), float(mp.quad(lambda x: (x - mean) ** 2 * density(x), ends) / whole)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("low", "high"), [(-1, 2), (10, 11), (40, mp.inf), (-3, -3 + 1e-4), (0, mp.inf), (-0.01, 0.01)]
)
def test_truncated_normal_numbers(low, high):
    low, high = mp.mpf(low), mp.mpf(high)
    mean, variance = between(lambda x: mp.exp(-(x**2) / 2 + low**2 / 2), low, high)
    # Of 2 X + 3, and mirrored.
    wanted = 2 * mean + 3, 4 * variance
    bounds = [float(2 * low + 3), float(2 * high + 3)]
    check_truncated("normal", ("lower", "upper"), bounds, (3.0, 2.0), wanted, rtol=1e-9)
    turned = [-b for b in reversed(bounds)]
    wanted = -wanted[0], wanted[1]
    check_truncated("normal", ("lower", "upper"), turned, (-3.0, 2.0), wanted, rtol=1e-9)
    if high == mp.inf:
        check_truncated("normal", ("upper",), turned[1:], (-3.0, 2.0), wanted, rtol=1e-9)


@pytest.mark.slow
def test_other_truncated_numbers():
    both = ("lower", "upper")
    half = stats.truncnorm(0.5, 1.5, 0, 2)
    check_truncated("half_normal", both, (1.0, 3.0), (2.0,), of(half))
    check_truncated("half_normal", ("upper",), (3.0,), (2.0,), of(stats.truncnorm(0, 1.5, 0, 2)))
    check_truncated("exponential", ("lower",), (7.0,), (0.5,), (9.0, 4.0))
    for low, high in ((1.0, 4.0), (0.0, 1e-6), (2.0, 900.0)):
        wanted = between(lambda x: mp.exp(-x / 2), mp.mpf(low), mp.mpf(high))
        if high > 100:
            wanted = (low + 2.0, 4.0)
        check_truncated("exponential", both, (low, high), (0.5,), wanted)
    check_truncated("uniform", both, (0.5, 2.0), (-1.0, 3.0), of(stats.uniform(0.5, 1.5)))
    check_truncated("discrete_uniform", ("lower",), (2,), (-5, 9), of(stats.randint(2, 10)))
    for low, high in ((1, 10**6), (3, 7), (0, 2), (30, 40)):
        x = np.arange(low, min(high, 200) + 1)
        p = stats.poisson(4.0).pmf(x)
        mean = x @ p / p.sum()
        wanted = mean, (x - mean) ** 2 @ p / p.sum()
        check_truncated("poisson", both, (low, high), (4.0,), wanted)
    check_truncated("poisson_log_rate", ("upper",), (0,), (1.0,), (0.0, 0.0))


def test_a_truncated_exponential_number_forgets_where_it_began():
    """Beyond a bound it is as from the start: mean low + 1 / rate."""
    family = truncated(FAMILIES["exponential"], ("lower",))
    with x64():
        found = jax.jit(lambda *a: family.mean_and_variance((), *a))(0.5, 7.0)
    np.testing.assert_allclose(found, (9.0, 4.0), rtol=1e-12)


def test_slopes_of_truncated_numbers():
    family = truncated(FAMILIES["normal"], ("lower", "upper"))

    def both(*p):
        return jnp.stack(family.mean_and_variance((), *p))

    with x64():
        at = np.array([0.3, 1.2, -0.5, 2.5])
        slopes = np.array(jax.jit(jax.jacfwd(both, (0, 1, 2, 3)))(*at))
        h = 1e-3 * np.eye(4)
        both = jax.jit(both)
        wanted = [
            (8 * (both(*(at + e)) - both(*(at - e))) - both(*(at + 2 * e)) + both(*(at - 2 * e)))
            / (12 * e.sum())
            for e in h
        ]
        np.testing.assert_allclose(slopes, wanted, rtol=1e-8)
        endless = jax.jacrev(family.mean_and_variance, (1, 2, 3, 4))((), 0.3, 1.2, -0.5, np.inf)
    assert np.isfinite(np.array(endless)).all()


def test_mixtures():
    parts = (FAMILIES["normal"], FAMILIES["student"])
    weights = np.array([0.3, 0.7])
    with x64():
        mean, variance = mixture(*parts).mean_and_variance((), weights, 1.0, 2.0, 5.0, -1.0, 0.5)
        mean, variance = float(mean), float(variance)
        endless = mixture(*parts).mean_and_variance((), weights, 1.0, 2.0, 1.5, -1.0, 0.5)
        left = mixture(*parts).mean_and_variance((), np.array([1.0, 0.0]), 1.0, 2.0, 0.5, -1.0, 0.5)
        # Two vectors of three elements, over components of an array.
        array = mixture_of(FAMILIES["multivariate_normal"]).mean_and_variance(
            (3,), weights, np.stack([CENTRE, -CENTRE]), np.stack([CHOL, CHOL])
        )
    assert mean == pytest.approx(0.3 - 0.7, abs=1e-14)
    second = 0.3 * (1 + 4) + 0.7 * (1 + 0.25 * 5 / 3)
    assert variance == pytest.approx(second - mean**2, rel=1e-14)
    assert np.isinf(endless[1])
    np.testing.assert_allclose(left, (1.0, 4.0))
    np.testing.assert_allclose(array[0], -0.4 * CENTRE, rtol=1e-14)
    np.testing.assert_allclose(array[1], np.diag(COV) + (1 - 0.16) * CENTRE**2, rtol=1e-13)
