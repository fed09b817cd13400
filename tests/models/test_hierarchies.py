"""Unknowns with an unknown scale: which form the model has, and how the other form is written."""

import numpy as np
import pytest

import kinetograph as kg
from kinetograph.models.hierarchies import SERIES, hierarchies

GROUP = np.array([0, 1, 2, 0, 1, 2])
Y = np.arange(6.0)


def centred():
    mu, tau = kg.normal(0, 5), kg.half_cauchy(5)
    theta = kg.normal(mu, tau, shape=3)
    kg.observe(Y, kg.normal(theta[GROUP], 1))
    return mu, tau, theta


def non_centred():
    mu, tau, z = kg.normal(0, 5), kg.half_cauchy(5), kg.normal(0, 1, shape=3)
    theta = mu + tau * z
    kg.observe(Y, kg.normal(theta[GROUP], 1))
    return mu, tau, z


def by_rows():
    mu, log_tau, z = kg.normal(0, 5), kg.normal(0, 1), kg.student(4, 0, 1, shape=3)
    kg.observe(Y, kg.normal(mu + z[GROUP] * kg.exp(log_tau), 1))
    return mu, log_tau, z


def positive():
    mu, tau = kg.normal(0, 5), kg.half_normal(1)
    rate = kg.lognormal(mu, 2 * tau, shape=3)
    kg.observe(Y, kg.normal(rate[GROUP], 1))
    return mu, tau, rate


def regression():
    mu, sigma, b = kg.normal(0, 5), kg.half_normal(1), kg.normal(0, 1)
    kg.observe(Y, kg.normal(mu + b * Y, sigma))
    return mu, sigma, b


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (centred, ("theta", True, "tau", ("tau",), "theta = mu + tau * kg.normal(0, 1, shape=3)")),
        (non_centred, ("z", False, "tau", ("tau",), "kg.normal(mu, tau, shape=3)")),
        (
            by_rows,
            ("z", False, "exp(log_tau)", ("log_tau",), "kg.student(4, mu, exp(log_tau), shape=3)"),
        ),
        (
            positive,
            (
                *("rate", True, "2 * tau", ("tau",)),
                "rate = kg.exp(mu + (2 * tau) * kg.normal(0, 1, shape=3))",
            ),
        ),
    ],
)
def test_the_form_and_the_other_form(build, expected):
    (found,) = hierarchies(kg.model(build))
    assert (found.unknown, found.centred, found.scale, found.scales, found.instead) == expected


def test_the_other_form_has_the_same_prior():
    """The line in the advice, run as code."""
    (found,) = hierarchies(kg.model(centred))
    mu, tau = kg.normal(0, 5, name="mu"), kg.half_cauchy(5, name="tau")
    scope = {"kg": kg, "mu": mu, "tau": tau}
    exec(found.instead, scope)
    drawn = kg.calculate(scope["theta"], values={"mu": 2.0, "tau": 3.0}, draws=4000, seed=1)
    values = drawn["theta"].reshape(-1)
    assert abs(values.mean() - 2.0) < 5 * 3.0 / np.sqrt(12000)
    assert abs(values.std() - 3.0) < 5 * 3.0 / np.sqrt(24000)


def test_a_scale_of_the_noise_is_not_a_hierarchy():
    assert hierarchies(kg.model(regression)) == []


@pytest.mark.parametrize(
    "curve",
    [
        lambda k: kg.normal(0, 1) * kg.exp(-k * Y),
        lambda k: kg.normal(0, 10) * k,
        lambda k: kg.normal(2, 1) * k,
        lambda k: kg.normal(0, np.ones(6) * [1, 2, 1, 1, 1, 1]) * k,
    ],
    ids=["a curve", "a wide prior", "a prior elsewhere", "several widths"],
)
def test_an_amplitude_is_not_a_hierarchy(curve):
    def build():
        k = kg.half_normal(1)
        kg.observe(Y, kg.normal(curve(k), 1))
        return k

    assert hierarchies(kg.model(build)) == []


def test_unknowns_of_a_loop_are_one_hierarchy():
    def build():
        mu, tau = kg.normal(0, 1), kg.half_normal(1)
        z = [kg.normal(mu, tau) for _ in range(30)]
        other = kg.normal(mu, tau, shape=3)
        kg.observe(np.zeros(33), kg.normal(kg.concatenate([kg.stack(z), other]), 1), name="y")
        return mu, tau, *z

    loop, vector = hierarchies(kg.model(build))
    assert loop.instead.endswith(" = mu + tau * kg.normal(0, 1)")
    assert len({loop.unknown, *loop.alike}) == 30
    assert (vector.unknown, vector.alike) == ("other", ())


def test_a_series_of_steps_is_written_as_one_unknown():
    """Levels of a hierarchy are not a series."""

    def build(steps):
        sd, level = kg.half_normal(1), kg.normal(0, 1)
        for _ in range(steps):
            level = kg.normal(0.9 * level + 1, sd)
        kg.observe(1.0, kg.normal(level, 1))
        return sd, level

    long = hierarchies(kg.model(lambda: build(6)))
    assert "kg.random_walk(sd, n) or kg.ar(rho, sd, n)" in long[-1].instead
    short = [each.instead for each in hierarchies(kg.model(lambda: build(2)))]
    assert short
    assert not any("random_walk" in text for text in short)


def loop(observe):
    phi, tau, z = kg.uniform(0, 1), kg.half_normal(1), kg.normal(0, 1, shape=6)
    h = tau * z[0] / kg.sqrt(1 - phi**2)
    levels = [h]
    for t in range(1, 6):
        h = phi * h + tau * z[t]
        levels.append(h)
    observe(levels)
    return phi, tau, z


def stacked(levels):
    kg.observe(Y, kg.normal(0, kg.exp(kg.stack(levels) / 2)))


def one_by_one(levels):
    for y, level in zip(Y, levels, strict=True):
        kg.observe(y, kg.normal(level, 1))


def running_sum():
    tau, z = kg.half_normal(1), kg.normal(0, 1, shape=6)
    kg.observe(Y, kg.normal(kg.cumsum(tau * z), 1))
    return tau, z


def scan():
    tau, z = kg.half_normal(1), kg.normal(0, 1, shape=6)
    _, levels = kg.scan(lambda level, step: (0.9 * level + step,) * 2, 0.0, tau * z)
    kg.observe(Y, kg.normal(levels, 1))
    return tau, z


@pytest.mark.parametrize(
    "build", [lambda: loop(stacked), lambda: loop(one_by_one), running_sum, scan]
)
def test_the_steps_of_a_series_are_advised_as_one_unknown(build):
    """A centred form of the steps, normal(0, tau), would be another way to write the same."""
    (found,) = hierarchies(kg.model(build))
    assert (found.centred, found.scale, found.instead) == (False, "tau", SERIES)


def test_elements_of_a_vector_that_are_read_one_by_one_are_not_a_series():
    def build():
        mu, tau, z = kg.normal(0, 5), kg.half_normal(1), kg.normal(0, 1, shape=6)
        for i, y in enumerate(Y):
            kg.observe(y, kg.normal(mu + tau * z[i], 1))
        return mu, tau, z

    (found,) = hierarchies(kg.model(build))
    assert found.instead == "kg.normal(mu, tau, shape=6)"
