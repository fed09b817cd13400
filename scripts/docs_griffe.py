"""Docstring handling of the documentation site.

Parameters that share a line of a docstring get one entry each, with their own default values.
Signatures show the public names of types. Distributions get the parameters and the docstring
that their decorator gives them.
"""

import inspect
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


def _is_declared(function: griffe.Function) -> bool:
    return any(str(d.value).startswith("declared(") for d in function.decorators)


def _complete(function: griffe.Function) -> None:
    """Give distributions their parameters and docstrings at run time."""
    import kinetograph as kg

    public = getattr(kg, function.name)
    assert function.docstring is not None
    function.docstring.value = inspect.getdoc(public) or ""
    parameters = inspect.signature(public).parameters.values()
    own = {parameter.name: parameter for parameter in function.parameters}
    function.parameters = griffe.Parameters(
        *(
            own.get(p.name)
            or griffe.Parameter(
                p.name,
                annotation="str | None" if p.name == "name" else "Any",
                kind=griffe.ParameterKind.keyword_only,
                default="None",
            )
            for p in parameters
        )
    )
    function.returns = "Array"


class Parameters(griffe.Extension):
    """Griffe extension: splits shared parameter lines, renames types, completes distributions."""

    def on_module_members(self, *, mod: griffe.Module, **rest: Any) -> None:
        """Drop the overloads of stubs, which cannot be merged into imported functions."""
        if mod.is_init_module and str(mod.filepath).endswith(".pyi"):
            mod.overloads.clear()

    def on_object(self, *, obj: griffe.Object, **rest: Any) -> None:
        """Rewrite a docstring before it is read."""
        if isinstance(obj, griffe.Function) and _is_declared(obj):
            _complete(obj)
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
