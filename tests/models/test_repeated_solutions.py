"""Equations that are solved one by one in a Python loop."""

import warnings

import numpy as np
import pytest

import kinetograph as kg

TIMES = np.array([0.5, 1.0, 2.0])


def decay(count, form):
    """The decay of `count` substances."""
    rate = kg.lognormal(0, 1, shape=count, name="rate")
    if form == "vmap":

        def one(rate, begin):
            return kg.ode.solve(lambda t, y: -rate * y, begin, TIMES, t0=0.0)

        levels = kg.vmap(one)(rate, np.ones(count))
    elif form == "arrays":
        levels = kg.ode.solve(lambda t, y: -rate * y, np.ones(count), TIMES, t0=0.0).T
    else:
        each = []
        for i in range(count):
            begin = {"x": 1.0, "y": 0.0}
            rhs = lambda t, y, i=i: {"x": -rate[i] * y["x"], "y": rate[i] * y["x"]}
            y = kg.ode.solve(rhs, begin, TIMES, t0=0.0)
            each.append(y["x"] + 0.0 * y["y"])
        levels = kg.stack(each)
    kg.observe(np.tile(np.exp(-TIMES), (count, 1)), kg.normal(levels, 0.1))
    return rate


def model_of(count, form):
    return kg.model(lambda: decay(count, form))


def test_many_solutions_of_one_line():
    said = r"kg.ode.solve is called 6 times at .*solutions.py:\d+, and each .* with kg.vmap"
    with pytest.warns(kg.KinetographWarning, match=said) as caught:
        model_of(6, "loop")
    assert len(caught) == 1


@pytest.mark.parametrize(("count", "form"), [(5, "loop"), (40, "vmap"), (40, "arrays")])
def test_few_solutions(count, form):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model_of(count, form)


def test_the_forms_agree():
    models = {form: model_of(3, form) for form in ("loop", "arrays", "vmap")}
    free = np.array([0.3, -0.4, 0.1])
    values = {form: model.log_prob(free) for form, model in models.items()}
    assert values["arrays"] == pytest.approx(values["loop"], rel=1e-5)
    assert values["vmap"] == pytest.approx(values["loop"], rel=1e-5)
