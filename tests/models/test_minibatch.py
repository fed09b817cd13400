"""Mini-batches: mean and covariance over all possible batches are exact."""

import copy
import itertools
import pickle
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kinetograph as kg
from kinetograph.graph.precision import x64

ROWS = 6
RANDOM = np.random.default_rng(3)
X, Y = RANDOM.normal(size=(ROWS, 2)), RANDOM.normal(size=ROWS)
COUNTS, GROUP = RANDOM.poisson(3.0, size=ROWS), np.array([0, 1, 1, 0, 1, 0])


@cache
def regression() -> kg.Model:
    """A regression with groups, literal arrays, further factors and further data."""
    named = {"x": X, "y": Y, "c": COUNTS, "g": GROUP}
    x, y, counts, group = (kg.data(value, name) for name, value in named.items())
    w = kg.normal(0.0, 1.0, shape=2, name="w")
    level = kg.normal(kg.data([0.5, 1.5], "centre"), 2.0, name="level")
    sd = kg.half_normal(1.0, name="sd")
    kg.observe(y, kg.normal(x @ w + 0.3 * Y, sd))
    kg.observe(counts, kg.poisson(kg.exp(level[group])))
    kg.factor(-0.1 * (y - w[0]) ** 2)
    kg.factor(-0.1 * kg.sum(w) ** 2)
    return kg.model(w, level, sd)


def over_batches(size: int, replace: bool = False):
    """Values, gradients and covariances for all batches and for all rows.

    The covariances are full matrices without replacement, and diagonals with replacement.
    """
    model = kg.minibatch(regression(), size, replace=replace)
    free = np.array([0.3, -0.2, 0.4, 1.1, -0.5])
    many = itertools.product if replace else itertools.combinations
    options = {"repeat": size} if replace else {"r": size}
    batches = np.array(list(many(range(ROWS), **options)))
    with x64():

        def one(rows):
            density = model.bind()._replace(rows=rows)
            value, gradient, _ = density.value_and_gradient(free)
            again, spread, _ = density.evaluate_with_covariance(free, (), full=not replace)
            return value, gradient, again.log_density, again.gradient, spread

        found = [np.asarray(v) for v in jax.jit(lambda rows: jax.lax.map(one, rows))(batches)]
    return found, (regression().log_prob(free), regression().gradient(free))


@pytest.mark.parametrize("replace", [True, False])
def test_over_all_batches(replace):
    """Mean and covariance of the gradient over all possible batches, by NumPy."""
    (value, gradient, again, twice, spread), exact = over_batches(3, replace)
    np.testing.assert_allclose(value.mean(), exact[0], rtol=1e-10)
    np.testing.assert_allclose(gradient.mean(0), exact[1], rtol=1e-10)
    np.testing.assert_allclose(again, value, rtol=1e-10)
    np.testing.assert_allclose(twice, gradient, rtol=1e-10)
    covariance = np.cov(gradient.T, ddof=0)
    expected = np.diag(covariance) if replace else covariance
    np.testing.assert_allclose(spread.mean(0), expected, rtol=1e-8, atol=1e-10)


def test_a_batch_with_fewer_rows():
    """Values, gradients and covariances of r of 6 rows are those of a batch of that size."""
    ragged = kg.minibatch(regression(), 4, order="epochs", last="keep")
    free = np.array([0.3, -0.2, 0.4, 1.1, -0.5])
    with x64():
        for rows in ([4, 1], [5, 0, 2], [3, 1, 4, 0], [2]):
            filled = np.array([*rows, *[ROWS] * (4 - len(rows))])
            plain = kg.minibatch(regression(), len(rows)).bind()._replace(rows=np.array(rows))
            density = ragged.bind()._replace(rows=filled)
            for got, wanted in zip(
                density.value_and_gradient(free)[:2],
                plain.value_and_gradient(free)[:2],
                strict=True,
            ):
                np.testing.assert_allclose(got, wanted, rtol=1e-12)
            for full in (False, True) if len(rows) > 1 else ():
                got, spread, _ = density.evaluate_with_covariance(free, (), full=full)
                wanted, exact, _ = plain.evaluate_with_covariance(free, (), full=full)
                np.testing.assert_allclose(got.log_density, wanted.log_density, rtol=1e-12)
                np.testing.assert_allclose(got.gradient, wanted.gradient, rtol=1e-12)
                np.testing.assert_allclose(spread, exact, rtol=1e-10, atol=1e-12)


