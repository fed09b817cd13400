"""Vectors: their law, derivatives, and what the registry says of shapes and parameters."""

import numpy as np
import pytest
from scipy import stats
from tests.distributions.drawing import GENERATORS, LEVEL, ROWS, derivatives, draw
from tests.selection import thinned

import kinetograph as kg
from kinetograph.graph.errors import ShapeError
from kinetograph.graph.operations.operands import as_node

MEAN = np.array([1.0, -2.0, 0.5])
FACTOR = np.array([[2.0, 0.0, 0.0], [-0.5, 1.0, 0.0], [0.3, 0.4, 0.2]])
COVARIANCE = FACTOR @ FACTOR.T


def whitened(x: np.ndarray) -> np.ndarray:
    return np.linalg.solve(FACTOR, (x - MEAN).T).T


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_law(dtype):
    x = draw("multivariate_normal", MEAN, FACTOR, shape=(ROWS, 3), dtype=dtype)
    assert x.dtype == dtype
    z = whitened(x.astype(float))
    for column in z.T:
        assert stats.kstest(column, "norm").pvalue > LEVEL
    correlation = np.corrcoef(z.T)[np.triu_indices(3, 1)]
    assert np.abs(correlation).max() < 5 / np.sqrt(len(x))
    assert stats.kstest((z**2).sum(-1), stats.chi2(3).cdf).pvalue > LEVEL
    error = np.sqrt((np.outer(np.diag(COVARIANCE), np.diag(COVARIANCE)) + COVARIANCE**2) / len(x))
    assert (np.abs(np.cov(x.T) - COVARIANCE) < 5 * error + 1e-5).all()


def test_the_law_test_can_fail():
    """With the transposed factor every coordinate is normal, but the vector is wrong."""
    z = np.stack([draw("normal", 0.0, 1.0, event=(i, 0)) for i in range(3)], -1)
    x = MEAN + z @ FACTOR
    assert any(stats.kstest(c, "norm").pvalue < LEVEL for c in whitened(x).T)


@pytest.mark.parametrize("size", thinned([2, 1, 7, 6], 2))
def test_small_and_large_matrices(size):
    rng = np.random.default_rng(size)
    factor = np.tril(rng.normal(size=(size, size))) + 3 * np.eye(size)
    factor = factor * np.sign(np.diag(factor))
    x = draw("multivariate_normal", np.zeros(size), factor, shape=(ROWS, size))
    z = draw("normal", 0.0, 1.0)[: 4 * size].reshape(4, size)
    np.testing.assert_allclose(x[:4], z @ factor.T, rtol=1e-9, atol=1e-9)


def test_stacks_of_means_and_covariances():
    means = np.stack([MEAN, 10 + MEAN])
    factors = np.stack([FACTOR, 2 * FACTOR])
    x = draw("multivariate_normal", means, factors, shape=(2, 3))
    alone = draw("multivariate_normal", MEAN, FACTOR, shape=(ROWS, 3))
    np.testing.assert_allclose(x[0], alone[0])
    np.testing.assert_allclose(x[1] - 10 - MEAN, 2 * (alone[1] - MEAN))


def test_a_factor_that_is_none_gives_nan():
    bad = np.diag([1.0, np.nan, 1.0])
    assert np.isnan(draw("multivariate_normal", np.zeros(3), bad, shape=(ROWS, 3))).all()
    nowhere = np.array([0.0, np.inf, 0.0])
    assert np.isnan(draw("multivariate_normal", nowhere, FACTOR, shape=(ROWS, 3))).all()


