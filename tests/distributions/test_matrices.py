"""Matrices and heavy tails: Student's vectors, matrix normals, Wishart, factors of LKJ."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import special, stats
from tests.distributions.drawing import LEVEL, ROWS, draw
from tests.distributions.test_multivariate import quotients

import kinetograph as kg
from kinetograph.distributions.family import FAMILIES
from kinetograph.distributions.matrix_trials import trial_value
from kinetograph.graph.precision import x64


def covariance(rng, size):
    root = rng.normal(size=(size, size)) + 2 * np.eye(size)
    return root @ root.T


def density(name, *arguments, **forms):
    with x64():
        return np.asarray(jax.jit(FAMILIES[name].log_density)(*arguments, **forms))


@pytest.mark.parametrize("d", [2, 8])
def test_multivariate_student(d):
    rng = np.random.default_rng(d)
    cov, mean = covariance(rng, d), rng.normal(size=d)
    x = mean + rng.normal(size=(9, d)) * 10.0 ** rng.uniform(-2, 4, (9, 1))
    df = 10.0 ** rng.uniform(-1, 6, 9)
    got = density("multivariate_student", x, df, mean, np.linalg.cholesky(cov))
    wanted = [stats.multivariate_t.logpdf(v, mean, cov, nu) for v, nu in zip(x, df)]
    np.testing.assert_allclose(got, wanted, rtol=1e-9)
    np.testing.assert_allclose(
        density("multivariate_student", mean + 1.0, 1e9, mean, np.linalg.cholesky(cov)),
        stats.multivariate_normal.logpdf(mean + 1.0, mean, cov),
        rtol=1e-7,
    )


def test_multivariate_student_in_a_model():
    rng = np.random.default_rng(5)
    cov, x = covariance(rng, 3), rng.normal(size=(4, 3))
    df, shift = kg.gamma(2, 0.1, name="df"), kg.normal(0, 1, name="shift")
    kg.observe(x, kg.multivariate_student(df, shift, cov))
    model, at = kg.model(df, shift), np.array([np.log(3.5), 0.4])
    wanted = stats.multivariate_t.logpdf(x, np.full(3, 0.4), cov, 3.5).sum()
    wanted += stats.gamma(2, scale=10).logpdf(3.5) + stats.norm.logpdf(0.4)
    assert float(model.log_prob(at, adjusted=False)) == pytest.approx(wanted, rel=1e-10)
    np.testing.assert_allclose(model.gradient(at), quotients(model.log_prob, at), rtol=1e-6)
    with pytest.raises(kg.ShapeError, match=r"multivariate_student: mean .* does not fit a 3 x 3"):
        kg.multivariate_student(3, np.zeros(2), cov)
    with pytest.raises(TypeError, match="multivariate_student: give one of cov= and chol="):
        kg.multivariate_student(3, np.zeros(2))


def test_normal_by_precision():
    rng = np.random.default_rng(3)
    precision, x = covariance(rng, 4), rng.normal(size=(5, 4))
    scale = kg.lognormal(0, 1, name="scale")
    kg.observe(x, kg.multivariate_normal(0.5, precision=scale * precision))
    model, at = kg.model(scale), np.array([0.3])
    other = stats.multivariate_normal(np.full(4, 0.5), np.linalg.inv(precision) / np.exp(0.3))
    wanted = other.logpdf(x).sum() + stats.lognorm(1).logpdf(np.exp(0.3))
    assert float(model.log_prob(at, adjusted=False)) == pytest.approx(wanted, rel=1e-10)
    np.testing.assert_allclose(model.gradient(at), quotients(model.log_prob, at), rtol=1e-6)
    with pytest.raises(ValueError, match=r"precision .* is not positive definite"):
        kg.multivariate_normal([0.0, 0.0], precision=[[1.0, 2.0], [2.0, 1.0]])


def test_matrix_normal():
    rng = np.random.default_rng(4)
    rows, columns, mean = covariance(rng, 3), covariance(rng, 2), rng.normal(size=(3, 2))
    x = rng.normal(size=(6, 3, 2))
    shift = kg.normal(0, 1, name="shift")
    kg.observe(x, kg.matrix_normal(mean + shift, rows, col_chol=np.linalg.cholesky(columns)))
    model = kg.model(shift)
    wanted = stats.matrix_normal.logpdf(x, mean + 0.3, rows, columns).sum() + stats.norm.logpdf(0.3)
    assert float(model.log_prob([0.3])) == pytest.approx(wanted, rel=1e-10)
    slopes = quotients(model.log_prob, np.array([0.3]))
    np.testing.assert_allclose(model.gradient([0.3]), slopes, rtol=1e-6)
    with pytest.raises(kg.ShapeError, match="does not fit 3 rows and 2 columns"):
        kg.matrix_normal(mean.T, rows, columns)
    with pytest.raises(TypeError, match="give one of col_cov= and col_chol="):
        kg.matrix_normal(mean, rows)
    factors = np.linalg.cholesky(rows), np.linalg.cholesky(columns)
    z = draw("matrix_normal", mean, *factors, shape=(ROWS, 3, 2))
    z = np.linalg.solve(factors[0], z - mean)
    z = np.linalg.solve(factors[1], np.swapaxes(z, 1, 2)).reshape(ROWS, 6)
    assert stats.kstest((z**2).sum(-1), stats.chi2(6).cdf).pvalue > LEVEL
    assert np.abs(np.cov(z.T) - np.eye(6)).max() < 6 * np.sqrt(2 / ROWS)


# Wishart -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [3, 7])
def test_wishart(d):
    rng = np.random.default_rng(d)
    scale, chol = covariance(rng, d), None
    chol = np.linalg.cholesky(scale)
    df = d - 1 + 10.0 ** rng.uniform(-1, 3, 5)
    x = np.array([stats.wishart.rvs(max(nu, d), scale, random_state=rng) for nu in df])
    wanted = [stats.wishart.logpdf(v, nu, scale) for v, nu in zip(x, df)]
    np.testing.assert_allclose(density("wishart", x, df, chol), wanted, rtol=1e-10)
    by_factor = density("wishart", x, df, chol, cholesky_x=np.linalg.cholesky(x))
    np.testing.assert_allclose(by_factor, wanted, rtol=1e-10)


def test_wishart_as_an_unknown():
    scale = np.array([[2.0, 0.5], [0.5, 1.0]])
    X = kg.wishart(4.5, scale, name="X")
    y = np.array([[0.3, -1.0], [2.0, 0.1]])
    kg.observe(y, kg.multivariate_normal(0.0, X))
    model = kg.model(X)
    free = np.array([0.3, -0.7, 0.2])
    values = model.transform(free)
    np.testing.assert_allclose(model.untransform(values), free, rtol=1e-9)
    wanted = stats.wishart.logpdf(values["X"], 4.5, scale)
    wanted += stats.multivariate_normal.logpdf(y, np.zeros(2), values["X"]).sum()
    assert float(model.log_prob(free, adjusted=False)) == pytest.approx(wanted, rel=1e-10)
    np.testing.assert_allclose(model.gradient(free), quotients(model.log_prob, free), rtol=1e-5)
    # Its factor is not computed from it: here the matrix is singular but for its last digits.
    free = np.array([0.3, -0.7, -30.0])
    assert np.isfinite(model.gradient(free)).all()
    assert np.linalg.eigvalsh(model.transform(free)["X"])[0] < 1e-15


def test_wishart_integrates_to_one():
    model = kg.model(kg.wishart(3.0, np.eye(2)))
    u = np.linspace(-9, 5, 57)
    grid = np.stack(np.meshgrid(u, np.linspace(-8, 8, 65), u, indexing="ij"), -1)
    total = np.exp(model.log_prob(grid)).sum() * (u[1] - u[0]) ** 2 * 0.25
    assert total == pytest.approx(1, abs=1e-5)


def test_wishart_of_impossible_parameters():
    with pytest.raises(ValueError, match="wishart: df must be above 2, one less than the scale"):
        kg.wishart(2.0, np.eye(3))
    with pytest.raises(ValueError, match=r"scale .* is not symmetric"):
        kg.wishart(4.0, [[1.0, 0.5], [0.4, 1.0]])
    with pytest.raises(kg.ShapeError, match="must be a square matrix"):
        kg.wishart(4.0, np.ones((2, 3)))
    with pytest.raises(kg.DataError, match="must be symmetric and positive definite"):
        kg.observe([[1.0, 2.0], [2.0, 1.0]], kg.wishart(3.0, np.eye(2)))
    assert np.isnan(draw("wishart", 1.0, np.eye(2), shape=(ROWS, 2, 2))).all()


def test_wishart_draws():
    rng = np.random.default_rng(9)
    scale = covariance(rng, 3)
    x = draw("wishart", 3.7, np.linalg.cholesky(scale), shape=(ROWS, 3, 3))
    assert (x == np.swapaxes(x, 1, 2)).all()
    # v' X v / v' S v is chi-squared for any v; the determinant is a product of such numbers.
    for v in (np.array([1.0, 0.0, 0.0]), np.array([0.3, -1.0, 2.0])):
        share = np.einsum("i,nij,j->n", v, x, v) / (v @ scale @ v)
        assert stats.kstest(share, stats.chi2(3.7).cdf).pvalue > LEVEL
    log_det = np.linalg.slogdet(x)[1] - np.linalg.slogdet(scale)[1]
    wanted = sum(special.digamma((3.7 - i) / 2) + np.log(2) for i in range(3))
    assert abs(log_det.mean() - wanted) < 5 * log_det.std() / np.sqrt(ROWS)


# Vectors and factors -----------------------------------------------------------------------------


def test_draws_of_vectors():
    rng = np.random.default_rng(2)
    mean, cov = np.array([1.0, -2.0, 0.5]), covariance(rng, 3)
    chol = np.linalg.cholesky(cov)
    x = draw("multivariate_student", 4.5, mean, chol, shape=(ROWS, 3))
    z = np.linalg.solve(chol, (x - mean).T).T
    assert stats.kstest((z**2).sum(-1) / 3, stats.f(3, 4.5).cdf).pvalue > LEVEL
    for column in z.T:
        assert stats.kstest(column, stats.t(4.5).cdf).pvalue > LEVEL
    x = draw("multivariate_normal_precision", mean, chol, shape=(ROWS, 3))
    z = (x - mean) @ chol
    assert stats.kstest((z**2).sum(-1), stats.chi2(3).cdf).pvalue > LEVEL
    assert np.abs(np.cov(z.T) - np.eye(3)).max() < 6 * np.sqrt(2 / ROWS)


def test_factors_of_lkj_matrices():
    eta = 1.7
    L = kg.lkj_cholesky(eta, 3, name="L")
    R = kg.lkj_correlation(eta, 3, name="R")
    by_factor, by_matrix = kg.model(L), kg.model(R)
    points = np.random.default_rng(1).normal(size=(5, 3))
    np.testing.assert_allclose(by_factor.log_prob(points), by_matrix.log_prob(points), rtol=1e-10)
    factor = by_factor.transform(points[0])["L"]
    np.testing.assert_allclose(factor @ factor.T, by_matrix.transform(points[0])["R"], rtol=1e-12)
    x = draw("lkj_cholesky", eta, shape=(ROWS, 3, 3))
    np.testing.assert_allclose(
        x @ np.swapaxes(x, 1, 2), draw("lkj_correlation", eta, shape=(ROWS, 3, 3))
    )
    with pytest.raises(kg.ShapeError, match="lkj_cholesky: dim"):
        kg.lkj_cholesky(1.0, 1)
    with pytest.raises(kg.DataError, match="the Cholesky factor of a correlation matrix"):
        kg.observe(np.eye(2) * 2, kg.lkj_cholesky(1.0, 2))
    assert jnp.isnan(draw("lkj_cholesky", -1.0, shape=(ROWS, 3, 3))[:, 1, 0]).all()


COVARIANCE = np.array([[1.0, 0.5], [0.5, 1.0]])
SYMMETRIC = [
    lambda s, r: s[:, None] * r * s,
    lambda s, r: s * r * s[:, None],
    lambda s, r: s.reshape(2, 1) * r * s.reshape(1, 2),
    lambda s, r: (s[:, None] * s) * r,
    lambda s, r: r / s / s[:, None],
    lambda s, r: r * s[0] ** 2,
    lambda s, r: s * np.eye(2),
    lambda s, r: (kg.diag(s) @ r) * s,
    lambda s, r: r / np.array([2.0, 2.0]),
    lambda s, r: kg.data([[2.0], [1.0]]) * kg.data([[0.5, 0.2], [0.4, 1.0]]),
]
SCALED_ON_ONE_SIDE = [
    (lambda s, r: s * r * s, "columns of r"),
    (lambda s, r: s[:, None] * r, "rows of r"),
    (lambda s, r: r / s * s[0], "columns of r"),
    (lambda s, r: s * COVARIANCE * s, "columns of COVARIANCE"),
]


@pytest.mark.parametrize("cov", SYMMETRIC)
def test_symmetric_products_are_covariances(cov):
    s, r = kg.half_normal(1, shape=2), kg.lkj_correlation(2.0, 2)
    x = kg.multivariate_normal(np.zeros(2), cov(s, r))
    value = kg.calculate(s, r, c=cov(s, r), values={"s": [0.5, 3.0], "r": COVARIANCE})["c"]
    assert np.allclose(value, np.asarray(value).T)
    assert x.shape == (2,)


@pytest.mark.parametrize(("cov", "text"), SCALED_ON_ONE_SIDE)
def test_correlations_that_are_scaled_on_one_side_are_refused(cov, text):
    """The Cholesky factor would be of another matrix: half the correlation, for s * r * s."""
    s, r = kg.half_normal(1, shape=2), kg.lkj_correlation(2.0, 2)
    with pytest.raises(ValueError, match=rf"is not symmetric: s scales the {text} alone .*sd\[:, "):
        kg.multivariate_normal(np.zeros(2), cov(s, r))
    with pytest.raises(ValueError, match=r"scale .* is not symmetric: s scales"):
        kg.wishart(5, cov(s, r))


MORE_COVARIANCES = [
    lambda s, r, a: kg.diag(s) @ r @ kg.diag(s),
    lambda s, r, a: a @ a.T + np.eye(2),
    lambda s, r, a: (a + a.T) / 2,
    lambda s, r, a: s[:, None] * r * s + s[0] * np.eye(2),
    lambda s, r, a: kg.exp(-abs(s[:, None] - s)),
    lambda s, r, a: kg.diag(s[0] * np.ones(2)) @ r,
    lambda s, r, a: kg.inv(r),
    lambda s, r, a: kg.while_loop(lambda c: c[0, 0] < 9, lambda c: kg.diag(s) @ c, a),  # undecided
]
NO_COVARIANCES = [
    (
        lambda s, r, a: kg.diag(s) @ r,
        r"for some values of s and r it is 0.\d+ at index \(0, 1\), but",
    ),
    (lambda s, r, a: kg.diag(s) @ r, r"\(test_.*\); write s\[:, None\] \* r \* s$"),
    (lambda s, r, a: r @ kg.diag(s), r"; write s\[:, None\] \* r \* s$"),
    (lambda s, r, a: kg.diag(s) @ r + np.eye(2), r"; for standard deviations sd and corr"),
    (lambda s, r, a: a @ r, "for some values of a and r it"),
    (lambda s, r, a: a, "for some values of a it"),
    (lambda s, r, a: kg.exp(-abs(s[:, None] - 2 * s)), "for some values of s it"),
    (lambda s, r, a: kg.diag(s) @ kg.data(COVARIANCE), "for some values of s it"),
    (lambda s, r, a: np.tril(a), r"; give a Cholesky factor by name, (row_)?chol="),
]


@pytest.mark.parametrize("cov", MORE_COVARIANCES)
def test_covariances_of_unknowns_that_may_be_symmetric(cov):
    s, r, a = kg.half_normal(1, shape=2), kg.lkj_correlation(2.0, 2), kg.normal(0, 1, shape=(2, 2))
    assert kg.multivariate_normal(0, cov(s, r, a)).shape == (2,)
    assert kg.multivariate_normal(0, precision=cov(s, r, a)).shape == (2,)


def test_inverses_of_matrices_that_are_nearly_singular_are_covariances():
    """Their rounding errors are not symmetric."""
    x = np.linspace(0, 1, 30)
    scale = kg.half_normal(1)
    kernel = kg.exp(-(((x[:, None] - x) / scale) ** 2)) + 1e-12 * np.eye(30)
    assert kg.multivariate_normal(0, precision=kg.inv(kernel)).shape == (30,)
    assert kg.multivariate_normal(0, kg.inv(kg.inv(kernel))).shape == (30,)


@pytest.mark.parametrize(("cov", "text"), NO_COVARIANCES)
def test_covariances_of_unknowns_that_are_not_symmetric_are_refused(cov, text):
    s, r, a = kg.half_normal(1, shape=2), kg.lkj_correlation(2.0, 2), kg.normal(0, 1, shape=(2, 2))
    with pytest.raises(
        ValueError, match=r"^multivariate_normal: cov .* is not symmetric: .*" + text
    ):
        kg.multivariate_normal(0, cov(s, r, a))
    with pytest.raises(ValueError, match=r"^matrix_normal: row_cov .* is not symmetric: .*" + text):
        kg.matrix_normal(0, cov(s, r, a), np.eye(3))
    with pytest.raises(ValueError, match=r"^multivariate_normal: precision .* is not symmetric"):
        kg.multivariate_normal(0, precision=cov(s, r, a))


@pytest.mark.parametrize(
    ("chol", "text"),
    [
        (lambda s, r, a: r, r"; the factor of a covariance is kg.cholesky\(.*\)$"),
        (lambda s, r, a: kg.cholesky(r).T, r"; give the lower factor, .*\.mT$"),
        (lambda s, r, a: a, r"for some values of a it is 0.\d+ at index \(0, 1\) \(test.*factor$"),
    ],
)
def test_factors_of_unknowns_that_are_not_lower_triangular_are_refused(chol, text):
    """Only the lower triangle would be read by the density, and all elements by draws."""
    s, r, a = kg.half_normal(1, shape=2), kg.lkj_correlation(2.0, 2), kg.normal(0, 1, shape=(2, 2))
    with pytest.raises(
        ValueError, match=r"multivariate_student: chol .* is not lower tri.*" + text
    ):
        kg.multivariate_student(5, 0, chol=chol(s, r, a))
    for lower in (np.tril(a), kg.diag(s) @ kg.cholesky(r), kg.diag(s), kg.cholesky(a @ a.T)):
        assert kg.multivariate_normal(0, chol=lower).shape == (2,)


def test_trial_values_are_inside_of_supports():
    """A matrix of values outside of the supports could be asymmetric where no unknown gets."""
    unknowns = [
        kg.normal(0, 1, shape=3),
        kg.half_normal(1, shape=3),
        kg.uniform(-3, [-2, 4, 9]),
        kg.variable(shape=3, upper=-2),
        kg.dirichlet(np.ones(3)),
        kg.ordered_variable(3),
        kg.zero_sum_normal(1, shape=3),
        kg.wishart(5, np.eye(3)),
        kg.lkj_correlation(2, 3),
        kg.lkj_cholesky(2, 3),
    ]
    for x in unknowns:
        value = trial_value(x.node)
        assert value.shape == x.shape
        assert np.all(x.node.support.contains(value)), x.node.support
    assert trial_value(kg.uniform(0, unknowns[1]).node) is None
    assert trial_value((kg.poisson(3) * np.eye(2)).node) is None
    assert trial_value((unknowns[0][0] * np.eye(1000)).node) is None
