"""Orders in the step size and the error law, of draws and exact curves whose slopes are known."""

import numpy as np
import pytest

from kinetograph import laws

STEPS = [0.02, 0.04, 0.08, 0.16]


@pytest.mark.parametrize(
    ("scheme", "order"), [("SGLD", 1), ("GLA1", 1), ("BABO", 2), ("OBABO", 2), ("OABAO", 2)]
)
def test_orders_of_schemes_in_the_position(scheme, order):
    biases = [laws.oscillator(scheme, h).q2 - 1 for h in STEPS]
    assert laws.order_fit(STEPS, biases, expected=order).passed()
    assert not laws.order_fit(STEPS, biases, expected=3 - order).passed()


def test_the_order_depends_on_the_observable():
    kinetic = [laws.oscillator("GLA1", h).p2 - 1 for h in STEPS]
    assert laws.order_fit(STEPS, kinetic, expected=2).passed()


def test_the_virial_of_sgld_on_the_cosine_potential_is_first_order():
    U, virials = laws.cosine, []
    for h in (0.02, 0.04, 0.08):
        law = laws.stationary_law(lambda q, h=h: q - h * U.gradient(q), np.sqrt(2 * h), points=320)
        virials.append(law.expectation(lambda q: q * U.gradient(q)) - 1)
    assert laws.order_fit([0.02, 0.04, 0.08], virials, expected=1).passed()


def test_standard_errors_weigh_and_are_right():
    """Against 500 repetitions: the slope is off by a normal number times its error."""
    rng = np.random.default_rng(1)
    h, errors = np.array(STEPS), np.array([0.0005, 0.0005, 0.002, 0.05]) / 8
    fits = [
        laws.order_fit(STEPS, -0.3 * h**2 + errors * rng.normal(size=4) * 0.1, errors, expected=2)
        for _ in range(500)
    ]
    z = np.array([float(f.z) for f in fits])
    assert np.std(z) == pytest.approx(0.1, rel=0.25)
    assert abs(np.mean(z)) < 0.04
    assert fits[0].coefficient == pytest.approx(-0.3, rel=0.3)


def test_a_slope_that_is_not_known_well_enough_does_not_pass():
    biases = [0.3 * h**2 for h in STEPS]
    assert not laws.order_fit(STEPS, biases, [0.3 * b for b in biases], expected=2).passed()
    assert laws.order_fit(STEPS, biases, [0.01 * b for b in biases], expected=2).passed()


@pytest.mark.parametrize(
    ("steps", "biases", "errors", "message"),
    [
        (STEPS, [0.1, 0.2, -0.3, 0.4], 0.0, "do not have one sign"),
        (STEPS, [0.0, 0.2, 0.3, 0.4], 0.0, "do not have one sign"),
        (STEPS[:2], [0.1, 0.2], 0.0, "three or more different step sizes"),
        ([0.1, 0.1, 0.2], [0.1, 0.2, 0.3], 0.0, "three or more different step sizes"),
        (STEPS, [0.1, 0.2, np.nan, 0.4], 0.0, "must be positive, biases finite"),
        (STEPS, [0.1, 0.2, 0.3, 0.4], -1.0, "errors not negative"),
    ],
)
def test_bad_biases(steps, biases, errors, message):
    with pytest.raises(ValueError, match=message):
        laws.order_fit(steps, biases, errors, expected=1)


def squares_of_sgld(h):
    x = laws.autoregression(1 - h, chains=64, draws=8000, seed=int(1000 * h))
    return x**2 / (1 - h / 2)


def test_a_study_of_draws():
    steps = [0.1, 0.2, 0.3, 0.4]
    runs = {h: squares_of_sgld(h) for h in steps}
    study = laws.step_error_study(runs.__getitem__, steps, 1.0, expected=1)
    assert study.passed(0.01)
    again = laws.step_error_study(list(runs.values()), steps, 1.0, expected=1)
    assert again.slope == study.slope
    # Too little noise is a bias at h = 0, and no order is left.
    with pytest.raises(ValueError, match="one sign"):
        laws.step_error_study([0.9 * x for x in runs.values()], steps, 1.0, expected=1)
    with pytest.raises(ValueError, match="draws of one observable"):
        laws.step_error_study(lambda h: np.ones((4, 500, 2)), steps, 1.0, expected=1)


@pytest.mark.parametrize("phi", [-0.5, 0.0, 0.8])
def test_the_error_law(phi):
    assert laws.error_law(laws.autoregression(phi, 64, 20_000, seed=1)).passed(0.01)


def test_the_error_of_the_error_law():
    z = [float(laws.error_law(laws.autoregression(0.0, 16, 512, seed=i)).z) for i in range(60)]
    assert np.std(z) == pytest.approx(1, abs=5 / np.sqrt(120))


def test_chains_that_do_not_forget_break_the_error_law():
    x = laws.autoregression(0.0, 64, 20_000, seed=1)
    stuck = x + 0.05 * np.random.default_rng(2).normal(size=(64, 1))
    assert not laws.error_law(stuck).passed(0.01)
    with pytest.raises(ValueError, match="three are needed"):
        laws.error_law(x[:, :60])
