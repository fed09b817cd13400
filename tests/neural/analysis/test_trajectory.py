"""One trajectory with all of its analyses."""

import numpy as np
import pytest

import kinetograph as kg
from kinetograph.neural import analysis
from kinetograph.neural.analysis import trajectory
from kinetograph.neural.analysis.tables import TABLES


def made(**options):
    """A trajectory of two walkers and two parameters."""
    x = np.random.default_rng(1).standard_normal((2, 300, 2))
    loss = 0.5 * np.sum(x * x, -1)
    records = {"loss": loss, "potential": loss, "kinetic_energy": np.abs(x[..., 0])}
    return analysis.Analysis(x, records, ["weight0", "bias0"], **options)


@pytest.fixture
def counts(monkeypatch):
    """The number of calls of each function."""
    calls = {}

    def counted(name):
        function = getattr(trajectory, name)

        def call(*values, **named):
            calls[name] = calls.get(name, 0) + 1
            return function(*values, **named)

        monkeypatch.setattr(trajectory, name, call)

    for name in ("covariance_of", "eigenpairs_of", "diffusion_map_of", "landmarks_of"):
        counted(name)
    return calls


def test_what_is_needed_is_computed_once(counts):
    study = made()
    assert counts == {}
    study.table("eigenvectors")
    study.table("eigenvalues")
    study.table("eigenvector_autocorrelation")
    study.table("covariance")
    assert counts == {"covariance_of": 1, "eigenpairs_of": 1}
    study.table("level_free_energy")
    study.table("landmarks")
    study.table("free_energy")
    study.table("diffusion_map")
    expected = {"covariance_of": 1, "eigenpairs_of": 1, "diffusion_map_of": 1, "landmarks_of": 1}
    assert counts == expected


def test_covariances_alone_need_no_eigenvectors(counts):
    made().table("covariance")
    assert counts == {"covariance_of": 1}


HEADERS = {
    "averages": "id end average_loss variance_loss average_kinetic_energy variance_kinetic_energy "
    "average_potential variance_potential",
    "parameters": "parameter average variance",
    "convergence": "parameter mean sd mcse_mean ess_bulk ess_tail r_hat",
    "covariance": "parameter weight0 bias0",
    "eigenvalues": "index eigenvalue",
    "eigenvectors": "parameter vector0 vector1",
    "autocorrelation": "component tau mean sigma",
    "eigenvector_autocorrelation": "component tau mean sigma",
    "diffusion_map": "index eigenvalue rate epsilon",
    "diffusion_coordinates": "id draw coordinate1 coordinate2 coordinate3 coordinate4 level_set",
    "landmarks": "id draw weight0 bias0",
    "free_energy": "value width density free_energy inverse_temperature",
    "level_free_energy": "value width density free_energy inverse_temperature points",
}


def test_files_have_headers_equal_to_their_content(tmp_path):
    study = made()
    assert list(HEADERS) == list(TABLES)
    paths = study.write(tmp_path / "results", *TABLES)
    for path in paths:
        columns = study.table(path.stem)
        back = analysis.read_table(path)
        assert list(back) == list(columns) == HEADERS[path.stem].split(), path
        for name, values in columns.items():
            if np.asarray(values).dtype.kind in "US":
                assert back[name].tolist() == values.tolist()
            else:
                assert back[name] == pytest.approx(np.asarray(values, float), rel=1e-7, nan_ok=True)
    points = study.draws.reshape(-1, 2)[study.landmarks]
    assert study.table("landmarks")["weight0"].tolist() == points[:, 0].tolist()


def test_rows_are_dropped_and_thinned():
    whole, part = made(), made(drop=100, every=3)
    assert part.draws == pytest.approx(whole.draws[:, 100::3])
    assert part.records["loss"] == pytest.approx(whole.records["loss"][:, 100::3])
    assert part.covariance == pytest.approx(np.cov(whole.draws[:, 100::3].reshape(-1, 2).T))
    assert part.table("diffusion_coordinates")["draw"][:2].tolist() == [100, 103]


def test_a_target_measure_uses_the_potential():
    study = made(map_options={"method": "tmdmap", "epsilon": 0.5}, count=2)
    points = study.draws.reshape(-1, 2)
    direct = analysis.diffusion_map(
        points,
        method="tmdmap",
        potential=0.5 * np.sum(points**2, 1),
        epsilon=0.5,
        count=2,
    )
    assert study.diffusion_map.eigenvalues == pytest.approx(direct.eigenvalues)


def test_another_temperature():
    study = made()
    columns = study.at_temperature(1.0)
    assert columns["ess"] == pytest.approx([600, 600])
    assert columns["variance"] == pytest.approx(study.table("parameters")["variance"])
    colder = study.at_temperature(1.5)
    assert (colder["variance"] < columns["variance"]).all()
    assert 100 < colder["ess"][0] < 600


