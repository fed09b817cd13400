"""`kinetograph neural`: files and tables equal the results of the API."""

import sys
from pathlib import Path

import click
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import kinetograph as kg
from kinetograph.cli import main
from kinetograph.neural.commands import commands
from kinetograph.neural.commands.flags import given_options
from kinetograph.neural.options import OPTIONS

NETWORK = {"batch_data_files": "d.csv", "hidden_dimension": [1], "hidden_activation": "tanh"}
SHORT = {"seed": 1, "max_steps": 12, "precision": "float64", **NETWORK}


@pytest.fixture
def call(tmp_path, monkeypatch):
    """Runs a command in a folder with data, `d.csv`, and options, `c.toml`."""
    monkeypatch.chdir(tmp_path)

    def invoke(*words):
        return CliRunner().invoke(main, ["neural", *map(str, words)], prog_name="kinetograph")

    assert (
        invoke("dataset", "two_circles", "--points", 20, "--seed", 3, "--out", "d.csv").exit_code
        == 0
    )
    lines = (f"{name} = {value!r}".replace("'", '"') for name, value in SHORT.items())
    Path("c.toml").write_text("\n".join(lines))
    return invoke


def simulation(**options):
    return kg.neural.Simulation(**{**SHORT, **options})


def fails(result, code, text):
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    assert text in result.stderr
    assert result.stderr.count("\n") == 1


def same(path, frame):
    table = pd.read_csv(path)
    assert table.columns.tolist() == frame.columns.tolist()
    for name in table:
        if name != "time_per_nth_step":
            np.testing.assert_allclose(table[name], frame[name], rtol=1e-8, atol=1e-12)


def test_training_then_sampling(call):
    files = {"run_file": "r.csv", "trajectory_file": "t.csv", "averages_file": "a.csv"}
    flags = [w for n, v in files.items() for w in (f"--{n.replace('_', '-')}", v)]
    adam = ("--optimizer", "adam", "--learning-rate", "0.1")
    result = call("train", "--config", "c.toml", *adam, "--save-model", "m.npz", *flags)
    assert result.exit_code == 0, result.output
    nn = simulation(optimizer="adam", learning_rate=0.1)
    data = nn.fit()
    for name, frame in zip("rta", (data.run_info, data.trajectory, data.averages), strict=True):
        same(f"{name}.csv", frame)
    head, row = (line.split() for line in result.stdout.splitlines())
    assert head == ["walker", "loss", "accuracy"]
    assert float(row[1]) == pytest.approx(nn.loss(full=True), rel=1e-5)
    assert float(row[2]) == nn.score(full=True)
    more = ("--config", "c.toml", "--restore-model", "m.npz", "--max-steps", 5, "--every-nth", 2)
    text = "'t.csv' has the rows of fit(), and sample() writes different rows"
    fails(call("sample", *more, "--trajectory-file", "t.csv"), 2, text)
    same("t.csv", data.trajectory)
    result = call("sample", *more, "--trajectory-file", "s.csv", "--verbose", 1)
    assert result.exit_code == 0, result.output
    assert result.stderr.startswith("sampling: 5 steps in ")
    nn.set_options(max_steps=5, every_nth=2)
    same("s.csv", nn.sample().trajectory)
    for flags, text in (
        (("--hidden-dimension", 4), "has 5 parameters, the network for these data has 17"),
        (("--number-walkers", 2), "has 1 walkers, got number_walkers=2; leave number_walkers out"),
    ):
        fails(call("train", "--config", "c.toml", "--restore-model", "m.npz", *flags), 2, text)


