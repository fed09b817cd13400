"""Drawings of the graph as text, Mermaid, DOT and SVG.

No external program is needed.

diagram      the content of a drawing: vertices, edges and groups
from_nodes   conversion of nodes to a diagram, collapsed or with every node
classic      branches and loops in the classic dataflow form
listing, mermaid, dot, svg    the four formats
layout       the positions of vertices and edges (only for SVG)
drawing      `Drawing` and `kg.draw_graph`

The modules are imported when they are first used, because most programs draw nothing.
"""

from ..control.contexts import ControlFlowContext
from ..hooks import ON_DESCRIBE

__all__: list[str] = []


@ON_DESCRIBE.fill
def _describe(context: ControlFlowContext) -> str:
    from .classic import describe_context

    return describe_context(context)
