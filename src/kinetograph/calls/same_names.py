"""Other libraries' names of parameters that mean exactly the same here.

A distribution declares them (`distributions/declaration.py`). Its function and its stream method
have the table as the attribute `same_names`: names elsewhere, with the names here.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["renamed", "same_names_of", "with_given_names"]


def renamed(same_names: Mapping[str, str], named: Mapping[str, Any]) -> dict[str, Any]:
    """The keywords of a call, with the names here.

    Raises
    ------
    TypeError
        If one parameter has two names.
    """
    words: dict[str, str] = {}
    for word in named:
        parameter = same_names.get(word, word)
        if parameter in words:
            raise TypeError(f"{parameter} is given twice, as {words[parameter]}= and as {word}=")
        words[parameter] = word
    return {parameter: named[word] for parameter, word in words.items()}


def same_names_of(function: Callable[..., Any]) -> Mapping[str, str]:
    """The other names that a function takes."""
    table: Mapping[str, str] = getattr(function, "same_names", {})
    return table


def with_given_names(text: str, given: Mapping[str, str]) -> str:
    """A message that adds the word of the call: `sd (sigma)`.

    `given` has the words of the call by parameter.
    """
    title, colon, rest = text.partition(": ")
    for parameter, word in given.items():
        rest = re.sub(rf"\b{parameter}\b", f"{parameter} ({word})", rest, count=1)
    return f"{title}{colon}{rest}"
