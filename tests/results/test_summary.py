"""`kg.summary`: its numbers, its text, and what it refuses."""

import warnings
import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from tests.runs.models import run, schools

import kinetograph as kg
from kinetograph.results import diagnostics

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")


def by_hand() -> xr.DataTree:
    """Results that were not made by a run, with numbers that stay the same for ever."""
    rng = np.random.RandomState(1)  # the legacy generator: its numbers are frozen
    draws = {
        "mu": (("chain", "draw"), 4 + 3 * rng.standard_normal((4, 250))),
        "theta": (("chain", "draw", "school"), rng.standard_normal((4, 250, 2)) * [0.01, 200.0]),
        "fixed": (("chain", "draw"), np.ones((4, 250))),
    }
    coords = {"chain": range(4), "draw": range(250), "school": ["Choate", "Exeter"]}
    return xr.DataTree.from_dict({"/posterior": xr.Dataset(draws, coords)})


GOLDEN = """\
                 mean      sd       q5  median     q95  mcse_mean  ess_bulk  ess_tail  r_hat
mu               4.12    2.94    -0.85    4.12    8.88      0.090      1077       881  1.000
theta[Choate]  0.0000  0.0102  -0.0168  0.0001  0.0164    0.00033       952       738  1.001
theta[Exeter]     0.6   197.1   -304.2     0.1   328.4       6.07      1055       987  0.999
fixed            1.00    0.00     1.00    1.00    1.00      0.000      1000      1000    nan
"""


def test_text():
    assert str(kg.summary(by_hand())) == GOLDEN.rstrip("\n")
    assert repr(kg.summary(by_hand())) == GOLDEN.rstrip("\n")


def test_html():
    """Notebooks show the same texts in a table."""
    rows = ET.fromstring(kg.summary(by_hand())._repr_html_()).findall("tr")
    cells = [[cell.text or "" for cell in row] for row in rows]
    assert cells[0] == ["", *GOLDEN.splitlines()[0].split()]
    assert cells[1:] == [line.split() for line in GOLDEN.splitlines()[1:]]


def test_a_target_without_elements_has_no_rows():
    tree = by_hand()
    none = (("chain", "draw", "nobody"), np.empty((4, 250, 0)))
    tree["posterior"] = tree["posterior"].dataset.assign(none=none)
    assert str(kg.summary(tree)) == GOLDEN.rstrip("\n")
    assert len(kg.summary(tree, "none")) == 0


def test_numbers():
    tree = by_hand()
    table = kg.summary(tree)
    assert table.names == ("mu", "theta[Choate]", "theta[Exeter]", "fixed")
    assert len(table) == 4
    x = tree["posterior"]["theta"].values[..., 1]
    expected = {
        "mean": x.mean(),
        "sd": x.std(ddof=1),
        "q5": np.quantile(x, 0.05),
        "median": np.median(x),
        "q95": np.quantile(x, 0.95),
        "mcse_mean": diagnostics.mcse_mean(x),
        "ess_bulk": diagnostics.ess_bulk(x),
        "ess_tail": diagnostics.ess_tail(x),
        "r_hat": diagnostics.rhat(x),
    }
    assert list(table.columns) == list(expected)
    for column, value in expected.items():
        assert table[column, "theta[Exeter]"] == pytest.approx(float(value), rel=1e-12)
        assert table[column].shape == (4,)


def test_the_r_hat_of_ensembles_compares_ensembles_and_not_walkers():
    """The walkers of an ensemble stay at different places, which is no lack of convergence."""
    rng = np.random.default_rng(0)
    draws = np.tile(rng.normal(size=(40, 1)), (4, 1)) + 0.01 * rng.normal(size=(160, 100))
    shifted = draws + np.repeat([0.0, 0.0, 0.0, 3.0], 40)[:, None]
    tree = xr.DataTree.from_dict(
        {
            "/": xr.Dataset(attrs={"walkers": 40}),
            "/posterior": xr.Dataset(
                {"x": (("chain", "draw"), draws), "y": (("chain", "draw"), shifted)}
            ),
        }
    )
    alike, apart = kg.summary(tree)["r_hat"]
    assert alike < 1.01
    assert apart > 1.2


