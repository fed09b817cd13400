"""Mistakes in calls of estimators: errors before a compilation, with what to write."""

import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from flax import nnx
from sklearn.exceptions import NotFittedError

import kinetograph as kg
from kinetograph.neural.estimator_inputs import labels_of

RNG = np.random.default_rng(1)
X, Y = RNG.normal(size=(40, 3)), RNG.normal(size=40)
CLASSES = np.array(list("abcd"))[np.arange(40) % 4]
FEW = {"members": 2, "draws": 0, "epochs": 2}


def linear(outputs):
    return (lambda w, row: row @ w, jnp.zeros((3, outputs)))


def nothing_is_compiled(*_, **__):
    raise AssertionError("the mistake was not found before training")


@pytest.fixture
def untrained(monkeypatch):
    monkeypatch.setattr("kinetograph.neural.members.train", nothing_is_compiled)


@pytest.mark.usefixtures("untrained")
@pytest.mark.parametrize("outputs", [1, 4])
def test_a_regression_needs_two_outputs(outputs):
    text = (
        rf"the network \(function\) must have 2 outputs, a mean and a noise; got {outputs} output"
    )
    with pytest.raises(kg.ShapeError, match=text):
        kg.neural.EnsembleRegressor(linear(outputs), **FEW).fit(X, Y)


@pytest.mark.usefixtures("untrained")
@pytest.mark.parametrize("outputs", [2, 6])
def test_a_classification_needs_an_output_for_each_class(outputs):
    with pytest.raises(kg.ShapeError, match=rf"4 outputs, one for each.*; got {outputs} outputs"):
        kg.neural.EnsembleClassifier(linear(outputs), **FEW).fit(X, CLASSES)


@pytest.mark.parametrize("method", ["predict", "predict_interval", "summary"])
def test_an_unfitted_regression_raises_the_error_of_scikit_learn(method):
    model = kg.neural.EnsembleRegressor((4,))
    with pytest.raises(NotFittedError, match="is not fitted yet"):
        getattr(model, method)(*() if method == "summary" else (X,))


def test_errors_of_scikit_learn_name_the_method_called():
    model = kg.neural.EnsembleClassifier((4,))
    for method in (model.predict, model.predict_proba):
        with pytest.raises(NotFittedError, match=rf"^{method.__name__}: This Ense.*\.py:\d+\)"):
            method(X)
    with pytest.raises(NotFittedError, match=r"^log_score: This"):
        model.log_score(X, CLASSES)
    with pytest.raises(NotFittedError, match=r"^This Ensemble"):
        model.score(X, CLASSES)


def test_all_lines_of_scikit_learn_stay():
    frame = pd.DataFrame(X, columns=["u", "v", "w"])
    model = kg.neural.EnsembleClassifier(linear(4), **FEW).fit(frame, CLASSES)
    with pytest.raises(ValueError, match=r"^predict: (.|\n)*same order") as caught:
        model.predict(frame[["w", "v", "u"]])
    assert "test_mistakes_of_estimators.py:" in str(caught.value).partition("\n")[0]
    with pytest.raises(ValueError, match=r"^predict: (.|\n)*unseen at fit time:\n- x"):
        model.predict(frame.rename(columns={"w": "x"}))
    with pytest.raises(ValueError, match=r"(?s)got 1D array instead.*Reshape your data"):
        model.predict(X[0])


@pytest.mark.usefixtures("untrained")
def test_a_classification_refuses_numbers_that_are_not_classes():
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        kg.neural.EnsembleClassifier((4,), **FEW).fit(X, Y)


@pytest.mark.usefixtures("untrained")
@pytest.mark.parametrize("kind", [str, object])
def test_a_regression_refuses_texts(kind):
    with pytest.raises(kg.DataError, match=r"must be numbers, got 'a'.* write EnsembleClassifier"):
        kg.neural.EnsembleRegressor((4,), **FEW).fit(X, CLASSES.astype(kind))


def broken(key):
    return undefined_name(key)  # noqa: F821


def test_an_error_of_the_users_function_is_the_users():
    with pytest.raises(NameError, match="undefined_name"):
        kg.neural.EnsembleRegressor(broken, **FEW).fit(X, Y)
    with pytest.raises(NameError, match="undefined_name"):
        kg.neural.network(broken)


def test_a_function_of_a_key_makes_a_module():
    with pytest.raises(TypeError, match=r"returned a kg\.neural\.Network.*; give"):
        kg.neural.network(lambda key: kg.neural.mlp([3]))
    network = kg.neural.network(lambda key: nnx.Linear(3, 2, rngs=nnx.Rngs(key)))
    assert network.title == "Linear"


@pytest.mark.usefixtures("untrained")
@pytest.mark.parametrize("prior", ["normal", ("normal", 0, 1), -1, True])
def test_a_prior_is_a_number_or_a_function(prior):
    text = "prior: expected .*standard deviation.* a JAX function .* or None"
    with pytest.raises(ValueError, match=text):
        kg.neural.EnsembleRegressor((4,), **FEW, prior=prior).fit(X, Y)
    with pytest.raises(ValueError, match=r"prior: expected a number above 0 or a JAX function"):
        kg.neural.Simulation([X, Y], prior=prior)


@pytest.mark.usefixtures("untrained")
def test_a_column_of_texts_is_named():
    frame = pd.DataFrame(X, columns=["u", "v", "w"]).assign(site="north")
    for estimator in (kg.neural.EnsembleRegressor, kg.neural.EnsembleClassifier):
        with pytest.raises(kg.DataError, match=r"column 'site' has 'north' in row 0.*OneHotEnc"):
            estimator((4,), **FEW).fit(frame, np.arange(40) % 2)


def test_probabilities_of_predictions():
    regressor, classifier = kg.neural.EnsembleRegressor(), kg.neural.EnsembleClassifier()
    for wrong in ([0.5, 0.9], "a", None, 90):
        with pytest.raises(ValueError, match=r"probability must be a number between 0 and 1, got"):
            regressor.predict_interval(X, wrong)
    for estimator, name, text in (
        (regressor, "coef_", "members_"),
        (regressor, "predict_proba", r"cdf\(X, y\)"),
        (classifier, "coef_", "members_"),
        (classifier, "cdf", r"predict_proba\(X\)"),
        (classifier, "predict_interval", r"predict_proba\(X\)"),
    ):
        with pytest.raises(AttributeError, match=rf"'{name}' \(.*\); here it is {text}"):
            getattr(estimator, name)


def test_labels_of_one_column_are_labels():
    inputs, labels = np.zeros((3, 2)), np.array([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(labels_of(inputs, labels[:, None]), labels)
    with pytest.raises(kg.ShapeError, match=r"got shape \(3, 2\)"):
        labels_of(inputs, np.zeros((3, 2)))
