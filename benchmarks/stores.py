"""Runs with and without a store: draws per second, and memory.

    python benchmarks/stores.py

Both kinds of runs take turns, and the fastest of each counts. Memory is the peak of a process, for
an increasing number of draws.
"""

import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import kinetograph as kg

REPEATS = 5


def schools() -> kg.Model:
    """Ten unknowns, the cheapest draws: 0.5 us a gradient."""
    y = kg.data([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
    sigma = kg.data([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])
    mu, tau = kg.normal(0, 5, name="mu"), kg.half_cauchy(5, name="tau")
    z = kg.normal(0, 1, shape=8, name="z")
    kg.observe(y, kg.normal(mu + tau * z, sigma))
    return kg.model(mu, tau, theta=mu + tau * z)


def regression() -> kg.Model:
    """A regression of 2,000 rows and 20 columns."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2000, 20))
    b = kg.normal(0, 1, shape=20, name="b")
    kg.observe((rng.random(2000) < 0.5).astype(int), kg.bernoulli(kg.ilogit(kg.data(x) @ b)))
    return kg.model(b)


def seconds(model: kg.Model, draws: int, **options: Any) -> float:
    """Seconds of sampling alone, and of the whole run."""
    tree = kg.mcmc(model, draws=draws, seed=1, warmup=300, progress=False, **options)
    found: float = tree.attrs["sampling_time"]
    return found


def ratios() -> None:
    for make, draws in ((schools, 200_000), (regression, 5_000)):
        model, folder = make(), Path(tempfile.mkdtemp())
        kg.mcmc(model, draws=10, seed=1, warmup=300, progress=False)
        best = {"without": np.inf, "with": np.inf, "float32": np.inf}
        for _ in range(REPEATS):
            best["without"] = min(best["without"], seconds(model, draws))
            for name, dtype in (("with", None), ("float32", "float32")):
                path = folder / "run.zarr"
                shutil.rmtree(path, ignore_errors=True)
                best[name] = min(best[name], seconds(model, draws, store=path, dtype=dtype))
        shutil.rmtree(folder)
        print(
            f"{make.__name__}: {draws} draws of 4 chains: {best['without']:.2f} s without a store, "
            f"{best['with']:.2f} s with (throughput {best['without'] / best['with']:.2f}), "
            f"{best['float32']:.2f} s of float32"
        )


def memory() -> None:
    for draws in (60_000, 600_000, 6_000_000):
        code = f"import sys; sys.path.insert(0, 'benchmarks'); import stores; stores.peak({draws})"
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True
        )
        print(f"{4 * draws} draws: at most {done.stdout.strip()} MiB")


def peak(draws: int) -> None:
    folder = Path(tempfile.mkdtemp())
    try:
        kg.mcmc(
            schools(), draws=draws, seed=1, progress=False, store=folder / "run.zarr", keep=["tau"]
        )
    finally:
        shutil.rmtree(folder)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)


if __name__ == "__main__":
    ratios()
    memory()
