"""Calibration of networks: one net, ensembles, and samplers with stochastic gradients.

    python benchmarks/calibration_of_networks.py      # spiral and digits; five minutes on two cores
    python benchmarks/calibration_of_networks.py --peers blackjax posteriors
    python benchmarks/calibration_of_networks.py --data spiral --ways one ten

A perceptron with one hidden layer and tanh, a normal prior (of standard deviation 3 for the spiral
and 1 for the digits), inputs that are standardised by the training rows. BAOAB and the peers make
the same number of steps of Langevin dynamics, with the same step size, friction and batches of 100
rows, from four starts. Predictions average over the second half. Scores of test rows: minus the
mean log probability of the label (NLL) with its standard error, the expected calibration error
(ECE) in ten bins, and the share of right labels. Seconds of the processor, of all threads and of
the peer's process, are in brackets.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from environments import HERE, environment, machine
from records import record
from scipy.special import softmax
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import kinetograph as kg

STARTS = 4  # of a sampler with batches


class Task(NamedTuple):
    """The rows of a data set, with its network and dynamics."""

    x: np.ndarray
    y: np.ndarray
    x_test: np.ndarray
    y_test: np.ndarray
    hidden: int
    prior: float
    step: float
    steps: int
    training: dict[str, int]


def task(data: str) -> Task:
    """Noisy spirals with 200 training rows, or half of the digits."""
    if data == "spiral":
        made = kg.neural.datasets.spiral(2200, noise=0.3, seed=1)
        labels = (np.ravel(made.y) > 0).astype(int)
        parts = train_test_split(made.x, labels, train_size=200, random_state=0)
        long = {"epochs": 20_000, "patience": 4000}  # an epoch is one batch
        settings: tuple[int, float, float, int, dict[str, int]] = 50, 3.0, 0.02, 20_000, long
    else:
        parts = train_test_split(*load_digits(return_X_y=True), test_size=0.5, random_state=0)
        settings = 20, 1.0, 0.01, 10_000, {}
    x, x_test, y, y_test = parts
    mean, sd = x.mean(0), np.where(x.std(0) > 0, x.std(0), 1)
    return Task((x - mean) / sd, y, (x_test - mean) / sd, y_test, *settings)


def estimator(task: Task, **settings: Any) -> np.ndarray:
    """Probabilities of an `EnsembleClassifier`."""
    network = kg.neural.mlp([task.hidden], "tanh")
    made = kg.neural.EnsembleClassifier(network, prior=task.prior, **task.training, **settings)
    return np.asarray(made.fit(task.x, task.y).predict_proba(task.x_test))


def baoab(task: Task) -> np.ndarray:
    """Probabilities of BAOAB with batches, by a simulation."""
    nn = kg.neural.Simulation(
        [task.x, task.y],
        hidden_dimension=[task.hidden],
        hidden_activation="tanh",
        initial="he",
        loss="categorical",
        loss_scale="sum",
        prior=task.prior,
        batch_size=min(100, len(task.x)),
        sampler="BAOAB",
        step_width=task.step,
        friction_constant=1.0,
        number_walkers=STARTS,
        max_steps=task.steps,
        every_nth=100,
        seed=1,
    )
    draws = nn.sample().parameters
    draws = draws[:, draws.shape[1] // 2 :].reshape(-1, draws.shape[-1])
    outputs = nn.landscape.outputs(draws.astype(np.float32), task.x_test.astype(np.float32))
    return np.asarray(softmax(np.asarray(outputs, float), -1).mean(0))


def peer(name: str, sampler: str, task: Task) -> np.ndarray:
    """Probabilities of a peer's script."""
    with tempfile.TemporaryDirectory() as folder:
        rows, result = Path(folder) / "rows.npz", Path(folder) / "result.npz"
        np.savez(rows, x=task.x, y=task.y, x_test=task.x_test)
        script = HERE / "peers" / f"{name}_sgmcmc.py"
        command = [environment(name), "-W", "ignore", script, rows, result]
        command += ["--sampler", sampler, "--hidden", task.hidden, "--prior", task.prior]
        command += ["--step", task.step, "--steps", task.steps, "--burn", task.steps // 2]
        command += ["--seeds", *range(STARTS), "--threads", 1]
        subprocess.run(list(map(str, command)), check=True, stdout=sys.stderr)
        with np.load(result) as results:
            return np.asarray(results["chances"], float)


Way = Callable[[Task], np.ndarray]
WAYS: dict[str, tuple[str, Way]] = {
    "one": ("one net, trained", partial(estimator, members=1, draws=0)),
    "ten": ("ten nets, trained", partial(estimator, draws=0)),
    "sampled": ("ten members, sampled", estimator),
    "baoab": ("BAOAB, batches", baoab),
}


def ways(names: list[str], peers: list[str]) -> list[tuple[str, Way]]:
    """The ways by name, then the ways of the peers."""
    chosen = [WAYS[name] for name in names]
    for name in peers:
        for sampler in ("sgld", "sghmc"):
            chosen.append((f"{name}, {sampler.upper()}", partial(peer, name, sampler)))
    return chosen


def scores(chances: np.ndarray, labels: np.ndarray) -> str:
    """The columns of the probabilities of test rows."""
    losses = -np.log(chances[np.arange(len(labels)), labels] + 1e-12)
    error = losses.std() / np.sqrt(len(losses))
    ece = kg.neural.calibration.reliability(chances, labels).error
    right = np.mean(chances.argmax(1) == labels)
    return f"{losses.mean():.4f} +- {error:.4f} | {ece:.4f} | {right:.4f}"


def processor() -> float:
    """Seconds of the processor of this process and of ended children."""
    used = [resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", nargs="+", default=["spiral", "digits"])
    parser.add_argument("--ways", nargs="*", default=list(WAYS), choices=WAYS)
    parser.add_argument("--peers", nargs="*", default=[], choices=["blackjax", "posteriors"])
    options = parser.parse_args()
    here = machine()
    lines = ["# Calibration of networks", ""]
    lines += [f"{here['cpu']}, {here['cores']} cores, load at the start {here['load'][0]}.", ""]
    lines += ["| data | | NLL | ECE | accuracy | seconds |", "|---|---|---|---|---|---|"]
    for data in options.data:
        rows = task(data)
        for name, compute in ways(options.ways, options.peers):
            begun, used = time.perf_counter(), processor()
            columns = scores(compute(rows), rows.y_test)
            seconds = f"{time.perf_counter() - begun:.0f} ({processor() - used:.0f})"
            lines.append(f"| {data} | {name} | {columns} | {seconds} |")
            print(lines[-1], flush=True)
    record("calibration-of-networks", "\n".join(lines))


if __name__ == "__main__":
    main()
