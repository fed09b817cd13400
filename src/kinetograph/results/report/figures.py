"""Small figures of matplotlib as SVG within a page, in its colours.

The SVG of matplotlib is made smaller: metadata, names and invisible decimals are removed. Colours
are written as special numbers, which are replaced by variables of the page's style. The variables
differ between light and dark.
"""

import io
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from itertools import count
from typing import Any

__all__ = ["BAD", "INK", "INSTALL", "MUTED", "PALE", "Studio", "chain_colour", "open_studio"]

INSTALL = "pip install matplotlib"
SHOWN = 8  # chains with a separate colour
INK, PALE, BAD, MUTED = "#01020a", "#01020b", "#01020c", "#01020d"
_CHAINS = [f"#01020{i}" for i in range(SHOWN)]
_VARIABLES = {INK: "ink", PALE: "rule", BAD: "bad", MUTED: "muted"} | {
    colour: f"c{i}" for i, colour in enumerate(_CHAINS)
}
_SETTINGS = {
    "svg.fonttype": "none",
    "font.size": 9,
    "axes.labelsize": 9,
    "axes.edgecolor": PALE,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.formatter.limits": (-4, 5),
    "axes.formatter.use_mathtext": False,
    "axes.unicode_minus": False,
    "text.color": INK,
    "text.parse_math": False,  # names may contain a $
    "xtick.color": PALE,
    "ytick.color": PALE,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "lines.solid_capstyle": "butt",
}


def chain_colour(place: int) -> str:
    """The colour of a chain by its index; later chains share one."""
    return _CHAINS[place] if place < SHOWN else MUTED


class Studio:
    """Draws figures whose SVG share no names on a page."""

    def __init__(self, kind: Any) -> None:
        self._kind, self._number = kind, count()

    def figure(
        self,
        label: str,
        paint: Callable[[Any], None],
        size: tuple[float, float] = (3.9, 2.1),
        labelled: bool = False,
    ) -> str:
        """The SVG of a figure that `paint` draws on axes.

        `label` is the text for readers who cannot see it.
        """
        figure = self._kind(figsize=size)
        # Margins in inches, because an automatic layout takes long.
        left, below = (0.62, 0.5) if labelled else (0.48, 0.26)
        width, height = size
        axes = figure.add_axes(
            (left / width, below / height, 1 - (left + 0.1) / width, 1 - (below + 0.14) / height)
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # letters missing in this font are in the reader's
            paint(axes)
            file = io.StringIO()
            blank = dict.fromkeys(("Date", "Creator", "Format", "Type"))
            figure.savefig(file, format="svg", transparent=True, metadata=blank)
        return _inline(file.getvalue(), f"f{next(self._number)}", label)


@contextmanager
def open_studio() -> Iterator[Studio | None]:
    """A studio with default settings of matplotlib; None without matplotlib."""
    try:
        from matplotlib import style
        from matplotlib.figure import Figure
    except ImportError:
        yield None
        return
    with style.context(["default", _SETTINGS]):
        yield Studio(Figure)


def _inline(text: str, name: str, label: str) -> str:
    """SVG that can be part of a page."""
    text = text[text.index("<svg") :]
    text = re.sub(r"<style.*?</style>", "", text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    used = set(re.findall(r"#(\w+)\)?\"", text))
    new_id = lambda m: f' id="{name}-{m[1]}"' if m[1] in used else ""
    text = re.sub(r' id="([^"]*)"', new_id, text)
    text = re.sub(r'xlink:href="#(\w+)"', rf'href="#{name}-\1"', text)
    text = re.sub(r"url\(#(\w+)\)", rf"url(#{name}-\1)", text)
    text = re.sub(r'( d="[^"]*")', lambda m: _shorter(m[1]), text)
    text = re.sub(r"font-family:[^;\"]*", "font-family: inherit", text)
    text = re.sub(r"font: ([\d.]+px)[^;\"]*", r"font-size: \1; font-family: inherit", text)
    for colour, variable in _VARIABLES.items():
        text = text.replace(colour, f"var(--{variable})")
    box = re.search(r'viewBox="[^"]*"', text)
    head = f'<svg class="figure" role="img" aria-label="{escape(label)}" {box[0] if box else ""}>'
    return head + re.sub(r"\s*\n\s*", "\n", text[text.index(">") + 1 :].strip())


def _shorter(path: str) -> str:
    path = re.sub(r"(\d\.\d)\d+", r"\1", path)
    return re.sub(r"\s*([MLCQz])\s*", r"\1", path)