@pytest.mark.parametrize(
    "records",
    [
        ["epoch", "accuracy", "loss", "potential", "time_per_nth_step", "step_width"],
        ["loss", "total_energy", "kinetic_energy", "scaled_momentum", "virial", "scaled_noise"],
        ["loss", "old_total_energy", "average_rejection_rate", "accepted"],
        ["loss", "thermostat", "noise_covariance_trace", "learning_rate", "eta_effective"],
    ],
)
@pytest.mark.parametrize("parameters", [["weight0", "weight1", "bias0"], ["c0"], ["theta[a]"]])
def test_files_of_any_sampler(tmp_path, records, parameters):
    """Rows of two walkers, in turns."""
    random = np.random.default_rng(2)
    values = random.standard_normal((40, len(parameters)))
    numbers = random.standard_normal((40, len(records)))
    head = {"id": np.tile([0, 1], 20), "step": np.repeat(np.arange(20), 2)}
    analysis.write_table(
        tmp_path / "trajectory.csv",
        head | {"loss": numbers[:, 0]} | dict(zip(parameters, values.T, strict=True)),
    )
    analysis.write_table(tmp_path / "run.csv", head | dict(zip(records, numbers.T, strict=True)))
    study = analysis.Analysis.from_files(tmp_path / "trajectory.csv", tmp_path / "run.csv", drop=5)
    assert study.names == parameters
    assert study.draws[1] == pytest.approx(values[1::2][5:], rel=1e-7)
    assert set(records) <= set(study.records)
    last = study.records[records[-1]]
    assert last[0] == pytest.approx(numbers[0::2][5:, -1], rel=1e-7)


@pytest.mark.filterwarnings("ignore")  # few draws
def test_results_of_a_run():
    x, y = kg.normal(0, 1, name="x"), kg.normal(np.zeros(2), 1, name="y")
    tree = kg.mcmc(kg.model(x, y), draws=60, warmup=60, chains=2, seed=1, progress=False)
    study = analysis.Analysis.from_tree(tree)
    assert study.names == ["x", "y[0]", "y[1]"]
    assert study.draws[..., 0] == pytest.approx(tree.posterior["x"].values)
    exact = 0.5 * np.sum(study.draws**2, -1) + 1.5 * np.log(2 * np.pi)
    assert study.records["potential"] == pytest.approx(exact, rel=1e-5)
    assert study.averages["average_potential"][-1] == pytest.approx(exact[1].mean(), rel=1e-5)
    summary = kg.summary(tree)
    assert study.table("convergence")["r_hat"] == pytest.approx(summary["r_hat"])


X = np.zeros((2, 10, 1))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: analysis.Analysis(X, {"loss": np.zeros((2, 9))}), r"record loss of shape \(2, 10"),
        (lambda: analysis.Analysis(X, drop=9), "must leave two rows or more of the 10 draws"),
        (lambda: analysis.Analysis(X, inverse_temperature=0), "must be a positive number, got 0"),
        (lambda: analysis.Analysis(X).averages, "expected one of the records loss, kinetic"),
        (
            lambda: analysis.Analysis(X).at_temperature(2.0),
            "no record 'potential', the potential U .*; the records are none; give the run file",
        ),
        (lambda: analysis.Analysis(X).table("averges"), "did you mean 'averages'"),
        (lambda: analysis.Analysis(X, names=["a", "b"]), "expected 1 names of parameters, got 2"),
    ],
)
def test_bad_input_is_named(call, text):
    with pytest.raises(ValueError, match=text):
        call()


def test_files_of_other_rows_are_refused(tmp_path):
    head = {"id": np.repeat([0, 1], 4), "step": np.tile(np.arange(1, 5), 2)}
    trajectory, run = tmp_path / "trajectory.csv", tmp_path / "run.csv"
    analysis.write_table(trajectory, head | {"weight0": np.arange(8.0)})
    for changed, text in (
        ({"step": head["step"] + 4}, "row 0 of a walker has step=5 in .*run.csv', but step=1 in"),
        ({"step": head["step"][::-1]}, "row 0 of a walker has step=4 in .*run.csv', but step=1 in"),
        ({"id": head["id"] + 2}, "row 0 of a walker has id=2 in .*run.csv', but id=0 in"),
    ):
        analysis.write_table(run, head | changed | {"potential": np.arange(8.0)})
        with pytest.raises(ValueError, match=text):
            analysis.Analysis.from_files(trajectory, run)
    interleaved = np.arange(8).reshape(2, 4).T.reshape(-1)  # the order of walkers does not matter
    columns = head | {"potential": np.arange(8.0)}
    analysis.write_table(run, {name: values[interleaved] for name, values in columns.items()})
    study = analysis.Analysis.from_files(trajectory, run)
    assert study.records["potential"].tolist() == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert "id" not in study.records


def test_bad_files_are_named(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("id,step,loss,weight0\n0,0,1,2\n0,1,1,2\n1,0,1,2\n")
    with pytest.raises(ValueError, match=r"equally many rows of each walker .*\{0.0: 2, 1.0: 1\}"):
        analysis.Analysis.from_files(path)
    path.write_text("id,step,loss\n0,0,1\n0,1,1\n")
    with pytest.raises(ValueError, match="has no parameters, only the records id, step, loss"):
        analysis.Analysis.from_files(path)
    with pytest.raises(TypeError, match="expected results"):
        analysis.Analysis.from_tree({"w": X})
