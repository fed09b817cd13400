"""Options, names and calls of other libraries: messages with what to write here."""

import jax.numpy as jnp
import numpy as np
import optax
import pandas as pd
import pytest
from flax import nnx

import kinetograph as kg

RNG = np.random.default_rng(1)
X, Y = RNG.normal(size=(40, 3)), RNG.normal(size=40)

OPTIONS = {
    "step_size": "here it is called 'step_width'",
    "beta": "here it is called 'inverse_temperature'",
    "temperature": "give inverse_temperature=1 / temperature",
    "num_chains": "here it is called 'number_walkers'",
    "epochs": "here it is called 'max_steps'",
    "n_iter": "here it is called 'max_steps'",
    "lr": "here it is called 'learning_rate'",
    "l2": "give prior=1 / sqrt",
    "weight_decay": "give prior=1 / sqrt",
    "hidden_layer_sizes": "here it is called 'hidden_dimension'",
    "dtype": "here it is called 'precision'",
    "device": "JAX chooses the device",
    "max_step": "did you mean 'max_steps'",
    "data": "data are a pair",
}
NAMES = {
    ("sampler", "EQN"): "covariance_blending=0.5",
    ("optimizer", "sgd"): "here it is called 'gradient_descent'",
    ("loss", "mse"): "here it is called 'mean_squared'",
    ("optimizer", "StochasticGradientDescent"): "here it is called 'gradient_descent'",
    ("sampler", "GeometricLangevinAlgorithm_1stOrder"): "here it is called 'GLA1'",
    ("sampler", "GeometricLangevinAlgorithm_2ndOrder"): "here it is called 'GLA2'",
    ("sampler", "StochasticGradientLangevinDynamics"): "here it is called 'SGLD'",
    ("sampler", "HamiltonianMonteCarlo_1stOrder"): "here it is called 'HMC'",
    ("sampler", "CovarianceControlledAdaptiveLangevin"): "here it is called 'CCAdL'",
    ("loss", "MSELoss"): "here it is called 'mean_squared'",
    ("loss", "L1Loss"): "here it is called 'absolute_difference'",
    ("loss", "BCELoss"): "here it is called 'log_loss'",
    ("loss", "BCEWithLogitsLoss"): "here it is called 'sigmoid_cross_entropy'",
    ("loss", "CrossEntropyLoss"): "here it is called 'categorical'",
    ("initial", "xavier"): "here it is called 'glorot'",
    ("initial", "kaiming_normal"): "here it is called 'he'",
    ("precision", "double"): "here it is called 'float64'",
    ("hidden_activation", "swish"): "here it is called 'silu'",
    ("output_activation", "softmax"): "it belongs to the loss.*'softmax_cross_entropy'",
}


def simulation(**options):
    return kg.neural.Simulation([X, Y], seed=1, max_steps=5, **options)


@pytest.mark.parametrize(("word", "text"), OPTIONS.items())
def test_options_of_other_libraries(word, text):
    with pytest.raises(AttributeError, match=rf"unknown option '{word}'.*{text}"):
        simulation(**{word: 1})
    with pytest.raises(AttributeError, match=rf"unknown option '{word}'.*{text}"):
        simulation().set_options(**{word: 1})


@pytest.mark.parametrize(("option", "text"), NAMES.items())
def test_names_of_other_libraries(option, text):
    name, value = option
    with pytest.raises(ValueError, match=rf"{name}: unknown name '{value}'.*{text}"):
        simulation(**{name: value})
    if "activation" in name:
        with pytest.raises(ValueError, match=text):
            kg.neural.mlp([3], **{name.replace("hidden_activation", "activations"): value})


def test_a_class_of_samplers_is_not_a_sampler():
    with pytest.raises(ValueError, match=r"sampler: expected .*; write BAOAB\(\.\.\.\)"):
        simulation(sampler=kg.samplers.BAOAB)
    with pytest.raises(TypeError, match=r"network: expected kg\.neural\.mlp"):
        kg.neural.network(kg.neural.mlp)


