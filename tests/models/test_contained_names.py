"""Names of arrays that a dictionary, a list or an object of the user holds."""

import dataclasses
from collections import namedtuple
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import kinetograph as kg
from kinetograph.models.contained_names import SEARCHED, contained_names


def test_keys_of_a_dictionary():
    effects = {c: kg.normal(0, 1) for c in ("age", "income")}
    kg.observe([1.0, 2.0], kg.normal(effects["age"] + effects["income"], 1))
    m = kg.model(*effects.values())
    assert m.names == ("age", "income")
    assert m["age"].node is effects["age"].node
    assert set(kg.simulate(m, draws=2, seed=1)["prior"]) == {"age", "income"}


@pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")
def test_names_in_results_and_predictions():
    effects = {c: kg.normal(0, 1) for c in ("age", "income")}
    kg.observe(y := [1.0, 2.0], kg.normal(effects["age"] + effects["income"], 1))
    m = kg.model(*effects.values())
    results = kg.mcmc(m, draws=5, warmup=20, chains=1, seed=1, progress=False)
    assert list(results["posterior"]) == ["age", "income"]

    def elsewhere(model, age):  # the names belong to the model, not to the variables in scope
        computed = kg.calculate(twice=2 * age, values=results)
        return kg.predict(model, results, seed=1), computed

    predicted, computed = elsewhere(m, effects["age"])
    assert predicted["posterior_predictive"]["y"].shape == (1, 5, len(y))
    assert np.allclose(computed["posterior"]["twice"], 2 * results["posterior"]["age"])


def test_elements_of_lists_and_keys_that_are_numbers():
    betas = [kg.normal(0, 1), kg.normal(0, 1)]
    years = {2001: kg.normal(0, 1), 2002: kg.normal(0, 1)}
    kg.factor(-(sum(betas) ** 2))
    kg.factor(-(sum(years.values()) ** 2))
    assert kg.model(*betas, *years.values()).names == (
        "betas_0",
        "betas_1",
        "years_2001",
        "years_2002",
    )


def test_attributes_of_objects():
    @dataclasses.dataclass(slots=True)
    class Slots:
        tau: kg.Array

    class Plain:
        def __init__(self):
            self.mu = kg.normal(0, 1)
            self._hidden = kg.normal(0, 1)
            self.scores = np.array([1.0, 2.0])
            kg.observe(self.scores, kg.normal(self.mu + self._hidden, 1))
            self.model = kg.model(self.mu)

        @property
        def never(self):
            raise AssertionError("a property is not called")

    plain = Plain()
    assert plain.model.names == ("mu", "normal_1")
    assert "scores" in repr(plain.model)
    slots, point = Slots(kg.normal(0, 1)), namedtuple("Point", "x y")(kg.normal(0, 1), 1.0)
    space = SimpleNamespace(scale=kg.half_normal(1))
    assert kg.model(slots.tau, point.x, space.scale).names == ("tau", "x", "scale")


def test_containers_in_containers():
    layers = [{"w": kg.normal(0, 1)}, {"w": kg.normal(0, 1)}]
    parts = SimpleNamespace(effects={"age": kg.normal(0, 1)}, slopes=[kg.normal(0, 1)])
    total = layers[0]["w"] + layers[1]["w"] + parts.effects["age"] + parts.slopes[0]
    assert kg.model(total).names == ("layers_0_w", "layers_1_w", "age", "slopes_0")


def test_equal_keys_have_the_name_of_their_container_too():
    alpha = {c: kg.normal(0, 1) for c in ("a", "b")}
    beta = {c: kg.normal(0, 1) for c in ("a", "c")}
    m = kg.model(*alpha.values(), *beta.values())
    assert m.names == ("alpha_a", "alpha_b", "beta_a", "beta_c")


def test_what_has_two_names_has_none():
    mu = [kg.normal(0, 1)]
    nu = [mu[0]]
    assert kg.model(mu[0] + nu[0]).names == ("normal_1",)


