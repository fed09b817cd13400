"""Inputs and labels from what users have, and the messages about rows that cannot be used."""

import pickle
import time

import jax
import numpy as np
import pandas as pd
import pytest

import kinetograph as kg

sets = kg.neural.datasets
X, Y = np.arange(8.0).reshape(4, 2), np.array([1.0, -1.0, 1.0, 1.0])
FRAME = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "label": Y})


def same(data, x=X, y=Y, inputs=("a", "b")):
    np.testing.assert_array_equal(data.x, x)
    np.testing.assert_array_equal(data.y, y[:, None])
    assert (data.inputs, data.labels) == (inputs, ("label",))


def test_arrays_frames_files_and_parts(tmp_path):
    same(sets.read((X, Y)), inputs=("x1", "x2"))
    same(sets.read((X.astype(int).tolist(), Y.tolist())), inputs=("x1", "x2"))
    same(sets.read(FRAME))
    same(sets.read(FRAME[["label", "b", "a"]]), X[:, ::-1], inputs=("b", "a"))
    FRAME[:3].to_csv(tmp_path / "1.csv", index=False)
    FRAME[3:].to_csv(tmp_path / "2.csv", index=False)
    same(sets.read(tmp_path / "1.csv"), X[:3], Y[:3])
    same(sets.read([tmp_path / "1.csv", str(tmp_path / "2.csv")]))
    same(sets.read(FRAME[i : i + 2] for i in (0, 2)))
    FRAME.to_csv(tmp_path / "3.tsv", index=False, sep="\t")
    same(sets.read(tmp_path / "3.tsv", reader=lambda path: pd.read_csv(path, sep="\t")))
    two = sets.read(FRAME, labels=2)
    assert (two.inputs, two.labels, two.y.shape) == (("a",), ("b", "label"), (4, 2))
    assert sets.read(two) is two


@pytest.mark.parametrize(
    ("data", "options", "kind", "message"),
    [
        ((X, Y[:3]), {}, kg.ShapeError, "inputs have 4 rows and labels have 3"),
        ((X[:0], Y[:0]), {}, kg.DataError, "inputs have no rows"),
        (["a.csv", 3], {}, kg.DataError, "expected an array of inputs, got 'a.csv'"),
        ((np.where(X == 5, np.nan, X), Y), {}, kg.DataError, "inputs: row 2, column 1 is nan"),
        ((FRAME.replace({"b": {5.0: np.inf}})), {}, kg.DataError, "row 2, column b is inf"),
        ((X, ["yes", "no"] * 2), {}, kg.DataError, "labels must be numbers.*get_dummies"),
        (FRAME, {"labels": "lable"}, ValueError, "no column 'lable'.*did you mean 'label'"),
        (FRAME, {"labels": 3}, ValueError, "needs columns of inputs and of labels"),
        (iter([FRAME, FRAME[["a", "label"]]]), {}, kg.ShapeError, "part 1 has columns a, label"),
        (iter([]), {}, kg.DataError, "expected at least one part"),
        (3, {}, TypeError, "expected .inputs, labels., a frame.* got int"),
    ],
)
def test_unusable_data(data, options, kind, message):
    with pytest.raises(kind, match=message):
        sets.read(data, **options)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,label\n1,2\nx,3\n", "row 2 below the header, column a: expected a number, got 'x'"),
        ("a,label\n1,2\n3\n", "row 2 below the header, column label: expected a number, got no va"),
        ("a,label\n1,2\n3,4,5\n", "Expected 2 fields in line 3, saw 3"),
        ("a,label\n", "has no rows"),
        ("", "is not a CSV file with a header"),
        ("1,2.5\n3,4\n", "has no header: .* only numbers, 1,2.5.*; .* such as x1,label"),
        ("a,label\n1,2,3\n3,4,5\n", "rows with more values than the 2 names"),
        (",a,label\n0,1,2\n", "column 1 has no name .*index=False"),
        ("a,label,\n0,1,\n", "column 3 has no name .*commas at the ends"),
        ("a;b;label\n1;2;3\n", "one column, 'a;b;label', .* separated by ';' .* sep=';'"),
        ("a;b;label\n1,5;2;3\n", "separated by ';'"),
    ],
)
def test_wrong_rows_of_files(tmp_path, text, message):
    (tmp_path / "points.csv").write_text(text)
    with pytest.raises(kg.DataError, match=f"points.csv.*{message}"):
        sets.read(tmp_path / "points.csv")


