"""Draw the picture of docs/neural-landscapes.md from the results of the page.

python scripts/draw_landscape.py
"""

import sys
from pathlib import Path
from typing import Any

import matplotlib

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]
matplotlib.use("Agg")

from gallery_pictures import BLUE, INK, ORANGE, panels, words  # noqa: E402
from tests.docs.pages import run_page  # noqa: E402


def landscape(v: dict[str, Any]) -> Any:
    """The loss on the plane of the page, and along both paths."""
    figure, (left, right) = panels(2, 3.2)
    left.grid(False)
    surface = v["surface"]
    shades = left.contourf(surface.c0, surface.c1, surface.loss.T, 24, cmap="Greys")
    bar = figure.colorbar(shades, ax=left, ticks=[0.2, 0.6, 1.0, 1.4])
    bar.ax.tick_params(labelsize=8, colors=INK)
    bar.outline.set_visible(False)
    ends = v["rows"].isel(row=[0, -1])
    left.plot(ends.c0, ends.c1, color=ORANGE, linewidth=1.5)
    left.plot(v["rows"].c0, v["rows"].c1, color=BLUE, linewidth=1.5)
    left.plot(ends.c0, ends.c1, "o", color=INK, markersize=5)
    words(left, "loss on a plane through two minima", "c0")
    for name, colour in (("straight", ORANGE), ("relaxed", BLUE)):
        line = v[name]
        right.plot(line.distance / line.distance[-1], line.loss, color=colour, label=name)
    right.set_ylim(0)
    words(right, "loss along the paths", "part of the path's length", legend=True)
    return figure


if __name__ == "__main__":
    variables: dict[str, Any] = {}
    for _ in run_page(ROOT / "docs" / "neural-landscapes.md", variables):
        pass
    landscape(variables).savefig(ROOT / "docs" / "images" / "landscape.png", dpi=100)
