"""Every univariate family against scipy.stats: values, totals, gradients, tails, integrals."""

import inspect
from typing import Any

import jax
import jax.numpy as jnp
import mpmath as mp
import numpy as np
import pytest
from scipy import integrate, special, stats
from tests.distributions.cases import at_random
from tests.distributions.cases.every import CASES, with_part
from tests.distributions.cases.reals import REALS
from tests.distributions.cases.wholes import WHOLES
from tests.selection import thinned

import kinetograph as kg
from kinetograph.distributions.family import FAMILIES
from kinetograph.graph.lower import evaluate
from kinetograph.graph.precision import x64

CASES = {name: CASES[name] for name in with_part("random")}
all_cases = pytest.mark.parametrize("name", sorted(CASES))
# What differs in kind: totals of their own, bounds, tails, discrete, formulas for small and large.
# Each family has its points in test_everywhere, too.
KINDS = ("bernoulli_logit", "normal", "uniform")


def drawn(name: str) -> tuple[Any, np.ndarray, tuple[np.ndarray, ...]]:
    case = CASES[name]
    assert case.random is not None
    rng = np.random.default_rng(sum(map(ord, name)))
    parameters = case.random.parameters(rng)
    x = case.random.points(rng, *parameters)
    make = case.make or getattr(kg, name)
    return make(*parameters).node.distribution.family, x, parameters


@pytest.mark.parametrize(
    "name", [n if n in KINDS else pytest.param(n, marks=pytest.mark.slow) for n in sorted(CASES)]
)
def test_values_are_scipys(name):
    family, x, parameters = drawn(name)
    assert family.name == name

    @jax.jit
    def run(x, *parameters):
        terms = family.terms(jnp.asarray(x, float), *parameters)
        magnitude = sum(jnp.abs(t) for t in terms)
        total = family.log_density_total(x, *parameters)
        return family.log_density(x, *parameters), magnitude, total

    with x64():
        got, magnitude, total = map(np.asarray, run(x, *parameters))
    wanted = log_density(name, x, *parameters)
    assert got.shape == (at_random.N,)
    assert np.isfinite(wanted).all()
    # Relative 1e-10; where large terms cancel, the rounding of those terms.
    error = np.abs(got - wanted) / (1e-10 * np.abs(wanted) + 1e-14 * magnitude + 1e-13)
    worst = int(np.argmax(error))
    assert error[worst] < 1, (x[worst], [p[worst] for p in parameters], got[worst], wanted[worst])
    assert total == pytest.approx(got.sum(), rel=1e-12)


def log_density(name: str, x: np.ndarray, *parameters: np.ndarray) -> np.ndarray:
    """SciPy's."""
    case = CASES[name]
    if case.random.log_density is not None:
        return case.random.log_density(x, *parameters)
    law = case.law(*parameters)
    return law.logpdf(x) if hasattr(law, "logpdf") else law.logpmf(x)


