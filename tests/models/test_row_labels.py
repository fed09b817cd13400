"""Rows of pandas objects are combined by position, with a warning where pandas would not."""

import warnings

import numpy as np
import pandas as pd
import pytest

import kinetograph as kg

RNG = np.random.default_rng(1)
DATA = pd.DataFrame({"x": RNG.normal(size=12), "y": RNG.normal(size=12), "g": list("abc") * 4})
SHUFFLED = DATA.sample(frac=1, random_state=1)
NAMED = DATA.set_index(pd.Index([f"r{i}" for i in range(12)]))


def line(x, y):
    """A regression of y on x."""
    a, b = kg.normal(0, 1, name="a"), kg.normal(0, 1, name="b")
    kg.observe(y, kg.normal(a + b * x, 1))
    return a, b


def two_columns():
    b = kg.normal(0, 1, name="b")
    kg.observe(np.zeros(12), kg.normal(b * DATA["x"] + SHUFFLED["y"], 1))
    return b


def matrix():
    b = kg.normal(0, 1, shape=2, name="b")
    x = kg.data(SHUFFLED[["x", "y"]])
    kg.observe(DATA["y"], kg.normal(x @ b, 1))
    return b


def column():
    b = kg.normal(0, 1, name="b")
    x = kg.data(SHUFFLED[["x", "y"]])
    kg.observe(DATA["y"], kg.normal(x[:, 0] * b, 1))
    return b


def groups():
    g = kg.groups(SHUFFLED["g"])
    b = kg.normal(0, 1, dims=g.dim, name="b")
    kg.observe(DATA["y"], kg.normal(b[g.codes], 1))
    return b


def latent():
    z = kg.normal(kg.normal(0, 1, name="b") * SHUFFLED["x"], 1)
    kg.observe(DATA["y"], kg.normal(kg.where(z > 0, z, 0.0), 1))
    return z


def integers():
    """Whole numbers as a parameter are converted to real numbers."""
    sd = kg.half_normal(1)
    kg.observe(DATA["y"], kg.normal((10 * SHUFFLED["x"]).astype(int), sd))
    return sd


def factor():
    b = kg.normal(0, 1, name="b")
    kg.factor(kg.log_density(kg.normal(b * SHUFFLED["x"], 1), kg.data(DATA["y"])).sum())
    return b


@pytest.mark.parametrize(
    "index",
    [
        pd.RangeIndex(12),
        pd.Index(list("abcdefghijkl")),
        pd.date_range("2020-01-01", periods=12, freq="MS"),
        pd.date_range("2020-01-01", periods=12, tz="UTC"),
        pd.period_range("2020-01", periods=12, freq="M"),
        pd.MultiIndex.from_product([["a", "b"], range(6)]),
    ],
    ids=["numbers", "text", "dates", "zone", "periods", "levels"],
)
def test_columns_without_other_missing_values_are_warned_of(index):
    """pandas combines 10 of the rows; by position, some labels agree and others do not."""
    y, x = (pd.Series(DATA[name].values, index).drop(index[k]) for name, k in (("y", 3), ("x", 8)))
    with pytest.warns(kg.KinetographWarning, match="different labels: row 3 is "):
        kg.model(*line(x, y))


@pytest.mark.parametrize(
    "build",
    [
        lambda: line(DATA["x"].sort_values(), DATA["y"]),
        lambda: line(kg.data(DATA["x"]), kg.data(SHUFFLED["y"])),
        lambda: line(NAMED["x"], NAMED["y"].sort_values()),
        lambda: line(SHUFFLED["x"], (10 * DATA["y"]).astype(int)),
        two_columns,
        matrix,
        column,
        groups,
        latent,
        integers,
        factor,
    ],
)
def test_another_order_is_warned_of(build):
    with pytest.warns(kg.KinetographWarning, match="the same labels in another order: row ") as w:
        kg.model(build)
    assert len(w) == 1


