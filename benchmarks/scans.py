"""A cheap sampler against a hand-written scan.

    python benchmarks/scans.py

A BAOAB step of three numbers takes 0.2 us, so that the cost of blocks, results and advice shows. It
times 100,000 steps by `lax.scan`, with all noise drawn before, by `kg.chain`, and by one chain of
`kg.mcmc` that keeps all draws. The runs take turns; minimum and median are printed.
"""

import time
import warnings
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import kinetograph as kg

STEPS, TURNS, STEP = 100_000, 21, 0.5


def by_hand() -> Callable[[], Any]:
    """BAOAB of a standard normal, with positions, log densities and kinetic energies."""
    decay = np.exp(-STEP)

    @jax.jit
    def scan(key: Any) -> Any:
        def step(carry: Any, noise: Any) -> Any:
            q, p, gradient = carry
            p = p - STEP / 2 * gradient
            q = q + STEP / 2 * p
            p = decay * p + np.sqrt(1 - decay**2) * noise
            q = q + STEP / 2 * p
            p = p - STEP / 2 * q
            return (q, p, q), (q, -0.5 * q @ q, 0.5 * p @ p)

        zero = jnp.zeros(3)
        return jax.lax.scan(step, (zero, zero, zero), jax.random.normal(key, (STEPS, 3)))[1]

    return lambda: jax.device_get(scan(jax.random.key(1)))


def main() -> None:
    jax.config.update("jax_enable_x64", True)
    warnings.simplefilter("ignore")
    model, sampler = kg.model(kg.normal(0, 1, shape=3, name="x")), kg.samplers.BAOAB(STEP)
    chain = kg.chain(model, sampler, seed=1)
    options: Any = {"draws": STEPS, "warmup": 0, "chains": 1, "seed": 1, "progress": False}
    ways = {
        "scan by hand": by_hand(),
        "`chain.step(keep=False)`": lambda: chain.step(STEPS, keep=False),
        "`chain.step`": lambda: chain.step(STEPS),
        "`kg.mcmc`": lambda: kg.mcmc(model, sampler, **options),
    }
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for way in ways.values():
        way()
    for _ in range(TURNS):
        for name, way in ways.items():
            begun = time.perf_counter()
            way()
            seconds[name].append(time.perf_counter() - begun)
    least = min(seconds["scan by hand"])
    print("| | least, ms | median, ms | least, of the scan's |\n|---|---|---|---|")
    for name, each in seconds.items():
        print(
            f"| {name} | {1e3 * min(each):.1f} | {1e3 * np.median(each):.1f} | "
            f"{min(each) / least:.2f} |"
        )


if __name__ == "__main__":
    main()