def test_everything_else_sees_all_rows():
    model = regression()
    noisy = kg.minibatch(model, 2)
    free = np.linspace(-1, 1, 5)
    np.testing.assert_array_equal(noisy.log_prob(free), model.log_prob(free))
    assert noisy.names == model.names
    assert noisy.data == model.data
    assert {model.name(n) for n in noisy.batch.rows if not n.literal} == {"x", "y", "c", "g"}
    assert len(noisy.batch.terms) == 3
    assert "in batches of 2 of 6 rows" in repr(noisy)
    assert "in batches" not in repr(model)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_keep_the_batch(copied):
    batch = copied(kg.minibatch(regression(), 4, replace=True, allow_noisy=True)).batch
    assert (*batch.order, batch.allow_noisy) == (6, 4, "random", True, None, True)


def line(mean, y=Y):
    w = kg.normal(0.0, 1.0, name="w")
    kg.observe(kg.data(y, "y"), kg.normal(mean(w), 1.0))
    return kg.model(w)


@pytest.mark.parametrize(
    ("model", "rows", "expected"),
    [
        # The contribution of a row depends on other rows.
        (lambda: line(lambda w: w * (kg.data(X[:, 0]) - kg.mean(kg.data(Y)))), None, "mixes rows"),
        (lambda: line(lambda w: w * kg.cumsum(kg.data(Y))), None, "mixes rows: row"),
        # A constant shape.
        (
            lambda: line(lambda w: w * kg.sum(kg.data(X).reshape(2, 6), axis=0)),
            None,
            r"reshape.*cannot be computed with 2 of 6 rows",
        ),
        # An array with rows that is not listed.
        (lambda: line(lambda w: w * kg.data(X[:, 0], "x")), ["y"], "cannot be computed"),
        # A term that is summed over the rows.
        (lambda: kg.jax_model(lambda q: -0.5 * q**2, 0.0), None, "no term of the log density"),
    ],
)
def test_what_cannot_be_taken_by_rows(model, rows, expected):
    with pytest.raises(kg.ModelError, match=expected):
        kg.minibatch(model(), 2, rows=rows)


@pytest.mark.parametrize("shape", [(), (2,)])
def test_a_sum_is_no_row(shape):
    """Nor is a vector of sums that has as many elements as the batch has rows."""
    w, y = kg.normal(0.0, 1.0, shape=shape, name="w"), kg.data(Y, "y")
    kg.factor(-kg.sum(y) * w)
    with pytest.raises(kg.ModelError, match="must have an element for each row"):
        kg.minibatch(kg.model(w), 2, rows=[y])


def rows_in_a_loop(vectors, *further):
    w, x = kg.normal(0.0, 1.0, shape=2, name="w"), kg.data(X, "x")
    y = kg.data(X if vectors else Y, "y")
    for i in range(ROWS):
        mean = x[i] * w if vectors else x[i] @ w
        follows = kg.multivariate_normal(mean, cov=np.eye(2)) if vectors else kg.normal(mean, 1.0)
        kg.observe(y[i], follows)
    for name in further:
        kg.observe(kg.data(Y, name), kg.normal(w[0], 1.0))
    return kg.model(w)


@pytest.mark.parametrize("rows", [None, ["x", "y"]])
@pytest.mark.parametrize("vectors", [False, True])
def test_rows_that_are_observed_one_by_one(rows, vectors):
    said = r"6 rows \(y\[0\], y\[1\], y\[2\], ...\) are observed one by one .*minibatch.py:\d+\),"
    with pytest.raises(kg.ModelError, match=said + ".*in one statement, without the loop"):
        kg.minibatch(rows_in_a_loop(vectors), 2, rows=rows)
    # Control: further data with rows.
    assert kg.minibatch(rows_in_a_loop(vectors, "z"), 2, rows=["z"]).batch.count == ROWS


