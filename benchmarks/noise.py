#!/usr/bin/env python
"""The cost of random numbers, against `jax.random` and NumPy.

    python benchmarks/noise.py [--repeats 7]

See README.md. In a loop: ten float64 normals per step inside one program, less the time of the same
loop without them. In bulk: 2**20 numbers of several distributions in one call. Compilation: a
function of many draws. All figures are processor times, because NumPy uses one core.
"""

import argparse
import os
import time
from collections.abc import Callable
from datetime import date
from functools import partial
from statistics import median
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from environments import machine
from jax import lax
from records import record

import kinetograph as kg
from kinetograph.bits.source import Source, event_source
from kinetograph.distributions.family import FAMILIES
from kinetograph.distributions.truncated_normal import TRUNCATED_NORMAL
from kinetograph.streams.orders import INTEGERS, PERMUTATION

GENERATORS = {**FAMILIES, **{g.name: g for g in (INTEGERS, PERMUTATION, TRUNCATED_NORMAL)}}
STEPS, BULK = 20_000, 2**20
KEY = tuple(np.uint32(word) for word in (1, 2, 3, 4))


def in_loop(draw: Callable[[Any], Any]) -> Callable[[], Any]:
    """A loop that adds ten numbers to a vector at each step."""

    def step(x: Any, i: Any) -> Any:
        return 0.9 * x + 0.1 * draw(i), None

    program = jax.jit(lambda x: lax.scan(step, x, jnp.arange(STEPS, dtype=jnp.uint32))[0])
    return lambda: jax.block_until_ready(program(jnp.zeros(10)))


def cases() -> dict[str, tuple[Callable[[], Any], float]]:
    """The timed functions, each with its number of units per call."""
    theirs = jax.random.key(1)
    zero = jnp.uint32(0)

    def ours(i: Any) -> Any:
        return event_source(KEY, (i, zero), zero, (10,), np.float64).normal()

    def other(i: Any) -> Any:
        return jax.random.normal(jax.random.fold_in(theirs, i), (10,), jnp.float64)

    found: dict[str, tuple[Callable[[], Any], float]] = {
        "loop nothing": (in_loop(lambda i: jnp.full(10, 1e-9 * i)), STEPS),
        "loop kinetograph": (in_loop(ours), STEPS),
        "loop jax.random": (in_loop(other), STEPS),
    }
    for dtype in (np.float64, np.float32):
        mine = jax.jit(lambda key, dtype=dtype: Source(key, (BULK,), dtype).normal())
        its = jax.jit(lambda key, dtype=dtype: jax.random.normal(key, (BULK,), dtype))
        name = np.dtype(dtype).name
        found[f"{name} kinetograph"] = (lambda f=mine: jax.block_until_ready(f(KEY)), BULK)
        found[f"{name} jax.random"] = (lambda f=its: jax.block_until_ready(f(theirs)), BULK)
    return found


def laws() -> dict[str, tuple[Callable[[], Any], Callable[[], Any], float]]:
    """Functions of kinetograph and of the peer, and the target ratio."""
    numpy, key = np.random.default_rng(1), jax.random.key(1)
    truncated = jax.jit(lambda k: jax.random.truncated_normal(k, -1.0, 2.0, (BULK,), np.float64))

    def ours(name: str, *parameters: Any) -> Callable[[], Any]:
        def draw(key: Any, *parameters: Any) -> Any:
            return GENERATORS[name].draw(Source(key, (BULK,), np.float64), *parameters)

        program, values = jax.jit(draw), [jnp.asarray(p) for p in parameters]
        return lambda: jax.block_until_ready(program(KEY, *values))

    found: dict[str, tuple[Callable[[], Any], Callable[[], Any], float]] = {
        "normal": (ours("normal", 0.0, 1.0), lambda: numpy.standard_normal(BULK), 1.0),
        "permutation": (ours("permutation"), lambda: numpy.permutation(BULK), 5.0),
        "truncated_normal(0, 1, -1, 2), jax.random": (
            ours("truncated_normal", 0.0, 1.0, -1.0, 2.0),
            lambda: jax.block_until_ready(truncated(key)),
            1.0,
        ),
    }
    for name, *parameters in (
        ("gamma", 2.5, 1.0),
        ("gamma", 0.5, 1.0),
        ("integers", 0, 10),
        ("binomial", 10, 0.3),
        ("binomial", 100, 0.3),
        ("binomial", 1000, 0.4),
        ("poisson", 3.0),
        ("poisson", 30.0),
    ):
        text = f"{name}({', '.join(map(str, parameters))})"
        theirs = partial(getattr(numpy, name), *parameters, BULK)
        found[text] = (ours(name, *parameters), theirs, 3.0)
    return found


