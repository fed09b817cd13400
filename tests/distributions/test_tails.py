"""Probabilities below and above a point, and quantiles, against SciPy and mpmath."""

from functools import cache

import jax
import jax.numpy as jnp
import mpmath as mp
import numpy as np
import pytest
from scipy import stats
from tests.distributions.cases.every import CASES, with_part
from tests.distributions.cases.reals import REALS
from tests.distributions.cases.wholes import WHOLES

from kinetograph.distributions.family import FAMILIES
from kinetograph.distributions.tails import between, log_of_one, normal_quantile
from kinetograph.graph.precision import x64

PROBABILITIES = np.array([1e-300, 1e-30, 1e-8, 0.01, 0.2, 0.5, 0.7, 0.95, 1 - 1e-9])
CONTINUOUS, DISCRETE = with_part("sets", REALS), with_part("sets", WHOLES)
every = pytest.mark.parametrize("name", sorted([*CONTINUOUS, *DISCRETE]))


def others(name):
    """Each set of parameters, with SciPy's distribution."""
    case = CASES[name]
    return [(parameters, case.tail_law(*parameters)) for parameters in case.sets]


def laid_out(name, points):
    """Points of each set of parameters, and the parameters, as vectors."""
    rows = [(x, *p) for p, other in others(name) for x in points(other)]
    return tuple(np.array(column) for column in zip(*rows, strict=True))


def over_sets(name, points, ask):
    """What SciPy says of the points, of all sets one behind the other."""
    return np.concatenate([np.atleast_1d(ask(other, points(other))) for _, other in others(name)])


def test_every_univariate_family_is_here():
    with_tails = {name for name, family in FAMILIES.items() if family.tails is not None}
    assert with_tails == set(CONTINUOUS) | set(DISCRETE)
    assert all(FAMILIES[name].quantile is not None for name in with_tails)


def spread_out(other):
    x = np.unique(np.concatenate([other.ppf(PROBABILITIES), other.isf(PROBABILITIES)]))
    # Squares of numbers that are larger overflow, and smaller numbers are flushed to 0.
    return x[(np.abs(x) < 1e150) & ((np.abs(x) > 1e-290) | (x == 0))]


def outside(other):
    low, high = other.support()
    return np.array([x for x in (low - 1.0, high + 1.0) if np.isfinite(x)])


def everywhere(other):
    return np.concatenate([spread_out(other), outside(other)])


@cache
def compiled(name):
    """The tails and the quantiles, so that all tests of a family share two programs."""
    return jax.jit(FAMILIES[name].log_tails), jax.jit(FAMILIES[name].quantile)


@cache
def tails_everywhere(name):
    """The arguments and the tails within the support and outside of it, and which are within."""
    arguments = laid_out(name, everywhere)
    with x64():
        below, above = map(np.asarray, compiled(name)[0](*arguments))
    counts = [(len(spread_out(other)), len(outside(other))) for _, other in others(name)]
    within = np.concatenate([np.repeat([True, False], pair) for pair in counts])
    return arguments, below, above, within


@every
def test_tails_are_scipys(name):
    _, below, above, within = tails_everywhere(name)
    below, above = below[within], above[within]
    # SciPy's own logarithms are those of numbers; where it has no tail of its own it is 1 - cdf.
    wanted = over_sets(name, spread_out, lambda other, x: other.cdf(x))
    np.testing.assert_allclose(np.exp(below), wanted, rtol=1e-8, atol=1e-290)
    wanted = over_sets(name, spread_out, lambda other, x: other.sf(x))
    np.testing.assert_allclose(np.exp(above), wanted, rtol=1e-8, atol=1e-290)
    assert max(below.max(), above.max()) <= 0


@every
def test_tails_outside_of_the_support(name):
    _, below, above, within = tails_everywhere(name)
    low = over_sets(name, outside, lambda other, x: x < other.support()[0])
    np.testing.assert_array_equal(below[~within], np.where(low, -np.inf, 0.0))
    np.testing.assert_array_equal(above[~within], np.where(low, 0.0, -np.inf))