def test_another_interval():
    table = kg.summary(by_hand(), "mu", probability=0.5)
    x = by_hand()["posterior"]["mu"].values
    assert table["q25", "mu"] == np.quantile(x, 0.25)
    assert table["q75", "mu"] == np.quantile(x, 0.75)


def test_chosen_names_in_the_order_asked_for():
    assert kg.summary(by_hand(), "fixed", "mu").names == ("fixed", "mu")


def test_names_in_lists_and_rows_by_their_names():
    whole = kg.summary(by_hand())
    table = kg.summary(by_hand(), ["theta[Exeter]", "mu"], "fixed")
    assert list(table) == ["theta[Exeter]", "mu", "fixed"]
    for column in ("mean", "q5", "ess_bulk"):
        expected = pytest.approx(whole[column, "theta[Exeter]"], rel=1e-9)
        assert table[column, "theta[Exeter]"] == expected
    with pytest.raises(KeyError, match=r"'theta\[Eton\]' is not in the results"):
        kg.summary(by_hand(), "theta[Eton]")


@pytest.mark.parametrize("key", ["mu", ("mean", "nu"), ("mu", "mean"), ("mean", "mu", 0), 0])
def test_what_the_table_has_not(key):
    with pytest.raises(KeyError, match=r"columns mean, sd, q5.* and the rows mu, theta\[Choate\]"):
        kg.summary(by_hand())[key]


def test_a_column_is_an_array_that_is_also_read_by_names_of_rows():
    table = kg.summary(by_hand())
    mean = table["mean"]
    row = table.names.index("theta[Exeter]")
    assert mean["theta[Exeter]"] == mean[row] == table.columns["mean"][row] != mean["mu"]
    with pytest.raises(KeyError, match=r"no \('mean', 'theta'\) .*test_summary\.py"):
        mean["theta"]
    for same in (mean + 0, mean[:], mean.copy()):
        np.testing.assert_array_equal(np.asarray(same), table.columns["mean"])
        assert repr(same) == repr(table.columns["mean"])
    assert type(mean + 0) is type(mean[:2]) is type(mean.values) is np.ndarray
    assert mean.values.tolist() == mean.to_numpy().tolist() == mean.tolist()
    with pytest.raises(
        AttributeError, match=r"'idxmax' \(test.*; write table.to_dataframe\(\)\[column\]"
    ):
        mean.idxmax()
    assert not hasattr(mean, "_repr_html_")
    assert type(mean.max()) is np.float64


def test_data_frame():
    pandas = pytest.importorskip("pandas")
    frame = kg.summary(by_hand()).to_dataframe()
    assert isinstance(frame, pandas.DataFrame)
    for convert in (pandas.DataFrame, np.asarray, np.array):
        with pytest.raises(
            TypeError, match=r"not an array \(test_.*; write table.to_dataframe\(\)"
        ):
            convert(kg.summary(by_hand()))
    assert frame.loc["mu", "mean"] == kg.summary(by_hand())["mean", "mu"]


def test_matrices_are_named_by_both_labels():
    dims = ("chain", "draw", "row", "omega_dim_1")
    draws = xr.Dataset({"omega": (dims, np.random.default_rng(1).normal(size=(2, 9, 2, 3)))})
    names = kg.summary(xr.DataTree.from_dict({"/posterior": draws})).names
    assert names == tuple(f"omega[{i}, {j}]" for i in range(2) for j in range(3))


def test_correlation_matrices_are_shown_without_what_is_known():
    dims, rng = ("chain", "draw", "row", "column"), np.random.default_rng(2)
    draws = rng.normal(size=(2, 9, 3, 3))
    draws = draws @ np.swapaxes(draws, 2, 3)
    sd = np.sqrt(np.diagonal(draws, axis1=2, axis2=3))
    matrices = {"cov": draws, "cor": draws / sd[..., None] / sd[..., None, :]}
    matrices["near"] = matrices["cor"] + 0.01 * np.tri(3, k=-1)
    data = xr.Dataset({name: (dims, x) for name, x in matrices.items()}, {"column": list("abc")})
    tree = xr.DataTree.from_dict({"/posterior": data})
    whole = [f"[{i}, {j}]" for i in range(3) for j in "abc"]
    below = ["cor[1, a]", "cor[2, a]", "cor[2, b]"]
    table = kg.summary(tree)
    assert [*table.names] == [f"cov{x}" for x in whole] + below + [f"near{x}" for x in whole]
    np.testing.assert_allclose(table["mean", "cor[2, b]"], matrices["cor"][..., 2, 1].mean())
    assert [*kg.summary(tree, "cor", "cor[0, a]").names] == [*below, "cor[0, a]"]


