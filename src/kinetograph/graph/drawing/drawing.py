"""The function `kg.draw_graph`, and the class of its results."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..array import Array
from ..node import Node
from ..public import public
from ..source import place_text
from ..value_texts import in_words
from .classic import read_classic
from .diagram import Diagram
from .dot import dot
from .from_nodes import connected, names_in_scope, read
from .listing import listing
from .mermaid import mermaid
from .svg import svg

__all__ = ["Drawing", "draw_graph"]


@public
class Drawing:
    """A drawing of a graph, in four formats.

    It is made by `kg.draw_graph(x)` and `model.plot()`. Notebooks show it as a picture, `print`
    writes it as text.
    """

    def __init__(self, diagram: Diagram) -> None:
        self.diagram = diagram

    def text(self) -> str:
        """The text of the graph, with a line for each array.

        For example `theta = mu + tau * z`.
        """
        return listing(self.diagram)

    def mermaid(self) -> str:
        """The graph as a flowchart in Mermaid's language.

        Mermaid draws at most 500 arrows, unless the page sets `maxEdges` to a higher number.
        """
        return mermaid(self.diagram)

    def dot(self) -> str:
        """The graph in Graphviz's language DOT."""
        return dot(self.diagram)

    def svg(self) -> str:
        """The graph as an SVG picture, complete in itself."""
        return svg(self.diagram)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the drawing to a file; its suffix selects the format.

        Parameters
        ----------
        path
            The file; its suffix is .txt (text), .mmd (Mermaid), .dot or .gv (DOT), or .svg.

        Raises
        ------
        ValueError
            If the file has another suffix.
        """
        writers = {
            ".txt": self.text,
            ".mmd": self.mermaid,
            ".dot": self.dot,
            ".gv": self.dot,
            ".svg": self.svg,
        }
        target = Path(path)
        writer = writers.get(target.suffix.lower())
        if writer is None:
            raise ValueError(
                f"save: the suffix of {target.name!r} is not a known format; use .txt (text), .mmd "
                "(Mermaid), .dot or .gv (DOT), or .svg (a picture)"
            )
        content = writer()  # before the file is opened: a failure must not leave an empty file
        target.write_text(content + "\n", encoding="utf-8")

    def __str__(self) -> str:
        return self.text()

    __repr__ = __str__

    def _repr_svg_(self) -> str:
        return self.svg()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"image/svg+xml": self.svg(), "text/plain": self.text()}


@public
def draw_graph(x: Any, *, collapse: bool = False, classic: bool = False) -> Drawing:
    """Draw the graph of an array: the array and all its ancestors.

    Data are squares, unknowns are circles, operations are small grey circles, and distributions are
    diamonds with a dashed arrow to the array that follows them. A conditional or loop is one node.
    Arrays with the same named axes are in one box, a plate: `school (8)`. To draw a model, use
    `model.plot()`.

    Parameters
    ----------
    x
        An array, or a list or tuple of arrays.
    collapse
        Whether to fold unnamed operations and constants into expressions: `mu + tau * z` is then
        one node.
    classic
        Whether to show the inside of branches and loops, in the dataflow form of Switch, Merge,
        Enter, NextIteration and Exit. This form is only for drawings: a compiled program has no
        such operations.

    Returns
    -------
    Drawing
        With `.text()`, `.mermaid()`, `.dot()`, `.svg()` and `.save(path)`.

    Raises
    ------
    TypeError
        If `x` is not an array or a list of arrays.
    ValueError
        If the list is empty.

    Examples
    --------
    >>> import kinetograph as kg
    >>> mu = kg.normal(0, 5)
    >>> theta = mu + 2 * kg.data([1.0, 2.0], name="x")
    >>> print(kg.draw_graph(theta, collapse=True))
    mu     ~ normal(0, 5)
    x      data            shape (2,)
    theta  = mu + 2 * x    shape (2,)
    """
    nodes = list(_nodes(x))
    if not nodes:
        raise ValueError("draw_graph: the list holds no arrays")
    everything = connected(nodes)
    names = names_in_scope(everything)
    if classic:
        return Drawing(read_classic(nodes, {id(node): name for node, name in names.items()}))
    return Drawing(read(everything, names, roots=nodes, collapse=collapse))


def _nodes(x: Any) -> Iterable[Node]:
    for item in x if isinstance(x, (list, tuple)) else [x]:
        if not isinstance(item, Array):
            hint = "; to draw a model, use model.plot()" if hasattr(item, "plot") else ""
            raise TypeError(
                f"draw_graph: expected an array or a list of arrays, got {in_words(item)}"
                f"{place_text()}{hint}"
            )
        yield item.node
