"""A diagram as SVG: data are squares, unknowns circles, distributions diamonds.

The background is drawn, so that the picture looks the same on light and dark pages. The width of
text is estimated from above with the widths of Helvetica, because no font can be measured.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from xml.sax.saxutils import escape

from .diagram import Diagram, Edge, Vertex
from .labels import BASE, GREY, INK, PALE, QUIET, label_lines, shorten, tint
from .lanes import LaneStep, Span, steps_of
from .layout import Box, Place, arrange
from .listing import one_line

__all__ = ["Figure", "figure", "svg", "text_width"]

MARGIN = 16.0
WIDEST_PAD = 14.0  # the padding at the left and right of the outermost box
NAME, SMALL = 13, 11  # font sizes
LEADING = 14.0
RADIUS = 22.0  # the radius of an unknown's circle
_FONT = "Helvetica, Arial, 'Liberation Sans', sans-serif"
_NARROW, _WIDE = set("iljtfrI.,:;'|!()[] "), set("mwMW@%…—")


def text_width(text: str, size: float) -> float:
    """An estimate of the width of a line of text, from above."""
    units = 0.0
    for c in text:
        if ord(c) >= 0x1100:  # East Asian characters are square
            units += 1.05
        elif c in _NARROW:
            units += 0.36
        elif c in _WIDE:
            units += 0.98
        else:
            units += 0.72 if c.isupper() else 0.62
    return units * size


@dataclass(frozen=True)
class Figure:
    """The shape of a node: half its size, text inside and below."""

    half_width: float
    half_height: float
    inside: tuple[str, ...] = ()
    below: tuple[str, ...] = ()
    roomy: bool = True

    @property
    def box(self) -> Box:
        """The space that it takes, including its text."""
        below = max((text_width(line, SMALL) / 2 for line in self.below), default=0.0)
        room = self.half_height + (4.0 + LEADING * len(self.below) if self.below else 0.0)
        above = self.half_height
        if self.roomy:
            # The same height with and without text below, so that rows of nodes are level.
            above, room = max(above, RADIUS), max(room, RADIUS + 4.0 + LEADING)
        return Box(max(self.half_width, below) + 2.0, above + 2.0, room + 2.0)


def figure(vertex: Vertex) -> Figure:
    """The figure of a vertex; text that fits is written inside."""
    lines = label_lines(vertex)
    if vertex.kind == "distribution":
        return Figure(15, 15, (), tuple(lines))
    if vertex.kind == "operation" and vertex.small:
        return Figure(7, 7, (), tuple(lines), roomy=False)
    sized = bool(lines) and bool(vertex.size_text)
    inside, below = (lines[:-1], lines[-1:]) if sized else (lines, [])
    if vertex.kind == "variable":  # a circle has room for a name only
        inside, below = inside[:1], [*inside[1:], *below]
    width = max((text_width(line, NAME) for line in inside), default=0.0)
    if vertex.name and inside:
        width = max(width, 1.08 * text_width(inside[0], NAME))  # the name is bold
    if vertex.kind in ("operation", "control"):
        half, height = max(14.0, width / 2 + 12), 6 + 8.0 * len(inside)
        return Figure(half, height, tuple(inside), tuple(below), roomy=False)
    if vertex.kind == "variable":
        half = RADIUS if width <= 2 * RADIUS - 6 else width / 2 + 14
        return Figure(half, RADIUS, tuple(inside), tuple(below))
    half = 11.0 if vertex.small else 18.0
    return Figure(
        max(half, width / 2 + 8), half, tuple(inside), tuple(below), roomy=not vertex.small
    )


def _within(look: Figure, diagram: Diagram, vertex: Vertex) -> Figure:
    """Add the names of nested groups to a figure.

    The layout does not keep the nodes of a loop or branch together.
    """
    around = (diagram.groups[place] for place in diagram.around(vertex))
    names = [group.name for group in around if not group.plate]
    if len(names) < 2:  # the name of the vertex shows a single group
        return look
    return replace(look, below=(*look.below, shorten("in " + ", ".join(reversed(names)), 60)))


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _outline(vertex: Vertex, look: Figure, place: Place, grow: float = 0.0) -> str:
    """The figure's outline as an SVG element, without the closing `/>`."""
    x, y, w, h = place.x, place.y, look.half_width + grow, look.half_height + grow
    if vertex.kind == "distribution":
        corners = [(x - w, y), (x, y - h), (x + w, y), (x, y + h)]
        return f'<polygon points="{" ".join(f"{_number(a)},{_number(b)}" for a, b in corners)}"'
    if w == h and vertex.kind in ("variable", "operation"):
        return f'<circle cx="{_number(x)}" cy="{_number(y)}" r="{_number(w)}"'
    corner = {"variable": h, "operation": min(h, 12.0), "control": 6.0}.get(vertex.kind, 0.0)
    rounded = f' rx="{_number(corner)}"' if corner else ""
    return (
        f'<rect x="{_number(x - w)}" y="{_number(y - h)}" width="{_number(2 * w)}" '
        f'height="{_number(2 * h)}"{rounded}'
    )


