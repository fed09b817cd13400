"""Functions of the library itself that are converted when they are first called."""

import importlib
import inspect

import kinetograph as kg
from kinetograph.autograph.lazily import convert_lazily


def test_conversion_waits_for_the_first_call(monkeypatch):
    made = []
    conversion = importlib.import_module("kinetograph.autograph.convert")
    monkeypatch.setattr(
        conversion, "transform", lambda f, own=conversion.transform: made.append(f) or own(f)
    )

    @convert_lazily
    def sign(x: float) -> int:
        """The sign."""
        if x < 0:
            return -1
        return 1

    assert not made
    x = kg.placeholder(name="x")
    f = kg.compile([x], [sign(x), sign(-x)])
    assert [int(v) for v in f(2.0)] == [1, -1]
    assert len(made) == 1
    assert (sign.__name__, sign.__doc__) == ("sign", "The sign.")
    assert list(inspect.signature(sign).parameters) == ["x"]
