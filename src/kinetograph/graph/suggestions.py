"""Suggestions ("did you mean ...?") for unknown names, and fixed attributes."""

import os
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from .errors import KinetographError
from .hooks import ON_MISSING
from .source import here, is_own, place_text, site_of

__all__ = [
    "Closed",
    "MissingAttributeError",
    "SuggestingDict",
    "absent",
    "closest",
    "elsewhere",
    "did_you_mean",
    "plain",
    "read_missing",
    "refuse_assignment",
]

_ALIKE = 0.6  # the smallest similarity ratio (difflib) of a suggestion


def plain(name: str) -> str:
    """Remove capitals, underscores, hyphens and blanks from a name."""
    return name.lower().replace("_", "").replace("-", "").replace(" ", "")


def closest(word: Any, names: Iterable[Any]) -> str | None:
    """The most similar name; None if no name is similar enough.

    A name with an addition, such as `y_observed` for "y", is similar.
    """
    from difflib import get_close_matches  # only messages need it, and the import is slow

    if not isinstance(word, str):
        return None
    candidates: dict[str, str] = {}
    for name in names:
        if isinstance(name, str):
            candidates.setdefault(plain(name), name)
    if plain(word) in candidates:
        return candidates[plain(word)]
    if matches := get_close_matches(plain(word), candidates, 1, _ALIKE):
        return candidates[matches[0]]
    longer = [name for name in candidates.values() if name.startswith(f"{word}_")]
    return longer[0] if word and len(longer) == 1 else None


def did_you_mean(word: Any, names: Iterable[Any], show: Callable[[str], str] = repr) -> str:
    """The text `; did you mean 'name'?`, or an empty text."""
    name = closest(word, names)
    return "" if name is None else f"; did you mean {show(name)}?"


def absent(path: str | os.PathLike[str], place: str = "") -> str:
    """The text that a file or its folder does not exist.

    `place` is a text behind the path. A similar name in the same folder is suggested.
    """
    whole = missing = Path(os.path.abspath(path))
    while not missing.parent.is_dir() and missing != missing.parent:
        missing = missing.parent
    names: list[str] = []
    with suppress(OSError):
        names = os.listdir(missing.parent)
    alike = [n for n in map(Path, names) if missing.suffix == n.suffix or missing.stem == n.stem]
    stems = {n.stem: n.name for n in alike}
    kind = "file" if missing == whole and missing.suffix != ".zarr" else "folder"
    hint = did_you_mean(missing.stem, stems, lambda stem: repr(stems[stem]))
    return f"the {kind} {missing} does not exist{place}{hint}"


def elsewhere(kind: str, name: str) -> str:
    """Advice on another library's attribute or function, or an empty text.

    `kind` is the class of the object; "jax" means JAX's functions.
    """
    return "".join(ON_MISSING(kind, name))


class SuggestingDict[V](dict[str, V]):
    """A dictionary whose KeyError lists its names."""

    def __missing__(self, name: Any) -> V:
        names = ", ".join(self)
        raise KeyError(
            f"{name!r} is not there{place_text()}; the names are {names}{did_you_mean(name, self)}"
        )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        advice = f"write [{name!r}]" if name in self else f"the names are {', '.join(self)}"
        raise MissingAttributeError(
            f"a dictionary has no attribute {name!r}{place_text()}; {advice}", name=name
        )


class FixedAttributeError(KinetographError, AttributeError):
    """An assignment to an attribute that is fixed or does not exist."""


class MissingAttributeError(KinetographError, AttributeError):
    """An attribute that an object does not have.

    The message has a suggestion, because Python shows its own only in some tracebacks: not in
    notebooks, and not in the error's text.
    """


class Closed:
    """The base of objects whose public attributes users cannot assign.

    Python would accept any attribute, also one that nothing reads. Code of kinetograph may assign.
    """

    _instead = ""  # advice, the end of the message

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_"):
            refuse_assignment(self, name, sys._getframe(1).f_code.co_filename)
        super().__setattr__(name, value)


def refuse_assignment(holder: Any, name: str, filename: str, instead: str = "") -> None:
    """Refuse an assignment to an attribute from the user's code.

    `instead` is advice, by default the class's `_instead`.

    Assignments from kinetograph's files, to classes of the user, and to properties with a setter
    are allowed.

    Raises
    ------
    FixedAttributeError
        With the advice.
    """
    kind = type(holder)
    attribute = getattr(kind, name, None)
    is_user_class = kind.__module__.partition(".")[0] != __name__.partition(".")[0]
    if is_own(filename) or is_user_class or getattr(attribute, "fset", None) is not None:
        return
    exists = attribute is not None or name in getattr(holder, "__dict__", ())
    meaning = "is fixed" if exists else "does not exist"
    raise FixedAttributeError(
        f"attribute {name!r} of a {kind.__name__} {meaning} and cannot be assigned{place_text()}; "
        f"{instead or holder._instead}",
        name=name,
    )


class _Wording:
    """The text of an error, composed only when it is read."""

    def __init__(self, holder: Any, name: str) -> None:
        self.holder, self.name, self.site = holder, name, here()

    def __str__(self) -> str:
        names = [name for name in dir(self.holder) if not name.startswith("_")]
        kind = type(self.holder).__name__
        site = site_of(self.site)
        place = f" ({site})" if site else ""
        hint = next(iter(ON_MISSING(kind, self.name)), "") or did_you_mean(self.name, names)
        if self.name in getattr(self.holder, "target_names", ()):
            hint = f"; the array is model[{self.name!r}]"
        return f"{kind!r} object has no attribute {self.name!r}{place}{hint}"

    __repr__ = __str__


def read_missing(holder: Any, name: str) -> Any:
    """Raise the error for a missing attribute, in a class's `__getattr__`.

    An AttributeError that a property raised is passed on unchanged.
    """
    try:
        return object.__getattribute__(holder, name)
    except AttributeError as error:
        if name.startswith("_") or hasattr(type(holder), name) or error.obj is not holder:
            raise
    raise MissingAttributeError(_Wording(holder, name), name=name)
