"""Approximations that are wrong without a warning, or warn needlessly.

    python benchmarks/approximations.py                       # 20 seeds; a quarter of an hour
    python benchmarks/approximations.py --seeds 4 --first 0   # the seeds that set the limits
    python benchmarks/approximations.py --models banana funnel --draws 1000

Four approximations of eight models with known means, standard deviations and log Z, in closed form
or by quadrature (for the logistic regression, by 400,000 importance-weighted draws of a Student
distribution with an efficiency above 0.9). A run is wrong if the mean of a target is off by more
than 10 % of a standard deviation, a standard deviation by more than 15 %, or log Z by more than
0.1.
"""

import argparse
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

import kinetograph as kg

MEAN, DEVIATION, LOG_Z = 0.10, 0.15, 0.1
METHODS: dict[str, Callable[..., Any]] = {
    "ADVI": kg.advi,
    "ADVI, full rank": lambda model, **more: kg.advi(model, rank=model.free_size, **more),
    "Pathfinder": kg.pathfinder,
    "Laplace": kg.laplace_approximation,
}
Moments = dict[str, tuple[Any, Any]]  # mean and standard deviation of each target
Problem = tuple[kg.Model, Moments, float]  # ... and log Z


def banana() -> Problem:
    """A curved ridge, five times as long as it is wide."""
    x = kg.normal(0, 1, name="x")
    y = kg.normal(x**2, 0.2, name="y")
    return kg.model(x, y), {"x": (0.0, 1.0), "y": (1.0, np.sqrt(2.04))}, 0.0


def funnel() -> Problem:
    """Neal's funnel: six numbers with an unknown scale."""
    v = kg.normal(0, 3, name="v")
    x = kg.normal(0, kg.exp(v / 2), shape=6, name="x")
    return kg.model(v, x), {"v": (0.0, 3.0), "x": (np.zeros(6), np.full(6, np.exp(2.25)))}, 0.0


EFFECTS = np.array([28.0, 8, -3, 7, -1, 1, 18, 12])
ERRORS = np.array([15.0, 10, 16, 11, 9, 11, 10, 18])


def schools() -> tuple[Moments, float]:
    """Eight schools by quadrature over tau; all else is normal given tau."""
    tau = 5 * np.tan(np.pi / 2 * (np.arange(200_000) + 0.5) / 200_000)  # half-Cauchy quantiles
    variance = ERRORS**2 + tau[:, None] ** 2
    precision = (1 / variance).sum(1) + 1 / 25
    mu = (EFFECTS / variance).sum(1) / precision
    log_density = -0.5 * (
        8 * np.log(2 * np.pi)
        + np.log(variance).sum(1)
        + np.log1p(25 * (1 / variance).sum(1))
        + (EFFECTS**2 / variance).sum(1)
        - mu**2 * precision
    )
    top = log_density.max()
    weight = np.exp(log_density - top)
    log_z = top + np.log(weight.mean())
    weight /= weight.sum()
    near = tau[:, None] ** 2 / variance
    theta = near * EFFECTS + (1 - near) * mu[:, None]
    spread = near * ERRORS**2 + (1 - near) ** 2 / precision[:, None]
    found = {
        "mu": _moments(weight, mu, 1 / precision),
        "tau": _moments(weight, tau, 0.0),
        "theta": _moments(weight, theta, spread),
    }
    return found, log_z


def _moments(weight: np.ndarray, mean: np.ndarray, variance: Any) -> tuple[Any, Any]:
    """Mean and standard deviation of a mixture of these components."""
    first = weight @ mean
    return first, np.sqrt(weight @ (np.square(mean) + variance) - np.square(first))


def centred() -> Problem:
    """Eight schools, centred."""
    mu, tau = kg.normal(0, 5, name="mu"), kg.half_cauchy(5, name="tau")
    theta = kg.normal(mu, tau, shape=8, name="theta")
    kg.observe(kg.data(EFFECTS), kg.normal(theta, kg.data(ERRORS)))
    return kg.model(mu, tau, theta), *schools()


def non_centred() -> Problem:
    """Eight schools with standardised effects."""
    mu, tau = kg.normal(0, 5, name="mu"), kg.half_cauchy(5, name="tau")
    theta = mu + tau * kg.normal(0, 1, shape=8, name="z")
    kg.observe(kg.data(EFFECTS), kg.normal(theta, kg.data(ERRORS)))
    return kg.model(mu, tau, theta=theta), *schools()


def logistic() -> Problem:
    """Logistic regression, 60 rows and three slopes."""
    rng = np.random.default_rng(4)
    design = np.c_[np.ones(60), rng.normal(size=(60, 2))]
    y = rng.uniform(size=60) < 1 / (1 + np.exp(-design @ [0.3, 1.0, -0.7]))
    slope = kg.normal(0.0, 2.0, shape=3, name="slope")
    kg.observe(kg.data(y.astype(int)), kg.bernoulli(kg.ilogit(kg.data(design) @ slope)))
    model = kg.model(slope)
    mode = kg.opt(model, adjust=True, seed=1).free
    student = stats.multivariate_t(mode, -np.linalg.inv(model.hessian(mode)), df=8)
    draws = student.rvs(400_000, random_state=rng)
    signed = (2 * y - 1) * (draws @ design.T)
    log_weight = -np.logaddexp(0, -signed).sum(1) - np.square(draws).sum(1) / 8
    log_weight += -3 * np.log(2) - 1.5 * np.log(2 * np.pi) - student.logpdf(draws)
    weight = np.exp(log_weight - log_weight.max())
    log_z = log_weight.max() + np.log(weight.mean())
    return model, {"slope": _moments(weight / weight.sum(), draws, 0.0)}, log_z