def test_both_lines_are_named_with_their_labels():
    a, b = kg.normal(0, 1), kg.normal(0, 1)
    mean = a + b * SHUFFLED["x"]
    kg.observe(DATA["y"], kg.normal(mean, 1))
    with pytest.warns(kg.KinetographWarning) as found:
        kg.model(a, b)
    (text,) = (str(warning.message) for warning in found)
    first = test_both_lines_are_named_with_their_labels.__code__.co_firstlineno
    places = [f"(written at test_row_labels.py:{first + i})" for i in (2, 3)]
    assert text.startswith(f"model: x {places[0]} and y {places[1]} are combined ")
    assert f"row 0 is {SHUFFLED.index[0]} in one and 0 in the other. " in text
    assert "as in x.loc[y.index], or write x.to_numpy() if the positions are right" in text


def test_other_rows_of_one_frame_are_warned_of():
    with pytest.warns(kg.KinetographWarning, match="different labels: row 0 is "):
        kg.model(lambda: line(SHUFFLED["x"][:6], SHUFFLED["y"][6:]))


REGIONS = kg.dim("region", ["a", "b", "c"])
CAB = ["c", "a", "b"]
SPREAD = pd.DataFrame([[2, 0.5, 0.1], [0.5, 1, 0.2], [0.1, 0.2, 3]], CAB, CAB)
CENTRES = pd.Series([1.0, 2.0, 3.0], CAB)
IDENTITY = np.eye(3)
TOTALS = pd.Series([1.0, 2.0, 3.0], list("abc"))
WIDE = pd.DataFrame(np.arange(12.0).reshape(4, 3), columns=list("abc"))


def vector_model(mean=0.0, cov=IDENTITY, data=None, **named):
    """A vector of unknowns with dims, or data of a vector."""
    scale = kg.half_normal(1, name="scale")
    if data is None:
        return scale, kg.multivariate_normal(mean * scale, cov, name="x", **named)
    kg.observe(data, kg.multivariate_normal(mean * scale, cov))
    return scale


def precision():
    weights, rho = kg.data(SPREAD - np.diag(np.diag(SPREAD))), kg.uniform(0, 0.5, name="rho")
    return rho, kg.multivariate_normal(0, precision=2 * np.eye(3) - rho * weights, dims=REGIONS)


def of_unknowns():
    x = kg.multivariate_normal(0, SPREAD, name="x")
    kg.observe(TOTALS, kg.normal(x, 1))
    return x


def table_model(mean, sd=1.0, data=WIDE):
    """A table of data, whose columns are combined with vectors and tables."""
    scale = kg.half_normal(1, name="scale")
    kg.observe(data, kg.normal(scale * mean, sd))
    return scale


def products_of_tables():
    weights = kg.normal(0, 1, shape=(3, 3), name="weights")
    shift = kg.normal(0, 1, dims=kg.dim("region", CAB), name="shift")
    kg.observe(WIDE, kg.normal(kg.data(WIDE) @ weights + shift, 1))
    return weights, shift


PAIR = pd.DataFrame([[1.0, 0.3], [0.3, 2.0]], ["r", "s"], ["r", "s"])
IN_PAIRS = pd.DataFrame(np.arange(6.0).reshape(2, 3), ["r", "s"], list("abc"))
SORTED_SPREAD = SPREAD.loc[list("abc"), list("abc")]


def matrices(mean=0.0, row_cov=PAIR, col_cov=SORTED_SPREAD):
    scale = kg.half_normal(1, name="scale")
    kg.observe(IN_PAIRS, kg.matrix_normal(scale * mean, row_cov, scale * kg.data(col_cov)))
    return scale


def covariance_of(scale):
    cov = kg.wishart(5, scale, name="cov")
    kg.observe(WIDE, kg.multivariate_normal(0, cov))
    return cov


def product(table):
    effect = kg.normal(0, 1, dims=REGIONS, name="effect")
    kg.observe(np.zeros(len(table)), kg.normal(kg.data(table) @ effect, 1))
    return effect


