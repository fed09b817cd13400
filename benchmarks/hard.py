"""Default runs of hierarchies, funnels and other curved posteriors.

    python benchmarks/hard.py                             # all models, 20 seeds each
    python benchmarks/hard.py --models rugby --seeds 5
    python benchmarks/hard.py --sampler "kg.samplers.NUTS(target_acceptance=0.9)"

Each run is `kg.mcmc(model, seed=s)`. A run is clean if it ends without a warning. The effective
sample size is the least bulk ESS of an unknown, by 1,000 gradients; the gradients of warm-up count.
"""

import argparse
import collections
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import reliability
from environments import machine
from records import record

import kinetograph as kg

HERE = Path(__file__).resolve().parent


def eight_schools_centred() -> kg.Model:
    """The hierarchy as written in a textbook."""
    y = np.array([28.0, 8, -3, 7, -1, 1, 18, 12])
    sd = np.array([15.0, 10, 16, 11, 9, 11, 10, 18])
    mu, tau = kg.normal(0, 5, name="mu"), kg.half_cauchy(5, name="tau")
    theta = kg.normal(mu, tau, shape=8, name="theta")
    kg.observe(kg.data(y, name="y"), kg.normal(theta, sd))
    return kg.model(mu, tau, theta)


def rugby(centred: bool = False) -> kg.Model:
    """60 matches of six teams: attack and defence of each team."""
    rng = np.random.default_rng(1)
    home, away = np.array([(i, j) for i in range(6) for j in range(6) if i != j] * 2).T
    attack, defence = (
        np.array(a) for a in ([0.3, 0.2, 0.1, 0, -0.2, -0.4], [0.25] * 3 + [-0.25] * 3)
    )
    points = [
        rng.poisson(np.exp(2.9 + 0.2 + attack[home] - defence[away])),
        rng.poisson(np.exp(2.9 + attack[away] - defence[home])),
    ]
    advantage, intercept = kg.normal(0, 1, name="advantage"), kg.normal(3, 1, name="intercept")
    sds = kg.half_student(3, 2.5, shape=2, name="sds")
    if centred:
        raw = z = kg.normal(0, sds[:, None], shape=(2, 6), name="raw")
    else:
        z = kg.normal(0, 1, shape=(2, 6), name="z")
        raw = sds[:, None] * z
    effects = raw - kg.mean(raw, axis=1, keepdims=True)
    rates = (
        kg.exp(intercept + advantage + effects[0][home] - effects[1][away]),
        kg.exp(intercept + effects[0][away] - effects[1][home]),
    )
    for name, seen, rate in zip(("home", "away"), points, rates, strict=True):
        kg.observe(kg.data(seen, name=name), kg.poisson(rate))
    return kg.model(advantage, intercept, sds, z)


def rugby_centred() -> kg.Model:
    """The same matches, with effects that are not scaled afterwards."""
    return rugby(centred=True)


def radon(centred: bool) -> kg.Model:
    """Radon in 85 counties, with effects of counties."""
    rows = json.loads((HERE / "data" / "radon_mn.json").read_text())
    county = np.array(rows["county_idx"]) - 1
    mu, sd = kg.normal(0, 10, name="mu"), kg.half_normal(5, name="sd")
    slope, sigma = kg.normal(0, 10, name="slope"), kg.half_normal(5, name="sigma")
    if centred:
        effect = alpha = kg.normal(mu, sd, shape=85, name="alpha")
    else:
        effect = kg.normal(0, 1, shape=85, name="z")
        alpha = mu + sd * effect
    floor = kg.data(np.array(rows["floor_measure"], float), name="floor")
    kg.observe(
        kg.data(rows["log_radon"], name="y"), kg.normal(alpha[county] + slope * floor, sigma)
    )
    return kg.model(mu, sd, slope, sigma, effect)


def regression() -> kg.Model:
    """434 rows and three coefficients of different scales."""
    rng = np.random.default_rng(2)
    x = np.column_stack([np.ones(434), rng.random(434) < 0.8, rng.normal(100, 15, 434)])
    y = x @ [25.0, 6.0, 0.6] + 18 * rng.normal(size=434)
    beta, sigma = kg.normal(0, 100, shape=3, name="beta"), kg.half_cauchy(2.5, name="sigma")
    kg.observe(kg.data(y, name="y"), kg.normal(kg.data(x, name="x") @ beta, sigma))
    return kg.model(beta, sigma)


