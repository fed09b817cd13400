"""`kg.neural.Simulation` against NumPy, on small networks."""

import logging
import re
import warnings

import jax
import numpy as np
import pytest
from scipy import stats

import kinetograph as kg
from kinetograph.neural.losses import LOSSES, loss
from kinetograph.neural.sampler_options import make_sampler

RNG = np.random.default_rng(1)
X = RNG.normal(size=(40, 2))
Y = X @ np.array([[1.0], [-0.5]]) + 0.3 + 0.1 * RNG.normal(size=(40, 1))
DESIGN = np.column_stack([X, np.ones(40)])
W, RESIDUALS = np.linalg.lstsq(DESIGN, Y, rcond=None)[:2]
LOWEST = RESIDUALS[0] / 40


def linear(**options):
    settings = {"seed": 3, "max_steps": 20, "precision": "float64", **options}
    return kg.neural.Simulation([X, Y], **settings)


def loss_of(w, x=X, y=Y):
    return np.mean((x @ w[:2] + w[2] - y[:, 0]) ** 2)


def test_training_reaches_the_least_squares_fit():
    nn = linear(max_steps=400, learning_rate=0.2)
    first = nn.loss()
    data = nn.fit()
    losses = data.run_info["loss"]
    assert first > losses.iloc[0] > losses.iloc[-1]
    assert abs(nn.loss(full=True) - LOWEST) < 1e-6
    np.testing.assert_allclose(nn.parameters, W[:, 0], atol=1e-4)
    np.testing.assert_array_equal(data.parameters[0, -1], nn.parameters)


def test_two_runs_are_one_longer_run():
    nn = linear(number_walkers=2)
    parts, momenta = [nn.sample(), nn.sample()], np.array(nn.momenta)
    nn.reset_parameters()
    nn.set_options(max_steps=40)
    whole = nn.sample()
    for name in ("run_info", "trajectory", "averages"):
        got = [
            getattr(part, name).drop(columns="time_per_nth_step", errors="ignore") for part in parts
        ]
        wanted = getattr(whole, name).drop(columns="time_per_nth_step", errors="ignore")
        np.testing.assert_array_equal(np.concatenate([g.to_numpy() for g in got]), wanted)
    np.testing.assert_array_equal(nn.momenta, momenta)


def test_values_at_the_parameters():
    nn = linear(prior=2.0, loss_scale=3.0)
    w = np.array([0.2, -0.1, 0.4])
    nn.parameters = w
    assert nn.loss() == pytest.approx(loss_of(w), rel=1e-12)

    def potential(w):
        return 3 * loss_of(w) + 0.5 * np.sum((w / 2) ** 2)

    steps = 1e-5 * np.eye(3)
    slope = [(potential(w + e) - potential(w - e)) / 2e-5 for e in steps]
    np.testing.assert_allclose(nn.gradients(), slope, rtol=1e-7)
    hessian = 6 * DESIGN.T @ DESIGN / 40 + np.eye(3) / 4
    np.testing.assert_allclose(nn.hessians(), hessian, rtol=1e-10)
    np.testing.assert_allclose(nn.hessian_vector(w), hessian @ w, rtol=1e-10)
    eigenvalues = np.linalg.eigvalsh(hessian)[::-1]
    np.testing.assert_allclose(nn.hessian_spectrum(3), eigenvalues, rtol=1e-8)
    assert nn.optimal_step_width() == pytest.approx(2 / np.sqrt(eigenvalues[0]), rel=1e-8)
    nn.set_options(covariance_blending=30.0, inverse_temperature=4.0)
    coupled = hessian @ (np.eye(len(hessian)) + 30 * np.linalg.inv(4 * hessian))
    width = 2 / np.sqrt(np.linalg.eigvals(coupled).real.max())
    assert nn.optimal_step_width() == pytest.approx(width, rel=1e-6)
    rows = 2 * (DESIGN @ w - Y[:, 0])[:, None] * DESIGN
    np.testing.assert_allclose(nn.gradient_covariance(), np.cov(rows.T), rtol=1e-10)
    np.testing.assert_allclose(nn.predict(X[:5])[:, 0], DESIGN[:5] @ w, rtol=1e-12)


