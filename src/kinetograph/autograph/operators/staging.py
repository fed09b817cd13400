"""Exceptions that leave a staged branch or loop while it is built.

Whether the program gets there is not known, so an `except` around it must not take them as if it
had: in converted code a handler lets them pass.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from ...graph.control.results import place_text
from ...graph.errors import StagingError

__all__ = ["building", "caught"]

_MARK = "_kinetograph_left"


@contextmanager
def building(statement: str) -> Iterator[None]:
    """Build a way of a staged statement."""
    try:
        yield
    except Exception as error:
        if not hasattr(error, _MARK):
            setattr(error, _MARK, f"a staged {statement}{place_text()}")
        raise


def caught(error: BaseException) -> None:
    """Look at an exception that a handler of the user's has caught."""
    left = getattr(error, _MARK, None)
    if left is None:
        return
    if isinstance(error, StagingError):
        raise error
    text = (
        f"{type(error).__name__} was raised in {left}, and caught{place_text()}: all ways are built "
        "while tracing, so this says nothing about the way that the program takes. Let the `try` "
        f"stand inside the statement, or decide by kg.where or a flag. It said: {error}"
    )
    made = StagingError(text)
    setattr(made, _MARK, left)
    raise made from error