def step(kind: str, value: np.ndarray, scale: np.ndarray) -> np.ndarray:
    if kind == "p":
        return 1e-3 * value
    if kind == "u":
        return 1e-3 * np.minimum(value, 1 - value)
    return 1e-3 * scale


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in sorted(CASES) if set(CASES[n].random.kinds) != {"n"}])
def test_gradients_are_difference_quotients(name):
    family, x, parameters = drawn(name)
    kinds = CASES[name].random.kinds
    arguments = [
        np.asarray(a, float if k != "n" else None) for a, k in zip((x, *parameters), kinds)
    ]
    # Real numbers are moved by a fraction of the scale, which is the last parameter.
    scale = parameters[-1] if kinds[-1] == "p" else np.ones(at_random.N)
    if name == "uniform":
        scale = parameters[1] - parameters[0]
    if name in ("asymmetric_laplace", "skew_normal", "exponentially_modified_normal"):
        scale = parameters[1] * (0.1 if name == "asymmetric_laplace" else 1.0)
    if name == "von_mises":
        scale = np.minimum(1 / np.sqrt(parameters[1]), 1.0)
    if name == "lognormal":
        scale = np.minimum(parameters[1], 1.0)
    places = [i for i, kind in enumerate(kinds) if kind != "n"]
    with x64():
        evaluate = jax.jit(family.log_density)
        grads = jax.grad(lambda *a: jnp.sum(family.log_density(*a)), places)(*arguments)
        totals = jax.grad(lambda *a: family.log_density_total(*a), places)(*arguments)
        for place, got, of_total in zip(places, grads, totals):
            h = step(kinds[place], arguments[place], scale)

            def at(k, place=place, h=h):
                moved = list(arguments)
                moved[place] = moved[place] + k * h
                return np.asarray(evaluate(*moved))

            slope = (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * h)
            rounding = (
                1e-11
                * (1 + sum(np.abs(t) for t in family.terms(np.asarray(x, float), *parameters)))
                / h
            )
            assert np.isfinite(got).all()
            error = np.abs(got - slope) / (1e-6 * np.abs(slope) + rounding)
            worst = int(np.argmax(error))
            assert error[worst] < 1, (
                place,
                [a[worst] for a in arguments],
                got[worst],
                slope[worst],
            )
            np.testing.assert_allclose(of_total, got, rtol=1e-9, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(with_part("sets", REALS)))
def test_densities_integrate_to_one(name):
    parameters = CASES[name].sets[0]
    low, high = CASES[name].tail_law(*parameters).support()
    family = FAMILIES[name]
    # Gauss-Legendre on a finite interval: one batch of points instead of thousands of calls.
    t, weights = np.polynomial.legendre.leggauss(400)
    if np.isinf(high) and np.isinf(low):
        x, slope = np.tan(np.pi / 2 * t), np.pi / 2 / np.cos(np.pi / 2 * t) ** 2
    elif np.isinf(high):
        x, slope = low + (1 + t) / (1 - t), 2 / (1 - t) ** 2
    else:
        x, slope = low + (high - low) * (t + 1) / 2, np.full(t.shape, (high - low) / 2)
    with x64():
        density = np.exp(np.asarray(jax.jit(family.log_density)(x, *parameters)))
    whole = 1.0 if family.atom is None else 1.0 - parameters[0]
    assert np.sum(weights * slope * density) == pytest.approx(whole, abs=1e-5)
    assert integrate.trapezoid(density[np.argsort(x)], np.sort(x)) == pytest.approx(whole, abs=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(with_part("random", WHOLES)))
def test_probabilities_add_up_to_one(name):
    low, high = CASES[name].tail_law(*CASES[name].sets[0]).support()
    x = np.arange(low, min(high, 400) + 1)
    with x64():
        log_p = np.asarray(FAMILIES[name].log_density(x, *CASES[name].sets[0]))
    assert np.exp(log_p).sum() == pytest.approx(1, rel=1e-12)


# Extreme parameters ------------------------------------------------------------------------------


# Rows of points, parameters and values; test_everywhere has more, of which the derivatives are.
EXTREMES = {
    "bernoulli_logit": [(1, -800.0, -800.0), (1, 800.0, 0.0), (0, 800.0, -800.0), (0, -800.0, 0.0)],
    "bernoulli": [(1, 1.0, 0.0), (0, 1.0, -np.inf)],
    "poisson": [(0, 0.0, 0.0), (2, 0.0, -np.inf)],
    "logistic": [(800.0, 0.0, 1.0, -800.0), (-800.0, 0.0, 1.0, -800.0)],
    "normal": [(1e8, 0.0, 1.0, -0.5e16 - 0.5 * np.log(2 * np.pi))],
    "uniform": [(2.0, 0.0, 1.0, -np.inf), (1.0, 0.0, 1.0, 0.0)],
}


@pytest.mark.parametrize("name", EXTREMES)
def test_extremes(name):
    family = FAMILIES[name]
    x, *parameters, wanted = map(np.array, zip(*EXTREMES[name], strict=True))

    @jax.jit
    @jax.vmap
    def run(x, *parameters):
        total = family.log_density_total(x[None], *parameters)
        return total, family.log_density(x, *parameters)

    with x64():
        for found in run(x, *parameters):
            np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