_FILLS = {
    "data": ("#ffffff", INK),
    "placeholder": ("#ffffff", INK),
    "variable": (PALE, BASE),
    "operation": (tint(GREY, 0.75), "#a9a9a9"),
    "control": ("#ffffff", BASE),
    "distribution": (BASE, BASE),
}


def _text(line: str, x: float, y: float, size: int, colour: str, weight: str = "") -> str:
    bold = f' font-weight="{weight}"' if weight else ""
    return (
        f'<text x="{_number(x)}" y="{_number(y)}" font-size="{size}" fill="{colour}"{bold}>'
        f"{_escape(line)}</text>"
    )


def _escape(text: str) -> str:
    """Escape a text; XML allows no control characters, not even as codes."""
    return escape("".join(c if c.isprintable() else " " for c in text), {'"': "&quot;"})


def _node(vertex: Vertex, look: Figure, place: Place) -> list[str]:
    fill, stroke = _FILLS.get(vertex.kind, _FILLS["operation"])
    width = 3 if "target" in vertex.marks else 1.2
    stroke = INK if "target" in vertex.marks else stroke
    dashes = ' stroke-dasharray="4 3"' if vertex.kind == "placeholder" else ""
    parts = [f'<g class="{" ".join(["node", vertex.kind, *vertex.marks])}">']
    title = " ".join(filter(None, [one_line(vertex.handle), vertex.definition or vertex.caption]))
    if title:
        parts.append(f"<title>{_escape(title)}</title>")
    if "observed" in vertex.marks:
        parts.append(f'{_outline(vertex, look, place, 3)} fill="#ffffff" stroke="{stroke}"/>')
    parts.append(
        f'{_outline(vertex, look, place)} fill="{fill}" stroke="{stroke}" '
        f'stroke-width="{width}"{dashes}/>'
    )
    first = place.y - 8.0 * (len(look.inside) - 1) + 4.5
    for i, line in enumerate(look.inside):
        weight = "bold" if i == 0 and vertex.name else ""
        parts.append(_text(line, place.x, first + 16 * i, NAME, INK, weight))
    for i, line in enumerate(look.below):
        y = place.y + look.half_height + 3 + LEADING * (i + 0.75)
        y += 2 if "observed" in vertex.marks else 0
        quiet = line.startswith("(") or bool(look.inside)
        parts.append(_text(line, place.x, y, SMALL, QUIET if quiet else INK))
    return [*parts, "</g>"]


def _path(
    start: tuple[Place, Figure], bends: list[Place], end: tuple[Place, Figure], out: float = 3.0
) -> tuple[str, list[tuple[float, float]]]:
    """The line of an arrow, and the ends of its curves.

    The line is level within each layer of nodes, and bends only between layers.
    """
    (a, first), (b, last) = start, end
    forward = a.x <= b.x
    near = a.x + (first.half_width if forward else -first.half_width)
    far = b.x + (-last.half_width - out if forward else last.half_width + out)
    points = [(near, a.y), (a.right if forward else a.left, a.y)]
    for bend in bends:
        sides = (bend.left, bend.right) if forward else (bend.right, bend.left)
        points += [(sides[0], bend.y), (sides[1], bend.y)]
    points += [(b.left - out if forward else b.right + out, b.y), (far, b.y)]
    text = f"M{_number(points[0][0])} {_number(points[0][1])}"
    for i, ((x0, y0), (x1, y1)) in enumerate(pairwise(points)):
        if i % 2 == 0:
            text += f"H{_number(x1)}" if abs(x1 - x0) > 0.05 else ""
        elif abs(y1 - y0) < 0.05:
            text += f"H{_number(x1)}"
        else:
            middle = _number((x0 + x1) / 2)
            text += (
                f"C{middle} {_number(y0)} {middle} {_number(y1)} {_number(x1)} {_number(y1)}"
            )  # fmt: skip
    return text, points


