"""Scales and mass matrices: a step in coordinates y of q = S y."""

import numpy as np
import pytest
from jax import numpy as jnp
from tests.samplers.kernels import series
from tests.selection import thinned

import kinetograph as kg
from kinetograph import samplers
from kinetograph.samplers.scale import covariance_of

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")

S = np.array([[2.0, 0.0, 0.0], [0.9, 0.5, 0.0], [-1.0, 0.3, 1.5]])
INVERSE = np.linalg.inv(S)


def density(y):
    """Neither normal nor independent."""
    return -0.5 * jnp.sum(y * y) - 0.3 * jnp.cos(2 * y[0]) * y[1] - 0.1 * y[2] ** 4


def in_q(q):
    return density(jnp.asarray(INVERSE) @ q)


EVERY = {
    "BAOAB": samplers.BAOAB(0.3),
    "NUTS": samplers.NUTS(step_size=0.4, tune=()),
    "HMC": samplers.HMC(0.3, n_steps=3, tune=()),
    "Slice": samplers.Slice(tune=()),
    "MAMS": samplers.MAMS(0.4, tune=()),
    "Stretch": samplers.Stretch(walkers=8),
    "MEADS": samplers.MEADS(walkers=8),
    "EQN": samplers.EQN(samplers.BAOAB(0.2), walkers=8, steps=2),
    "SGLD": samplers.SGLD(0.1),
    "LM": samplers.LM(0.1),
    "GLA1": samplers.GLA1(0.3),
    "GLA2": samplers.GLA2(0.3),
    "UBU": samplers.UBU(0.3),
    "SGHMC": samplers.SGHMC(0.1),
    "SGNHT": samplers.SGNHT(0.1),
    "Splitting": samplers.Splitting("ABOBA", 0.3),
    "GHMC": samplers.GHMC(0.3, tune=()),
    "MALA": samplers.MALA(0.3, tune=()),
    "RandomWalk": samplers.RandomWalk(0.6, tune=()),
    "Slice, doubling": samplers.Slice(doubling=True, tune=()),
    "MCLMC": samplers.MCLMC(0.4),
    "DifferentialEvolution": samplers.DifferentialEvolution(walkers=8),
    "Walk": samplers.Walk(walkers=8, tune=()),
}


def with_matrix(sampler):
    """The same with a mass matrix."""
    if isinstance(sampler, samplers.EQN):
        return samplers.EQN(with_matrix(sampler.sampler), walkers=8, steps=2)
    values = {n: v for n, v in sampler._values.items() if n != "scale"}
    return type(sampler)(tune=sampler.tune, scale=S, **values)


@pytest.mark.parametrize("name", thinned(EVERY, len(EVERY)))
def test_a_mass_matrix_is_a_change_of_coordinates(name):
    """Draws of the mapped target with scale S are the mapped draws of the target without."""
    plain = EVERY[name]
    shape = (2, 3) if plain.walkers is None else (1, plain.walkers, 3)
    start = np.random.default_rng(1).normal(size=shape)
    mapped = series(with_matrix(plain), in_q, start @ S.T, 6)
    expected = series(plain, density, start, 6) @ S.T
    assert np.abs(np.diff(expected, axis=1)).max() > 0.01
    np.testing.assert_allclose(mapped, expected, rtol=1e-9, atol=1e-9)


STIFFNESS, H = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.2], [0.0, 0.2, 3.0]]), 0.2


@pytest.fixture(scope="module")
def oscillator() -> kg.Model:
    q = kg.variable(name="q", shape=3)
    return kg.model(q, factors=[-0.5 * q @ STIFFNESS @ q])


def oscillating(model: kg.Model) -> kg.Chain:
    """A chain without friction, whose programs the model keeps."""
    sampler = samplers.GLA2(H, friction=0.0, scale=S)
    return kg.chain(model, sampler, seed=1, initial={"q": [1.0, 0.0, -1.0]})


@pytest.mark.slow
def test_frequencies_are_those_of_the_mass_matrix(oscillator):
    """Without friction y_(n+1) + y_(n-1) = (2 - h^2 S' K S) y_n."""
    y = oscillating(oscillator).step(12).posterior["q"] @ INVERSE.T
    expected = y[1:-1] @ (2 * np.eye(3) - H * H * S.T @ STIFFNESS @ S).T
    np.testing.assert_allclose(y[2:] + y[:-2], expected, atol=1e-9)


