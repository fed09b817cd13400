"""A diagram in Mermaid's language, which GitHub and many editors draw."""

import re

from .diagram import Diagram, Vertex
from .labels import BASE, GREY, INK, PALE, label_lines

__all__ = ["mermaid"]

_BRACKETS = {
    "data": ("[", "]"),
    "placeholder": ("[", "]"),
    "variable": ("((", "))"),
    "operation": ("(", ")"),
    "control": ("(", ")"),
    "distribution": ("{", "}"),
}
_CLASSES = {
    "data": f"fill:#ffffff,stroke:{INK},color:{INK}",
    "placeholder": f"fill:#ffffff,stroke:{INK},color:{INK},stroke-dasharray:4 3",
    "variable": f"fill:{PALE},stroke:{BASE},color:{INK}",
    "operation": f"fill:{GREY},stroke:{GREY},color:{INK}",
    "control": f"fill:#ffffff,stroke:{BASE},color:{INK}",
    "distribution": f"fill:{BASE},stroke:{BASE},color:#ffffff",
    "target": f"stroke:{INK},stroke-width:3px",
    "observed": f"stroke:{BASE},stroke-width:3px",
}
_SPECIAL = {c: f"#{ord(c)};" for c in "#\"&<>`\\|"}  # fmt: skip


def _escape(text: str) -> str:
    """Write special characters as codes.

    Also the characters at the start that would make a label a list (`-`, `1.`).
    """
    text = "".join(_SPECIAL.get(c, c) for c in text)
    return re.sub(r"^([-+*]|\d+[.)])(?=\s|$)", lambda m: _coded(m[1]), text)


def _coded(text: str) -> str:
    return text[:-1] + f"#{ord(text[-1])};"


def _node(place: int, vertex: Vertex) -> str:
    kind = "variable" if vertex.kind == "operation" and vertex.small else vertex.kind
    opening, closing = _BRACKETS.get(kind, _BRACKETS["operation"])
    text = "<br/>".join(map(_escape, label_lines(vertex))) or " "
    return f'n{place}{opening}"{text}"{closing}'


def _nodes(diagram: Diagram, group: int | None, indent: str) -> list[str]:
    """The lines for a group: its nodes, and groups inside it."""
    lines = [
        indent + _node(i, vertex)
        for i, vertex in enumerate(diagram.vertices)
        if vertex.group == group
    ]
    for i, inner in enumerate(diagram.groups):
        if inner.outer == group:
            title = "<br/>".join(map(_escape, (inner.title, *inner.notes)))
            lines.append(f'{indent}subgraph g{i}["{title}"]')
            lines += [*_nodes(diagram, i, indent + "  "), f"{indent}end"]
    return lines


def mermaid(diagram: Diagram) -> str:
    """Write a diagram as a Mermaid flowchart from left to right."""
    lines = ["flowchart LR"]
    lines += _nodes(diagram, None, "  ")
    for edge in diagram.edges:
        arrow = "-.->" if edge.dashed else "-->"
        label = f'|"{_escape(edge.label)}"|' if edge.label else ""
        lines.append(f"  n{edge.source} {arrow}{label} n{edge.target}")
    for name, style in _CLASSES.items():
        members = [
            f"n{i}" for i, v in enumerate(diagram.vertices) if name in (v.kind, *v.marks)
        ]  # fmt: skip
        if members:
            lines += [f"  classDef {name} {style}", f"  class {','.join(members)} {name}"]
    return "\n".join(lines)
