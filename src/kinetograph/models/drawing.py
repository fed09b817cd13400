"""The drawing of a model, with targets, observed data and factors marked."""

from typing import TYPE_CHECKING

from ..graph.drawing.drawing import Drawing
from ..graph.drawing.from_nodes import connected, names_in_scope, read
from ..graph.node import Node
from .dims import dims_of

if TYPE_CHECKING:
    from .model import Model

__all__ = ["draw_model"]


def draw_model(model: "Model", collapse: bool = True) -> Drawing:
    """Draw all arrays, distributions and data of a model.

    Plates are the dims of the model.

    Parameters
    ----------
    model
        The model.
    collapse
        Fold unnamed operations and constants into expressions; False shows every node.

    Returns
    -------
    Drawing
        With `.text()`, `.mermaid()`, `.dot()`, `.svg()` and `.save(path)`.

    Examples
    --------
    >>> import kinetograph as kg
    >>> mu = kg.normal(0, 10)
    >>> y = kg.data([1.2, 0.7, 1.9])
    >>> likelihood = kg.observe(y, kg.normal(mu, 1))
    >>> print(kg.model(mu).plot())
    mu  ~ normal(0, 10)              target
    y   ~ normal(mu, 1)  shape (3,)  observed
    """
    factors = list(model.factors)
    component = model.component
    unknowns = (*component.unknowns, *component.discrete)
    with_priors = [*unknowns, *(v for v in model.fixed if v not in component.cut)]
    priors = [v.distribution for v in with_priors if v.distribution is not None]
    nodes = connected(
        [
            *model.targets,
            *unknowns,
            *priors,
            *model.observed,
            *component.likelihoods,
            *factors,
        ],
        distributions=False,
    )
    names = {**model.variables, **names_in_scope(nodes)}
    for node in (*model.targets, *unknowns, *model.data, *model.fixed):
        names[node] = model.name(node)
    marks: dict[Node, tuple[str, ...]] = {}
    marked = (
        ("target", model.targets),
        ("observed", model.observed),
        ("fixed", model.fixed),
        ("factor", factors),
    )
    for mark, group in marked:
        for node in group:
            marks[node] = (*marks.get(node, ()), mark)
    return Drawing(read(nodes, names, marks=marks, dims=dims_of(nodes), collapse=collapse))
