"""Estimates from draws whose law is known: autoregressions, and schemes on the oscillator."""

import numpy as np
import pytest
from scipy import stats
from tests.laws.helpers import ess

from kinetograph import laws


@pytest.mark.parametrize(
    "phi", [-0.5, 0.0, 0.9, pytest.param(0.99, marks=pytest.mark.slow)]
)  # the last needs ten million draws
def test_autocorrelation_times_of_autoregressions(phi):
    chains, draws = (64, 160_000) if phi == 0.99 else (64, 16_000)
    x = laws.autoregression(phi, chains, draws, seed=1)
    exact = (1 + phi) / (1 - phi)
    assert laws.autocorrelation_time(x) == pytest.approx(exact, rel=0.05)
    assert laws.mcse(x) == pytest.approx(np.sqrt(exact / x.size), rel=0.03)


def oscillator_draws(scheme, h, k, beta, gamma, chains, draws):
    rng = np.random.default_rng(5)
    noise = lambda: rng.normal(size=chains) / np.sqrt(beta)
    q, p = noise() / np.sqrt(k), noise()
    rows = np.empty((draws + 50, chains))
    for i in range(len(rows)):
        if scheme == "SGLD":
            q = q - h * k * q + np.sqrt(2 * h) * noise()
        else:
            for letter in scheme:
                t = h / scheme.count(letter)
                if letter == "A":
                    q = q + t * p
                elif letter == "B":
                    p = p - t * k * q
                else:
                    a = np.exp(-gamma * t)
                    p = a * p + np.sqrt(1 - a * a) * noise()
        rows[i] = q
    return rows[50:].T


@pytest.mark.parametrize("scheme", ["SGLD", "BAO", "BABO", "BAOAB"])
def test_autocorrelation_times_of_schemes(scheme):
    """From 0.25 to 1.7 draws."""
    k, beta, gamma, h = 2.0, 1.3, 1.5, 0.8
    x = oscillator_draws(scheme, h, k, beta, gamma, chains=1000, draws=500)
    law = laws.oscillator(scheme, h, stiffness=k, inverse_temperature=beta, friction=gamma)
    assert laws.autocorrelation_time(x) == pytest.approx(law.autocorrelation_time(), rel=0.05)
    squares = law.autocorrelation_time(square=True)
    assert laws.autocorrelation_time(x**2) == pytest.approx(squares, rel=0.05)
    assert laws.mean_test(x**2, law.q2).passed()
    assert not laws.mean_test(x**2, law.q2 * 1.02).passed()


@pytest.mark.slow
@pytest.mark.parametrize(
    "scheme", ["SGLD", "BAO", "ABO", "BABO", "OBABO", "BAOAB", "BOAOB", "AOBOA"]
)
def test_autocorrelation_times_from_a_quarter_to_nine_draws(scheme):
    k, beta, gamma = 2.0, 1.3, 1.5
    for h in (0.2, 0.4, 0.8):
        x = oscillator_draws(scheme, h, k, beta, gamma, chains=1000, draws=2000)
        law = laws.oscillator(scheme, h, stiffness=k, inverse_temperature=beta, friction=gamma)
        assert laws.autocorrelation_time(x) == pytest.approx(law.autocorrelation_time(), rel=0.05)
        assert laws.mean_test(x**2, law.q2).passed(1e-4)


def test_chains_that_do_not_agree_have_long_times():
    x = laws.autoregression(0.5, 8, 2000, seed=1)
    apart = x + np.arange(8)[:, None]
    assert laws.autocorrelation_time(apart) > 1000
    assert not laws.mean_test(apart, 3.5).passed()  # too few effective draws to tell


@pytest.mark.parametrize("shape", ["line", "half a wave", "step"])
def test_draws_that_end_before_their_correlations_have_long_times(shape):
    """A trend has no more independent draws than its turns: a tenth of the length at least."""
    t = np.arange(300) / 300
    x = {"line": t, "half a wave": np.cos(np.pi * t), "step": (t > 0.3) + 1e-3 * np.sin(99 * t)}
    assert laws.autocorrelation_time(x[shape]) > 30


def test_slow_chains_are_not_taken_for_independent_draws():
    x = laws.autoregression(0.9999, 4, 2000, seed=1)
    assert laws.mean_test(x, 0.0).ess < 40


def test_scores_are_standard_normal():
    z = [float(laws.mean_test(laws.autoregression(0.5, 4, 500, seed=i), 0.0).z) for i in range(400)]
    assert np.std(z) == pytest.approx(1, abs=5 / np.sqrt(800))


