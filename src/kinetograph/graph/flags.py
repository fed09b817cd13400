"""Checks of parameters that are True or False.

A text in the place of a flag, such as "no", would count as True in Python.
"""

from collections.abc import Callable, Mapping
from typing import Any

from .source import place_text

__all__ = ["check_flags", "flags_of"]

# `keep` also takes names; `progress` is checked by the run, with its own message.
_TAKE_TEXT = {"keep", "progress"}
_OF_TEXTS = {"plot": "; a file is written by model.plot().save({!r})"}  # advice by function


def flags_of(function: Callable[..., Any]) -> dict[str, int]:
    """Names and positions of the parameters whose default is True or False.

    The position of a keyword-only parameter is -1.
    """
    code = getattr(function, "__code__", None)
    if code is None:
        return {}
    by_position = code.co_varnames[: code.co_argcount]
    defaults = getattr(function, "__defaults__", None) or ()
    with_default = by_position[len(by_position) - len(defaults) :]
    flags = {
        name: by_position.index(name)
        for name, default in zip(with_default, defaults, strict=True)
        if isinstance(default, bool)
    }
    keyword_defaults = getattr(function, "__kwdefaults__", None) or {}
    flags |= {name: -1 for name, default in keyword_defaults.items() if isinstance(default, bool)}
    return {name: position for name, position in flags.items() if name not in _TAKE_TEXT}


def check_flags(
    title: str, flags: Mapping[str, int], values: tuple[Any, ...], named: Mapping[str, Any]
) -> None:
    """Refuse texts in place of True or False.

    Raises
    ------
    TypeError
        If the value of a flag is a text. The message names the parameter.
    """
    for name, position in flags.items():
        value = values[position] if 0 <= position < len(values) else named.get(name)
        if isinstance(value, str):
            raise TypeError(
                f"{title}: {name} must be True or False, got the text {value!r:.40}{place_text()}"
                f"{_OF_TEXTS.get(title, '').format(value)}"
            )