@every
def test_quantiles_are_the_inverse(name):
    tails, quantile = compiled(name)
    if name in DISCRETE:  # between two jumps, where rounding decides nothing

        def numbers(other):
            return np.unique(other.ppf([0.01, 0.3, 0.6, 0.9, 0.999]))

        k, *parameters = laid_out(name, numbers)
        p = over_sets(name, numbers, lambda other, k: 0.5 * (other.cdf(k) + other.cdf(k - 1)))
        with x64():
            parameters = [np.asarray(p, float) for p in parameters]
            found = quantile(np.log(p), np.log1p(-p), *parameters)
        np.testing.assert_array_equal(found, k)
        return
    (_, *parameters), below, above, _ = tails_everywhere(name)
    wanted = np.minimum(below, above)
    with x64():
        found = quantile(below, above, *parameters)
        smaller = np.minimum(*map(np.asarray, tails(found, *parameters)))
    clear = wanted > -600  # farther out x may be beside the smallest number there is
    np.testing.assert_allclose(smaller[clear], wanted[clear], rtol=1e-9, atol=1e-9)


def beyond_zero(other, p):
    """Quantiles, of the numbers other than 0 if 0 has a probability."""
    zero = getattr(other, "zero", 0.0)
    return other.ppf(zero + (1 - zero) * np.asarray(p))


@pytest.mark.parametrize(
    "name",
    [n if n == "gamma" else pytest.param(n, marks=pytest.mark.slow) for n in sorted(CONTINUOUS)],
)
def test_slopes_are_difference_quotients(name):
    family = FAMILIES[name]

    def middle(other):
        return beyond_zero(other, [0.03, 0.3, 0.51, 0.9])

    arguments = laid_out(name, middle)
    size = over_sets(name, middle, lambda other, x: x - beyond_zero(other, 0.02))
    places = tuple(range(len(arguments)))

    @jax.jit
    def both(*a):
        return jnp.stack(family.log_tails(*a))

    with x64():
        slopes = jax.jit(jax.jacfwd(lambda *a: both(*a).sum(-1), places))(*arguments)
        back = jax.jit(jax.jacrev(lambda *a: both(*a).sum(-1), places))(*arguments)
        for place, (got, reverse) in enumerate(zip(slopes, back, strict=True)):
            scale = size if place == 0 else np.maximum(np.abs(arguments[place]), 1e-2)
            h = 1e-4 * np.abs(scale)

            def at(k, place=place, h=h):
                moved = list(arguments)
                moved[place] = moved[place] + k * h
                return np.asarray(both(*moved))

            slope = (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * h)
            np.testing.assert_allclose(got, slope, rtol=2e-6, atol=1e-8)
            np.testing.assert_allclose(got, reverse, rtol=1e-9, atol=1e-12)


def test_quantiles_of_geometric_numbers_at_their_steps():
    """The quantile of P(X <= k) is k: rounding errors must not give the number above."""
    prob, k = np.meshgrid(np.linspace(0.02, 0.98, 30), np.arange(40.0))
    with x64():
        tails = jax.jit(FAMILIES["geometric"].log_tails)(k, prob)
        np.testing.assert_allclose(tails[0], stats.geom(prob).logcdf(k + 1), rtol=1e-9, atol=1e-15)
        found = jax.jit(FAMILIES["geometric"].quantile)(*tails, prob)
    np.testing.assert_array_equal(found, k)


def test_far_out():
    def check(name, x, parameters, below, above):
        with x64():
            found = jax.jit(FAMILIES[name].log_tails)(x, *parameters)
        np.testing.assert_allclose(found[0], float(below), rtol=1e-11, atol=1e-300)
        np.testing.assert_allclose(found[1], float(above), rtol=1e-11, atol=1e-300)

    with mp.workdps(500):
        for z in (-40, 40):
            other = [mp.log(mp.ncdf(s * z)) for s in (1, -1)]
            check("normal", float(z), (0.0, 1.0), *other)
        # 40 standard deviations from the mean of large shapes, on both sides.
        a = mp.mpf(10) ** 5
        for x in (a + 40 * mp.sqrt(a), a - 40 * mp.sqrt(a)):
            x = mp.mpf(float(x))
            lower = mp.gammainc(a, 0, x, regularized=True)
            check("gamma", float(x), (1e5, 1.0), mp.log(lower), mp.log1p(-lower))
        lower = mp.betainc(4000, 6000, 0, mp.mpf(0.2), regularized=True)  # 41 deviations
        check("beta", 0.2, (4000.0, 6000.0), mp.log(lower), mp.log1p(-lower))