def test_derivatives():
    def moved(by_mean, by_factor):
        parameters = MEAN + by_mean, FACTOR + by_factor
        return derivatives("multivariate_normal", parameters, range(2), (5, 3))

    _, forward, back = moved(0.0, 0.0)
    step = 1e-6
    for i, by in enumerate(np.eye(2) * step):
        difference = (moved(*by)[0] - moved(*-by)[0]) / (2 * step)
        np.testing.assert_allclose(forward[i], difference, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(back[i].sum(), forward[i].sum(), rtol=1e-9)


@pytest.mark.parametrize(("eta", "dim"), thinned([(0.7, 4), (1.0, 3), (3.0, 2)], 3))
def test_correlation_matrices(eta, dim):
    """Every correlation is 2 b - 1 of a beta number b of eta - 1 + dim / 2, twice."""
    x = draw("lkj_correlation", eta, shape=(ROWS, dim, dim))
    assert (x == np.swapaxes(x, 1, 2)).all()
    assert (np.diagonal(x, axis1=1, axis2=2) == 1).all()
    assert (np.linalg.eigvalsh(x) > -1e-12).all()
    shape = eta - 1 + dim / 2
    for i, j in zip(*np.tril_indices(dim, -1)):
        law = stats.beta(shape, shape, loc=-1, scale=2)
        assert stats.kstest(x[:, i, j], law.cdf).pvalue > LEVEL
    # The determinant is a product of independent beta numbers, one of each row of the factor.
    log_det = np.linalg.slogdet(x)[1]
    rows = [stats.beta(eta + (dim - 1 - k) / 2, k / 2) for k in range(1, dim)]
    moments = [r.expect(np.log) for r in rows]
    assert abs(log_det.mean() - sum(moments)) < 5 * log_det.std() / np.sqrt(ROWS)


def test_the_test_of_correlations_can_fail():
    x = draw("lkj_correlation", 1.0, shape=(ROWS, 3, 3))[:, 2, 1]
    assert stats.kstest(x, stats.beta(1.9, 1.9, loc=-1, scale=2).cdf).pvalue < LEVEL


# Shapes and parameters --------------------------------------------------------------------------


def nodes_of(shapes):
    return [kg.placeholder(shape, name=f"p{i}").node for i, shape in enumerate(shapes)]


@pytest.mark.parametrize(
    ("name", "shapes", "wanted", "full"),
    [
        ("normal", [(), ()], None, ()),
        ("normal", [(3,), (2, 1)], None, (2, 3)),
        ("normal", [(3,), ()], (5, 3), (5, 3)),
        ("dirichlet", [(2, 3)], None, (2, 3)),
        ("dirichlet", [(3,)], (7, 3), (7, 3)),
        ("dirichlet", [(3,)], 7, (7, 3)),
        ("multivariate_normal", [(3,), (3, 3)], None, (3,)),
        ("multivariate_normal", [(3,), (4, 3, 3)], (5, 4, 3), (5, 4, 3)),
        ("categorical", [(4, 3)], None, (4,)),
        ("categorical", [(3,)], (5,), (5,)),
    ],
)
def test_shapes(name, shapes, wanted, full):
    assert GENERATORS[name].full_shape(nodes_of(shapes), wanted) == full


@pytest.mark.parametrize(
    ("name", "shapes", "wanted", "text"),
    [
        ("normal", [(3,), (2,)], None, r"mean p0 of shape \(3,\), sd p1 of shape \(2,\)"),
        ("normal", [(3,), ()], (2,), r"shape \(2,\) does not fit the parameters"),
        ("normal", [(3,), ()], (), "does not fit"),
    ],
)
def test_shapes_that_do_not_fit(name, shapes, wanted, text):
    with pytest.raises(ShapeError, match=text):
        GENERATORS[name].full_shape(nodes_of(shapes), wanted)


@pytest.mark.parametrize(
    ("name", "shapes", "text"),
    [
        ("dirichlet", [()], "alpha .* needs at least 1 axis"),
        ("dirichlet", [(1,)], "at least two"),
        ("categorical", [(0,)], "at least one"),
        ("multivariate_normal", [(3,), (3,)], "chol .* needs at least 2 axes"),
    ],
)
def test_parameters_with_too_few_axes(name, shapes, text):
    with pytest.raises(ShapeError, match=text):
        GENERATORS[name].check_values(nodes_of(shapes))


@pytest.mark.parametrize(
    ("name", "parameters", "text"),
    [
        ("uniform", (2.0, 1.0), "min must be below max"),
        ("integers", (2, 2), "low must be below high"),
        ("truncated_normal", (0.0, 1.0, 2.0, 1.0), "lower must not be above upper"),
        ("categorical", (np.zeros(3),), "not all 0"),
    ],
)
def test_parameters_that_are_impossible_together(name, parameters, text):
    nodes = [as_node(value) for value in parameters]
    with pytest.raises(ValueError, match=text):
        GENERATORS[name].check_values(nodes, np.dtype(float))


def test_where_parameters_may_lie():
    allowed = {
        ("normal", "sd"): ([0.0, 1.0], [-1.0, np.nan, np.inf]),
        ("gamma", "alpha"): ([1e-3, 1.0], [0.0, -1.0, np.nan, np.inf]),
        ("bernoulli", "prob"): ([0.0, 1.0], [-0.1, 1.1, np.nan]),
        ("poisson", "rate"): ([0.0, 1e18], [-1.0, 2e18, np.nan]),
        ("binomial", "size"): ([0, 5], [-1]),
        ("truncated_normal", "lower"): ([-np.inf, 0.0], [np.nan, np.inf]),
    }
    for (name, key), (good, bad) in allowed.items():
        (parameter,) = (p for p in GENERATORS[name].parameters if p.name == key)
        support = parameter.drawn or parameter.support
        assert np.all(support.contains(np.array(good)))
        assert not np.any(support.contains(np.array(bad)))


def test_a_density_has_no_scale_of_zero():
    with pytest.raises(ValueError, match="sd must be positive"):
        kg.normal(0, 0)
    assert kg.compile([], kg.RandomStreams(1).normal(2.0, 0.0))() == 2
