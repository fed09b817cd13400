"""Which distributions observed data follow."""

from ..distributions.variable import Distribution
from ..graph.errors import ModelError
from ..graph.messages import site_text
from ..graph.node import Node
from ..models.model import Model

__all__ = ["followed"]


def followed(doing: str, model: Model) -> dict[Node, Distribution]:
    """The distribution of each of the data that a model observes.

    Raises
    ------
    ModelError
        If some data follow two: a density may be a product of them, a draw has one.
    """
    component = model.component
    found: dict[Node, Distribution] = {}
    for data, distribution in zip(component.observed, component.likelihoods, strict=True):
        if data in found:
            raise ModelError(
                f"{doing}: {model.name(data)}{site_text(data)} is observed twice, and which of its "
                "distributions is meant is not known; give each its own kg.data, or one of them as "
                "factors=kg.log_density(distribution, data)"
            )
        found[data] = distribution
    return found
