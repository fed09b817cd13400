"""Mistakes in the use of a simulation that would give wrong numbers without an error."""

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
    with pytest.raises(kg.DataError, match=r"dataset: inputs are a sparse .*; write matrix\.toa"):
        kg.neural.Simulation([matrix, Y])
    with pytest.raises(kg.DataError, match=r"predict: inputs are a sparse"):
        simulation().predict(matrix)
