"""Truncated distributions against SciPy, closed forms and quadrature."""

import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import integrate, special, stats
from tests.selection import thinned

import kinetograph as kg
from kinetograph.distributions.derived import family_of
from kinetograph.distributions.family import FAMILIES
from kinetograph.distributions.truncation import truncated
from kinetograph.graph.precision import x64

# Parameters, bounds, and the same distribution of SciPy without them.
CASES = {
    "normal": ((1.0, 2.0), (0.5, 3.0), stats.norm(1, 2)),
    "cauchy": ((1.0, 2.0), (-1.0, 30.0), stats.cauchy(1, 2)),
    "student": ((3.0, 1.0, 2.0), (0.0, 4.0), stats.t(3, 1, 2)),
    "gamma": ((2.5, 1.5), (0.5, 2.5), stats.gamma(2.5, scale=1 / 1.5)),
    "beta": ((2.5, 1.5), (0.2, 0.7), stats.beta(2.5, 1.5)),
    "exponential": ((0.5,), (1.0, 4.0), stats.expon(scale=2)),
    "poisson": ((4.0,), (1, 9), stats.poisson(4)),
    "binomial": ((10, 0.3), (2, 7), stats.binom(10, 0.3)),
}
SIDES = [("lower",), ("upper",), ("lower", "upper")]


def bounded(name, sides):
    """The family, its parameters with bounds, and the log probability between these."""
    parameters, (low, high), other = CASES[name]
    below = other.cdf(low - 1 if FAMILIES[name].discrete else low) if "lower" in sides else 0.0
    above = other.sf(high) if "upper" in sides else 0.0
    bounds = [b for side, b in zip(("lower", "upper"), (low, high)) if side in sides]
    family = truncated(FAMILIES[name], sides)
    return family, (*parameters, *map(float, bounds)), np.log(1 - below - above), below, above


@pytest.mark.parametrize("name", CASES)
def test_densities_and_tails_are_scipys(name):
    _, (low, high), other = CASES[name]
    density = other.logpmf if FAMILIES[name].discrete else other.logpdf
    x = np.arange(low, high + 1) if FAMILIES[name].discrete else np.linspace(low, high, 7)[1:-1]
    for sides in SIDES:
        family, parameters, log_z, below, above = bounded(name, sides)

        def everything(x, *parameters, family=family):
            return family.log_density(x, *parameters), *family.log_tails(x, *parameters)

        with x64():
            found, *tails = jax.jit(everything)(x, *parameters)
        np.testing.assert_allclose(found, density(x) - log_z, rtol=1e-10, atol=1e-12)
        wanted = (other.cdf(x) - below) / np.exp(log_z), (other.sf(x) - above) / np.exp(log_z)
        for got, right in zip(tails, wanted):
            np.testing.assert_allclose(np.exp(got), right, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("bounds", "x", "wanted"),
    [
        ((10, 11), 10.5, -2.8126283076),
        ((40, None), 40.02, 2.8893034805),
        ((-40, -39), -39.5, -15.9607819688),
    ],
)
def test_far_out(bounds, x, wanted):
    term = kg.log_density(kg.normal(0, 1, truncation=bounds), x)
    assert kg.compile([], term)() == pytest.approx(wanted, abs=1e-10)


def test_bounds_and_parameters_have_slopes():
    family = truncated(FAMILIES["gamma"], ("lower", "upper"))
    at = np.array([1.3, 2.5, 1.5, 0.4, 3.0])

    def value(v):
        return family.log_density(*v)

    with x64():
        slopes = jax.jit(jax.grad(value))(at)
        evaluate = jax.jit(jax.vmap(value))
        steps = 1e-4 * np.eye(5)
        differences = (
            8 * (evaluate(at + steps) - evaluate(at - steps))
            - (evaluate(at + 2 * steps) - evaluate(at - 2 * steps))
        ) / 12e-4
    np.testing.assert_allclose(slopes, differences, rtol=1e-8, atol=1e-9)


