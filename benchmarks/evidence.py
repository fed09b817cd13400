"""Runs of `kg.temper` on problems with known evidence.

    python benchmarks/evidence.py                          # all problems, sequential Monte Carlo
    python benchmarks/evidence.py --method parallel --seeds 3
    python benchmarks/evidence.py --problems "shells 10" --particles 4000

Columns: the mean error of log Z, its root mean square, the mean stated error, the largest error by
the stated one, how many truths lie within two stated errors, the largest error of the weight of a
mode (root mean square over seeds) and the largest one by its stated error; evaluations of the
density of a run, where a gradient counts as one or as three values; processor seconds of the first
call, with compilation; processor and wall seconds of a later call; runs with a warning.
"""

import argparse
import time
import warnings
from typing import Any

import numpy as np
from environments import machine
from evidence_problems import (
    MIXED,
    PROBLEMS,
    Problem,
    Truth,
    regression_rows,
    spike_models,
    spike_rows,
)
from records import record

import kinetograph as kg
from kinetograph.results.mean_errors import weight_errors

HEAD = [
    "problem",
    "truth",
    "error",
    "rms",
    "stated",
    "worst / stated",
    "in 2",
    "weights",
    "worst / stated",
    "evaluations",
    "with gradients as 3",
    "first, CPU s",
    "second, CPU s",
    "second, s",
    "warned",
]


def regression(problem: Problem) -> kg.Model:
    """The regression, as a user writes it."""
    x, y = regression_rows()
    b = kg.normal(0, 2, shape=5, name="x")
    kg.observe(kg.data(y, name="y"), kg.normal(kg.data(x, name="rows") @ b, 1.0))
    return kg.model(b)


def spike_and_slab(problem: Problem) -> kg.Model:
    """The 64 models as a discrete unknown."""
    (rows, y), (sets, prior) = spike_rows(), spike_models()
    b = kg.normal(0, 1, shape=6, name="x")
    used = kg.categorical(np.exp(prior), name="used")
    means = (kg.data(sets, name="sets") * b) @ kg.data(rows.T, name="rows")
    kg.observe(kg.data(y, name="y"), kg.normal(means[used], 1.0))
    return kg.model(b)


def labels(problem: Problem) -> kg.Model:
    """The mixture, as a user writes it."""
    mu = kg.normal(0, 5, shape=3, name="x")
    mixture = kg.mixture(*(kg.normal(mu[k], 1.0) for k in range(3)), weights=np.full(3, 1 / 3))
    kg.observe(kg.data(MIXED, name="y"), mixture)
    return kg.model(mu)


WRITTEN = {"regression": regression, "spike and slab": spike_and_slab, "labels": labels}


def by_factor(problem: Problem) -> kg.Model:
    """The prior, and the likelihood as a factor."""
    kind, first, second = problem.prior
    make = {"uniform": kg.uniform, "normal": kg.normal}[kind]
    x = make(first, second, shape=problem.size, name="x")
    kg.factor(problem.log_likelihood(x, kg))
    return kg.model(x)


