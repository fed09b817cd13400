"""Formula models in kinetograph and bambi: the same posteriors.

    python benchmarks/formulas.py all FOLDER [SEED]   all that follows, in an environment with bambi

    python benchmarks/formulas.py data FOLDER [SEED]  writes the data of the models
    BAMBI_PYTHON benchmarks/formulas.py bambi FOLDER  samples in an environment that has bambi
    python benchmarks/formulas.py compare FOLDER      samples here, and prints the comparison

All models have bambi's default priors, so that both libraries state the same posterior. For each
scalar unknown, z = (mean - other mean) / sqrt(mcse^2 + other mcse^2). Under equality, the
largest |z| exceeds 4.5 with a probability below 0.001. An ordinary run takes three minutes here
and fifteen with bambi.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

DRAWS = 2000
# Name: formula and formula in bambi, family and family in bambi, pairs of names here and in bambi.
# An empty text in bambi's place stands for the same text.
MODELS = {
    "regression": ("y ~ x + z", "", "gaussian", "", "b_x x, b_z z, b_Intercept Intercept"),
    "categories": ("y ~ x + h", "", "gaussian", "", "b_x x, b_h h, sigma sigma"),
    "student": ("y ~ x", "", "student", "t", "b_x x, sigma sigma, nu nu"),
    "logistic": ("b ~ x + z", "", "bernoulli", "", "b_x x, b_z z, b_Intercept Intercept"),
    "groups": ("y ~ x + (1 | g)", "", "gaussian", "", "b_x x, sd_g 1|g_sigma, sigma sigma"),
    "slopes": ("y ~ x + (1 + x || g)", "y ~ x + (1 + x | g)", "gaussian", "", "b_x x, sigma sigma"),
    "poisson": ("count ~ x + (1 | g)", "", "poisson", "", "b_x x, sd_g 1|g_sigma"),
    "negbinomial": ("count ~ x", "", "negbinomial", "negativebinomial", "b_x x, shape alpha"),
    "gamma": ("positive ~ x", "", "gamma", "", "b_x x, shape alpha"),
    "beta": ("share ~ x", "", "beta", "", "b_x x, phi kappa"),
    "binomial": ("wins | trials(9) ~ x", "p(wins, 9) ~ x", "binomial", "", "b_x x"),
    # bambi does not centre the columns of ordered classes
    "cumulative": ("grade ~ center(x)", "", "cumulative", "",
                   "b_center(x) center(x), thresholds threshold"),
    "categorical": ("grade ~ x", "", "categorical", "", "b_mumiddle_x x"),
    "hurdle": ("rain ~ x", "", "hurdle_gamma", "", "b_x x, shape alpha"),
    "zero_inflated": ("visits ~ x", "", "zero_inflated_poisson", "", "b_x x"),
    "von_mises": ("angle ~ x", "", "von_mises", "vonmises", "b_x x, kappa kappa"),
    "survival": ("time | cens(end) ~ x", "censored(time, end) ~ x", "weibull", "",
                 "b_x x, shape alpha"),
}  # fmt: skip
POSITIVE = {"mu": "log", "alpha": "log"}
LINKS = {"gamma": POSITIVE, "hurdle": {"mu": "log"}, "survival": POSITIVE}  # of bambi
OUR_LINKS = {"von_mises": "identity"}  # the default of bambi
GRADES = ["low", "middle", "high"]


def make_data(seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    n = 200
    x, z, g = rng.normal(2, 1.5, n), rng.normal(size=n), rng.integers(0, 10, n)
    effects, slopes = rng.normal(0, 0.7, 10)[g], rng.normal(0, 0.4, 10)[g]
    mean = np.exp(0.2 + 0.3 * x + 0.5 * effects)
    frame = pd.DataFrame(
        {
            "x": x,
            "z": z,
            "g": np.array(list("abcdefghij"))[g],
            "h": rng.choice(["u", "v"], n),
            "y": 1 + 0.5 * x + effects + slopes * x + rng.normal(size=n),
            "b": rng.random(n) < 1 / (1 + np.exp(1 - 0.5 * x)),
            "count": rng.poisson(mean),
            "positive": rng.gamma(2, mean / 2),
            "share": rng.beta(2, 3, n),
        }
    ).astype({"b": int})
    frame["wins"] = rng.binomial(9, 1 / (1 + np.exp(1 - 0.4 * x)))
    frame["grade"] = np.take(GRADES, np.digitize(0.7 * x + rng.logistic(size=n), [0.5, 2.5]))
    frame["rain"] = rng.gamma(2, mean / 2) * (rng.random(n) < 0.7)
    frame["visits"] = rng.poisson(mean) * (rng.random(n) < 0.7)
    frame["angle"] = rng.vonmises(2 * np.arctan(0.3 * (x - 2)), 3.0)
    times, ends = 2 * np.exp(0.3 * x) * rng.weibull(1.5, n), rng.uniform(2, 12, n)
    frame["time"] = np.minimum(times, ends)
    frame["end"] = np.where(times < ends, "none", "right")
    return frame


def read_data(folder: Path) -> pd.DataFrame:
    data = pd.read_csv(folder / "data.csv")
    data["grade"] = pd.Categorical(data["grade"], GRADES, ordered=True)
    return data


def numbers(draws) -> list[float]:
    """Mean, Monte Carlo error and standard deviation of a quantity, (chain, draw)."""
    import arviz_stats

    draws = np.asarray(draws).reshape(np.shape(draws)[0], np.shape(draws)[1], -1)[..., 0]
    ess = float(arviz_stats.base.array_stats.ess(draws, chain_axis=0, draw_axis=1))
    return [float(draws.mean()), float(draws.std() / np.sqrt(ess)), float(draws.std())]


def by_bambi(data: pd.DataFrame) -> dict:
    import bambi

    rows = {}
    for name, (text, other, family, other_family, pairs) in MODELS.items():
        start = time.perf_counter()
        link = LINKS.get(name)
        model = bambi.Model(other or text, data, family=other_family or family, link=link)
        results = model.fit(
            draws=DRAWS, tune=1000, chains=4, cores=2, random_seed=1, progressbar=False
        )
        posterior = results["posterior"]
        rows[name] = {pair: numbers(posterior[pair.split()[1]]) for pair in pairs.split(", ")}
        rows[name]["seconds"] = time.perf_counter() - start
    return rows


def here(data: pd.DataFrame) -> dict:
    import kinetograph as kg

    rows = {}
    for name, (text, _, family, _, pairs) in MODELS.items():
        start = time.perf_counter()
        model = kg.formula(text, data, family=family, link=OUR_LINKS.get(name))
        results = kg.mcmc(model, draws=DRAWS, seed=1, progress=False)
        posterior = results["posterior"]
        rows[name] = {pair: numbers(posterior[pair.split()[0]]) for pair in pairs.split(", ")}
        rows[name]["seconds"] = time.perf_counter() - start
    return rows


def main() -> None:
    task, folder = sys.argv[1], Path(sys.argv[2])
    if task == "data":
        folder.mkdir(exist_ok=True)
        seed = int(sys.argv[3]) if len(sys.argv) > 3 else 20261124
        make_data(seed).to_csv(folder / "data.csv", index=False)
        return
    if task == "all":
        from environments import environment

        python, own = str(environment("bambi")), sys.executable
        for steps in ([own, "data", *sys.argv[2:]], [python, "bambi"], [own, "compare"]):
            program, name, *rest = steps
            subprocess.run([program, __file__, name, *(rest or [str(folder)])], check=True)
        return
    data = read_data(folder)
    if task == "bambi":
        (folder / "bambi.json").write_text(json.dumps(by_bambi(data)))
        return
    other, ours = json.loads((folder / "bambi.json").read_text()), here(data)
    print("| model | unknown | here | bambi | z | seconds here | seconds bambi |")
    print("|---|---|---|---|---|---|---|")
    worst = 0.0
    for name, rows in ours.items():
        for pair, (mean, error, sd) in ((p, v) for p, v in rows.items() if p != "seconds"):
            theirs, their_error, their_sd = other[name][pair]
            z = (mean - theirs) / np.hypot(error, their_error)
            worst = max(worst, abs(z))
            seconds = f"{rows['seconds']:.1f} | {other[name]['seconds']:.1f}"
            print(
                f"| {name} | {pair.split()[0]} | {mean:.4f} ({sd:.4f}) | {theirs:.4f} "
                f"({their_sd:.4f}) | {z:.1f} | {seconds} |"
            )
    print(f"\nlargest |z|: {worst:.2f}")


if __name__ == "__main__":
    main()
