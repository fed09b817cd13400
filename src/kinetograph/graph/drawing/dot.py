"""The diagram in DOT, the language of Graphviz."""

from .diagram import Diagram, Vertex
from .labels import BASE, GREY, INK, PALE, QUIET, label_lines

__all__ = ["dot"]

_LOOKS = {
    "data": {"shape": "square", "width": "0.5", "fillcolor": "#ffffff", "color": INK},
    "placeholder": {
        "shape": "square",
        "width": "0.5",
        "style": "filled,dashed",
        "fillcolor": "#ffffff",
        "color": INK,
    },
    "variable": {"shape": "circle", "width": "0.6", "fillcolor": PALE, "color": BASE},
    "operation": {"shape": "box", "style": "filled,rounded", "fillcolor": GREY, "color": GREY},
    "control": {"shape": "box", "style": "filled,rounded", "fillcolor": "#ffffff", "color": BASE},
    "distribution": {
        "shape": "diamond",
        "fillcolor": BASE,
        "color": BASE,
        "fontcolor": "#ffffff",
    },
    "target": {"penwidth": "3", "color": INK},
    "observed": {"peripheries": "2"},
}
_CIRCLE = {
    "shape": "circle",
    "width": "0.2",
    "fixedsize": "true",
    "fillcolor": GREY,
    "color": GREY,
}


def _quoted(*lines: str) -> str:
    """Quote the lines of a label; Graphviz also reads HTML entities."""
    safe = (line.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return f'"{"\\n".join(safe)}"'


def _nodes(diagram: Diagram, group: int | None, indent: str) -> list[str]:
    """The lines for a group: its nodes, and clusters inside it."""
    lines = [
        indent + _node(i, vertex)
        for i, vertex in enumerate(diagram.vertices)
        if vertex.group == group
    ]
    for i, inner in enumerate(diagram.groups):
        if inner.outer == group:
            label = _quoted(inner.title, *inner.notes)
            lines += [
                f"{indent}subgraph cluster_{i} {{",
                f'{indent}  label={label}; labeljust="l"; fontname="Helvetica"; fontsize=11;',
                f'{indent}  color="{QUIET if inner.plate else BASE}"; style=rounded;',
                *_nodes(diagram, i, indent + "  "),
                f"{indent}}}",
            ]
    return lines


def _node(place: int, vertex: Vertex) -> str:
    lines = label_lines(vertex)
    labels, looks = {"label": _quoted(*lines)}, dict(_LOOKS.get(vertex.kind, _CIRCLE))
    if vertex.kind == "operation" and vertex.small:
        # The circle is too small for text, which is written next to it.
        labels = {"label": '""', **({"xlabel": _quoted(*lines)} if lines else {})}
        looks = dict(_CIRCLE)
    elif vertex.small:
        looks["width"] = "0.3"
    for mark in vertex.marks:
        looks |= _LOOKS.get(mark, {})
    attributes = labels | {key: _quoted(value) for key, value in looks.items()}
    return f"n{place} [{', '.join(f'{key}={value}' for key, value in attributes.items())}];"


def dot(diagram: Diagram) -> str:
    """Write a diagram in DOT, from left to right."""
    lines = [
        "digraph kinetograph {",
        '  rankdir=LR; bgcolor="#ffffff";',
        f'  node [style=filled, fontname="Helvetica", fontsize=11, fontcolor="{INK}"];',
        f'  edge [fontname="Helvetica", fontsize=10, fontcolor="{INK}", color="{INK}"];',
    ]
    lines += _nodes(diagram, None, "  ")
    for edge in diagram.edges:
        looks = [f"label={_quoted(edge.label)}"] if edge.label else []
        looks += ["style=dashed"] if edge.dashed else []
        tail = f" [{', '.join(looks)}]" if looks else ""
        lines.append(f"  n{edge.source} -> n{edge.target}{tail};")
    return "\n".join([*lines, "}"])
