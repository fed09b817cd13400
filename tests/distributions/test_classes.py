"""Counts of classes, and ordered classes: densities, derivatives and draws."""

import jax
import jax.numpy as jnp
import mpmath as mp
import numpy as np
import pytest
from scipy import special, stats
from tests.distributions.drawing import LEVEL, ROWS, draw

import kinetograph as kg
from kinetograph.distributions.family import FAMILIES
from kinetograph.graph.precision import x64

# The shares add up to 1 without rounding.
LARGE, SHARES = np.array([297e6, 203e6, 5e8]), np.array([0.296875, 0.203125, 0.5])
PROB = np.array([0.1, 0.25, 0.05, 0.6])


def slopes_of(f, x, step=1e-4):
    """Difference quotients of a function of a vector, row by row of a batch."""
    rows = []
    for h in np.eye(x.shape[-1]) * step:
        rows.append((8 * (f(x + h) - f(x - h)) - (f(x + 2 * h) - f(x - 2 * h))) / (12 * step))
    return np.stack(rows, -1)


def test_multinomial():
    rng = np.random.default_rng(1)
    prob = rng.dirichlet(np.ones(4), 50)
    size = rng.integers(0, 200, 50)
    x = rng.multinomial(size, prob)
    family = FAMILIES["multinomial"]

    @jax.jit
    def run(x, size, prob):
        ways = [{}, {"log_prob": jnp.log(prob)}]
        return [
            family.log_density(x, size, prob, small=s, **w) for s in (True, False) for w in ways
        ]

    with x64():
        found = run(x, size, prob)
        large = run(LARGE, 1e9, SHARES)
    wanted = stats.multinomial.logpmf(x, size, prob)
    for values in found:
        np.testing.assert_allclose(values, wanted, rtol=1e-10, atol=1e-11)
    with mp.workdps(40):
        x, p = map(mp.mpf, LARGE), map(mp.mpf, SHARES)
        exact = mp.loggamma(mp.mpf(1e9) + 1)
        exact += sum(v * mp.log(q) - mp.loggamma(v + 1) for v, q in zip(x, p))
    for values in large[2:]:
        assert float(values) == pytest.approx(float(exact), rel=1e-10)


def test_derivatives_of_a_multinomial():
    eta = np.array([0.3, -1.0, 2.0])
    t = kg.placeholder((3,), name="t")
    density = kg.log_density(kg.multinomial(7, kg.softmax(t)), [2, 0, 5])
    value, slope = kg.compile([t], [density, kg.gradients(density, t)])(eta)
    assert value == pytest.approx(stats.multinomial.logpmf([2, 0, 5], 7, special.softmax(eta)))
    np.testing.assert_allclose(slope, [2, 0, 5] - 7 * special.softmax(eta), rtol=1e-12)
    # A class of probability 0 that does not occur.
    far = kg.compile([t], [density, kg.gradients(density, t)])([0.0, -800.0, 0.0])
    assert far[0] == pytest.approx(stats.binom.logpmf(2, 7, 0.5), rel=1e-12)
    np.testing.assert_allclose(far[1], [-1.5, 0.0, 1.5], atol=1e-12)
    wrong = kg.log_density(kg.multinomial(7, kg.softmax(t)), t)
    value, slope = kg.compile([t], [wrong, kg.gradients(wrong, t)])([2.0, 0.0, 4.0])
    assert value == -np.inf
    assert np.isfinite(slope).all()