@pytest.mark.parametrize(
    ("unit", "labels"),
    [("D", "2020-01-01 2020-01-03"), ("h", "2020-01-01T00:00 2020-01-01T02:00")],
)
def test_rows_of_dates_have_the_digits_that_differ(unit, labels):
    days = np.datetime64("2020-01-01", "ns") + np.array([0, 2]).astype(f"m8[{unit}]")
    draws = xr.DataArray(np.zeros((2, 9, 2)), {"day": days}, ("chain", "draw", "day"), "b")
    tree = xr.DataTree.from_dict({"/posterior": draws.to_dataset()})
    assert [*kg.summary(tree).names] == [f"b[{label}]" for label in labels.split()]


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("dtype", [bool, int, float])
def test_matrices_that_are_not_correlations_are_shown_in_full(size, dtype):
    """Ones on the diagonal and symmetry are not enough."""
    draws = np.broadcast_to(np.eye(size, dtype=dtype), (2, 9, size, size)).copy()
    if dtype is float:
        draws[:, ::2, 0, 1] = draws[:, ::2, 1, 0] = -1.01
    data = xr.Dataset({"m": (("chain", "draw", "row", "column"), draws)})
    tree = xr.DataTree.from_dict({"/posterior": data})
    table = kg.summary(tree)
    assert [*table.names] == [f"m[{i}, {j}]" for i in range(size) for j in range(size)]
    assert table["mean", "m[1, 1]"] == 1.0


def test_labels_are_shown():
    assert "theta[Deerfield]" in kg.summary(run(schools())).names


@pytest.mark.parametrize("draws", [1, 2, 3, 4, 5])
def test_very_few_draws(draws):
    table = kg.summary(run(schools(), draws=draws))
    assert np.isfinite(table["mean"]).all()
    assert "nan" in str(table) or draws >= 4


def test_no_draws():
    with pytest.raises(ValueError, match="no draws"):
        kg.summary(run(schools(), draws=0))


def with_predictions() -> xr.DataTree:
    """Results with a group of predictions and a group without draws."""
    tree = by_hand()
    draws = tree["posterior"].to_dataset()
    tree["predictions"] = xr.DataTree(draws[["theta"]].rename(theta="new"))
    tree["sample_stats"] = xr.DataTree(draws[["mu"]].isel(draw=0, drop=True))
    return tree


@pytest.mark.parametrize("of", [lambda group: group, lambda group: group.to_dataset()])
def test_groups_with_draws_have_a_summary(of):
    tree = with_predictions()
    expected = GOLDEN.rstrip("\n").splitlines()
    assert str(kg.summary(of(tree["posterior"]))).splitlines() == expected
    table = kg.summary(of(tree["predictions"]))
    assert list(table) == ["new[Choate]", "new[Exeter]"]
    assert table["mean", "new[Exeter]"] == kg.summary(tree)["mean", "theta[Exeter]"]
    assert list(kg.summary(of(tree["predictions"]), "new[Exeter]")) == ["new[Exeter]"]


def test_a_variable_has_a_summary():
    tree = with_predictions()
    table = kg.summary(np.tanh(tree["posterior"]["theta"]), probability=0.5)
    assert list(table) == ["theta[Choate]", "theta[Exeter]"]
    expected = np.tanh(tree["posterior"]["theta"].sel(school="Exeter")).mean()
    assert table["mean", "theta[Exeter]"] == pytest.approx(float(expected), rel=1e-12)
    assert list(kg.summary(tree["posterior"]["theta"].rename(None), "variable")) == [
        "variable[Choate]",
        "variable[Exeter]",
    ]
    with pytest.raises(TypeError, match=r"expected results .*got a DataArray"):
        kg.summary(tree["posterior"]["theta"].mean("draw"))


