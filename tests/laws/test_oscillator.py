"""Exact laws on the oscillator: published values, closed forms, and simulation in plain NumPy."""

import numpy as np
import pytest

from kinetograph import laws

K, BETA, GAMMA = 2.0, 1.3, 1.5
STEPS = (0.2, 0.4, 0.8)


def law(scheme, h, **more):
    return laws.oscillator(scheme, h, friction=GAMMA, inverse_temperature=BETA, stiffness=K, **more)


def scaled(found):
    return BETA * K * found.q2, BETA * found.p2, BETA * found.qp


# beta k <q^2>, beta <p^2>, beta <q p> and the autocorrelation time of q at three step sizes.
TABLE = {
    "GLA1": [
        (0.890879, 1.012907, 0.075824, 6.330659),
        (0.863622, 1.034700, 0.122408, 2.528615),
        (1.280340, 1.087810, 0.237094, 0.554834),
    ],
    "ABO": [
        (1.195276, 1.017317, -0.101732, 8.597585),
        (1.495868, 1.060103, -0.212021, 4.846930),
        (2.535709, 1.173908, -0.469563, 3.088133),
    ],
    "GLA2": [(1.020408, 1, 0, 7.295367), (1.086957, 1, 0, 3.350095), (1.470588, 1, 0, 1.141230)],
    "OBABO": [(1.020408, 1, 0, 7.295367), (1.086957, 1, 0, 3.350095), (1.470588, 1, 0, 1.141230)],
    "BAOAB": [(1, 0.98, 0, 7.444252), (1, 0.92, 0, 3.641408), (1, 0.68, 0, 1.678280)],
    "BOAOB": [
        (1.031675, 1.000457, -0.015360, 7.379272),
        (1.131968, 1.007685, -0.065951, 3.515191),
        (1.623783, 1.149867, -0.348821, 1.452493),
    ],
    "AOBOA": [
        (1.011271, 1.020176, 0, 7.528157),
        (1.045339, 1.082872, 0, 3.806504),
        (1.185465, 1.369743, 0, 1.989542),
    ],
    "UBU": [
        (0.986695, 1.006691, 0.002544),
        (0.947152, 1.027086, 0.010715),
        (0.797007, 1.116079, 0.052734),
    ],
    "SGHMC": [(1.024096, 1.204819, 0.120482), (1.129032, 1.612903, 0.322581)],
}


@pytest.mark.parametrize("scheme", TABLE)
def test_published_values(scheme):
    for h, row in zip(STEPS, TABLE[scheme], strict=False):
        found = law(scheme, h)
        assert scaled(found) == pytest.approx(row[:3], abs=6e-7)
        if len(row) > 3:
            assert found.autocorrelation_time("q") == pytest.approx(row[3], abs=6e-7)


@pytest.mark.parametrize(
    ("h", "q2", "p2"),
    [(0.1, 1.130898, 1.112034), (0.2, 1.267293, 1.193626), (0.4, 1.582073, 1.292339)],
)
def test_noisy_gradients_shared_by_two_half_kicks(h, q2, p2):
    for at in ("BAOA", ("end", "BAO"), (5, 3)):
        assert scaled(law("BAOAB", h, gradient_noise=3.0, at=at))[:2] == pytest.approx(
            (q2, p2), abs=6e-7
        )


def some_parameters():
    rng = np.random.default_rng(1)
    for _ in range(5):
        k, beta, gamma, m = rng.uniform(0.3, 3, size=4)
        yield k, beta, gamma, m, 1.2 * np.sqrt(m / k) * rng.uniform(0.2, 1)


def closed_forms(k, beta, gamma, m, h):
    """beta k <q^2>, beta <p^2> / m, beta <q p> by scheme and point; h^2 k is h^2 k / m."""
    a, w = np.exp(-gamma * h), h * h * k / m
    x = w / 4
    gla1, abo = 2 * (1 + a) - w, 2 * (1 + a) - a * w
    return {
        ("GLA1", "end"): (
            (1 + a) ** 2 / gla1,
            (1 + a) * (2 - (1 - a) * w) / gla1,
            a * h * (1 + a) / gla1,
        ),
        ("ABO", "end"): ((1 + a) ** 2 / (a * abo), 2 * (1 + a) / abo, -h * (1 + a) / abo),
        ("BABO", "end"): (1 / (1 - x), 1, 0),
        ("BABO", "BAB"): (1 / (1 - x), 1, 0),
        ("OBABO", "end"): (1 / (1 - x), 1, 0),
        ("BOBA", "end"): (1 / (1 - x), 1 / (1 - x), h / 2 / (1 - x)),
        ("BAOAB", "end"): (1, 1 - x, 0),
        ("BAOAB", "BAOA"): (1, 1, h / 2),
        ("ABOBA", "end"): (1, 1 / (1 - x), 0),
        ("OABAO", "end"): (1 - x, 1, 0),
    }


def test_closed_forms_of_words():
    for k, beta, gamma, m, h in some_parameters():
        for (word, at), expected in closed_forms(k, beta, gamma, m, h).items():
            found = laws.oscillator(
                word,
                h,
                friction=gamma,
                inverse_temperature=beta,
                stiffness=k,
                mass=m,
                at=at,
            )
            got = beta * k * found.q2, beta * found.p2 / m, beta * found.qp
            assert got == pytest.approx(expected, rel=1e-9, abs=1e-9), (word, at)


