"""`geweke_chain`: right and wrong samplers, on models."""

import numpy as np
import pytest

import kinetograph as kg
from kinetograph import laws, samplers


def model():
    """A mean, a positive scale, and two data."""
    mu = kg.normal(0.0, 1.0, name="mu")
    sd = kg.lognormal(0.0, 0.5, name="sd")
    y = kg.data([0.3, -0.2], "y")
    kg.observe(y, kg.normal(mu, sd))
    return kg.model(mu, sd)


class TooEasy(kg.Sampler):
    """A random walk whose test has half of the energy."""

    step_size = kg.hyper(1.0)

    def step(self, at):
        new = self.evaluate(at.q + self.step_size * self.noise("walk", like=at.q))
        if kg.log(self.noise.uniform(name="u")) < 0.5 * (at.potential - new.potential):
            at = new
        return at


class Given(kg.Sampler):
    """The mean given the data as they were at first: those of its turn are not looked at."""

    def step(self, at):
        parts = self.parts(at.q)
        parts["mu"] = 0.1 / 3 + kg.sqrt(1 / 3) * self.noise("mu")
        return self.evaluate(parts)


RIGHT = [samplers.HMC(0.5, n_steps=3), samplers.NUTS(step_size=0.5), samplers.RandomWalk(1.5)]


@pytest.mark.parametrize("sampler", RIGHT, ids=lambda s: type(s).__name__)
def test_a_right_sampler_keeps_the_joint_law(sampler):
    made = model()
    found = laws.geweke_chain(made, sampler, replicas=400, seed=1)
    assert found.passed(), found
    assert list(found.p_values) == ["mu", "|mu - median|", "sd", "|sd - median|"]
    assert found.size == 400
    np.testing.assert_array_equal(made.value_of(made.observed[0]), [0.3, -0.2])


def test_what_is_computed_of_the_data_follows_them():
    """A regression whose sums over the rows are taken beforehand."""
    x = np.linspace(-1.0, 1.0, 200)
    a = kg.normal(0.0, 1.0, name="a")
    y = kg.data(np.zeros(200), "y")
    kg.observe(y, kg.normal(a * x, 2.0))
    walk = samplers.RandomWalk(0.6)
    found = laws.geweke_chain(kg.model(a), walk, replicas=300, steps=2, seed=1)
    assert found.passed(), found


@pytest.mark.parametrize("sampler", [TooEasy(), Given()], ids=["test", "data"])
def test_a_wrong_sampler_breaks_it(sampler):
    assert not laws.geweke_chain(model(), sampler, replicas=400, seed=1).passed()


def test_coordinates_have_the_names_of_unknowns():
    theta = kg.normal(0.0, 1.0, shape=(2, 1), name="theta")
    p = kg.dirichlet([1.0, 1.0, 1.0], name="p")
    kg.observe(kg.data([[0.0], [0.0]]), kg.normal(theta + p[0], 1.0))
    found = laws.geweke_chain(
        kg.model(theta, p), samplers.HMC(0.4, n_steps=3), replicas=200, steps=1, seed=2
    )
    assert found.passed()
    assert list(found.p_values)[::2] == ["theta[0, 0]", "theta[1, 0]", "p[0]", "p[1]"]


def test_refusals():
    x = kg.normal(0.0, 1.0, name="x")
    with pytest.raises(kg.ModelError, match="observes nothing"):
        laws.geweke_chain(kg.model(x), seed=1)
    with pytest.raises(ValueError, match="Stretch moves an ensemble"):
        laws.geweke_chain(model(), samplers.Stretch(), seed=1)
    mu = kg.normal(0.0, 1.0, name="mu")
    kg.observe(kg.data([1.0, 2.0]), kg.normal(mu, 1.0))
    with pytest.raises(kg.ModelError, match="has factors"):
        laws.geweke_chain(kg.model(mu, factors=[-mu * mu]), seed=1)
    with pytest.raises(kg.ModelError, match=r"without kg\.minibatch"):
        laws.geweke_chain(kg.minibatch(kg.model(mu), 2), seed=1)
