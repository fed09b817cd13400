"""The common part of all stream methods: parameters, shapes, types."""

from collections.abc import Sequence
from typing import Any

from ..distributions.generator import Generator
from ..graph.array import Array
from ..graph.errors import ShapeError
from ..graph.node import Node
from ..graph.operations.elementwise import astype
from ..graph.operations.operands import as_node
from ..graph.source import place_text
from .draw_arguments import float_type, sized
from .operations import Draw, draw_node

__all__ = ["OneDraw"]


class OneDraw:
    """The base class of stream methods, independent of where states are kept.

    All methods have these keywords. `shape` is the shape of the numbers, to which the parameters
    broadcast; its default is their common shape. `like` is an array that has this shape. `name` is
    the name of the stream: a draw with a name keeps its stream if other draws are added, removed or
    moved. `dtype` is the type of real numbers; its default is the working precision.

    Parameters may be arrays. Known parameters are checked at once (ValueError). Impossible
    parameters that are known only at run time give NaN, the whole number -1 (`integers` gives the
    least 64-bit number) or the boolean false.
    """

    def _next(self, name: str | None) -> tuple[Node, Any]:
        """The state to draw from, and its stream."""
        raise NotImplementedError

    def _keep(self, node: Draw) -> Array:
        """The array of the drawn numbers."""
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
        title, declared = generator.name, generator.parameters
        floating = float_type(dtype, title)
        given = [
            as_node(v, f"{title}: {p.name}") for p, v in zip(declared, parameters, strict=True)
        ]
        generator.check_values(given, floating)
        nodes = [
            node if p.integer or node.dtype == floating else astype(node, floating)
            for p, node in zip(declared, given, strict=True)
        ]
        size = sized(shape, like, title)
        full_shape = generator.full_shape(nodes, size, event)
        if like is not None and full_shape != size:
            raise ShapeError(
                f"{title}: like= has shape {size}, and the draws have {full_shape}{place_text()}"
            )
        state, stream = self._next(name)
        output = generator.dtype or floating
        node = draw_node(title, generator.draw, state, nodes, full_shape, output, floating)
        node.stream = stream
        if name is not None:
            node.name = name
        return self._keep(node)
