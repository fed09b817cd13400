"""A diagram as text, with a line for each array.

mu         ~ normal(0, 5)
tau        ~ half_cauchy(5)
z[school]  ~ normal(0, 1)          shape (8,)
theta      = mu + tau * z          shape (8,)  target
y          ~ normal(theta, sigma)  shape (8,)  observed
"""

from collections.abc import Iterable
from itertools import groupby

from .diagram import Diagram, Vertex

__all__ = ["listing"]


def listing(diagram: Diagram) -> str:
    """Write a diagram as aligned lines, with groups indented below their titles."""
    lines: list[str] = []
    shown: set[int] = set()

    def around_of(vertex: Vertex) -> list[int]:
        # Plates are left out: the lines themselves have the names of the axes.
        return [place for place in diagram.around(vertex) if not diagram.groups[place].plate]

    for around, vertices in groupby(diagram.vertices, key=around_of):
        for depth, place in enumerate(around):
            if place not in shown:
                shown.add(place)
                title, *notes = diagram.groups[place].title, *diagram.groups[place].notes
                lines.append("  " * depth + title)
                lines += ["  " * (depth + 1) + f"({note})" for note in notes]
        lines += ["  " * len(around) + line for line in _block(vertices)]
    return "\n".join(lines)


def _block(vertices: Iterable[Vertex]) -> list[str]:
    rows = [_row(vertex) for vertex in vertices if vertex.definition]
    widths = [max((len(row[i]) for row in rows), default=0) for i in range(3)]
    lines = []
    for *columns, marks in rows:
        padded = [f"{text:<{width}}" for text, width in zip(columns, widths, strict=True) if width]
        lines.append("  ".join([*padded, marks]).rstrip())
    return lines


def _row(vertex: Vertex) -> tuple[str, str, str, str]:
    dims = [d or "·" for d in vertex.dims or ()]
    named = f"[{', '.join(dims)}]" if any(d != "·" for d in dims) else ""
    shape = f"shape {vertex.shape}" if vertex.shape else ""
    return one_line(vertex.handle) + named, vertex.definition, shape, ", ".join(vertex.marks)


def one_line(text: str) -> str:
    """Replace line breaks and repeated spaces by single spaces."""
    return " ".join(text.split())
