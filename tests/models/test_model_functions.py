"""Model functions: `kg.model(build)`."""

import functools
import pickle
import sys
import threading

import numpy as np
import pytest
from scipy import stats

import kinetograph as kg
from kinetograph.models import model_functions

Y = kg.data([1.0, 2.0, 4.0], name="y")


def level():
    mu = kg.normal(0, 1)
    tau = kg.half_normal(1)
    heights = np.array([1.0, 2.0, 4.0])
    kg.observe(heights, kg.normal(mu, tau))
    return mu, tau


def as_a_list():
    return [*level()]


def by_name():
    return dict(zip(("mu", "tau"), level(), strict=True))


def returns_nothing():
    mu, tau = level()
    return None if mu is not tau else kg.exp(mu)


def returns_a_model():
    mu, tau = level()
    return kg.model(mu, tau)


class Made:
    def build(self):
        mu, tau = level()
        return mu, tau

    def __call__(self):
        mu, tau = level()
        return mu, tau


def with_argument(sd, more=1):
    mu, tau = level()
    return mu, tau


BUILDS = {
    "function": level,
    "by name": by_name,
    "nothing": returns_nothing,
    "model": returns_a_model,
    "method": Made().build,
    "object": Made(),
    "partial": functools.partial(with_argument, sd=2),
}


@pytest.mark.parametrize("kind", BUILDS)
def test_what_it_returns_are_the_targets_by_the_names_of_its_variables(kind):
    for _ in range(2):
        model = kg.model(BUILDS[kind])
        assert model.names == model.target_names == ("mu", "tau")
        assert float(model.log_prob([0.5, 0.2])) == pytest.approx(
            stats.norm.logpdf([1, 2, 4], 0.5, np.exp(0.2)).sum()
            + stats.norm.logpdf(0.5)
            + stats.halfnorm.logpdf(np.exp(0.2))
            + 0.2
        )


def test_the_data_are_called_by_its_variables():
    model = kg.model(level)
    assert [model.name(node) for node in model.observed] == ["heights"]
    assert kg.model(lambda: kg.normal(0, 1, name="own")).names == ("own",)


def test_what_is_computed_and_given_to_kg_model():
    def build():
        theta = kg.normal(0, 1, shape=2, dims="g")
        kg.observe([1.0, 2.0], kg.normal(theta, 1))
        double = 2 * theta
        return double

    model = kg.model(build, coords={"g": ["a", "b"]}, factors=kg.data([1.5]))
    assert model.target_names == ("double",)
    assert model.coords["g"].tolist() == ["a", "b"]
    assert model["double"].shape == model["theta"].shape == (2,)
    assert len(model.factors) == 1


def test_what_is_stated_outside_is_not_seen_within_and_the_other_way_round():
    mu = kg.normal(0, 1)
    kg.observe([5.0], kg.normal(mu, 1), name="outside")
    kg.factor(-mu)

    def build():
        kg.observe(Y, kg.normal(mu, 1))
        kg.factor(-(mu**2))
        return mu

    wanted = stats.norm.logpdf([1.0, 2.0, 4.0], 0.5).sum() - 0.25 + stats.norm.logpdf(0.5)
    for _ in range(3):
        model = kg.model(build)
        assert [model.name(n) for n in model.observed] == ["y"]
        assert float(model.log_prob([0.5])) == pytest.approx(wanted)
    outside = kg.model(mu)
    assert [outside.name(n) for n in outside.observed] == ["outside"]
    assert len(outside.factors) == 1
    assert [n.value.tolist() for n in kg.model(model["mu"]).observed] == [[5.0]]


def test_an_error_within_leaves_nothing():
    mu = kg.normal(0, 1)

    def build():
        kg.observe(Y, kg.normal(mu, 1))
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        kg.model(build)
    kg.observe([5.0], kg.normal(mu, 1))
    assert len(kg.model(mu).observed) == 1


def test_folds_do_not_add_up():
    mu = kg.normal(0, 1)
    y = np.random.default_rng(1).normal(size=20)
    for fold in range(3):

        def build(train):
            kg.observe(train, kg.normal(mu, 1))
            return mu

        train = np.delete(y, np.s_[fold::3])
        model = kg.model(functools.partial(build, train))
        wanted = stats.norm.logpdf(train, 0.5).sum() + stats.norm.logpdf(0.5)
        assert float(model.log_prob([0.5])) == pytest.approx(wanted)


def test_one_function_in_another():
    mu = kg.normal(0, 1)

    def inner():
        kg.observe([1.0], kg.normal(mu, 1), name="inner")
        return mu

    def outer():
        kg.observe([2.0], kg.normal(mu, 1), name="outer")
        held = kg.model(inner)
        assert [held.name(n) for n in held.observed] == ["inner"]
        return mu

    model = kg.model(outer)
    assert [model.name(n) for n in model.observed] == ["outer"]


def test_a_function_that_calls_itself():
    def build(depth=2):
        if depth:
            mu = build(depth - 1)
            return mu
        nu = kg.normal(0, 1)
        return nu

    assert kg.model(build).names == ("mu",)


