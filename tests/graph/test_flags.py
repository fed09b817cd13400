"""Text in place of True or False."""

import inspect

import pytest

import kinetograph as kg
from kinetograph.graph.flags import flags_of


def test_which_parameters_are_flags():
    def function(a, b=True, c=1, *rest, d=False, e=None):
        pass

    assert flags_of(function) == {"b": 1, "d": -1}
    assert flags_of(len) == {}
    assert set(flags_of(inspect.unwrap(kg.opt))) == {"adjust", "hessian"}


def test_text_by_name_and_by_position():
    model = kg.model(kg.normal(0, 1, name="x"))
    with pytest.raises(TypeError, match=r"plot: collapse must be True or False, got the text 'n"):
        model.plot(collapse="no")
    with pytest.raises(TypeError, match="plot: collapse must be True or False"):
        model.plot("svg")
    assert str(model.plot(False)) == str(model.plot(collapse=0))
