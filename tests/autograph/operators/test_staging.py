"""Exceptions that leave staged statements."""

import traceback

import pytest

from kinetograph.autograph.calling import CALLING
from kinetograph.autograph.operators.staging import EscapingException, building, caught, unwrapped


@pytest.fixture(autouse=True)
def _called(monkeypatch):
    monkeypatch.setattr(CALLING, "depth", 1)


def test_an_exception_is_out_of_the_reach_of_handlers():
    def user():
        try:
            with building("`if`"):
                raise ValueError("text")
        except Exception:
            pytest.fail("it was caught")

    with pytest.raises(EscapingException) as left:
        user()
    assert left.value.place.startswith("a staged `if`")
    error = unwrapped(left.value)
    assert isinstance(error, ValueError)
    names = [f.name for f in traceback.extract_tb(error.__traceback__)]
    assert "test_an_exception_is_out_of_the_reach_of_handlers" in names


def test_an_exception_leaves_once():
    with pytest.raises(EscapingException) as left, building("`while`"), building("`if`"):
        raise KeyError("k")
    assert "`if`" in left.value.place
    assert isinstance(left.value.error, KeyError)


def test_handlers_for_everything_let_it_pass():
    def user():
        try:
            with building("`if`"):
                raise ValueError
        except BaseException as error:
            caught(error)

    with pytest.raises(EscapingException):
        user()
    caught(KeyboardInterrupt())


def test_outside_of_converted_calls_exceptions_are_themselves(monkeypatch):
    monkeypatch.setattr(CALLING, "depth", 0)
    with pytest.raises(ValueError, match="text"), building("`if`"):
        raise ValueError("text")


def test_interrupts_are_themselves():
    with pytest.raises(KeyboardInterrupt), building("`if`"):
        raise KeyboardInterrupt