def test_a_batch_stays_until_the_next():
    nn = linear(batch_size=8, shuffle="cyclic")
    nn.parameters = [0.2, -0.1, 0.4]
    w = np.asarray(nn.parameters)
    assert nn.loss() == nn.loss() == pytest.approx(loss_of(w, X[:8], Y[:8]), rel=1e-12)
    assert nn.loss(full=True) == pytest.approx(loss_of(w), rel=1e-12)
    slopes = nn.gradients()
    errors = DESIGN[:8] @ w - Y[:8, 0]
    np.testing.assert_allclose(slopes, DESIGN[:8].T @ errors / 4, rtol=1e-12)
    np.testing.assert_allclose(nn.hessians(), DESIGN[:8].T @ DESIGN[:8] / 4, rtol=1e-12)
    product = DESIGN[:8].T @ DESIGN[:8] @ w / 4
    np.testing.assert_allclose(nn.hessian_vector(w), product, rtol=1e-12)
    assert nn.loss() == pytest.approx(np.mean(errors**2), rel=1e-12)
    nn.next_batch()
    assert nn.loss() == pytest.approx(loss_of(w, X[8:16], Y[8:16]), rel=1e-12)
    assert not np.allclose(slopes, nn.gradients())
    nn.reset_dataset()
    np.testing.assert_array_equal(slopes, nn.gradients())
    info = nn.sample().run_info
    np.testing.assert_array_equal(info["epoch"], info["step"] * 8 // 40)
    assert nn.loss() == pytest.approx(info["loss"].iloc[-1], rel=1e-12)


@pytest.mark.filterwarnings("ignore:CCAdL takes the noise")
@pytest.mark.parametrize(
    ("y", "sampler", "precision"),
    [(Y, "BAOAB", "float64"), (np.sign(Y), "BAOAB", "float64"), (Y, "CCAdL", "float32")],
    ids=["numbers", "signs", "covariance"],
)
def test_the_last_batch_of_an_epoch_may_be_smaller(y, sampler, precision):
    """40 rows in batches of 16, 16 and 8; records and values are those of NumPy."""
    options = {"batch_size": 16, "last_batch": "keep", "max_steps": 7}
    options |= {"precision": precision, "sampler": sampler, "step_width": 0.05}
    nn, limit = kg.neural.Simulation([X, y], seed=1, **options), 1e-11
    limit = limit if precision == "float64" else 1e-4
    rows = nn._model.rows(nn._batch_key(0), np.arange(7))
    parts = [part[part < 40] for part in rows]
    assert [len(part) for part in parts] == [16, 16, 8, 16, 16, 8, 16]
    for epoch in (parts[:3], parts[3:6]):
        assert sorted(np.concatenate(epoch)) == [*range(40)]
    nn.parameters = w = np.array([0.2, -0.1, 0.4])
    for part in parts[:4]:
        assert nn.loss() == pytest.approx(loss_of(w, X[part], y[part]), rel=limit)
        nn.next_batch()
    data = nn.sample()
    info, draws = data.run_info, data.parameters[0].astype(float)
    assert info["epoch"].tolist() == [0, 0, 1, 1, 1, 2, 2]
    wanted: dict[str, list] = {"loss": [], "accuracy": [], "virial": []}
    for w, part in zip(draws, parts, strict=False):
        outputs, labels = DESIGN[part] @ w, y[part, 0]
        right = np.mean(np.sign(outputs) == labels) if y is not Y else np.nan
        slope = 2 * DESIGN[part].T @ (outputs - labels) / len(labels)
        for name, value in zip(wanted, (loss_of(w, X[part], y[part]), right, w @ slope / 2)):
            wanted[name].append(value)
    for name, values in wanted.items():
        np.testing.assert_allclose(info[name], values, rtol=limit, atol=limit, err_msg=name)


def test_parameters_and_momenta_of_walkers():
    nn = linear(number_walkers=3)
    assert nn.num_walkers() == 3
    assert nn.num_parameters() == 3
    assert nn.parameters.shape == (3, 3)
    nn.parameters = [1.0, 2.0, 3.0]
    nn.parameters[1] = [0.0, 0.0, 1.0]
    np.testing.assert_array_equal(nn.parameters, [[1, 2, 3], [0, 0, 1], [1, 2, 3]])
    np.testing.assert_allclose(nn.loss(), [loss_of(w) for w in nn.parameters])
    np.testing.assert_allclose(nn.loss(1), loss_of(np.array([0, 0, 1.0])))
    assert nn.gradients().shape == (3, 3)
    assert nn.hessians(2).shape == (3, 3)
    accessor = nn.momenta
    nn.momenta = np.ones(3)
    np.testing.assert_array_equal(accessor, np.ones((3, 3)))
    with pytest.raises(kg.ShapeError, match="parameters: expected 3 numbers"):
        nn.parameters = np.zeros(4)
    nn.set_options(number_walkers=1)
    assert isinstance(nn.loss(), float)
    nn.set_options(always_list=True)
    assert nn.loss().shape == (1,)
    nn.set_options(sampler="SGLD")
    with pytest.raises(kg.ModelError, match="SGLD keeps no momenta"):
        _ = nn.momenta


@pytest.mark.parametrize("beta", [None, 9.0])
def test_new_momenta_are_those_of_all_walkers(beta):
    """By default at the inverse temperature, which is 4."""
    nn = linear(hidden_dimension=[100, 100], number_walkers=2, inverse_temperature=4.0)
    momenta = nn.momenta
    nn.init_momenta(beta)
    p = np.asarray(momenta)  # the same accessor
    np.testing.assert_array_equal(p, nn.momenta)
    variance = 1 / (beta or 4.0)
    assert p.shape == (2, 10_501)
    for each in p:
        assert abs(each.var() / variance - 1) < 5.5 * np.sqrt(2 / each.size)
        assert abs(each.mean()) < 5.5 * np.sqrt(variance / each.size)
    assert abs(np.corrcoef(p)[0, 1]) < 5.5 / np.sqrt(p.shape[1])


@pytest.mark.parametrize("sampler", [None, "SGLD"])
def test_an_option_that_is_a_value_compiles_nothing(sampler):
    values = {
        "step_width": 0.05,
        "inverse_temperature": 3.0,
        "friction_constant": 2.0,
        "burn_in_steps": 2,
        "every_nth": 2,
        "max_steps": 6,
    }
    nn = linear(max_steps=5, **({} if sampler is None else {"sampler": sampler}))
    nn.sample()
    compiled = []
    note = lambda name, *_, **__: compiled.append(name) if "backend_compile" in name else None
    jax.monitoring.register_event_duration_secs_listener(note)
    try:
        for option, value in values.items():
            nn.set_options(**{option: value})
            info = nn.sample().run_info
        assert compiled == []
        nn.set_options(loss_scale="sum")
        nn.sample()
        assert compiled != []  # the listener hears compilations
    finally:
        jax.monitoring.unregister_event_duration_listener(note)
    assert (info["step_width"] == 0.05).all()
    assert (info["beta"] == 3.0).all()
    assert np.diff(info["step"]).tolist() == [2, 2]


SHAPES = {
    "loss": (lambda nn: nn.loss(), ()),
    "potential": (lambda nn: nn.potential(), ()),
    "score": (lambda nn: nn.score(), ()),
    "gradients": (lambda nn: nn.gradients(), (3,)),
    "hessians": (lambda nn: nn.hessians(), (3, 3)),
    "hessian_vector": (lambda nn: nn.hessian_vector(np.ones(3)), (3,)),
    "hessian_spectrum": (lambda nn: nn.hessian_spectrum(2), (2,)),
    "gradient_covariance": (lambda nn: nn.gradient_covariance(), (3, 3)),
    "optimal_step_width": (lambda nn: nn.optimal_step_width(), ()),
    "predict": (lambda nn: nn.predict(X[:5]), (5, 1)),
}


@pytest.mark.parametrize("name", SHAPES)
def test_values_of_walkers_are_stacked(name):
    value, shape = SHAPES[name]
    one = linear()
    assert np.shape(value(one)) == shape
    assert isinstance(value(one), float) == (shape == ())
    one.set_options(always_list=True)
    assert value(one).shape == (1, *shape)
    assert value(linear(number_walkers=2)).shape == (2, *shape)


def test_a_walker_is_a_single_run_and_starts_differ():
    nn = linear(number_walkers=2)
    many = nn.sample().parameters
    nn.set_options(number_walkers=1)
    nn.reset_parameters()
    np.testing.assert_array_equal(nn.sample().parameters[0], many[0])
    assert not np.allclose(many[0], many[1])
    same = linear(number_walkers=2, walker_starts="same").parameters
    np.testing.assert_array_equal(same[0], same[1])
    jittered = linear(number_walkers=2, walker_starts="same", walker_jitter=0.1).parameters
    assert 0 < np.abs(jittered[0] - jittered[1]).max() < 2


def test_walkers_may_begin_at_draws_of_the_prior():
    """Of exp(-beta factor w^2 / (2 sd^2)); fixed parameters stay."""
    options = {"prior": 3.0, "prior_factor": 0.5, "inverse_temperature": 4.0, "initial": "prior"}
    options |= {"number_walkers": 2, "hidden_dimension": [100, 60], "precision": "float64"}
    nn = kg.neural.Simulation([X, Y], seed=1, fix_parameters={"layer0/bias": 0.25}, **options)
    w = np.asarray(nn.parameters)
    assert w.shape == (2, nn.num_parameters())
    variance = 9 / (0.5 * 4)
    for each in (*w, w[:, -61:].ravel()):  # of biases, too
        assert abs(each.var() / variance - 1) < 5.5 * np.sqrt(2 / each.size)
        assert abs(each.mean()) < 5.5 * np.sqrt(variance / each.size)
    assert abs(np.corrcoef(w)[0, 1]) < 5.5 / np.sqrt(w.shape[1])
    walls = {"prior_lower_boundary": -1.0, "prior_upper_boundary": 0.5}
    for one in (walls, *({name: bound} for name, bound in walls.items())):
        u = np.asarray(kg.neural.Simulation([X, Y], seed=1, **options, **one).parameters)
        low, high = (one.get(name, bound) for name, bound in zip(walls, (-np.inf, np.inf)))
        law = stats.truncnorm(low / np.sqrt(variance), high / np.sqrt(variance))
        assert low < u.min()
        assert u.max() < high
        assert stats.kstest(u.ravel() / np.sqrt(variance), law.cdf).pvalue > 1e-7
    for prior in (None, lambda tree: 0.0):
        with pytest.raises(ValueError, match=r"^initial: 'prior' needs the standard deviation"):
            linear(initial="prior", prior=prior).loss()


def test_walkers_of_a_file_may_have_the_same_start(tmp_path):
    path = str(tmp_path / "trajectory.csv")
    rows = linear(number_walkers=3, trajectory_file=path).sample().parameters
    options = {"number_walkers": 3, "parse_parameters_file": path}
    np.testing.assert_allclose(linear(**options).parameters, rows[:, -1], rtol=1e-8)
    same = linear(**options, parse_steps=[2, 4], walker_starts="same").parameters
    np.testing.assert_allclose(same, np.repeat(rows[:1, 1], 3, 0), rtol=1e-8)


def test_options_may_change_at_any_time():
    nn = linear()
    nn.sample()
    w, p = np.array(nn.parameters), np.array(nn.momenta)
    nn.set_options(sampler="GLA2", loss_scale="sum", step_width=0.01)
    np.testing.assert_array_equal(nn.parameters, w)
    np.testing.assert_array_equal(nn.momenta, p)
    info = nn.sample().run_info
    assert info["step"].iloc[0] == 21
    assert info["step_width"].iloc[-1] == pytest.approx(0.01)
    nn.set_options(inverse_temperature=7.0, optimizer="adam", learning_rate=0.01)
    assert nn.sample().run_info["beta"].iloc[0] == 7
    nn.fit()
    nn.set_options(hidden_dimension=[4], hidden_activation="tanh")
    assert nn.num_parameters() == 17
    assert nn.get_options("hidden_dimension") == (4,)
    assert "hidden_dimension ((4,))" in nn.help()
    with pytest.raises(AttributeError, match="'step_width'"):
        nn.set_options(stepwidth=0.1)
    with pytest.raises(ValueError, match="every_nth"):
        nn.set_options(every_nth=0, max_steps=5)
    assert nn.get_options("max_steps") == 20


def test_a_missing_or_wrong_dataset():
    nn = kg.neural.Simulation()
    with pytest.raises(kg.DataError, match="the dataset is missing"):
        nn.loss()
    with pytest.raises(kg.DataError, match="expected a pair"):
        nn.dataset = [X]
    with pytest.raises(kg.ShapeError, match="inputs have 40 rows and labels have 3"):
        nn.dataset = [X, Y[:3]]
    with pytest.raises(kg.DataError, match="inputs: row 2, column 1 is nan"):
        nn.dataset = [np.where(np.arange(80).reshape(40, 2) == 5, np.nan, X), Y]
    nn.dataset = [X, Y]
    assert nn.num_parameters() == 3
    with pytest.raises(ValueError, match="batch_size"):
        linear(batch_size=100).loss()


def test_files_of_data(tmp_path):
    names = [tmp_path / "first.csv", tmp_path / "second.csv"]
    for path, rows in zip(names, (slice(0, 15), slice(15, 40)), strict=True):
        table = np.column_stack([X, Y])[rows]
        np.savetxt(path, table, delimiter=",", header="x1,x2,label", comments="")
    nn = kg.neural.Simulation(batch_data_files=names, precision="float64", seed=3)
    np.testing.assert_allclose(nn.loss(), linear().loss(), rtol=1e-12)
    np.testing.assert_array_equal(nn.dataset[0], X)
    for files in (names, tuple(map(str, names)), np.array(names, str)):
        same = kg.neural.Simulation(files, precision="float64", seed=3)
        assert same.get_options("batch_data_files") == tuple(map(str, names))
        for got, wanted in zip(same.dataset, nn.dataset, strict=True):
            np.testing.assert_array_equal(got, wanted)
        assert same.loss() == nn.loss()
    same.dataset = names[0]
    np.testing.assert_array_equal(same.dataset[1], Y[:15])
    one = kg.neural.Simulation(str(names[0]), output_dimension=2, precision="float64", seed=3)
    np.testing.assert_array_equal(one.dataset[1], np.column_stack([X[:, 1:], Y])[:15])
    assert same.get_options("batch_data_files") == (str(names[0]),)
    with pytest.raises(FileNotFoundError, match=r"dataset: the file .*nothing\.csv .*test_simul"):
        same.dataset = tmp_path / "nothing.csv"
    with pytest.raises(ValueError, match=r"run_file: .* is also the file of batch_data_files"):
        kg.neural.Simulation(names, run_file=names[1])
    same.set_options(run_file=names[1])
    with pytest.raises(ValueError, match=r"run_file: .* is also the file of batch_data_files"):
        same.dataset = names
    with pytest.raises(ValueError, match=r"batch_data_files: got .*, but this simulation has a da"):
        kg.neural.Simulation(names, batch_data_files=names)
    assert same.get_options("batch_data_files") == (str(names[0]),)
    same.dataset = [X, Y]
    assert same.get_options("batch_data_files") == ()
    names[0].write_text("x1,x2,label\n1,nothing,2\n")
    nn.set_options(batch_data_files=names[:1])
    with pytest.raises(kg.DataError, match=r"first.csv, row 1 .*column x2.*'nothing'"):
        nn.loss()


def test_input_columns_are_expressions_of_the_inputs():
    nn = linear(input_columns=["x1", "x2^2", "sin(x1)*x2"])
    assert nn.num_parameters() == 4
    nn.parameters = w = np.array([0.3, -0.2, 0.5, 0.1])
    features = np.column_stack([X[:, 0], X[:, 1] ** 2, np.sin(X[:, 0]) * X[:, 1]])
    wanted = features @ w[:3] + w[3]
    np.testing.assert_allclose(nn.predict(X)[:, 0], wanted, rtol=1e-12)
    assert nn.loss() == pytest.approx(np.mean((wanted - Y[:, 0]) ** 2), rel=1e-12)
    with pytest.raises(ValueError, match="unknown column 'x3'"):
        linear(input_columns="x3").loss()


def test_a_reset_begins_again(tmp_path):
    path = tmp_path / "run.csv"
    nn = linear(batch_size=8, run_file=path)
    start, first = np.array(nn.parameters), nn.sample().trajectory
    nn.next_batch()
    nn.reset_parameters()
    np.testing.assert_array_equal(nn.parameters, start)
    assert nn.loss() == pytest.approx(linear(batch_size=8).loss(), rel=1e-12)
    np.testing.assert_array_equal(nn.sample().trajectory, first)
    assert len(path.read_text().splitlines()) == 21
    nn.reset_parameters(seed=4)
    np.testing.assert_array_equal(nn.parameters, linear(seed=4).parameters)
    assert nn.seed == 4
    assert not np.allclose(start, nn.parameters)


def test_the_lists_have_what_is_accepted():
    nn = linear(max_steps=1)
    for option, names, room in (
        ("sampler", nn.get_samplers(), kg.samplers),
        ("optimizer", nn.get_optimisers(), kg.optimizers),
    ):
        assert set(names) < set(room.__all__)
        for name in room.__all__:
            if name in names:
                nn.set_options(**{option: name})
            else:
                with pytest.raises(ValueError, match=f"{option}: unknown name '{name}'"):
                    nn.set_options(**{option: name})
    for name in nn.get_samplers():
        assert type(make_sampler("sampling", nn.get_options() | {"sampler": name}, 1)) is getattr(
            kg.samplers, name
        )
    for name in nn.get_optimisers():
        made = make_sampler("training", nn.get_options() | {"optimizer": name}, 1)
        assert made.optimizer.name == name
    for name in nn.get_activations():
        start = kg.neural.mlp([2], name).start(jax.random.key(0), X[0], 1)
        assert np.isfinite(kg.neural.mlp([2], name).row(start, X[0])).all()
    for name in nn.get_losses():
        assert loss(name, "test") is LOSSES[name]


@pytest.mark.parametrize(
    ("options", "trained"),
    [
        ({"batch_size": 8, "sampler": "CCAdL"}, False),
        pytest.param({"batch_size": 8, "sampler": "CCAdL"}, True, marks=pytest.mark.slow),
        pytest.param({}, True, marks=pytest.mark.slow),
        pytest.param({"sampler": "HMC"}, True, marks=pytest.mark.slow),
    ],
)
def test_a_restored_run_is_the_uninterrupted_one(tmp_path, options, trained):
    settings = {"number_walkers": 2, "burn_in_steps": 5, **options}
    path = str(tmp_path / "state.npz")
    nn = linear(**settings)
    if trained:
        nn.fit()
    nn.sample()
    nn.save(path)
    wanted = [nn.sample(), *([nn.fit()] if trained else [])]
    other = linear(**settings, restore_model=path)
    for role, data in zip((other.sample, other.fit), wanted, strict=False):
        got = role()
        for name in ("run_info", "trajectory", "averages"):
            frames = (
                getattr(d, name).drop(columns="time_per_nth_step", errors="ignore")
                for d in (got, data)
            )
            np.testing.assert_array_equal(*(frame.to_numpy() for frame in frames))


@pytest.mark.parametrize("given", [None, "float32", "float64"])
def test_the_precision_of_a_state(tmp_path, given):
    """It is an option of the file."""
    path = str(tmp_path / "state.npz")
    saved = linear(precision="float64")
    saved.sample()
    saved.save(path)
    options = {} if given is None else {"precision": given}
    nn = kg.neural.Simulation([X, Y], max_steps=20, restore_model=path, **options)
    assert nn.get_options("precision") == (given or "float64")
    np.testing.assert_allclose(nn.parameters, saved.parameters, rtol=1e-6)
    later = kg.neural.Simulation([X, Y], max_steps=20, **options)
    later.load(path)
    wanted = saved.sample().parameters
    np.testing.assert_array_equal(later.sample().parameters, wanted)
    if given != "float32":
        np.testing.assert_array_equal(nn.sample().parameters, wanted)
    else:
        assert nn.sample().trajectory["step"].iloc[0] == 21


def test_options_that_are_none_are_restored(tmp_path):
    saved = linear()
    saved.sample()
    saved.save(str(tmp_path / "state"))
    other = linear(batch_size=8, every_nth=5)
    other.load(str(tmp_path / "state"))
    assert other.get_options("batch_size") is None
    np.testing.assert_array_equal(other.sample().parameters, saved.sample().parameters)


def test_a_precision_that_is_changed_keeps_the_walkers():
    nn = linear(precision="float64", number_walkers=2)
    nn.sample()
    before = np.array(nn.parameters)
    nn.set_options(precision="float32")
    np.testing.assert_allclose(nn.parameters, before, rtol=1e-6)
    assert nn.sample().parameters.shape == (2, 20, 3)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"run_file": "a.csv", "trajectory_file": "b/../a.csv"}, "trajectory_file: .* of run_file"),
        ({"trajectory_file": "t.parquet"}, r"trajectory_file: 't.parquet' .*\.csv .* \.zarr"),
        ({"averages_file": "averages"}, "averages_file: 'averages' has an unknown format"),
        (
            {"batch_data_files": ["x.csv", "d.csv"], "run_file": "d.csv"},
            "run_file: .* overwritten",
        ),
        ({"directions_file": "d.csv", "averages_file": "d.csv"}, "averages_file: .* overwritten"),
        ({"save_model": "a", "sql_db": "a"}, "sql_db: 'a' is also the file of save_model"),
    ],
)
def test_files_that_cannot_be_written(tmp_path, monkeypatch, options, text):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "b").mkdir()
    for name in ("x.csv", "d.csv"):
        (tmp_path / name).touch()
    with pytest.raises(ValueError, match=text):
        kg.neural.Simulation(**options)
    nn = linear()
    with pytest.raises(ValueError, match=text):
        nn.set_options(step_width=0.2, **options)
    assert nn.get_options("step_width") != 0.2
    assert nn.get_options("run_file") is None
    nn.save("state")
    nn.set_options(save_model="state", restore_model="state")


