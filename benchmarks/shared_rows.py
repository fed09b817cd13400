"""The time of a gradient of rows that devices share.

A Poisson regression of many rows, sampled by BAOAB in one chain. Each case runs in processes of its
own, in turn, with a processor divided into host devices; the table has the median of the processes,
and ratios to the run without shared rows and to one device with shared rows.

    python benchmarks/shared_rows.py [--rows 1000000] [--columns 5] [--repeats 3]
"""

import argparse
import os
import statistics
import subprocess
import sys
import time

CASES = {
    "not shared": (1, {}),
    "1 device": (1, {"shard": "rows"}),
    "2 devices": (2, {"shard": "rows"}),
    "1 device, fast": (1, {"shard": "rows", "reduction": "fast"}),
    "2 devices, fast": (2, {"shard": "rows", "reduction": "fast"}),
}


def seconds(name: str, rows: int, columns: int, draws: int = 60) -> float:
    """The seconds of a gradient in this process."""
    import numpy as np

    import kinetograph as kg

    random = np.random.default_rng(1)
    x = kg.data(random.normal(size=(rows, columns)), "x")
    y = kg.data(random.poisson(2.0, size=rows), "y")
    w = kg.normal(0, 1, shape=columns, name="w")
    kg.observe(y, kg.poisson(kg.exp(x @ w)))
    model, sampler = kg.model(w), kg.samplers.BAOAB(1e-6)
    settings = {"chains": 1, "warmup": 0, "seed": 1, "progress": False} | CASES[name][1]
    settings |= {"chain_method": "batch", "initial": {"w": np.zeros(columns)}}
    kg.mcmc(model, sampler, draws=1, **settings)
    begun = time.perf_counter()
    tree = kg.mcmc(model, sampler, draws=draws, **settings)
    total = time.perf_counter() - begun
    begun = time.perf_counter()
    kg.mcmc(model, sampler, draws=1, **settings)
    start = time.perf_counter() - begun
    return (total - start) / (int(tree.attrs["gradients"]) - 1)


def measured(name: str, arguments: argparse.Namespace) -> float:
    """The seconds of a gradient in a new process."""
    flags = f"--xla_force_host_platform_device_count={CASES[name][0]}"
    env = os.environ | {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"}
    sizes = ["--rows", str(arguments.rows), "--columns", str(arguments.columns)]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", __file__, "--case", name, *sizes],
        env=env, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return float(done.stdout.split()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--case")
    arguments = parser.parse_args()
    if arguments.case:
        print(seconds(arguments.case, arguments.rows, arguments.columns))
        return
    times: dict[str, list[float]] = {name: [] for name in CASES}
    for _ in range(arguments.repeats):
        for name, each in times.items():
            each.append(measured(name, arguments))
    median = {name: statistics.median(each) for name, each in times.items()}
    print(f"{arguments.rows:,} rows, {arguments.columns} columns\n")
    print("| | ms a gradient | least to most | times not shared | times 1 device |")
    print("|---|---|---|---|---|")
    for name, each in times.items():
        spread = f"{1e3 * min(each):.2f} to {1e3 * max(each):.2f}"
        plain, one = median[name] / median["not shared"], median[name] / median["1 device"]
        print(f"| {name} | {1e3 * median[name]:.2f} | {spread} | {plain:.2f} | {one:.2f} |")


if __name__ == "__main__":
    main()