def test_gradients_at_extreme_logits():
    family = FAMILIES["bernoulli_logit"]
    # The total is a difference of sums, and right to their rounding.
    both = [(family.log_density, 1e-300), (family.log_density_total, 1e-15)]

    @jax.jit
    @jax.vmap
    def slopes(x, eta):
        return [jax.grad(lambda t, f=f: jnp.sum(f(x[None], t)))(eta) for f, _ in both]

    x, eta = map(np.ravel, np.meshgrid([0, 1], [-800.0, -40.0, 0.0, 40.0, 800.0]))
    wanted = np.where(x == 1, special.expit(-eta), -special.expit(eta))  # x - expit(eta)
    with x64():
        found = slopes(x, eta)
    for got, (_, rounding) in zip(found, both, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=rounding)


def test_second_derivatives_of_bernoulli_logit_total():
    t = np.array([-2.0, 0.0, 0.5])
    with x64():
        total = FAMILIES["bernoulli_logit"].log_density_total
        got = jax.jit(jax.hessian(lambda t: total(np.array([1, 0, 1]), t)))(t)
    p = special.expit(t)
    np.testing.assert_allclose(np.diag(got), -p * (1 - p), rtol=1e-12)


@pytest.mark.parametrize("count", [101, 4000])
def test_total_of_many_trials(count):
    """Products of factors up to 2 are taken over few enough of them not to overflow."""
    with x64():
        total = FAMILIES["bernoulli_logit"].log_density_total
        got = jax.jit(total)(np.zeros(count), np.zeros(count))
    assert float(got) == pytest.approx(-count * np.log(2), rel=1e-12)


def test_counts_at_both_ends_are_observed():
    a = kg.normal(0, 1, name="a")
    successes, events, failures = kg.data([0, 7]), kg.data([0, 2]), kg.data([0, 1])
    kg.observe(successes, kg.binomial(7, logit=a))
    kg.observe(events, kg.poisson(log_rate=a))
    kg.observe(failures, kg.negative_binomial(2.0, kg.ilogit(a)))
    p = special.expit(0.3)
    wanted = stats.norm.logpdf(0.3) + stats.binom.logpmf([0, 7], 7, p).sum()
    wanted += stats.poisson.logpmf([0, 2], np.exp(0.3)).sum()
    wanted += stats.nbinom.logpmf([0, 1], 2, p).sum()
    assert float(kg.model(a).log_prob([0.3])) == pytest.approx(wanted, rel=1e-12)


