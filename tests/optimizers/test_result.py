"""What `kg.opt` gives: values, names, the Hessian and standard errors."""

import copy
import pickle

import numpy as np
import pytest
from tests.optimizers.models import WAITS, found, regression, waits
from tests.runs.models import NAMES, schools

import kinetograph as kg


def test_the_hessian_of_linear_regression():
    model, design, responses = regression()
    fit = found(model, hessian=True)
    covariance = 0.49 * np.linalg.inv(design.T @ design)
    np.testing.assert_allclose(np.linalg.inv(fit.hessian), covariance, rtol=1e-9)
    errors = np.sqrt(np.diag(covariance))
    np.testing.assert_allclose(fit.standard_errors["slope"], errors, rtol=1e-9)
    least_squares = np.linalg.lstsq(design, responses)[0]
    np.testing.assert_allclose(fit["slope"], least_squares, atol=1e-6)


def test_standard_errors_are_those_of_the_values():
    """Maximum likelihood of a rate: rate / sqrt(n), and 1 / sqrt(n) for its logarithm."""
    n, mode = len(WAITS), len(WAITS) / WAITS.sum()
    fit = found(waits(), adjust=False, hessian=True)
    np.testing.assert_allclose(fit.hessian, [[n]], rtol=1e-6)
    np.testing.assert_allclose(fit.standard_errors["rate"], mode / np.sqrt(n), rtol=1e-6)
    adjusted = found(waits(), hessian=True)
    np.testing.assert_allclose(adjusted.hessian, [[n + 1]], rtol=1e-6)
    assert found(waits()).standard_errors is None


def test_targets_have_values_errors_and_labels():
    fit = found(schools(), hessian=True)
    theta = fit["mu"] + fit["tau"] * fit.values["z"]
    np.testing.assert_allclose(fit["theta"], theta, rtol=1e-12)
    assert set(fit.values) == {"mu", "tau", "z"}
    assert set(fit.targets) == {"mu", "tau", "theta"}
    dataset = fit.to_dataset()
    np.testing.assert_array_equal(dataset["theta"].sel(school="Andover"), fit["theta"][2])
    # By finite differences along the columns of the covariance of the free state.
    covariance, model = np.linalg.inv(fit.hessian), schools()

    def first_theta(free):
        values = model.transform(free)
        return values["mu"] + values["tau"] * values["z"][0]

    slopes = [
        (first_theta(fit.free + step) - first_theta(fit.free - step)) / 2e-6
        for step in 1e-6 * np.eye(model.free_size)
    ]
    error = np.sqrt(slopes @ covariance @ slopes)
    np.testing.assert_allclose(fit.standard_errors["theta"][0], error, rtol=1e-6)
    lines = repr(fit).splitlines()
    assert lines[0] == "lbfgs: converged"
    assert lines[1].startswith("log density on the free scale -40.05")
    assert lines[2].split() == ["value", "standard", "error"]
    assert [line.split()[0] for line in lines[3:6]] == ["mu", "tau", f"theta[{NAMES[0]}]"]
    assert lines[5].split()[1:] == [f"{theta[0]:.6g}", f"{error:.4g}"]


def test_long_results_are_cut_when_printed():
    x = kg.normal(0, 1, shape=100, name="x")
    text = repr(found(kg.model(x)))
    assert text.endswith("... and 70 more")


def test_names_that_are_not_there():
    with pytest.raises(KeyError, match="'tau' is neither a target nor an unknown; there are rate"):
        found(waits())["tau"]


def test_copies_and_pickles():
    fit = found(waits(), hessian=True)
    for copied in (copy.deepcopy(fit), pickle.loads(pickle.dumps(fit))):
        assert repr(copied) == repr(fit)
