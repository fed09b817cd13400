"""Exceptions that leave a staged branch or loop while it is built.

Whether the program gets there is not known, so an `except` around it must not take them as if it
had: in converted code a handler lets them pass.
"""

from typing import Any

from ...graph.control.results import place_text
from ...graph.errors import StagingError

__all__ = ["LEFT", "building", "caught"]

LEFT = "_kinetograph_left"


class building:
    """Build a way of a staged statement, in a `with`."""

    def __init__(self, statement: str) -> None:
        self.statement = statement

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, Exception) and not hasattr(error, LEFT):
            setattr(error, LEFT, f"a staged {self.statement}{place_text()}")


def caught(error: BaseException) -> None:
    """Look at an exception that a handler of the user's has caught."""
    left = getattr(error, LEFT, None)
    if left is None:
        return
    if isinstance(error, StagingError):
        raise error
    text = (
        f"{type(error).__name__} was raised in {left}, and caught{place_text()}: all ways are "
        "built while tracing, so this says nothing about the way that the program takes. Let the "
        f"`try` stand inside the statement, or decide by kg.where or a flag. It said: {error}"
    )
    made = StagingError(text)
    setattr(made, LEFT, left)
    raise made from error