# Counts that are known to be small take a cheaper formula, large ones an accurate one.
SIZES = {
    "poisson": (lambda t: kg.poisson(kg.exp(t) + 1.0), [3, 5]),
    "poisson_log_rate": (lambda t: kg.poisson(log_rate=t), [3, 5]),
    "binomial": (lambda t: kg.binomial(9, 0.9 * kg.ilogit(t) + 0.05), [3, 5]),
    "binomial_logit": (lambda t: kg.binomial(9, logit=t), [3, 5]),
    "negative_binomial": (lambda t: kg.negative_binomial(2.5, kg.ilogit(t)), [3, 5]),
    "negative_binomial_mean": (
        lambda t: kg.negative_binomial(mean=kg.exp(t) + 1.0, dispersion=kg.exp(t)),
        [3, 5],
    ),
    "beta_binomial": (lambda t: kg.beta_binomial(9, kg.exp(t), 2.5), [3, 5]),
    "zero_inflated_poisson": (
        lambda t: kg.zero_inflated_poisson(0.3, kg.exp(t) + 1.0),
        [0, 5],
    ),
    "zero_inflated_negative_binomial": (
        lambda t: kg.zero_inflated_negative_binomial(0.3, 2.5, kg.ilogit(t)),
        [0, 5],
    ),
    "zero_inflated_negative_binomial_mean": (
        lambda t: kg.zero_inflated_negative_binomial(0.3, log_mean=t, dispersion=0.5),
        [0, 5],
    ),
    "hurdle_poisson": (lambda t: kg.hurdle_poisson(kg.ilogit(t), kg.exp(t)), [0, 5]),
    "hurdle_negative_binomial": (
        lambda t: kg.hurdle_negative_binomial(0.3, 2.5, kg.ilogit(t)),
        [0, 5],
    ),
    "hurdle_negative_binomial_mean": (
        lambda t: kg.hurdle_negative_binomial(0.3, log_mean=t, dispersion=0.5),
        [0, 5],
    ),
    "hurdle_gamma": (lambda t: kg.hurdle_gamma(0.3, 2.5, kg.exp(t)), [0.0, 5.0]),
    "zero_inflated_beta": (lambda t: kg.zero_inflated_beta(0.3, kg.exp(t), 2.5), [0.0, 0.4]),
    "gamma": (lambda t: kg.gamma(2.5, kg.exp(t)), [3.0, 5.0]),
    "inverse_gamma": (lambda t: kg.inverse_gamma(2.5, kg.exp(t)), [3.0, 5.0]),
    "chi_squared": (lambda t: kg.chi_squared(kg.exp(t)), [3.0, 5.0]),
    "beta": (lambda t: kg.beta(2.5, 3.5), None),
    "dirichlet": (lambda t: kg.dirichlet([2.5, 3.5, 0.3]), None),
    "multinomial": (lambda t: kg.multinomial(5, kg.softmax(kg.stack([t, 0 * t]))), [2, 3]),
    "dirichlet_multinomial": (
        lambda t: kg.dirichlet_multinomial(5, kg.exp(kg.stack([t, 0 * t]))),
        [2, 3],
    ),
}


@pytest.mark.slow
def test_small_and_large_formulas_agree():
    assert set(SIZES) == {name for name, f in FAMILIES.items() if f.small_terms is not None}
    t = kg.normal(0, 1, name="t")
    data, unknowns = [], []
    for make, observed in SIZES.values():
        if observed is None:
            unknowns.append(make(t))
        else:
            data.append(kg.observe(kg.data(observed), make(t)))
    model = kg.model(t, *unknowns)
    terms = [term for term in model.density.terms if term.node.family.small_terms is not None]
    assert len(terms) == len(SIZES)
    assert all(term.small for term in terms)

    def both(free):
        environment, _ = model.density.values(free, dict(zip(model.data, values, strict=True)))
        evaluate([node for term in terms for node in term.needs()], environment)
        return [(term.value(environment), jnp.sum(term.elements(environment))) for term in terms]

    values = [node.value for node in model.data]
    with x64():
        free = np.array([0.7, -0.3, 0.5, -0.9])
        results, slopes = jax.jit(lambda q: (both(q), jax.jacrev(both)(q)))(free)
    for (small, large), (small_slope, large_slope) in zip(results, slopes, strict=True):
        assert float(small) == pytest.approx(float(large), rel=1e-12)
        np.testing.assert_allclose(small_slope, large_slope, rtol=1e-11, atol=1e-12)


def test_known_large_counts_take_the_accurate_formula():
    """The plain sum of x log(rate) - rate - log(x!) at 1e12 is wrong in the fourth digit."""
    t = kg.normal(0, 1, name="t")
    y = kg.data([10**12])
    kg.observe(y, kg.poisson(1e12 + 1e6 * t))
    # log p(x | m) at x = m is -log(2 pi x) / 2 - 1 / (12 x), and -(x - m)**2 / (2 x) beside it.
    for at, extra in ((0.0, 0.0), (1.0, -0.5 + 1e-6 / 3)):
        wanted = stats.norm.logpdf(at) - 0.5 * np.log(2e12 * np.pi) + extra
        assert float(kg.model(t).log_prob([at])) == pytest.approx(wanted, rel=1e-10)


LOG_SIZES = np.array([-5.0, 0.0, 2.2, 2.4, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 35.0])


