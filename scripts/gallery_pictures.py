"""Pictures of the gallery; each function takes its page's variables.

Dots are data, lines are posterior medians, bands and bars contain 90 % of the posterior.
"""

from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from scipy.stats import gaussian_kde, norm
from xarray import DataArray

BLUE, ORANGE, GREEN, _ = COLOURS = ["#3b6fb6", "#e07b39", "#4f9d69", "#a8497a"]
INK, GREY, GRID = "#333333", "#cccccc", "#e6e6e6"
INTERVAL = [0.05, 0.5, 0.95]

Variables = dict[str, Any]


def panels(columns: int = 1, height: float = 2.6, **options: Any) -> tuple[Any, list[Any]]:
    """A figure with one row of panels."""
    figure, grid = plt.subplots(
        1, columns, figsize=(7.2, height), layout="constrained", squeeze=False, **options
    )
    for axes in grid[0]:
        axes.tick_params(colors=INK, labelsize=8, length=0)
        axes.spines[:].set_visible(False)
        axes.grid(color=GRID, linewidth=0.8)
        axes.set_axisbelow(True)
    return figure, list(grid[0])


def words(axes: Any, title: str, below: str = "", legend: bool = False) -> None:
    """Title, label of the axis, legend."""
    axes.set_title(title, fontsize=9, color=INK, loc="left")
    axes.set_xlabel(below, fontsize=8, color=INK)
    if legend:
        axes.legend(fontsize=8, labelcolor=INK, frameon=False)


def bounds(draws: Any) -> Any:
    """The three quantiles of draws over chains, (quantile, ...)."""
    return draws.quantile(INTERVAL, ("chain", "draw")).values


def bars(axes: Any, places: Any, draws: Any, colour: str, label: str | None = None) -> None:
    """Medians and intervals at places."""
    low, middle, high = bounds(draws)
    axes.vlines(places, low, high, color=colour, linewidth=2, alpha=0.6)
    axes.plot(places, middle, "o", color=colour, markersize=4, label=label)


def band(axes: Any, x: Any, draws: Any, colour: str, label: str | None = None) -> None:
    """A median and a band along x."""
    low, middle, high = bounds(draws)
    axes.fill_between(x, low, high, color=colour, alpha=0.2, linewidth=0)
    axes.plot(x, middle, color=colour, linewidth=1.5, label=label)


def flat(tree: Any, *names: str) -> list[np.ndarray]:
    """The draws of quantities, over all chains, along the first axis."""
    posterior = tree["posterior"]
    return [posterior[n].values.reshape(-1, *posterior[n].shape[2:]) for n in names]


def priors(v: Variables) -> Any:
    figure, (axes,) = panels()
    places = np.arange(15)
    for i, (prior, draws) in enumerate(v["coefficients"].items()):
        bars(axes, places + (i - 1.5) / 6, draws, COLOURS[i], prior)
    axes.hlines(v["truth"], places - 0.4, places + 0.4, color=INK, linewidth=1.2)
    axes.set_xticks(places)
    words(axes, "coefficients by prior, 90 % intervals; lines: the truth", "column", legend=True)
    return figure


def light(v: Variables) -> Any:
    figure, (left, right) = panels(2)
    times = np.array(v["light"])
    left.hist(times, np.arange(-46, 44, 2), color=BLUE)
    words(left, "66 times", "billionths of a second above 24,800")
    (centre,) = flat(v["newcomb"], "centre")
    x = np.linspace(24, 31, 200)
    right.fill_between(x, gaussian_kde(centre)(x), color=BLUE, alpha=0.5, linewidth=0)
    right.axvline(times.mean(), color=ORANGE, label="mean of all")
    right.axvline(times[times > 0].mean(), color=GREEN, label="mean without the two")
    right.set_yticks([])
    right.set_ylim(0, 1)
    words(right, "posterior of the centre", legend=True)
    return figure


def beetles(v: Variables) -> Any:
    figure, (axes,) = panels()
    for colour, (link, fit) in zip(COLOURS, v["curves"].items(), strict=False):
        band(axes, v["dose"], fit["posterior"]["chance"], colour, link)
    axes.plot(v["dose"], v["killed"] / v["beetles"], "o", color=INK, markersize=4, zorder=3)
    words(axes, "share killed", "log10 of the dose, mg / l", legend=True)
    return figure