@pytest.mark.parametrize(
    "build",
    [
        lambda: vector_model(cov=SPREAD, dims=REGIONS),
        lambda: vector_model(mean=kg.data(CENTRES), dims=REGIONS),
        lambda: vector_model(cov=kg.half_normal(1) * kg.data(SPREAD), dims=REGIONS),
        lambda: vector_model(cov=SPREAD, data=TOTALS),
        lambda: vector_model(mean=kg.data(TOTALS), cov=SPREAD, data=np.ones(3)),
        lambda: vector_model(cov=SPREAD, data=WIDE),
        lambda: kg.normal(kg.data(CENTRES) * kg.half_normal(1), 1, dims=REGIONS),
        precision,
        of_unknowns,
        lambda: product(WIDE[CAB]),
        lambda: table_model(kg.data(CENTRES)),
        lambda: table_model(kg.data(CENTRES), data=kg.data(WIDE, dims=("row", REGIONS))),
        lambda: table_model(1.0, sd=kg.data(CENTRES)),
        lambda: table_model(kg.data(CENTRES) * kg.data(WIDE)),
        lambda: table_model(kg.data(WIDE[CAB])),
        lambda: table_model(kg.normal(0, 1, dims=kg.dim("region", CAB), name="shift")),
        lambda: vector_model(mean=kg.data(TOTALS), data=WIDE[CAB]),
        products_of_tables,
        lambda: matrices(row_cov=PAIR.loc[["s", "r"], ["s", "r"]]),
        lambda: matrices(col_cov=SPREAD),
        lambda: matrices(mean=kg.data(IN_PAIRS[CAB])),
        lambda: covariance_of(SPREAD),
        lambda: kg.wishart(5, SPREAD, dims=(REGIONS, "to"), name="cov"),
    ],
)
def test_vectors_and_tables_of_another_order_are_warned_of(build):
    with pytest.warns(kg.KinetographWarning, match="same labels in another order: ") as warned:
        kg.model(build)
    assert len(warned) == 1


def test_columns_of_polars_of_another_order_are_warned_of():
    polars = pytest.importorskip("polars")
    table = polars.DataFrame({name: WIDE[name].to_numpy() for name in CAB})
    with pytest.warns(kg.KinetographWarning, match="same labels in another order: "):
        kg.model(lambda: product(table))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kg.model(lambda: product(table[list("abc")]))


@pytest.mark.parametrize(
    "build",
    [
        lambda: vector_model(cov=SPREAD.loc[list("abc"), list("abc")], dims=REGIONS),
        lambda: vector_model(cov=SPREAD, mean=kg.data(CENTRES), data=CENTRES),
        lambda: vector_model(cov=SPREAD.to_numpy(), data=WIDE),
        lambda: product(WIDE),
        lambda: product(WIDE.set_axis(["p", "q", "r"], axis=1)),
        lambda: product(SPREAD.set_axis(["p", "q", "r"], axis=1)),
        lambda: table_model(kg.data(TOTALS) * kg.data(WIDE), sd=kg.data(TOTALS)),
        lambda: table_model(kg.data(WIDE[["a"]])),
        lambda: table_model(kg.data(CENTRES), data=WIDE.to_numpy()),
        lambda: table_model(kg.normal(0, 1, dims=REGIONS, name="shift")),
        matrices,
        lambda: covariance_of(SORTED_SPREAD),
        lambda: kg.wishart(5, SORTED_SPREAD, dims=(REGIONS, "to"), name="cov"),
    ],
)
def test_vectors_and_tables_of_the_same_order_are_not_warned_of(build):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kg.model(build)


DOUBLED = DATA.set_index("g")
DAYS = pd.Series(DATA["y"].to_numpy(), pd.date_range("2024", periods=12), name="y")
MIXED = DAYS.iloc[[0, 2, 1, *range(3, 12)]]


@pytest.mark.parametrize(
    ("x", "row"),
    [
        (DOUBLED["x"].sort_index(), 1),
        (DOUBLED["x"].iloc[::-1], 0),
        (DOUBLED["x"].iloc[[*range(5), 6, 5, *range(7, 12)]], 5),
    ],
)
def test_labels_that_occur_several_times_in_another_order_are_warned_of(x, row):
    text = f"the same labels in another order: row {row} is "
    with pytest.warns(kg.KinetographWarning, match=text):
        kg.model(lambda: line(x, DOUBLED["y"]))


LEVELS = pd.MultiIndex.from_product([list("pqr"), list("pqrs")], names=["sender", "receiver"])
SENT = pd.Series(DATA["y"].to_numpy(), LEVELS, name="sent")


def test_levels_of_an_index_in_another_order():
    """Labels have the order of the first index's levels: pandas aligns levels by name."""
    other = SENT.swaplevel().rename("other")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kg.model(lambda: line(other, SENT))
    renamed = SENT.rename_axis(["receiver", "sender"])  # equal labels of other levels
    text = r"row 1 is \(.p., .q.\) in one and \(.q., .p.\) in the other.*x.reorder_levels"
    for x in (other.sort_index(), renamed):
        with pytest.warns(kg.KinetographWarning, match=text):
            kg.model(lambda x=x: line(x, SENT))