def negative_binomial_of_log_sizes(counts, mean):
    """The sum of the log densities, and its derivative, at each of `LOG_SIZES`."""

    def total(t):
        size = mp.exp(t)
        plain = (mp.rf(size, k) * (mean / (size + mean)) ** k / mp.factorial(k) for k in counts)
        return sum(mp.log(p) - size * mp.log1p(mean / size) for p in plain)

    with mp.workdps(80):
        h = mp.mpf(10) ** -25
        rows = [[total(mp.mpf(t) + k * h) for k in (-1, 0, 1)] for t in LOG_SIZES]
        return np.array([(value, (above - below) / (2 * h)) for below, value, above in rows], float)


def test_negative_binomial_of_an_unknown_size():
    """Counts of a Poisson let the size grow without bound; the rest of the density is then flat."""
    counts = [0, 3, 4, 9]
    size = kg.variable(lower=0, name="size")
    kg.observe(kg.data(counts), kg.negative_binomial(size, size / (size + 4)))
    model = kg.model(size)
    wanted = negative_binomial_of_log_sizes(counts, 4)
    # The flat prior has the Jacobian's logarithm, log(size).
    values = np.asarray(model.log_prob(LOG_SIZES[:, None])) - LOG_SIZES
    slopes = np.asarray(model.gradient(LOG_SIZES[:, None]))[:, 0] - 1.0
    # Terms up to counts * log(size), of which some 2e-16 is lost each.
    np.testing.assert_allclose(values, wanted[:, 0], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(slopes, wanted[:, 1], rtol=1e-12, atol=1e-13)


def test_negative_binomial_of_large_counts_and_any_size():
    def run(t):
        size, logit = jnp.exp(t), t - np.log(30_000.0)
        family = FAMILIES["negative_binomial"]
        return family.log_density(np.array([30_100, 3]), size, 0.5, logit_prob=logit).sum()

    with x64():
        values, slopes = jax.jit(jax.vmap(jax.value_and_grad(run)))(LOG_SIZES)
    wanted = negative_binomial_of_log_sizes([30_100, 3], 30_000)
    np.testing.assert_allclose(values, wanted[:, 0], rtol=1e-13)
    np.testing.assert_allclose(slopes, wanted[:, 1], rtol=1e-12, atol=1e-10)


def test_student_of_many_degrees_of_freedom_is_normal():
    """log Gamma(df / 2 + 1 / 2) - log Gamma(df / 2) taken as a difference loses all digits."""
    x = np.array([-3.0, 0.0, 0.5, 4.0])

    @jax.jit
    @jax.vmap
    def run(df):
        values, back = jax.vjp(lambda d: FAMILIES["student"].log_density(x, d, 0.0, 1.0), df)
        return values, *back(jnp.ones_like(values))

    degrees = np.array([1e5, 1e7, 1e10])
    with x64():
        found = run(degrees)
    for df, got, slope in zip(degrees, *map(np.asarray, found), strict=True):
        # The first correction of the expansion in 1 / df.
        correction = (x**4 - 2 * x**2 - 1) / (4 * df)
        np.testing.assert_allclose(
            got, stats.norm.logpdf(x) + correction, rtol=0, atol=1e-13 + 1000 / df**2
        )
        assert slope == pytest.approx(-correction.sum() / df, rel=1e-2)


def test_student_where_the_series_begins():
    df = np.array([31.0, 32.5, 36.0, 60.0])
    wanted = special.gammaln((df + 1) / 2) - special.gammaln(df / 2) - 0.5 * np.log(np.pi * df)
    with x64():
        got = jax.jit(lambda df: FAMILIES["student"].log_density(0.0, df, 0.0, 1.0))(df)
    np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-13)


# Totals and broadcasting -------------------------------------------------------------------------

SHAPES = [((), ()), ((5,), ()), ((5,), (5,)), ((4, 5), (5,)), ((4, 5), (4, 1)), ((0,), ())]


NAMES = ["normal", "bernoulli_logit", "gamma", "poisson", "uniform"]


