"""Names of arrays: `name=`, the user's variable or container, `beta[0]`, else `normal_1`."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from ..distributions.variable import Variable
from ..graph.array import Array
from ..graph.errors import ModelError
from ..graph.frame_variables import local_variables
from ..graph.messages import site_text
from ..graph.node import Apply, Data, Node
from ..graph.source import user_frame
from .contained_names import contained_names

__all__ = ["assign_names", "name_in_scope", "unknowns_in_scope", "variables_in_scope"]


def _scope() -> dict[str, Any]:
    """The caller's variables, without hidden ones; locals hide globals, and come first."""
    frame = user_frame()
    if frame is None:
        return {}
    local = local_variables(frame)
    visible = {**local, **frame.f_globals, **local}
    return {n: v for n, v in visible.items() if n.isidentifier() and not n.startswith("_")}


def variables_in_scope() -> dict[Node, str]:
    """The names of the caller's variables that hold arrays."""
    names: dict[Node, str] = {}
    for name, value in _scope().items():
        if isinstance(value, Array):
            names.setdefault(value.node, name)
    return names


def name_in_scope(value: Any) -> str | None:
    """The name of a value in the caller's variables or containers."""
    if isinstance(value, (int, float)):
        return None
    scope = _scope()
    for name, variable in scope.items():
        if variable is value:
            return name
    return contained_names(scope, lambda item: item is value or None, set()).get(True)


def unknowns_in_scope() -> list[Array]:
    """All unknowns in the local variables of the caller."""
    frame = user_frame()
    unknowns: dict[Node, Array] = {}
    if frame is not None:
        for name, value in local_variables(frame).items():
            if isinstance(value, Array) and not name.startswith("_"):
                node = value.node
                if isinstance(node, Variable) and node.observed_by is None:
                    unknowns.setdefault(node, value)
    return list(unknowns.values())


def assign_names(
    nodes: Iterable[Node],
    given: Mapping[Node, str],
    labels: Mapping[Node, str] = MappingProxyType({}),
    beside: Iterable[Node] = (),
) -> dict[Node, str]:
    """A different name for each node.

    Nodes without a name get their label, if it is free; else the name of their place in a
    container, or, for elements of a named array, their index. Such a name is not the name of a
    dimension of the nodes, or of those `beside` them.
    Raises ModelError if two arrays have the same name.
    """
    variables = variables_in_scope()
    names: dict[Node, str] = {}
    counts: dict[str, int] = {}
    node_of_name: dict[str, Node] = {}
    pending: list[Node] = []
    chosen = {*given.values()}
    for node in nodes:
        name = given.get(node) or node.name or variables.get(node)
        # A loop's variable, `for z in zs`, leaves its name to a target's keyword.
        is_used = name in chosen and node not in given and not node.name
        if name is None or (is_used and _contained([node], set())):
            pending.append(node)
            continue
        other = node_of_name.get(name)
        if other is not None and other is not node:
            raise ModelError(
                f"two arrays are named {name!r}: {_place_of(other, variables)} and "
                f"{_place_of(node, variables)}; {_another(name, (other, node), variables)}"
            )
        node_of_name[name] = node
        names[node] = name
    further = [n for n in beside if n.kind in ("variable", "data")]
    nodes = (*names, *pending, *further) if pending else ()
    dims = {dim for node in nodes for dim in node.dims or () if dim is not None}
    used = {name for n in nodes if (name := names.get(n) or n.name or variables.get(n))}
    contained = _contained(pending, used | dims)
    bases = [_base(node) for node in pending]
    for node, base in zip(pending, bases, strict=True):
        alone = getattr(node, "variable", None) == base and bases.count(base) == 1
        alone = alone and base not in dims
        element = _element(node, {**variables, **names})
        options = (labels.get(node), base if alone else None, contained.get(node), element)
        name = next((n for n in options if n is not None and n not in node_of_name), None)
        while name is None:
            counts[base] = counts.get(base, 0) + 1
            numbered = f"{base}_{counts[base]}"
            name = None if numbered in node_of_name else numbered
        node_of_name[name] = node
        names[node] = name
    return names


def _contained(pending: list[Node], used: set[str]) -> dict[Node, str]:
    """The names of nodes whose arrays are in containers of the caller."""
    unnamed = set(pending)
    if not unnamed:
        return {}

    def key(item: Any) -> Node | None:
        return item.node if isinstance(item, Array) and item.node in unnamed else None

    return contained_names(_scope(), key, used)


def _element(node: Node, names: Mapping[Node, str]) -> str | None:
    """The index of an element of a named array, such as `beta[-1]`."""
    index = ""
    while isinstance(node, Apply) and node.operation.name == "index":
        places = node.attributes["template"]
        if not all(isinstance(place, (int, np.integer)) for place in places):
            return None
        index = f"[{', '.join(map(str, places))}]{index}"
        node = node.parents[0]
    name = node.name or names.get(node)
    return f"{name}{index}" if name and index else None


def _place_of(node: Node, variables: Mapping[Node, str]) -> str:
    """The variable and the place of an array."""
    words = {"variable": "an unknown", "data": "data"}.get(node.kind, "an array")
    return f"{variables.get(node, words)}{site_text(node)}"


def _another(name: str, pair: tuple[Node, Node], variables: Mapping[Node, str]) -> str:
    """Advice on two arrays of one name."""
    first, second = pair
    group = name.removesuffix("_codes")
    if all(isinstance(node, Data) and group in node.coords and group != name for node in pair):
        return (
            f"both are codes of kg.groups(..., {group!r}): for the same groups, such as the teams "
            "at home and away, write first.encode(values) for the codes of the second column, "
            "where `first` are the groups of the first; give other groups another name"
        )
    in_variables = first in variables and second in variables
    if first.site and first.site == second.site and not in_variables:
        return (
            f'in a loop, give each a name of its own, such as name=f"{name}_{{i}}", or leave name= '
            "out; or write one array with shape="
        )
    return "give one of them another name with name="


def _base(node: Node) -> str:
    """The base of a numbered name."""
    distribution = getattr(node, "distribution", None)
    if distribution is not None:
        return distribution.family.name
    variable = getattr(node, "variable", None)
    if variable is not None:
        return str(variable)
    operation = getattr(node, "operation", None)
    return operation.name if operation is not None else node.kind