def test_options_take_the_place_of_the_options_of_a_file(tmp_path):
    path = str(tmp_path / "state.npz")
    saved = linear(max_steps=5, step_width=0.05)
    saved.sample()
    saved.save(path)
    nn = linear(hidden_dimension=[3])
    nn.set_options(restore_model=path, max_steps=4)
    np.testing.assert_array_equal(nn.parameters, saved.parameters)
    np.testing.assert_array_equal(nn.momenta, saved.momenta)
    assert nn.get_options("hidden_dimension") == ()
    assert (nn.get_options("max_steps"), nn.get_options("step_width")) == (4, 0.05)
    assert nn.sample().run_info["step"].tolist() == [6, 7, 8, 9]
    other = kg.neural.Simulation([X[:, :1], Y], hidden_dimension=[2], seed=1)
    before = np.array(other.parameters)
    with pytest.raises(kg.DataError, match="3 parameters, the network for these data has 2"):
        other.set_options(restore_model=path, max_steps=7)
    np.testing.assert_array_equal(other.parameters, before)
    assert other.get_options("max_steps") == 1000


def test_what_a_run_prints(capsys):
    calls = []
    nn = linear(max_steps=60, number_walkers=2, progress=lambda *numbers: calls.append(numbers))
    nn.sample()
    assert calls[0] == (0, 60)
    assert calls[-1] == (60, 60)
    assert len(calls) > 20
    assert capsys.readouterr().err == ""
    nn.set_options(progress=False, verbose=1, max_steps=20)
    nn.sample()
    (line,) = capsys.readouterr().err.splitlines()
    assert re.fullmatch(r"sampling: 20 steps of 2 walkers in \d+\.\d\d s, [\d,]+ steps/s", line)
    nn.set_options(progress=True, verbose=3)
    nn.sample()
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("sampling: Simulation(")
    assert lines[1] == "sampling: 20 steps"
    assert any(re.fullmatch(r"sampling: step 100, loss [\d.e-]+", line) for line in lines)
    assert lines[-1].endswith("steps/s")


