"""Assignments to attributes that nothing would read are refused."""

import copy
import pickle

import numpy as np
import pytest

import kinetograph as kg

MU = kg.normal(0, 1, name="mu")
DATA = kg.data([1.0, 2.0], name="y")
kg.observe(DATA, kg.normal(MU, 1))


ASSIGNED = [
    (lambda: kg.model(MU), "y", r"does not exist.*model\.set_data"),
    (lambda: kg.model(MU), "log_prob", r"is fixed.*model\.set_data"),
    (lambda: kg.model(MU), "names", r"is fixed.*kg\.do\("),
    (lambda: kg.simulate(kg.model(MU), draws=2), "mu", r"results\.assign"),
    (lambda: kg.random, "metaseed", r"kg\.RandomStreams\(metaseed\)"),
    (lambda: kg.compile([MU], 2 * MU), "state", r"f\.state\[s\] = value"),
]


@pytest.mark.parametrize(("make", "name", "answer"), ASSIGNED, ids=[n for _, n, _ in ASSIGNED])
def test_an_attribute_that_nothing_reads_is_refused(make, name, answer):
    holder = make()
    with pytest.raises(AttributeError, match=answer) as caught:
        setattr(holder, name, 3.0)
    assert isinstance(caught.value, kg.KinetographError)
    assert "test_suggestions.py" in str(caught.value)


def test_models_are_copied_and_pickled():
    model = kg.model(MU)
    for other in (copy.copy(model), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.log_prob([0.5]), model.log_prob([0.5]))


def test_classes_of_users_have_their_own_attributes():
    class Mine(kg.RandomStreams):
        def __init__(self):
            super().__init__(1)
            self.mine = 3

    assert Mine().mine == 3


def test_attributes_that_results_let_change_are_assigned():
    results = kg.simulate(kg.model(MU), draws=2)
    results.name = "mine"
    results.attrs = {"author": "me"}
    assert (results.name, results.attrs) == ("mine", {"author": "me"})