def test_analysis_of_files(call):
    data = simulation(trajectory_file="t.csv", run_file="r.csv").sample()
    tables = ("--table", "parameters", "--table", "eigenvalues")
    result = call("analyse", "t.csv", "r.csv", "--drop", 2, *tables, "--out", "found")
    assert result.exit_code == 0, result.output
    draws = data.trajectory.iloc[2:, 3:]
    got = pd.read_csv("found/parameters.csv")
    np.testing.assert_allclose(got["average"], draws.mean(), rtol=1e-7)
    values = np.linalg.eigvalsh(np.cov(draws.T))[::-1]
    got = pd.read_csv("found/eigenvalues.csv")["eigenvalue"]
    np.testing.assert_allclose(got[:3], values[:3], rtol=1e-6)
    again = ("--table", "parameters", "--reweight-to", 1.5)
    printed = call("analyse", "t.csv", "r.csv", *again)
    assert printed.stdout.startswith("parameters\nparameter   average  variance\n")
    assert "reweighted\n" in printed.stdout
    fails(call("analyse", "t.csv", *again), 2, "no record 'potential'")
    fails(call("analyse", "r.csv", "--table", "parameters"), 2, "has no parameters")
    below = ("--table", "parameters", "--reweight-to", -3)
    fails(call("analyse", "t.csv", "r.csv", *below), 2, "'--reweight-to': -3")


def test_surfaces(call):
    nn = simulation(trajectory_file="t.csv")
    nn.sample()
    land, start = nn.landscape, simulation().parameters[0]
    surfaces = kg.neural.surfaces
    grids = {"weights": (-1, 1, 1), "biases": (0, 1, 1), "exclude": ("weight0",)}
    cases = {
        "grid": ("--weights=-1,1,1", "--biases", "0,1,1", "--exclude", "weight0"),
        "subgrid": ("--directions", "gradient", "--intervals", "0,1,3"),
        "trajectory": ("--rows", "t.csv"),
        "path": ("--rows", "t.csv", "--samples", 2),
    }
    rows = pd.read_csv("t.csv").iloc[:, 3:].to_numpy()
    wanted = {
        "grid": surfaces.grid(land, start, **grids, progress=False),
        "subgrid": surfaces.subgrid(
            land,
            start,
            surfaces.gradient_direction(land, start),
            intervals=(0, 1, 3),
            progress=False,
        ),
        "trajectory": surfaces.trajectory(land, "t.csv", progress=False),
        "path": surfaces.path(land, rows, 2),
    }
    for mode, flags in cases.items():
        result = call("surface", mode, "--config", "c.toml", *flags, "--out", "s.csv")
        assert result.exit_code == 0, result.output
        surfaces.write_surface("wanted.csv", wanted[mode])
        assert Path("s.csv").read_text() == Path("wanted.csv").read_text(), mode
    given = ("--weights=-1,1,1", "--biases", "0,0,0", "--out", "s.csv")
    row = ("--parse-parameters-file", "t.csv", "--parse-steps", 3)
    assert call("surface", "grid", "--config", "c.toml", *given, *row).exit_code == 0
    grid = surfaces.grid(land, rows[2], weights=(-1, 1, 1), biases=(0, 0, 0), progress=False)
    surfaces.write_surface("wanted.csv", grid)
    same("s.csv", pd.read_csv("wanted.csv"))
    flags = ("--config", "c.toml", "--intervals=-1,1,2", "--rows", "t.csv", "--out", "i.csv")
    assert call("input-space", *flags).exit_code == 0
    surfaces.write_surface(
        "wanted.csv", surfaces.input_space(land, "t.csv", (-1, 1, 2), progress=False)
    )
    assert Path("i.csv").read_text() == Path("wanted.csv").read_text()
    fails(call("surface", "path", "--out", "s.csv"), 2, "--rows is needed")
    flags = ("--config", "c.toml", "--directions", "hesian", "--out", "s.csv")
    fails(call("surface", "subgrid", *flags), 2, "'hesian' does not exist; did you mean 'hessian'")


