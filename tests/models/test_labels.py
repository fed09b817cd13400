"""Names that clash in results are errors; unusual names are not."""

import re

import numpy as np
import pytest
import xarray as xr

import kinetograph as kg
from kinetograph.models.dims import dims_of

TWO = np.zeros(2)


def unknown(name=None, dims=None, size=2):
    return kg.normal(0, 1, shape=size, name=name, dims=dims)


def observed(name, dims, size=2):
    mu = kg.normal(0, 1, name="mu")
    kg.observe(kg.data(np.zeros(size), name=name, dims=dims), kg.normal(mu, 1))
    return mu


CLASHES = {
    "'theta' is an array and axis 0 of theta": lambda: [unknown("theta", "theta")],
    "'a' is an array and axis 0 of b": lambda: [unknown("a"), unknown("b", "a")],
    "axis 0 of a is called 'chain', but all draws have a dimension of that name": lambda: [
        unknown("a", "chain")
    ],
    "axis 0 of a is called 'draw'": lambda: [unknown("a", "draw")],
    "'chain' is an array and a dimension that all draws have": lambda: [unknown("chain")],
    "'draw' is an array and a dimension": lambda: [unknown("draw")],
    "is named 'a/b', which contains a slash": lambda: [unknown("a/b")],
    "is named 'c/d', which contains a slash": lambda: [observed("c/d", None)],
    "axis 0 of a is named 'b/c', which contains a slash": lambda: [unknown("a", "b/c")],
    "is named '.', which is empty, a dot": lambda: [unknown(".")],
    "is named 'a ', which is empty, a dot, or begins or ends with a space": lambda: [unknown("a ")],
    "is named 'a\\x00', which contains a character": lambda: [unknown("a\0")],
    "'x_dim_0' is an array and axis 0 of x": lambda: [unknown("x"), unknown("x_dim_0")],
    "axis 0 of x (named by default) and axis 0 of y (named by dims=) are both called 'x_dim_0'": (
        lambda: [unknown("x"), unknown("y", "x_dim_0", 3)]
    ),
    "'y' is an array and axis 0 of y": lambda: [observed("y", "y")],
    "a (written at test_labels.py": lambda: [unknown("a", size=0), unknown("b")],
}


@pytest.mark.parametrize("text", CLASHES)
def test_names_that_clash_are_refused_by_the_model(text):
    targets = CLASHES[text]()
    with pytest.raises((kg.ModelError, kg.DimsError), match=re.escape(text)):
        kg.model(*targets)


@pytest.mark.parametrize(
    ("labels", "text"),
    [
        ("ab", "the labels of 'school' are not one-dimensional, got 'ab'"),
        ([["a"], ["b"]], "the labels of 'school' are not one-dimensional"),
        ([[1], [2, 3]], "the labels of 'school' are not one-dimensional"),
        ([1, "a", None][:2] and np.array([1, "a"], object), "or all dates, got 1 (int)"),
        (np.array(["a", None], object), "or all dates, got None (NoneType)"),
        ([1j, 2j], "or all dates, got "),
    ],
)
def test_labels_of_the_wrong_kind(labels, text):
    with pytest.raises(kg.DimsError, match=re.escape(text)):
        kg.model(unknown("theta", "school"), coords={"school": labels})


@pytest.mark.slow
def test_unusual_names_survive_sampling_and_saving(tmp_path):
    plain = kg.normal(0, 1, name="Mu")
    names = ["mu", "θ", "two words", "1st.a", "posterior"]
    unknowns = [unknown(name, f"dim of {name}", 2) for name in names]
    rows = unknown("rows", "school", 2)
    both = kg.normal(0, 1, shape=(3, 2), dims=("row", "school"), name="both")
    table = both[kg.data([2, 0], name="index", dims="school")]  # both axes are schools
    kg.observe(kg.data(TWO, name="chain", dims="draw"), kg.normal(plain, 1))
    coords = {"school": ["Ö 1", "b/c"], "dim of mu": np.array([True, False])}
    coords["dim of θ"] = np.array(["2020-01-01", "2021-01-01"], "M8[ns]")
    model = kg.model(plain, *unknowns, rows, table=table, coords=coords)
    settings = {"draws": 5, "warmup": 5, "chains": 2, "seed": 1, "progress": False}
    settings["sampler"] = kg.samplers.SGLD(0.01)
    with pytest.warns(kg.SamplingWarning):
        tree = kg.mcmc(model, **settings)
    posterior = tree["posterior"].dataset
    assert list(posterior.data_vars) == ["Mu", *names, "rows", "table"]
    assert posterior["table"].dims == ("chain", "draw", "school", "table_dim_1")
    path = tmp_path / "results.nc"
    tree.to_netcdf(path, engine="h5netcdf")
    with xr.open_datatree(path, engine="h5netcdf") as opened:
        for group in ("posterior", "observed_data", "sample_stats"):
            xr.testing.assert_equal(opened[group].dataset.load(), tree[group].dataset)
        table = kg.summary(opened)
    assert table.names[:3] == ("Mu", "mu[True]", "mu[False]")
    assert "rows[Ö 1]" in table.names
    assert len(table) == 1 + 2 * len(names) + 2 + 4


def test_a_misspelt_dimension_among_parameters_is_refused():
    mu = kg.normal(0, 1, dims="school", shape=3, name="mu")
    effort = kg.data([1.0, 2.0, 3.0], dims="scool", name="effort")
    kg.observe(kg.data([1.0, 2.0, 3.0], dims="school", name="y"), kg.normal(mu + effort, 1.0))
    with pytest.raises(kg.DimsError, match=r"mu \+ effort.*axis 0 is 'school' in one .*'scool' in"):
        kg.model(mu)


def test_names_of_axes_stay_with_the_last_axes():
    x = kg.normal(0, 1, shape=(2, 3), dims=("row", "column"))
    y = x + kg.placeholder((4, 2, 3))
    assert dims_of([y.node])[y.node] == (None, "row", "column")


def test_labels_that_occur_twice():
    """As in `kg.dim`; an index of data may have a label twice."""
    a = unknown("a", "d", 3)
    said = r"^model: coords\['d'\]: the label a occurs 2 times; labels must differ \(test_labels"
    with pytest.raises(kg.DimsError, match=said):
        kg.model(a, coords={"d": ["b", "a", "a"]})
    with pytest.raises(kg.DimsError, match="label 2 occurs 3 times"):
        kg.model(a, coords={"d": [2, 2, 2]})
    assert list(kg.model(a, coords={"d": ["b", "a", "c"]}).coords["d"]) == ["b", "a", "c"]
