"""Samplers that draw all unknowns from distributions of their own: models without a density."""

import numpy as np
import pytest

import kinetograph as kg


class Gibbs(kg.Sampler):
    """m | x ~ N(x / 2, 1 / 2);  x | m ~ N(m, 1)"""

    def step(self, at):
        parts = self.parts(at.q)
        parts["m"] = 0.5 * parts["x"] + kg.sqrt(0.5) * self.noise("m")
        parts["x"] = parts["m"] + self.noise("x")
        return self.evaluate(parts)


def test_a_model_without_a_density():
    m, x = kg.variable(name="m"), kg.variable(name="x")
    model = kg.model(m, x, factors=None)
    assert model.log_prob({"m": 1.0, "x": 2.0}) == 0.0
    tree = kg.mcmc(model, Gibbs(), draws=2000, warmup=10, seed=1, progress=False)
    for name, variance in (("m", 1.0), ("x", 2.0)):
        test = kg.laws.mean_test(tree["posterior"][name].values ** 2, variance)
        assert test.passed(), test
    assert not np.any(tree["sample_stats"]["lp"])


def test_a_density_of_some():
    m, x = kg.variable(name="m"), kg.normal(0.0, 1.0, name="x")
    model = kg.model(m, x, factors=None)
    assert model.log_prob({"m": 9.0, "x": 0.0}) == pytest.approx(-0.5 * np.log(2 * np.pi))


def test_else_a_density_is_asked_for():
    m = kg.variable(name="m")
    with pytest.raises(kg.ModelError, match="associated with a probability density"):
        kg.model(m)
    with pytest.raises(kg.ModelError, match="no density depends on m"):
        kg.model(m, kg.normal(0.0, 1.0, name="x"))