def test_options_are_not_parameters_of_runs():
    nn = simulation()
    for call in (lambda: nn.sample(1000), lambda: nn.sample(max_steps=1000)):
        with pytest.raises(TypeError, match=r"sample: .*; .*set_options\(max_steps="):
            call()
    for word in ("epochs", "n_steps", "max_steps"):
        with pytest.raises(TypeError, match=r"fit: .*write set_options\(max_steps=\.\.\.\)"):
            nn.fit(**{word: 10})
    with pytest.raises(ValueError, match=r"walker: .* got 100.*; .*set_options\(max_steps=100\)"):
        nn.fit(100)
    with pytest.raises(TypeError, match=r": set_options\(sampler='SGLD'\)"):
        nn.set_options("sampler", "SGLD")
    with pytest.raises(TypeError, match=r"set_options\(\*\*\{'sampler'"):
        nn.set_options({"sampler": "SGLD"})
    with pytest.raises(AttributeError, match=r"here it is fit\(\)"):
        nn.train()
    with pytest.raises(TypeError, match=r"predict: unknown parameter quantile .*quantiles"):
        nn.predict(X, quantile=0.5)


@pytest.mark.parametrize("kind", [np.float64, np.dtype("float64"), jnp.float64])
def test_a_precision_is_a_text(kind):
    with pytest.raises(ValueError, match=r"precision: expected one of .*; write precision='float6"):
        simulation(precision=kind)


def test_data_and_values_in_calls_of_a_simulation():
    nn, data = simulation(), r"write simulation\.dataset = \[X, Y\] before the call"
    for call in (lambda: nn.fit([X, Y]), lambda: nn.predict(X, Y), lambda: nn.loss(X)):
        with pytest.raises(ValueError, match=rf"got a (list|NumPy array of).*; .*{data}"):
            call()
    with pytest.raises(TypeError, match=rf"fit: got 2 values by position.*; .*{data}"):
        nn.fit(X, Y)
    with pytest.raises(
        TypeError, match=r"predict: the parameter X is missing .*; it takes X, walk"
    ):
        nn.predict()
    with pytest.raises(
        ValueError, match=r"predict: quantiles are .* trajectory=simulation\.sample"
    ):
        nn.predict(X, quantiles=[0.5])
    assert len(nn.predict(X, quantiles=[0.5], trajectory=nn.sample()).quantiles) == 1
    with pytest.raises(
        kg.ShapeError, match=r"hessian_vector: expected vectors .*4\), .* got \(3,\)"
    ):
        nn.hessian_vector(np.ones(3))
    with pytest.raises(AttributeError, match=r"'parameter' .*write simulation\.parameters = "):
        nn.parameter = 3
    with pytest.raises(AttributeError, match=r"'step_widht' .*write set_options\(step_width=3\)"):
        nn.step_widht = 3
    with pytest.raises(
        TypeError, match=r"parameters: expected an array of real numbers, got the text 'a'"
    ):
        nn.parameters = "a"


def test_datasets_that_are_not_a_pair():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    with pytest.raises(kg.DataError, match=r"got a frame .*; write kg\.neural\.datasets\.read\("):
        kg.neural.Simulation(frame)
    with pytest.raises(kg.DataError, match=r"expected a pair of inputs and labels, .* got dict"):
        kg.neural.Simulation({"x": X, "y": Y})


def test_calls_of_ensembles():
    network = (lambda w, row: row @ w, jnp.zeros((3, 2)))
    with pytest.raises(TypeError, match=r"ensemble: .*neural\.ensemble\(network, \(X, y\)\)"):
        kg.neural.ensemble((4,), X, Y)
    for estimator in (kg.neural.EnsembleRegressor, kg.neural.EnsembleClassifier):
        with pytest.raises(TypeError, match=rf"^{estimator.__name__}: .*kg\.neural\.mlp\(\["):
            estimator(hidden_layer_sizes=(4,))
        with pytest.raises(TypeError, match="here it is called members"):
            estimator(n_members=3)
        with pytest.raises(TypeError, match=rf"{estimator.__name__}\(epochs=\.\.\.\)"):
            estimator(network).fit(X, Y, n_epochs=3)
    with pytest.raises(TypeError, match=r"got int .*; write \[5\] for one hidden layer"):
        kg.neural.EnsembleRegressor(5, members=2, draws=0).fit(X, Y)
    with pytest.raises(TypeError, match=r"mlp: hidden: .*got 5.*; write mlp\(\[5\]\)"):
        kg.neural.mlp(5)