def test_runs_without_rows_move_on():
    parts = linear(max_steps=6, every_nth=8)
    text = "no rows: .* every_nth=8, .* 6 steps from 1 to 6.* smaller every_nth"
    with pytest.warns(kg.KinetographWarning, match=text):
        none = parts.sample()
    assert none.trajectory.shape == (0, 6)
    assert none.to_tree()["posterior"].sizes["draw"] == 0
    parts.sample()
    end = np.array(parts.parameters)
    parts.reset_parameters()
    parts.set_options(max_steps=12)
    parts.sample()
    np.testing.assert_array_equal(parts.parameters, end)
    parts.set_options(max_steps=0)
    assert len(parts.sample().run_info) == 0
    with pytest.raises(ValueError, match="the trajectory has no rows"):
        parts.predict(X, trajectory=none)


def test_labels_that_the_network_does_not_fit():
    classes = np.arange(40)[:, None] % 3
    nn = kg.neural.Simulation([X, classes], loss="categorical", seed=1, max_steps=2)
    data = nn.sample()
    for label in (0.5, -1, np.nan):
        with pytest.raises(kg.DataError):
            nn.log_predictive_density(X[:1], [[label]], data)
    with pytest.raises(kg.ShapeError, match="classes 0 to 7, but the network has 3 outputs"):
        nn.log_predictive_density(X[:1], [[7]], data)
    assert np.isfinite(nn.log_predictive_density(X[:1], [[1]], data)).all()
    layout = kg.neural.ParameterLayout(kg.neural.mlp().start(jax.random.key(1), X[0], 2))
    for make in (kg.neural.posterior, kg.neural.Landscape):
        with pytest.raises(kg.ShapeError, match="2 outputs, but the loss mean_squared needs 1 "):
            make(kg.neural.mlp(), layout, "mean_squared", X, Y)