def test_unknowns_take_part_in_every_step():
    y = kg.data(Y, "y")
    z = kg.normal(0.0, 1.0, shape=ROWS, name="z")
    kg.observe(y, kg.normal(z, 1.0))
    with pytest.raises(kg.ModelError, match="cannot be computed with 2 of 6 rows"):
        kg.minibatch(kg.model(z), 2)
    u = kg.normal(y, 1.0, name="u")
    with pytest.raises(kg.ModelError, match=r"the prior of u.* enters every step in full"):
        kg.minibatch(kg.model(u), 2, rows=["y"])


def test_loops_are_refused():
    y, w = kg.data(Y, "y"), kg.normal(0.0, 1.0, name="w")
    _, total = kg.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x + w), (0, 0.0 * w))
    kg.observe(y, kg.normal(total, 1.0))
    with pytest.raises(kg.ModelError, match="has a while loop"):
        kg.minibatch(kg.model(w), 2)


def test_which_rows_there_are():
    w = kg.normal(0.0, 1.0, name="w")
    y, other, one = kg.data(Y, "y"), kg.data(Y[:3], "other"), kg.data(1.0, "one")
    kg.observe(y, kg.normal(w * one, 1.0))
    kg.observe(other, kg.normal(w, 1.0))
    model = kg.model(w)
    with pytest.raises(
        kg.ModelError,
        match=r"there are data of 3, 6 rows \(.*\); list the data that have rows, as rows=",
    ):
        kg.minibatch(model, 2)
    assert kg.minibatch(model, 2, rows=other).batch.count == 3
    assert kg.minibatch(model, 2, rows="y").batch.count == 6
    for rows, expected in (
        (["z"], "'z' is not a data array of the model; it has: .*y"),
        ([w], "w is not a data array"),
        (
            [Y],
            r"rows: a NumPy array of shape \(6,\) is not a data array .*; make it data with",
        ),
        ([one], "one is one number"),
        ([y, other], r"need the same number of rows, got y \(6,\), other \(3,\)"),
        ([], "got nothing"),
    ):
        with pytest.raises(kg.ModelError, match=expected):
            kg.minibatch(model, 2, rows=rows)


@pytest.mark.parametrize("size", [0, 7, 2.0, True, None])
def test_size(size):
    with pytest.raises(ValueError, match="size must be a whole number from 1 to 6"):
        kg.minibatch(regression(), size)
    with pytest.raises(TypeError, match="the first argument is the function log_prob, not a model"):
        kg.minibatch(regression().log_prob, 2)


def test_jax_functions_by_rows():
    def log_prior(p):
        return -0.5 * jnp.sum(p["w"] ** 2)

    def log_likelihood(p, x, y):
        return -((y - x @ p["w"] - p["b"]) ** 2)

    like = {"w": np.zeros(2), "b": 0.0}
    model = kg.jax_model(log_prior, like, log_likelihood=log_likelihood, rows=(X, Y))
    assert kg.minibatch(model, 2).batch.count == ROWS
    at = {"w": np.array([0.5, -1.0]), "b": 0.25}
    expected = -0.5 * 1.25 - np.sum((Y - X @ at["w"] - 0.25) ** 2)
    np.testing.assert_allclose(model.log_prob(at), expected, rtol=1e-12)


def test_pieces_beside_the_rows():
    """Values computed once from data follow new values of the data."""
    rows = kg.data(np.arange(12.0), "rows")
    own = [kg.data(np.arange(5.0) + k, f"y{k}") for k in range(10)]

    def make(own):
        mu = kg.normal(0, 1, name="mu")
        for k, y in enumerate(own):
            kg.observe(y, kg.normal(kg.normal(mu + 0.1 * k, 1.0), 1.0))
        kg.observe(rows, kg.normal(mu, 1.0))
        return kg.minibatch(kg.model(mu), 12, rows=[rows])

    def estimate(model):
        with x64():
            density = model.bind()._replace(rows=np.arange(12))
            return float(density.log_density(np.zeros(model.free_size)))

    model = make(own)
    assert estimate(model) == pytest.approx(float(model.log_prob(np.zeros(model.free_size))))
    before = estimate(model)
    model.set_data(y0=np.full(5, 3.0))
    assert estimate(model) == pytest.approx(float(model.log_prob(np.zeros(model.free_size))))
    assert estimate(model) == pytest.approx(before - 0.5 * (45.0 - 30.0))