@pytest.mark.parametrize("frame", [True, False])
def test_a_repeated_name_is_refused(tmp_path, frame):
    data = tmp_path / "points.csv"
    data.write_text("a,a,label\n1,2,3\n")
    if frame:
        data = pd.DataFrame([[1, 2, 3]], columns=["a", "a", "label"])
    with pytest.raises(ValueError, match=r"has the column 'a' 2 times"):
        sets.read(data)


def test_a_pair_with_a_repeated_name_is_refused():
    with pytest.raises(ValueError, match="the frame of inputs has the column 'a' 2 times"):
        sets.read((pd.DataFrame(X, columns=["a", "a"]), Y))


def test_files_of_different_columns_are_named(tmp_path):
    FRAME.to_csv(tmp_path / "1.csv", index=False)
    FRAME.rename(columns={"b": "c"}).to_csv(tmp_path / "2.csv", index=False)
    with pytest.raises(kg.ShapeError, match=r"2.csv has columns a, c, label, .*1.csv has a, b, la"):
        sets.read([tmp_path / "1.csv", tmp_path / "2.csv"])


HEADERS = ["x,label_a,label_b", "label,a,b", "a,b,area"]


@pytest.mark.parametrize("header", HEADERS)
def test_a_simulation_has_the_inputs_and_labels_of_read(tmp_path, header):
    (tmp_path / "points.csv").write_text(f"{header}\n1,2,3\n4,5,6\n")
    data = sets.read(tmp_path / "points.csv")
    nn = kg.neural.Simulation(batch_data_files=tmp_path / "points.csv")
    for found, wanted in zip(nn.dataset, data[:2], strict=True):
        np.testing.assert_array_equal(found, wanted)
    count = len(data.labels)
    named = [name for name in header.split(",") if name.startswith("label")]
    assert data.labels == tuple(named or ["area"])
    if header != HEADERS[1]:
        nn = kg.neural.Simulation(batch_data_files=tmp_path / "points.csv", output_dimension=count)
        np.testing.assert_array_equal(nn.dataset[1], data.y)


@pytest.mark.parametrize("header", HEADERS[:2])
def test_a_number_of_labels_makes_no_label_an_input(tmp_path, header):
    (tmp_path / "points.csv").write_text(f"{header}\n1,2,3\n4,5,6\n")
    nn = kg.neural.Simulation(batch_data_files=tmp_path / "points.csv", output_dimension=1)
    with pytest.raises(ValueError, match=r"points.csv: with 1 as .* label.* an input"):
        _ = nn.dataset


def test_expressions_follow_numpy():
    random = np.random.default_rng(2)
    a, b = rows = random.uniform(0.1, 2.0, (2, 9))
    expected = {
        "a": a, "a^2": a**2, "sin(a)": np.sin(a), "cos(b)": np.cos(b), "a*b": a * b,
        "exp(-a)/2 + log(b)": np.exp(-a) / 2 + np.log(b), "sqrt(a)-tanh(2*b)": np.sqrt(a)
        - np.tanh(2 * b), "abs(a-b)**0.5": np.abs(a - b) ** 0.5, "1": np.ones(9), "a - -b": a + b,
    }  # fmt: skip
    features = sets.InputColumns(list(expected), ["a", "b"])
    with jax.enable_x64(True):
        found = jax.jit(features)(rows.T)
    np.testing.assert_allclose(found, np.stack(list(expected.values()), -1), rtol=1e-12)
    assert sets.InputColumns("a b", ["a b"])([[3.0]]).tolist() == [[3.0]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x3", "unknown column 'x3'; did you mean 'x|unknown column 'x3'.*the columns are x1, x2"),
        ("sine(x1)", "unknown function 'sine'.*did you mean 'sin'"),
        ("x1 +", "is not an expression"),
        ("__import__('os')", "unknown function '__import__'"),
        ("x1.real", "x1.real is not allowed"),
        ("[x1]", "is not allowed"),
        ("'x1'", "is not allowed"),
        ("sin(x1, x2)", "is not allowed"),
        ("x1 if x2 else 1", "is not allowed"),
    ],
)
def test_expressions_that_are_refused(text, message):
    with pytest.raises(ValueError, match=message):
        sets.InputColumns([text], ["x1", "x2"])


