"""Plot the exact step-size errors of Langevin schemes on the harmonic oscillator.

    python examples/plot_step_errors.py OUT.svg

Both axes are logarithmic. The slope of a line is the order of the scheme for that average. An exact
average has no line.
"""

import sys
from typing import Any

import matplotlib
import numpy as np

import kinetograph as kg

matplotlib.use("Agg")
import matplotlib.pyplot as plt

INK, GRID = "#333333", "#e6e6e6"
FRICTION = 1.0
STEPS = np.geomspace(0.02, 1.2, 40)
SCHEMES = {
    "SGLD": ("SGLD", "#a8497a", "-"),
    "SGHMC": ("SGHMC", "#8a6d3b", "-"),
    "GLA1": ("GLA1", "#e07b39", "-"),
    "GLA2, OBABO": ("GLA2", "#3b6fb6", "-"),
    "BAOAB": ("BAOAB", "#4f9d69", "-"),
    "ABOBA": ("ABOBA", "#333333", "--"),
    "UBU": ("UBU", "#5b5b8c", ":"),
    "LM": ("LM", "#999999", "-"),
}
EXACT = 1e-12  # below this an error is the rounding of the closed form


def errors(scheme: str, what: str) -> np.ndarray:
    """|<what^2> - 1| at each step size.

    NaN if the average is undefined or exact, or the scheme is unstable.
    """
    values = np.full(len(STEPS), np.nan)
    for i, h in enumerate(STEPS):
        try:
            law = kg.laws.oscillator(scheme, step_size=h, friction=FRICTION)
        except ValueError:  # not stable
            continue
        if what in law.names and abs(law.moment(what, what) - 1) > EXACT:
            values[i] = abs(law.moment(what, what) - 1)
    return values


def draw() -> Any:
    """The whole figure."""
    figure, panels = plt.subplots(1, 2, figsize=(9, 3.8), sharey=True, layout="constrained")
    for axes, what, title in zip(
        panels, ("q", "p"), ("positions: error of ⟨q²⟩", "momenta: error of ⟨p²⟩"), strict=True
    ):
        exact = []
        for name, (scheme, colour, style) in SCHEMES.items():
            values = errors(scheme, what)
            if np.isfinite(values).any():
                axes.plot(STEPS, values, style, color=colour, linewidth=1.6, label=name)
            elif what in kg.laws.oscillator(scheme, 0.1, friction=FRICTION).names:
                exact.append(name)
        axes.legend(
            title=f"exact: {', '.join(exact)}",
            loc="lower right",
            fontsize=8,
            title_fontsize=8,
            alignment="left",
            labelcolor=INK,
            framealpha=1.0,
            edgecolor="none",
        )
        axes.set_title(title, fontsize=10, color=INK, loc="left")
        axes.set_xlabel("step size", fontsize=9, color=INK)
        axes.set(xscale="log", yscale="log", xlim=(STEPS[0], STEPS[-1]), ylim=(1e-5, 1))
        axes.tick_params(colors=INK, labelsize=8, length=0, which="both")
        axes.spines[:].set_visible(False)
        axes.grid(color=GRID, linewidth=0.8)
    return figure


def main(target: str) -> None:
    """Write the picture, with reproducible bytes."""
    plt.rcParams["svg.hashsalt"] = "kinetograph"
    draw().savefig(target, metadata={"Date": None} if target.endswith(".svg") else None, dpi=150)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python examples/plot_step_errors.py OUT.svg")
    main(sys.argv[1])