def test_closed_forms_of_overdamped_schemes():
    for k, beta, _, m, h in some_parameters():
        parameters = {"inverse_temperature": beta, "stiffness": k, "mass": m}
        s = h * k / m
        sgld = laws.oscillator("SGLD", h, **parameters)
        assert beta * k * sgld.q2 == pytest.approx(1 / (1 - s / 2))
        assert sgld.autocorrelation_time() == pytest.approx((2 - s) / s)
        assert sgld.autocorrelation_time(square=True) == pytest.approx(
            (1 + (1 - s) ** 2) / (1 - (1 - s) ** 2)
        )
        assert laws.oscillator("LM", h, **parameters).q2 == pytest.approx(1 / (beta * k))
        noisy = laws.oscillator("SGLD", h, **parameters, gradient_noise=3.0)
        assert beta * k * noisy.q2 == pytest.approx((1 + beta * h * 3 / m / 2) / (1 - s / 2))


def test_small_steps_approach_the_canonical_law_and_the_continuous_time():
    for word in ("BAOAB", "OBABO", "UBU", "BABO"):
        found = law(word, 1e-3)
        assert scaled(found) == pytest.approx((1, 1, 0), abs=1e-5)
        assert 1e-3 * found.autocorrelation_time() == pytest.approx(2 * GAMMA / K, rel=1e-4)


def test_drift_with_friction_is_one_flow():
    """Its noise is that of many small drifts and frictions, on both sides of the series' end."""
    for gamma in (0.1, 1.0, 5.0):
        exact = laws.oscillator("UB", 0.3, friction=gamma)
        parts = [("A", 1 / 400), ("O", 1 / 200), ("A", 1 / 400)] * 200 + [("B", 1.0)]
        fine = laws.oscillator(parts, 0.3, friction=gamma)
        assert fine.covariance == pytest.approx(exact.covariance, rel=1e-4)


def simulate_baoab(h, gamma, beta, k, m, noise, chains=1000, steps=300):
    """q at the end and p after O, with one noisy gradient for both half kicks at a position."""
    rng = np.random.default_rng(3)
    draw = lambda: rng.normal(size=chains)
    a = np.exp(-gamma * h)
    q, p = draw() / np.sqrt(beta * k), draw() * np.sqrt(m / beta)
    g = k * q + np.sqrt(noise) * draw()
    rows = []
    for _ in range(steps):
        p = p - 0.5 * h * g
        q = q + 0.5 * h * p / m
        p = a * p + np.sqrt((1 - a * a) * m / beta) * draw()
        middle = p
        q = q + 0.5 * h * p / m
        g = k * q + np.sqrt(noise) * draw()
        p = p - 0.5 * h * g
        rows.append((q, middle, p))
    return np.array(rows)[50:].transpose(1, 2, 0)  # (quantity, chain, draw)


def test_against_a_simulation_in_numpy():
    parameters = {"friction": 0.7, "inverse_temperature": 1.3, "stiffness": 1.7, "mass": 2.5}
    q, middle, p = simulate_baoab(0.6, 0.7, 1.3, 1.7, 2.5, 0.8)
    end = laws.oscillator("BAOAB", 0.6, **parameters, gradient_noise=0.8)
    inside = laws.oscillator("BAOAB", 0.6, **parameters, gradient_noise=0.8, at=("end", "BAO"))
    for draws, expected in (
        (q * q, end.q2),
        (p * p, end.p2),
        (q * p, end.qp),
        (middle * middle, inside.p2),
        (q * middle, inside.qp),
    ):
        assert laws.mean_test(draws, expected).passed()
    assert not laws.mean_test(p * p, inside.p2).passed()
    lagged = [end.lag_covariance(s)[0, 1] for s in (1, 2)]  # q later, p before
    for s, expected in zip((1, 2), lagged, strict=True):
        assert laws.mean_test(q[:, s:] * p[:, :-s], expected).passed()


def test_a_step_of_ones_own_with_records():
    def gla2(s, q, p):
        a = np.exp(-s.friction * s.step_size)
        p = p - s.step_size / 2 * s.gradient(q)
        q = q + s.step_size * p
        p = p - s.step_size / 2 * s.gradient(q)
        s.record(q=q, before=p)
        p = a * p + np.sqrt((1 - a * a) / s.inverse_temperature) * s.noise()
        s.record(p=p)
        return q, p

    own, word = law(gla2, 0.4), law("GLA2", 0.4)
    assert own.names == ("q", "before", "p")
    assert (own.q2, own.p2, own.qp) == pytest.approx((word.q2, word.p2, word.qp))
    assert own.moment("before", "before") == pytest.approx(1 / BETA)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("BAXAB", 0.1), "'X', the symbol 3 of 'BAXAB', is not a flow"),
        (("BOB", 0.1), "no drift"),
        (("AOA", 0.1), "no kick"),
        (("", 0.1), "no kick"),
        (("BABO", -0.1), "step_size must be positive"),
        (("BABO", 2.1), "take a smaller step size"),
        (("SGLD", 2.0), "no stationary law"),
        (("BAB", 0.1), "nothing damps it"),
        (([("B", 0.5), ("A", float("nan"))], 0.1), "takes nan of the step"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        laws.oscillator(*arguments)


def test_bad_points_and_steps():
    for at in ("AB", 6, -1, "", None, ("end",)):
        with pytest.raises(ValueError, match="not a point of BAOAB"):
            laws.oscillator("BAOAB", 0.1, at=at)
    with pytest.raises(ValueError, match="friction must not be negative"):
        laws.oscillator("BAOAB", 0.1, friction=-1.0)
    with pytest.raises(ValueError, match="has the slots q, p and returns 1"):
        laws.oscillator(lambda s, q, p: q + p, 0.1)
    with pytest.raises(ValueError, match="at= is for words"):
        laws.oscillator("SGLD", 0.1, at=1)