def test_normal_quantiles_at_the_ends_and_far_out():
    """Also in one array with numbers that are taken by the other formula."""
    z = np.array([-np.inf, -45.0, -5.0, 0.0, 1.0, 40.0, np.inf])
    with mp.workdps(600):
        below = [mp.log(mp.ncdf(v)) if v > -np.inf else -mp.inf for v in z]
        above = [mp.log(mp.ncdf(-v)) if v < np.inf else -mp.inf for v in z]
        tails = [np.array([float(v) for v in side]) for side in (below, above)]
    with x64():
        found = np.asarray(jax.jit(normal_quantile)(*tails))
        slopes = jax.jit(jax.grad(lambda *t: normal_quantile(*t).sum(), (0, 1)))(*tails)
    np.testing.assert_allclose(found, z, rtol=1e-12, atol=1e-12)
    assert np.isfinite(np.stack(slopes)[:, 1:-1]).all()


def test_probabilities_between_points():
    def gap(low, high):
        tails = FAMILIES["normal"].log_tails
        return between(tails(low, 0.0, 1.0), tails(high, 0.0, 1.0))

    low = np.array([10.0, 40.0, -40.0, -1.0, -3.0, 2.0, -np.inf])
    high = np.array([11.0, 41.0, -39.0, 1.0, 8.0, 2.0 + 1e-9, np.inf])
    with mp.workdps(400), x64():
        wanted = [
            float(mp.log(mp.ncdf(-mp.mpf(a)) - mp.ncdf(-mp.mpf(b))))
            for a, b in zip(low[:-1], high[:-1], strict=True)
        ]
        found = np.asarray(jax.jit(gap)(low, high))
        slopes = jax.jit(jax.grad(lambda a, b: gap(a, b).sum(), (0, 1)))(low, high)
    np.testing.assert_allclose(found[:5], wanted[:5], rtol=1e-11)
    np.testing.assert_allclose(found[5], wanted[5], rtol=1e-6)  # the gap itself is rounded
    assert found[-1] == 0.0
    z = float(np.exp(found[0]))
    np.testing.assert_allclose(slopes[0][0], -stats.norm.pdf(10) / z, rtol=1e-9)
    np.testing.assert_allclose(slopes[1][0], stats.norm.pdf(11) / z, rtol=1e-9)
    assert np.isfinite(np.stack(slopes)).all()


def test_logarithms_of_differences_of_close_and_of_distant_numbers():
    larger = np.array([-1.0, -500.0, 0.0, -2.0, -0.5, -3.0])
    gaps = np.array([2.0**-40, 2.0**-40, 2.0**-70, 0.5, 50.0, 800.0])  # the differences are exact
    with mp.workdps(60), x64():
        wanted = [
            float(mp.mpf(a) + mp.log(-mp.expm1(-mp.mpf(b))))
            for a, b in zip(larger, gaps, strict=True)
        ]
        found = jax.jit(log_of_one)(larger, larger - gaps)
        none = jax.jit(log_of_one)(np.array([-1.0, -1.0]), np.array([-np.inf, -1.0]))
    np.testing.assert_allclose(found, wanted, rtol=1e-14)
    np.testing.assert_array_equal(none, [-1.0, -np.inf])


