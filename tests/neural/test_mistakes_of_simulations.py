"""Mistakes in the use of a simulation that would give wrong numbers without an error."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import kinetograph as kg

RNG = np.random.default_rng(1)
X, Y = RNG.normal(size=(40, 3)), RNG.normal(size=40)
FRAME = pd.DataFrame(X, columns=["u", "v", "w"])


def simulation(**options):
    return kg.neural.Simulation([FRAME, Y], seed=1, max_steps=5, **options)


def test_columns_of_predictions_are_the_columns_of_the_data():
    nn = simulation()
    np.testing.assert_array_equal(nn.predict(FRAME), nn.predict(X))
    trajectory = nn.sample()
    swapped, renamed = FRAME[["w", "v", "u"]], FRAME.rename(columns={"u": "x"})
    with pytest.raises(kg.DataError, match=r"predict: the columns are in another order.*u, v, w"):
        nn.predict(swapped)
    with pytest.raises(kg.DataError, match=r"predict: the columns differ, u missing and x unkno"):
        nn.predict(renamed)
    for frame in (swapped, renamed):
        with pytest.raises(kg.DataError, match="log_predictive_density: the columns"):
            nn.log_predictive_density(frame, Y, trajectory)
    with pytest.raises(kg.DataError, match="dataset: the columns are in another order"):
        nn.dataset = [swapped, Y]


def test_names_are_compared_only_if_the_data_have_names():
    for data in (X, pd.DataFrame(X)):
        nn = kg.neural.Simulation([data, Y], seed=1)
        assert nn.predict(FRAME).shape == (40, 1)


def test_a_missing_number_in_a_prediction_has_row_and_column():
    for missing in (np.nan, np.inf):
        frame = FRAME.copy()
        frame.loc[3, "v"] = missing
        with pytest.raises(kg.DataError, match=rf"predict: inputs: row 3, column v is {missing}"):
            simulation().predict(frame)
    with pytest.raises(kg.DataError, match=r"inputs must be rows of numbers.*'north'"):
        simulation().predict(FRAME.assign(w="north"))


def test_a_trajectory_is_of_the_same_network():
    nn, other = simulation(), simulation(hidden_dimension=[3])
    records = other.sample()
    for trajectory in (records, records.trajectory):
        with pytest.raises(ValueError, match=r"another network: it has 16 parameters, with weig"):
            nn.predict(X, trajectory=trajectory)
        with pytest.raises(ValueError, match=r"log_predictive_density: .* another network"):
            nn.log_predictive_density(X, Y, trajectory)
    with pytest.raises(ValueError, match=r"no column weight3.*; this network has 16 free"):
        other.predict(X, trajectory=nn.sample())
    with pytest.raises(TypeError, match="expected the records of sample"):
        nn.predict(X, trajectory=np.zeros((5, 4)))


def test_a_trajectory_of_other_shapes_or_fixed_values_is_refused():
    nn = simulation(hidden_dimension=[2, 2], bias=False)
    same_count = simulation(hidden_dimension=[3], bias=False)
    assert nn.num_parameters() == same_count.num_parameters()
    with pytest.raises(ValueError, match="another network: its parameters have the shapes"):
        nn.predict(X, trajectory=same_count.sample())
    fixed = simulation(fix_parameters={"layer0/bias": 0.5})
    trajectory = fixed.sample()
    fixed.set_options(fix_parameters={"layer0/bias": 1.5})
    with pytest.raises(ValueError, match="fix_parameters had other values in the run"):
        fixed.predict(X, trajectory=trajectory)


@pytest.mark.parametrize("name", ["step_width", "step_widht", "max_steps"])
def test_an_option_is_not_an_attribute(name):
    nn = simulation()
    option = "max_steps" if name == "max_steps" else "step_width"
    with pytest.raises(AttributeError, match=rf"; write set_options\({option}=2\)"):
        setattr(nn, name, 2)
    with pytest.raises(AttributeError, match="does not exist and cannot be assigned"):
        nn.zzz = 2
    with pytest.raises(AttributeError, match=r"it is an option: get_options\('step_width'\)"):
        nn.step_width
    with pytest.raises(AttributeError, match="is fixed"):
        nn.seed = 3
    nn.parameters = np.zeros(4)


def test_free_parameters_keep_their_values_when_others_are_fixed():
    nn = simulation(hidden_dimension=[2], number_walkers=2)
    nn.fit()
    before = np.asarray(nn.parameters)
    weights = np.arange(6.0).reshape(3, 2)
    nn.set_options(fix_parameters={"layer0/weights": weights})
    np.testing.assert_array_equal(nn.parameters, before[:, 6:])
    nn.set_options(fix_parameters={"layer0/bias": 7.0})
    np.testing.assert_array_equal(
        nn.parameters,
        np.concatenate([np.tile(weights.ravel(), (2, 1)), before[:, 6:8], before[:, 10:]], 1),
    )
    nn.set_options(fix_parameters=None)
    everything = np.concatenate(
        [np.tile(weights.ravel(), (2, 1)), before[:, 6:8], np.full((2, 2), 7.0), before[:, 10:]], 1
    )
    np.testing.assert_array_equal(nn.parameters, everything)
    assert nn.loss().shape == (2,)


def test_a_sparse_matrix_is_refused_with_what_to_write():
    matrix = sparse.csr_matrix(X)
    with pytest.raises(kg.DataError, match=r"read: inputs are a sparse .*; write matrix\.toa"):
        kg.neural.Simulation([matrix, Y])
    with pytest.raises(kg.DataError, match=r"predict: inputs are a sparse"):
        simulation().predict(matrix)


@pytest.mark.parametrize(
    "labels", [np.round(4 * Y) / 4, np.where(Y > 0, 1, -1), np.round(Y**2) + 0.5]
)
def test_labels_of_a_poisson_loss_are_counts(labels):
    row = int(np.flatnonzero((labels < 0) | (labels != np.round(labels)))[0])
    value = re.escape(f"[{float(labels[row])}]")
    text = rf"poisson needs labels that are counts.*label of row {row} is {value}"
    nn = kg.neural.Simulation([X, labels], loss="poisson", seed=1)
    with pytest.raises(kg.DataError, match=text):
        nn.loss()
    nn.dataset = [X, np.round(Y**2)]
    assert np.isfinite(nn.loss())
    assert np.isnan(nn.score())
    with pytest.raises(kg.DataError, match=text):
        nn.dataset = [X, labels]


def test_files_and_a_dataset_are_one_too_many(tmp_path):
    path = tmp_path / "data.csv"
    FRAME.assign(label=Y + 100).to_csv(path, index=False)
    text = r"batch_data_files: got .*data.csv', but this simulation has a dataset"
    with pytest.raises(ValueError, match=text):
        simulation(batch_data_files=path)
    nn = simulation()
    for more in ({}, {"restore_model": path}):
        with pytest.raises(ValueError, match=text):
            nn.set_options(batch_data_files=path, **more)
    of_file = kg.neural.Simulation(batch_data_files=path, seed=1)
    nn.dataset = kg.neural.datasets.read(path)  # as the message says
    assert nn.loss() == of_file.loss() > 1000
    of_file.dataset = None
    assert of_file.loss() > 1000
    of_file.dataset = [X, Y]
    assert of_file.get_options("batch_data_files") == ()
    with pytest.raises(ValueError, match=text):
        of_file.set_options(batch_data_files=path)


@pytest.mark.parametrize(
    ("options", "keyword"),
    [
        ({"hidden_dimension": [5]}, "hidden"),
        ({"hidden_activation": "tanh"}, "activations"),
        ({"hidden_activation": np.tanh}, "activations"),
        ({"output_activation": "tanh"}, "output_activation"),
        ({"bias": False}, "bias"),
        ({"initial": "he"}, "initial"),
        ({"dropout": 0.1}, "dropout"),
    ],
)
def test_options_of_the_perceptron_do_not_fit_another_network(options, keyword):
    (name,) = options
    text = rf"^{name}: .* perceptron .*; write network=kg\.neural\.mlp\(\.\.\., {keyword}=\.\.\."
    for network in (kg.neural.mlp([]), [3], (lambda w, x: x @ w, np.ones(3))):
        nn = kg.neural.Simulation([X, Y], network, seed=1, **options)
        with pytest.raises(ValueError, match=text):
            nn.loss()
        default = kg.neural.Simulation().get_options(name)
        nn.set_options(**{name: default})
        assert np.isfinite(nn.loss())


def test_parameters_of_a_walker_are_not_changed_in_place():
    nn = simulation(number_walkers=2)
    before = np.array(nn.parameters)
    for each in (nn.parameters[0], nn.momenta[1], nn.parameters[1]):
        with pytest.raises(ValueError, match="read-only"):
            each[2] = 99.0
    np.testing.assert_array_equal(nn.parameters, before)
    before[0, 2] = 99.0  # a copy
    nn.parameters = before
    assert nn.parameters[0][2] == 99.0


def test_a_walker_of_a_trajectory():
    nn = simulation(number_walkers=3, precision="float64")
    data = nn.sample()
    for walker in range(3):
        w = data.parameters[walker]
        outputs = X[:4] @ w[:, :3].T + w[:, 3]
        got = nn.predict(X[:4], walker, trajectory=data, quantiles=[0.25])
        np.testing.assert_allclose(got.mean[:, 0], outputs.mean(1))
        np.testing.assert_allclose(got.sd[:, 0], outputs.std(1))
        np.testing.assert_allclose(got.quantiles[0, :, 0], np.quantile(outputs, 0.25, 1))
        one = nn.predict(X[:4], walker, trajectory=data.trajectory)
        np.testing.assert_array_equal(one.mean, got.mean)
    with pytest.raises(ValueError, match=r"no rows of the walker 3 .*; its walkers are 0, 1, 2"):
        nn.predict(X, 3, trajectory=data)
    with pytest.raises(ValueError, match=r"no rows of the walker 0 .*; its walkers are not rec"):
        nn.predict(X, 0, trajectory=data.trajectory.drop(columns="id"))
    for wrong in (1.5, [0.1, -0.1], np.nan):
        with pytest.raises(ValueError, match="predict: quantiles must be from 0 to 1, got"):
            nn.predict(X, trajectory=data, quantiles=wrong)


def test_labels_without_a_column_are_refused():
    for pair in ((X, np.zeros((40, 0))), (np.zeros((40, 0)), Y)):
        with pytest.raises(kg.DataError, match=r"(labels|inputs) have no columns"):
            kg.neural.Simulation(pair)
    with pytest.raises(kg.DataError, match="inputs have no rows"):
        kg.neural.Simulation([X[:0], Y[:0]])


@pytest.mark.parametrize("beta", [np.inf, np.nan, 0.0, -1.0])
def test_the_inverse_temperature_of_momenta(beta):
    nn = simulation()
    with pytest.raises(ValueError, match="beta must be positive and finite, got"):
        nn.init_momenta(beta)


def test_a_function_of_numpy_is_not_a_network():
    nn = simulation(output_activation=np.tanh)
    with pytest.raises(TypeError, match=r"is not a JAX function; write it with .* as jnp\.tanh"):
        nn.sample()


def test_complex_numbers_are_refused():
    nn = simulation()
    z, w = X + 1j, np.ones(4) * 1j
    for data in ((z, Y), (X, Y * 1j), FRAME.assign(u=1j)):
        with pytest.raises(kg.DataError, match=r"read: (inputs|labels) are complex numbers"):
            kg.neural.datasets.read(data)
    with pytest.raises(kg.DataError, match=r"predict: inputs are complex numbers"):
        nn.predict(z)
    with pytest.raises(TypeError, match=r"^parameters: expected .* real numbers, got complex"):
        nn.parameters = w
    with pytest.raises(TypeError, match=r"Landscape\.loss: points: expected an array of real"):
        nn.landscape.loss(w)
    with pytest.raises(kg.DataError, match=r"Landscape: inputs are complex numbers"):
        nn.landscape.on(z, Y[:, None])


def test_records_have_the_seed_of_the_simulation():
    nn = simulation()
    assert nn.fit().attrs["seed"] == nn.sample().attrs["seed"] == 1


@pytest.mark.parametrize(
    "name", ["batch_data_files", "directions_file", "parse_parameters_file", "restore_model"]
)
def test_a_file_to_read_that_does_not_exist_is_refused_where_it_is_given(name):
    with pytest.raises(FileNotFoundError, match=f"{name}.*/absent.csv does not exist"):
        kg.neural.Simulation(**{name: "absent.csv"})
