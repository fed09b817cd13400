"""Plot the outbreak: the counts, their predictions, and the last day.

    python examples/plot_outbreak.py OUT.png

Dark bands contain the expected number with 90 % probability, light bands a count.
"""

import sys
from typing import Any

import matplotlib
import numpy as np
from outbreak import DAYS, cases, initial, last_day, model, outbreak

import kinetograph as kg

matplotlib.use("Agg")
import matplotlib.pyplot as plt

COLOUR, INK, GRID = "#3b6fb6", "#333333", "#e6e6e6"
DRAWS, SHOWN = 1000, 160  # draws of the posterior; days


def thinned(posterior: Any, *names: str) -> np.ndarray:
    """Draws of quantities, (draw, quantity)."""
    draws = np.stack([posterior[name].values.ravel() for name in names], axis=-1)
    return draws[:: len(draws) // DRAWS]


def draw_cases(axes: Any, posterior: Any) -> None:
    """Plot the counts, and bands for observed and future days."""
    unknowns = thinned(posterior, "before", "after", "alarm", "first")
    mean = np.stack([outbreak(*draw, SHOWN)[0] for draw in unknowns])
    simulated = np.random.default_rng(1).poisson(mean)
    days = np.arange(SHOWN)
    for values, alpha in ((simulated, 0.15), (mean, 0.4)):
        low, high = np.quantile(values, [0.05, 0.95], axis=0)
        axes.fill_between(days, low, high, color=COLOUR, alpha=alpha, linewidth=0)
    axes.plot(days, np.median(mean, axis=0), color=COLOUR, linewidth=1.5)
    axes.plot(days[:DAYS], cases, "o", color=INK, markersize=3, zorder=3)
    low, middle, high = np.quantile(posterior["closed"], [0.05, 0.5, 0.95])
    axes.axvspan(low, high, color=INK, alpha=0.25, linewidth=0)
    text = f"schools close: day {middle:.1f}, with 90 % probability {low:.1f} to {high:.1f}"
    axes.text(high + 2, axes.get_ylim()[1], text, va="top", fontsize=8, color=INK)
    axes.set_title("new cases a day", fontsize=9, color=INK, loc="left")


def draw_last_day(axes: Any, posterior: Any) -> None:
    """Plot the distribution of the last day."""
    last = np.array([last_day(*draw) for draw in thinned(posterior, "after", "healthy", "ill")])
    edges = np.arange(DAYS, SHOWN + 1, 5)
    axes.hist(last, edges, weights=np.full(len(last), 100 / len(last)), color=COLOUR, rwidth=0.9)
    low, middle, high = np.quantile(last, [0.05, 0.5, 0.95])
    axes.plot([low, high], [0, 0], color=INK, linewidth=2.5, clip_on=False, zorder=3)
    axes.plot(middle, 0, "o", color=INK, markerfacecolor="white", clip_on=False, zorder=4)
    title = f"last recovery: probability per 5 days, %; median day {middle:.0f}"
    axes.set_title(title, fontsize=9, color=INK, loc="left")
    axes.locator_params(axis="y", nbins=4, integer=True)
    axes.set_xlabel("day", fontsize=9, color=INK)


def draw(posterior: Any) -> Any:
    """The whole figure."""
    figure, rows = plt.subplots(
        2, 1, figsize=(8, 5), sharex=True, height_ratios=[2, 1], layout="constrained"
    )
    draw_cases(rows[0], posterior)
    draw_last_day(rows[1], posterior)
    for axes in rows:
        axes.set_ylim(0)
        axes.set_xlim(-1, SHOWN)
        axes.tick_params(colors=INK, labelsize=8, length=0)
        axes.spines[:].set_visible(False)
        axes.grid(color=GRID, linewidth=0.8)
        axes.set_axisbelow(True)
    return figure


def main(target: str) -> None:
    """Sample the model and write the picture."""
    tree = kg.mcmc(model, draws=2000, initial=initial, seed=1)
    draw(tree["posterior"].dataset).savefig(target, dpi=150)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python examples/plot_outbreak.py OUT.png")
    main(sys.argv[1])