def _edge(
    edge: Edge, places: list[Place], looks: list[Figure], bends: list[Place], vertices: list[Vertex]
) -> tuple[str, list[str]]:
    """The arrow, and its label with a background to keep it readable."""
    double = 3.0 if "observed" in vertices[edge.target].marks else 0.0
    if edge.source == edge.target:
        p, look = places[edge.source], looks[edge.source]
        x, y = p.x, p.y - look.half_height
        line = f"M{_number(x - 6)} {_number(y)}c-6 -18 18 -18 12 -2"
        points = [(x, y), (x, y)]
    else:
        line, points = _path(
            (places[edge.source], looks[edge.source]),
            bends,
            (places[edge.target], looks[edge.target]),
            2.5 + double,
        )
    dashes = ' stroke-dasharray="5 4"' if edge.dashed else ""
    arrow = f'<path class="edge" d="{line}"{dashes} marker-end="url(#kg-arrow)"/>'
    if not edge.label:
        return arrow, []
    (x0, y0), (x1, y1) = points[-3:-1] if len(points) > 2 else points
    text = shorten(edge.label)
    width = text_width(text, SMALL)
    # A point on the cubic, near the start, where arrows to the same node are apart.
    share = 0.4
    x = x0 + (x1 - x0) * (1.5 * share * (1 - share) + share**3)
    y = y0 + (y1 - y0) * (3 * share**2 - 2 * share**3)
    label = [
        f'<rect x="{_number(x - width / 2 - 1)}" y="{_number(y - 7)}" '
        f'width="{_number(width + 2)}" height="14" fill="#ffffff" fill-opacity="0.85"/>',
        _text(text, x, y + 3.5, SMALL, QUIET),
    ]
    return arrow, label


def _frame(
    diagram: Diagram,
    group: int,
    places: list[Place],
    boxes: list[Box],
    spans: Mapping[int, Span],
) -> tuple[str, float]:
    """The box of a plate with its title, and its right end."""
    members = [i for i, v in enumerate(diagram.vertices) if group in diagram.around(v)]
    levels = max(diagram.around(diagram.vertices[i])[::-1].index(group) for i in members)
    deepest = max(len(diagram.around(v)) for v in diagram.vertices)
    pad = WIDEST_PAD * (levels + 1) / deepest
    left = min(places[i].x - boxes[i].half_width for i in members) - pad
    right = max(places[i].x + boxes[i].half_width for i in members) + pad
    title, span = shorten(diagram.groups[group].title, 60), spans[group + 1]
    right = max(right, left + text_width(title, SMALL) + 16)
    top, bottom = span.top + MARGIN, span.bottom + MARGIN
    return (
        f'<g class="plate"><rect x="{_number(left)}" y="{_number(top)}" '
        f'width="{_number(right - left)}" height="{_number(bottom - top)}" rx="8" fill="{INK}" '
        f'fill-opacity="0.03" stroke="{QUIET}"/>'
        f'<text x="{_number(left + 8)}" y="{_number(top + 14)}" font-size="{SMALL}" '
        f'fill="{QUIET}" font-weight="bold" text-anchor="start">{_escape(title)}</text></g>'
    ), right


def svg(diagram: Diagram) -> str:
    """Write a diagram as SVG, without external fonts, styles or programs."""
    vertices, edges = diagram.vertices, diagram.edges
    looks = [_within(figure(vertex), diagram, vertex) for vertex in vertices]
    labels = [text_width(edge.label, SMALL) if edge.label else 0.0 for edge in edges]
    # An array is kept next to its distribution.
    pulls = [6.0 if edge.dashed else 1.0 for edge in edges]
    ends = [(edge.source, edge.target) for edge in edges]
    # Vertices in groups are in the order of the data flow: only loops lead backwards.
    looping = any(not group.plate for group in diagram.groups)
    back = [looping and edge.source > edge.target for edge in edges]
    boxes = [look.box for look in looks]
    plates = [i for i, group in enumerate(diagram.groups) if group.plate]
    # Either all groups are plates, or none are.
    lanes = [0 if v.group is None else v.group + 1 for v in vertices] if plates else ()
    steps = steps_of(diagram.groups) if plates else [LaneStep("lane", 0)]
    layout = arrange(boxes, ends, labels, pulls, back, lanes, steps)
    places = [
        Place(p.x + MARGIN, p.y + MARGIN, p.left + MARGIN, p.right + MARGIN) for p in layout.nodes
    ]
    bends = [
        [Place(p.x + MARGIN, p.y + MARGIN, p.left + MARGIN, p.right + MARGIN) for p in chain]
        for chain in layout.bends
    ]
    frames = [frame for i in plates if (frame := _frame(diagram, i, places, boxes, layout.spans))]
    ends_of = max([layout.width + 2 * MARGIN, *(right + 4 for _, right in frames)])
    width, height = (_number(round(size, 1)) for size in (ends_of, layout.height + 2 * MARGIN))
    drawn = [
        _edge(edge, places, looks, bend, vertices)
        for edge, bend in zip(edges, bends, strict=True)
    ]  # fmt: skip
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="{_FONT}" text-anchor="middle">',
        '<defs><marker id="kg-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        f'markerHeight="7" orient="auto"><path d="M0 0.5L8 4L0 7.5z" fill="{INK}"/></marker>'
        "</defs>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        *(text for text, _ in frames),
        f'<g fill="none" stroke="{INK}" stroke-width="1">',
        *(arrow for arrow, _ in drawn),
        "</g>",
        *(part for _, label in drawn for part in label),
    ]
    for vertex, look, place in zip(vertices, looks, places, strict=True):
        parts += _node(vertex, look, place)
    return "\n".join([*parts, "</svg>"])
