#!/usr/bin/env python
"""A model built by a loop against the same model of arrays: building, compiling, a gradient."""

import argparse
import time
from collections.abc import Callable

import jax
import numpy as np

import kinetograph as kg
from kinetograph.graph.precision import x64
from kinetograph.models.density import data_environment


def by_loop(y: np.ndarray) -> kg.Model:
    mu, tau = kg.normal(0, 5, name="mu"), kg.half_normal(1, name="tau")
    for value in y:
        a = kg.normal(mu, tau)
        kg.observe(kg.data(value), kg.normal(a, 1))
    return kg.model(mu, tau)


def by_arrays(y: np.ndarray) -> kg.Model:
    mu, tau = kg.normal(0, 5, name="mu"), kg.half_normal(1, name="tau")
    a = kg.normal(mu, tau, shape=len(y))
    kg.observe(y, kg.normal(a, 1))
    return kg.model(mu, tau)


def measure(make: Callable[[np.ndarray], kg.Model], y: np.ndarray, calls: int) -> list[float]:
    """Seconds to build and to compile value and gradient, microseconds of one."""
    start = time.perf_counter()
    model = make(y)
    built = time.perf_counter() - start
    with x64():
        values = [jax.numpy.asarray(v) for v in model.argument_values]
        free = jax.numpy.asarray(np.random.default_rng(1).normal(size=model.free_size))

        def density(free: jax.Array, values: list[jax.Array]) -> jax.Array:
            return model.density.log_density(free, data_environment(model.arguments, values))

        start = time.perf_counter()
        jax.jit(jax.value_and_grad(density)).lower(free, values).compile()
        compiled = time.perf_counter() - start

        @jax.jit
        def many(free: jax.Array, values: list[jax.Array]) -> jax.Array:
            """As a sampler has them: one after the other, inside of a program."""

            def step(_: int, free: jax.Array) -> jax.Array:
                value, slope = jax.value_and_grad(density)(free, values)
                return free + 1e-6 * slope + 0 * value

            return jax.lax.fori_loop(0, calls, step, free)

        many(free, values).block_until_ready()
        best = np.inf
        for _ in range(5):
            start = time.perf_counter()
            many(free, values).block_until_ready()
            best = min(best, (time.perf_counter() - start) / calls)
    return [built, compiled, 1e6 * best]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pieces", nargs="+", type=int, default=[25, 100, 300, 3000])
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    print("| pieces | | build, s | compile, s | value and gradient, us |")
    print("|---|---|---|---|---|")
    for pieces in options.pieces:
        y = np.random.default_rng(0).normal(size=pieces)
        found = {}
        for name, make in (("arrays", by_arrays), ("loop", by_loop)):
            runs = [measure(make, y, 3000) for _ in range(options.repeats)]
            found[name] = np.min(runs, 0)
            print(f"| {pieces} | {name} |", " | ".join(f"{x:.3g}" for x in found[name]), "|")
        ratio = found["loop"] / found["arrays"]
        print(f"| {pieces} | ratio |", " | ".join(f"{x:.2f}" for x in ratio), "|")
