"""Drawings of the graph, in text, Mermaid, DOT and SVG, without any other program.

diagram      what is drawn: vertices and edges
reading      nodes become a diagram, collapsed or with every node
classic, classic_diagram      branches and loops in the classic dataflow form
listing, mermaid, dot, svg    the four formats
layout       where vertices and edges go (for SVG; the others leave it to their reader)
drawing      `Drawing` and `kg.draw_graph`

All of it is imported when first used: most programs draw nothing.
"""

from ..control.contexts import ON_DESCRIBE, ControlFlowContext

__all__: list[str] = []


def _describe(context: ControlFlowContext) -> str:
    from .classic_diagram import describe_context

    return describe_context(context)


ON_DESCRIBE.append(_describe)