def test_missing_values_of_an_array_from_outside():
    y = kg.data([1.0, None, 3.0], name="y", missing="impute")

    def build():
        mu = kg.normal(0, 1)
        kg.observe(y, kg.normal(mu, 1))
        return mu, y

    assert kg.model(build).names == kg.model(build).names == ("mu", "y_missing")
    with pytest.raises(kg.ModelError, match="has missing values and no distribution"):
        y + 1


def test_functions_in_threads():
    found = {}

    def work(number):
        def build():
            mu = kg.normal(0, 1)
            for _ in range(number):
                kg.observe([1.0, 2.0], kg.normal(mu, 1))
            return mu

        found[number] = kg.model(build)

    threads = [threading.Thread(target=work, args=(n,)) for n in (1, 2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {n: (m.names, len(m.observed)) for n, m in found.items()} == {
        n: (("mu",), n) for n in (1, 2, 3)
    }


def test_its_models_are_pickled_and_drawn_from():
    model = kg.model(level)
    assert pickle.loads(pickle.dumps(model)).names == model.names
    results = kg.mcmc(model, draws=20, warmup=20, chains=1, seed=1, progress=False)
    later = kg.normal(model["mu"], model["tau"], shape=2)
    assert kg.predict(model, results, later=later, seed=1)["predictions"]["later"].shape[-1] == 2
    with pytest.raises(KeyError, match=r"no array 'nu'.*heights"):
        model["nu"]


def test_a_model_made_within_a_function_has_no_names_of_other_variables():
    def made(named):
        mu = kg.normal(0, 1)
        L = 2.0 * mu
        kg.observe([1.0, 2.0], kg.normal(L, 1))
        return kg.model(mu, **({"L": L} if named else {}))

    with pytest.raises(KeyError, match=r"no array 'L'.*write kg.model\(\.\.\., L=L\)"):
        made(False)["L"]
    assert made(True)["L"].shape == ()


def test_functions_that_cannot_be_model_functions():
    @kg.function
    def staged():
        return kg.normal(0, 1)

    with pytest.raises(TypeError, match=r"staged is decorated with @kg\.function"):
        kg.model(staged)
    with pytest.raises(TypeError, match=r"has arguments without a default: sd.*partial\(with_"):
        kg.model(with_argument)
    with pytest.raises(TypeError, match="a target is the number 3"):
        kg.model(lambda: 3)
    with pytest.raises(kg.ModelError, match="no unknown array was found"):
        kg.model(lambda: None)
    with pytest.raises(TypeError, match="a model function is the only argument"):
        kg.model(level, kg.normal(0, 1))


def test_a_name_of_another_tool_is_left_alone(monkeypatch):
    """If other tools use all monitoring numbers, only `name=` gives names."""

    monkeypatch.setattr(model_functions, "_tool", lambda: None)
    assert kg.model(lambda: kg.normal(0, 1, name="own")).names == ("own",)
    assert kg.model(level).names == ("normal_1", "half_normal_1")
    assert sys.monitoring.get_tool(sys.monitoring.PROFILER_ID) is None


def test_unknowns_of_another_model_do_not_lose_their_observations_unnoticed():
    def build():
        mu = kg.normal(0, 1)
        kg.observe([1.0, 2.0], kg.normal(mu, 1))
        return {"mu": mu, "free": kg.normal(0, 1)}

    first = kg.model(build)
    text = "(?s)mu|normal.* is an unknown of another model.*kg.calculate"
    with pytest.raises(kg.ModelError, match=text):
        kg.model(first["mu"])
    with pytest.raises(kg.ModelError, match="another model"):
        kg.model(total=first["mu"] + 1)
    assert kg.model(first["free"]).observed == ()
    kg.observe([3.0], kg.normal(first["mu"], 1))  # observed again, here
    assert len(kg.model(first["mu"]).observed) == 1


def test_unknowns_from_outside_may_be_in_a_function_and_in_another_model():
    mu = kg.normal(0, 1)

    def build():
        kg.observe([1.0], kg.normal(mu, 1))
        return mu

    assert len(kg.model(build).observed) == 1
    assert kg.model(mu).observed == ()


def test_names_of_a_function_whose_result_is_returned_as_it_is():
    def regression(sd):
        mu = kg.normal(0, sd)
        rest = kg.half_normal(sd)
        kg.observe(Y, kg.normal(mu, rest))
        return mu, rest

    def another(sd):
        mu = kg.normal(9, 1)  # has no effect on the names of the model
        return regression(float(mu is None) + sd)

    class Study:
        def build(self):
            return regression(2)

    for build in (lambda: regression(3), lambda: another(3), Study().build):
        assert kg.model(build).names == ("mu", "rest")
    assert kg.model(functools.partial(another, 2)).names == ("mu", "rest")
    several = kg.model(lambda: [regression(1)[0], regression(2)[0]])
    assert several.target_names == ("normal_1", "normal_2")
