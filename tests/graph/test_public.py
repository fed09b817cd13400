"""The decorator of public functions and classes."""

import inspect
import traceback

import numpy as np
import pytest

import kinetograph as kg
from kinetograph.graph.public import public
from kinetograph.graph.source import PACKAGE

CODE = """
@public
def inner(x):
    return np.zeros(2).reshape(x)

alias = inner

@public
def outer(x):
    return inner(x)

@public
def by_alias(x):
    return alias(x)

@public
def applied(function, x):
    return function(x)
"""
OWN = {"np": np, "public": public, "__name__": "kinetograph.example"}
exec(compile(CODE, PACKAGE + "example.py", "exec"), OWN)


@pytest.mark.parametrize("name", ["inner", "outer", "by_alias"])
def test_an_error_of_a_library_names_the_function_that_the_user_called(name):
    text = rf"^{name}: cannot reshape .* \(test_public.py:\d+\); it was given x=the number 3$"
    with pytest.raises(ValueError, match=text) as caught:
        OWN[name](3)
    assert "reshape" in str(caught.value.__cause__)


def test_a_public_function_that_the_user_passes_is_named():
    with pytest.raises(ValueError, match=r"^inner: cannot reshape"):
        OWN["applied"](OWN["inner"], 3)
    with pytest.raises(TypeError, match=r"^inner: unknown parameter|^inner: takes x"):
        OWN["applied"](lambda x: OWN["inner"](x, x), 3)


def test_an_error_of_the_user_passes_unchanged():
    error = KeyError("mine")

    def wrong(x):
        raise error

    with pytest.raises(KeyError) as caught:
        OWN["applied"](wrong, 3)
    assert caught.value is error
    assert "wrong" in [frame.name for frame in traceback.extract_tb(error.__traceback__)]


def test_methods_of_a_class():
    @public
    class Example:
        def __init__(self, size):
            self.size = size

        def method(self, x=True):
            return self.size

        @staticmethod
        def static(x):
            return x

        @classmethod
        def make(cls, size):
            return cls(size)

        def step(self):
            return self._hidden()

        def _hidden(self):
            return self.size

    example = Example.make(3)
    assert example.method() == example.step() == Example.static(3) == 3
    assert str(inspect.signature(Example)) == "(size)"
    for call, name in [
        (Example, "Example"),
        (example.method, "method"),
        (example.static, "static"),
        (Example.make, "make"),
    ]:
        with pytest.raises(TypeError, match=f"^{name}: unknown parameter word .*It takes"):
            call(word=1)
    with pytest.raises(TypeError, match=r"^method: x must be True or False, got the text 'no'"):
        example.method("no")
    with pytest.raises(AttributeError, match="did you mean 'method'"):
        example.metod
    assert not hasattr(Example.step, "__wrapped__")
    assert not hasattr(Example._hidden, "__wrapped__")


def test_the_frame_of_the_wrapper_keeps_no_error():
    with pytest.raises(TypeError) as caught:
        kg.normal(sdd=1)
    frame = caught.value.__traceback__.tb_next.tb_frame
    held = [value for value in frame.f_locals.values() if isinstance(value, BaseException)]
    assert frame.f_code.co_filename.endswith("public.py")
    assert not held