def test_a_von_mises_number_is_scipys_and_turns_with_mu():
    log_tails = jax.jit(FAMILIES["von_mises"].log_tails)
    x = np.array([-3.1, -2.0, -0.1, 0.0, 1.0, 3.0])
    with x64():
        for kappa in (1e-8, 0.7, 20.0, 49.0):
            other = stats.vonmises(kappa)
            for mu in (0.0, 2.5, -2.5, 3 * np.pi, np.pi):
                # SciPy's cdf goes on beyond pi, and grows by 1 each turn.
                wanted = other.cdf(x - mu) - other.cdf(-np.pi - mu)
                found = np.exp(log_tails(x, mu, kappa))
                np.testing.assert_allclose(found[0], wanted, rtol=1e-10, atol=1e-12)
                np.testing.assert_allclose(found[1], 1 - wanted, rtol=1e-10, atol=1e-12)
        # By mu, at 0, the density comes in at -pi and goes at x.
        slope = jax.jacfwd(lambda mu: jnp.exp(log_tails(x, mu, 0.7)[0]))(0.0)
        density = stats.vonmises(0.7).pdf
        np.testing.assert_allclose(slope, density(np.pi) - density(x), rtol=1e-12, atol=1e-15)
    with mp.workdps(40), x64():  # 40 standard deviations out, where nothing cancels
        kappa, at = 1e4, 0.4
        whole = 2 * mp.pi * mp.besseli(0, kappa)
        points = [at, at + 0.001, at + 0.01, at + 0.05, at + 0.2, mp.pi]
        above = mp.log(mp.quad(lambda t: mp.exp(kappa * mp.cos(t)), points) / whole)
        found = log_tails(at, 0.0, kappa)
        np.testing.assert_allclose(found[1], float(above), rtol=1e-12)
        np.testing.assert_allclose(log_tails(-at, 0.0, kappa)[0], found[1], rtol=1e-14)


def test_quantiles_of_narrow_and_of_wrapped_angles():
    family = FAMILIES["von_mises"]
    z = np.array([-30.0, -3.0, 0.0, 0.1, 5.0, 37.0])
    with x64():

        @jax.jit
        def back(x, mu, kappa):
            tails = family.log_tails(x, mu, kappa)
            return family.quantile(*tails, mu, kappa)

        narrow = back(0.4 + 1e-4 * z, 0.4, 1e8)
        x = np.linspace(-3.1, 3.1, 6)
        wrapped = back(x, 3.0, 2.0)
        slope = jax.jacfwd(family.quantile, 3)(np.log(0.3), np.log(0.7), 0.0, 2.0)
        ends = family.quantile(np.array([-np.inf, 0.0]), np.array([0.0, -np.inf]), 0.3, 2.0)
    np.testing.assert_allclose(narrow, 0.4 + 1e-4 * z, rtol=1e-13)
    np.testing.assert_allclose(wrapped, x, rtol=1e-13)
    np.testing.assert_array_equal(ends, [-np.pi, np.pi])
    other = stats.vonmises
    quotient = (other.ppf(0.3, 2.0 + 1e-4) - other.ppf(0.3, 2.0 - 1e-4)) / 2e-4
    np.testing.assert_allclose(slope, quotient, rtol=1e-6)


@pytest.mark.parametrize("df", [0.01, 0.5, 1.0, 3.0])
def test_students_tails_where_squares_overflow(df):
    """The leading term of the tail, by mpmath; beyond the largest number quantiles are infinite."""
    log_beta = float(mp.log(mp.beta(df / 2, 0.5)))
    log_p = np.array([-3.0, -30.0, -500.0, -690.0])
    log_q = (-log_p - np.log(df) - log_beta) / df + 0.5 * np.log(df)
    student, half = FAMILIES["student"], FAMILIES["half_student"]
    with x64():
        below = np.asarray(student.quantile(log_p, np.log1p(-np.exp(log_p)), df, 0.0, 1.0))
        above = np.asarray(half.quantile(np.log1p(-np.exp(log_p)), log_p, df, 1.0))
    for found, wanted in ((-below, log_q), (above, log_q + np.log(2) / df)):
        far = wanted > 40 + 0.5 * np.log(df)
        some = far & (wanted < 707)
        np.testing.assert_allclose(np.log(found[some]), wanted[some], rtol=1e-12)
        assert np.isposinf(found[wanted > 710]).all()
