"""Docstring handling of the documentation site.

Parameters that share a line of a docstring get one entry each, with their own default values.
Signatures show the public names of types. Distributions get the parameters and the docstring
that their decorator gives them. A name is a function if its package imports it from a module of
the same name.
"""

import inspect
import re
from collections.abc import Iterator
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


def _members(parent: griffe.Object) -> Iterator[griffe.Object | griffe.Alias]:
    """The members of a package, of its modules and of their classes."""
    for member in parent.members.values():
        yield member
        if isinstance(member, griffe.Object):
            yield from _members(member)


def _uncover(package: griffe.Module) -> None:
    """Show functions in place of their modules of the same name."""
    objects = list(_members(package))
    hidden = {}
    for module in objects:
        if not isinstance(module, griffe.Module) or module.parent is None:
            continue
        inner = module.members.get(module.name)
        if inner and module.parent.imports.get(module.name) == f"{module.path}.{module.name}":
            hidden[module.path] = module, inner
    for alias in objects:
        if not isinstance(alias, griffe.Alias):
            continue
        path, _, name = alias.target_path.rpartition(".")
        if alias.target_path in hidden:
            alias.target = hidden[alias.target_path][1]
        elif path in hidden and name in hidden[path][0].members:
            alias.target = hidden[path][0].members[name]
    for module, inner in hidden.values():
        module.parent.members[module.name] = griffe.Alias(module.name, inner, parent=module.parent)


def _rename_types(function: griffe.Function) -> None:
    """Show the public names of types."""
    for annotation in (*(p.annotation for p in function.parameters), function.returns):
        if not isinstance(annotation, griffe.Expr):
            continue
        for part in annotation.iterate(flat=True):
            if isinstance(part, griffe.ExprName):
                part.name = SHOWN.get(part.name, part.name)


class Parameters(griffe.Extension):
    """Griffe extension: splits shared parameter lines, renames types, completes distributions."""

    def on_module_members(self, *, mod: griffe.Module, **rest: Any) -> None:
        """Drop the contents of stubs, which have no docstrings."""
        if mod.is_init_module and str(mod.filepath).endswith(".pyi"):
            mod.members.clear()
            mod.overloads.clear()

    def on_package(self, *, pkg: griffe.Module, **rest: Any) -> None:
        """Rewrite the docstrings and types of all objects, and uncover functions."""
        for member in _members(pkg):
            if isinstance(member, griffe.Function):
                if _is_declared(member):
                    _complete(member)
                _rename_types(member)
            if isinstance(member, griffe.Object) and member.docstring is not None:
                member.docstring.value = split(member.docstring.value)
        _uncover(pkg)