@pytest.mark.parametrize(
    ("x_shape", "shape", "name"), thinned([(*s, n) for s in SHAPES for n in NAMES], 6)
)
def test_totals_of_broadcast_parameters(name, x_shape, shape):
    family, x, parameters = drawn(name)
    x = np.resize(x, x_shape)
    parameters = tuple(np.resize(p, shape) for p in parameters)
    if name == "uniform":
        x, parameters = np.resize(0.25, x_shape), (np.zeros(shape), np.full(shape, 0.5))
    with x64():
        run = jax.jit(lambda *a: (family.log_density_total(*a), family.log_density(*a)))
        got, elements = map(np.asarray, run(x, *parameters))
    assert np.broadcast_to(elements, x_shape).shape == x_shape
    assert got == pytest.approx(np.broadcast_to(elements, x_shape).sum(), rel=1e-12)


@pytest.mark.parametrize(
    "kind", ["number", "integer", "numpy", "list", "data", "unknown", "operation"]
)
def test_kinds_of_parameters(kind):
    y = np.array([0.5, -1.0, 2.0])
    mu = kg.normal(0, 1, name="mu")
    mean, at = {
        "number": (0.5, 0.5),
        "integer": (2, 2),
        "numpy": (np.array([1.0, 2, 3]), np.array([1.0, 2, 3])),
        "list": ([1, 2, 3], np.array([1, 2, 3])),
        "data": (kg.data([1, 2, 3]), np.array([1, 2, 3])),
        "unknown": (mu, 0.7),
        "operation": (2 * mu + [1.0, 2.0, 3.0], 2 * 0.7 + np.array([1.0, 2.0, 3.0])),
    }[kind]
    observed = kg.data(y)
    kg.observe(observed, kg.normal(mean, 1.5))
    got = kg.model(mu, factors=() if kind in ("unknown", "operation") else observed.sum() * mu)
    wanted = stats.norm.logpdf(0.7)
    if kind in ("unknown", "operation"):
        wanted += stats.norm.logpdf(y, at, 1.5).sum()
        assert float(got.log_prob([0.7])) == pytest.approx(wanted, rel=1e-12)
    else:
        # No unknown bears on the data, so their likelihood is a constant and left out.
        assert float(got.log_prob([0.7])) == pytest.approx(wanted + 0.7 * y.sum(), rel=1e-12)
        free = kg.normal(mean, 1.5, shape=3, name="free")
        m = kg.model(free)
        wanted = stats.norm.logpdf(y, at, 1.5).sum()
        assert float(m.log_prob(y)) == pytest.approx(wanted, rel=1e-12)


def test_whole_numbers_in_a_model_are_real_parameters_but_counts():
    def dtypes(variable):
        return [parent.dtype for parent in variable.node.distribution.parents]

    assert dtypes(kg.normal(0, 2)) == [np.float64, np.float64]
    assert dtypes(kg.gamma(2, 1)) == [np.float64, np.float64]
    assert dtypes(kg.binomial(3, 1)) == [np.int64, np.float64]


def test_shape_is_that_of_parameters_and_replicates():
    assert kg.normal(0, [1.0, 2.0]).shape == (2,)
    assert kg.normal(np.zeros((3, 1)), [1.0, 2.0]).shape == (3, 2)
    assert kg.normal(0, [1.0, 2.0], shape=(5, 2)).shape == (5, 2)
    assert kg.normal(0, 1, shape=4).shape == (4,)
    assert kg.dirichlet([1.0, 2.0, 3.0], shape=5).shape == (5, 3)
    assert kg.dirichlet([1.0, 2.0, 3.0], shape=(5, 3)).shape == (5, 3)
    assert kg.lkj_correlation(1, 3, shape=2).shape == (2, 3, 3)
    assert kg.multivariate_normal(np.zeros((4, 1, 2)), np.eye(2), shape=(4, 7)).shape == (4, 7, 2)
    assert kg.categorical(logit=np.zeros((6, 3))).shape == (6,)