def weights_of(problem: Problem, truth: Truth, draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The errors of the weights of modes, and their standard errors."""
    if problem.shares is None or truth.weights is None:
        return np.zeros(1), np.ones(1)
    shares = problem.shares(draws.reshape(-1, problem.size)).reshape(*draws.shape[:2], -1)
    # a mode without draws gets the binomial error of its true weight
    least = np.sqrt(truth.weights * (1 - truth.weights) / draws.shape[0] / draws.shape[1])
    return shares.mean((0, 1)) - truth.weights, np.maximum(weight_errors(shares), least)


def run(model: kg.Model, problem: Problem, truth: Truth, seed: int, given: dict[str, Any]) -> Any:
    """One run: errors and costs."""
    started, used = time.perf_counter(), time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tree = kg.temper(model, seed=seed, progress=False, **given)
    seconds, processor = time.perf_counter() - started, time.process_time() - used
    draws = tree["posterior"]["x"].values
    weights, stated = weights_of(problem, truth, draws)
    rungs, attributes = tree["tempering"], tree.attrs
    gradients = int(attributes["gradients"])
    if attributes["tempering"] == "smc":
        values = attributes["particles"] * (1 + int(rungs["sweeps"].sum()))
    else:
        scans = given.get("draws", 1000) + given.get("warmup", 300)
        values = draws.shape[0] * rungs.sizes["rung"] * scans
    return {
        "error": attributes["log_evidence"] - truth.log_evidence,
        "stated": attributes["log_evidence_se"],
        "weights": weights,
        "weights_stated": stated,
        "gradients": gradients,
        "values": values,
        "seconds": seconds,
        "processor": processor,
        "warned": any(issubclass(w.category, kg.SamplingWarning) for w in caught),
        "rungs": rungs.sizes["rung"],
    }


def row(name: str, truth: Truth, runs: list[dict[str, Any]]) -> str:
    """A row of the table."""
    error = np.array([r["error"] for r in runs])
    stated = np.maximum([r["stated"] for r in runs], 1e-300)
    gradients = np.mean([r["gradients"] for r in runs])
    values = np.mean([r["values"] for r in runs])
    cells = [
        name,
        f"{truth.log_evidence:.3f}",
        f"{error.mean():+.3f}",
        f"{np.sqrt((error**2).mean()):.3f}",
        f"{stated.mean():.3f}",
        f"{np.abs(error / stated).max():.1f}",
        f"{(np.abs(error) <= 2 * stated).sum()} of {len(runs)}",
        *_weights(truth, runs),
        f"{gradients + values:.3g}",
        f"{3 * gradients + values:.3g}",
        f"{runs[0]['processor']:.1f}",
        f"{np.median([r['processor'] for r in runs[1:]] or [np.nan]):.2f}",
        f"{np.median([r['seconds'] for r in runs[1:]] or [np.nan]):.2f}",
        f"{sum(r['warned'] for r in runs)}",
    ]
    return "| " + " | ".join(cells) + " |"


def _weights(truth: Truth, runs: list[dict[str, Any]]) -> tuple[str, str]:
    if truth.weights is None:
        return "", ""
    errors = np.array([r["weights"] for r in runs])
    relative = np.abs(errors / np.array([r["weights_stated"] for r in runs])).max()
    return f"{np.sqrt((errors**2).mean(0)).max():.3f}", f"{relative:.1f}"


def _rounded(found: dict[str, Any]) -> dict[str, Any]:
    return {key: np.round(1.0 * value, 3).tolist() for key, value in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--problems", nargs="+", default=list(PROBLEMS), choices=list(PROBLEMS))
    parser.add_argument("--method", default="smc", choices=["smc", "nested", "parallel"])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--particles", type=int, default=None)
    parser.add_argument("--draws", type=int, default=None)
    parser.add_argument("--sampler", default=None, help="an expression; by default HMC")
    parser.add_argument("--each", action="store_true", help="print each run")
    parser.add_argument("--write", action="store_true", help="keep the table in results/")
    args = parser.parse_args()
    given: dict[str, Any] = {"method": args.method}
    given |= {k: v for k in ("particles", "draws") if (v := getattr(args, k)) is not None}
    if args.sampler is not None:
        given["sampler"] = eval(args.sampler, {"kg": kg})
    lines = ["| " + " | ".join(HEAD) + " |", "|---" * len(HEAD) + "|"]
    print("\n".join(lines))
    for name in args.problems:
        problem = PROBLEMS[name]()
        truth = problem.truth()
        model, runs = WRITTEN.get(name, by_factor)(problem), []
        for seed in range(args.first, args.first + args.seeds):
            runs.append(run(model, problem, truth, seed, given))
            if args.each:
                print("   ", seed, _rounded(runs[-1]), flush=True)
        lines.append(row(name, truth, runs))
        print(lines[-1], flush=True)
    if args.write:
        here = machine()
        text = f"{here['cpu']}, {here['cores']} cores; {args.seeds} seeds, {given}."
        record(f"evidence-{args.method}", "\n".join(["# Evidence", "", text, "", *lines]))


if __name__ == "__main__":
    main()