def law_times(repeats: int) -> tuple[list[str], dict[str, list[float]]]:
    """Nanoseconds of processor time per number, both sides by turns."""
    lines = [
        "",
        "| one of 2**20 | kinetograph | NumPy | ratio | goal |",
        "|---|---|---|---|---|",
    ]
    times: dict[str, list[float]] = {}
    for name, (*both, goal) in laws().items():
        for function in both:
            function()
        for _ in range(repeats):
            for who, function in zip(("kinetograph", "other"), both, strict=True):
                start = time.process_time()
                function()
                spent = (time.process_time() - start) / BULK * 1e9
                times.setdefault(f"{name} {who}", []).append(spent)
        mine, other = (times[f"{name} {who}"] for who in ("kinetograph", "other"))
        cells = [f"{median(t):.3g} ({min(t):.3g}-{max(t):.3g})" for t in (mine, other)]
        ratio = median(a / b for a, b in zip(mine, other, strict=True))
        lines.append(f"| {name} | {' | '.join(cells)} | {ratio:.2f} | {goal:g} |")
    return lines, times


def compile_times() -> list[str]:
    """Processor seconds to compile and call a function of many draws."""
    lines = ["", "| first call of a function of | CPU s |", "|---|---|"]
    for count, name, parameters in ((1, "normal", ()), (100, "normal", ()), (10, "gamma", (2.0,))):
        streams = kg.RandomStreams(1)
        draws = [getattr(streams, name)(*parameters) for _ in range(count)]
        function = kg.compile([], draws)
        start = time.process_time()
        function()
        lines.append(f"| {count} {name} | {time.process_time() - start:.2f} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    repeats = parser.parse_args().repeats
    jax.config.update("jax_enable_x64", True)
    load = os.getloadavg()[0]
    timed = cases()
    times: dict[str, list[float]] = {name: [] for name in timed}
    for function, _ in timed.values():
        function()
    for _ in range(repeats):
        for name, (function, units) in timed.items():
            start = time.process_time()
            function()
            times[name].append((time.process_time() - start) / units * 1e9)
    rows = {
        "10 float64 normals a step of a loop": ("loop", times["loop nothing"], 150),
        "a float64 normal of 2**20": ("float64", [0.0] * repeats, 4),
        "a float32 normal of 2**20": ("float32", [0.0] * repeats, 2),
    }
    lines = [
        "# Random numbers",
        "",
        f"{date.today().isoformat()}; {machine()['cpu']}, {machine()['cores']} cores, load at the "
        f"start {load:.1f}; ns of processor time, medians of {repeats} (least-greatest).",
        "",
        "| | kinetograph | jax.random | goal |",
        "|---|---|---|---|",
    ]
    for text, (name, base, goal) in rows.items():
        cells = []
        for who in ("kinetograph", "jax.random"):
            values = [a - b for a, b in zip(times[f"{name} {who}"], base, strict=True)]
            cells.append(f"{median(values):.3g} ({min(values):.3g}-{max(values):.3g})")
        lines.append(f"| {text} | {' | '.join(cells)} | {goal} |")
    more, processor = law_times(repeats)
    lines += more + compile_times()
    record("noise", "\n".join(lines), nanoseconds=times, laws=processor)


if __name__ == "__main__":
    main()
