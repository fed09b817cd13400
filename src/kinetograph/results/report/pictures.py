"""The pictures of a report, drawn on the axes of each figure.

trace       the draws in their order, by chain; divergences are marked at the bottom
density     a kernel density estimate by chain; for whole numbers the frequency of each, and for
            positive values with a long tail the density of their logarithms
ranks       the share of each twentieth of all draws in a chain: flat if the chains agree
running     the effective sample size by the number of draws
energy      marginal and transition energy
pair        two scalars, with divergences marked
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import diagnostics
from .figures import BAD, INK, MUTED, PALE, SHOWN, chain_colour

__all__ = [
    "density",
    "energy",
    "logarithmic",
    "pair",
    "ranks",
    "running",
    "sizes_on_the_way",
    "trace",
]

POINTS = 4000  # in a picture
LARGEST = 1e100  # larger numbers are treated as infinite
BINS = 20
GRID = 200
REACH = 40.0  # the distance, in widths of a kernel, at which it is 0
ROUNDING = 1e-12  # draws with a smaller relative difference count as equal
_OUTER = (0.005, 0.995)  # the quantiles between which a density is drawn
_FAR = 100.0  # a positive scalar with a larger ratio of values has a logarithmic axis
_FEW = 12  # up to this number of different whole numbers, each has a label


def _drawable(values: np.ndarray) -> np.ndarray:
    return values[np.isfinite(values) & (np.abs(values) < LARGEST)]


def _thin(values: np.ndarray, most: int) -> np.ndarray:
    return values[..., :: max(1, -(-values.shape[-1] // max(most, 1)))]


def _axes(axes: Any) -> None:
    axes.tick_params(length=3)


def logarithmic(values: np.ndarray) -> bool:
    """Whether a logarithmic axis suits the draws: positive with a long tail."""
    from scipy.stats import skew

    drawable = _drawable(np.ravel(values))
    if len(drawable) < 4 or drawable.min() <= 0:
        return False
    low, high = np.quantile(drawable, _OUTER)
    return bool(high > _FAR * low and abs(skew(np.log(drawable))) < abs(skew(drawable)) / 2)


def _logarithms(axes: Any, axis: str) -> None:
    getattr(axes, f"set_{axis}scale")("log")
    ticks = getattr(axes, f"{axis}axis")
    ticks.set_major_formatter(lambda value, _: f"{value:g}")
    ticks.set_minor_formatter(lambda *_: "")


def trace(
    axes: Any,
    values: np.ndarray,
    every: int,
    walkers: int = 1,
    bad: Sequence[int] | np.ndarray = (),
) -> None:
    """Draws (chain, draw), with marks at the draws that diverged.

    The walkers of an ensemble have no order, so they are drawn as points.
    """
    chains, length = values.shape
    _axes(axes)
    draws_of_chain = max(POINTS // max(chains, 1), 50)
    indices = _thin(np.arange(length), draws_of_chain)
    finite = np.where(np.abs(values[:, indices]) < LARGEST, values[:, indices], np.nan)
    for chain in reversed(range(chains)):
        colour = chain_colour(chain // walkers)
        line: dict[str, Any] = {"linewidth": 0.7, "alpha": 0.75}
        if walkers > 1 or length == 1:
            line = {"linestyle": "", "marker": ".", "markersize": 1.5, "alpha": 0.6}
        axes.plot(indices * every, finite[chain], color=colour, **line)
    if len(bad):
        below = axes.get_xaxis_transform()  # y = 0 is the lower edge
        marks = {"marker": "|", "markersize": 5, "markeredgewidth": 0.8, "color": BAD}
        axes.plot(bad, np.zeros(len(bad)), linestyle="", transform=below, clip_on=False, **marks)
    if logarithmic(values):
        _logarithms(axes, "y")
    axes.set_xlim(0, max((length - 1) * every, 1))


def density(axes: Any, chains: np.ndarray, whole: bool) -> None:
    """Densities of rows of draws."""
    _axes(axes)
    axes.spines["left"].set_visible(False)
    axes.set_yticks([])
    pooled = _drawable(chains.ravel())
    if not len(pooled) or np.ptp(pooled) <= ROUNDING * np.abs(pooled).max():
        text = f"always {pooled[0]:.6g}" if len(pooled) else "no finite draws"
        axes.set_xticks([])
        axes.text(0.5, 0.5, text, ha="center", va="center", transform=axes.transAxes, color=INK)
        return
    if whole:
        _counts(axes, chains, pooled)
    elif logarithmic(pooled):
        with np.errstate(all="ignore"):
            _smooth(axes, np.log(chains), np.log(pooled), np.exp)
        _logarithms(axes, "x")
    else:
        _smooth(axes, chains, pooled)
    axes.set_ylim(bottom=0)


def _counts(axes: Any, chains: np.ndarray, pooled: np.ndarray) -> None:
    levels = np.unique(pooled)
    if len(levels) > BINS:
        edges = np.histogram_bin_edges(pooled, BINS)
    else:
        edges = np.append(levels - 0.5, levels[-1] + 0.5)
        gaps = np.flatnonzero(np.diff(levels) > 1)
        edges = np.sort(np.concatenate([edges, levels[gaps] + 0.5]))
    if len(levels) <= _FEW:
        axes.set_xticks(levels)
    for place in reversed(range(len(chains))):
        share = np.histogram(_drawable(chains[place]), edges)[0] / max(chains.shape[1], 1)
        axes.stairs(share, edges, color=chain_colour(place), linewidth=1.2)
    if pooled.min() >= 0:
        axes.set_xlim(left=min(0, edges[0]))


def _smooth(
    axes: Any,
    chains: np.ndarray,
    pooled: np.ndarray,
    back: Callable[[np.ndarray], np.ndarray] | None = None,
) -> None:
    """Kernel estimates, one for each row.

    They are reflected at 0 if the draws end there. `back` transforms the positions back, if the
    draws were transformed.
    """
    low, high = np.quantile(pooled, _OUTER)
    if not high > low:
        low, high = pooled.min(), pooled.max()
    margin = 0.08 * (high - low)
    ends = back is None and pooled.min() >= 0 and low - 4 * margin < 0
    grid = np.linspace(0.0 if ends else low - margin, high + margin, GRID)
    for place in reversed(range(len(chains))):
        values = _thin(_drawable(chains[place]), POINTS)
        if len(values) > 1 and np.ptp(values) > ROUNDING * np.abs(values).max():
            estimate = _estimate(values, grid, ends)
            positions = grid if back is None else back(grid)
            axes.plot(positions, estimate, color=chain_colour(place), linewidth=1.2)
    edges = grid[[0, -1]] if back is None else back(grid[[0, -1]])
    axes.set_xlim(*edges)


def _estimate(values: np.ndarray, grid: np.ndarray, ends: bool) -> np.ndarray:
    """A density estimate with normal kernels of Silverman's width.

    Distant draws do not widen the kernels.
    """
    from scipy.stats import gaussian_kde

    origin, length = grid[0], grid[-1] - grid[0]
    values, places = (values - origin) / length, (grid - origin) / length
    with np.errstate(all="ignore"):
        spread = values.std(ddof=1)
    quarters = np.subtract(*np.quantile(values, (0.75, 0.25))) / 1.34
    width = 0.9 * (min(spread, quarters) if quarters > 0 else spread) * len(values) ** -0.2
    width = max(width, 0.5 / GRID)
    near_values = values[np.abs(values - 0.5) < 1.0 + REACH * width]  # the rest is not visible
    if len(near_values) < 2 or not np.ptp(near_values) > 0:
        return np.zeros_like(grid)
    kernel = gaussian_kde(near_values, width / near_values.std(ddof=1))
    density_values: np.ndarray = kernel(places) + (kernel(-places) if ends else 0.0)
    return density_values * (len(near_values) / len(values) / length)


def ranks(axes: Any, chains: np.ndarray) -> None:
    """Histograms of the ranks among all draws, relative to the expected counts."""
    from scipy.stats import rankdata

    _axes(axes)
    count, length = chains.shape
    ranks_of_draws = rankdata(chains, nan_policy="omit").reshape(chains.shape)
    edges = np.linspace(0.5, chains.size + 0.5, min(BINS, max(length // 5, 1)) + 1)
    axes.axhline(1.0, color=INK, linewidth=0.8, linestyle=(0, (4, 3)))
    for chain in reversed(range(count)):
        share = np.histogram(ranks_of_draws[chain], edges)[0] * (len(edges) - 1) / length
        positions = np.linspace(0, 1, len(edges))
        axes.stairs(share, positions, baseline=None, color=chain_colour(chain), linewidth=1.2)
    axes.set_xlim(0, 1)
    axes.set_ylim(bottom=0)


def sizes_on_the_way(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Bulk effective sample sizes of the first draws, and their numbers."""
    length = values.shape[1]
    counts = np.unique(np.linspace(length / 10, length, 10).astype(int))
    with np.errstate(all="ignore"):
        sizes = [float(diagnostics.ess_bulk(values[:, :n])) if n >= 4 else np.nan for n in counts]
    return counts, np.array(sizes)


