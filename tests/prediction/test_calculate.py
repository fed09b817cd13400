"""kg.calculate: values of arrays."""

import numpy as np
import pytest
from scipy import stats

import kinetograph as kg

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")


@pytest.fixture
def arrays():
    a = kg.normal(0, 1, name="a")
    b = kg.normal(a, 0.5, shape=3, name="b")
    x = kg.data([1.0, 2.0, 3.0], name="x")
    return a, b, x, a + b * x


def test_values_of_all(arrays):
    a, b, x, line = arrays
    found = kg.calculate(line, values={"a": 1.0, "b": [1.0, 2.0, 3.0]}, twice=2 * a)
    assert {name: v.tolist() for name, v in found.items()} == {
        "line": [2.0, 5.0, 10.0],
        "twice": 2.0,
    }
    found = kg.calculate(line, values={a: 1.0, b: 2.0})  # by array; one number for all elements
    assert found["line"].tolist() == [3.0, 5.0, 7.0]
    found = kg.calculate(line, values={a: 1.0, b: 2.0, "x": [0.0, 0.0, 1.0]})  # data, too
    assert found["line"].tolist() == [1.0, 1.0, 3.0]
    assert kg.calculate(total=x.sum())["total"] == 6
    assert kg.calculate(x)["x"].tolist() == [1.0, 2.0, 3.0]
    # An ancestor of a target may be fixed; then nothing above it is needed.
    assert kg.calculate(twice=2 * b, values={"b": 1.0})["twice"].tolist() == [2.0, 2.0, 2.0]


def test_draws(arrays):
    a, b, _x, line = arrays
    found = kg.calculate(a, b, line, draws=5000, seed=1)
    assert found["b"].shape == (5000, 3)
    z = (found["b"] - found["a"][:, None]) / 0.5
    assert stats.kstest(z.ravel(), "norm").pvalue > 1e-6
    np.testing.assert_allclose(found["line"], found["a"][:, None] + found["b"] * [1, 2, 3])
    same = kg.calculate(a, draws=5000, seed=1)["a"]
    np.testing.assert_array_equal(same, found["a"])


def test_draws_given_some(arrays):
    a, b, _, _ = arrays
    found = kg.calculate(b, values={"a": 4.0}, draws=3000, seed=1)["b"]
    assert stats.kstest((found.ravel() - 4) / 0.5, "norm").pvalue > 1e-6
    found = kg.calculate(a, b, values={"b": [1.0, 2.0, 3.0]}, draws=10, seed=1)
    assert (found["b"] == [1.0, 2.0, 3.0]).all()
    assert (
        len(np.unique(found["a"])) == 10
    )  # simulated forward: the value of b gives no information about a


@pytest.fixture(scope="module")
def results():
    a = kg.normal(0, 1, name="a")
    b = kg.normal(a, 0.5, shape=3, name="b", dims="day")
    kg.observe([1.0, 2.0, 3.0], kg.normal(b, 1), name="y")
    model = kg.model(a, b, coords={"day": ["x", "y", "z"]})
    return a, b, kg.mcmc(model, seed=1, draws=500, progress=False)


def test_results(results):
    a, b, tree = results
    found = kg.calculate(values=tree, gap=b - a, largest=b.max())
    posterior = tree["posterior"]
    np.testing.assert_allclose(found["posterior"]["gap"], posterior["b"] - posterior["a"])
    assert found["posterior"]["gap"].dims == ("chain", "draw", "day")
    assert found["posterior"]["day"].values.tolist() == ["x", "y", "z"]
    assert "largest" in str(kg.summary(found))


def test_some_rows_of_results(results):
    a, _b, tree = results
    new = kg.normal(a, 0.5, name="new")
    found = kg.calculate(a, new, values=tree, draws=400, seed=2)
    assert found["a"].shape == (400,)
    assert len(np.unique(found["a"])) > 390  # no row twice; equal values come from rejected steps
    assert set(found["a"]) <= set(tree["posterior"]["a"].values.ravel())
    assert stats.kstest((found["new"] - found["a"]) / 0.5, "norm").pvalue > 1e-6
    every = kg.calculate(a, values=tree, draws=2000)["a"]
    np.testing.assert_array_equal(np.sort(every), np.sort(tree["posterior"]["a"].values.ravel()))
    with pytest.raises(ValueError, match="draws=3000, but the results have only 2000 draws"):
        kg.calculate(a, values=tree, draws=3000)


def test_what_is_asked_for_under_another_name(results):
    """Requested names apply to the result, recorded names to the draws."""
    a, b, tree = results
    posterior = tree["posterior"]
    found = kg.calculate(values=tree, a=b[0], b=a, c=a + b[0])["posterior"]
    np.testing.assert_array_equal(found["a"], posterior["b"][..., 0])
    np.testing.assert_array_equal(found["b"], posterior["a"])
    np.testing.assert_array_equal(found["c"], posterior["a"] + posterior["b"][..., 0])

    def spread(a):  # this variable has the name of another unknown in the results
        return kg.calculate(values=tree, spread=kg.std(a))["posterior"]["spread"]

    np.testing.assert_allclose(spread(b), posterior["b"].std("day"))
    rows = kg.calculate(draws=3000, seed=1, a=b[0], b=a)
    z = (rows["a"] - rows["b"]) / 0.5
    assert stats.kstest(z, "norm").pvalue > 1e-6