@pytest.mark.parametrize("inputs", [X[0], X[:, :1], X[:0]])
def test_inputs_of_another_shape(inputs):
    with pytest.raises(kg.ShapeError, match=r"each of shape \(2,\), got shape"):
        linear().predict(inputs)


def test_predictions_average_over_a_trajectory():
    nn = linear(inverse_temperature=50.0)
    data = nn.sample()
    draws = data.trajectory[["weight0", "weight1", "bias0"]].to_numpy()
    outputs = DESIGN[:4] @ draws.T
    got = nn.predict(X[:4], trajectory=data, quantiles=[0.5])
    np.testing.assert_allclose(got.mean[:, 0], outputs.mean(1))
    np.testing.assert_allclose(got.sd[:, 0], outputs.std(1))
    np.testing.assert_allclose(got.quantiles[0, :, 0], np.median(outputs, 1))
    wanted = np.log(np.mean(np.exp(-((outputs - Y[:4]) ** 2)), 1))
    np.testing.assert_allclose(nn.log_predictive_density(X[:4], Y[:4], data), wanted)


def test_the_accuracy_of_signs():
    nn = kg.neural.Simulation([X[:4], np.array([1, -1, 1, -1])], seed=1)
    nn.parameters = [1.0, 0.0, 0.0]
    assert nn.score() == np.mean(np.sign(X[:4, 0]) == [1, -1, 1, -1])
    nn.dataset = [X[:4], [1, 0, 1, 0]]
    assert nn.score() == np.mean((X[:4, 0] > 0.5) == [1, 0, 1, 0])
    nn.dataset = [X[:4], [1, 0, 1, 0.5]]
    assert np.isnan(nn.score())