def test_a_rate_has_an_effect_or_is_refused():
    for name, value in (("learning_rate", 0.001), ("schedule", "cosine")):
        with pytest.raises(ValueError, match=rf"{name}: the option has no effect on optimizer="):
            simulation(optimizer=optax.adam(0.1), **{name: value})
        nn = simulation(optimizer=optax.adam(0.1))
        with pytest.raises(ValueError, match=r"has no effect"):
            nn.set_options(**{name: value})
        nn.set_options(optimizer="adam", **{name: value})


def test_a_loss_is_one_number():
    nn = simulation(loss=lambda z, y: (z - y) ** 2)
    with pytest.raises(kg.ShapeError, match=r"loss <lambda> has the shape \(1,\) .* one number"):
        nn.loss()
    assert simulation(loss=lambda z, y: jnp.sum((z - y) ** 2)).loss() > 0


def test_class_numbers_have_a_loss():
    with pytest.raises(kg.DataError, match="for class numbers, take loss='categorical'"):
        kg.neural.Simulation([X, np.arange(40) % 4], loss="softmax_cross_entropy").loss()


def test_parameters_behave_as_an_array():
    nn = simulation()
    array, values = np.asarray(nn.parameters), nn.parameters
    assert (values.dtype, values.size, values.ndim) == (array.dtype, 4, 1)
    assert values.tolist() == array.tolist()
    assert values.mean() == array.mean()
    assert values.reshape(2, 2).shape == (2, 2)
    copy = values.copy()
    copy[0] = 5.0
    np.testing.assert_array_equal(nn.parameters, array)
    with pytest.raises(ValueError, match="read-only"):
        values.fill(0.0)
    nn.parameters += 1.0
    np.testing.assert_allclose(nn.parameters, array + 1.0)
    with pytest.raises(AttributeError):
        values.nothing


def test_a_number_is_not_a_walker():
    nn = simulation()
    with pytest.raises(ValueError, match=r"parameters\[0\] are the .* expected 4 numbers, got one"):
        nn.parameters[0] = 99.0
    nn.parameters[0] = np.arange(4.0)
    np.testing.assert_array_equal(nn.parameters, np.arange(4.0))


def test_layouts_take_parameters_and_scalars():
    nn = simulation()
    layout = nn.sample().layout
    tree = layout.tree(nn.parameters)
    np.testing.assert_array_equal(layout.vector(tree), nn.parameters)
    scalar = kg.neural.ParameterLayout({"scale": np.zeros(()), "w": np.zeros((2, 1))})
    named = scalar.by_name(np.arange(3.0))
    assert named["scale"].shape == ()
    assert named["w"].tolist() == [[1.0], [2.0]]
    assert scalar.by_name(np.zeros((5, 3)))["scale"].shape == (5,)


def test_a_network_is_printed_in_a_line():
    network = kg.neural.network(lambda key: nnx.Linear(3, 2, rngs=nnx.Rngs(key)))
    assert repr(network) == "Network(Linear)"
    assert repr(kg.neural.mlp([4])) == "Network(perceptron [4])"


def test_classes_of_calibration_are_numbers():
    chances, labels = np.full((4, 2), 0.5), np.array(list("abab"))
    with pytest.raises(kg.DataError, match=r"write np\.searchsorted\(estimator\.classes_, labels"):
        kg.neural.calibration.reliability(chances, labels)
    with pytest.raises(kg.DataError, match=r"probabilities come first.*reliability\(P, labels\)"):
        kg.neural.calibration.reliability(labels, chances)