def process(y):
    rho = kg.uniform(-1, 1, name="rho")
    kg.observe(y, kg.ar([rho], 1.0, 12))
    return rho


def walk(y):
    sd = kg.half_normal(1)
    kg.observe(y, kg.normal(2 * kg.random_walk(sd, 12) + 1, 1))
    return sd


def covariate(y):
    sd = kg.half_normal(1)
    kg.observe(np.zeros(12), kg.normal(kg.random_walk(sd, 12) + y, 1))
    return sd


def labelled(y):
    sd = kg.half_normal(1)
    level = kg.random_walk(sd, dims=kg.dim("day", y.index))
    kg.observe(y.to_numpy(), kg.normal(level, 1))
    return sd


def hidden(y):
    states = kg.markov_chain([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], 12)
    mean = kg.normal(0, 1, shape=2)
    kg.observe(y, kg.normal(mean[states], 1))
    return mean


def running_sum(y):
    sd, z = kg.half_normal(1), kg.normal(0, 1, shape=12)
    kg.observe(y, kg.normal(kg.cumsum(sd * z) + 1, 1))
    return sd


def scanned(y):
    sd, z = kg.half_normal(1), kg.normal(0, 1, dims=kg.dim("day", y.index))
    _, level = kg.scan(lambda level, step: (0.9 * level + step,) * 2, 0.0, sd * z)
    kg.observe(y.to_numpy(), kg.normal(level, 1))
    return sd


def stacked(y):
    sd, level, levels = kg.half_normal(1), 0.0, []
    for z in kg.normal(0, 1, shape=12):
        level = 0.9 * level + z
        levels.append(kg.exp(level / 2))
    kg.observe(y, kg.normal(0, sd * kg.stack(levels)))
    return sd


def numbers(y):
    sd, level, y = kg.half_normal(1), 0.0, kg.data(y)
    for t, z in enumerate(kg.normal(0, 1, shape=12)):
        level = level + sd * z
        kg.observe(y[t], kg.normal(0, kg.exp(level)))
    return sd


def unknown_numbers(y):
    sd, x = kg.half_normal(1), [kg.normal(0, 1)]
    for t in range(1, 12):
        x.append(kg.normal(0.9 * x[t - 1], sd))
    kg.observe(y, kg.normal(kg.stack(x), 1))
    return sd


def lagged_numbers(y):
    sd, y = kg.half_normal(1), kg.data(y)
    for t in range(1, 12):
        kg.observe(y[t], kg.normal(0.9 * y[t - 1], sd))
    return sd


def lagged(y):
    rho, y = kg.normal(0, 1), kg.data(y)
    kg.observe(y[1:], kg.normal(rho * y[:-1], 1))
    return rho


def lagged_twice(y):
    x = kg.normal(0, 1, shape=12)
    kg.observe(y, kg.normal(x, 1))
    kg.factor(-kg.sum((x[2:] - 2 * x[1:-1] + x[:-2]) ** 2))
    return x


def differences(y):
    sd = kg.half_normal(1)
    kg.observe(np.zeros(11), kg.normal(kg.normal(0, 1, shape=11) - np.diff(kg.data(y)), sd))
    return sd


def process_of_columns(y):
    rho = kg.uniform(-1, 1)
    kg.observe(pd.DataFrame({"a": y, "b": y}).T, kg.ar([rho], kg.half_normal(1, shape=2), 12))
    return rho


def transposed_process(y):
    rho = kg.uniform(-1, 1)
    wide = kg.data(pd.DataFrame({"a": y, "b": y}))
    kg.observe(wide.T, kg.ar([rho], kg.half_normal(1, shape=2), 12))
    return rho


SERIES = [process, walk, covariate, labelled, hidden, running_sum, scanned, stacked, numbers]
SERIES += [unknown_numbers, lagged_numbers, lagged, lagged_twice, differences, transposed_process]


