"""Plot the posterior of a run: densities and traces of each chain.

    python examples/plot_posterior.py IN.nc OUT.png

Chains that agree have equal densities on the left and similar noise on the right.
"""

import sys
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import xarray as xr
from scipy.stats import gaussian_kde

matplotlib.use("Agg")
import matplotlib.pyplot as plt

MOST = 12  # rows; further quantities are not shown
COLOURS = ["#3b6fb6", "#e07b39", "#4f9d69", "#a8497a", "#8a6d3b", "#5b5b8c"]
INK, GRID = "#333333", "#e6e6e6"


def quantities(posterior: xr.Dataset) -> list[tuple[str, np.ndarray]]:
    """The scalar quantities with their draws, (chain, draw)."""
    draws_by_label = []
    for name, variable in posterior.data_vars.items():
        dims = variable.dims[2:]
        for place in np.ndindex(*variable.shape[2:]):
            labels = [str(variable[d].values[i]) for d, i in zip(dims, place, strict=True)]
            label = f"{name}[{', '.join(labels)}]" if labels else str(name)
            draws_by_label.append((label, variable.values[(..., *place)]))
    return draws_by_label


def limits(rows: list[tuple[str, np.ndarray]]) -> list[tuple[float, float]]:
    """The range that each row shows.

    This is the central 99 % of the draws, extended to 0 where it begins near 0. The elements of an
    array share a range, so that they can be compared, unless it is much wider than their own.
    """
    central = [tuple(np.quantile(draws, [0.005, 0.995])) for _, draws in rows]
    shown = []
    for (name, _), (low, high) in zip(rows, central, strict=True):
        base = name.partition("[")[0]
        peers = [
            r
            for (other, _), r in zip(rows, central, strict=True)
            if other.partition("[")[0] == base
        ]
        bottom, top = min(r[0] for r in peers), max(r[1] for r in peers)
        widest = max(r[1] - r[0] for r in peers)
        shown.append((bottom, top) if top - bottom < 3 * widest else (low, high))
    return [(0.0 if 0 < low < 0.1 * high else low, high) for low, high in shown]


def density(draws: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """A kernel density estimate, reflected at a grid start of 0."""
    estimate = gaussian_kde(draws)
    folded = estimate(-grid) if grid[0] == 0 and draws.min() >= 0 else 0.0
    return np.asarray(estimate(grid) + folded)


def draw_density(axes: Any, draws: np.ndarray, low: float, high: float) -> None:
    """Plot one density per chain, the median and the 90 % interval."""
    grid = np.linspace(low, high, 256)
    for chain, colour in zip(draws, COLOURS * len(draws), strict=False):
        if np.ptp(chain) > 0:  # a chain that never moved has no density
            axes.plot(grid, density(chain, grid), color=colour, linewidth=1.2, alpha=0.9)
    q5, q50, q95 = np.quantile(draws, [0.05, 0.5, 0.95])
    line = {"color": INK, "clip_on": False, "zorder": 3}
    axes.plot([q5, q95], [0, 0], linewidth=2.5, solid_capstyle="round", **line)
    axes.plot(q50, 0, "o", markerfacecolor="white", markersize=4.5, **line)
    axes.set_xlim(low, high)
    axes.set_ylim(0)
    axes.set_yticks([])
    axes.locator_params(axis="x", nbins=7)


def draw_trace(axes: Any, draws: np.ndarray) -> None:
    """Plot the draws of each chain in order."""
    for chain, colour in zip(draws, COLOURS * len(draws), strict=False):
        axes.plot(chain, color=colour, linewidth=0.3, alpha=0.7)
    axes.set_xlim(0, draws.shape[1])
    axes.yaxis.tick_right()
    axes.locator_params(axis="y", nbins=3)


def draw_key(axes: Any, chains: int) -> None:
    """Draw the legend of the chains; many chains share colours."""
    numbers = [", ".join(map(str, range(chains)[i :: len(COLOURS)])) for i in range(len(COLOURS))]
    handles = [
        axes.plot([], color=colour, label=f"chain {number}" if number[0] == "0" else number)[0]
        for colour, number in zip(COLOURS[:chains], numbers, strict=False)
    ]
    axes.legend(
        handles=handles,
        ncols=len(handles),
        loc="lower right",
        bbox_to_anchor=(1, 1.04),
        borderaxespad=0,
        frameon=False,
        fontsize=8,
        handlelength=1.2,
        columnspacing=1.2,
        labelcolor=INK,
    )


def draw(posterior: xr.Dataset) -> Any:
    """The whole figure."""
    everything = [(name, draws) for name, draws in quantities(posterior) if np.ptp(draws) > 0]
    rows = everything[:MOST]
    figure, grid = plt.subplots(
        len(rows),
        2,
        figsize=(9, 0.72 * len(rows) + 0.8),
        width_ratios=[1, 1.4],
        squeeze=False,
        layout="constrained",
    )
    for (left, right), (name, draws), shown in zip(grid, rows, limits(rows), strict=True):
        draw_density(left, draws, *shown)
        draw_trace(right, draws)
        left.set_ylabel(name, rotation=0, ha="right", va="center", color=INK, fontsize=9)
        for axes in (left, right):
            axes.tick_params(colors=INK, labelsize=7, length=0)
            axes.spines[:].set_visible(False)
            axes.set_axisbelow(True)
        left.grid(axis="x", color=GRID, linewidth=0.8)
        right.grid(axis="y", color=GRID, linewidth=0.8)
    for right in grid[:-1, 1]:
        right.tick_params(labelbottom=False)
    chains, length = rows[0][1].shape
    title = {"fontsize": 9, "color": INK, "loc": "left", "pad": 8}
    grid[0, 0].set_title("density by chain, median, 90 % interval", **title)
    grid[0, 1].set_title(f"{length} draws of {chains} chains, in order", **title)
    draw_key(grid[0, 1], chains)
    left_out = len(everything) - len(rows)
    if left_out:
        figure.supxlabel(f"{left_out} further quantities not shown", fontsize=8, color=INK)
    return figure


def main(source: str, target: str) -> None:
    """Read results and write the picture."""
    if not Path(source).is_file():
        sys.exit(f"plot_posterior: the file {source} does not exist")
    with xr.open_datatree(source, engine="h5netcdf") as tree:
        figure = draw(tree["posterior"].dataset.load())
    figure.savefig(target, dpi=150)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python examples/plot_posterior.py IN.nc OUT.png")
    main(sys.argv[1], sys.argv[2])
