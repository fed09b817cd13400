"""Docstring handling of the documentation site.

Parameters that share a line of a docstring get one entry each, with their own default values.
Signatures show the public names of types.
"""

import re
from typing import Any

import griffe

# Type names of the type checker, and the names that users know.
SHOWN = {"Computed": "Array", "Results": "DataTree"}


def split(text: str) -> str:
    """Split parameters that share a line into one entry each."""
    head, title, rest = text.partition("\nParameters\n----------\n")
    section, *after = re.split(r"(?m)^(?=\S+\n-+$)", rest, maxsplit=1)
    items = re.split(r"(?m)^(?=\S)", section)
    entries = [f"{name}\n{text}" for item in items[1:] for name, text in _entries(item)]
    return head + title + items[0] + "".join(entries) + "".join(after)


def _entries(item: str) -> list[tuple[str, str]]:
    """The names of an item, each with the common description."""
    line, _, text = item.partition("\n")
    names = line.split(", ") if ":" not in line else [line]
    return [(name, text if name == names[-1] else f"{text.rstrip()}\n") for name in names]


class Parameters(griffe.Extension):
    """Griffe extension: splits shared parameter lines and renames types."""

    def on_object(self, *, obj: griffe.Object, **rest: Any) -> None:
        """Rewrite a docstring before it is read."""
        if obj.docstring is not None:
            obj.docstring.value = split(obj.docstring.value)

    def on_function(self, *, func: griffe.Function, **rest: Any) -> None:
        """Show the public names of types."""
        for annotation in (*(p.annotation for p in func.parameters), func.returns):
            if not isinstance(annotation, griffe.Expr):
                continue
            for part in annotation.iterate(flat=True):
                if isinstance(part, griffe.ExprName):
                    part.name = SHOWN.get(part.name, part.name)
