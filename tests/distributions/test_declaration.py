"""The decorator that declares a distribution, and what is written from the declarations."""

import inspect
import typing
from typing import Any

import numpy as np
import pytest
from tests.distributions.stubs import stubs

import kinetograph as kg
from kinetograph.distributions import declaration
from kinetograph.distributions.declaration import DISTRIBUTIONS, Chosen, declared
from kinetograph.distributions.family import FAMILIES
from kinetograph.distributions.normal import NORMAL
from kinetograph.streams import methods
from kinetograph.streams.methods import Draws
from kinetograph.streams.written import WrittenDraws


@pytest.fixture
def at_ten(monkeypatch):
    """A distribution that is declared for one test."""
    monkeypatch.setattr(declaration, "DISTRIBUTIONS", {})

    @declared(NORMAL, draws="Normal numbers around ten, or around minus ten.")
    def at_ten(sd: Any = 1.0, *, negative: bool = False, drawn: bool = False) -> Chosen:
        """A normal unknown around ten.

        Parameters
        ----------
        sd
            Standard deviation.
        negative
            Whether the mean is -10.

        Notes
        -----
        For tests.
        """
        return Chosen(NORMAL, ((-10.0 if negative else 10.0) + 100 * drawn, sd))

    return at_ten, declaration.DISTRIBUTIONS["at_ten"]


DOC = """A normal unknown around ten.

Parameters
----------
sd
    Standard deviation.
negative
    Whether the mean is -10.
truncation, censoring
    Pairs of bounds, None where there is none; see `kg.normal`.
shape, dims, name
    Shape of the unknown (default: the parameters'), names of its axes, name in the results.

Raises
------
ValueError
    If `sd` is known and not positive.
ShapeError
    If parameters and shape do not fit together.

Notes
-----
For tests.
"""


def test_the_function_of_a_declared_distribution(at_ten):
    make, _ = at_ten
    assert repr(make(2.0, negative=True)) == repr(kg.normal(-10.0, 2.0))
    assert make(shape=3, name="x").shape == (3,)
    assert "truncated" in repr(make(truncation=(0, None)).node.distribution.family)
    assert make.__doc__ == DOC
    assert [*inspect.signature(make).parameters] == [
        *("sd", "negative", "shape", "truncation", "censoring", "dims", "name"),
    ]
    assert typing.get_type_hints(make)["return"] is kg.Array
    with pytest.raises(TypeError, match="drawn"):
        make(drawn=True)


def test_the_stream_method_of_a_declared_distribution(at_ten):
    _, declared_at_ten = at_ten

    class Streams(kg.RandomStreams):
        at_ten = methods._method("at_ten", declared_at_ten)

    streams = Streams(1)
    positional = streams.at_ten(1e-6, 2)
    named = streams.at_ten(sd=1e-6, negative=True, like=np.zeros(2), dtype="float32")
    assert named.dtype == np.float32
    above, below = kg.compile([], [positional, named])()
    np.testing.assert_allclose(above, [110.0, 110.0], atol=1e-4)
    np.testing.assert_allclose(below, [90.0, 90.0], atol=1e-4)
    assert Streams.at_ten.__doc__ == "Normal numbers around ten, or around minus ten."
    assert [*inspect.signature(streams.at_ten).parameters] == [
        *("sd", "shape", "negative", "name", "like", "dtype"),
    ]


def test_every_family_has_a_function_and_a_stream_method():
    for name, declared_one in DISTRIBUTIONS.items():
        assert getattr(kg, name).__doc__, name
        assert declared_one.family.key in FAMILIES
        assert bool(declared_one.draws) != (name in vars(WrittenDraws)), name
        assert callable(getattr(Draws, name))


@pytest.mark.parametrize("name", sorted(DISTRIBUTIONS))
def test_every_parameter_is_documented(name):
    doc = inspect.getdoc(getattr(kg, name))
    section = doc.partition("Parameters\n----------\n")[2].partition("\n\n")[0]
    heads = [line for line in section.splitlines() if not line.startswith(" ") and line]
    documented = [word for line in heads for word in line.split(", ")]
    parameters = [*inspect.signature(getattr(kg, name)).parameters]
    assert sorted(documented) == sorted(parameters)
    assert doc.count("Raises\n------\n") == 1


def test_stubs_are_what_the_declarations_say():
    """`python -m tests.distributions.stubs` writes them."""
    for path, text in stubs().items():
        assert path.read_text(encoding="utf-8") == text, path
