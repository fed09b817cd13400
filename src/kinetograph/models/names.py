"""Names of arrays: `name=`, else the user's variable, else `normal_1`."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from ..distributions.variable import Variable
from ..graph.array import Array
from ..graph.errors import ModelError
from ..graph.frame_variables import local_variables
from ..graph.messages import site_text
from ..graph.node import Node
from ..graph.source import user_frame

__all__ = ["assign_names", "unknowns_in_scope", "variables_in_scope"]


def _scope() -> dict[str, Array]:
    """The arrays in the caller's variables; locals hide globals."""
    frame = user_frame()
    if frame is None:
        return {}
    local = local_variables(frame)
    visible = {**frame.f_globals, **local}
    return {n: v for n, v in {**local, **visible}.items() if isinstance(v, Array)}


def variables_in_scope() -> dict[Node, str]:
    """The names of the caller's variables that hold arrays."""
    names: dict[Node, str] = {}
    for name, value in _scope().items():
        if not name.startswith("_"):
            names.setdefault(value.node, name)
    return names


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
) -> dict[Node, str]:
    """A different name for each node.

    Nodes without a name get their label, if it is free. Raises ModelError if two arrays have the
    same name.
    """
    variables = variables_in_scope()
    names: dict[Node, str] = {}
    counts: dict[str, int] = {}
    node_of_name: dict[str, Node] = {}
    pending: list[Node] = []
    for node in nodes:
        name = given.get(node) or node.name or variables.get(node)
        if name is None:
            pending.append(node)
            continue
        other = node_of_name.get(name)
        if other is not None and other is not node:
            raise ModelError(
                f"two arrays are named {name!r}: {_place_of(other, variables)} and "
                f"{_place_of(node, variables)}; give one of them another name with name="
            )
        node_of_name[name] = node
        names[node] = name
    bases = [_base(node) for node in pending]
    for node, base in zip(pending, bases, strict=True):
        label = labels.get(node)
        if label is not None and label not in node_of_name:
            node_of_name[label] = node
            names[node] = label
            continue
        if (
            getattr(node, "variable", None) == base
            and bases.count(base) == 1
            and base not in node_of_name
        ):
            node_of_name[base] = node
            names[node] = base
            continue
        while True:
            counts[base] = counts.get(base, 0) + 1
            name = f"{base}_{counts[base]}"
            if name not in node_of_name:
                break
        node_of_name[name] = node
        names[node] = name
    return names


def _place_of(node: Node, variables: Mapping[Node, str]) -> str:
    """The variable and the place of an array."""
    return f"{variables.get(node, 'one')}{site_text(node)}"


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
