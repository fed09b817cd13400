"""Chains on several processes that meet by `kg.distributed`, against one process.

    python benchmarks/hosts.py [--rows 1000] [--draws 200000] [--repeats 5]

A logistic regression of 25 predictors, sampled by NUTS in two chains. One process runs both chains
on one core; two processes, each on a core of its own, meet over the loopback and run one chain
each. Both cases make the same draws, and take turns. A run is timed from its call until its
results, after a short run that compiles.

On a machine that is not idle, wall times have the waiting for a core, too. The processor seconds do
not: the gain in them is the time of the one process, divided by that of the busiest of the two.
"""

import argparse
import hashlib
import json
import os
import socket
import statistics
import subprocess
import sys
import time
from typing import Any

CHAINS, PREDICTORS, WARMUP = 2, 25, 300


def measured(arguments: argparse.Namespace) -> dict[str, Any]:
    """The times, gradients and draws of a run in this process."""
    import numpy as np

    import kinetograph as kg

    kg.distributed(arguments.address, arguments.processes, arguments.number)
    random = np.random.default_rng(1)
    x = random.normal(size=(arguments.rows, PREDICTORS))
    chances = 1 / (1 + np.exp(-x @ random.normal(0, 0.5, PREDICTORS)))
    beta = kg.normal(0, 2.5, shape=PREDICTORS, name="beta")
    kg.observe(kg.data(random.binomial(1, chances), "y"), kg.bernoulli(logits=kg.data(x) @ beta))
    model = kg.model(beta)
    settings = {"chains": CHAINS, "seed": 1, "warmup": WARMUP, "progress": False, "threads": 1}
    kg.mcmc(model, draws=10, **settings)
    begun, work = time.perf_counter(), time.process_time()
    tree = kg.mcmc(model, draws=arguments.draws, **settings)
    wall, work = time.perf_counter() - begun, time.process_time() - work
    return {
        "wall": wall,
        "work": work,
        "gradients": tree["sample_stats/n_steps"].values.sum(1).tolist(),
        "draws": hashlib.sha256(tree["posterior/beta"].values.tobytes()).hexdigest(),
    }


def case(processes: int, rows: int, draws: int) -> list[dict[str, Any]]:
    """The results of all processes of a case, each on a core."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
    sizes = ["--rows", str(rows), "--draws", str(draws), "--processes", str(processes)]
    started = []
    for number, core in zip(range(processes), sorted(os.sched_getaffinity(0)), strict=False):
        command = [sys.executable, "-W", "ignore", __file__, *sizes, "--number", str(number)]
        process = subprocess.Popen(
            [*command, "--address", address],
            env=os.environ | {"JAX_PLATFORMS": "cpu"}, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        os.sched_setaffinity(process.pid, {core})
        started.append(process)
    outputs = [process.communicate()[0] for process in started]
    if len(started) < processes or any(process.returncode for process in started):
        raise SystemExit(f"{processes} processes did not end well, or have no core each")
    return [json.loads(output.splitlines()[-1]) for output in outputs]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--draws", type=int, default=200_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--processes", type=int)
    parser.add_argument("--number", type=int, default=0)
    parser.add_argument("--address")
    arguments = parser.parse_args()
    if arguments.processes:
        print(json.dumps(measured(arguments)))
        return
    print(f"{arguments.rows:,} rows, {CHAINS} x ({WARMUP} + {arguments.draws:,}) draws\n")
    print("| repeat | s, one process | s, two | times | processor s, one | two | times |")
    print("|---|---|---|---|---|---|---|")
    gains = []
    for repeat in range(arguments.repeats):
        order = (1, 2) if repeat % 2 == 0 else (2, 1)
        found = {n: case(n, arguments.rows, arguments.draws) for n in order}
        if len({each["draws"] for n in found for each in found[n]}) > 1:
            raise SystemExit("the draws differ")
        (one, two), (work, works) = (
            [max(each[name] for each in found[n]) for n in (1, 2)] for name in ("wall", "work")
        )
        both = " + ".join(f"{each['work']:.2f}" for each in found[2])
        gains.append((one / two, work / works))
        print(
            f"| {repeat + 1} | {one:.2f} | {two:.2f} | {one / two:.2f} "
            f"| {work:.2f} | {both} | {work / works:.2f} |",
            flush=True,
        )
    wall, work = (statistics.median(each) for each in zip(*gains, strict=True))
    print(f"| median | | | {wall:.2f} | | | {work:.2f} |")
    gradients = found[1][0]["gradients"]
    most = sum(gradients) / max(gradients)
    print(f"\nGradients of the draws of each chain: {gradients}; the most possible is {most:.2f}.")


if __name__ == "__main__":
    main()