def linear() -> Problem:
    """Linear regression by quadrature over the error scale."""
    rng = np.random.default_rng(5)
    design = np.c_[np.ones(30), rng.normal(size=(30, 3))]
    y = design @ [1.0, 2.0, -1.0, 0.5] + 0.7 * rng.normal(size=30)
    slope, sigma = kg.normal(0.0, 3.0, shape=4, name="slope"), kg.half_normal(2.0, name="sigma")
    kg.observe(kg.data(y), kg.normal(kg.data(design) @ slope, sigma))
    log_scale = np.linspace(np.log(0.2), np.log(4), 4000)
    scale, log_density, means, variances = np.exp(log_scale), [], [], []
    for s in scale:
        covariance = np.linalg.inv(design.T @ design / s**2 + np.eye(4) / 9)
        means.append(covariance @ design.T @ y / s**2)
        variances.append(np.diag(covariance))
        whole = stats.multivariate_normal(cov=s**2 * np.eye(30) + 9 * design @ design.T)
        log_density.append(whole.logpdf(y) + stats.halfnorm(scale=2).logpdf(s) + np.log(s))
    top = max(log_density)
    weight = np.exp(np.array(log_density) - top)
    log_z = top + np.log(weight.sum() * (log_scale[1] - log_scale[0]))
    weight /= weight.sum()
    found = {
        "slope": _moments(weight, np.array(means), np.array(variances)),
        "sigma": _moments(weight, scale, 0.0),
    }
    return kg.model(slope, sigma), found, log_z


def bimodal() -> Problem:
    """Two normal modes of 60 % and 40 %, eight deviations apart."""
    x = kg.variable(shape=2, name="x")
    parts = [
        np.log(share / (2 * np.pi)) - 0.5 * kg.sum((x - at) ** 2)
        for share, at in ((0.6, 3.0), (0.4, -3.0))
    ]
    deviation = np.sqrt(1 + 9 - 0.6**2)
    moments = {"x": (np.full(2, 0.6), np.full(2, deviation))}
    return kg.model(x, factors=[kg.logsumexp(kg.stack(parts))]), moments, 0.0


def correlated() -> Problem:
    """Five correlated normal numbers with standard deviations 1 to 5."""
    mean, deviation = np.arange(5) - 2.0, np.arange(1, 6)
    covariance = 0.9 ** abs(np.subtract.outer(mean, mean)) * np.outer(deviation, deviation)
    x = kg.multivariate_normal(mean, covariance, name="x")
    return kg.model(x), {"x": (mean, deviation)}, 0.0


MODELS = {
    "banana": banana,
    "funnel": funnel,
    "eight schools, centred": centred,
    "eight schools, non-centred": non_centred,
    "logistic regression": logistic,
    "linear regression": linear,
    "two modes": bimodal,
    "correlated normal": correlated,
}


def tried(problem: Problem, method: str, seed: int, draws: int) -> dict[str, Any] | None:
    """The errors of one run and its warning; None after a ModelError."""
    model, moments, log_z = problem
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            tree = METHODS[method](model, draws=draws, seed=seed)
        except kg.ModelError:
            return None
    kinds = (kg.ApproximationWarning, kg.ConvergenceWarning)
    mean = deviation = 0.0
    for name, (first, second) in moments.items():
        values = tree["posterior"][name].values[0]
        mean = max(mean, np.max(abs(values.mean(0) - first) / second))
        deviation = max(deviation, np.max(abs(values.std(0) / second - 1)))
    evidence = abs(tree.attrs["log_marginal_likelihood"] - log_z)
    return {
        "mean": mean,
        "deviation": deviation,
        "log_z": evidence,
        "wrong": mean > MEAN or deviation > DEVIATION or evidence > LOG_Z,
        "warned": any(issubclass(each.category, kinds) for each in caught),
        "seed": seed,
        "attrs": {k: tree.attrs[k] for k in ("pareto_k", "efficiency", "doubt")},
    }


def row(name: str, method: str, runs: list[dict[str, Any] | None]) -> str:
    """A line of the table."""
    made = [run for run in runs if run]
    silent = [run for run in made if not run["warned"]]
    missed = [run for run in silent if run["wrong"]]
    false = [run for run in made if run["warned"] and not run["wrong"]]
    worst = [
        f"{max((run[what] for run in silent), default=float('nan')):.3f}"
        for what in ("mean", "deviation", "log_z")
    ]
    counts = [len(runs) - len(made), len(made) - len(silent), len(false), len(missed)]
    return " | ".join([f"| {name}", method, *map(str, counts), *worst]) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=100)
    parser.add_argument("--draws", type=int, default=4000)
    parser.add_argument("--models", nargs="+", default=list(MODELS))
    parser.add_argument("--methods", nargs="+", default=list(METHODS))
    parser.add_argument("--each", action="store_true", help="print the missed and falsely warned")
    given = parser.parse_args()
    print("| model | method | error | warned | though right | wrong, silent | mean | sd | log Z |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in given.models:
        problem = MODELS[name]()
        for method in given.methods:
            seeds = range(given.first, given.first + given.seeds)
            runs = [tried(problem, method, seed, given.draws) for seed in seeds]
            print(row(name, method, runs), flush=True)
            for run in runs:
                if given.each and run and run["warned"] != run["wrong"]:
                    print("   ", run)


if __name__ == "__main__":
    main()
