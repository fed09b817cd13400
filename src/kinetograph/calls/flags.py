"""Parameters that are True or False: a text in their place, as "no", is True to Python."""

from collections.abc import Callable, Mapping
from typing import Any

from ..graph.source import place_text
from ..graph.text import in_words

__all__ = ["check_flags", "flags_of"]

_TAKE_TEXT = {"keep", "progress"}  # names of what is kept; what is no Progress is told there


def flags_of(function: Callable[..., Any]) -> dict[str, int]:
    """The parameters whose default is True or False, with their places; -1 where they have none."""
    code = getattr(function, "__code__", None)
    if code is None:
        return {}
    by_position = code.co_varnames[: code.co_argcount]
    defaults = getattr(function, "__defaults__", None) or ()
    last = by_position[len(by_position) - len(defaults) :]
    found = {
        name: by_position.index(name)
        for name, default in zip(last, defaults, strict=True)
        if isinstance(default, bool)
    }
    named = getattr(function, "__kwdefaults__", None) or {}
    found |= {name: -1 for name, default in named.items() if isinstance(default, bool)}
    return {name: place for name, place in found.items() if name not in _TAKE_TEXT}


def check_flags(
    title: str, flags: Mapping[str, int], values: tuple[Any, ...], named: Mapping[str, Any]
) -> None:
    """Refuse text in place of True or False.

    Raises
    ------
    TypeError
        That names the parameter.
    """
    for name, place in flags.items():
        value = values[place] if 0 <= place < len(values) else named.get(name)
        if isinstance(value, str):
            raise TypeError(
                f"{title}: {name} must be True or False, got {in_words(value)}{place_text()}"
            )
