"""MEADS: exact for groups of any size, and without settings for any scales."""

import functools

import numpy as np
import pytest
from jax import numpy as jnp
from tests.samplers.kernels import series, transitions

import kinetograph as kg
from kinetograph import samplers
from kinetograph.samplers import meads

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")

WALKERS, ROWS = 8, 4000


def log_density(q):
    """The logarithm of an exponential number, and a normal number given it."""
    return q[0] - jnp.exp(q[0]) - 0.5 * (q[1] - q[0]) ** 2


def error_of_moments(q):
    """The largest error of moments of walkers and of neighbours, in standard errors.

    Ensembles are independent. There are 7 moments: a limit of 5.5 is passed by chance with a
    probability below 3e-7.
    """
    t, z = np.exp(q[..., 0]), q[..., 1] - q[..., 0]
    products = [(v * np.roll(v, 1, -1)) for v in (t - 1, z)]
    values = np.stack([t, t * t, z, z * z, t * z, *products]).mean(-1)
    truth = np.array([1.0, 2.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    return np.max(np.abs(values.mean(1) - truth) / (values.std(1, ddof=1) / np.sqrt(ROWS)))


@functools.cache
def start():
    rng = np.random.default_rng(3)
    x = np.log(rng.exponential(size=(ROWS, WALKERS)))
    return np.stack([x, x + rng.normal(size=x.shape)], -1)


class TunedByItself(samplers.MEADS):
    """The settings of a group come from the group itself."""

    def _settings(self, at, time):
        size = self.walkers // self.groups
        resting, moving = at.split(size)
        return super()._settings(moving.join(resting), time)


class AcceptsTooOften(samplers.MEADS):
    """The number of the test is near 0."""

    def step(self, at, p, u):
        return super().step(at, p, 0.0 * u)


def test_ensembles_of_the_target_stay_ensembles_of_the_target():
    """Momenta and the numbers of the test persist over ten transitions."""
    assert error_of_moments(start()) < 5.5
    sampler = samplers.MEADS(walkers=WALKERS, step_size=3.0)
    draws = series(sampler, log_density, start(), 10)
    assert error_of_moments(draws[:, -1]) < 5.5
    assert (draws[:, -1] != start()).any(-1).mean() > 0.9


@pytest.mark.parametrize("faulty", [TunedByItself, AcceptsTooOften])
def test_controls(faulty):
    draws = series(faulty(walkers=WALKERS, step_size=3.0), log_density, start(), 10)
    assert error_of_moments(draws[:, -1]) > 6.5


def test_each_walker_moves_in_all_rounds_but_one():
    q, found = transitions(samplers.MEADS(walkers=WALKERS), log_density, start()[:500], small=True)
    assert found["acceptance_rate"].shape == (500, WALKERS)
    assert 0.5 < found["acceptance_rate"].mean() < 1
    assert (q != start()[:500]).any(-1).mean() > 0.8


def test_each_walker_keeps_its_momentum():
    """Moves of a walker follow each other in a long and narrow posterior."""
    size, walkers = 10, 32
    rng = np.random.default_rng(4)
    covariance = np.full((size, size), 0.99) + 0.01 * np.eye(size)
    precision = np.linalg.inv(covariance)
    begin = rng.multivariate_normal(np.zeros(size), covariance, size=(40, walkers))
    draws = series(samplers.MEADS(walkers=walkers), lambda q: -0.5 * q @ precision @ q, begin, 30)
    moves = np.diff(draws[:, -3:].mean(-1), axis=1)  # along the long axis
    correlation = np.corrcoef(moves[:, 0].ravel(), moves[:, 1].ravel())[0, 1]
    assert correlation > 0.3  # 0 if momenta came from other walkers, with an sd of 0.03


def test_scales_change_nothing():
    """Scales of 1e6 are those of the walkers; the rest is rounding."""
    scale = np.array([1e-3, 1e3])
    sampler = samplers.MEADS(walkers=WALKERS)
    plain, _ = transitions(sampler, log_density, start()[:200], small=True)
    mapped, _ = transitions(
        sampler, lambda q: log_density(q / scale), start()[:200] * scale, small=True
    )
    np.testing.assert_allclose(mapped / scale, plain, rtol=0, atol=1e-8)


def largest_eigenvalue(x):
    (value,) = kg.calculate(meads._largest_eigenvalue(kg.data(x))).values()
    return value


def test_the_largest_eigenvalue():
    """The quotient of the two traces."""
    rng = np.random.default_rng(1)
    covariance = np.diag([9.0, 1.0, 0.5])
    x = rng.multivariate_normal(np.zeros(3), covariance, size=(2, 20_000))[:, :2000]
    expected = np.trace(covariance @ covariance) / np.trace(covariance)
    np.testing.assert_allclose(largest_eigenvalue(x), expected, rtol=0.15)
    same = np.ones((1, 4, 3))  # the second moment has the eigenvalue 3, and the traces 3 and 9
    np.testing.assert_allclose(largest_eigenvalue(same), 3.0)
    # Two opposed unit vectors: the mean of the eigenvalues is the least that is returned.
    apart = np.array([[[1.0, 0.0], [0.0, 1.0]]])
    np.testing.assert_allclose(largest_eigenvalue(apart), 0.5)


def test_a_run_from_far_away():
    """Pathfinder gives the walkers a spread that fits a posterior far from the prior."""
    x = kg.normal(0.0, [1.0, 100.0], name="x")
    kg.observe(np.array([3.0, -4e2]), kg.normal(x, [0.01, 10.0]))
    tree = kg.mcmc(
        kg.model(x),
        samplers.MEADS(),
        draws=50,
        warmup=50,
        initial="pathfinder",
        seed=1,
        progress=False,
    )
    draws = tree["posterior"]["x"].values.reshape(-1, 2)
    precision = 1 / np.array([1.0, 100.0]) ** 2 + 1 / np.array([0.01, 10.0]) ** 2
    mean = np.array([3.0, -4e2]) / np.array([0.01, 10.0]) ** 2 / precision
    # At least 4,000 of 12,800 draws are effective, so 0.1 is 6 standard errors.
    assert np.abs((draws.mean(0) - mean) * np.sqrt(precision)).max() < 0.1
    np.testing.assert_allclose(draws.std(0) * np.sqrt(precision), 1, atol=0.1)


def test_an_energy_of_minus_infinity_is_refused_and_diverges():
    """The reverse move would never be accepted."""
    begin = np.random.default_rng(2).uniform(-1, 1, size=(500, WALKERS, 2))
    after, found = transitions(
        samplers.MEADS(walkers=WALKERS),
        lambda q: jnp.where(q[0] > 1.0, jnp.inf, -0.5 * jnp.sum(q * q)),
        begin,
        small=True,
    )
    assert after[..., 0].max() <= 1.0
    assert 0.05 < found["diverging"].mean() < 0.9
    inside = np.abs(begin[..., 0]) < 0.01  # a step of one sd of the walkers may end outside
    assert found["diverging"][inside].mean() < found["diverging"].mean()


@pytest.mark.parametrize(("walkers", "groups"), [(10, 4), (4, 4), (8, 3)])
def test_walkers_that_cannot_be_divided(walkers, groups):
    with pytest.raises(ValueError, match=f"got {walkers} walkers in {groups} groups"):
        samplers.MEADS(walkers=walkers, groups=groups)


def test_equal_starting_points_give_no_scale():
    x = kg.normal([0.0, 0.0], 1.0, name="x")
    with pytest.raises(ValueError, match="MEADS: the 8 starting points are equal in a free number"):
        kg.chain(kg.model(x), samplers.MEADS(walkers=8), seed=1, initial=np.zeros((8, 2)))