def test_an_equal_key_in_two_dictionaries_is_one_name():
    one = {"mu": kg.normal(0, 1)}
    both = {**one, "tau": kg.half_normal(1)}
    assert kg.model(*both.values()).names == ("mu", "tau")


def test_names_that_are_in_use():
    a, effects = kg.normal(0, 1), {"a": kg.normal(0, 1), "b": kg.normal(0, 1)}
    assert kg.model(a, *effects.values()).names == ("a", "effects_a", "effects_b")
    group = kg.dim("group", ["x", "y"])
    by = {"group": kg.normal(0, 1, dims=group)}
    assert kg.model(by["group"]).names == ("by_group",)  # `group` is the dimension
    mixed = {"c/d": kg.normal(0, 1), "": kg.normal(0, 1), ("t", 1): kg.normal(0, 1)}
    assert kg.model(*mixed.values()).names == ("normal_1", "normal_2", "normal_3")


def test_a_variable_and_a_name_win():
    mu = kg.normal(0, 1)
    effects = {"age": mu, "income": kg.normal(0, 1, name="wealth")}
    assert kg.model(*effects.values()).names == ("mu", "wealth")


def test_names_in_a_model_function():
    def build():
        effects = {c: kg.normal(0, 1) for c in ("age", "income")}
        kg.observe([1.0], kg.normal(effects["age"] + effects["income"], 1))
        return list(effects.values())

    assert kg.model(build).names == ("age", "income")


def test_names_of_data():
    mu = kg.normal(0, 1)
    frame = pd.DataFrame({"score": [1.0, 2.0], "x": [3.0, 4.0]})
    data = {"y": np.array([1.0, 2.0])}
    kg.observe(frame["score"], kg.normal(mu * frame["x"], 1))
    kg.observe(data["y"], kg.normal(mu * kg.data(frame["x"]), 1))
    m = kg.model(mu)
    assert {m.name(n) for n in m.data} == {"score", "y", "x"}
    assert "array" not in m.plot().text()
    z = frame["score"]
    kg.observe(z, kg.normal(nu := kg.normal(0, 1), 1))
    assert [n.label() for n in kg.model(nu).observed] == ["z"]


def test_the_search_is_bounded():
    loop = []
    loop.append(loop)
    held = {"loop": loop, "long": list(range(10 * SEARCHED)), "x": [object()]}
    seen = []
    contained_names(held, lambda item: seen.append(item), set())
    assert SEARCHED <= len(seen) <= SEARCHED + 10


def test_elements_of_an_array_have_its_name_and_their_index():
    beta, matrix = kg.normal(0, 1, shape=3), kg.normal(0, 1, shape=(2, 2), name="m")
    kg.observe([1.0, 2.0, 4.0], kg.normal(beta, 1))
    last = np.int64(1)
    m = kg.model(beta[-1], beta[0], matrix[last], matrix[0][-1], matrix[1, 0])
    assert m.target_names == ("beta[-1]", "beta[0]", "m[1]", "m[0][-1]", "m[1, 0]")
    assert m["beta[-1]"].shape == ()
    drawn = kg.simulate(m, draws=3, seed=1)["prior"]
    assert np.array_equal(drawn["beta[-1]"], drawn["beta"][..., -1])
    assert drawn["m[1]"].shape == (1, 3, 2)


def test_other_parts_of_an_array_have_a_number():
    beta, m = kg.normal(0, 1, shape=3), kg.normal(0, 1, shape=(2, 2))
    names = kg.model(beta[1:], beta[np.array([0, 1])], m[:, 0], (2 * beta)[0], m.T[0]).target_names
    assert names == tuple(f"index_{i + 1}" for i in range(5))


def test_a_variable_of_an_element_goes_before():
    beta = kg.normal(0, 1, shape=2)
    first, twice = beta[0], kg.calculate(beta[1], draws=2, seed=1)
    assert kg.model(first, beta[1]).target_names == ("first", "beta[1]")
    assert list(twice) == ["beta[1]"]


def test_elements_of_a_named_target():
    inside = {"b": kg.normal(0, 1, shape=2)}
    assert kg.model(inside["b"][1], slope=inside["b"]).target_names == ("slope", "slope[1]")