def pumps(v: Variables) -> Any:
    figure, (axes,) = panels()
    order = np.argsort(v["failures"] / v["hours"])
    bars(axes, np.arange(10), v["pumps"]["posterior"]["rate"][..., order], BLUE, "posterior")
    seen = (v["failures"] / v["hours"])[order]
    axes.plot(np.arange(10), seen, "_", color=INK, markersize=14, label="failures / hours")
    axes.set_xticks(np.arange(10), [f"{v['hours'][i]:g}" for i in order])
    axes.set_yscale("log")
    words(
        axes, "failures in a thousand hours", "pumps, by the thousands of hours seen", legend=True
    )
    return figure


def rats(v: Variables) -> Any:
    figure, (axes,) = panels()
    days = 22 + v["weeks"]
    axes.plot(days, v["grams"].T, color=INK, linewidth=0.6, alpha=0.5)
    band(axes, days, v["growth"]["predictions"]["another"], BLUE, "another rat")
    axes.set_xticks(days)
    words(axes, "grams", "age in days", legend=True)
    return figure


def cheeses(v: Variables) -> Any:
    figure, grid = panels(4, sharey=True)
    liking, cuts = flat(v["cheeses"], "liking", "cuts")
    liking = np.concatenate([liking, np.zeros((len(liking), 1))], axis=1)
    for i, axes in enumerate(grid):
        below = 1 / (1 + np.exp(liking[:, i, None] - cuts))
        chances = np.diff(below, axis=1, prepend=0, append=1)
        low, middle, high = np.quantile(chances, INTERVAL, axis=0)
        axes.bar(np.arange(1, 10), np.array(v["tasted"][i]) / 52, color=GREY)
        axes.vlines(np.arange(1, 10), low, high, color=BLUE, linewidth=2, alpha=0.6)
        axes.plot(np.arange(1, 10), middle, "o", color=BLUE, markersize=3)
        axes.set_xticks([1, 5, 9])
        words(axes, f"cheese {'ABCD'[i]}", "taste")
    return figure


def remissions(v: Variables) -> Any:
    figure, (axes,) = panels()
    form, level, effect = (x[:, None] for x in flat(v["gehan"], "form", "level", "effect"))
    t = np.linspace(0, 36, 100)
    for treated, colour, label in ((1, BLUE, "drug"), (0, ORANGE, "placebo")):
        share = np.exp(-((t / np.exp(level + effect * treated)) ** form))
        low, middle, high = np.quantile(share, INTERVAL, axis=0)
        axes.fill_between(t, low, high, color=colour, alpha=0.2, linewidth=0)
        axes.plot(t, middle, color=colour, linewidth=1.5, label=label)
        mine = v["treated"] == treated
        weeks, ended = v["weeks"][mine], np.isinf(v["last_seen"][mine])
        at = np.unique(weeks[ended])
        left = [1 - (ended & (weeks == w)).sum() / (weeks >= w).sum() for w in at]
        x, y = np.r_[0, at, weeks.max()], np.r_[1, np.cumprod(left), np.prod(left)]
        axes.step(x, y, where="post", color=colour, linewidth=1)
    axes.set_ylim(0)
    words(axes, "share in remission; steps: Kaplan and Meier", "weeks", legend=True)
    return figure


def test(v: Variables) -> Any:
    figure, (axes,) = panels()
    right = v["patterns"].sum(1)
    chance = 1000 * v["test"]["posterior"]["chance"].values
    drawn = np.stack([chance[..., right == n].sum(-1) for n in range(6)], axis=-1)
    low, middle, high = np.quantile(drawn, INTERVAL, axis=(0, 1))
    axes.bar(range(6), np.bincount(right, v["people"]), color=GREY, label="people")
    axes.vlines(range(6), low, high, color=BLUE, linewidth=2, alpha=0.6)
    axes.plot(range(6), middle, "o", color=BLUE, markersize=4, label="expected")
    words(axes, "people by their right answers", "right answers of five")
    axes.legend(fontsize=8, labelcolor=INK, frameon=False, loc="upper left")
    return figure


def ozone(v: Variables) -> Any:
    figure, (axes,) = panels()
    days = np.arange(1, 32)
    axes.plot(days, v["ozone"], "o", color=INK, markersize=3)
    gone = np.isnan(v["ozone"])
    bars(axes, days[gone], np.exp(v["air"]["posterior"]["log_ozone"][..., gone]), BLUE, "missing")
    axes.set_yscale("log")
    words(axes, "ozone, parts in a billion", "day of May 1973", legend=True)
    return figure