def running(
    axes: Any, sizes_by_draws: Sequence[tuple[np.ndarray, np.ndarray]], enough: float
) -> None:
    """Effective sample sizes by the number of draws, and the wanted size."""
    _axes(axes)
    axes.axhline(enough, color=INK, linewidth=0.8, linestyle=(0, (4, 3)))
    for place, (counts, sizes) in reversed(list(enumerate(sizes_by_draws))):
        axes.plot(counts, sizes, color=chain_colour(place), linewidth=1.2, marker=".")
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)


def energy(axes: Any, values: np.ndarray) -> None:
    """The energy about its mean, and its changes from draw to draw."""
    _axes(axes)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    marginal = _drawable((values - values.mean(1, keepdims=True)).ravel())
    changes = _drawable(np.diff(values, axis=1).ravel())
    low, high = np.quantile(np.concatenate([marginal, changes]), (0.001, 0.999))
    edges = np.linspace(low, high, 50) if high > low else np.linspace(low - 1, low + 1, 50)
    for part, colour, filled in ((marginal, MUTED, True), (changes, chain_colour(0), False)):
        share = np.histogram(part, edges)[0] / max(len(part), 1)
        axes.stairs(share, edges, color=colour, fill=filled, linewidth=1.4)
    axes.set_ylim(bottom=0)


def pair(
    axes: Any, names: Sequence[str], usual: Sequence[np.ndarray], bad: Sequence[np.ndarray]
) -> None:
    """Points of two scalars, with divergences on top of other draws."""
    _axes(axes)
    axes.grid(color=PALE, linewidth=0.4)
    for points, colour, size in ((usual, MUTED, 2.0), (bad, BAD, 4.0)):
        axes.plot(*points, linestyle="", marker=".", markersize=size, color=colour, alpha=0.7)
    for axis, name, both in zip("xy", names, zip(usual, bad, strict=True), strict=True):
        getattr(axes, f"set_{axis}label")(name if len(name) <= SHOWN * 4 else f"{name[:30]}…")
        values = _drawable(np.concatenate(both))
        if len(values) and values.min() > 0 and values.max() / values.min() > _FAR:
            _logarithms(axes, axis)
        elif len(values) and values.min() >= 0 and values.min() < 0.1 * values.max():
            getattr(axes, f"set_{axis}lim")(**{"left" if axis == "x" else "bottom": 0})
