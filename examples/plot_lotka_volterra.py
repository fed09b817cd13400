"""Plot hares and lynxes: the counts and the posterior predictive bands.

    python examples/plot_lotka_volterra.py OUT.png

Dark bands contain the expected number with 90 % probability, light bands a count.
"""

import sys
from typing import Any

import matplotlib
import numpy as np
from lotka_volterra import growth, initial, model, pelts, rate, start

import kinetograph as kg

matplotlib.use("Agg")
import matplotlib.pyplot as plt

COLOURS = {"hare": "#3b6fb6", "lynx": "#e07b39"}
INK, GRID = "#333333", "#e6e6e6"
DRAWS = 2000


def curves(posterior: Any, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Expected and simulated numbers (draw, time, species) for some posterior draws."""
    expected = kg.compile([rate, start], kg.ode.solve(growth, start, times))
    draws = (posterior[name].values for name in ("rate", "start", "noise"))
    rates, starts, sds = (
        v.reshape(-1, v.shape[-1])[:: v.shape[0] * v.shape[1] // DRAWS] for v in draws
    )
    mean = np.stack([expected(r, s) for r, s in zip(rates, starts, strict=True)])
    # One deviation for all times: each marginal is right, and the bands are smooth.
    normal = np.random.default_rng(1).normal(size=sds.shape)
    return mean, mean * np.exp(sds * normal)[:, None]


def draw(posterior: Any) -> Any:
    """The whole figure."""
    times = np.linspace(0, 20, 201)
    mean, simulated = curves(posterior, times)
    figure, rows = plt.subplots(2, 1, figsize=(8, 5), sharex=True, layout="constrained")
    observed = np.vstack([pelts["y_init"], pelts["y"]])
    years = 1900 + np.arange(len(observed))
    for i, (axes, (name, colour)) in enumerate(zip(rows, COLOURS.items(), strict=True)):
        for values, alpha in ((simulated, 0.15), (mean, 0.4)):
            low, high = np.quantile(values[:, :, i], [0.05, 0.95], axis=0)
            axes.fill_between(1900 + times, low, high, color=colour, alpha=alpha, linewidth=0)
        axes.plot(1900 + times, np.median(mean[:, :, i], axis=0), color=colour, linewidth=1.5)
        axes.plot(years, observed[:, i], "o", color=INK, markersize=4, zorder=3)
        axes.set_title(f"{name} pelts, thousands", fontsize=9, color=INK, loc="left")
        axes.set_ylim(0)
        axes.set_xlim(1899.7, 1920.3)
        axes.set_xticks(range(1900, 1921, 5))
        axes.tick_params(colors=INK, labelsize=8, length=0)
        axes.spines[:].set_visible(False)
        axes.grid(color=GRID, linewidth=0.8)
        axes.set_axisbelow(True)
    return figure


def main(target: str) -> None:
    """Sample the model and write the picture."""
    tree = kg.mcmc(model, warmup=1000, initial=initial, seed=1)
    draw(tree["posterior"].dataset).savefig(target, dpi=150)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python examples/plot_lotka_volterra.py OUT.png")
    main(sys.argv[1])