def test_unknowns_without_names_of_their_own():
    unknowns = [kg.normal(3.0 * i, 0.1) for i in range(3)]
    tree = kg.mcmc(kg.model(*unknowns), seed=1, draws=50, warmup=100, progress=False)
    found = kg.calculate(values=tree, last=1 * unknowns[2])["posterior"]["last"]
    np.testing.assert_array_equal(found, tree["posterior"]["unknowns_2"])
    assert kg.calculate(last=1 * unknowns[2], values={"unknowns_2": 7.0})["last"] == 7
    assert kg.calculate(new=kg.normal(0, 1), values={"new": 7.0})["new"] == 7
    gap = kg.calculate(gap=kg.normal(0, 1) - kg.normal(0, 1), draws=3000, seed=1)["gap"]
    assert stats.kstest(gap / np.sqrt(2), "norm").pvalue > 1e-6


def test_a_graph_that_is_written_again(results):
    """Names identify unknowns if the model was written again.

    This is the case for loaded results.
    """
    _, _, tree = results
    a = kg.normal(0, 1, name="a")
    again = kg.calculate(values=tree, twice=2 * a)["posterior"]["twice"]
    np.testing.assert_array_equal(again, 2 * tree["posterior"]["a"])


def test_names_that_do_not_tell_which_draws(results):
    a, b, tree = results
    new = kg.normal(a, 0.5, shape=3, name="b")
    with pytest.raises(kg.ModelError, match=r"b .*has the name of another unknown"):
        kg.calculate(values=tree, draws=5, new=new + a)
    c = kg.normal(0, 1, name="c")
    kg.model(b=c)
    with pytest.raises(
        kg.ModelError, match=r"c .*was called b by a model, and so was b .*by another"
    ):
        kg.calculate(values=tree, gap=c - b)
    kg.model(a=c)
    with pytest.raises(kg.ModelError, match=r"c .*was called a and b by models"):
        kg.calculate(values=tree, twice=2 * c)


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (
            lambda a, b: kg.calculate(a + 1),
            kg.ModelError,
            "no values are given for a .*; give them",
        ),
        (lambda a, b: kg.calculate(), TypeError, "no targets"),
        (lambda a, b: kg.calculate(3.0), TypeError, "a target is the number 3.0"),
        (
            lambda a, b: kg.calculate(b, values={"c": 1.0}),
            kg.ModelError,
            r"'c' is not an unknown .*a, b",
        ),
        (lambda a, b: kg.calculate(a, values={"b": 1.0}), kg.ModelError, "'b' is not an unknown"),
        (lambda a, b: kg.calculate(b, values={"b": [1.0]}), kg.ShapeError, r"\(3,\), got .*\(1,\)"),
        (lambda a, b: kg.calculate(b, values={"b": "x"}), TypeError, "b: expected numbers"),
        (lambda a, b: kg.calculate(a, draws=0), ValueError, "draws"),
        (lambda a, b: kg.calculate(one=a, two=a), kg.ModelError, "given two names"),
        (lambda a, b: kg.calculate(a, two=a), kg.ModelError, "given as a by position and as two="),
        (lambda a, b: kg.calculate(a, values=3), TypeError, "values must be a dictionary"),
        (lambda a, b: kg.calculate(a, values={"a": 1.0, a: 2.0}), kg.ModelError, "two values"),
        (lambda a, b: kg.calculate(a, values={"a": 1j}), TypeError, "float64, got complex128"),
        (lambda a, b: kg.calculate(one=kg.data([1.0]), draws=9), kg.ModelError, "no unknown"),
        (
            lambda a, b: kg.calculate(a * kg.placeholder(name="p"), values={a: 1.0}),
            kg.ModelError,
            r"a target follows from the placeholder p.*; write it with kg.data",
        ),
        (
            lambda a, b: kg.calculate(sum=a + kg.random.normal(0, 1), draws=2),
            kg.ModelError,
            r"a target follows from state .*kg.compile",
        ),
    ],
)
def test_mistakes(call, kind, text):
    a = kg.normal(0, 1, name="a")
    b = kg.normal(a, 0.5, shape=3, name="b")
    with pytest.raises(kind, match=text):
        call(a, b)


def test_values_outside_of_a_support_and_of_other_types():
    p, n = kg.beta(1, 1, name="p"), kg.poisson(3.0, name="n")
    with pytest.raises(ValueError, match="p must be between 0 and 1, got 2"):
        kg.calculate(p * 2, values={"p": 2.0})
    with pytest.raises(TypeError, match="n is int64, got float64"):
        kg.calculate(n * 2, values={"n": 2.5})
    assert kg.calculate(twice=n * 2, values={"n": 2.0})["twice"] == 4


def test_results_that_tell_nothing(results):
    a, _, tree = results
    lonely = kg.normal(0, 1, name="lonely")
    with pytest.raises(kg.ModelError, match="lonely is not among the draws"):
        kg.calculate(a + lonely, values=tree)
    with pytest.raises(kg.ModelError, match="lonely depends on none of the draws"):
        kg.calculate(lonely, values=tree, draws=5)


@pytest.mark.filterwarnings("error:calculate:")
def test_draws_of_another_unknown_of_the_same_name():
    def fitted():
        mu = kg.normal(0, 1, name="mu")
        kg.observe([1.0, 2.0], kg.normal(mu, 1))
        return mu

    model = kg.model(fitted)
    results = kg.mcmc(model, draws=4, warmup=4, chains=2, seed=1, progress=False)
    for other in (kg.normal(5, 1, name="mu"), kg.laplace(0, 1, name="mu")):
        with pytest.warns(kg.KinetographWarning, match="are of another unknown .*mu ~ normal"):
            kg.calculate(y=other + 1, values=results)
    again = kg.normal(0, 1, name="mu")
    for mu in (again, model["mu"]):
        values = kg.calculate(y=mu + 1, values=results)["posterior"]["y"].values
        np.testing.assert_allclose(values, results["posterior"]["mu"].values + 1)