def test_a_search(call, monkeypatch):
    calls = []

    def explore(landscape, **settings):
        calls.append((landscape, settings, kg.neural.explorer.explore(landscape, **settings)))
        return calls[0][2]

    # The command has the name of its module.
    monkeypatch.setattr(sys.modules["kinetograph.neural.commands.explore"], "_explore", explore)
    prior = ("--prior", 2)
    legs = ("--trajectories", 2, "--max-legs", 1, "--max-steps", 30)
    result = call("explore", "--config", "c.toml", *prior, *legs, "--out", "found")
    assert result.exit_code == 0, result.output
    ((landscape, settings, search),) = calls
    nn, w = simulation(prior=2.0), np.array([0.1, 0.2, 0.3, 0.4, 0.5])
    np.testing.assert_allclose(landscape.potential(w), nn.landscape.potential(w), rtol=1e-12)
    sampler = settings.pop("sampler")
    assert type(sampler) is kg.samplers.BAOAB
    assert sampler.settings()["inverse_temperature"] == 100  # as of the API
    given = {"trajectories": 2, "max_legs": 1, "steps": 30, "thin": 1, "seed": 1}
    assert given.items() <= settings.items()
    assert " kind " in result.stdout.splitlines()[0]
    assert f"{search}; wrote found" in result.stderr
    for name in ("minima", "corner_points", "legs", "averages"):
        table = pd.read_csv(f"found/{name}.csv")
        wanted = getattr(search, name)
        assert table.columns.tolist() == wanted.columns.tolist()
        numbers = wanted.select_dtypes("number")
        np.testing.assert_allclose(table[numbers.columns], numbers, rtol=1e-12, atol=1e-300)


def test_data_for_a_seed(call):
    flags = ("dataset", "spiral", "--points", 30, "--noise", 0.1, "--seed", 5, "--test", 0.2)
    for name in ("one", "two"):
        result = call(*flags, "--out", f"{name}.csv", "--test-out", f"{name}_test.csv")
        assert result.stderr.splitlines()[0] == f"wrote {name}.csv, 24 rows"
    assert Path("one.csv").read_bytes() == Path("two.csv").read_bytes()
    assert Path("one_test.csv").read_bytes() == Path("two_test.csv").read_bytes()
    rows = pd.concat([pd.read_csv("one.csv"), pd.read_csv("one_test.csv")])
    data = kg.neural.datasets.spiral(30, noise=0.1, seed=5)
    np.testing.assert_array_equal(np.sort(rows["x1"]), np.sort(data.x[:, 0]))
    assert not np.array_equal(rows["x1"], kg.neural.datasets.spiral(30, noise=0.1, seed=6).x[:, 0])
    fails(call("dataset", "spiral", "--test", 0.2, "--out", "one.csv"), 2, "--test-out")
    fails(call("dataset", "spiral", "--noise", -1, "--out", "one.csv"), 2, "noise must not")


def test_batches_are_the_batches_of_a_run(call):
    flags = ("--config", "c.toml", "--batch-size", 4, "--count", 2)
    result = call("batches", *flags, "--plot", "b.png")
    assert result.exit_code == 0, result.output
    assert Path("b.png").read_bytes().startswith(b"\x89PNG")
    head, *lines = (line.split() for line in result.stdout.splitlines())
    assert head == ["batch", "row", "x1", "x2", "label"]
    table = np.array(lines, float)
    np.testing.assert_array_equal(table[:, 0], np.repeat([0, 1], 4))
    rows = table[:, 1].astype(int)
    assert len(set(rows)) == 8
    np.testing.assert_allclose(table[:, 2:], pd.read_csv("d.csv").to_numpy()[rows], atol=1e-5)
    nn = simulation(batch_size=4)
    x, y = nn.dataset
    for part in (rows[:4], rows[4:]):
        wanted = np.mean((nn.predict(x[part]) - y[part]) ** 2)
        assert nn.loss() == pytest.approx(wanted, rel=1e-12)
        nn.next_batch()
    whole = call("batches", "--config", "c.toml").stdout.splitlines()
    assert len(whole) == 21
    kept = call(
        "batches", "--config", "c.toml", "--batch-size", 8, "--count", 3, "--last-batch", "keep"
    )
    lines = [line.split() for line in kept.stdout.splitlines()[1:]]
    assert [int(line[0]) for line in lines] == [0] * 8 + [1] * 8 + [2] * 4
    assert sorted(int(line[1]) for line in lines) == list(range(20))


