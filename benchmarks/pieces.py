#!/usr/bin/env python
"""A model built by a loop against a model of arrays.

Steps over time are compared with `kg.scan`.
It measures whole runs, compilation and gradients, in processor time, which depends little on other
load.
"""

import argparse
import os
import time
import warnings
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

import kinetograph as kg
from kinetograph.graph.precision import x64

ROWS = 5  # rows of each piece
Data = dict[str, Any]
Make = Callable[[Data, bool], kg.Model]


def data(pieces: int, seed: int = 0) -> Data:
    """Data of pieces: numbers, rows, counts, and 1 to 9 rows."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 10, pieces)
    return {
        "y": rng.normal(size=pieces),
        "Y": rng.normal(size=(pieces, ROWS)),
        "x": rng.normal(size=(pieces, ROWS)),
        "X": rng.normal(size=(pieces, ROWS, 2)),
        "counts": rng.poisson(2.0, size=pieces),
        "owner": np.repeat(np.arange(pieces), lengths),
        "ragged": [rng.normal(size=n) for n in lengths],
        "ragged_counts": [rng.poisson(2.0, size=n) for n in lengths],
        "ragged_x": [rng.normal(size=n) for n in lengths],
    }


def above() -> tuple[kg.Array, kg.Array]:
    return kg.normal(0, 5, name="mu"), kg.half_normal(1, name="tau")


def loop_of(step: Callable[..., None], **more: Any) -> Make:
    """A model that makes one unknown for each piece in a loop."""

    def make(d: Data, named: bool) -> kg.Model:
        mu, tau = above()
        s = kg.half_normal(1, name="s")
        for i in range(len(d["y"])):
            a = kg.normal(mu, tau, name=f"a{i}" if named else None, **more)
            step(d, i, a, mu, s)
        return kg.model(mu, tau, s)

    return make


def arrays_of(whole: Callable[..., None], more: tuple[int, ...] = ()) -> Make:
    def make(d: Data, named: bool) -> kg.Model:
        mu, tau = above()
        s = kg.half_normal(1, name="s")
        a = kg.normal(mu, tau, shape=(len(d["y"]), *more), name="a")
        whole(d, a, mu, s)
        return kg.model(mu, tau, s)

    return make


def numbers_step(d: Data, i: int, a: kg.Array, mu: kg.Array, s: kg.Array) -> None:
    kg.observe(kg.data(d["y"][i]), kg.normal(a, s))


def numbers(d: Data, a: kg.Array, mu: kg.Array, s: kg.Array) -> None:
    kg.observe(d["y"], kg.normal(a, s))


def five_step(d: Data, i: int, a: kg.Array, mu: kg.Array, s: kg.Array) -> None:
    kg.observe(d["Y"][i], kg.normal(a, s))


def five(d: Data, a: kg.Array, mu: kg.Array, s: kg.Array) -> None:
    group = np.repeat(np.arange(len(d["y"])), ROWS)
    kg.observe(d["Y"].reshape(-1), kg.normal(a[group], s))


def two_terms_step(d: Data, i: int, a: kg.Array, mu: kg.Array, s: kg.Array) -> None:
    kg.observe(d["Y"][i], kg.normal(a, s))
    kg.observe(kg.data(d["counts"][i]), kg.poisson(kg.exp(0.1 * a)))


def two_terms(d: Data, a: kg.Array, mu: kg.Array, s: kg.Array) -> None:
    five(d, a, mu, s)
    kg.observe(d["counts"], kg.poisson(kg.exp(0.1 * a)))


def vector_step(d: Data, i: int, a: kg.Array, mu: kg.Array, s: kg.Array) -> None:
    kg.observe(d["Y"][i], kg.normal(d["X"][i] @ a, s))


def vector(d: Data, a: kg.Array, mu: kg.Array, s: kg.Array) -> None:
    group = np.repeat(np.arange(len(d["y"])), ROWS)
    X = d["X"].reshape(-1, 2)
    mean = a[:, 0][group] * X[:, 0] + a[:, 1][group] * X[:, 1]
    kg.observe(d["Y"].reshape(-1), kg.normal(mean, s))


def regression_step(d: Data, i: int, a: kg.Array, mu: kg.Array, s: kg.Array) -> None:
    kg.observe(d["Y"][i], kg.normal(a + mu * d["x"][i], s))


def regression(d: Data, a: kg.Array, mu: kg.Array, s: kg.Array) -> None:
    group = np.repeat(np.arange(len(d["y"])), ROWS)
    kg.observe(d["Y"].reshape(-1), kg.normal(a[group] + mu * d["x"].reshape(-1), s))


def ragged_step(d: Data, i: int, a: kg.Array, mu: kg.Array, s: kg.Array) -> None:
    kg.observe(d["ragged"][i], kg.normal(a, s))


def ragged(d: Data, a: kg.Array, mu: kg.Array, s: kg.Array) -> None:
    kg.observe(np.concatenate(d["ragged"]), kg.normal(a[d["owner"]], s))


def ragged_counts_step(d: Data, i: int, a: kg.Array, mu: kg.Array, s: kg.Array) -> None:
    rate = kg.exp(0.1 * a + mu * d["ragged_x"][i])
    kg.observe(d["ragged_counts"][i], kg.poisson(rate))


def ragged_counts(d: Data, a: kg.Array, mu: kg.Array, s: kg.Array) -> None:
    rate = kg.exp(0.1 * a[d["owner"]] + mu * np.concatenate(d["ragged_x"]))
    kg.observe(np.concatenate(d["ragged_counts"]), kg.poisson(rate))


def rows_loop(d: Data, named: bool) -> kg.Model:
    mu, tau = above()
    s = kg.half_normal(1, name="s")
    for x, y in zip(d["x"], d["Y"], strict=True):
        kg.observe(y, kg.normal(mu + tau * x, s))
    return kg.model(mu, tau, s)


def rows_arrays(d: Data, named: bool) -> kg.Model:
    mu, tau = above()
    s = kg.half_normal(1, name="s")
    kg.observe(d["Y"].reshape(-1), kg.normal(mu + tau * d["x"].reshape(-1), s))
    return kg.model(mu, tau, s)


def walk(d: Data, named: bool, steps: Callable[..., Any]) -> kg.Model:
    """Steps over time of a level that is observed.

    `steps` returns the levels.
    """
    rho, sd, s = kg.uniform(0, 1), kg.half_normal(1), kg.half_normal(1)
    z = kg.normal(0, 1, shape=len(d["y"]))
    kg.observe(d["y"], kg.normal(steps(rho, sd, z), s))
    return kg.model(rho, sd, s)


def by_loop(step: Callable[..., Any]) -> Callable[..., Any]:
    def steps(rho: kg.Array, sd: kg.Array, z: kg.Array) -> kg.Array:
        level, levels = 0.0, []
        for t in range(len(z)):
            level = step(level, rho, sd, z[t])
            levels.append(level)
        return kg.stack(levels)

    return steps


def by_scan(step: Callable[..., Any]) -> Callable[..., Any]:
    def steps(rho: kg.Array, sd: kg.Array, z: kg.Array) -> kg.Array:
        return kg.scan(lambda level, z: (step(level, rho, sd, z),) * 2, 0.0, z)[1]

    return steps


def sum_of(level: Any, rho: kg.Array, sd: kg.Array, z: kg.Array) -> Any:
    return level + rho * sd * z


def autoregression(level: Any, rho: kg.Array, sd: kg.Array, z: kg.Array) -> Any:
    return rho * level + sd * z


def curved(level: Any, rho: kg.Array, sd: kg.Array, z: kg.Array) -> Any:
    return kg.tanh(rho * level) + sd * z


def over_time(step: Callable[..., Any]) -> tuple[Make, Make]:
    """The model with a Python loop, and with `kg.scan`."""
    return (
        lambda d, named: walk(d, named, by_loop(step)),
        lambda d, named: walk(d, named, by_scan(step)),
    )


SHAPES: dict[str, tuple[Make, Make]] = {
    "one number": (loop_of(numbers_step), arrays_of(numbers)),
    "five numbers": (loop_of(five_step), arrays_of(five)),
    "two terms": (loop_of(two_terms_step), arrays_of(two_terms)),
    "a vector each": (loop_of(vector_step, shape=2), arrays_of(vector, (2,))),
    "regression, own intercepts": (loop_of(regression_step), arrays_of(regression)),
    "regression, nothing of its own": (rows_loop, rows_arrays),
    "1 to 9 numbers": (loop_of(ragged_step), arrays_of(ragged)),
    "1 to 9 counts": (loop_of(ragged_counts_step), arrays_of(ragged_counts)),
    "a sum over time": over_time(sum_of),
    "an autoregression": over_time(autoregression),
    "a curved recurrence": over_time(curved),
}


def gradient(model: kg.Model) -> tuple[float, float]:
    """Seconds to compile value and gradient, and microseconds per gradient."""
    with x64():
        values = [jax.numpy.asarray(v) for v in model.argument_values]
        free = jax.numpy.asarray(0.3 * np.random.default_rng(1).normal(size=model.free_size))

        def density(free: jax.Array, values: list[jax.Array]) -> jax.Array:
            return model.density.log_density(free, model.bind(values).data)

        start = time.process_time()
        jax.jit(jax.value_and_grad(density)).lower(free, values).compile()
        compiled = time.process_time() - start

        @jax.jit
        def many(free: jax.Array, values: list[jax.Array], calls: int) -> jax.Array:
            """Compute gradients one after the other in a program, as samplers do."""

            def step(_: int, free: jax.Array) -> jax.Array:
                value, slope = jax.value_and_grad(density)(free, values)
                return free + 1e-9 * slope + 0 * value

            return jax.lax.fori_loop(0, calls, step, free)

        def seconds(calls: int) -> float:
            start = time.process_time()
            many(free, values, calls).block_until_ready()
            return time.process_time() - start

        seconds(10)
        calls = 1000
        while seconds(calls) < 0.05:  # long enough to neglect the transfer of the data
            calls *= 2
        return compiled, 1e6 * min(seconds(calls) for _ in range(5)) / calls


def run(model: kg.Model, draws: int) -> float:
    """Seconds of a whole run, with compilation."""
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kg.SamplingWarning)
        kg.mcmc(model, draws=draws, warmup=draws, chains=1, seed=1, progress=False)
    return time.process_time() - start


def measure(make: Make, d: Data, named: bool, draws: int) -> list[float]:
    start = time.process_time()
    model = make(d, named)
    built = time.process_time() - start
    return [built, *gradient(model), *([run(model, draws)] if draws else [])]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pieces", nargs="+", type=int, default=[300])
    parser.add_argument("--shapes", nargs="+", default=list(SHAPES))
    parser.add_argument("--names", nargs="+", type=int, default=[0, 1], help="0: none, 1: given")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--draws", type=int, default=200, help="0: no runs")
    options = parser.parse_args()
    os.environ["KINETOGRAPH_CACHE"] = "off"
    heads = ["build, s", "compile, s", "gradient, us", "run, s"]
    heads = heads if options.draws else heads[:3]
    if options.draws:
        run(
            SHAPES["one number"][1](data(3), False), options.draws
        )  # imports the modules that runs need
    print("| pieces | | names | |", " | ".join(heads), "|")
    print("|---" * (4 + len(heads)) + "|")
    for pieces in options.pieces:
        d = data(pieces)
        for shape in options.shapes:
            for named in map(bool, options.names):
                found = {"arrays": [], "loop": []}
                for _ in range(options.repeats):
                    for name, make in zip(("loop", "arrays"), SHAPES[shape], strict=True):
                        settings = named, options.draws
                        found[name].append(measure(make, d, *settings))
                best = {name: np.min(rows, 0) for name, rows in found.items()}
                best["ratio"] = best["loop"] / best["arrays"]
                for name, row in best.items():
                    words = f"| {pieces} | {shape} | {'given' if named else 'none'} | {name} |"
                    print(words, " | ".join(f"{x:.3g}" for x in row), "|", flush=True)
