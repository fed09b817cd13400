#!/usr/bin/env python
"""The growth of time, memory and compile time with size.

    python benchmarks/growth.py                     # all cases; about ten minutes on two cores
    python benchmarks/growth.py --kinds rows steps  # some of them
    python benchmarks/growth.py --picture benchmarks/results/DATE-growth.json docs/images/growth.svg

Each size runs in a process of its own, without the compile cache. Times are processor time, which
depends little on other load; "compile" includes the making of the model. Memory is the peak of the
process above the memory after the imports. The exponent between two neighbouring sizes is
log(cost ratio) / log(size ratio): 1 is linear growth. A kind ends at the first size that exceeds
the limit of time or memory.
"""

import argparse
import json
import math
import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

LIMIT = 120  # seconds of processor time of a process
FREE = 0.4  # the part of the available memory that a process may take
NOTED = 1.15  # an exponent above which growth is named
WORTH = {"compile": 1.0, "time": 0.5, "memory": 100.0}  # smaller costs are mostly constant


class Case(NamedTuple):
    """A way in which a problem grows."""

    text: str
    sizes: tuple[int, ...]
    work: str
    make: Callable[[int], Callable[[], Any]]  # the model of a size; the work to measure


def gradients(model: Any, count: int) -> Callable[[], Any]:
    """Some gradients of a model."""
    start = np.zeros(model.free_size)
    return lambda: [model.gradient(start) for _ in range(count)]


def chains(method: str) -> Callable[[int], Callable[[], Any]]:
    """A short run of some chains with 10 unknowns."""

    def make(size: int) -> Callable[[], Any]:
        import kinetograph as kg

        model = kg.model(kg.normal(0, 1, shape=10, name="x"))
        sampler = kg.samplers.NUTS(max_depth=3)
        options: Any = {"warmup": 50, "draws": 50, "seed": 1, "progress": False}
        return lambda: kg.mcmc(model, sampler, chains=size, chain_method=method, **options)

    return make


def rows(size: int) -> Callable[[], Any]:
    """A logistic regression with 3 predictors."""
    import kinetograph as kg

    rng = np.random.default_rng(0)
    slopes = kg.normal(0, 1, shape=3, name="slopes")
    predictors = kg.data(rng.normal(size=(size, 3)), name="predictors")
    outcomes = kg.data(rng.integers(0, 2, size), name="outcomes")
    kg.observe(outcomes, kg.bernoulli(logits=predictors @ slopes))
    return gradients(kg.model(slopes), 10)


def unknowns(size: int) -> Callable[[], Any]:
    """Effects with an unknown scale, each with an observation."""
    import kinetograph as kg

    scale = kg.half_normal(1, name="scale")
    effects = kg.normal(0, scale, shape=size, name="effects")
    kg.observe(kg.data(np.ones(size), name="y"), kg.student(4, effects, 1))
    return gradients(kg.model(scale, effects), 100)


def transitions(size: int) -> Callable[[], Any]:
    """Transitions of NUTS, of a trajectory of at most 7 steps."""
    import kinetograph as kg

    x = kg.normal(0, 1, shape=size, name="x")
    model = kg.model(x)
    sampler = kg.samplers.NUTS(max_depth=3, step_size=0.1)
    options: Any = {"initial": np.zeros(size), "warmup": 0, "draws": 50, "chains": 1, "seed": 1}
    options |= {"keep": False, "averages": [x], "progress": False}
    return lambda: kg.mcmc(model, sampler, **options)


def alike(size: int) -> Callable[[], Any]:
    """Terms that are the same operations, written in a loop."""
    import kinetograph as kg

    rng = np.random.default_rng(0)
    values = rng.normal(size=size)
    mean, scale = kg.normal(0, 1, name="mean"), kg.half_normal(1, name="scale")
    for i in range(size):
        kg.observe(values[i], kg.student(4, mean, scale))
    return gradients(kg.model(mean, scale), 100)


