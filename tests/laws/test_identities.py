"""Virial identities on a potential that is not harmonic, and schemes that break them."""

import numpy as np
import pytest

from kinetograph import laws

U, BETA, GAMMA = laws.cosine, 1.3, 1.5


def run(scheme, h, mutant=None, chains=800, steps=400):
    """The virial and the squares that the identity of the scheme asks for."""
    rng = np.random.default_rng(7)
    noise = lambda: rng.normal(size=chains) / np.sqrt(BETA)
    a, scale = np.exp(-GAMMA * h), 0.9 if mutant == "noise" else 1.0
    q, p = noise(), noise()
    g, rows = U.gradient(q), []
    for _ in range(steps):
        start = q * g
        if scheme == "SGLD":
            rows.append((start, g * g))
            q = q - h * g + scale * np.sqrt(2 * h) * noise()
            g = U.gradient(q)
            continue
        p = p - (h if scheme == "GLA1" else h / 2) * g
        if mutant == "half kick twice":
            p = p - h / 2 * g
        kicked = p * p
        if scheme == "BAOAB":
            q = q + h / 2 * p
            p = a * p + scale * np.sqrt(1 - a * a) * noise()
            rows.append((start, kicked, p * p))
            q = q + h / 2 * p
            g = U.gradient(q)
            p = p - h / 2 * g
        else:
            q = q + h * p
            g = U.gradient(q)
            if scheme == "GLA2":
                p = p - h / 2 * g
            if mutant == "recorded after both":
                kicked = p * p
            rows.append((start, kicked))
            p = a * p + scale * np.sqrt(1 - a * a) * noise()
    return np.array(rows)[100:].transpose(1, 2, 0)


def identity(scheme, h, mutant=None):
    virial, *squares = run(scheme, h, mutant)
    names = ["gradient_square"] if scheme == "SGLD" else ["after_kick", "after_friction"]
    return laws.virial_identity(
        scheme,
        virial,
        step_size=h,
        friction=GAMMA,
        inverse_temperature=BETA,
        **dict(zip(names, squares, strict=False)),
    )


@pytest.mark.parametrize("scheme", ["SGLD", "GLA1", "GLA2", "BAOAB"])
def test_schemes_keep_their_identities(scheme):
    for h in (0.1, 0.3):
        assert identity(scheme, h).passed(1e-4)


def test_the_identities_hold_for_the_exact_moments_of_the_oscillator():
    words = {
        "SGLD": (0, ()),
        "GLA1": ("BAO", (1,)),
        "GLA2": ("BABO", (1,)),
        "BAOAB": ("BAOAB", (1, 3)),
    }
    names = ["after_kick", "after_friction"]
    rng = np.random.default_rng(1)
    for k, beta, gamma, m in rng.uniform(0.5, 2, size=(4, 4)):
        parameters = {"friction": gamma, "inverse_temperature": beta}
        for scheme, (word, points) in words.items():
            moments = lambda at: laws.oscillator(
                word or scheme, 0.6, stiffness=k, mass=m, **parameters, at=at
            )
            # The identities are of q in units in which the mass is 1.
            q2 = moments("end").q2
            records = {name: moments(at).p2 / m for name, at in zip(names, points, strict=False)}
            if scheme == "SGLD":
                records = {"gradient_square": k * k / m * q2}
            found = laws.virial_identity(
                scheme,
                np.full((1, 9), k * q2),
                step_size=0.6,
                **parameters,
                **{name: np.full((1, 9), value) for name, value in records.items()},
            )
            assert found.mean == pytest.approx(0, abs=1e-12), scheme


@pytest.mark.parametrize(
    ("scheme", "mutant"),
    [
        ("SGLD", "noise"),
        ("GLA1", "half kick twice"),
        ("GLA2", "recorded after both"),
        ("BAOAB", "half kick twice"),
    ],
)
def test_wrong_schemes_break_them(scheme, mutant):
    assert not identity(scheme, 0.3, mutant).passed()


def test_the_two_squares_of_baoab_are_told_apart():
    virial, kicked, after = run("BAOAB", 0.85, chains=3000)
    parameters = {"step_size": 0.85, "friction": GAMMA, "inverse_temperature": BETA}
    right = {"after_kick": kicked, "after_friction": after}
    wrong = {"after_kick": after, "after_friction": kicked}
    assert laws.virial_identity("BAOAB", virial, **parameters, **right).passed(1e-4)
    assert not laws.virial_identity("BAOAB", virial, **parameters, **wrong).passed()


def test_several_coordinates():
    virial, square = run("SGLD", 0.3)
    parameters = {"step_size": 0.3, "inverse_temperature": BETA}
    pairs = [x[::2] + x[1::2] for x in (virial, square)]
    for dimension, right in ((2, True), (1, False)):
        found = laws.virial_identity(
            "SGLD", pairs[0], gradient_square=pairs[1], dimension=dimension, **parameters
        )
        assert found.passed() is right


def test_bad_records():
    x = np.ones((4, 100))
    with pytest.raises(ValueError, match="no identity for 'HMC'"):
        laws.virial_identity("HMC", x, step_size=0.1)
    with pytest.raises(ValueError, match="BAOAB takes after_kick and after_friction"):
        laws.virial_identity("BAOAB", x, step_size=0.1, after_kick=x)
    with pytest.raises(ValueError, match="GLA2 takes after_kick and"):
        laws.virial_identity("GLA2", x, step_size=0.1, after_kick=x, gradient_square=x)
    with pytest.raises(ValueError, match="different shapes"):
        laws.virial_identity("GLA2", x, step_size=0.1, after_kick=x[:2])
