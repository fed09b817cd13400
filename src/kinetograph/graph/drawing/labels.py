"""Labels of nodes, and colours, for Mermaid, DOT and SVG."""

import colorsys

from .diagram import Vertex
from .listing import one_line

__all__ = ["BASE", "GREY", "INK", "PALE", "QUIET", "label_lines", "shorten", "tint", "wrap"]

BASE = "#996bc7"
INK = "#2b2233"  # text and arrows
GREY = "#d3d3d3"
QUIET = "#6b6375"
WIDEST = 28  # characters of a line
MOST_LINES = 3


def tint(colour: str, strength: float) -> str:
    """Mix a colour with white; strength 0 is white."""
    red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    hue, lightness, saturation = colorsys.rgb_to_hls(red, green, blue)
    mixed = colorsys.hls_to_rgb(hue, 1 - strength * (1 - lightness), saturation)
    return "#" + "".join(f"{round(255 * c):02x}" for c in mixed)


PALE = tint(BASE, 0.3)


def shorten(text: str, width: int = WIDEST) -> str:
    """Put a text on one line, and cut it to a width."""
    text = one_line(text)
    return text if len(text) <= width else text[: width - 1].rstrip() + "…"


def wrap(text: str, width: int = WIDEST, most: int = MOST_LINES) -> list[str]:
    """Break a text into lines at spaces; cut off further lines."""
    lines: list[str] = []
    for word in text.split():
        if lines and len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] += " " + word
        else:
            lines.append(word)
    if len(lines) > most:
        lines = [*lines[: most - 1], lines[most - 1] + " …"]
    return [shorten(line, width) for line in lines]


def label_lines(vertex: Vertex) -> list[str]:
    """The lines on a node: its name, expression and size."""
    lines = [shorten(vertex.name)] if vertex.name else []
    caption = vertex.caption
    if caption and vertex.name and vertex.kind == "operation":
        caption = f"= {caption}"
    lines += wrap(caption)
    # For a node with neither a name nor a caption, the size alone would be confusing.
    if vertex.kind != "distribution" and vertex.size_text and lines:
        lines.append(f"({vertex.size_text})")
    return lines
