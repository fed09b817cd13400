"""The distributions that observed data follow."""

from ..distributions.variable import Distribution
from ..graph.errors import ModelError
from ..graph.messages import site_text
from ..graph.node import Node
from ..models.model import Model

__all__ = ["followed"]


def followed(doing: str, model: Model) -> dict[Node, Distribution]:
    """The distribution of each data array that a model observes.

    Raises
    ------
    ModelError
        If data follow two distributions: a density may be their product, but a draw needs one.
    """
    component = model.component
    distributions: dict[Node, Distribution] = {}
    for data, distribution in zip(component.observed, component.likelihoods, strict=True):
        if data in distributions:
            raise ModelError(
                f"{doing}: {model.name(data)}{site_text(data)} is observed twice, so it is not "
                "clear from which distribution to draw; give each its own kg.data, or pass one of "
                "them as factors=kg.log_density(distribution, data)"
            )
        distributions[data] = distribution
    return distributions
