"""What all methods that draw have in common."""

from collections.abc import Sequence
from typing import Any

from ..distributions.generator import Generator
from ..graph.array import Array
from ..graph.errors import ShapeError
from ..graph.node import Node
from ..graph.operations.elementwise import astype
from ..graph.operations.operands import as_node
from ..graph.source import place_text
from .asked import float_type, sized
from .operations import Draw, draw_node

__all__ = ["OneDraw"]


class OneDraw:
    """A draw of a distribution, wherever the state of its stream comes from.

    All methods take `shape`, to which parameters broadcast and which is their common shape if not
    given, or `like`, an array of this shape, and `name`: a draw with a name keeps its stream when
    other draws are added, removed or moved. Parameters may be arrays; where they are known they are
    checked at once (ValueError), where not, impossible ones give NaN, among whole numbers -1
    (`integers`: the least there is), a boolean false. Real numbers are of the working precision
    unless `dtype` says so.
    """

    def _next(self, name: str | None) -> tuple[Node, Any]:
        """The state to draw from, and the stream it is of."""
        raise NotImplementedError

    def _keep(self, node: Draw) -> Array:
        """The array of what was drawn."""
        return Array(node)

    def _draw(
        self,
        generator: Generator,
        parameters: Sequence[Any],
        shape: Any = None,
        name: str | None = None,
        dtype: Any = None,
        like: Any = None,
        event: tuple[int, ...] | None = None,
    ) -> Array:
        which, own = generator.name, generator.parameters
        floating = float_type(dtype, which)
        given = [as_node(v, f"{which}: {p.name}") for p, v in zip(own, parameters, strict=True)]
        generator.check_values(given, floating)
        nodes = [
            node if p.integer or node.dtype == floating else astype(node, floating)
            for p, node in zip(own, given, strict=True)
        ]
        size = sized(shape, like, which)
        full = generator.full_shape(nodes, size, event)
        if like is not None and full != size:
            raise ShapeError(
                f"{which}: like= has shape {size}, and the draws have {full}{place_text()}"
            )
        state, stream = self._next(name)
        output = generator.dtype or floating
        node = draw_node(which, generator.draw, state, nodes, full, output, floating)
        node.stream = stream
        if name is not None:
            node.name = name
        return self._keep(node)