def test_features_that_are_not_finite_are_named():
    rows = np.array([[1.0, 2.0], [-1.0, 0.0], [3.0, 0.0]])
    data, options = [rows, rows[:, 0]], {"seed": 1, "max_steps": 2}
    text = r"input_columns: the feature 'log\(x1\)' is nan in row 1, where x1 = -1"
    nn = kg.neural.Simulation(data, input_columns=["x2", "log(x1)"], **options)
    with pytest.raises(kg.DataError, match=text):
        nn.fit()
    nn = kg.neural.Simulation(data, input_columns=["x1*2"], **options)
    nn.fit()
    nn.set_options(input_columns=["x1/x2"])
    with pytest.raises(kg.DataError, match=r"'x1/x2' is -inf in row 1, .*, and in 1 other"):
        nn.fit()
    nn = kg.neural.Simulation([np.abs(rows), rows[:, 0]], input_columns=["log(x1)"], **options)
    nn.fit()
    with pytest.raises(kg.DataError, match=text):
        nn.dataset = data


@pytest.fixture(scope="module")
def posterior():
    """A posterior of a linear network of two features of one column, and its inputs."""
    x = np.linspace(-1, 1, 12)[:, None]
    features = sets.InputColumns(["x1", "x1^2"], ["x1"])
    network = pickle.loads(pickle.dumps(features.network(kg.neural.mlp())))
    layout = kg.neural.ParameterLayout(network.start(jax.random.key(0), x[0], 1))
    loss = kg.neural.Loss("squared", lambda z, y: (z[0] - y) ** 2)
    return kg.neural.posterior(network, layout, loss, x, np.sin(x[:, 0]), prior=None)


def squares(posterior, x, y, w):
    return -np.sum((np.column_stack([x, x**2]) @ w[:2] + w[2] - y) ** 2)


def test_features_in_a_network_and_new_data(posterior):
    """Density by NumPy, before and after data are replaced; nothing is compiled again."""
    w, x = np.array([0.5, -0.3, 0.2]), np.linspace(-1, 1, 12)
    np.testing.assert_allclose(posterior.log_prob(w), squares(posterior, x, np.sin(x), w))
    compiled = []
    note = lambda name, *_, **__: compiled.append(name) if "backend_compile" in name else None
    jax.monitoring.register_event_duration_secs_listener(note)
    try:
        posterior.set_data(x=2 * x[:, None], y=np.cos(x))
        found = posterior.log_prob(w)
    finally:
        jax.monitoring.unregister_event_duration_listener(note)
    np.testing.assert_allclose(found, squares(posterior, 2 * x, np.cos(x), w))
    assert compiled == []


@pytest.mark.parametrize("run", ["sample", "fit"])
def test_data_may_stay_in_their_files(tmp_path, run):
    """Records are those of data in memory, to the last bit, and no row is copied."""
    random = np.random.default_rng(1)
    arrays = {"x": random.normal(size=(50, 3)), "y": np.sign(random.normal(size=50))}
    files = {}
    for name, array in arrays.items():
        np.save(tmp_path / f"{name}.npy", array)
        files[name] = np.load(tmp_path / f"{name}.npy", mmap_mode="r")
    settings = {"precision": "float64", "seed": 1, "batch_size": 8, "max_steps": 30}
    settings |= {"hidden_dimension": [4], "number_walkers": 2}
    in_memory, in_files = (
        kg.neural.Simulation([data["x"], data["y"]], **settings) for data in (arrays, files)
    )
    for _ in range(2):
        for name in ("run_info", "trajectory", "averages"):
            tables = [getattr(getattr(nn, run)(), name) for nn in (in_memory, in_files)]
            times = [t.drop(columns="time_per_nth_step", errors="ignore") for t in tables]
            pd.testing.assert_frame_equal(*times, check_exact=True)
    landscape = in_files.landscape
    (of_model,) = (node.value for node in landscape.model.data if node.shape == (50, 3))
    for values in (in_files.dataset[0], landscape.x, of_model):
        assert np.shares_memory(values, files["x"])
    assert not np.shares_memory(in_memory.dataset[0], arrays["x"])
    losses = [nn.loss(full=True) for nn in (in_memory, in_files)]
    np.testing.assert_array_equal(*losses)
    converted = kg.neural.Simulation([files["x"], files["y"]], precision="float32", seed=1)
    assert converted.dataset[0].dtype == np.float32
    values = arrays["x"].copy()
    values[7, 2] = np.nan
    np.save(tmp_path / "bad.npy", values)
    with pytest.raises(kg.DataError, match="inputs: row 7, column 2 is nan"):
        kg.neural.Simulation([np.load(tmp_path / "bad.npy", mmap_mode="r"), arrays["y"]])