class Noisy(kg.samplers.GLA2):
    """GLA2 that records its noise."""

    def step(self, at, p, noise):
        h, a = self.step_size, kg.exp(-self.friction * self.step_size)
        p = p - 0.5 * h * at.gradient
        at = self.evaluate(at.q + h * p)
        noise = kg.sqrt((1 - a * a) / self.inverse_temperature) * self.noise("O", like=p)
        p = a * (p - 0.5 * h * at.gradient) + noise
        return at, {"p": p, "noise": noise}

    def init(self, at):
        return {**super().init(at), "noise": 0.0 * at.q}


def test_a_loop_of_gradients_is_the_built_in_sampler():
    built_in = linear(sampler="GLA2", step_width=0.2, max_steps=1)
    noisy = linear(sampler=Noisy(0.2), max_steps=1)
    by_hand = linear(sampler="GLA2")
    by_hand.momenta = p = np.array(built_in.momenta)
    h, a = 0.2, np.exp(-0.2)
    for _ in range(5):
        built_in.step()
        noisy.step()
        noise = noisy._walkers().chains[0].slots["noise"]
        p = p - 0.5 * h * by_hand.gradients()
        by_hand.parameters = by_hand.parameters + h * p
        p = a * (p - 0.5 * h * by_hand.gradients()) + noise
    np.testing.assert_allclose(by_hand.parameters, built_in.parameters, rtol=1e-10)
    np.testing.assert_allclose(p, built_in.momenta, rtol=1e-10)


