"""Vectors and matrices: categorical, dirichlet, multivariate normal, LKJ."""

import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats
from tests.selection import thinned

import kinetograph as kg
from kinetograph.distributions.family import FAMILIES
from kinetograph.distributions.lkj import log_constant
from kinetograph.graph.forms.representations import represent
from kinetograph.graph.node import Apply, ancestors
from kinetograph.graph.precision import x64
from kinetograph.models.model import Model


def density(m: Model) -> float:
    return float(m.log_prob(np.zeros(m.free_size)))


def quotients(f, x, step=1e-5):
    """Central differences of a function of an array, element by element."""
    slopes = np.zeros(x.shape)
    for place in np.ndindex(x.shape):
        h = np.zeros(x.shape)
        h[place] = step
        slopes[place] = (float(f(x + h)) - float(f(x - h))) / (2 * step)
    return slopes


@pytest.mark.parametrize("batch", [False, True])
def test_categorical(batch):
    rng = np.random.default_rng(1)
    prob = rng.dirichlet(np.ones(4) / 2, size=50 if batch else None)
    x = rng.integers(0, 4, 50)
    wanted = np.log(prob[np.arange(50), x] if batch else prob[x])
    f = FAMILIES["categorical_logit"]

    @jax.jit
    def run(prob, logit):
        total = jax.value_and_grad(lambda t: f.log_density_total(x, t))(logit)
        densities = [f.log_density(x.astype(t), logit) for t in (int, float)]
        return FAMILIES["categorical"].log_density(x, prob), *densities, *total

    with x64():
        got, by_logit, as_floats, total, slope = run(prob, np.log(prob) + 3.0)
    np.testing.assert_allclose(got, wanted, rtol=1e-10)
    np.testing.assert_allclose(by_logit, wanted, rtol=1e-10, atol=1e-13)
    np.testing.assert_array_equal(as_floats, by_logit)
    assert float(total) == pytest.approx(wanted.sum(), rel=1e-12)
    hits = np.eye(4)[x]
    expected = hits - prob if batch else hits.sum(0) - 50 * prob
    np.testing.assert_allclose(slope, expected, atol=1e-11)


def test_categorical_with_extreme_logits():
    with x64():
        f = FAMILIES["categorical_logit"].log_density
        t = np.array([800.0, 0.0, -800.0])
        values, pull = jax.vjp(jax.jit(lambda t: f(np.arange(3), t)), t)
        slopes = np.stack([pull(row)[0] for row in np.eye(3)])
        assert np.asarray(values).tolist() == [0.0, -800.0, -1600.0]
    np.testing.assert_allclose(slopes, np.eye(3) - [1, 0, 0], atol=1e-12)


def test_dirichlet():
    rng = np.random.default_rng(2)
    alpha = 10 ** rng.uniform(-1, 2, (100, 5))
    x = np.array([rng.dirichlet(np.maximum(a, 0.3)) for a in alpha])
    x = np.maximum(x, 1e-200)
    with x64():
        f = FAMILIES["dirichlet"]
        got = jax.jit(f.log_density)(x, alpha)
        total = float(jax.jit(f.log_density_total)(x, alpha[0]))
    wanted = [stats.dirichlet.logpdf(a, b) for a, b in zip(x, alpha)]
    np.testing.assert_allclose(got, wanted, rtol=1e-10, atol=1e-10)
    assert total == pytest.approx(sum(stats.dirichlet.logpdf(a, alpha[0]) for a in x), rel=1e-12)


# Multivariate normal: sizes below and above the one up to which solutions are written out.


