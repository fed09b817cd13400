"""Files of `kg.neural.Simulation.save`: a state continues as it was, or its reader says why not."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pandas as pd
import pytest
import xarray as xr

import kinetograph as kg

RNG = np.random.default_rng(1)
X = RNG.normal(size=(40, 2))
Y = X @ np.array([[1.0], [-0.5]]) + 0.3 + 0.1 * RNG.normal(size=(40, 1))


def linear(**options):
    settings = {"seed": 3, "max_steps": 4, "precision": "float64", **options}
    return kg.neural.Simulation([X, Y], **settings)


def log_prior(tree):
    return -50.0 * sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(tree))


def fourth_power(z, y):
    return jnp.sum((z - y) ** 4)


def bent(parameters, row):
    return jnp.tanh(row @ parameters["w"] + parameters["b"])


def zeros(key, shape):
    return jnp.zeros(shape)


class Walk(kg.Sampler):
    """A sampler of a user."""

    step_size = kg.hyper(0.1)

    def step(self, at):
        """Move by noise."""
        return self.evaluate(at.q + self.step_size * self.noise("walk", like=at.q))


class Langevin(kg.samplers.BAOAB):
    """Another sampler of a user."""


OBJECTS = {
    "prior": (log_prior, "sample"),
    "loss": (fourth_power, "sample"),
    "network": ((bent, {"w": np.full((2, 1), 0.3), "b": np.zeros(1)}), "sample"),
    "hidden_activation": (jnp.sin, "sample"),
    "output_activation": (jnp.sin, "sample"),
    "initial": (zeros, "sample"),
    "sampler": (Walk(), "sample"),
    "optimizer": (optax.adam(0.05), "fit"),
    "learning_rate": (lambda step: 0.3 / (1 + step), "fit"),
}
SIMILAR = ("hidden_activation", "output_activation", "initial", "loss")


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow if name in SIMILAR else ()) for name in OBJECTS],
)
def test_an_object_must_be_given_again(tmp_path, name):
    """The run that saves it loses nothing, and a simulation without it is unchanged."""
    path, (value, role) = str(tmp_path / "state"), OBJECTS[name]
    hidden = {"hidden_dimension": [2]} if name == "hidden_activation" else {}
    saved = linear(**hidden, **{name: value}, save_model=path)
    assert len(getattr(saved, role)().trajectory) == 4
    plain = linear(max_steps=7)
    before = np.array(plain.parameters)
    for restore in (
        lambda: plain.load(path),
        lambda: plain.set_options(restore_model=path),
        lambda: kg.neural.Simulation([X, Y], restore_model=path),
    ):
        with pytest.raises(kg.DataError, match=rf"made with {name}=\S+, an object .* give it ag"):
            restore()
    assert plain.get_options("max_steps") == 7
    np.testing.assert_array_equal(plain.parameters, before)
    again = kg.neural.Simulation([X, Y], **{name: value}, restore_model=path)
    wanted = getattr(saved, role)()
    np.testing.assert_array_equal(getattr(again, role)().trajectory, wanted.trajectory)
    assert wanted.trajectory["step"].tolist() == [5, 6, 7, 8]


def test_another_object_whose_state_does_not_fit(tmp_path):
    path = str(tmp_path / "state")
    saved = linear(optimizer=optax.adam(0.05), save_model=path)
    saved.fit()
    with pytest.raises(kg.DataError, match="another optimizer= or learning_rate="):
        linear(optimizer=optax.sgd(0.05), restore_model=path)
    plain = linear()
    plain.load(path, parameters_only=True)
    np.testing.assert_array_equal(plain.parameters, saved.parameters)
    linear().save(path)
    with pytest.raises(kg.DataError, match="network=None, and this simulation has another net"):
        linear(network=kg.neural.mlp()).load(path)


@pytest.mark.parametrize(
    "sampler",
    [
        kg.samplers.UBU(step_size=0.05, friction=2.0),
        kg.samplers.HMC(step_size=0.1, n_steps=5),
        *(
            pytest.param(each, marks=pytest.mark.slow)
            for each in (
                kg.samplers.NUTS(),
                kg.samplers.MALA(),
                kg.samplers.MAMS(),
                kg.samplers.MCLMC(step_size=0.2),
                kg.samplers.GLA2(step_size=0.05, scale=[0.5, 1.0, 2.0]),
            )
        ),
    ],
    ids=lambda each: type(each).__name__,
)
def test_a_sampler_is_kept_with_its_settings(tmp_path, sampler):
    path = str(tmp_path / "state")
    saved = linear(sampler=sampler)
    saved.sample()
    saved.save(path)
    wanted = saved.sample().trajectory
    loaded = kg.neural.Simulation([X, Y])
    loaded.load(path)
    assert loaded.get_options("sampler") == sampler
    np.testing.assert_array_equal(loaded.sample().trajectory, wanted)
    given = kg.neural.Simulation([X, Y], sampler=sampler, restore_model=path)
    np.testing.assert_array_equal(given.sample().trajectory, wanted)


@pytest.mark.parametrize(
    "make",
    [
        lambda: kg.samplers.BAOAB(step_size=0.05),
        pytest.param(lambda: kg.samplers.HMC(step_size=0.05, n_steps=3), marks=pytest.mark.slow),
        lambda: Langevin(step_size=0.05),
    ],
)
def test_a_sampler_that_is_given_again_changes_nothing(tmp_path, make):
    """Also beside options that replace its settings."""
    path, sampler = str(tmp_path / "state"), make()
    whole = linear(sampler=sampler, inverse_temperature=50.0, max_steps=8).sample()
    saved = linear(sampler=sampler, inverse_temperature=50.0)
    saved.sample()
    saved.save(path)
    again = kg.neural.Simulation([X, Y], restore_model=path, sampler=make())
    saved.set_options(sampler=sampler)
    for same in (saved, again):
        assert same.get_options("inverse_temperature") == 50.0
        rows = same.sample()
        np.testing.assert_array_equal(rows.trajectory, whole.trajectory[4:])
        assert rows.attrs["beta"] == 50.0
    sampler.step_size = 0.02
    saved.set_options(sampler=sampler)
    assert saved.get_options("step_width") == 0.02


@pytest.mark.parametrize("ending", ["csv", "zarr"])
def test_files_of_a_restored_run_have_each_row_once(tmp_path, ending):
    """Rows after the state, which a run wrote that ended, are cut; foreign files are refused."""
    path, names = str(tmp_path / "state"), ("trajectory_file", "run_file", "averages_file")
    files = {name: str(tmp_path / f"{name}.{ending}") for name in names}

    def rows(name):
        if ending == "csv":
            return pd.read_csv(files[name])
        return xr.open_zarr(files[name], consolidated=False).load().to_dataframe()

    def one_run(name):
        expected = [getattr(each, name.replace("_file", "")) for each in runs]
        return pd.concat(expected, ignore_index=True)

    saved = linear(number_walkers=2, **files)
    runs = [saved.sample()]
    saved.save(path)
    runs.append(saved.sample())
    for again in (linear(**files, restore_model=path), linear(**files)):
        again.load(path)
        assert len(rows("trajectory_file")) == 16  # reading a state changes no file
        again.sample()
        for name in ("trajectory_file", "averages_file"):
            np.testing.assert_allclose(
                rows(name)[[*one_run("trajectory_file")][:3]],
                one_run("trajectory_file").iloc[:, :3],
                rtol=1e-7,
            )
        np.testing.assert_array_equal(rows("run_file")["step"], np.arange(2, 18) // 2)
    again.sample()
    assert rows("run_file")["step"].tolist() == [n // 2 for n in range(2, 26)]
    linear(max_steps=1, **files).sample()  # another run, with fewer rows
    with pytest.raises(kg.DataError, match=r"does not have the rows .* give another name, or rem"):
        again.sample()
    assert len(rows("trajectory_file")) == 1


def test_fixed_parameters_are_kept_with_their_values(tmp_path):
    path = str(tmp_path / "state")
    saved = linear(fix_parameters={"layer0/bias": 0.25, "layer0/weights": [[np.nan], [1.5]]})
    saved.sample()
    saved.save(path)
    (weight,), wanted = np.array(saved.parameters), saved.sample().trajectory
    for fixed in ({}, {"fix_parameters": saved.get_options("fix_parameters")}):
        same = kg.neural.Simulation([X, Y], restore_model=path, **fixed)
        assert same.landscape.names == ["weight0"]
        np.testing.assert_array_equal(same.predict(np.zeros((1, 2))), [[0.25]])
        np.testing.assert_array_equal(same.sample().trajectory, wanted)
    moved = linear(restore_model=path, fix_parameters={"layer0/weights": [[9.0], [np.nan]]})
    assert moved.landscape.names == ["weight1", "bias0"]
    np.testing.assert_array_equal(moved.parameters, [1.5, 0.25])
    for options in ({}, {"fix_parameters": {"weight1": 9.0}}):
        read = linear(**options)
        read.load(path, parameters_only=True)
        places = [n in read.landscape.names for n in ("weight0", "weight1", "bias0")]
        np.testing.assert_array_equal(read.parameters, np.array([weight, 1.5, 0.25])[places])


def test_options_of_another_network_are_refused(tmp_path):
    path = str(tmp_path / "state")
    linear(hidden_dimension=[2]).save(path)
    text = r"state has 9 parameters, the network for these data has 17: layer0/weights \(2, 2\), "
    for restore in (
        lambda: linear(restore_model=path, hidden_dimension=[4]),
        lambda: linear(hidden_dimension=[4]).load(path, parameters_only=True),
    ):
        with pytest.raises(kg.DataError, match=text):
            restore()
    present = linear()
    before = np.array(present.parameters)
    with pytest.raises(kg.DataError, match=text):
        present.set_options(restore_model=path, hidden_dimension=[4], max_steps=9)
    assert (present.get_options("max_steps"), present.get_options("hidden_dimension")) == (4, ())
    np.testing.assert_array_equal(present.parameters, before)


def test_walkers_and_their_method_are_those_of_the_file(tmp_path):
    path = str(tmp_path / "state")
    saved = linear(number_walkers=3, chain_method="batch")
    saved.sample()
    saved.save(path)
    wanted = saved.sample().trajectory
    loaded = kg.neural.Simulation([X, Y])
    loaded.load(path)
    for same in (loaded, kg.neural.Simulation([X, Y], restore_model=path)):
        assert (same.num_walkers(), same.get_options("chain_method")) == (3, "batch")
        np.testing.assert_array_equal(same.sample().trajectory, wanted)
    with pytest.raises(kg.DataError, match=r"has 3 walkers, got number_walkers=2.*; leave number"):
        linear(number_walkers=2, restore_model=path)
    two = linear(number_walkers=2)
    with pytest.raises(kg.DataError, match=r"has 3 walkers, and number_walkers is 2.*\[0, 1\]"):
        two.load(path, parameters_only=True)
    two.load(path, walkers=[2, 0])
    end = kg.neural.Simulation([X, Y], restore_model=path)
    np.testing.assert_array_equal(two.parameters, np.asarray(end.parameters)[[2, 0]])
    np.testing.assert_array_equal(two.momenta, np.asarray(end.momenta)[[2, 0]])


def test_data_of_the_simulation_stay(tmp_path):
    path, old, new = (str(tmp_path / name) for name in ("state", "old.csv", "new.csv"))
    columns = {"x1": X[:, 0], "x2": X[:, 1], "label1": Y[:, 0], "label2": X[:, 0] ** 2}
    kg.neural.analysis.write_table(old, columns)
    options = {"precision": "float64", "output_dimension": 2}
    saved = kg.neural.Simulation(batch_data_files=old, seed=3, max_steps=4, **options)
    saved.sample()
    saved.save(path)
    wanted = saved.sample().trajectory
    np.testing.assert_array_equal(
        kg.neural.Simulation(restore_model=path).sample().trajectory, wanted
    )
    (tmp_path / "old.csv").rename(new)
    loaded = kg.neural.Simulation(batch_data_files=new)
    loaded.load(path)
    pair = kg.neural.Simulation(saved.dataset, restore_model=path)
    given = kg.neural.Simulation(batch_data_files=new, restore_model=path)
    for same, files in ((loaded, (new,)), (given, (new,)), (pair, ())):
        assert same.get_options("batch_data_files") == files
        np.testing.assert_array_equal(same.sample().trajectory, wanted)


def test_a_file_that_cannot_be_written_is_refused_before_the_run(tmp_path):
    for path in (tmp_path, tmp_path / "missing" / "state"):
        nn = linear(save_model=path)
        before = np.array(nn.parameters)
        for run in (nn.sample, nn.fit):
            with pytest.raises(FileNotFoundError, match=r"save_model: .* cannot be written"):
                run()
        np.testing.assert_array_equal(nn.parameters, before)


@pytest.mark.parametrize(
    ("fixed", "text"),
    [
        (
            {"bad": 1.0},
            "unknown name 'bad'.*; the names are .*, and for one number weight0 to bias0",
        ),
        (5, "fix_parameters: expected a dictionary or None, got 5"),
        ({"layer0/weights": 0.0, "bias0": 0.0}, "no number stays free"),
        ({"layer0/bias": np.inf}, "layer0/bias: expected finite numbers, or NaN .* got inf"),
        ({"layer0/bias": "one"}, "layer0/bias: expected finite numbers, or NaN .* got 'one'"),
        ({"bias0": [1.0, 2.0]}, r"bias0 has shape \(\), got values of shape \(2,\)"),
    ],
)
def test_fixed_parameters_that_do_not_fit_change_nothing(fixed, text):
    nn = linear()
    before = np.array(nn.parameters)
    with pytest.raises(ValueError, match=text):
        nn.set_options(fix_parameters=fixed, step_width=0.7)
    assert nn.get_options("fix_parameters") is None
    assert nn.get_options("step_width") == 0.1
    np.testing.assert_array_equal(nn.parameters, before)
    with pytest.raises(ValueError, match=text):
        linear(fix_parameters=fixed)
    nn.set_options(fix_parameters={"weight1": 2.0})
    assert nn.landscape.names == ["weight0", "bias0"]