def test_a_file_that_is_not_a_state_is_refused(tmp_path):
    file = tmp_path / "state.npz"
    file.write_bytes(b"nothing of this kind")
    simulation = kg.neural.Simulation(dataset=[np.ones((4, 1)), np.ones((4, 1))])
    with pytest.raises(kg.DataError, match=r"state\.npz is not a file that Simulation\.save wrote"):
        simulation.load(file)
    with pytest.raises(FileNotFoundError, match=r"load: the file .* does not exist"):
        simulation.load(tmp_path / "nothing.npz")


def test_a_damaged_state_is_named_and_a_whole_one_stays(tmp_path):
    file = tmp_path / "state.npz"
    simulation = kg.neural.Simulation([np.ones((4, 1)), np.ones((4, 1))], seed=1)
    simulation.save(file)
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 4
    file.write_bytes(content)
    before = np.asarray(simulation.parameters)
    with pytest.raises(kg.DataError, match="does not match its checksum"):
        simulation.load(file)
    np.testing.assert_array_equal(simulation.parameters, before)
    assert [path.name for path in tmp_path.iterdir()] == ["state.npz"]


@pytest.mark.parametrize("scale", ["mean", "sum", 3.0])
def test_the_gradient_of_a_batch_is_that_of_the_sampler(scale):
    """A step of SGLD at an inverse temperature so high that its noise is small."""
    x = np.linspace(-1, 1, 20)[:, None]
    nn = kg.neural.Simulation(
        [x, x**2],
        hidden_dimension=[2],
        batch_size=5,
        loss_scale=scale,
        sampler="SGLD",
        step_width=1e-3,
        inverse_temperature=1e20,
        precision="float64",
        seed=1,
    )
    nn.step()  # from the start, whose gradient is that of all rows
    before, slope = np.asarray(nn.parameters), np.asarray(nn.gradients())
    factor = {"mean": 1.0, "sum": 20.0}.get(scale, scale)
    assert nn.potential() == pytest.approx(factor * nn.loss())
    nn.step()
    np.testing.assert_allclose(before - np.asarray(nn.parameters), 1e-3 * slope, rtol=1e-6)


def test_programs_of_rows_are_compiled_once():
    x = np.linspace(-1, 1, 20)[:, None]
    settings = {"loss": "sigmoid_cross_entropy", "batch_size": 5, "max_steps": 5, "seed": 1}
    nn = kg.neural.Simulation([x, 1.0 * (x > 0)], **settings)
    nn.sample()
    nn.loss(full=True)
    texts = []
    handler = logging.Handler()
    handler.emit = lambda record: texts.append(record.getMessage())
    logger = logging.getLogger("jax")
    logger.addHandler(handler)
    try:
        with jax.log_compiles():
            nn.sample()
            nn.dataset = [x, 1.0 * (x < 0)]
            w, loss = np.array(nn.parameters), nn.loss(full=True)
            info = nn.sample().run_info
    finally:
        logger.removeHandler(handler)
    assert [text for text in texts if "Finished XLA compilation" in text] == []
    # The new data are in the values and in the sampler.
    z = x * w[0] + w[1]
    assert loss == pytest.approx(np.mean(np.log1p(np.exp(z)) - z * (x < 0)), rel=1e-5)
    potential = info["total_energy"] - info["kinetic_energy"]
    np.testing.assert_allclose(potential, info["loss"], rtol=1e-4)


