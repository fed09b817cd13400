"""Censored data against SciPy's densities and distribution functions."""

import jax
import numpy as np
import pandas as pd
import pytest
from scipy import stats

import kinetograph as kg
from kinetograph.distributions.censoring import censored, interval_censored
from kinetograph.distributions.derived import family_of
from kinetograph.distributions.family import FAMILIES
from kinetograph.graph.precision import x64


def log_prob(term):
    return float(kg.compile([], term.sum())())


def test_beyond_the_bounds_it_is_a_probability():
    y = np.array([-1.0, -1.0, 0.3, 1.9, 2.0])
    term = kg.log_density(kg.normal(0.5, 1.2, censoring=(-1, 2)), y)
    other = stats.norm(0.5, 1.2)
    wanted = 2 * other.logcdf(-1) + other.logpdf([0.3, 1.9]).sum() + other.logsf(2)
    assert log_prob(term) == pytest.approx(wanted, rel=1e-12)


def test_one_side_with_a_bound_for_each():
    upper = np.array([2.0, np.inf, 3.0, 5.0])  # the second is known to be no bound
    y = np.array([2.0, 8.0, 1.0, 5.0])
    term = kg.log_density(kg.gamma(2.5, 0.7, censoring=(None, upper)), y)
    other = stats.gamma(2.5, scale=1 / 0.7)
    wanted = other.logsf([2.0, 5.0]).sum() + other.logpdf([8.0, 1.0]).sum()
    assert log_prob(term) == pytest.approx(wanted, rel=1e-12)


def test_of_counts():
    y = np.array([0, 3, 10, 2])
    term = kg.log_density(kg.poisson(6.0, censoring=(2, 10)), np.maximum(y, 2))
    other = stats.poisson(6)
    wanted = 2 * other.logcdf(2) + other.logpmf(3) + other.logsf(9)
    assert log_prob(term) == pytest.approx(wanted, rel=1e-12)


def test_intervals():
    pairs = np.array([[1.0, 2.0], [-np.inf, 0.5], [3.0, np.inf], [1.5, 1.5]])
    mu = kg.normal(0, 1, name="mu")
    kg.observe(pairs, kg.normal(mu, 1.2, censoring="interval"))
    other = stats.norm(0.5, 1.2)
    wanted = np.log(other.cdf(2) - other.cdf(1)) + other.logcdf(0.5) + other.logsf(3)
    wanted += other.logpdf(1.5) + stats.norm.logpdf(0.5)
    model = kg.model(mu)
    assert model.log_prob([0.5]) == pytest.approx(wanted, rel=1e-12)
    step = 1e-5
    slope = (model.log_prob([0.5 + step]) - model.log_prob([0.5 - step])) / (2 * step)
    assert model.gradient([0.5])[0] == pytest.approx(slope, rel=1e-7)


def test_intervals_of_counts_have_both_ends():
    term = kg.log_density(kg.poisson(6.0, censoring="interval"), [[2.0, 4.0], [5.0, 5.0]])
    other = stats.poisson(6)
    wanted = np.log(other.pmf([2, 3, 4]).sum()) + other.logpmf(5)
    assert log_prob(term) == pytest.approx(wanted, rel=1e-12)


def test_gradients_where_densities_are_not_used():
    family = censored(FAMILIES["gamma"], ("lower", "upper"))
    with x64():
        slopes = jax.jit(jax.grad(lambda *a: family.log_density(*a).sum(), (1, 2)))(
            np.array([0.0, 1.0, 3.0]), 2.5, 0.7, 0.0, np.array([5.0, 1.0, np.inf])
        )
    assert np.isfinite(slopes).all()
    pairs = interval_censored(FAMILIES["gamma"])
    with x64():
        slopes = jax.jit(jax.grad(lambda *a: pairs.log_density(*a).sum(), (1, 2)))(
            np.array([[0.0, 1.0], [2.0, np.inf], [3.0, 3.0]]), 2.5, 0.7
        )
    assert np.isfinite(slopes).all()