@pytest.mark.parametrize("build", SERIES)
def test_dates_of_a_series_that_are_not_sorted_are_warned_of(build):
    text = "row 2 is 2024-01-02 00:00:00, after 2024-01-03 00:00:00 in row 1"
    with pytest.warns(kg.KinetographWarning, match=f"dates are not sorted: {text}") as found:
        kg.model(lambda: build(MIXED))
    assert len(found) == 1


def test_dates_of_columns_and_of_parts_that_are_not_sorted_are_warned_of():
    with pytest.warns(kg.KinetographWarning, match=r"column 2 is .*in x.sort_index\(axis=1\)"):
        kg.model(lambda: process_of_columns(MIXED))
    latest = DAYS[::-1]
    with pytest.warns(kg.KinetographWarning, match="a series, by a lag .* row 1 is 2024-01-10"):
        kg.model(lambda: line(latest[:-1], latest[1:]))


def test_lags_of_the_last_date_first_are_not_warned_of():
    """Each row depends on the next row, which is the day before."""
    latest = DAYS[::-1]

    def build():
        rho, y = kg.normal(0, 1), kg.data(latest)
        kg.observe(y[:-1], kg.normal(rho * y[1:], 1))
        return rho

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kg.model(build)
        kg.model(lambda: line(latest[1:], latest[:-1]))


def test_rows_of_a_loop_that_are_not_a_series_may_have_any_order():
    def build():
        rate, y, x = kg.half_normal(1), kg.data(MIXED), DATA["x"].to_numpy()
        for t in range(12):
            kg.observe(y[t], kg.normal(rate * x[t], 1))
        return rate

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kg.model(build)


@pytest.mark.parametrize("kind", ["period", "date", "zone", "duration"])
def test_dates_of_every_kind(kind):
    index = MIXED.index
    made = {
        "period": index.to_period("D"),
        "date": index.date,
        "zone": index.tz_localize("Europe/Oslo"),
        "duration": index - index[0],
    }
    with pytest.warns(kg.KinetographWarning, match="dates are not sorted: row 2 is "):
        kg.model(lambda: process(MIXED.set_axis(made[kind])))


@pytest.mark.parametrize("build", [*SERIES, process_of_columns])
@pytest.mark.parametrize(
    "y",
    [
        DAYS,
        MIXED.sort_index().rename(None),
        MIXED.reset_index(drop=True),
        MIXED.set_axis(MIXED.index.day),  # numbers may be labels of another order
    ],
)
def test_sorted_dates_and_numbers_of_a_series_are_not_warned_of(build, y):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kg.model(lambda: build(y))


def test_dates_of_rows_that_are_not_a_series_may_have_any_order():
    def build():
        sd, week = kg.half_normal(1), np.arange(12) // 4
        kg.observe(MIXED, kg.normal(kg.random_walk(sd, 3)[week], 1))
        return sd

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kg.model(build)


HOURS = pd.date_range("2024", periods=12, freq="h", tz="UTC")


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (DATA["x"], DATA["y"]),
        (NAMED["x"], DATA["y"]),
        (SHUFFLED["x"], SHUFFLED["y"]),
        (SHUFFLED["x"].reset_index(drop=True), DATA["y"]),
        (SHUFFLED["x"].to_numpy(), DATA["y"]),
        (DATA["y"][:-1], DATA["y"][1:]),
        (SHUFFLED["y"][:-2], SHUFFLED["y"][2:]),
        (NAMED["y"][1:], NAMED["y"][:-1]),
        (SHUFFLED["x"][:6], NAMED["y"][:6]),
        (DATA["x"][6:], DATA["y"][:6]),
        (DATA["x"].drop(2), DATA["y"][1:].reset_index(drop=True)),
        (DATA["x"].set_axis(HOURS), DATA["y"].set_axis(HOURS.tz_convert("Europe/Oslo"))),
        (DATA["x"].set_axis(DATA.index.astype("Int64")), DATA["y"].set_axis([*range(12)])),
        (NAMED["x"], pd.Series(DATA["y"].to_numpy(), index=list("ab") * 6)),
        (DOUBLED["x"], DOUBLED["y"]),
        (DOUBLED["x"][1:], DOUBLED["y"][:-1]),
        (DOUBLED["x"][:-3], DOUBLED["y"][3:]),
        (DOUBLED["x"].set_axis([1, 1, 2] * 4), DOUBLED["y"].set_axis([1.0, 1.0, 2.0] * 4)),
        (DOUBLED["x"].set_axis(list("aab") * 4), DOUBLED["y"]),  # not equally often
    ],
)
def test_what_is_meant_is_not_warned_of(x, y):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kg.model(lambda: line(x, y))