@pytest.mark.parametrize("sampler", ["HMC", "MALA", "NUTS"])
def test_masses_are_one(sampler):
    walkers = linear(sampler=sampler)._walkers()
    assert np.all(walkers.chains[0].hyper["scale"] == 1.0)


def test_one_walker_is_trained_alone(tmp_path):
    settings = {"number_walkers": 3, "optimizer": "adam", "max_steps": 5, "batch_size": 8}
    one = linear(**settings)
    before = np.array(one.parameters)
    data = one.fit(walker=1)
    np.testing.assert_array_equal(one.parameters[[0, 2]], before[[0, 2]])
    assert (one.parameters[1] != before[1]).all()
    assert data.run_info["id"].tolist() == [1] * 5
    assert data.parameters.shape == (1, 5, 3)
    assert list(one._parts) == [*("data", "network", "model"), "training:1"]  # the other chains
    one.save(str(tmp_path / "state"))  # are not made
    restored = linear(**settings, restore_model=str(tmp_path / "state"))
    np.testing.assert_array_equal(restored.fit(walker=1).parameters, one.fit(walker=1).parameters)
    for changed in ({"learning_rate": 0.1}, {"do_accumulates": False}, {"number_walkers": 2}):
        one._parts["training"] = one._parts.setdefault("training:1", None)
        one.set_options(**changed)
        assert not {"training", "training:1"} & set(one._parts)


def test_labels_that_are_texts_are_named_at_once():
    with pytest.raises(kg.DataError, match=r"labels must be numbers, but row 1 has 'yes'"):
        kg.neural.Simulation([X[:2], [0.5, "yes"]])


def test_a_landscape_keeps_its_model_when_data_are_replaced():
    nn = linear(max_steps=1)
    before, w = nn.landscape, np.array(nn.parameters)
    value = before.model.log_prob(w)
    nn.dataset = [X, 2 * Y]
    assert before.model.log_prob(w) == pytest.approx(value, rel=1e-12)
    assert nn.landscape.model.log_prob(w) != pytest.approx(value, rel=1e-3)
    with pytest.raises(ValueError, match="walker: expected a number"):
        nn.fit(walker=True)


def test_options_and_the_settings_of_a_sampler_object_agree():
    sampler = kg.samplers.BAOAB(0.02, friction=3.0, inverse_temperature=20.0)
    nn = linear(sampler=sampler, max_steps=3)
    names = ("step_width", "friction_constant", "inverse_temperature")
    assert [nn.get_options(name) for name in names] == [0.02, 3.0, 20.0]
    nn.set_options(step_width=0.01)
    data = nn.sample()
    assert data.attrs["beta"] == 20.0
    assert set(data.run_info["step_width"]) == {0.01}
    nn.set_options(inverse_temperature=5.0, sampler=sampler)
    assert set(nn.sample().run_info["beta"]) == {5.0}
    assert nn.get_options("step_width") == 0.02
    assert (sampler.step_size, sampler.inverse_temperature) == (0.02, 20.0)
    both = linear(sampler=sampler, inverse_temperature=1.0)
    assert both.get_options("sampler").inverse_temperature == 1.0
    hmc = linear(sampler=kg.samplers.HMC(0.1, n_steps=7), step_width=0.05).get_options("sampler")
    assert (hmc.step_size, hmc.n_steps) == (0.05, 7)
    longer = linear(sampler=kg.samplers.HMC(0.05), hamiltonian_dynamics_time=1.0)
    assert longer.get_options("sampler").n_steps == 20
    ensemble = kg.samplers.EQN(sampler, walkers=4)
    joined = linear(sampler=ensemble, number_walkers=4, step_width=0.3).get_options("sampler")
    assert (joined.sampler.step_size, ensemble.sampler.step_size) == (0.3, 0.02)


@pytest.mark.parametrize(("run", "option"), [("fit", "learning_rate"), ("sample", "step_width")])
def test_losses_that_are_not_finite_give_a_warning(run, option):
    nn = linear(max_steps=3000, number_walkers=2, **{option: 30.0})
    text = rf"the loss is not finite from step \d+ of walker 0 on, in 2 of 2 .* smaller {option}"
    with pytest.warns(kg.SamplingWarning, match=text):
        getattr(nn, run)()


def test_a_thermostat_for_independent_batches_warns_of_epochs():
    nn = linear(sampler="CCAdL", batch_size=10, max_steps=2, step_width=0.01)
    with pytest.warns(kg.SamplingWarning, match='CCAdL.*shuffle=.epochs.*write shuffle="random"'):
        nn.sample()
    with warnings.catch_warnings():
        warnings.simplefilter("error", kg.SamplingWarning)
        linear(
            sampler="CCAdL", batch_size=10, max_steps=2, step_width=0.01, shuffle="random"
        ).sample()