def unlike(size: int) -> Callable[[], Any]:
    """Terms by operations that differ between all of them."""
    import kinetograph as kg

    mean = kg.normal(0, 1, name="mean")
    for i in range(size):
        value = mean
        for bit in format(i, "014b"):
            value = kg.tanh(value) if bit == "1" else 0.5 * value
        kg.observe(0.1, kg.student(4, value, 1))
    return gradients(kg.model(mean), 100)


def scanned(size: int) -> Callable[[], Any]:
    """A recursion over known inputs, observed at each step."""
    import kinetograph as kg

    rho = kg.uniform(0, 1, name="rho")
    inputs = kg.data(np.random.default_rng(0).normal(size=size), name="inputs")
    _, levels = kg.scan(lambda x, u: (kg.tanh(rho * x + u),) * 2, 0.0, inputs)
    kg.observe(kg.data(np.zeros(size), name="y"), kg.normal(levels, 1))
    return gradients(kg.model(rho), 3)


def while_steps(size: int) -> Callable[[], Any]:
    """A loop whose number of trips is known only when it runs."""
    import kinetograph as kg

    rho = kg.uniform(0, 1, name="rho")
    trips = kg.data(size, name="trips")
    _, level = kg.while_loop(
        lambda i, x: i < trips, lambda i, x: (i + 1, kg.tanh(rho * x + 0.1)), [0, 0.0]
    )
    kg.observe(0.5, kg.normal(level, 1))
    return gradients(kg.model(rho), 3)


CASES = {
    "chains, threads": Case(
        "chains", (1, 4, 16, 64, 256, 1024, 4096), "100 transitions", chains("threads")
    ),
    "chains, batch": Case(
        "chains", (1, 4, 16, 64, 256, 1024, 4096), "100 transitions", chains("batch")
    ),
    "rows": Case("rows of data", (10**3, 10**4, 10**5, 10**6, 10**7), "10 gradients", rows),
    "unknowns": Case("unknowns", (10, 100, 10**3, 10**4, 10**5), "100 gradients", unknowns),
    "NUTS": Case("unknowns", (10, 100, 10**3, 10**4, 10**5), "50 transitions", transitions),
    "alike pieces": Case("terms", (10, 100, 10**3, 10**4), "100 gradients", alike),
    "unlike pieces": Case("terms", (10, 30, 100, 300, 10**3, 10**4), "100 gradients", unlike),
    "steps of scan": Case("steps", (10**3, 10**4, 10**5, 10**6, 10**7), "3 gradients", scanned),
    "steps of while_loop": Case(
        "steps", (10**3, 10**4, 10**5, 10**6, 10**7), "3 gradients", while_steps
    ),
}


def resident(which: str) -> float:
    """Memory of this process, in MB: `VmRSS` now, or the peak `VmHWM`."""
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) / 1e3 for line in lines if line.startswith(which))


def measure(kind: str, size: int) -> dict[str, float]:
    """Costs of one size, in this process."""
    warnings.simplefilter("ignore")
    import jax

    import kinetograph  # noqa: F401

    jax.devices()
    before, begun = resident("VmRSS"), time.process_time()
    work = CASES[kind].make(size)
    work()
    first = time.process_time() - begun
    begun = time.process_time()
    work()
    second = time.process_time() - begun
    return {
        "compile": max(first - second, 0.0),
        "time": second,
        "memory": resident("VmHWM") - before,
    }


def in_a_process(kind: str, size: int) -> dict[str, float] | str:
    """Costs of one size, or the reason why there are none."""
    import resource

    memory = int(FREE * os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))

    code = f"import growth, json; print(json.dumps(growth.measure({kind!r}, {size})))"
    environment = os.environ | {"KINETOGRAPH_CACHE": "off"}
    try:
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=Path(__file__).parent,
            env=environment,
            capture_output=True,
            text=True,
            timeout=6 * LIMIT,  # other load takes turns with it
            check=False,
            preexec_fn=limit,
        )
    except subprocess.TimeoutExpired:
        return f"more than {6 * LIMIT} s"
    if done.returncode == -signal.SIGXCPU or done.returncode == -signal.SIGKILL:
        return f"more than {LIMIT} s of the processor"
    if done.returncode:
        return f"ended: {(done.stderr.strip().splitlines() or ['killed'])[-1][:120]}"
    costs: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return costs


