"""Particles of all levels as draws of the posterior, and the end of the levels."""

import numpy as np
import pytest
from scipy import integrate, stats

import kinetograph as kg
from kinetograph.graph.precision import x64
from kinetograph.models.tempered_model import TemperedModel
from kinetograph.tempering import nested
from kinetograph.tempering.moves import Moves
from kinetograph.tempering.paths import LevelPath

NARROW, WIDE, SHIFT, MASS = 0.01, 0.1, 0.031, 100.0


def temper(model, **named):
    return kg.temper(model, "nested", **({"seed": 1, "progress": False} | named))


def narrow_peak(size):
    """A narrow normal of mass 100 in a wide one of mass 1, in a box of volume 1."""
    x = kg.uniform(-0.5, 0.5, shape=size, name="x")

    def log_normal(mean, sd):
        return -0.5 * kg.sum(((x - mean) / sd) ** 2) - size * np.log(sd * np.sqrt(2 * np.pi))

    kg.factor(kg.logaddexp(np.log(MASS) + log_normal(SHIFT, NARROW), log_normal(0.0, WIDE)))
    return kg.model(x)


def test_a_narrow_peak_is_found():
    """A first-order phase transition, where powers of the likelihood find the wide normal only."""
    model, truth = narrow_peak(5), np.log(MASS + 1)
    tree = temper(model, seed=2)
    assert abs(tree.attrs["log_evidence"] - truth) < 6 * tree.attrs["log_evidence_se"] < 1.2
    x = tree["posterior"]["x"].values[0]
    near = np.abs(x - SHIFT).max(1) < 6 * NARROW
    assert 0.95 < near.mean() < 1
    powers = kg.temper(model, seed=2, progress=False)
    assert powers.attrs["log_evidence"] < truth - 4


def test_the_density_of_a_level():
    """log prior - log(1 + exp((level - log L) / width)), in the free state."""
    mu = kg.normal(0, 1, name="mu")
    kg.observe([1.2, 0.7], kg.normal(mu, 1))
    tempered = TemperedModel(kg.model(mu), ("level", "width"))
    for q, level, width in ((0.3, -2.5, 0.7), (4.0, -2.0, 0.1), (-30.0, 1.0, 3.0)):
        likelihood = stats.norm(q, 1).logpdf([1.2, 0.7]).sum()
        values = [np.float64(level), np.float64(width)]
        data = dict(zip(tempered.settings, values, strict=True))
        held = dict(zip(tempered.arguments, tempered.argument_values, strict=True)) | data
        with x64():
            found = tempered.density.log_density(np.array([q]), held)
        expected = stats.norm.logpdf(q) - np.logaddexp(0, (level - likelihood) / width)
        assert float(found) == pytest.approx(expected, rel=1e-9)


def test_factors_and_discrete_unknowns():
    """Against a quadrature: a mixture by a discrete unknown, and a positive unknown."""
    data = np.array([0.3, 2.9, 3.3])
    scale = kg.half_normal(1, name="scale")
    which = kg.bernoulli(0.4, shape=3, name="which")
    kg.observe(data, kg.normal(3.0 * which, scale))
    tree = temper(kg.model(scale), seed=3)

    def density(s):
        each = 0.6 * stats.norm(0, s).pdf(data) + 0.4 * stats.norm(3, s).pdf(data)
        return stats.halfnorm.pdf(s) * each.prod()

    total = integrate.quad(density, 0, 8, limit=500)[0]
    mean = integrate.quad(lambda s: s * density(s), 0, 8, limit=500)[0] / total
    error = tree.attrs["log_evidence_se"]
    assert abs(tree.attrs["log_evidence"] - np.log(total)) < 6 * error < 1
    draws = tree["posterior"]["scale"].values
    assert abs(draws.mean() - mean) < 6 * draws.std() / np.sqrt(100)


def test_the_last_moves_keep_the_posterior(monkeypatch):
    """Their level is so far above the likelihood that its factor is the likelihood."""
    move, settings = Moves.move, []

    def recorded(self, free, log_likelihood, given):
        settings.append((given, log_likelihood))
        return move(self, free, log_likelihood, given)

    monkeypatch.setattr(Moves, "move", recorded)
    mu = kg.normal(0, 1, name="mu")
    kg.observe([1.2, 0.7], kg.normal(mu, 1))
    temper(kg.model(mu), particles=60)
    last, log_likelihood = settings[-1]
    ratio = LevelPath().log_factor(log_likelihood, last) - log_likelihood
    assert np.ptp(log_likelihood) > 0.5
    assert np.ptp(ratio) < 1e-9


def test_a_likelihood_without_a_maximum(monkeypatch):
    monkeypatch.setattr(nested, "MOST_LEVELS", 3)
    x = kg.uniform(0, 1, name="x")
    kg.factor(-0.5 * kg.log(x))
    with pytest.raises(kg.ModelError, match="after 3 levels the log likelihood still rises"):
        temper(kg.model(x), particles=50)


def test_a_likelihood_of_zero_in_a_part_of_the_prior():
    """log Z is that of the part: a normal cut at 0."""
    x = kg.normal(0, 1, name="x")
    kg.factor(kg.where(x > 0, -0.5 * x**2, -np.inf))
    tree = temper(kg.model(x), particles=400)
    error = tree.attrs["log_evidence_se"]
    assert abs(tree.attrs["log_evidence"] - np.log(0.5 / np.sqrt(2))) < 6 * error < 1
    assert (tree["posterior"]["x"].values > 0).all()


def test_a_high_plateau_in_single_precision():
    """The levels rise by more than the last digit of the log likelihood."""
    with kg.precision("float32"):
        x = kg.normal(0, 1, name="x")
        kg.factor(-1e5 + kg.where(x > 1, 0.0, -1.0))
        tree = temper(kg.model(x), particles=400)
    above = stats.norm.sf(1)
    truth = -1e5 + np.log(above + (1 - above) / np.e)
    error = tree.attrs["log_evidence_se"]
    assert abs(tree.attrs["log_evidence"] - truth) < 6 * error + 0.02 < 1
    assert len(tree["tempering"]["level"]) < 60


def test_a_constant_likelihood():
    x = kg.normal(0, 1, name="x")
    kg.factor(0.0 * x + 3.0)
    tree = temper(kg.model(x), particles=100)
    assert tree.attrs["log_evidence"] == pytest.approx(3.0, abs=1e-9)
    assert tree.attrs["log_evidence_se"] < 1e-6


def test_a_ladder_is_refused():
    x = kg.normal(0, 1, name="x")
    kg.factor(-(x**2))
    with pytest.raises(ValueError, match=r"levels that it finds.*leave out ladder="):
        temper(kg.model(x), ladder=[0.5, 1.0])