@pytest.mark.parametrize("name", ["new", "new[Exeter]"])
def test_a_name_of_another_group_has_its_call(name):
    with pytest.raises(KeyError) as caught:
        kg.summary(with_predictions(), name)
    call = f"kg.summary(results['predictions'], {name!r})"
    assert caught.value.args[0].endswith(f"; write {call}")
    assert len(eval(call, {"kg": kg, "results": with_predictions()}))


def test_walkers_of_a_group_are_one_chain():
    tree = with_predictions()
    tree.attrs["walkers"] = 2
    expected = kg.summary(tree)["r_hat", "theta[Exeter]"]
    assert kg.summary(tree["predictions"])["r_hat", "new[Exeter]"] == expected
    assert expected != kg.summary(by_hand())["r_hat", "theta[Exeter]"]


@pytest.mark.parametrize("name", ["head", "sort_values", "describe", "tail", "T", "to_csv"])
def test_attributes_of_pandas_are_of_the_data_frame(name):
    table = kg.summary(by_hand())
    with pytest.raises(AttributeError, match=rf"here it is table.to_dataframe\(\).{name}"):
        getattr(table, name)
    assert hasattr(table.to_dataframe(), name)


def test_an_unknown_beside_the_targets_is_shown_by_its_name():
    tree = by_hand()
    draws = np.random.default_rng(4).normal(3.0, 2.0, tree["posterior"]["mu"].shape)
    tree["unknowns"] = xr.DataTree(
        tree["posterior"].to_dataset()[["mu"]].assign(beside=(("chain", "draw"), draws))
    )
    table = kg.summary(tree, "beside")
    assert list(table) == ["beside"]
    assert table["mean", "beside"] == pytest.approx(draws.mean(), rel=1e-12)
    assert list(kg.summary(tree)) == list(kg.summary(by_hand()))
    assert kg.summary(tree, "mu")["mean", "mu"] == kg.summary(by_hand(), "mu")["mean", "mu"]
    with pytest.raises(KeyError, match="mu, theta, fixed, beside; did you mean 'beside'"):
        kg.summary(tree, "besides")


def test_refusals():
    with pytest.raises(
        KeyError, match=r"'nu' is not in the results \(.*; they hold mu, theta, fixed"
    ):
        kg.summary(by_hand(), "nu")
    with pytest.raises(TypeError, match=r"summary: expected results \(a DataTree"):
        kg.summary([1.0])
    with pytest.raises(TypeError, match=r"the group sample_stats has no draws, .*; give the compl"):
        kg.summary(with_predictions()["sample_stats"])
    with pytest.raises(TypeError, match=r"group.*write kg.summary\(results\['predictions'\]\)"):
        kg.summary(with_predictions(), group="predictions")
    mu, theta = kg.normal(0, 1), kg.normal(0, 1, shape=2)
    for given, text in ((mu, "'mu'"), ([mu, theta], "'mu', 'theta'")):
        with pytest.raises(TypeError, match=f"; write {text}$"):
            kg.summary(by_hand(), given)
    with pytest.raises(TypeError, match=r"got the array mu \+ 1 \(.*py:\d+\)$"):
        kg.summary(by_hand(), mu + 1)
    for probability in (0, 1, -0.1, 90, np.nan):
        with pytest.raises(ValueError, match="probability must be between 0 and 1"):
            kg.summary(by_hand(), probability=probability)


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("mu", "table['mean', 'mu']"),
        (("mu", "mean"), "table['mean', 'mu']"),
        (("men", "mu"), "table['mean', 'mu']"),
        ("men", "table['mean']"),
        (("mean", "thet[Choate]"), r"table['mean', 'theta[Choate]']"),
    ],
)
def test_what_may_be_meant(key, text):
    with pytest.raises(KeyError) as caught:
        kg.summary(by_hand())[key]
    assert caught.value.args[0].endswith(f"; did you mean {text}?")
    with pytest.raises(KeyError, match="did you mean 'theta'"):
        kg.summary(by_hand(), "thetta")


