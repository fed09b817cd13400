"""Draw the pictures of the pages about networks.

They show the results of the pages.
python scripts/draw_neural.py [landscape] [spiral] [step_size]
"""

import sys
from pathlib import Path
from typing import Any

import matplotlib

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]
matplotlib.use("Agg")

from gallery_pictures import BLUE, COLOURS, INK, ORANGE, panels, words  # noqa: E402
from tests.docs.pages import run_page  # noqa: E402


def shaded(axes: Any, across: Any, up: Any, values: Any, ticks: list[float], **how: Any) -> None:
    """Filled contours with a bar."""
    axes.grid(False)
    shades = axes.contourf(across, up, values, **how)
    bar = axes.figure.colorbar(shades, ax=axes, ticks=ticks)
    bar.ax.tick_params(labelsize=8, colors=INK)
    bar.outline.set_visible(False)


def landscape(v: dict[str, Any]) -> Any:
    """The loss on the plane of the page, and along both paths."""
    figure, (left, right) = panels(2, 3.2)
    surface = v["surface"]
    ticks = [0.2, 0.6, 1.0, 1.4]
    shaded(left, surface.c0, surface.c1, surface.loss.T, ticks, levels=24, cmap="Greys")
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


def spiral(v: dict[str, Any]) -> Any:
    """The mean probability, and its standard deviation."""
    figure, (left, right) = panels(2, 3.2)
    axis, points, labels = v["axis"], v["spiral"].x, v["spiral"].y[:, 0]
    side = len(axis)
    colours = matplotlib.colors.LinearSegmentedColormap.from_list("", [BLUE, "white", ORANGE])
    mean, sd = (v[name].reshape(side, side) for name in ("mean", "sd"))
    levels = [i / 20 for i in range(21)]
    shaded(left, axis, axis, mean, [0, 0.5, 1], levels=levels, cmap=colours)
    shaded(right, axis, axis, sd, [0, 0.2, 0.4], levels=20, cmap="Greys")
    for axes in (left, right):
        for label, colour in ((-1, BLUE), (1, ORANGE)):
            at = points[labels == label]
            axes.plot(*at.T, "o", color=colour, markersize=2.5, markeredgecolor=INK, mew=0.3)
        axes.set_aspect("equal")
    words(left, "mean probability of the orange class", "x1")
    words(right, "standard deviation of the probability", "x1")
    return figure


def step_size(v: dict[str, Any]) -> Any:
    """The errors of the samplers by the step."""
    figure, (axes,) = panels(1, 3.0)
    for (name, values), colour in zip(v["errors"].items(), COLOURS, strict=True):
        axes.plot(v["steps"], values, "o-", color=colour, markersize=4, linewidth=1.5, label=name)
    axes.set_xticks(v["steps"])
    words(axes, "relative error of the virial", "step h; of SGLD h² / 2", legend=True)
    return figure


PAGES = {
    landscape: "neural-landscapes.md",
    spiral: "neural-spiral.md",
    step_size: "neural-step-size.md",
}

if __name__ == "__main__":
    for draw, page in PAGES.items():
        if sys.argv[1:] and draw.__name__ not in sys.argv[1:]:
            continue
        variables: dict[str, Any] = {}
        for _ in run_page(ROOT / "docs" / page, variables):
            pass
        draw(variables).savefig(ROOT / "docs" / "images" / f"{draw.__name__}.png", dpi=100)