@pytest.mark.parametrize(
    ("by", "d"),
    thinned([(by, d) for by in ("cov", "chol", "unknown cov") for d in (7, 2, 1, 6, 9)], 4),
)
def test_multivariate_normal(d, by):
    rng = np.random.default_rng(d)
    root = rng.normal(size=(d, d)) + 2 * np.eye(d)
    cov = root @ root.T
    mean = rng.normal(size=d)
    x = rng.normal(size=(4, d)) * 10
    scale = kg.variable(lower=0, name="scale")
    given = {
        "cov": dict(cov=cov),
        "chol": dict(chol=np.linalg.cholesky(cov)),
        "unknown cov": dict(cov=scale * cov),
    }[by]
    y = kg.data(x)
    shift = kg.normal(0, 1, name="shift")
    kg.observe(y, kg.multivariate_normal(mean + shift, **given))
    factors = () if by == "unknown cov" else -scale
    m = kg.model(shift, scale, factors=factors)
    # At free state 0: shift 0, scale 1 with log Jacobian 0.
    wanted = stats.multivariate_normal.logpdf(x, mean, cov).sum() + stats.norm.logpdf(0)
    if by != "unknown cov":
        wanted -= 1
    assert density(m) == pytest.approx(wanted, rel=1e-10)
    slopes = quotients(m.log_prob, np.zeros(2))
    np.testing.assert_allclose(m.gradient(np.zeros(2)), slopes, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("d", [3, 8])
def test_batches_of_multivariate_normals(d):
    rng = np.random.default_rng(d)
    root = rng.normal(size=(5, d, d)) + 2 * np.eye(d)
    cov = root @ np.swapaxes(root, -1, -2)
    mean, x = rng.normal(size=(5, d)), rng.normal(size=(3, 5, d))
    with x64():
        f = FAMILIES["multivariate_normal"]
        chol = jnp.asarray(np.linalg.cholesky(cov))
        run = jax.jit(lambda *a: (f.log_density(*a), f.log_density_total(*a)))
        got, total = map(np.asarray, run(x, mean, chol))
    wanted = [
        [stats.multivariate_normal.logpdf(x[i, j], mean[j], cov[j]) for j in range(5)]
        for i in range(3)
    ]
    np.testing.assert_allclose(got, wanted, rtol=1e-10)
    assert total == pytest.approx(np.sum(wanted), rel=1e-12)


def test_multivariate_normal_unknown():
    cov = np.array([[2.0, 0.6], [0.6, 1.0]])
    x = kg.multivariate_normal([1.0, -1.0], cov, shape=(3, 2))
    m = kg.model(x)
    at = np.random.default_rng(0).normal(size=(3, 2))
    wanted = stats.multivariate_normal.logpdf(at, [1.0, -1.0], cov).sum()
    assert float(m.log_prob(at.ravel())) == pytest.approx(wanted, rel=1e-12)


# LKJ ---------------------------------------------------------------------------------------------


def test_lkj_constant():
    with x64():
        assert float(log_constant(1.0, 3)) == pytest.approx(np.log(np.pi**2 / 2), rel=1e-12)
        assert float(log_constant(1.0, 3)) == pytest.approx(1.596313, abs=1e-6)
        assert float(log_constant(3.0, 3)) == pytest.approx(0.027697, abs=1e-6)


@pytest.mark.parametrize("eta", thinned([0.5, 1.0, 2.0, 30.0], 2))
def test_lkj_of_two_is_beta(eta):
    r = np.array([-0.99, -0.3, 0.0, 0.5, 0.999])
    R = np.stack([np.array([[1, x], [x, 1]]) for x in r])
    with x64():
        got = jax.jit(FAMILIES["lkj_correlation"].log_density)(R, eta)
    np.testing.assert_allclose(
        got, stats.beta.logpdf((r + 1) / 2, eta, eta) - np.log(2), rtol=1e-10, atol=1e-10
    )
    m = kg.model(R=kg.lkj_correlation(eta, 2))
    # In the model the density of u = atanh(r) has the Jacobian 1 - r**2.
    wanted = np.asarray(got) + np.log1p(-(r**2))
    np.testing.assert_allclose(m.log_prob(np.arctanh(r)[:, None]), wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("eta", thinned([3.0, 1.0], 2))
def test_lkj_of_three_integrates_to_one(eta):
    m = kg.model(R=kg.lkj_correlation(eta, 3))
    # The trapezoidal rule converges exponentially for functions that decay on both sides.
    u = np.linspace(-7, 7, 57)
    grid = np.stack(np.meshgrid(u, u, u, indexing="ij"), -1)
    assert np.exp(m.log_prob(grid)).sum() * (u[1] - u[0]) ** 3 == pytest.approx(1, abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("d", thinned([7, 3], 2))
def test_factor_of_an_lkj_matrix_costs_nothing(d):
    R = kg.lkj_correlation(2, d)
    sd = kg.half_normal(1, shape=d)
    y = kg.data(np.random.default_rng(d).normal(size=(5, d)))
    kg.observe(y, kg.multivariate_normal(np.zeros(d), chol=sd[:, None] * kg.cholesky(R)))
    m = kg.model(R, sd)
    u = np.random.default_rng(0).normal(size=m.free_size)
    values = m.transform(u)
    with x64():
        given = dict(zip(m.arguments, m.argument_values))
        program = str(jax.make_jaxpr(lambda u: m.density.log_density(u, given))(u))
        # The same is seen where a factorisation is needed: the test can fail.
        slow = kg.model(kg.cholesky(R + 0.0) * 1.0)
        free = np.zeros(slow.free_size)
        other = str(jax.make_jaxpr(lambda u: slow.density.targets(u, slow.targets, {}))(free))
        lkj = float(jax.jit(FAMILIES["lkj_correlation"].log_density)(values["R"], 2.0))
    assert "cholesky" not in program
    assert ("cholesky" in other) == (d > 6)
    cov = values["R"] * np.outer(values["sd"], values["sd"])
    wanted = stats.multivariate_normal.logpdf(y.node.value, np.zeros(d), cov).sum() + lkj
    wanted += stats.halfnorm.logpdf(values["sd"]).sum()
    assert float(m.log_prob(u, adjusted=False)) == pytest.approx(wanted, rel=1e-10)
    slopes = quotients(m.log_prob, u, 1e-4)
    np.testing.assert_allclose(m.gradient(u), slopes, rtol=1e-5, atol=1e-5)


def test_observed_correlation_matrix():
    R = kg.data([[1.0, 0.5], [0.5, 1.0]])
    eta = kg.exponential(1)
    kg.observe(R, kg.lkj_correlation(eta, 2))
    wanted = stats.beta.logpdf(0.75, 1, 1) - np.log(2) - 1
    assert density(kg.model(eta)) == pytest.approx(wanted, rel=1e-12)


def _no_factorisation(covariance):
    """The factor that a covariance is known by, found without computing one."""
    factor = represent(covariance.node, "cholesky")
    assert factor is not None
    found = {n.operation.name for n in ancestors([factor]) if isinstance(n, Apply)}
    return kg.Array(factor), "cholesky" not in found


def test_covariances_made_of_factors_are_not_factorised():
    sd = kg.lognormal(0, 1, shape=3, name="sd")
    L = kg.cholesky_variable(3, correlation=True, name="L")
    fixed = np.linalg.cholesky(np.array([[2.0, 0.3], [0.3, 1.0]]))
    R = kg.lkj_correlation(2, 3, name="R")
    cases = {
        "unknown factor": kg.chol_outer(L),
        "scaled factor": kg.chol_outer(sd[:, None] * L),
        "constant factor": kg.chol_outer(kg.exp(sd[0]) * fixed),
        "scaled matrix": sd[:, None] * R * sd,
        "outer product": kg.outer(sd, sd) * R,
    }
    L0 = np.linalg.cholesky(np.array([[1, 0.3, 0.1], [0.3, 1, -0.2], [0.1, -0.2, 1]]))
    values = [np.array([0.5, 1.0, 2.0]), L0, L0 @ L0.T]
    for name, covariance in cases.items():
        factor, free = _no_factorisation(covariance)
        assert free or name in ("scaled matrix", "outer product"), name  # the factor of R is known
        program = kg.compile([sd, L, R], [covariance, factor])
        matrix, got = (np.asarray(a) for a in program(*values))
        np.testing.assert_allclose(got, np.linalg.cholesky(matrix), rtol=1e-12, atol=1e-14)


def test_products_of_other_matrices_are_factorised():
    a = kg.normal(0, 1, shape=(3, 3), name="a")
    sd = kg.normal(0, 1, shape=3, name="sd")
    R = kg.lkj_correlation(2, 3, name="R")
    other = kg.lognormal(0, 1, shape=3, name="other")
    positive = kg.lognormal(0, 1, shape=3, name="positive")
    for matrix in (kg.chol_outer(a), sd[:, None] * R * sd, positive[:, None] * R * other, 2.0 * R):
        assert represent(matrix.node, "cholesky") is None


@pytest.mark.slow
def test_likelihood_by_a_covariance_made_of_its_factor():
    def at(by_factor):
        sd = kg.lognormal(0, 1, shape=2, name="sd")
        R = kg.lkj_correlation(2, 2, name="R")
        observed = kg.data([[0.3, -1.0], [2.0, 0.1]])
        if by_factor:
            follows = kg.multivariate_normal(0.0, chol=sd[:, None] * kg.cholesky(R))
        else:
            follows = kg.multivariate_normal(0.0, sd[:, None] * R * sd)
        kg.observe(observed, follows)
        model = kg.model(sd, R)
        # At the second point the correlation rounds to 1, and the matrix is singular.
        points = np.array([[0.2, -0.4, 0.7], [0.2, -0.4, 22.0]])
        return np.column_stack([model.log_prob(points), model.gradient(points)])

    assert np.isfinite(at(True)).all()
    np.testing.assert_allclose(at(False), at(True), rtol=1e-12)


def test_models_of_correlation_matrices_are_pickled():
    R = kg.lkj_correlation(2, 3, name="R")
    model = kg.model(R)
    point = [0.1, 0.2, -0.3]
    assert pickle.loads(pickle.dumps(model)).log_prob(point) == model.log_prob(point)


def test_a_density_is_a_number_for_each_vector_or_matrix():
    for distribution in (
        kg.dirichlet(np.ones(3), shape=5),
        kg.multivariate_normal(np.zeros(3), np.eye(3), shape=5),
        kg.lkj_correlation(1.0, 3, shape=5),
    ):
        x = kg.placeholder(distribution.shape)
        assert kg.log_density(distribution, x).shape == (5,)
