"""The inverse temperature and the potential of the sampled density, from files and trees."""

import numpy as np
import pytest

import kinetograph as kg
from kinetograph.neural.analysis import Analysis, read_table, write_table

RNG = np.random.default_rng(12)
X = RNG.normal(size=(40, 1))
Y = np.sign(X[:, 0] + 0.5 * RNG.normal(size=40))


def simulation(folder, **options):
    settings = {
        "output_activation": "tanh",
        "prior": 0.7,
        "loss_scale": 3.0,
        "inverse_temperature": 5.0,
        "step_width": 0.4,
        "every_nth": 5,
        "max_steps": 20_000,
        "seed": 6,
        "precision": "float64",
        "run_file": folder / "run.csv",
        "trajectory_file": folder / "trajectory.csv",
        **options,
    }
    return kg.neural.Simulation([X, Y], **settings)


@pytest.fixture(scope="module")
def sampled(tmp_path_factory):
    """A folder with files of a run with a prior, its simulation and its records."""
    folder = tmp_path_factory.mktemp("run")
    nn = simulation(folder)
    return folder, nn, nn.sample()


def moments(nn, beta):
    """Means and variances at an inverse temperature, by quadrature."""
    line = np.linspace(-5, 5, 301)
    points = np.stack(np.meshgrid(line, line), -1).reshape(-1, 2)
    potential = nn.landscape.potential(points)
    weights = np.exp(-beta * (potential - potential.min()))
    weights /= weights.sum()
    mean = weights @ points
    return mean, weights @ (points - mean) ** 2


def test_another_temperature_agrees_with_quadrature(sampled):
    folder, nn, records = sampled
    studies = [
        Analysis.from_files(folder / "trajectory.csv", folder / "run.csv", drop=100),
        Analysis.from_tree(records.to_tree(), drop=100),
    ]
    mean, variance = moments(nn, 9.0)
    for study in studies:
        assert (study.inverse_temperature, study.potential) == (5.0, "potential")
        columns = study.at_temperature(9.0)
        assert columns["ess"][0] > 1500
        assert columns["average"] == pytest.approx(mean, abs=0.02)
        assert columns["variance"] == pytest.approx(variance, rel=0.1)


def without(folder, target, *dropped, **changed):
    """A copy of the run file without some columns."""
    columns = {n: v for n, v in read_table(folder / "run.csv").items() if n not in dropped}
    write_table(target, columns | {n: change(columns[n]) for n, change in changed.items()})
    return folder / "trajectory.csv", target


def test_the_potential_follows_from_the_energies(sampled, tmp_path):
    folder, _, records = sampled
    study = Analysis.from_files(*without(folder, tmp_path / "run.csv", "potential"))
    exact = records.run_info["potential"].to_numpy()
    assert study.records["potential"][0] == pytest.approx(exact, abs=1e-6)


def test_a_loss_alone_is_not_the_potential(sampled, tmp_path):
    folder, _, _ = sampled
    files = without(folder, tmp_path / "run.csv", "potential", "total_energy")
    with pytest.raises(ValueError, match=r"no record 'potential', the potential U .* potential="):
        Analysis.from_files(*files).at_temperature(9.0)
    with pytest.raises(ValueError, match="give the run file, too"):
        Analysis.from_files(files[0]).at_temperature(9.0)
    assert Analysis.from_files(*files, potential="loss").at_temperature(9.0)["ess"][0] > 0


def test_the_temperature_is_the_column_beta(sampled, tmp_path):
    folder, _, _ = sampled
    files = (folder / "trajectory.csv", folder / "run.csv")
    assert Analysis.from_files(*files, inverse_temperature=5.0).inverse_temperature == 5.0
    with pytest.raises(ValueError, match=r"got inverse_temperature=9, but the record beta .* is 5"):
        Analysis.from_files(*files, inverse_temperature=9.0)
    assert Analysis.from_files(files[0], inverse_temperature=9.0).inverse_temperature == 9.0
    assert Analysis.from_files(files[0]).inverse_temperature == 1.0
    ramp = without(folder, tmp_path / "ramp.csv", beta=lambda b: b + (np.arange(len(b)) < 100))
    with pytest.raises(ValueError, match=r"changes within the rows.* between 5 and 6.* drop="):
        Analysis.from_files(*ramp)
    assert Analysis.from_files(*ramp, drop=100).inverse_temperature == 5.0


@pytest.mark.filterwarnings("ignore")  # few draws
def test_the_temperature_of_results_of_mcmc():
    x = kg.normal(0, 1, name="x")
    sampler = kg.samplers.BAOAB(step_size=0.5, inverse_temperature=7.0)
    settings = {"draws": 50, "warmup": 10, "chains": 2, "seed": 1, "progress": False}
    tree = kg.mcmc(kg.model(x), sampler=sampler, **settings)
    assert Analysis.from_tree(tree).inverse_temperature == 7.0


def test_potentials_of_mini_batches_warn(tmp_path):
    nn = simulation(tmp_path, batch_size=10, max_steps=500)
    records = nn.sample()
    files = (tmp_path / "trajectory.csv", tmp_path / "run.csv")
    for study in (Analysis.from_files(*files), Analysis.from_tree(records.to_tree())):
        with pytest.warns(kg.KinetographWarning, match="estimates on mini-batches"):
            study.at_temperature(6.0)
    target = Analysis.from_files(*files, map_options={"method": "tmdmap", "epsilon": 0.5})
    with pytest.warns(kg.KinetographWarning, match=r"diffusion_map: .* mini-batches"):
        _ = target.diffusion_map


def test_steps_of_training_are_not_draws(tmp_path):
    nn = simulation(tmp_path, max_steps=20, every_nth=1)
    tree = nn.fit().to_tree()
    files = (tmp_path / "trajectory.csv", tmp_path / "run.csv")
    for study in (Analysis.from_tree(tree), Analysis.from_files(*files)):
        assert study.covariance.shape == (2, 2)
        with pytest.raises(ValueError, match=r"at_temperature: the rows are steps of training"):
            study.at_temperature(2.0)
        with pytest.raises(ValueError, match=r"free_energy: the rows are steps of training"):
            _ = study.free_energy


def test_the_run_file_of_a_regression_is_read(tmp_path):
    """Its column accuracy is empty."""
    nn = simulation(tmp_path, max_steps=100)
    nn.dataset = [X, X + 0.3]
    nn.sample()
    files = (tmp_path / "trajectory.csv", tmp_path / "run.csv")
    study = Analysis.from_files(*files)
    assert np.isnan(study.records["accuracy"]).all()
    lines = files[1].read_text().splitlines()
    lines[1] = lines[1].replace(",,", ",high,", 1)
    files[1].write_text("\n".join(lines))
    with pytest.raises(TypeError, match=r"run file '.*run.csv': column accuracy"):
        Analysis.from_files(*files)


def test_empty_entries_are_nan(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b,c\n,1,x\n,2,\n, 3,y\n")
    table = read_table(path)
    assert np.isnan(table["a"]).all()
    assert table["b"].tolist() == [1, 2, 3]
    assert table["c"].tolist() == ["x", "", "y"]
    path.write_text("a,b\n1,\n2,3\n")
    assert read_table(path)["b"] == pytest.approx([np.nan, 3], nan_ok=True)
