"""What is called in place of a function."""

import functools

import numpy as np
import pytest
from tests.autograph.sources import function, module

import kinetograph as kg
from kinetograph.autograph import operators as ag
from kinetograph.autograph.transform import is_converted


def code(found):
    return is_converted(getattr(found, "__func__", found).__code__)


SYMBOLIC = "import kinetograph as kg\ndef f(x):\n    kg\n    return 1 if x else 0\n"


def test_functions():
    f = function(SYMBOLIC)
    made = ag.converted(f)
    assert code(made)
    assert ag.converted(f) is made
    assert ag.converted(made) is made


@pytest.mark.parametrize(
    "value",
    [
        *(print, isinstance, int.from_bytes, dict, Exception, np.sin, np.sum, np.float64),
        *(functools.reduce, functools.lru_cache(lambda: 1), kg.exp, kg.Array, "text.upper"),
        *("text".upper, [].append, 3, None),
    ],
    ids=lambda value: getattr(value, "__name__", type(value).__name__),
)
def test_called_as_they_are(value):
    assert ag.converted(value) is value or ag.converted(value) == value


def test_functions_of_libraries_and_generators():
    import inspect

    def generator():
        yield 1

    async def coroutine():
        return 1

    for f in (inspect.signature, kg.scan, generator, coroutine):
        assert ag.converted(f) is f


def test_what_users_excluded():
    f = kg.autograph.do_not_convert(function(SYMBOLIC))
    assert ag.converted(f) is f
    with kg.autograph.do_not_convert():
        g = function(SYMBOLIC)
        assert ag.converted(g) is g


def test_methods_partials_and_objects():
    names = module(
        """
        import kinetograph as kg
        class Owner:
            def method(self, x): return kg, self, x if x else 0
            def __call__(self, x): return kg, self, not x
        """
    )
    owner = names["Owner"]()
    method = ag.converted(owner.method)
    assert code(method)
    assert method.__self__ is owner
    assert method(3) == owner.method(3)
    called = ag.converted(owner)
    assert code(called)
    assert called(3) == owner(3)
    part = ag.converted(functools.partial(owner.method, x=4))
    assert code(part.func)
    assert part() == owner.method(4)
    library = functools.partial(np.sum, axis=0)
    assert ag.converted(library) is library


def test_elements():
    assert ag.elements([1, 2]) == [1, 2]
    with pytest.raises(kg.SymbolicTruthError, match=r"comprehension .*kg\.scan .*kg\.stack"):
        ag.elements(kg.placeholder(3, name="v"))