def test_dirichlet_multinomial():
    rng = np.random.default_rng(1)
    alpha = 10 ** rng.uniform(-2, 2, (50, 4))
    size = rng.integers(0, 200, 50)
    x = np.array([rng.multinomial(n, PROB) for n in size])
    family = FAMILIES["dirichlet_multinomial"]

    def run(x, size, alpha):
        return jnp.stack([family.log_density(x, size, alpha, small=s) for s in (True, False)])

    with x64():
        found = np.asarray(jax.jit(run)(x, size, alpha))
        slopes = np.asarray(jax.jit(jax.grad(lambda a: run(x, size, a)[1].sum()))(alpha))
        quotients = slopes_of(
            lambda t: np.asarray(jax.jit(run)(x, size, np.exp(t))[1]), np.log(alpha)
        )
        large = np.asarray(jax.jit(run)(np.array([3e8, 2e8]), 5e8, np.array([3e9, 2e9])))
    wanted = stats.dirichlet_multinomial.logpmf(x, alpha, size)
    np.testing.assert_allclose(found[0], wanted, rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(found[1], wanted, rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(slopes * alpha, quotients, rtol=1e-6, atol=1e-7)
    with mp.workdps(40):
        x, a, n = [mp.mpf(3e8), mp.mpf(2e8)], [mp.mpf(3e9), mp.mpf(2e9)], mp.mpf(5e8)
        exact = mp.loggamma(n + 1) + mp.loggamma(sum(a)) - mp.loggamma(n + sum(a))
        for v, b in zip(x, a):
            exact += mp.loggamma(v + b) - mp.loggamma(b) - mp.loggamma(v + 1)
    assert float(large[1]) == pytest.approx(float(exact), rel=1e-10)


@pytest.mark.parametrize("name", ["multinomial", "dirichlet_multinomial"])
def test_draws_of_vectors(name):
    parameter = PROB if name == "multinomial" else 5 * PROB
    x = draw(name, 20, parameter, shape=(ROWS, 4))
    assert (x.sum(-1) == 20).all()
    assert x.min() >= 0
    for i, p in enumerate(PROB):
        beta = stats.betabinom(20, 5 * p, 5 * (1 - p))
        law = stats.binom(20, p) if name == "multinomial" else beta
        counts, expected = np.bincount(x[:, i], minlength=21), law.pmf(np.arange(21)) * ROWS
        rare = np.where(expected < 20, 21, np.arange(21))  # together in one more cell
        cells = [np.bincount(rare, v, minlength=22) for v in (counts, expected)]
        seen, wanted = (cell[cells[1] > 0] for cell in cells)
        assert stats.chisquare(seen, wanted).pvalue > LEVEL
    # Of two classes together, too, the number is binomial, or beta-binomial.
    p = PROB[0] + PROB[3]
    both = stats.binom(20, p) if name == "multinomial" else stats.betabinom(20, 5 * p, 5 * (1 - p))
    pair = x[:, 0] + x[:, 3]
    assert abs(pair.mean() - both.mean()) < 5 * both.std() / np.sqrt(ROWS)
    squares = (pair - both.mean()) ** 2
    assert abs(squares.mean() - both.var()) < 5 * squares.std() / np.sqrt(ROWS)
    bad = draw(name, 20, np.array([0.5, -0.5, 1.0, 1.0]), shape=(ROWS, 4))
    assert (bad == -1).all()


def test_totals_are_checked():
    with pytest.raises(kg.DataError, match="counts with sum 10 along the last axis, but data is"):
        kg.observe([3, 5, 1], kg.multinomial(10, np.ones(3) / 3))
    with pytest.raises(kg.ShapeError, match="dirichlet_multinomial: alpha"):
        kg.dirichlet_multinomial(3, 1.0)
    assert kg.multinomial([3, 4], np.ones(3) / 3).shape == (2, 3)


# Ordered classes ---------------------------------------------------------------------------------

NARROW = {"ordered_logistic": 1e-9, "ordered_probit": 1e-3}


def probability(name, x, eta, cuts):
    def cdf(t):
        return 1 / (1 + mp.exp(-t)) if name == "ordered_logistic" else mp.ncdf(t)

    bounds = [mp.mpf(c) - mp.mpf(eta) for c in cuts]
    high = cdf(bounds[x]) if x < len(cuts) else mp.mpf(1)
    return mp.log(high - (cdf(bounds[x - 1]) if x > 0 else 0))


@pytest.mark.parametrize("name", ["ordered_logistic", "ordered_probit"])
def test_ordered_classes(name):
    x, eta = map(np.ravel, np.meshgrid(np.arange(5), [-35.0, -1.0, 0.5, 3.0, 36.0]))
    family, cuts = FAMILIES[name], np.array([-1.0, 0.5, 0.5 + NARROW[name], 30.0])

    def total(eta, cuts):
        value = family.log_density(x, eta, cuts)
        return jnp.sum(value), value

    with x64():
        run = jax.jit(jax.grad(total, (0, 1), has_aux=True))
        (slopes, by_cuts), values = jax.tree.map(np.asarray, run(eta, cuts))
    step = mp.mpf(10) ** -30
    with mp.workdps(1100):
        for k, e, value, slope in zip(x.tolist(), eta, values, slopes, strict=True):
            wanted = probability(name, k, e, cuts)
            ends = [probability(name, k, mp.mpf(e) + s * step, cuts) for s in (1, -1)]
            assert float(value) == pytest.approx(float(wanted), rel=1e-10)
            right = float((ends[0] - ends[1]) / (2 * step))
            assert float(slope) == pytest.approx(right, rel=1e-8, abs=1e-12)
    # All move together: by eta and by all cutpoints the slopes are opposite.
    assert np.sum(by_cuts) == pytest.approx(-np.sum(slopes), rel=1e-6, abs=1e-5)


def test_ordered_classes_in_a_model():
    cuts = kg.ordered_variable(3, name="cuts")
    eta = kg.normal(0, 1, name="eta")
    kg.observe([0, 3, 1], kg.ordered_logistic(eta, cuts))
    model = kg.model(eta, cuts)
    at = {"eta": 0.4, "cuts": np.array([-1.0, 0.5, 2.0])}
    bounds = special.expit(np.array([-np.inf, -1.0, 0.5, 2.0, np.inf]) - 0.4)
    wanted = np.log(np.diff(bounds)[[0, 3, 1]]).sum() + stats.norm.logpdf(0.4)
    found = model.log_prob(model.untransform(at), adjusted=False)
    assert float(found) == pytest.approx(wanted, rel=1e-12)
    with pytest.raises(ValueError, match="cutpoints must be increasing"):
        kg.ordered_probit(eta, [1.0, 0.5])
    with pytest.raises(kg.DataError, match="a whole number from 0 to 2"):
        kg.observe([3], kg.ordered_probit(eta, [0.5, 1.0]))