def test_a_bound_without_end_and_one_at_the_edge_have_no_nan():
    family = truncated(FAMILIES["gamma"], ("lower", "upper"))
    with x64():
        value, slopes = jax.jit(jax.value_and_grad(family.log_density, (0, 1, 2)))(
            1.3, 2.5, 1.5, 0.0, np.inf
        )
    assert value == pytest.approx(stats.gamma.logpdf(1.3, 2.5, scale=1 / 1.5), rel=1e-12)
    assert np.isfinite(slopes).all()


def test_outside_of_the_bounds_the_density_is_zero():
    family = truncated(FAMILIES["normal"], ("lower", "upper"))
    with x64():
        value, slopes = jax.jit(
            jax.vmap(jax.value_and_grad(family.log_density, (0, 1, 2, 3, 4)), (0, *[None] * 4))
        )(np.array([-1.0, 3.0]), 0.0, 1.0, 0.5, 2.0)
    assert (np.asarray(value) == -np.inf).all()
    assert np.isfinite(np.asarray(slopes)).all()


@pytest.mark.parametrize("name", thinned(["gamma", "normal", "poisson"], 3))
def test_draws(name):
    parameters, (low, high), other = CASES[name]
    n = 4000
    make = getattr(kg, name)
    x = kg.calculate(make(*parameters, truncation=(low, high), shape=n, name="x"), draws=1, seed=5)
    x = np.asarray(x["x"]).reshape(-1)
    assert x.min() >= low
    assert x.max() <= high
    below = other.cdf(low - 1 if FAMILIES[name].discrete else low)
    share = other.cdf(high) - below
    if FAMILIES[name].discrete:
        k = np.arange(low, high + 1)
        wanted = other.pmf(k) / share
        counts = np.array([(x == i).sum() for i in k])
        assert stats.chisquare(counts, n * wanted).pvalue > 1e-7
        assert stats.chisquare(counts, np.roll(n * wanted, 1)).pvalue < 1e-7
    else:
        assert stats.kstest(x, lambda t: (other.cdf(t) - below) / share).pvalue > 1e-7
        assert stats.kstest(x, other.cdf).pvalue < 1e-7


def test_draws_far_out():
    x = kg.normal(0, 1, truncation=(40, None), shape=4000, name="x")
    drawn = np.asarray(kg.calculate(x, draws=1, seed=2)["x"]).reshape(-1)
    assert np.isfinite(drawn).all()
    # Nearly exponential: the mean is 40.0249688, the deviation 0.0249.
    assert drawn.mean() == pytest.approx(40.0249688, abs=6 * 0.0249 / np.sqrt(4000))


def test_draws_between_close_bounds_stay_there():
    """Rounding errors of the quantile are larger than the interval."""
    low = np.linspace(-4.0, 4.0, 801)
    high = low + 1e-14
    x = kg.normal(0, 1, truncation=(low, high), shape=801, name="x")
    drawn = np.asarray(kg.calculate(x, draws=1, seed=3)["x"]).reshape(-1)
    assert (drawn >= low).all()
    assert (drawn <= high).all()


def test_quantiles_of_small_weibull_numbers():
    """Below 0.1 P(X <= x) is x**20 in the working precision, and P(X > x) is rounded to 1."""
    family, p = truncated(FAMILIES["weibull"], ("upper",)), np.array([1e-9, 0.3, 0.9, 1 - 1e-9])
    with x64():
        found = jax.jit(family.quantile)(np.log(p), np.log1p(-p), 20.0, 1.0, 0.1)
    np.testing.assert_allclose(found, 0.1 * p**0.05, rtol=1e-12)


