"""What users hold can be looked at: an attribute is there, or is missing as Python says it."""

import copy
import inspect
import pydoc

import pytest

import kinetograph as kg


class Owner:
    @kg.function
    def method(self, v):
        return v


def objects():
    mu = kg.normal(0, 1, name="mu")
    y = kg.data([1.0, 2.0])
    kg.observe(y, kg.normal(mu, 1.0))
    x = kg.placeholder((2, 2), name="x")
    streams = kg.RandomStreams(1)
    return {
        "number": mu,
        "vector": y,
        "matrix": x,
        "draw": streams.normal(),
        "result of a loop": kg.while_loop(lambda v: v < 3, lambda v: v + 1, [mu])[0],
        "state": kg.state(0.0),
        "range": kg.range(3),
        "dataset": kg.Dataset([1.0, 2.0]),
        "model": kg.model(mu),
        "compiled function": kg.compile([x], x * 2),
        "staged function": kg.function(lambda v: v),
        "staged method": Owner().method,
        "streams": streams,
        "the streams of everybody": kg.random,
    }


OBJECTS = objects()
OFTEN_ASKED = {
    *("loop", "rng", "T", "mT", "at", "flat", "real", "imag", "base", "nbytes", "itemsize"),
    *("__len__", "__iter__", "__array__", "__wrapped__", "_repr_html_"),
}


@pytest.mark.parametrize("kind", OBJECTS)
def test_every_attribute_is_there_or_missing(kind):
    held = OBJECTS[kind]
    for name in {*dir(held), *OFTEN_ASKED}:
        hasattr(held, name)  # anything but an AttributeError passes through


@pytest.mark.parametrize("kind", OBJECTS)
def test_tools_that_look_at_objects(kind):
    held = OBJECTS[kind]
    assert inspect.getmembers(held)
    assert pydoc.render_doc(held)
    assert copy.copy(held) is not None
    assert repr(held)


def test_missing_attributes_say_who_has_them():
    for kind, name, text in [
        ("number", "rng", "not a random draw"),
        ("number", "loop", "not the result of a while loop"),
        ("vector", "mT", "no matrices"),
    ]:
        with pytest.raises(AttributeError, match=text) as caught:
            getattr(OBJECTS[kind], name)
        assert isinstance(caught.value, kg.SymbolicError)
    assert hasattr(OBJECTS["draw"], "rng")
    assert hasattr(OBJECTS["result of a loop"], "loop")
    assert hasattr(OBJECTS["matrix"], "mT")