def galaxies(v: Variables) -> Any:
    figure, (axes,) = panels()
    share, centre, spread = flat(v["clusters"], "share", "centre", "spread")
    x = np.linspace(5, 39, 300)
    density = sum(
        share[::8, k, None] * norm.pdf(x, centre[::8, k, None], spread[::8, k, None])
        for k in range(3)
    )
    low, middle, high = np.quantile(density, INTERVAL, axis=0)
    axes.hist(v["speed"], np.arange(5, 40), density=True, color=GREY)
    axes.fill_between(x, low, high, color=BLUE, alpha=0.3, linewidth=0)
    axes.plot(x, middle, color=BLUE, linewidth=1.5)
    words(axes, "galaxies and the density of the mixture", "speed, 1000 km / s")
    return figure


def quakes(v: Variables) -> Any:
    figure, (axes,) = panels()
    years = np.arange(1900, 2007)
    quiet, busy = flat(v["earth"], "quiet", "busy")
    chance = v["earth"]["posterior"]["state"].mean(("chain", "draw")).values
    axes.bar(years, 45 * chance, width=1, color=ORANGE, alpha=0.25, label="chance of a busy time")
    mean = quiet.mean() + chance * (busy.mean() - quiet.mean())
    axes.plot(years, mean, color=BLUE, linewidth=1.5, label="expected")
    axes.plot(years, v["counts"], "o", color=INK, markersize=3)
    axes.set_ylim(0, 45)
    words(axes, "large earthquakes by year", legend=True)
    return figure


def change(v: Variables) -> Any:
    figure, (axes,) = panels()
    years, posterior = v["years"], v["change"]["posterior"]
    chance = np.bincount(posterior["last"].values.ravel(), minlength=100) / posterior["last"].size
    mean = np.where(
        np.arange(100) <= posterior["last"].values[..., None],
        posterior["before"].values[..., None],
        posterior["after"].values[..., None],
    )
    low, middle, high = np.quantile(mean, INTERVAL, axis=(0, 1))
    axes.fill_between(years, low, high, color=BLUE, alpha=0.3, linewidth=0)
    axes.plot(years, middle, color=BLUE, linewidth=1.5, label="mean")
    axes.bar(years, 1400 * chance, width=1, color=ORANGE, alpha=0.5, label="chance to be the last")
    axes.plot(years, v["flow"], "o", color=INK, markersize=3)
    axes.set_ylim(0, 1400)
    words(axes, "flow of the Nile, 10$^8$ m$^3$ a year", legend=True)
    return figure


def river(v: Variables) -> Any:
    figure, (axes,) = panels()
    axes.plot(v["years"], v["flow"], "o", color=INK, markersize=3)
    band(axes, v["years"], v["river"]["predictions"]["level"], BLUE, "level, by the years so far")
    axes.set_ylim(0, 1400)
    words(axes, "flow of the Nile, 10$^8$ m$^3$ a year", legend=True)
    return figure


def dippers(v: Variables) -> Any:
    figure, (axes,) = panels()
    survival, seen = flat(v["dippers"], "survival", "seen")
    x = np.linspace(0.3, 1, 300)
    labels = ("survives a year", "survives a year of floods", "is seen")
    for draws, colour, label in zip((*survival.T, seen), COLOURS, labels, strict=False):
        axes.fill_between(
            x, gaussian_kde(draws)(x), color=colour, alpha=0.5, linewidth=0, label=label
        )
    for estimate in (0.607, 0.469, 0.900):
        axes.axvline(estimate, color=INK, linewidth=0.8)
    axes.set_yticks([])
    words(axes, "posteriors; lines: maximum likelihood", "probability", legend=True)
    return figure


def occupancy(v: Variables) -> Any:
    figure, (axes,) = panels()
    inhabited = v["sites"]["posterior"]["inhabited"].values.ravel().astype(int)
    chance = np.bincount(inhabited, minlength=40) / len(inhabited)
    axes.bar(np.arange(40), chance, color=BLUE)
    axes.axvline((v["visits"] > 0).sum(), color=INK, linewidth=1, label="found")
    axes.set_xlim(15, 40)
    words(axes, "probability", "inhabited sites of 39", legend=True)
    return figure


def mines(v: Variables) -> Any:
    figure, (axes,) = panels()
    rate = ((v["mines"]["predictions"]["curve"] / 2) ** 2 - 3 / 8) / 4
    band(axes, v["grid"], rate, BLUE)
    axes.plot(v["middles"], v["accidents"] / 4, "o", color=INK, markersize=3)
    words(axes, "accidents a year")
    return figure


def blood(v: Variables) -> Any:
    figure, (axes,) = panels()
    band(axes, np.linspace(0, 25, 101), v["blood"]["posterior"]["curve"], BLUE)
    axes.plot(v["hours"], v["found"], "o", color=INK, markersize=3)
    words(axes, "theophylline, mg / l", "hours")
    return figure


