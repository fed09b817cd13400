"""The HTML of a model in a notebook: counts, tables and drawing."""

from base64 import b64encode
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from ..distributions.variable import Variable
from ..graph.markup import table
from ..graph.node import Node

if TYPE_CHECKING:
    from .model import Model

__all__ = ["model_html"]


def model_html(model: "Model") -> str:
    """The model as self-contained HTML.

    The drawing is embedded as an image, so that the names inside several drawings on a page do not
    clash.
    """
    component = model.component
    unknowns = [*component.unknowns, *component.discrete]
    parts = [f"<b>{escape(_counts(model))}</b>"]
    parts.append(_section(model, "Unknowns", unknowns))
    parts.append(_section(model, "Observed", model.observed))
    parts.append(_section(model, "Fixed", model.fixed))
    other_data = [node for node in model.data if node not in model.observed]
    parts.append(_section(model, "Other data", other_data))
    drawing = model.plot()
    image = b64encode(drawing.svg().encode()).decode()
    parts.append(
        "<details><summary>Drawing</summary>"
        f'<img alt="{escape(drawing.text())}" src="data:image/svg+xml;base64,{image}" '
        'style="max-width:100%"/></details>'
    )
    return "\n".join(["<div>", *filter(None, parts), "</div>"])


def _counts(model: "Model") -> str:
    """A summary: `Model of 3 unknowns, 10 free numbers; 8 observed numbers`."""
    component = model.component

    def count(number: int, noun: str) -> str:
        return f"{number} {noun}{'' if number == 1 else 's'}"

    unknowns = count(len(component.unknowns) + len(component.discrete), "unknown")
    texts = [f"Model of {unknowns}, {count(model.free_size, 'free number')}"]
    texts.append(count(sum(node.size for node in model.observed), "observed number"))
    if model.factors:
        texts.append(count(len(model.factors), "factor"))
    if model.batch is not None:
        texts.append(f"samplers use {model.batch.size} of {model.batch.count} rows at a time")
    return "; ".join(texts)


def _section(model: "Model", title: str, nodes: Sequence[Node]) -> str:
    """A table of arrays, or an empty string if there are none."""
    if not nodes:
        return ""
    rows = [
        (model.name(node), _distribution_text(model, node), str(node.shape), _dims(model, node))
        for node in nodes
    ]
    return table((title, "distribution", "shape", "dims"), rows)


def _dims(model: "Model", node: Node) -> str:
    dims = model.dims(node)
    return ", ".join(dim or "·" for dim in dims) if any(dims) else ""


def _distribution_text(model: "Model", node: Node) -> str:
    """The distribution of an array, or the bounds of a flat unknown."""
    component = model.component
    if isinstance(node, Variable):
        if node in component.cut:
            return "set by kg.do"
        if node.distribution is None:
            support = node.support.describe()
            return "flat" if support == "real" else f"flat, {support}"
        more = ", marginalised" if node in component.discrete else ""
        return node.distribution.expression(model.known_as) + more
    laws = [d for d in component.likelihoods if d.target is node]
    return laws[0].expression(model.known_as) if laws else ""