def test_every_option_is_a_flag_with_its_text():
    for verb in ("train", "sample"):
        flags = {p.name: p for p in commands.commands[verb].params}
        for option in OPTIONS.values():
            flag = flags[option.name]
            assert flag.opts == [f"--{option.name.replace('_', '-')}"]
            assert flag.help.startswith(option.text)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("hidden_dimension", "3,0", (3, 0)),
        ("hidden_dimension", "", ()),
        ("hidden_activation", "relu, tanh", ("relu", "tanh")),
        ("loss_scale", "sum", "sum"),
        ("loss_scale", "2", 2.0),
        ("batch_size", "none", None),
        ("fix_parameters", '{"layer0/bias": [0.0]}', {"layer0/bias": [0.0]}),
        ("max_steps", "7", 7),
    ],
)
def test_texts_of_options(name, text, value):
    (param,) = [p for p in commands.commands["train"].params if p.name == name]
    got = param.type.convert(text, param, None)
    assert got == value
    assert type(got) is type(value)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("--max-steps", "-1"), "'--max-steps': expected a whole number of at least 0, got -1"),
        (("--seed", str(2**63)), f"{2**63}; whole numbers are below 2**63"),
        (("--inverse-temperature", "0"), "expected a number above 0, got 0.0"),
        (("--sampler", "BAOBA"), "did you mean 'BAOAB'"),
        (("--stepwidth", "1"), "no such option '--stepwidth'. Did you mean '--step-width'"),
        (
            ("--run-file", "nowhere/r.csv"),
            "--run-file nowhere/r.csv: the folder nowhere does not exist",
        ),
        (("--batch-data-files", "none.csv"), "none.csv does not exist"),
        (("--config", "none.toml"), "--config none.toml: No such file or directory"),
        (("--batch-size", "100"), "batch_size: expected at most the 20 rows of data, got 100"),
    ],
)
def test_wrong_input(call, words, text):
    fails(call("train", "--config", "c.toml", *words), 2, text)


def test_wrong_files_of_options(call):
    for line, text in (
        (
            "max_step = 5",
            "--config e.toml: unknown option 'max_step'; did you mean 'max_steps'",
        ),
        (
            "step_size = 0.1",
            "--config e.toml: unknown option 'step_size'; here it is called 'step_",
        ),
        ("max_steps = 1.5", "--config e.toml: max_steps: expected a whole number of at least 0"),
        ("max_steps", "--config e.toml is not a TOML file"),
        (
            "drop = 3",
            "the data are missing; give --batch-data-files",
        ),  # an option of another command
    ):
        Path("e.toml").write_text(line)
        fails(call("sample", "--config", "e.toml"), 2, text)


def test_data_commands_and_grids_that_cannot_be(call):
    for command in ("train", "sample"):
        fails(call(command, "--max-steps", 1), 2, "data are missing; give --batch-data-files")
    fails(call("analyze", "t.csv"), 2, "no such command 'analyze'; did you mean 'analyse'?")
    wide = ("--config", "c.toml", "--hidden-dimension", 2, "--out", "g.csv")
    fails(call("surface", "grid", *wide), 2, "grid: a grid of 9 axes has 2.36e+09 points")


def test_a_run_that_fails(call, monkeypatch):
    def step(*given):
        raise RuntimeError("the device is lost\nand more")

    monkeypatch.setattr("kinetograph.neural.walkers.Walkers.step", step)
    fails(call("sample", "--config", "c.toml"), 1, "kinetograph: RuntimeError: the device is lost")


def test_the_group_is_listed_without_an_import():
    assert isinstance(main.commands["neural"], click.Group)
    assert "neural" in CliRunner().invoke(main, ["--help"]).stdout


def test_flags_that_are_not_given_stay_at_their_defaults():
    assert given_options({"bias": False, "seed": 0, "loss": None}) == {"bias": False, "seed": 0}


def test_a_search_that_finds_nothing_says_so(call):
    legs = ("--max-legs", 1, "--max-steps", 30, "--gradient-tolerance", 1e-30)
    result = call("explore", "--config", "c.toml", *legs, "--out", "found")
    assert result.exit_code == 0, result.output
    assert "no minimum was found: no refinement reached a gradient of at most 1e-30" in (
        result.stdout
    )
    assert "--prior" in result.stdout
    assert "Empty" not in result.output
    given = ("--prior", 3)
    result = call("explore", "--config", "c.toml", *legs, *given, "--out", "found")
    assert "Take a larger --gradient-tolerance, or longer legs by --max-steps" in result.stdout