@pytest.mark.slow
def test_the_momenta_of_a_mass():
    """<p^2> = M / beta: with M = 4, in the model's coordinates p is S^-1 of the slot."""
    q = kg.variable(name="q", shape=4000)
    model = kg.model(q, factors=[-0.5 * kg.sum(q * q)])
    sampler = samplers.BAOAB(0.1, inverse_temperature=2.0, scale=0.5)
    p = kg.chain(model, sampler, seed=1).slots["p"] / 0.5
    assert abs((p * p).mean() - 4 / 2.0) < 5 * 2.0 * np.sqrt(2 / 4000)


def test_covariances_of_gradients_are_in_the_coordinates_of_the_step():
    """S' C S, of the whole covariance or for its diagonal."""
    half = np.random.default_rng(2).normal(size=(2, 3, 3))  # of two walkers
    c = half @ half.transpose(0, 2, 1)
    expected = S.T @ c @ S
    both = kg.function(lambda c, s: [covariance_of(c, s, full) for full in (True, False)])
    full, diagonal = both(c, S)
    np.testing.assert_allclose(full, expected, rtol=1e-9)
    np.testing.assert_allclose(diagonal, np.diagonal(expected, axis1=1, axis2=2), rtol=1e-9)


class Covariances(kg.Sampler):
    """Stays, and records the covariance of the gradient."""

    def step(self, at):
        _, diagonal = self.evaluate_with_covariance(at.q)
        _, full = self.evaluate_with_covariance(at.q, full=True)
        self.record("diagonal", diagonal)
        self.record("full", full)
        return at


@pytest.mark.slow
def test_a_step_has_covariances_in_its_coordinates():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(20, 3)), rng.normal(size=20)
    w = kg.normal(0.0, 1.0, shape=3, name="w")
    kg.observe(y, kg.normal(kg.data(x) @ w, 1.0))
    model = kg.minibatch(kg.model(w), size=5)
    found = []
    for scale in (None, S):
        sampler = Covariances(scale=scale)
        chain = kg.chain(model, sampler, seed=1, initial={"w": [1.0, -1.0, 0.5]})
        found.append(chain.step().sample_stats)
    expected = S.T @ found[0]["full"][0] @ S
    np.testing.assert_allclose(found[1]["full"][0], expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found[1]["diagonal"][0], np.diag(expected), rtol=1e-9)


@pytest.mark.parametrize(
    ("scale", "error", "text"),
    [
        (
            np.array([[1.0, 0.5], [0.5, 2.0]]),
            ValueError,
            r"lower triangular.*linalg\.cholesky\(C\)",
        ),
        (np.diag([1.0, 0.0]), ValueError, "with a positive diagonal"),
        (np.ones((2, 3)), ValueError, r"must be square, got the shape \(2, 3\)"),
        (np.diag([1.0, np.nan]), ValueError, "as a matrix, must be finite"),
        ([1.0, -1.0], ValueError, "must be positive"),
    ],
)
def test_what_is_no_scale_is_refused(scale, error, text):
    with pytest.raises(error, match=rf"(?s)HMC: scale.*{text}"):
        samplers.HMC(scale=scale)


def test_a_matrix_belongs_to_a_model_and_is_not_tuned(oscillator):
    model = kg.model(kg.normal(0.0, 1.0, shape=2, name="x"))
    with pytest.raises(kg.ShapeError, match=r"scale has shape \(3, 3\).*covariance, \(2, 2\)"):
        kg.mcmc(model, samplers.BAOAB(scale=np.eye(3)), progress=False)
    with pytest.raises(kg.ModelError, match=r"NUTS: scale is a matrix.*tune=\('step_size',\)"):
        kg.mcmc(model, samplers.NUTS(scale=np.eye(2)), progress=False)
    chain = oscillating(oscillator)
    chain.hyper["scale"] = np.diag([2.0, 3.0, 1.0])
    with pytest.raises(ValueError, match="lower triangular"):
        chain.hyper["scale"] = np.ones((3, 3))