def exponent(costs: list[dict[str, float]], sizes: list[int], i: int, name: str) -> float:
    """The exponent of growth from the size before."""
    a, b = costs[i - 1][name], costs[i][name]
    return math.log(max(b, 1e-9) / max(a, 1e-9)) / math.log(sizes[i] / sizes[i - 1])


def table(results: dict[str, dict[str, Any]]) -> str:
    """A table of all sizes, and the growth above linear."""
    lines = [
        "| what grows | size | compile, s | time, s | memory, MB | exponents |",
        "|---|---|---|---|---|---|",
    ]
    named = []
    for kind, result in results.items():
        sizes, costs = result["sizes"], result["costs"]
        for i, (size, cost) in enumerate(zip(sizes, costs, strict=True)):
            exponents = {n: exponent(costs, sizes, i, n) for n in cost} if i else {}
            lines.append(
                f"| {kind}: {CASES[kind].work} | {size:,} | {cost['compile']:.1f} | "
                f"{cost['time']:.3g} | {cost['memory']:.0f} | "
                f"{', '.join(f'{e:.2f}' for e in exponents.values())} |"
            )
            named += [
                f"- {kind}, {name}, {sizes[i - 1]:,} to {size:,}: {e:.2f}"
                for name, e in exponents.items()
                if e > NOTED and cost[name] > WORTH[name]
            ]
        if result["end"]:
            lines.append(f"| {kind} | {result['end'][0]:,} | {result['end'][1]} | | | |")
    title = f"Exponents above {NOTED}, of costs that are not small:"
    return "\n".join([*lines, "", title, "", *(named or ["- none"])])


def picture(results: dict[str, dict[str, Any]], path: Path) -> None:
    """Draw costs over sizes, on logarithmic scales."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "growth"
    import matplotlib.pyplot as plt

    titles = {"compile": "compile, s", "time": "time of the work, s", "memory": "memory, MB"}
    figure, axes = plt.subplots(1, 3, figsize=(11, 4.2), layout="constrained")
    for axis, (name, title) in zip(axes, titles.items(), strict=True):
        for kind, result in results.items():
            values = [max(cost[name], 1e-3) for cost in result["costs"]]
            axis.loglog(result["sizes"], values, "o-", markersize=3, linewidth=1.2, label=kind)
        low, high = axis.get_ylim()
        ends = np.array([1.0, 1e7])
        for start in (1e-7, 1e-5, 1e-3, 1e-1):  # lines of linear growth
            axis.plot(ends, start * ends * low, color="0.85", linewidth=0.7, zorder=0)
        axis.set_ylim(low, high)
        axis.set_title(title, fontsize=10)
        axis.set_xlabel("size")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower left", ncols=5)
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kinds", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--json", type=Path, help="write the results to this file")
    parser.add_argument("--picture", nargs=2, type=Path, metavar=("JSON", "SVG"))
    options = parser.parse_args()
    if options.picture:
        source, path = options.picture
        picture(json.loads(source.read_text()), path)
        return
    results: dict[str, dict[str, Any]] = {}
    for kind in options.kinds:
        result: dict[str, Any] = {"sizes": [], "costs": [], "end": None}
        results[kind] = result
        for size in CASES[kind].sizes:
            costs = in_a_process(kind, size)
            print(kind, size, costs, file=sys.stderr, flush=True)
            if isinstance(costs, str):
                result["end"] = (size, costs)
                break
            result["sizes"].append(size)
            result["costs"].append(costs)
        if options.json:
            options.json.write_text(json.dumps(results, indent=1) + "\n")
    print(table(results))


if __name__ == "__main__":
    main()
