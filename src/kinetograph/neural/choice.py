"""A choice by name from a table."""

from collections.abc import Mapping

from ..graph.suggestions import meant

__all__ = ["chosen"]


def chosen[Entry](table: Mapping[str, Entry], name: object, subject: str) -> Entry:
    """The entry with a name.

    Raises
    ------
    TypeError
        If the name is not a text.
    ValueError
        If the table does not have the name.
    """
    if not isinstance(name, str):
        raise TypeError(
            f"{subject}: expected a name, got {name!r:.60}; the names are {_list(table)}"
        )
    if name not in table:
        hint = f"{meant(name, table)}; the names are {_list(table)}"
        raise ValueError(f"{subject}: unknown name {name!r}{hint}")
    return table[name]


def _list(table: Mapping[str, object]) -> str:
    return ", ".join(table)