def test_each_element_and_errors_of_what_is_expected():
    x = laws.autoregression(0.5, 8, 3000, seed=2)
    draws = np.stack([x, 2 + 3 * x], -1)
    test = laws.mean_test(draws, [0.0, 2.0])
    assert test.z.shape == (2,)
    assert test.z[0] == pytest.approx(test.z[1])
    assert test.ess[0] == pytest.approx(ess(x), rel=0.1)
    wide = laws.mean_test(draws, [0.0, 2.0], expected_error=[0.0, 4 * test.mcse[1]])
    assert wide.mcse[1] == pytest.approx(np.sqrt(17) * test.mcse[1])
    assert laws.mean_test(x[0], 0.0).ess == pytest.approx(ess(x[0]), rel=0.2)


def test_distributions():
    x = laws.autoregression(0.9, 16, 20_000, seed=3)
    assert laws.ks_test(x, stats.norm.cdf).passed(1e-3)
    assert not laws.ks_test(x + 0.2, stats.norm.cdf).passed()
    other = np.random.default_rng(4).normal(size=(5000, 2))
    both = np.stack([x, -x], -1)
    assert laws.ks_test(both, other).passed(1e-3)
    test = laws.ks_test(both * [1.0, 0.8], other)
    assert not test.passed()
    assert test.worst_name == "[1]"
    assert test.size == 16 * (20_000 // 58) or 5000 < test.size < 6000


def test_thinned_draws_count_as_independent_and_others_do_not():
    chains = [laws.autoregression(0.5, 4, 1000, seed=i) for i in range(60)]
    p = [laws.ks_test(x, stats.norm.cdf).p_value for x in chains]
    assert stats.kstest(p, "uniform").pvalue > 1e-6
    p = [laws.ks_test(x, stats.norm.cdf, thin=1).p_value for x in chains]
    assert stats.kstest(p, "uniform").pvalue < 1e-3


def test_chi2():
    assert laws.chi2_test([16, 18, 16, 14, 12, 12]).p_value == pytest.approx(
        stats.chisquare([16, 18, 16, 14, 12, 12]).pvalue
    )
    test = laws.chi2_test([[10, 20, 30], [20, 20, 20]], [1, 2, 3])
    assert list(test.p_values.values()) == pytest.approx(
        [1.0, stats.chisquare([20, 20, 20], [10, 20, 30]).pvalue]
    )


@pytest.mark.parametrize("phi", [-0.5, 0.0, 0.9])
def test_independent_chains(phi):
    p = [
        laws.independence_test(9 + laws.autoregression(phi, 3, 2000, seed=i)).p_value
        for i in range(100)
    ]
    assert min(p) > 1e-5
    assert 15 < np.sum(np.array(p) < 0.4) < 65


def test_dependent_chains_are_found():
    x = 5 + np.stack([laws.autoregression(0.5, 8, 4000, seed=i) for i in (1, 2)], -1)
    assert laws.independence_test(x).passed(1e-3)
    x[5, :, 1] += 0.2 * x[2, :, 1]
    test = laws.independence_test(x)
    assert not test.passed()
    assert test.worst_name == "element 1, chains 2 and 5"


def test_draws_that_cannot_be_judged():
    with pytest.raises(ValueError, match=r"shape \(chain, draw, ...\)"):
        laws.mean_test(3.0, 0.0)
    with pytest.raises(ValueError, match="2 of the draws are not finite"):
        laws.mean_test([[1.0, np.nan, 2.0, np.inf, 0.0]], 0.0)
    with pytest.raises(ValueError, match="one chain"):
        laws.independence_test(np.arange(10.0))
    with pytest.raises(ValueError, match=r"each draw has the shape \(2,\)"):
        laws.ks_test(np.random.default_rng(1).normal(size=(4, 100, 2)), np.zeros(50))
    for expected, text in (
        (stats.norm.pdf, r"pdf is not a distribution function: .* is smaller than at"),
        (stats.norm.logcdf, r"logcdf is not a distribution function: .* is not between 0 and 1"),
        (lambda x: 0.5, r"returns float64 of shape \(\), not a number for each"),
        (lambda x: None, "returns object of shape"),
        (np.array([1.0, np.nan]), "not all finite"),
    ):
        with pytest.raises(ValueError, match=rf"kg\.laws\.ks_test: .*{text}"):
            laws.ks_test(np.random.default_rng(1).normal(size=100), expected)
    with pytest.raises(ValueError, match="must be within"):
        laws.autoregression(1.0, 1, 10, seed=1)