def test_an_element_that_an_array_lacks():
    with pytest.raises(KeyError, match=r"the elements of theta are theta\[\w+\] to theta\[\w+\]"):
        kg.summary(by_hand(), "theta[-1]")


def test_a_chain_that_grows_without_bound_leaks_no_warning_of_numpy():
    x = kg.normal(0.0, 1.0, name="x")
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        with pytest.warns(kg.SamplingWarning, match="Take a smaller step_size"):
            tree = kg.mcmc(
                kg.model(x), kg.samplers.SGLD(2.5), draws=2000, warmup=0, seed=1, progress=False
            )
        largest = np.abs(tree["posterior"]["x"].values)
        assert largest[np.isfinite(largest)].max() > 1e200
        assert not np.isfinite(kg.summary(tree)["mean", "x"])
        kg.report(tree)


def test_a_chain_that_jumps_far_has_a_report():
    q = kg.variable(name="q", shape=3)
    model = kg.model(q, factors=[-0.25 * kg.sum(q**4)])
    sampler = kg.samplers.SGLD(3.0)
    with pytest.warns(kg.SamplingWarning, match="Take a smaller step_size"):
        tree = kg.mcmc(model, sampler, draws=200, warmup=0, seed=1, progress=False)
    assert "SGLD" in str(kg.report(tree))


def test_equal_draws_have_no_deviation_by_rounding():
    draws = np.full((4, 1000, 2), 3.1)
    assert draws[..., 0].std(ddof=1) > 0  # the rounding
    draws[..., 1] += np.random.default_rng(1).normal(0, 0.1, (4, 1000))
    tree = xr.DataTree.from_dict({"/posterior": xr.Dataset({"x": (("chain", "draw", "i"), draws)})})
    table = kg.summary(tree)
    assert (table["mean", "x[0]"], table["sd", "x[0]"], table["mcse_mean", "x[0]"]) == (3.1, 0, 0)
    assert table["sd", "x[1]"] > 0.09
    assert str(table).splitlines()[1].split()[1:4] == ["3.10", "0.00", "3.10"]


def test_functions_of_draws_and_not_of_the_table():
    a = kg.normal(0, 1, name="a")
    b = kg.normal(1, 1, name="b")
    results = kg.mcmc(kg.model(a, b), draws=100, chains=2, seed=1, progress=False)
    with pytest.raises(TypeError, match=r"exp of a table .*kg.summary\(numpy.exp\(results"):
        np.exp(kg.summary(results))
    some = results["posterior"][["b", "a"]]
    assert [*some.data_vars] == ["b", "a"]
    ratios = kg.summary(np.exp(some))
    assert ratios.names == ("b", "a")
    assert ratios["median", "a"] == pytest.approx(np.exp(some["a"]).median())
    with pytest.raises(KeyError, match="'c' is not in the group posterior"):
        results["posterior"][["a", "c"]]
    with pytest.raises(KeyError, match=r"one group .*write results\['posterior'\]"):
        results[["posterior"]]


def test_latex_has_the_printed_digits_and_escaped_names():
    """Against pandas, whose minus is a hyphen."""
    tree = by_hand()
    draws = tree["posterior"].dataset
    tree["posterior"] = draws.rename(mu="b_x", fixed="5% & more~^\\{}#$")
    table = kg.summary(tree)
    head, *rows = table._cells()
    frame = pd.DataFrame([row[1:] for row in rows], [row[0] for row in rows], head[1:])
    theirs = frame.to_latex(escape=True, column_format="lrrrrrrrrr")
    ours = table.to_latex()
    assert "& $-$0.85 &" in ours
    assert [*map(str.strip, ours.replace("$-$", "-").splitlines())] == [
        line.replace("\\textbackslash ", "\\textbackslash{}")
        .replace("\\textasciitilde ", "\\textasciitilde{}")
        .replace("\\textasciicircum ", "\\textasciicircum{}")
        .strip()
        for line in theirs.splitlines()
    ]


def test_summaries_are_compared_by_their_numbers():
    results, other = by_hand(), by_hand()
    other["posterior"]["mu"] += 1.0
    table = kg.summary(results)
    assert table == kg.summary(by_hand())
    assert table != kg.summary(other)
    assert table != kg.summary(results, "mu")
    assert table != "a text"
