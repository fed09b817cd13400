"""An error about mini-batches of rows that a loop has observed."""

from ..distributions.variable import Distribution
from ..graph.errors import ModelError
from ..graph.messages import describe, site_text
from ..graph.node import Data, Node
from .model import Model

__all__ = ["refuse_rows_one_by_one"]


def refuse_rows_one_by_one(model: Model, doing: str) -> None:
    """Raise ModelError if all observed data are single rows.

    A batch is taken along the first axis of an array, which single rows do not have.
    """
    alone: list[Data] = []
    for term in model.density.terms:
        target = term.target
        if isinstance(target, Data):
            if not _is_one_row(term.node, target):
                return
            alone.append(target)
        elif target is None and term.node.shape:
            return  # a factor, which may have rows
    if len(alone) < 2:
        return
    names = list(dict.fromkeys(describe(node) for node in alone[:3]))
    named = f" ({', '.join(names)}, ...)" if len(names) > 1 else ""
    raise ModelError(
        f"{doing}: {len(alone)} rows{named} are observed one by one{site_text(alone[0])}, but "
        "rows are taken of one array. Observe all rows in one statement, without the loop, as in "
        "kg.observe(y, kg.normal(x @ w, sd)), where y and x are arrays with a row for each "
        "observation"
    )


def _is_one_row(node: Node, target: Data) -> bool:
    return isinstance(node, Distribution) and len(target.shape) == node.family.event_ndim
