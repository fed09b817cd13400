"""Unknowns whose data depend on them through steps alone.

The gradient by such an unknown is that of its prior, so a sampler with gradients does not see what
the data say about it. Examples are a change point `kg.where(t < change, a, b)` with a continuous
`change`, and a count `kg.floor(x)`.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..distributions.variable import Variable
from ..graph.errors import KinetographWarning
from ..graph.messages import describe, names_in_scope, site_text
from ..graph.node import Apply, Node, ancestors
from ..graph.source import warn_user
from .discovery import unknowns_above

if TYPE_CHECKING:
    from .model import Model

__all__ = ["warn_of_flat"]

# Operations on real numbers whose derivative is 0 almost everywhere.
_STEPS = {"ceil", "floor", "floor_divide", "rint", "sign", "trunc"}


def warn_of_flat(model: "Model", doing: str) -> None:
    """Warn of unknowns on which the data depend through steps alone."""
    names = names_in_scope() | {id(node): model.name(node) for node in model.component.unknowns}
    flat = model.functions.get("flat unknowns", lambda: _flat_unknowns(model))
    for unknown, step in flat.items():
        name = model.name(unknown)
        warn_user(
            f"{doing}: the density of the data depends on {name} only through steps, as in "
            f"{describe(step, names)}{site_text(step)}: its gradient by {name} is 0, and "
            f"this sampler moves by gradients. Make {name} a discrete unknown, such as "
            "kg.discrete_uniform(0, n), which is marginalised, or write a gradual change, such as "
            f"kg.ilogit((t - {name}) / width), or use kg.samplers.Slice()",
            KinetographWarning,
        )


def _flat_unknowns(model: "Model") -> dict[Variable, Node]:
    """The unknowns, each with a step that depends on it."""
    component = model.component
    priors = [
        node.distribution
        for node in component.nodes
        if isinstance(node, Variable) and node.distribution is not None
    ]
    parents = [parent for term in (*component.likelihoods, *priors) for parent in term.parents]
    smooth, steps = _smoothly_above([*component.factors, *parents])
    reached = {*unknowns_above(component.likelihoods)}  # a factor of steps may be a constraint
    flat = [v for v in component.unknowns if v in reached and v not in smooth]
    below = [node for node in ancestors(steps) if _is_step(node)] if flat else []
    first = sorted(below, key=lambda node: node.serial)
    return {v: next(step for step in first if v in ancestors([step])) for v in flat}


def _smoothly_above(roots: Iterable[Node]) -> tuple[set[Node], list[Node]]:
    """The nodes with a derivative of the roots, and the steps."""
    reached: set[Node] = set()
    steps: list[Node] = []
    pending = list(roots)
    while pending:
        node = pending.pop()
        if node in reached:
            continue
        if _is_step(node):
            steps.append(node)
            continue
        reached.add(node)
        pending += node.parents
    return reached, steps


def _is_step(node: Node) -> bool:
    if not isinstance(node, Apply):
        return False
    return node.dtype.kind in "biu" or str(node.operation.name) in _STEPS