def funnel(size: int) -> kg.Model:
    """Neal's funnel."""
    omega = kg.normal(0, 3, name="omega")
    x = kg.normal(0, kg.exp(omega / 2), shape=size - 1, name="x")
    return kg.model(omega, x)


def horseshoe() -> kg.Model:
    """A regularised horseshoe: 50 predictors, 5 of them relevant."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(100, 50))
    y = x[:, :5] @ [2.0, -1.5, 1.0, 0.8, -0.6] + rng.normal(size=100)
    sigma = kg.half_normal(2, name="sigma")
    tau = kg.half_cauchy(0.1, name="tau")
    lambdas = kg.half_cauchy(1, shape=50, name="lambdas")
    c2 = kg.inverse_gamma(2, 8, name="c2")
    z = kg.normal(0, 1, shape=50, name="z")
    scale = kg.sqrt(c2 * lambdas**2 / (c2 + tau**2 * lambdas**2))
    beta = tau * scale * z
    kg.observe(kg.data(y, name="y"), kg.normal(kg.data(x, name="x") @ beta, sigma))
    return kg.model(sigma, tau, lambdas, c2, z)


def measurement_error() -> kg.Model:
    """A regression on a predictor that is measured with errors."""
    rng = np.random.default_rng(4)
    true = rng.normal(1, 2, 100)
    x, y = true + rng.normal(size=100), 0.5 + 1.5 * true + 0.5 * rng.normal(size=100)
    mu, tau = kg.normal(0, 5, name="mu"), kg.half_normal(5, name="tau")
    a, b = kg.normal(0, 5, name="a"), kg.normal(0, 5, name="b")
    sigma = kg.half_normal(2, name="sigma")
    latent = kg.normal(mu, tau, shape=100, name="latent")
    kg.observe(kg.data(x, name="x"), kg.normal(latent, 1.0))
    kg.observe(kg.data(y, name="y"), kg.normal(a + b * latent, sigma))
    return kg.model(mu, tau, a, b, sigma, latent)


def gp_counts_by_value() -> kg.Model:
    """The Gaussian process with counts, as a multivariate normal."""
    x = np.linspace(-10, 10, 11)
    counts = np.array([40, 37, 29, 12, 4, 3, 9, 19, 77, 82, 33])
    rho, alpha = kg.gamma(25, 4, name="rho"), kg.half_normal(2, name="alpha")
    squares = (x[:, None] - x) ** 2
    covariance = alpha**2 * kg.exp(-squares / (2 * rho**2)) + 1e-10 * np.eye(11)
    f = kg.multivariate_normal(np.zeros(11), covariance, name="f")
    kg.observe(kg.data(counts, name="k"), kg.poisson(kg.exp(f)))
    return kg.model(rho, alpha, f)


def volatility(length: int) -> kg.Model:
    """Returns whose log volatility is an autoregressive process."""
    rng = np.random.default_rng(11)
    h = np.zeros(length)
    for t in range(1, length):
        h[t] = 0.95 * h[t - 1] + 0.25 * rng.normal()
    y = kg.data(np.exp(h / 2 - 0.5) * rng.normal(size=length), name="y")
    mu, phi = kg.normal(0, 5, name="mu"), kg.beta(20, 1.5, name="phi")
    sigma = kg.half_normal(1, name="sigma")
    spread = sigma / kg.sqrt(1 - phi**2)
    log_variance = kg.ar(
        phi, sigma, length, constant=mu * (1 - phi), init_mean=mu, init_sd=spread, name="h"
    )
    kg.observe(y, kg.normal(0, kg.exp(log_variance / 2)))
    return kg.model(mu, phi, sigma, log_variance)


def volatility_of_rows(numbers: bool) -> kg.Model:
    """A log volatility with predictors, by a vector or numbers of steps."""
    rng, length = np.random.default_rng(11), 100
    h = np.zeros(length)
    for t in range(1, length):
        h[t] = 0.95 * h[t - 1] + 0.25 * rng.normal()
    y, x = np.exp(h / 2 - 0.5) * rng.normal(size=length), rng.normal(size=(length, 2))
    mu, phi = kg.normal(0, 5, name="mu"), kg.beta(20, 1.5, name="phi")
    sigma, beta = kg.half_normal(1, name="sigma"), kg.normal(0, 1, shape=2, name="beta")
    z = None if numbers else kg.normal(0, 1, shape=length, name="z")
    state, eta = 0.0, []
    for t in range(length):
        spread = sigma if t else sigma / kg.sqrt(1 - phi**2)
        state = phi * state + spread * (kg.normal(0, 1) if z is None else z[t])
        eta.append(mu + x[t] @ beta + state)
    kg.observe(y, kg.normal(0, kg.exp(kg.stack(eta) / 2)))
    return kg.model(mu, phi, sigma, beta)


def trend_of_counts() -> kg.Model:
    """Counts whose log rate is a level with a slope that changes."""
    rng, length = np.random.default_rng(5), 80
    counts = rng.poisson(np.exp(1 + np.cumsum(0.1 * rng.normal(size=length) + 0.02)))
    sds = kg.half_normal(0.3, name="sd"), kg.half_normal(0.1, name="slope_sd")
    start, slope = kg.normal(0, 2, name="start"), kg.normal(0, 0.1, name="slope")
    z, steps = (kg.normal(0, 1, shape=length - 1) for _ in range(2))
    slopes = slope + kg.cumsum(sds[1] * steps)
    level = kg.concatenate([start[None], start + kg.cumsum(slopes + sds[0] * z)])
    kg.observe(counts, kg.poisson(kg.exp(level)))
    return kg.model(*sds, start, slope)


def counts_of_second_order() -> kg.Model:
    """Counts whose log rate is an autoregression of order 2."""
    rng, length = np.random.default_rng(5), 80
    counts = rng.poisson(np.exp(1 + np.cumsum(0.1 * rng.normal(size=length) + 0.02)))
    mu, sd = kg.normal(0, 2, name="mu"), kg.half_normal(0.3, name="sd")
    rho = kg.stack([kg.uniform(0, 1, name="first"), kg.uniform(-0.5, 0.2, name="second")])
    kg.observe(counts, kg.poisson(kg.exp(mu + kg.ar(rho, sd, length))))
    return kg.model(mu, sd, rho)


def season(length: int, period: int) -> kg.Model:
    """A level and a season that change, by unknown numbers."""
    rng = np.random.default_rng(1)
    level, season = np.cumsum(rng.normal(0, 0.3, length)), rng.normal(0, 1, period)
    y = level + np.resize(season - season.mean(), length) + rng.normal(0, 0.5, length)
    sds = [kg.half_normal(1, name=name) for name in ("level_sd", "season_sd", "noise")]
    levels, seasons = [kg.normal(0, 2)], [kg.normal(0, 1) for _ in range(period - 1)]
    for _ in range(1, length):
        levels.append(kg.normal(levels[-1], sds[0]))
    for _ in range(period - 1, length):
        seasons.append(kg.normal(-sum(seasons[1 - period :]), sds[1]))
    kg.observe(y, kg.normal(kg.stack(levels) + kg.stack(seasons), sds[2]))
    return kg.model(*sds)


def slopes(centred: bool) -> kg.Model:
    """Correlated intercepts and slopes of 30 groups of 8 rows."""
    rng = np.random.default_rng(0)
    group, x = np.repeat(np.arange(30), 8), rng.normal(size=240)
    true = rng.multivariate_normal([1.0, 0.5], [[0.5, 0.2], [0.2, 0.3]], size=30)
    y = true[group, 0] + true[group, 1] * x + rng.normal(size=240)
    mu, sd = kg.normal(0, 5, shape=2, name="mu"), kg.half_normal(2, shape=2, name="sd")
    factor, sigma = kg.lkj_cholesky(2.0, 2, name="factor"), kg.half_normal(2, name="sigma")
    if centred:
        mean = mu * np.ones((30, 2))
        unknown = effects = kg.multivariate_normal(mean, chol=sd[:, None] * factor, name="effects")
    else:
        unknown = kg.normal(0, 1, shape=(30, 2), name="z")
        effects = mu + (unknown @ factor.T) * sd
    kg.observe(kg.data(y, name="y"), kg.normal(effects[group, 0] + effects[group, 1] * x, sigma))
    return kg.model(mu, sd, sigma, unknown, correlation=(factor @ factor.T)[0, 1])


def few_groups(family: str) -> kg.Model:
    """Intercepts and slopes of four groups, by a formula."""
    rng = np.random.default_rng(0)
    group, x = rng.integers(0, 4, 200), rng.normal(size=200)
    eta = rng.normal(0.3, 0.6, 4)[group] + rng.normal(-0.5, 0.4, 4)[group] * x
    if family == "bernoulli":
        y = (rng.random(200) < 1 / (1 + np.exp(-eta))).astype(float)
    else:
        y = eta + 0.5 * rng.normal(size=200)
    frame = pd.DataFrame({"x": x, "g": np.array(list("abcd"))[group], "y": y})
    return kg.formula("y ~ x + (1 + x | g)", frame, family=family)


def crossed() -> kg.Model:
    """A logistic regression with effects of two groups, by a formula."""
    rng = np.random.default_rng(3)
    a, b, x = rng.integers(0, 10, 300), rng.integers(0, 15, 300), rng.normal(size=300)
    eta = 0.3 + 0.5 * x + rng.normal(0, 0.7, 10)[a] + rng.normal(0, 0.5, 15)[b]
    y = (rng.random(300) < 1 / (1 + np.exp(-eta))).astype(int)
    frame = pd.DataFrame({"x": x, "a": a.astype(str), "b": b.astype(str), "y": y})
    return kg.formula("y ~ x + (1 | a) + (1 | b)", frame, family="bernoulli")


def smooth_counts(rows: int, level: float) -> kg.Model:
    """Counts about an approximate Gaussian process of 20 functions."""
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(0, 10, rows))
    y = rng.poisson(level * np.exp(np.sin(x) + 0.5))

    def build() -> Any:
        length, sd = kg.inverse_gamma(5, 5, name="length"), kg.half_normal(1, name="sd")
        f = kg.gp.Hilbert(kg.gp.matern52(length, sd), x, basis=20).values
        b = kg.normal(0, 2, name="b")
        kg.observe(y, kg.poisson(kg.exp(b + f)), name="y")
        return length, sd, b

    return kg.model(build)


def meta_analysis() -> kg.Model:
    """Log odds ratios of 13 trials with random effects."""
    rng = np.random.default_rng(5)
    sd = rng.uniform(0.1, 0.8, 13)
    y = rng.normal(-0.7, 0.5, 13) + sd * rng.normal(size=13)
    mu, tau = kg.normal(0, 2, name="mu"), kg.half_normal(1, name="tau")
    z = kg.normal(0, 1, shape=13, name="z")
    kg.observe(kg.data(y, name="y"), kg.normal(mu + tau * z, sd))
    return kg.model(mu, tau, z)


def seeds() -> kg.Model:
    """Germinated seeds on 21 plates, with effects of plates (BUGS, volume 1)."""
    grown = [10, 23, 23, 26, 17, 5, 53, 55, 32, 46, 10, 8, 10, 8, 23, 0, 3, 22, 15, 32, 3]
    sown = [39, 62, 81, 51, 39, 6, 74, 72, 51, 79, 13, 16, 30, 28, 45, 4, 12, 41, 30, 51, 7]
    kind = np.arange(21) >= 11
    root = np.isin(np.arange(21), [5, 6, 7, 8, 9, 10, 16, 17, 18, 19, 20])
    design = np.stack([np.ones(21), kind, root, kind & root], axis=1)
    b, spread = kg.normal(0, 10, shape=4, name="b"), kg.half_normal(1, name="spread")
    plate = kg.normal(0, 1, shape=21, name="plate")
    kg.observe(kg.data(grown, name="y"), kg.binomial(sown, kg.ilogit(design @ b + spread * plate)))
    return kg.model(b, spread, plate)


def disease_map(mixed: bool) -> kg.Model:
    """Counts of 64 areas by BYM, or by BYM2 if `mixed`."""
    rng = np.random.default_rng(6)
    places = np.array([(i, j) for i in range(8) for j in range(8)])
    distance = np.abs(places[:, None] - places).sum(-1)
    expected = rng.uniform(2, 30, 64)
    risk = 0.4 * np.sin(places[:, 0] / 2) + rng.normal(0, 0.2, 64)
    y = kg.data(rng.poisson(expected * np.exp(risk)), name="y")
    intercept = kg.normal(0, 1, name="intercept")
    neighbours = kg.gp.icar(distance == 1, scaled=True, name="neighbours")
    areas = kg.normal(0, 1, shape=64, name="areas")
    if mixed:
        sd, share = kg.half_normal(1, name="sd"), kg.beta(0.5, 0.5, name="share")
        effect = sd * (kg.sqrt(1 - share) * areas + kg.sqrt(share) * neighbours)
    else:
        sd = kg.half_normal(1, shape=2, name="sd")
        effect = sd[0] * areas + sd[1] * neighbours
    kg.observe(y, kg.poisson(expected * kg.exp(intercept + effect)))
    return kg.model(intercept, sd, effect)


MODELS: dict[str, Callable[[], kg.Model]] = {
    "eight schools": reliability.eight_schools,
    "eight schools, centred": eight_schools_centred,
    "rugby": rugby,
    "rugby, centred": rugby_centred,
    "radon": lambda: radon(centred=False),
    "radon, centred": lambda: radon(centred=True),
    "regression": regression,
    "logistic": reliability.logistic,
    "uncentred": reliability.uncentred,
    "student": reliability.student,
    "counts": reliability.counts,
    "garch": reliability.garch,
    "mixture": reliability.mixture,
    "meta-analysis": meta_analysis,
    "stochastic volatility": reliability.stochastic_volatility,
    "volatility, kg.ar": lambda: volatility(100),
    "volatility, kg.ar, 500": lambda: volatility(500),
    "volatility of rows": lambda: volatility_of_rows(numbers=False),
    "volatility of rows, by numbers": lambda: volatility_of_rows(numbers=True),
    "trend of counts": trend_of_counts,
    "order 2, counts": counts_of_second_order,
    "season of 4": lambda: season(80, 4),
    "season of 7": lambda: season(120, 7),
    "season of 12": lambda: season(144, 12),
    "gp counts": reliability.gp_counts,
    "gp counts, by value": gp_counts_by_value,
    "slopes": lambda: slopes(centred=False),
    "slopes, centred": lambda: slopes(centred=True),
    "few groups": lambda: few_groups("gaussian"),
    "few groups, logistic": lambda: few_groups("bernoulli"),
    "crossed": crossed,
    "seeds": seeds,
    "smooth counts": lambda: smooth_counts(100, 1.0),
    "smooth counts, many": lambda: smooth_counts(200, 20.0),
    "disease map, BYM": lambda: disease_map(mixed=False),
    "disease map, BYM2": lambda: disease_map(mixed=True),
    "horseshoe": horseshoe,
    "measurement error": measurement_error,
    "funnel 10": lambda: funnel(10),
    "funnel 100": lambda: funnel(100),
}


def varying(draws: np.ndarray) -> np.ndarray:
    """The elements that are not the same in all draws."""
    rows = draws.reshape(*draws.shape[:2], -1)
    return rows[..., (rows != rows[:1, :1]).any((0, 1))]


def run(model: kg.Model, sampler: Any, seed: int) -> dict[str, Any]:
    """One default run."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tree = kg.mcmc(model, sampler, seed=seed, progress=False)
    posterior, stats = tree["posterior"], tree["sample_stats"]
    draws = {str(name): varying(variable.values) for name, variable in posterior.items()}
    worst = reliability.scored(draws)
    gradients = int(tree["sampler_state"]["gradients"].sum())
    return {
        "clean": not any(issubclass(w.category, kg.SamplingWarning) for w in caught),
        "divergences": int(stats["diverging"].sum()),
        "rhat": worst["rhat"],
        "ess": 1000 * worst["ess_bulk"] / gradients,
        "ess_tail": 1000 * worst["ess_tail"] / gradients,
        "gradients": gradients / len(posterior["chain"]),
        "warmup": float(np.mean(tree.attrs["warmup"])),
        "target": float(np.mean(tree["sampler_state"]["hyper_target_acceptance"])),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=list(MODELS))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--sampler", default=None, help="an expression; by default NUTS")
    parser.add_argument("--write", action="store_true", help="keep the table in results/")
    args = parser.parse_args()
    sampler = None if args.sampler is None else eval(args.sampler, {"kg": kg})
    head = ["model", "clean", "divergences", "R-hat", "ESS", "tail ESS", "gradients", "target"]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    print("\n".join(lines))
    for name in args.models:
        model, found = MODELS[name](), collections.defaultdict(list)
        for seed in range(args.first, args.first + args.seeds):
            for key, value in run(model, sampler, seed).items():
                found[key].append(value)
        mean = {key: float(np.mean(values)) for key, values in found.items()}
        cells = [
            name,
            f"{sum(found['clean'])} of {args.seeds}",
            str(sum(found["divergences"])),
            f"{max(found['rhat']):.3f}",
            f"{mean['ess']:.3g}",
            f"{mean['ess_tail']:.3g}",
            f"{mean['gradients']:.0f}",
            f"{mean['target']:.2f}",
        ]
        lines.append("| " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    if args.write:
        here = machine()
        text = f"{here['cpu']}, {here['cores']} cores."
        record("hard", "\n".join(["# Default runs of hard models", "", text, "", *lines]))


if __name__ == "__main__":
    main()
