"""Effects of areas that are alike if the areas are neighbours."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import scipy.stats

import kinetograph as kg

ROAD = np.eye(5, k=1) + np.eye(5, k=-1)
# A square with a tail: the areas 0 1 2 3 in a ring, and 4 beside 0; one pair counts double.
RING = np.zeros((5, 5))
for i, j, weight in [(0, 1, 1), (1, 2, 2), (2, 3, 1), (3, 0, 1), (0, 4, 1)]:
    RING[i, j] = RING[j, i] = weight


def basis(adjacency, **settings):
    """B of x = B u, from the effects of unit vectors u."""
    effects = kg.gp.icar(adjacency, name="x", **settings)
    return np.stack([at(effects, unit) for unit in np.eye(effects.shape[0] - 1)], 1)


def at(effects, u):
    """The effects for given u."""
    return kg.calculate(x=effects, values={"x_u": u})["x"]


@pytest.mark.parametrize("adjacency", [ROAD, RING])
def test_the_covariance_is_the_generalised_inverse_of_the_laplacian(adjacency):
    B = basis(adjacency)
    laplacian = np.diag(adjacency.sum(1)) - adjacency
    np.testing.assert_allclose(B @ B.T, np.linalg.pinv(laplacian), atol=1e-12)
    np.testing.assert_allclose(B.sum(0), 0, atol=1e-12)


def test_the_prior_is_that_of_the_differences_of_neighbours():
    """Ratios of densities, with the pairs written out."""
    sd = 0.7
    effects = kg.gp.icar(RING, sd, name="x")
    model = kg.model(effects)
    rng = np.random.default_rng(1)
    pairs = [(i, j) for i in range(5) for j in range(i)]

    def expected(x):
        return sum(-RING[i, j] * (x[i] - x[j]) ** 2 / (2 * sd**2) for i, j in pairs)

    u = rng.normal(size=(2, 4))
    x = [at(effects, row) for row in u]
    got = [float(model.log_prob(row)) for row in u]
    assert got[0] - got[1] == pytest.approx(expected(x[0]) - expected(x[1]), rel=1e-9)


def test_the_scale_is_the_geometric_mean_of_the_variances():
    variances = np.square(basis(RING, scaled=True)).sum(1)
    assert np.log(variances).mean() == pytest.approx(0, abs=1e-12)
    assert variances.max() / variances.min() > 1.5
    np.testing.assert_allclose(
        variances / variances[0],
        (lambda v: v / v[0])(np.square(basis(RING)).sum(1)),
        rtol=1e-10,
    )


def test_normal_data_have_the_posterior_of_linear_algebra():
    """x ~ N(0, S), y ~ N(a + x, 0.5): the exact mean and variance."""
    y = np.array([1.0, 2.0, 0.5, -1.0, 3.0])
    a = kg.normal(0, 10, name="a")
    x = kg.gp.icar(RING, 1.5, name="u")
    kg.observe(y, kg.normal(a + x, 0.5))
    tree = kg.mcmc(kg.model(a=a, x=x), seed=3, progress=False)
    prior = 1.5**2 * np.linalg.pinv(np.diag(RING.sum(1)) - RING)
    whole = prior + 100 * np.ones((5, 5)) + 0.25 * np.eye(5)
    mean = prior @ np.linalg.solve(whole, y)
    sd = np.sqrt(np.diag(prior - prior @ np.linalg.solve(whole, prior)))
    table = kg.summary(tree, "x")
    got = np.asarray(table["mean"]), np.asarray(table["mcse_mean"])
    z = (got[0] - mean) / got[1]
    assert np.abs(z).max() < scipy.stats.norm.isf(1e-7)
    np.testing.assert_allclose(np.asarray(table["sd"]), sd, rtol=0.15)


def test_dims_and_labels_of_areas():
    effects = kg.gp.icar(ROAD, dims=kg.dim("area", list("abcde")))
    model = kg.model(effects=effects)
    simulated = kg.simulate(model, draws=3, seed=1)["prior"]["effects"]
    assert list(simulated["area"].values) == list("abcde")
    frame = pd.DataFrame(ROAD, list("vwxyz"), list("vwxyz"))
    model = kg.model(effects=kg.gp.icar(frame, dims=("area",)))
    simulated = kg.simulate(model, draws=3, seed=1)["prior"]["effects"]
    assert list(simulated["area"].values) == list("vwxyz")


def test_sparse_and_boolean_matrices():
    expected = basis(ROAD)
    for given in (scipy.sparse.csr_array(ROAD), ROAD > 0, ROAD.astype(int)):
        np.testing.assert_allclose(basis(given), expected, atol=1e-14)


@pytest.mark.parametrize(
    ("adjacency", "error", "text"),
    [
        (ROAD[:3], kg.ShapeError, r"square matrix.* got shape \(3, 5\)"),
        ([[0]], kg.ShapeError, r"at least two areas, got shape \(1, 1\)"),
        ([(0, 1), (1, 2), (2, 3)], kg.ShapeError, r"from pairs .*W\[i, j\] = W\[j, i\] = 1"),
        (np.eye(5, k=1), ValueError, r"adjacency\[0, 1\] = 1 is not symmetric"),
        (-ROAD, ValueError, r"adjacency\[0, 1\] = -1 is negative"),
        (ROAD + np.eye(5), ValueError, "no area is its own neighbour"),
        (ROAD * np.nan, ValueError, r"adjacency\[0, 0\] = nan is not finite"),
        (np.kron(np.eye(2), ROAD), ValueError, "area 5 is not connected with area 0"),
        (np.zeros((3, 3)), ValueError, "of 3 areas, 1 are"),
        ("neighbours", TypeError, "matrix of numbers, got the text 'neighbours'"),
    ],
)
def test_bad_matrices(adjacency, error, text):
    with pytest.raises(error, match=text):
        kg.gp.icar(adjacency)


def test_labels_of_a_data_frame_and_of_a_dim_must_agree():
    labels = list("uvwxy")
    frame = pd.DataFrame(ROAD, labels, labels)
    with pytest.raises(kg.DimsError, match=r"gp.icar: adjacency .*'area' has the labels"):
        kg.gp.icar(frame, dims=kg.dim("area", labels[::-1]))
    with pytest.raises(kg.DimsError, match=r"gp.icar: adjacency .*axis 0 has length 5"):
        kg.gp.icar(ROAD, dims=kg.dim("area", 4))
    with pytest.raises(kg.DimsError, match=r"gp.icar: adjacency .*dims must be names of axes"):
        kg.gp.icar(ROAD, dims=labels)
    with pytest.raises(ValueError, match="row 0 of the data frame is 'y', but column 0 is 'u'"):
        kg.gp.icar(frame.iloc[::-1], dims="area")
    with pytest.raises(TypeError, match=r"adjacency comes first.* kg.gp.icar\(adjacency, sd\)"):
        kg.gp.icar(1.0, frame)


def test_an_unknown_matrix():
    weights = kg.half_normal(1, shape=(3, 3), name="weights")
    with pytest.raises(TypeError, match=r"adjacency must be known, got .*weights"):
        kg.gp.icar(weights)


def test_the_name_is_that_of_the_effects():
    phi = kg.gp.icar(RING, name="phi", dims="area")
    kg.observe([1.0, 2.0, 0.5, -1.0, 3.0], kg.normal(phi, 0.5))
    model = kg.model(phi)
    assert model.target_names == ("phi",)
    results = kg.mcmc(model, draws=4, warmup=4, chains=2, seed=1, progress=False)
    assert results["posterior"]["phi"].dims == ("chain", "draw", "area")
    assert model["phi_u"].shape == (4,)
