"""Laws by quadrature: closed forms, published values, simulation."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.special import gamma

import kinetograph as kg
from kinetograph import laws


def test_published_moments():
    square, fourth = (lambda q: q**2), (lambda q: q**4)
    quartic = laws.canonical_law(laws.quartic)
    assert quartic.expectation(square) == pytest.approx(2 * gamma(0.75) / gamma(0.25), rel=1e-12)
    assert quartic.expectation(fourth) == pytest.approx(1, rel=1e-12)
    well = laws.canonical_law(laws.double_well)
    assert well.expectation(square) == pytest.approx(0.832745, abs=6e-7)
    assert well.expectation(fourth) == pytest.approx(1.082745, abs=6e-7)
    cosine = laws.canonical_law(laws.cosine)
    assert cosine.expectation(square) == pytest.approx(1.548364, abs=6e-7)
    assert cosine.expectation(fourth) == pytest.approx(4.112436, abs=6e-7)
    assert cosine.expectation(laws.cosine) == pytest.approx(0.436735, abs=6e-7)


@pytest.mark.parametrize(
    "potential", [laws.harmonic(3.0), laws.quartic, laws.double_well, laws.cosine]
)
def test_gradients_and_the_virial_at_any_temperature(potential):
    q = np.linspace(-2, 2, 9)
    slope = (potential(q + 1e-5) - potential(q - 1e-5)) / 2e-5
    assert potential.gradient(q) == pytest.approx(slope, abs=1e-8)
    for beta in (0.1, 1.0, 10.0):
        law = laws.canonical_law(potential, beta)
        virial = law.expectation(lambda q: q * potential.gradient(q))
        assert beta * virial == pytest.approx(1, rel=1e-10)


def test_potentials_of_models():
    x = kg.variable(name="x")
    model = kg.model(x, factors=[-1.0 * laws.cosine(x)])
    assert float(model.log_prob([0.7])) == pytest.approx(-laws.cosine(0.7))
    assert model.gradient([0.7])[0] == pytest.approx(-laws.cosine.gradient(0.7))


def test_a_law_far_from_zero_and_narrow():
    law = laws.canonical_law(lambda q: 0.5 * ((q - 40) / 0.2) ** 2)
    mean = law.expectation(lambda q: q)
    assert mean == pytest.approx(40)
    assert law.expectation(lambda q: (q - mean) ** 2) == pytest.approx(0.04)
    x = 40 + 0.2 * np.linspace(-4, 4, 9)
    assert law.cdf(x) == pytest.approx(stats.norm.cdf(x, 40, 0.2), abs=1e-10)
    assert law.cdf([-1e9, 1e9]) == pytest.approx([0, 1])


@pytest.mark.parametrize(
    ("h", "square", "virial"),
    [(0.05, 1.550706, 1.062721), (0.1, 1.558039, 1.133775), (0.2, 1.596782, 1.300378)],
)
def test_published_stationary_law_of_sgld(h, square, virial):
    U = laws.cosine
    law = laws.stationary_law(lambda q: q - h * U.gradient(q), math.sqrt(2 * h), points=500)
    assert law.expectation(lambda q: q**2) == pytest.approx(square, abs=1e-6)
    assert law.expectation(lambda q: q * U.gradient(q)) == pytest.approx(virial, abs=1e-6)


def test_the_oscillators_stationary_law_is_the_exact_one():
    k, beta, h = 2.0, 1.3, 0.6
    law = laws.stationary_law(lambda q: q - h * k * q, math.sqrt(2 * h / beta), points=800)
    exact = laws.oscillator("SGLD", h, stiffness=k, inverse_temperature=beta).q2
    assert law.expectation(lambda q: q**2) == pytest.approx(exact, rel=1e-9)
    assert law.cdf(0.3) == pytest.approx(stats.norm.cdf(0.3, scale=math.sqrt(exact)), abs=1e-9)


def test_noise_that_depends_on_the_state():
    variance = lambda q: 0.3 + 0.2 * np.cos(q)
    law = laws.stationary_law(lambda q: 0.5 * q, lambda q: np.sqrt(variance(q)), points=300)
    # A step leaves <q^2> = <q^2> / 4 + <variance> and <q^4> as they are.
    q2, q4 = law.expectation(lambda q: q**2), law.expectation(lambda q: q**4)
    assert q2 == pytest.approx(law.expectation(variance) / 0.75, rel=1e-9)
    moved = law.expectation(lambda q: 6 * 0.25 * q**2 * variance(q) + 3 * variance(q) ** 2)
    assert q4 == pytest.approx(moved / (1 - 1 / 16), rel=1e-9)


def test_laws_that_do_not_exist():
    with pytest.raises(ValueError, match="does not vanish"):
        laws.canonical_law(lambda q: 0.0 * q)
    with pytest.raises(ValueError, match="does not vanish"):
        laws.canonical_law(lambda q: q)
    with pytest.raises(ValueError, match="is NaN at q = "):
        laws.canonical_law(lambda q: np.where(q > -1, q**2, np.nan))
    with pytest.raises(ValueError, match="must be positive"):
        laws.canonical_law(laws.quartic, 0.0)
    with pytest.raises(ValueError, match="at most half of the sd"):
        laws.stationary_law(lambda q: 0.5 * q, 0.01)
    for mean, limits in ((lambda q: 0.5 * q, (-2, 2)), (lambda q: q, (-10, 10))):
        with pytest.raises(ValueError, match="give wider ones"):
            laws.stationary_law(mean, 1.0, limits, points=300)