@pytest.mark.parametrize("covariance", ["diagonal", "full"])
def test_covariance_of_gradients_of_a_network(posterior, covariance):
    noisy = kg.minibatch(posterior, 4, order="epochs")
    sampler = kg.samplers.CCAdL(0.01, covariance=covariance)
    chain = kg.chain(noisy, sampler, seed=1, initial=np.zeros(3))
    chain.step(2)
    noise = chain.slots["noise"]
    assert noise.shape == ((3,) if covariance == "diagonal" else (3, 3))
    variances = noise if covariance == "diagonal" else np.diag(noise)
    assert np.all(variances > 0)


def test_rows_are_gathered_faster_than_files_are_read(tmp_path, posterior):
    """Ten transitions with batches take less than a tenth of reading these batches ten times."""
    noisy = kg.minibatch(posterior, 4)
    chain = kg.chain(noisy, kg.samplers.SGLD(1e-4), seed=1, initial=np.zeros(3))
    sets.write_csv(tmp_path / "batch.csv", sets.sine(4))
    chain.step(1000)

    def seconds(action):
        times = []
        for _ in range(3):
            start = time.perf_counter()
            action()
            times.append(time.perf_counter() - start)
        return min(times)

    steps = seconds(lambda: chain.step(1000)) / 1000
    assert seconds(lambda: sets.read(tmp_path / "batch.csv")) > 10 * steps


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (["x", 2.0, 3.0, 4.0], r"inputs must be numbers, but row 0, column a has 'x'.*factorize"),
        (pd.Timestamp("2020"), r"row 0, column a has Timestamp\(.*total_seconds"),
        (pd.Timedelta("1 day"), r"row 0, column a has Timedelta\(.*total_seconds"),
        (
            pd.array([1, 2, None, 4], dtype="Int64"),
            r"inputs: row 2, column a is (missing|nan) .*; remove",
        ),
        (
            pd.array([1.0, 2.0, None, 4.0], dtype=object),
            r"inputs: row 2, column a is (missing|nan)",
        ),
    ],
)
def test_values_that_are_not_numbers_have_row_and_column(values, text):
    with pytest.raises(kg.DataError, match=text):
        sets.read(FRAME.assign(a=values))
    with pytest.raises(kg.DataError, match=text.replace("inputs", "labels")):
        sets.read(FRAME.assign(a=values), labels="a")


@pytest.mark.parametrize("unit", ["D", "ns"])
def test_times_are_not_numbers(unit):
    times = np.arange(4).astype(f"datetime64[{unit}]")
    for pair in ((times, Y), (X, times), (times - times[0], Y)):
        with pytest.raises(
            kg.DataError, match=r"must be numbers, but row 0 has Time.*total_seconds"
        ):
            sets.read(pair)
    nn = kg.neural.Simulation([X[:, 0], Y], seed=1)
    with pytest.raises(
        kg.DataError, match=r"predict: inputs must be rows of numbers: got times, da"
    ):
        nn.predict(times)


def test_a_test_set_has_rows():
    data = sets.read(FRAME)
    assert [len(part.x) for part in data.split(0.0)] == [4, 0]
    assert [len(part.x) for part in data.split(0.25)] == [3, 1]
    with pytest.raises(
        ValueError, match=r"split: test=0\.1 of 4 rows leaves .* give 0\.25 or more"
    ):
        data.split(0.1)
