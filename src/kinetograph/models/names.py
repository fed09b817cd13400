"""How arrays are called: `name=`, else the user's variable, else `normal_1`."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from ..distributions.variable import Variable
from ..graph.array import Array
from ..graph.errors import ModelError
from ..graph.frames import local_variables
from ..graph.messages import site_text
from ..graph.node import Node
from ..graph.source import user_frame

__all__ = ["assign_names", "unknowns_in_scope", "variables_in_scope"]


def _scope() -> dict[str, Array]:
    """The arrays that the caller's variables hold; a local hides a global of its name."""
    frame = user_frame()
    if frame is None:
        return {}
    local = local_variables(frame)
    visible = {**frame.f_globals, **local}
    return {n: v for n, v in {**local, **visible}.items() if isinstance(v, Array)}


def variables_in_scope() -> dict[Node, str]:
    """The names by which the caller's variables hold arrays."""
    names: dict[Node, str] = {}
    for name, value in _scope().items():
        if not name.startswith("_"):
            names.setdefault(value.node, name)
    return names


def unknowns_in_scope() -> list[Array]:
    """All arrays that variables of the caller's frame hold and that are unknown."""
    frame = user_frame()
    found: dict[Node, Array] = {}
    if frame is not None:
        for name, value in local_variables(frame).items():
            if isinstance(value, Array) and not name.startswith("_"):
                node = value.node
                if isinstance(node, Variable) and node.observed_by is None:
                    found.setdefault(node, value)
    return list(found.values())


def assign_names(
    nodes: Iterable[Node],
    given: Mapping[Node, str],
    labels: Mapping[Node, str] = MappingProxyType({}),
) -> dict[Node, str]:
    """A name for each node; the same name for two arrays is an error.

    What has none is called by its label, if that is still free.
    """
    variables = variables_in_scope()
    names: dict[Node, str] = {}
    counts: dict[str, int] = {}
    taken: dict[str, Node] = {}
    pending: list[Node] = []
    for node in nodes:
        name = given.get(node) or node.name or variables.get(node)
        if name is None:
            pending.append(node)
            continue
        other = taken.get(name)
        if other is not None and other is not node:
            raise ModelError(
                f"two arrays are named {name!r}: {_held(other, variables)} and "
                f"{_held(node, variables)}; give one of them another name by name="
            )
        taken[name] = node
        names[node] = name
    bases = [_base(node) for node in pending]
    for node, base in zip(pending, bases, strict=True):
        label = labels.get(node)
        if label is not None and label not in taken:
            taken[label] = node
            names[node] = label
            continue
        if getattr(node, "variable", None) == base and bases.count(base) == 1 and base not in taken:
            taken[base] = node
            names[node] = base
            continue
        while True:
            counts[base] = counts.get(base, 0) + 1
            name = f"{base}_{counts[base]}"
            if name not in taken:
                break
        taken[name] = node
        names[node] = name
    return names


def _held(node: Node, variables: Mapping[Node, str]) -> str:
    return f"{variables.get(node, 'one')}{site_text(node)}"


def _base(node: Node) -> str:
    distribution = getattr(node, "distribution", None)
    if distribution is not None:
        return distribution.family.name
    variable = getattr(node, "variable", None)
    if variable is not None:
        return str(variable)
    operation = getattr(node, "operation", None)
    return operation.name if operation is not None else node.kind
