"""Values of variables that are not bound, or may not be bound.

    Undefined              not bound; a read raises UnboundLocalError, as in Python
    UndefinedReturnValue   no `return` has been reached
    Unread                 overwritten on all paths to a read
    Maybe                  bound if a loop made a trip: a value, and whether it is valid

A read of a `Maybe` gives its value, with a check at run time.
"""

from collections.abc import Callable
from typing import Any

from ...graph.checks import run_time_check
from ...graph.errors import KinetographError
from ...graph.source import place_text

__all__ = [
    "Maybe",
    "Undefined",
    "UndefinedError",
    "UndefinedReturnValue",
    "Unread",
    "ld",
    "ldu",
    "retval",
]


class UndefinedError(KinetographError, UnboundLocalError, ValueError):
    """A variable was read before it was bound."""


class Undefined:
    """The value of an unbound variable; each use is an error."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def complaint(self) -> str:
        """The message for a read."""
        return f"{self.name!r} is used before assignment{place_text()}"

    def _read(self, *_: Any) -> Any:
        raise UndefinedError(self.complaint())

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __call__ = _read
    __lt__ = __le__ = __gt__ = __ge__ = __getitem__ = __iter__ = __bool__ = __len__ = _read
    __neg__ = __abs__ = __float__ = __int__ = _read

    def __repr__(self) -> str:
        return f"<undefined {self.name}>"


class LoopUndefined(Undefined):
    """The value of a variable before the trip that may bind it."""

    __slots__ = ()

    def complaint(self) -> str:
        return (
            f"{self.name!r} must be defined before the loop{place_text()}: the loop reads it "
            "before it assigns to it"
        )


class Unread(Undefined):
    """A variable that is overwritten on all paths to a read.

    It needs no value.
    """

    __slots__ = ()


class UndefinedReturnValue(Undefined):
    """The return value of a function that has not returned."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__("the return value")


class Maybe:
    """A value that is valid if `defined` is true at run time."""

    __slots__ = ("defined", "name", "place", "value")

    def __init__(self, name: str, value: Any, defined: Any, place: str) -> None:
        self.name, self.value, self.defined, self.place = name, value, defined, place

    def _read(self) -> Any:
        run_time_check(
            self.defined,
            UndefinedError,
            f"{self.name!r} is used before assignment: {self._reason()}",
        )
        return self.value

    def _reason(self) -> str:
        if not self.place:
            return "the branch that was taken does not assign to it"
        return f"the loop must iterate at least once to initialize {self.name}{self.place}"

    def __repr__(self) -> str:
        return f"<{self.name}, perhaps undefined>"


_SPECIAL = (Undefined, Maybe)


def ld(value: Any) -> Any:
    """The value of a variable that may be undefined."""
    return value._read() if isinstance(value, _SPECIAL) else value


def ldu(read: Callable[[], Any], name: str) -> Any:
    """The result of `read`, or an `Undefined` if it fails."""
    try:
        return read()
    except (AttributeError, NameError):
        return Undefined(name)


def retval(value: Any) -> Any:
    """The value that a function returns; None if it reached no `return`."""
    return None if isinstance(value, Undefined) else value
