"""How the site reads the code: parameters that share a line of a docstring each have their own
default, and signatures have the names that are public.
"""

import re
from typing import Any

import griffe

# Types that have another name for type checkers than for users.
SHOWN = {"Computed": "Array", "Results": "DataTree"}


def split(text: str) -> str:
    """A docstring in which each parameter has a line and a description of its own."""
    head, title, rest = text.partition("\nParameters\n----------\n")
    section, *after = re.split(r"(?m)^(?=\S+\n-+$)", rest, maxsplit=1)
    items = re.split(r"(?m)^(?=\S)", section)
    alone = [f"{name}\n{said}" for item in items[1:] for name, said in _apart(item)]
    return head + title + items[0] + "".join(alone) + "".join(after)


def _apart(item: str) -> list[tuple[str, str]]:
    """Each name of an item, with what is said of all of them."""
    names, _, said = item.partition("\n")
    several = names.split(", ") if ":" not in names else [names]
    return [(name, said if name == several[-1] else f"{said.rstrip()}\n") for name in several]


class Parameters(griffe.Extension):
    """Splits the parameters that share a line, and names types as users do."""

    def on_object(self, *, obj: griffe.Object, **rest: Any) -> None:
        """Rewrite a docstring before it is read."""
        if obj.docstring is not None:
            obj.docstring.value = split(obj.docstring.value)

    def on_function(self, *, func: griffe.Function, **rest: Any) -> None:
        """Show types as users know them."""
        for said in (*(p.annotation for p in func.parameters), func.returns):
            for part in said.iterate(flat=True) if isinstance(said, griffe.Expr) else ():
                if isinstance(part, griffe.ExprName):
                    part.name = SHOWN.get(part.name, part.name)