def test_arrays_that_are_not_combined_by_rows_are_not_compared():
    def build():
        b = kg.normal(0, 1, name="b")
        kg.observe(DATA["y"], kg.normal(b * SHUFFLED["x"].mean(), 1))
        kg.observe(DATA["x"], kg.normal(b, kg.data(SHUFFLED["y"]).std()))
        kg.observe(SHUFFLED["y"] + 1, kg.normal(b, 1))
        return b

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kg.model(build)


AREAS = kg.dim("area", list("pqrs"))
COUNTS = pd.Series([3, 5, 1, 2], list("sprq"))
ADJACENCY = pd.DataFrame(np.eye(4, k=1) + np.eye(4, k=-1), list("pqrs"), list("pqrs"))


def model_of_areas(counts, effects=None):
    def build():
        mean = kg.normal(0, 1)
        effect = kg.normal(0, 1, dims=AREAS) if effects is None else effects()
        kg.observe(counts, kg.poisson(kg.exp(mean + effect)))
        return mean, effect

    return kg.model(build)


def test_an_index_and_the_labels_of_a_dimension_in_another_order():
    with pytest.warns(kg.KinetographWarning, match=r"labels of a dimension have the same .* row 0"):
        model_of_areas(COUNTS)
    with pytest.warns(kg.KinetographWarning, match="the same labels in another order"):
        model_of_areas(COUNTS, lambda: kg.gp.icar(ADJACENCY, dims="area"))


@pytest.mark.parametrize(
    ("labels", "how", "label"), [("sprq", "the same .* order", "s"), ("wxyz", "different", "w")]
)
def test_an_adjacency_without_dims_and_other_labels(labels, how, label):
    text = rf"ADJACENCY_basis .* and counts .*: row 0 is p in one and {label} in the other"
    with pytest.warns(kg.KinetographWarning, match=f"(?=.*{how}){text}"):
        model_of_areas(COUNTS.set_axis(list(labels)), lambda: kg.gp.icar(ADJACENCY))
    named = ADJACENCY.rename_axis("area")
    counts = COUNTS.set_axis(pd.Index(list(labels), name="area"))
    with pytest.raises(kg.DimsError, match=rf"named_basis .* has 4 \(p, .* has 4 \({label}, "):
        model_of_areas(counts, lambda: kg.gp.icar(named))


def test_a_square_table_and_other_labels():
    def build(labels):
        effect = kg.normal(0, 1, shape=4)
        counts = COUNTS.set_axis(labels)
        kg.observe(counts, kg.poisson(kg.exp(kg.data(ADJACENCY) @ effect)))
        return effect

    with pytest.warns(kg.KinetographWarning, match="different labels: row 0 is p in one and q in"):
        kg.model(lambda: build(list("qrst")))  # not a lag
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kg.model(lambda: build(range(4)))


def test_an_adjacency_with_the_labels_of_the_data_is_not_warned_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model_of_areas(COUNTS.loc[list("pqrs")], lambda: kg.gp.icar(ADJACENCY))
        model_of_areas(COUNTS, lambda: kg.gp.icar(ADJACENCY.to_numpy().tolist(), dims="area"))


@pytest.mark.parametrize(
    "counts",
    [
        COUNTS.loc[list("pqrs")],
        COUNTS.reset_index(drop=True),
        COUNTS.to_numpy(),
        COUNTS.set_axis(list("wxyz")),  # other labels may be combined by position
        COUNTS.set_axis(list("zxwy")),
    ],
)
def test_labels_of_a_dimension_that_fit_are_not_warned_of(counts):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model_of_areas(counts)


def test_a_lag_of_two_arrays_with_a_named_index_is_refused_with_the_way_out():
    series = DAYS.rename_axis("day")
    with pytest.raises(kg.DimsError, match=r"slice one array: y = .*y\[1:\] and y\[:-1\]"):
        kg.model(lambda: line(kg.data(series[:-1]), kg.data(series[1:])))
    y = kg.data(series)
    assert kg.model(lambda: line(y[:-1], y[1:])).free_size == 2