def seeds(v: Variables) -> Any:
    figure, (axes,) = panels()
    groups = 2 * v["cucumber"] + v["kind"]
    order = np.argsort(groups, kind="stable")
    chance = v["seeds"]["posterior"]["chance"]
    for i, label in enumerate(("bean, 1st kind", "bean, 2nd", "cucumber, 1st", "cucumber, 2nd")):
        mine = np.flatnonzero(groups[order] == i)
        bars(axes, mine, chance[..., order[mine]], COLOURS[i], label)
    axes.plot(range(21), (v["grown"] / v["sown"])[order], "_", color=INK, markersize=12)
    words(axes, "share of seeds that grew; lines: seen", "plate")
    axes.set_xticks(range(21))
    axes.legend(fontsize=8, labelcolor=INK, frameon=False, loc="lower right", ncols=2)
    return figure


def ability(v: Variables) -> Any:
    figure, (axes,) = panels()
    bars(axes, range(6), v["ability"]["posterior"]["loading"], BLUE, "posterior")
    axes.plot(
        range(6),
        [0.682, 0.384, 0.502, 0.300, 0.877, 0.849],
        "_",
        color=INK,
        markersize=16,
        label="maximum likelihood",
    )
    axes.set_xticks(range(6), v["tests"])
    axes.set_ylim(0)
    words(axes, "loading", legend=True)
    return figure


def species(v: Variables) -> Any:
    figure, (axes,) = panels()
    order = np.argsort(v["common"][:, 0])
    bars(axes, range(12), v["species"]["posterior"]["occupied"][..., order], BLUE, "posterior")
    axes.plot(range(12), v["common"][order, 0], "_", color=ORANGE, markersize=16, label="truth")
    seen = (v["visits"] > 0).mean(1)[order]
    axes.plot(range(12), seen, "_", color=INK, markersize=16, label="seen")
    axes.set_ylim(0, 1)
    axes.set_xticks(range(12))
    words(axes, "share of ponds", "species", legend=True)
    return figure


def spikes(v: Variables) -> Any:
    figure, (left, right) = panels(2)
    posterior = v["spikes"]["posterior"]
    bars(left, range(15), posterior["b"], BLUE, "posterior")
    left.plot(range(15), v["truth"], "_", color=ORANGE, markersize=12, label="truth")
    words(left, "coefficients", "column", legend=True)
    right.bar(range(15), posterior["slab"].mean(("chain", "draw")), color=BLUE)
    right.set_ylim(0, 1)
    words(right, "chance of the slab", "column")
    return figure


def irises(v: Variables) -> Any:
    figure, (axes,) = panels(height=3)
    posterior = v["irises"]["posterior"]
    for k, name in enumerate(("setosa", "versicolor", "virginica")):
        width, length = v["width"][v["species"] == k], v["length"][v["species"] == k]
        axes.plot(width, length, "o", color=COLOURS[k], markersize=3, alpha=0.6)
        x = np.linspace(width.min(), width.max(), 20)
        centred = DataArray(x - v["width"].mean(), dims="x")
        lines = posterior["level"][..., k] + posterior["slope"] * centred
        band(axes, x, lines, COLOURS[k], name)
    words(axes, "length of the sepal, cm", "its width, cm", legend=True)
    return figure


def network(v: Variables) -> Any:
    figure, (axes,) = panels()
    band(axes, v["grid"], v["network"]["posterior"]["curve"], BLUE, "network")
    axes.plot(v["x"], v["y"], "o", color=INK, markersize=3)
    axes.plot(v["grid"], np.sin(2 * v["grid"]), color=ORANGE, label="truth")
    words(axes, "curve", "x", legend=True)
    return figure


def lips(v: Variables) -> Any:
    figure, (axes,) = panels()
    raw = v["cases"] / v["expected"]
    order = np.argsort(raw)
    risk = v["lips"]["posterior"]["risk"]
    bars(axes, range(56), risk[..., order], BLUE, "risk of the model, with 90 %")
    axes.plot(range(56), raw[order], "_", color=ORANGE, markersize=6, label="cases / expected")
    words(axes, "risk", "district, by cases / expected", legend=True)
    return figure


def ponds(v: Variables) -> Any:
    figure, (axes,) = panels()
    bars(axes, range(8), v["ponds"]["posterior"]["slope"], BLUE, "posterior")
    axes.plot(range(8), v["true_slope"], "_", color=ORANGE, markersize=16, label="truth")
    axes.set_xticks(range(8))
    words(axes, "slope by depth", "species", legend=True)
    return figure
