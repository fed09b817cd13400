"""Did you mean: of the names that there are, the one nearest to a name that there is not."""

import sys
from collections.abc import Callable, Iterable
from typing import Any

from .errors import KinetographError
from .source import here, is_own, place_text, site_of

__all__ = [
    "INSTEAD",
    "Closed",
    "MissingAttributeError",
    "Named",
    "closest",
    "meant",
    "plain",
    "read_missing",
    "refuse_assignment",
]

# By the class and the attribute that it lacks: what does elsewhere what this does for others'
# objects; filled by an outer layer.
INSTEAD: list[Callable[[str, str], str]] = []
_ALIKE = 0.6  # the share of letters in common, in their order, from which a name may be meant


def plain(name: str) -> str:
    """A name without what is easily mistaken: capitals, underscores, hyphens, blanks."""
    return name.lower().replace("_", "").replace("-", "").replace(" ", "")


def closest(wanted: Any, names: Iterable[Any]) -> str | None:
    """The name that is nearest to what was written, if any is near."""
    from difflib import get_close_matches  # for messages alone: importing it takes time

    if not isinstance(wanted, str):
        return None
    known: dict[str, str] = {}
    for name in names:
        if isinstance(name, str):
            known.setdefault(plain(name), name)
    if plain(wanted) in known:
        return known[plain(wanted)]
    found = get_close_matches(plain(wanted), known, 1, _ALIKE)
    return known[found[0]] if found else None


def meant(wanted: Any, names: Iterable[Any], show: Callable[[str], str] = repr) -> str:
    """`; did you mean 'name'?`, or nothing where no name is near."""
    name = closest(wanted, names)
    return "" if name is None else f"; did you mean {show(name)}?"


class Named[V](dict[str, V]):
    """A dictionary that tells which names it has where it is asked for another one."""

    def __missing__(self, name: Any) -> V:
        names = ", ".join(self)
        raise KeyError(f"{name!r} is not there{place_text()}; there are {names}{meant(name, self)}")


class FixedAttributeError(KinetographError, AttributeError):
    """An attribute that was assigned and is fixed."""


class MissingAttributeError(KinetographError, AttributeError):
    """An attribute that an object does not have.

    Python's own hint is there in some tracebacks only: not in notebooks, not in the text.
    """


class Closed:
    """The base of objects whose public attributes a program may read and not assign.

    Python would take any attribute, which nothing reads then. Our own lines may assign.
    """

    _instead = ""  # what to do instead, after `; `

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_"):
            refuse_assignment(self, name, sys._getframe(1).f_code.co_filename)
        super().__setattr__(name, value)


def refuse_assignment(holder: Any, name: str, filename: str) -> None:
    """Refuse an attribute that a line of the user's assigns.

    Raises
    ------
    FixedAttributeError
        It says what to do instead.
    """
    kind = type(holder)
    attribute = getattr(kind, name, None)
    of_users = kind.__module__.partition(".")[0] != __name__.partition(".")[0]
    if is_own(filename) or of_users or getattr(attribute, "fset", None) is not None:
        return
    there = attribute is not None or name in getattr(holder, "__dict__", ())
    meaning = "is fixed" if there else "does not exist"
    raise FixedAttributeError(
        f"attribute {name!r} of a {kind.__name__} {meaning} and cannot be assigned{place_text()}; "
        f"{holder._instead}",
        name=name,
    )


class _Wording:
    """The text of the error; names are compared when somebody reads it."""

    def __init__(self, holder: Any, name: str) -> None:
        self.holder, self.name, self.site = holder, name, here()

    def __str__(self) -> str:
        names = [name for name in dir(self.holder) if not name.startswith("_")]
        kind = type(self.holder).__name__
        site = site_of(self.site)
        place = f" ({site})" if site else ""
        found = [instead(kind, self.name) for instead in INSTEAD]
        hint = next(filter(None, found), "") or meant(self.name, names)
        return f"{kind!r} object has no attribute {self.name!r}{place}{hint}"

    __repr__ = __str__


def read_missing(holder: Any, name: str) -> Any:
    """What `__getattr__` does: the attribute is missing, or a property says what is wrong."""
    try:
        return object.__getattribute__(holder, name)
    except AttributeError as error:
        if name.startswith("_") or hasattr(type(holder), name) or error.obj is not holder:
            raise
    raise MissingAttributeError(_Wording(holder, name), name=name)