def test_an_unknown_lies_between_its_bounds():
    top = kg.normal(3, 0.1, name="top")
    x = kg.normal(0, 1, truncation=(-0.5, top), name="x")
    model = kg.model(x, top)
    free = np.random.default_rng(0).normal(size=(50, 2)) * 3
    free[:, 0] = 3 + 0.1 * free[:, 0]
    values = model.transform(free)
    assert (values["x"] > -0.5).all()
    assert (values["x"] < values["top"]).all()
    # The density of the model integrates to one over x, whatever `top` is.
    family = truncated(FAMILIES["normal"], ("lower", "upper"))
    with x64():
        density = jax.jit(lambda x: jnp.exp(family.log_density(x, 0.0, 1.0, -0.5, 2.7)))
        assert integrate.quad(lambda x: float(density(x)), -0.5, 2.7)[0] == pytest.approx(1)


def test_a_bound_beyond_the_support_is_that_of_the_support():
    x = kg.gamma(2, 1, truncation=(-1.0, 4.0), name="x")
    values = kg.model(x).transform(np.array([[-30.0], [30.0]]))["x"]
    assert (values >= 0).all()
    assert (values <= 4).all()
    scale = kg.normal(0, 1, name="scale")
    below = kg.gamma(2, 1, truncation=(scale, None), name="below")
    values = kg.model(scale, below).transform(np.array([[-3.0, -30.0]]))
    assert values["below"] >= 0


def test_data_are_checked():
    mu = kg.normal(0, 1, name="mu")
    with pytest.raises(kg.DataError, match=r"at least 0.*0\.5 at index 1|-0\.5 at index 1"):
        kg.observe([1.0, -0.5], kg.normal(mu, 1, truncation=(0, None)))
    with pytest.raises(kg.DataError, match=r"whole number from 1 on.*0 at index 0"):
        kg.observe([0, 2], kg.poisson(2.0, truncation=(1, None)))
    kg.observe([0.0, 2.0], kg.normal(mu, 1, truncation=(0, None)))  # a bound belongs to it


def test_counts_without_zero():
    rate = kg.gamma(2, 1, name="rate")
    kg.observe([1, 2, 1, 3], kg.poisson(rate, truncation=(1, None)))
    model = kg.model(rate)
    r = 1.7
    y = stats.poisson(r).logpmf([1, 2, 1, 3]) - np.log1p(-np.exp(-r))
    wanted = stats.gamma(2).logpdf(r) + y.sum() + np.log(r)
    assert model.log_prob([np.log(r)]) == pytest.approx(wanted, rel=1e-12)


