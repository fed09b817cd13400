"""Drawings of the graph, in text, Mermaid, DOT and SVG, without any other program.

diagram      what is drawn: vertices and edges
expressions  operations as the user would write them
reading      nodes become a diagram, collapsed or with every node
listing, mermaid, dot, svg    the four formats
layout       where vertices and edges go (for SVG; the others leave it to their reader)
drawing      `Drawing` and `kg.draw_graph`
"""

from .drawing import Drawing, draw_graph

__all__ = ["Drawing", "draw_graph"]
