"""A choice by name from a table."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import TypeVar

__all__ = ["chosen"]

Entry = TypeVar("Entry")


def chosen[Entry](table: Mapping[str, Entry], name: object, subject: str) -> Entry:
    """The entry with a name.

    Raises
    ------
    TypeError
        If the name is not a text.
    ValueError
        If the table has no such entry.
    """
    if not isinstance(name, str):
        raise TypeError(f"{subject}: expected a name, got {name!r:.60}; there are {_list(table)}")
    if name not in table:
        near = get_close_matches(name, table, 1)
        hint = f"did you mean {near[0]!r}? There are" if near else "there are"
        raise ValueError(f"{subject}: there is no {name!r}; {hint} {_list(table)}")
    return table[name]


def _list(table: Mapping[str, object]) -> str:
    return ", ".join(table)