def test_bounds_of_counts_that_are_not_whole_are_rounded_inward():
    """Density, mean, variance and draws, by bounds that are not known: against enumeration."""
    low, high = kg.placeholder(name="low"), kg.placeholder(name="high")

    def make():
        return kg.poisson(3.7, truncation=(low, high))

    terms = [kg.log_density(make(), 2), kg.expectation(make()), kg.variance(make())]
    evaluate = kg.compile([low, high], terms)
    k = np.arange(60)
    for bounds in ((0.5, np.inf), (0.0, 6.5), (1.2, 7.9), (2.0, 2.3)):
        share = stats.poisson(3.7).pmf(k) * (k >= bounds[0]) * (k <= bounds[1])
        share /= share.sum()
        mean = share @ k
        wanted = np.log(share[2]), mean, share @ (k - mean) ** 2
        np.testing.assert_allclose(evaluate(*bounds), wanted, rtol=1e-10, atol=1e-12)
    assert evaluate(1.2, 1.8)[0] == -np.inf  # no whole number lies between
    family, p = truncated(FAMILIES["poisson"], ("lower", "upper")), np.array([1e-9, 0.5, 1 - 1e-9])
    with x64():
        drawn = jax.jit(family.quantile)(np.log(p), np.log1p(-p), 0.1, 1.5, 5.5)
    np.testing.assert_array_equal(drawn, [2.0, 2.0, 5.0])


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: kg.normal(0, 1, truncation=3), TypeError, r"must be a pair \(lower, upper\)"),
        (lambda: kg.normal(0, 1, truncation=(1, 2, 3)), TypeError, "must be a pair"),
        (lambda: kg.normal(0, 1, truncation=(2, 1)), ValueError, "has probability 0"),
        (lambda: kg.normal(0, 1, truncation=(1, 1)), ValueError, "has probability 0"),
        (lambda: kg.normal(0, 1, truncation=(np.inf, None)), ValueError, "has probability 0"),
        (lambda: kg.gamma(2, 1, truncation=(-3, -1)), ValueError, "has probability 0"),
        (lambda: kg.gamma(2, 1, truncation=(-3, 0)), ValueError, "has probability 0"),
        (lambda: kg.beta(2, 1, truncation=(1, None)), ValueError, "has probability 0"),
        (lambda: kg.normal(0, 1, truncation=(np.nan, 1)), ValueError, "lower must be"),
        (lambda: kg.poisson(2, truncation=(0.5, None)), ValueError, "whole number"),
        (lambda: kg.normal(0, 1, truncation=("a", 1)), TypeError, "truncation"),
    ],
)
def test_what_is_no_truncation(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_as_it_was_written():
    mu = kg.normal(0, 1, name="mu")
    x = kg.normal(mu, 1, truncation=(0, None), name="x")
    assert x.node.distribution.expression() == "normal(mu, 1, truncation=(0, None))"
    assert kg.normal(0, 1, truncation=(None, None)).node.distribution.family.name == "normal"
    assert kg.normal(0, 1, truncation=(0, np.inf)).node.distribution.family.name.endswith("below")


def test_a_family_is_found_by_its_key():
    family = truncated(FAMILIES["normal"], ("lower",))
    assert family_of(family.key) is family
    with pytest.raises(KeyError):
        family_of("truncated(nothing, lower)")


def test_every_family_with_tails_can_be_truncated_and_censored():
    """Those of a second parametrisation are made by the function of the first."""
    others = {"binomial_logit", "bernoulli_logit", "poisson_log_rate"}
    others |= {name for name in FAMILIES if name.endswith("_mean")}
    for name, family in FAMILIES.items():
        if name not in others and family.event_ndim == 0 and hasattr(kg, name):
            given = inspect.signature(getattr(kg, name)).parameters
            for word in ("truncation", "censoring"):
                assert (word in given) == (family.tails is not None), (name, word)


def test_new_kinds_truncated():
    x = kg.placeholder((), name="x")
    cases = {
        kg.weibull(1.5, 2.0, truncation=(1.0, None)): stats.weibull_min(1.5, scale=2),
        kg.wald(1.5, 2.0, truncation=(1.0, None)): stats.invgauss(0.75, scale=2),
        kg.skew_normal(0.0, 1.0, 3.0, truncation=(1.0, None)): stats.skewnorm(3),
        kg.von_mises(0.0, 2.0, truncation=(1.0, None)): stats.vonmises(2.0),
        kg.geometric(0.3, truncation=(1, None)): stats.nbinom(1, 0.3),
        kg.beta_binomial(9, 0.7, 2.5, truncation=(1, None)): stats.betabinom(9, 0.7, 2.5),
        kg.ordered_logistic(0.3, [-1.0, 0.5], truncation=(1, None)): None,
    }
    found = kg.compile([x], [kg.log_density(follows, x) for follows in cases])(2.0)
    for value, other in zip(found, cases.values(), strict=True):
        if other is None:  # of labels 1 and 2
            wanted = np.log(special.expit(0.3 - 0.5) / special.expit(0.3 + 1))
        elif hasattr(other.dist, "pmf"):
            wanted = other.logpmf(2) - np.log(other.sf(0))
        else:
            wanted = other.logpdf(2.0) - np.log(other.sf(1.0))
        assert float(value) == pytest.approx(wanted, rel=1e-9)
