"""Models without data warn if numbers that could be the data are there."""

import warnings

import numpy as np
import pandas as pd
import pytest

import kinetograph as kg

TABLE = pd.DataFrame({"x": [0.1, 0.7, 0.2], "y": [1.0, 2.0, 4.0]})


def texts_of(make):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        make()
    assert all(w.category is kg.KinetographWarning for w in seen)
    return [str(w.message).partition("the prior; ")[2] or str(w.message) for w in seen]


def plain_arrays():
    x, y = TABLE["x"].to_numpy(), TABLE["y"].to_numpy()
    a = kg.normal(0, 1)
    mu = a * x
    kg.normal(mu, 1)
    return kg.model(a), y


def lists():
    x, y = [0.1, 0.7, 0.2], [1, 2, 4]
    a = kg.normal(0, 1)
    mu = a * kg.data(x)
    pairs, labels = [[1, 2], [3, 4], [5, 6]], ["a", "b", "c"]
    return kg.model(a), y, mu, pairs, labels


def columns():
    a = kg.normal(0, 1)
    mu = a * TABLE["x"]
    return kg.model(a), mu


def a_distribution():
    x, y = TABLE["x"], TABLE["y"]
    a = kg.normal(0, 1)
    follows = kg.normal(a * x, 1)
    return kg.model(a), y, follows


def a_target():
    x, y = TABLE["x"], TABLE["y"]
    a = kg.normal(0, 1)
    mu = a * x
    return kg.model(a, mu), y


def data_of_the_predictor():
    x, y = kg.data(TABLE["x"]), kg.data(TABLE["y"])
    a = kg.normal(0, 1)
    mu = a * x
    return kg.model(a), y, mu


def a_sum():
    x, size = TABLE["x"], np.float64(3.0)
    a = kg.normal(0, 1)
    total = (a * x).sum()
    return kg.model(a), size, total


FORGOTTEN = {
    plain_arrays: "y and mu are not used: write kg.observe(y, distribution)",
    lists: "y and mu are not used: write kg.observe(y, distribution)",
    columns: "mu is not used: write kg.observe(data, distribution)",
    a_distribution: "y and follows are not used: write kg.observe(y, follows)",
    a_target: "y is not used: write kg.observe(y, distribution)",
    a_sum: "total is not used: write kg.observe(data, distribution)",
    data_of_the_predictor: "y is not used: write kg.observe(y, distribution)",
}


@pytest.mark.parametrize("make", FORGOTTEN, ids=lambda make: make.__name__)
def test_the_data_are_named(make):
    assert texts_of(make) == [FORGOTTEN[make]]


def a_funnel():
    v = kg.normal(0, 3)
    x = kg.normal(0, kg.exp(v / 2), shape=9)
    return kg.model(v), kg.model(v, x)


def a_part_of_a_prior():
    means = np.array([0.0, 1.0])
    tau = kg.half_normal(1)
    theta = kg.normal(means, tau)
    scaled = 2 * theta
    return kg.model(tau, theta, scaled)


def an_unknown_that_a_condition_gives_values():
    x, y = TABLE["x"], TABLE["y"]
    a = kg.normal(0, 1)
    drawn = kg.normal(a * x, 1)
    return kg.condition(kg.model(a, drawn), drawn=y)


def arrays_of_other_unknowns():
    x, y = TABLE["x"], TABLE["y"]
    a, b = kg.normal(0, 1), kg.normal(0, 1)
    mu = a * x
    return kg.model(b), y, mu


def a_factor():
    x, y = TABLE["x"], TABLE["y"]
    a = kg.normal(0, 1)
    mu = a * x
    return kg.model(a, factors=[-((mu - y.to_numpy()) ** 2).sum()])


SILENT = [
    a_funnel,
    a_part_of_a_prior,
    an_unknown_that_a_condition_gives_values,
    arrays_of_other_unknowns,
    a_factor,
]


@pytest.mark.parametrize("make", SILENT, ids=lambda make: make.__name__)
def test_priors_and_models_with_other_terms_are_silent(make):
    assert texts_of(make) == []


def test_terms_of_a_function_that_its_model_leaves_out():
    def one_target():
        a, b = kg.normal(0, 1), kg.normal(0, 1)
        y = kg.data([1.0, 2.0])
        kg.observe(y, kg.normal(a, 1))
        kg.observe([1.0], kg.normal(b, 1), name="z")
        return b

    def two_terms():
        a, b, c = kg.normal(0, 1), kg.normal(0, 1), kg.normal(0, 1)
        kg.observe([1.0], kg.normal(a, 1), name="y")
        penalty = -kg.abs(b)
        kg.factor(penalty)
        kg.observe([3.0], kg.normal(c, 1), name="z")
        return kg.model(c)

    (text,) = texts_of(lambda: kg.model(one_target))
    assert text.startswith("model: y is not in the model of this function (test_unused_data.py:")
    assert text.endswith("it depends on a, on which no target depends; return a, too")
    (text,) = texts_of(lambda: kg.model(two_terms))
    assert text.startswith("model: y and penalty are not in the model of this function")
    assert text.endswith("on a and b, on which no target depends; return a and b, too")


def test_a_likelihood_without_unknowns():
    y = [1.0, 2.0]
    (text,) = texts_of(lambda: kg.observe(y, kg.normal(0, 1)))
    assert "the distribution of y, normal(0, 1), depends on no unknown (test_unused" in text
    a = kg.normal(0, 1)
    assert not texts_of(lambda: kg.observe(y, kg.normal(a, 1)))


def test_data_of_other_unknowns_alone():
    a, b, y = kg.normal(0, 1), kg.normal(0, 1), [1.0, 2.0]
    kg.observe(y, kg.normal(b, 1))
    with pytest.warns(
        kg.KinetographWarning,
        match=r"nothing is observed .* no target depends on b \(written at .*\), and so y, "
        r"normal at .*, is not in this model; give b as a target",
    ):
        kg.model(a)


def test_data_of_an_earlier_model_are_not_missing():
    b, y = kg.normal(0, 1), [1.0, 2.0]
    kg.observe(y, kg.normal(b, 1))
    assert kg.model(b).names == ("b",)
    a = kg.normal(0, 1)
    assert kg.model(a).names == ("a",)


def test_a_second_model_with_its_data_is_not_missing():
    a, b = kg.normal(0, 1), kg.normal(0, 1)
    kg.observe([1.0, 2.0], kg.normal(a, 1))
    kg.observe([3.0], kg.normal(b, 1))
    assert kg.model(a).names == ("a",)