def test_negative_binomial_by_mean():
    y = kg.data([0, 3, 40])
    log_mean, dispersion = kg.normal(0, 1, name="log_mean"), kg.exponential(1, name="dispersion")
    kg.observe(y, kg.negative_binomial(log_mean=log_mean, dispersion=dispersion))
    found = kg.model(log_mean, dispersion).log_prob([-700.0, 0.0], adjusted=False)
    wanted = stats.norm.logpdf(-700) - 1 + np.log(0.5) * 0 + (43 * -700.0)
    assert float(found) == pytest.approx(wanted, rel=1e-9)
    for wrong in (
        dict(size=2, mean=3, dispersion=1),
        dict(mean=3),
        dict(size=1, prob=0.5, mean=2),
        {},
    ):
        with pytest.raises(
            TypeError, match="give size= and prob=, or mean= or log_mean= and one of"
        ):
            kg.negative_binomial(**wrong)


def test_a_pareto_has_an_unknown_bound():
    b = kg.lognormal(0, 1, name="b")
    x = kg.pareto(2.5, b, shape=3, name="x")
    model = kg.model(b, x)
    free = np.random.default_rng(0).normal(size=(20, 4)) * 5
    values = model.transform(free)
    assert (values["x"] > values["b"][:, None]).all()
    wanted = stats.lognorm(1).logpdf(values["b"])
    wanted += stats.pareto(2.5, scale=values["b"][:, None]).logpdf(values["x"]).sum(-1)
    np.testing.assert_allclose(model.log_prob(free, adjusted=False), wanted, rtol=1e-9)
    below = kg.log_density(kg.pareto(2.5, b), 0.5 * b)
    density = kg.compile([b], [below, kg.gradients(below, b)])
    assert [float(v) for v in density(2.0)] == [-np.inf, 0.0]


def test_slopes_scale_where_squares_are_out_of_range():
    """With x = z s, s times the slope by x or by s is the same for every scale s."""
    families = ["normal", "half_normal", "cauchy", "half_cauchy", "laplace", "logistic", "student"]
    scales = np.array([1.0, 1e-200, 1e-160, 1e160, 1e200])
    with x64():
        for name in families:
            family = FAMILIES[name]
            before = {"student": (4.0, 0.0)}.get(name, (0.0,) * (len(family.parameters) - 1))

            def density(x, s, family=family, before=before):
                return jnp.sum(family.log_density(x, *before, s))

            slopes = jax.jit(jax.grad(density, (0, 1)))(1.5 * scales, scales)
            for slope in slopes:
                scaled = np.asarray(slope) * scales
                np.testing.assert_allclose(scaled, scaled[0], rtol=1e-12, err_msg=name)


@pytest.mark.parametrize(
    ("names", "defaults"),
    [
        ("normal lognormal cauchy student laplace logistic uniform", [0.0, 1.0]),
        ("half_normal half_cauchy exponential gamma inverse_gamma lkj_correlation", [1.0]),
    ],
)
def test_without_parameters_it_is_the_standard_form(names, defaults):
    for name in names.split():
        make = getattr(kg, name)
        given = inspect.signature(make).parameters.values()
        assert [p.default for p in given if isinstance(p.default, float)] == defaults, name
        assert make(*[3 for p in given if p.default is p.empty]).dtype == np.float64


def test_many_logits_do_not_overflow():
    """The total has one logarithm for the product of many factors between 1 and 2."""
    with x64():
        total = jax.jit(FAMILIES["bernoulli_logit"].log_density_total)
        total = total(np.ones(200_001), np.zeros(200_001))
    assert float(total) == pytest.approx(-200_001 * np.log(2.0), rel=1e-12)


def test_slopes_where_the_outcome_is_certain():
    outcomes = np.array([0.0, 1.0])

    def density(prob):
        return jnp.sum(FAMILIES["bernoulli"].log_density(outcomes, prob))

    with x64():
        np.testing.assert_array_equal(jax.jit(jax.grad(density))(outcomes), [-1.0, 1.0])
