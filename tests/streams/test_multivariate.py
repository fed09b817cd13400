"""Vectors: their law, derivatives, and what the registry says of shapes and parameters."""

import numpy as np
import pytest
from scipy import stats
from tests.selection import thinned
from tests.streams.drawing import LEVEL, ROWS, derivatives, draw

from kinetograph.graph.elementwise import as_node
from kinetograph.graph.errors import ShapeError
from kinetograph.streams.samplers import SAMPLERS

MEAN = np.array([1.0, -2.0, 0.5])
FACTOR = np.array([[2.0, 0.0, 0.0], [-0.5, 1.0, 0.0], [0.3, 0.4, 0.2]])
COVARIANCE = FACTOR @ FACTOR.T


def whitened(x: np.ndarray) -> np.ndarray:
    return np.linalg.solve(FACTOR, (x - MEAN).T).T


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_law(dtype):
    x = draw("multivariate_normal", MEAN, COVARIANCE, shape=(ROWS, 3), dtype=dtype)
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
    x = draw("multivariate_normal", np.zeros(size), factor @ factor.T, shape=(ROWS, size))
    z = draw("normal", 0.0, 1.0)[: 4 * size].reshape(4, size)
    factor = factor * np.sign(np.diag(factor))
    np.testing.assert_allclose(x[:4], z @ factor.T, rtol=1e-9, atol=1e-9)


def test_stacks_of_means_and_covariances():
    means = np.stack([MEAN, 10 + MEAN])
    covariances = np.stack([COVARIANCE, 4 * COVARIANCE])
    x = draw("multivariate_normal", means, covariances, shape=(2, 3))
    alone = draw("multivariate_normal", MEAN, COVARIANCE, shape=(ROWS, 3))
    np.testing.assert_allclose(x[0], alone[0])
    np.testing.assert_allclose(x[1] - 10 - MEAN, 2 * (alone[1] - MEAN))


def test_not_positive_definite_gives_nan():
    bad = np.array([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    x = draw("multivariate_normal", np.zeros(3), bad, shape=(ROWS, 3))
    assert np.isnan(x[:, 1]).all()


def test_derivatives():
    def moved(by_mean, by_covariance):
        parameters = MEAN + by_mean, COVARIANCE + by_covariance
        return derivatives("multivariate_normal", parameters, range(2), (5, 3))

    _, forward, back = moved(0.0, 0.0)
    step = 1e-6
    for i, by in enumerate(np.eye(2) * step):
        difference = (moved(*by)[0] - moved(*-by)[0]) / (2 * step)
        np.testing.assert_allclose(forward[i], difference, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(back[i].sum(), forward[i].sum(), rtol=1e-9)


# The registry -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "shapes", "wanted", "full"),
    [
        ("normal", [(), ()], None, ()),
        ("normal", [(3,), (2, 1)], None, (2, 3)),
        ("normal", [(3,), ()], (5, 3), (5, 3)),
        ("dirichlet", [(2, 3)], None, (2, 3)),
        ("dirichlet", [(3,)], (7, 3), (7, 3)),
        ("multivariate_normal", [(3,), (3, 3)], None, (3,)),
        ("multivariate_normal", [(3,), (4, 3, 3)], (5, 4, 3), (5, 4, 3)),
        ("categorical", [(4, 3)], None, (4,)),
        ("categorical", [(3,)], (5,), (5,)),
        ("permutation", [], (5,), (5,)),
    ],
)
def test_shapes(name, shapes, wanted, full):
    assert SAMPLERS[name].shapes(name, shapes, wanted) == (full, full)


@pytest.mark.parametrize(
    ("name", "shapes", "wanted", "text"),
    [
        ("normal", [(3,), (2,)], None, r"loc \(3,\), scale \(2,\) do not broadcast"),
        ("normal", [(3,), ()], (2,), r"shape \(3,\), which does not broadcast to shape \(2,\)"),
        ("normal", [(3,), ()], (), "does not broadcast"),
        ("dirichlet", [()], None, "concentration must have at least one axis"),
        ("dirichlet", [(1,)], (3,), "does not broadcast"),
        ("multivariate_normal", [(3,), (3, 2)], None, "of one length"),
        ("categorical", [(0,)], None, "not 0"),
        ("permutation", [], None, "at least one axis"),
    ],
)
def test_shapes_that_do_not_fit(name, shapes, wanted, text):
    with pytest.raises(ShapeError, match=text):
        SAMPLERS[name].shapes(name, shapes, wanted)


@pytest.mark.parametrize(
    ("name", "parameters", "text"),
    [
        ("uniform", {"low": 2.0, "high": 1.0}, "low must not be above high"),
        ("integers", {"low": 2, "high": 2}, "low must be below high"),
        ("truncated_normal", {"lower": 2.0, "upper": 1.0}, "lower must not be above upper"),
        ("categorical", {"probabilities": np.zeros(3)}, "some class"),
        ("multivariate_normal", {"covariance": -np.eye(2)}, "positive definite"),
    ],
)
def test_parameters_that_are_impossible_together(name, parameters, text):
    nodes = {key: as_node(value) for key, value in parameters.items()}
    with pytest.raises(ValueError, match=text):
        SAMPLERS[name].check_together(name, nodes)


def test_kinds():
    allowed = {
        ("normal", "scale"): ([0.0, 1.0], [-1.0, np.nan, np.inf]),
        ("gamma", "concentration"): ([1e-3, 1.0], [0.0, -1.0, np.nan, np.inf]),
        ("bernoulli", "p"): ([0.0, 1.0], [-0.1, 1.1, np.nan]),
        ("poisson", "rate"): ([0.0, 1e18], [-1.0, 2e18, np.nan]),
        ("binomial", "n"): ([0, 5], [-1]),
        ("truncated_normal", "lower"): ([-np.inf, 0.0], [np.nan]),
    }
    for (name, parameter), (good, bad) in allowed.items():
        allows = SAMPLERS[name].parameters[parameter].allows
        assert np.all(allows(np.array(good)))
        assert not np.any(allows(np.array(bad)))