@pytest.mark.parametrize("eta", [0.3, [0.3, -0.4, 1.0, 2.0]])
def test_labels_of_ordered_classes(eta):
    """Four labels by three cutpoints that all share."""
    labels, cuts = np.array([0, 1, 2, 3]), np.array([-1.0, 0.5, 2.0])
    pairs = np.array([[0, 1], [2, 2], [1, 3], [-np.inf, 2]])
    terms, wanted = [], []
    for make, law in ((kg.ordered_logistic, stats.logistic), (kg.ordered_probit, stats.norm)):
        below = law.cdf(np.array([-np.inf, *cuts, np.inf]) - np.broadcast_to(eta, 4)[:, None])
        share = np.diff(below)
        terms.append(kg.log_density(make(eta, cuts, censoring=(1, 3), shape=4), labels.clip(1)))
        wanted.append([below[0, 2], below[1, 2], share[2, 2], share[3, 3]])
        terms.append(kg.log_density(make(eta, cuts, censoring="interval", shape=(4, 2)), pairs))
        wanted.append([below[0, 2], share[1, 2], 1 - below[2, 1], below[3, 3]])
    found = kg.compile([], terms)()
    np.testing.assert_allclose(found, np.log(wanted), rtol=1e-12)


def test_a_bound_below_the_support_is_that_of_the_support():
    """So a number between the two is not seen, and the least number is as it is."""
    x = kg.placeholder((3,), name="x")
    low = kg.placeholder(name="low")
    terms = [kg.log_density(kg.geometric(0.2, censoring=(-2, None), shape=3), x)]
    terms += [kg.log_density(kg.poisson(3.0, censoring=(low, None), shape=3), x)]
    terms += [kg.log_density(kg.binomial(4, 0.3, censoring=(None, 9), shape=3), x)]
    evaluate = kg.compile([x, low], terms)
    found = evaluate([-1.0, 0.0, 4.0], -2.0)
    laws = stats.nbinom(1, 0.2), stats.poisson(3), stats.binom(4, 0.3)
    wanted = [[-np.inf, *law.logpmf([0, 4])] for law in laws]
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    # What lies beyond a bound that is not known when the model is made is impossible, too.
    found = evaluate([0.0, 2.0, 4.0], 2.0)[1]
    np.testing.assert_allclose(found, [-np.inf, laws[1].logcdf(2), laws[1].logpmf(4)], rtol=1e-12)
    with pytest.raises(kg.DataError, match=r"-1 at index 0"):
        kg.observe([-1, 0], kg.poisson(3.0, censoring=(-2, None)))


def test_counts_with_0_that_are_censored_above_can_be_sampled():
    """The slope of the log density of an observed 0, beside counts at the bound."""
    rate = kg.lognormal(0, 1, name="rate")
    kg.observe([0, 1, 3, 6], kg.poisson(rate, censoring=(None, 6)))
    model = kg.model(rate)

    def wanted(u):
        other = stats.poisson(np.exp(u))
        return stats.norm.logpdf(u) + other.logpmf([0, 1, 3]).sum() + other.logsf(5)

    h = 1e-3
    slope = (
        8 * (wanted(0.3 + h) - wanted(0.3 - h)) - wanted(0.3 + 2 * h) + wanted(0.3 - 2 * h)
    ) / (12 * h)
    assert model.log_prob([0.3]) == pytest.approx(wanted(0.3), rel=1e-12)
    assert model.gradient([0.3])[0] == pytest.approx(slope, rel=1e-9)


def test_a_rate_from_times_that_ended_early():
    """Exponential times, of which some had not ended: the posterior is gamma(1 + events, ...)."""
    rng = np.random.default_rng(4)
    times, limits = rng.exponential(2.0, 200), rng.uniform(0.5, 4.0, 200)
    y = np.minimum(times, limits)
    rate = kg.exponential(1.0, name="rate")
    kg.observe(y, kg.exponential(rate, censoring=(None, limits), shape=200))
    model = kg.model(rate)
    events = int((times < limits).sum())
    exact = stats.gamma(1 + events, scale=1 / (1 + y.sum()))
    at = np.log([[0.3], [0.5], [0.8]])
    found = model.log_prob(at) - at[:, 0]
    wanted = exact.logpdf(np.exp(at[:, 0]))
    np.testing.assert_allclose(found - found[0], wanted - wanted[0], rtol=1e-10, atol=1e-9)


def test_truncated_and_censored():
    y = np.array([1.0, 4.0])
    term = kg.log_density(kg.normal(0, 2, truncation=(0, None), censoring=(None, 4)), y)
    wanted = stats.truncnorm(0, np.inf, 0, 2)
    assert log_prob(term) == pytest.approx(wanted.logpdf(1) + wanted.logsf(4), rel=1e-11)


