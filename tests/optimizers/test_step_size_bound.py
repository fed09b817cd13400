"""The bound on the step size of integrators."""

import numpy as np
import pytest
from tests.optimizers.models import found, quadratic

import kinetograph as kg


def test_an_oscillator():
    model, at = quadratic(), {"x": [0.0, 0.0]}  # frequencies 1 and 2
    for method, bound in {"verlet": 1, "langevin": 1, "sgld": 0.5, "gradient_descent": 0.5}.items():
        np.testing.assert_allclose(kg.step_size_bound(model, at, method), bound, rtol=1e-12)
    np.testing.assert_allclose(kg.step_size_bound(model, found(model)), 1.0, rtol=1e-12)


@pytest.mark.filterwarnings("ignore::kinetograph.ConvergenceWarning")
def test_gradient_descent_converges_below_the_bound_alone():
    bound = kg.step_size_bound(quadratic(), [0.0, 0.0], "gradient_descent")
    for factor, converges in ((0.95, True), (1.05, False)):
        descent = kg.optimizers.gradient_descent(factor * bound)
        assert found(quadratic(), descent).converged is converges


def test_many_unknowns():
    scale = np.linspace(0.1, 1.0, 300)
    model = kg.model(kg.normal(0, kg.data(scale), name="x"))
    np.testing.assert_allclose(kg.step_size_bound(model, np.zeros(300)), 0.2, rtol=1e-9)


def test_edges():
    x = kg.variable(name="x")
    hill = kg.model(x, factors=[x * x])
    assert kg.step_size_bound(hill, [0.0]) == np.inf
    with pytest.raises(ValueError, match="step_size_bound: the log density is not finite"):
        kg.step_size_bound(kg.model(x, factors=[kg.log(x)]), [-1.0])
    with pytest.raises(ValueError, match=r"no method 'verlt' \(.*\); did you mean 'verlet'"):
        kg.step_size_bound(hill, [0.0], "verlt")
    with pytest.raises(kg.ShapeError, match="a free state of this model has 1"):
        kg.step_size_bound(hill, [0.0, 1.0])
    with pytest.raises(
        TypeError, match=r"step_size_bound: the first argument is the number 1\.0, not a model"
    ):
        kg.step_size_bound(1.0, [0.0])