def test_draws_are_those_that_would_be_seen():
    x = kg.normal(0, 1, censoring=(-0.5, 1.0), shape=5000, name="x")
    drawn = np.asarray(kg.calculate(x, draws=1, seed=2)["x"]).reshape(-1)
    assert drawn.min() == -0.5
    assert drawn.max() == 1.0
    share = stats.norm.sf(1.0)
    assert (drawn == 1.0).mean() == pytest.approx(share, abs=5.5 * np.sqrt(share / 5000))


def test_an_unknown_is_not_censored():
    x = kg.normal(0, 1, censoring=(0, 1), name="x")
    kg.observe([1.0], kg.normal(x, 1))
    with pytest.raises(kg.ModelError, match=r"x.* is an unknown with censoring="):
        kg.model(x)


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: kg.normal(0, 1, censoring=3), TypeError, "censoring must be a pair"),
        (
            lambda: kg.normal(0, 1, censoring=np.arange(99) > 5),
            TypeError,
            r"array of shape \(99,\).*upper bound .*\(None, bounds\).*np.where\(is_censored",
        ),
        (
            lambda: kg.normal(0, 1, censoring=pd.Series([0, 1, 1])),
            TypeError,
            r"got a Series .*upper bound .*np.where\(is_censored",
        ),
        (lambda: kg.normal(0, 1, censoring="left"), TypeError, r"\(bounds, None\).*, -np.inf\)$"),
        (lambda: kg.normal(0, 1, censoring="intervals"), TypeError, 'or "interval"'),
        (lambda: kg.normal(0, 1, censoring=(1, 1)), ValueError, "must be below"),
        (lambda: kg.normal(0, 1, censoring=(2, np.nan)), ValueError, "upper must be"),
    ],
)
def test_what_is_no_censoring(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_data_are_checked():
    with pytest.raises(kg.DataError, match=r"between -1 and 2.*3\.0 at index 1"):
        kg.observe([0.0, 3.0], kg.normal(0, 1, censoring=(-1, 2)))
    with pytest.raises(kg.DataError, match="two numbers in order"):
        kg.observe([[0.0, 1.0], [3.0, 2.0]], kg.normal(0, 1, censoring="interval"))
    with pytest.raises(kg.ShapeError, match=r"pairs \(low, high\) along the last axis"):
        kg.observe([0.0, 1.0, 2.0], kg.normal(0, 1, censoring="interval"))
    with pytest.raises(kg.DataError, match="missing"):
        kg.observe([[0.0, np.nan]], kg.normal(0, 1, censoring="interval"))


def test_as_they_were_written():
    mu = kg.normal(0, 1, name="mu")

    def text(x):
        return x.node.distribution.expression()

    assert text(kg.normal(mu, 1, censoring=(None, 3))) == "normal(mu, 1, censoring=(None, 3))"
    wanted = "normal(mu, 1, truncation=(0, None), censoring='interval')"
    assert text(kg.normal(mu, 1, truncation=(0, None), censoring="interval")) == wanted


def test_families_are_found_by_their_keys():
    for family in (censored(FAMILIES["gamma"], ("lower",)), interval_censored(FAMILIES["gamma"])):
        assert family_of(family.key) is family


def test_intervals_by_row_far_out():
    """Rows with their own bounds, some 1000 standard deviations away, against mpmath."""
    import mpmath as mp

    low = np.array([-31.0, 30.0, 1000.0, 60.0, -np.inf, 2.0, 0.5])
    high = np.array([-30.0, 31.0, 1001.0, np.inf, -200.0, 2.0, 0.7])

    def build():
        mu = kg.normal(0, 1, name="mu")
        rows = np.stack([low, high], axis=-1)
        kg.observe(rows, kg.normal(mu, 1.0, censoring="interval"))
        return mu

    def upper(x):
        return mp.erfc(mp.mpf(x) / mp.sqrt(2)) / 2

    def row(a, b, at):
        a, b = a - at, b - at
        if a == b:
            return mp.log(mp.npdf(a))
        a, b = (-b, -a) if a < 0 and b < 0 else (a, b)
        return mp.log((upper(a) if np.isfinite(a) else 1) - (upper(b) if np.isfinite(b) else 0))

    model, at = kg.model(build), 0.25
    with mp.workdps(60):
        total = sum(row(a, b, at) for a, b in zip(low, high, strict=True)) + mp.log(mp.npdf(at))
        step = 1e-6
        slope = sum(
            (row(a, b, at + step) - row(a, b, at - step)) / (2 * step)
            for a, b in zip(low, high, strict=True)
        )
    assert model.log_prob([at]) == pytest.approx(float(total), rel=1e-13)
    assert model.gradient([at])[0] == pytest.approx(float(slope) - at, rel=1e-8)
