#!/usr/bin/env python
"""The cost of a call of a compiled function, against `jax.jit`.

    python benchmarks/calls.py [--rounds 200]

See README.md. The functions compute almost nothing and take numbers or a short array, so that the
overhead of a call is measured. kinetograph returns NumPy arrays. The JAX side is measured twice:
once reading the result as a NumPy array, and once without waiting for it. The sides take turns
within a round, a few calls each, so that other load affects all of them; ratios are taken per
round.
"""

import argparse
import os
import time
from collections.abc import Callable
from datetime import date
from statistics import quantiles
from typing import Any

import numpy as np
from environments import machine
from records import record

CALLS = 20  # per side and round
GOAL = 2.0


def plain(x: Any, y: Any) -> Any:
    """A function without a loop."""
    import kinetograph as kg

    return kg.sin(x) * y + 1.0


def loop(x: Any, y: Any) -> Any:
    """A function with a loop, of two trips."""
    while x < 3:
        x = x * y + 1.0
    return x


def rows(x: Any, y: Any) -> Any:
    """A function of an array, with a loop, of two results."""
    import kinetograph as kg

    total = 0.0
    while total < y:
        total = total + kg.sum(x)
    return total, x * y


def gradient(x: Any, y: Any) -> Any:
    """The loop's result and gradients."""
    import kinetograph as kg

    result = loop(x, y)
    return result, *kg.gradients(result, [x, y])


def compiled(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Callable[..., Any]:
    """The functions compiled by `kg.compile`."""
    import kinetograph as kg

    inputs = [kg.placeholder(np.shape(a), name=n) for n, a in zip("xy", arguments, strict=True)]
    found = kg.autograph.convert(function)(*inputs)
    return kg.compile(inputs, list(found) if isinstance(found, tuple) else found)


def in_jax() -> dict[str, Callable[..., Any]]:
    """The same functions compiled by `jax.jit`."""
    import jax
    import jax.numpy as jnp

    def turned(x: Any, y: Any) -> Any:
        return jax.lax.while_loop(lambda x: x < 3, lambda x: x * y + 1.0, x)

    def unrolled(x: Any, y: Any) -> Any:  # JAX cannot differentiate such a loop in reverse mode
        for _ in range(3):
            x = jnp.where(x < 3, x * y + 1.0, x)
        return x

    def of_rows(x: Any, y: Any) -> Any:
        more = jax.lax.while_loop(lambda t: t < y, lambda t: t + jnp.sum(x), 0.0)
        return more, x * y

    def with_gradients(x: Any, y: Any) -> Any:
        result, gradients = jax.value_and_grad(unrolled, (0, 1))(x, y)
        return result, *gradients

    functions = {
        "no loop": lambda x, y: jnp.sin(x) * y + 1.0,
        "a loop": turned,
        "a loop's gradients": with_gradients,
        "an array and a loop": of_rows,
    }
    return {name: jax.jit(function) for name, function in functions.items()}


def read(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, with its results as NumPy arrays."""

    def call(x: Any, y: Any) -> Any:
        found = function(x, y)
        return [*map(np.asarray, found)] if isinstance(found, tuple) else np.asarray(found)

    return call


def timed(
    sides: dict[str, Callable[..., Any]], arguments: tuple[Any, ...], rounds: int
) -> dict[str, list[float]]:
    """Microseconds a call, of each side in each round."""
    found: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(rounds):
        for name, side in sides.items():
            start = time.perf_counter()
            for _ in range(CALLS):
                side(*arguments)
            found[name].append((time.perf_counter() - start) / CALLS * 1e6)
            flat(side(*arguments))  # wait, so that no work is left for the next side
    return found


def flat(found: Any) -> np.ndarray:
    """All numbers of the results."""
    parts = found if isinstance(found, (tuple, list)) else [found]
    return np.concatenate([np.ravel(part) for part in parts])


def spread(values: list[float]) -> str:
    low, middle, high = quantiles(values, n=4)
    return f"{middle:.3g} ({low:.3g}-{high:.3g})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    rounds = parser.parse_args().rounds
    import jax

    import kinetograph as kg

    load = os.getloadavg()[0]
    lines = [
        "# Calls of compiled functions",
        "",
        f"{date.today().isoformat()}; {machine()['cpu']}, {machine()['cores']} cores, load at the "
        f"start {load:.1f}; float64; medians (quartiles) of {rounds} rounds of "
        f"{CALLS} calls.",
        "",
        "| | us a call | to jax.jit, read | to jax.jit, not read |",
        "|---|---|---|---|",
    ]
    times = {}
    numbers, array = (1.5, 2.5), (np.array([0.5, 1.0, 1.5]), 5.0)
    cases = {
        "no loop": (plain, numbers),
        "a loop": (loop, numbers),
        "a loop's gradients": (gradient, numbers),
        "an array and a loop": (rows, array),
    }
    with jax.enable_x64(True):  # for the JAX side
        for name, (function, arguments) in cases.items():
            jitted = in_jax()[name]
            sides = {
                "kg.compile": compiled(function, arguments),
                "kg.function": kg.function(function),
                "jax.jit, read": read(jitted),
                "jax.jit, not read": jitted,
            }
            results = [flat(side(*arguments)) for side in sides.values()]
            if not all(np.allclose(result, results[0], rtol=1e-12) for result in results):
                raise SystemExit(f"results differ: {results}")
            times[name] = found = timed(sides, arguments, rounds)
            for side, values in found.items():
                ratios = [
                    spread([a / b for a, b in zip(values, found[other], strict=True)])
                    for other in ("jax.jit, read", "jax.jit, not read")
                    if side.startswith("kg")
                ]
                cells = " | ".join([f"{name}, {side}", spread(values), *ratios])
                lines.append(f"| {cells} |" + " |" * (2 - len(ratios)))
    lines += ["", f"Goal: at most {GOAL:g} times jax.jit's."]
    record("calls", "\n".join(lines), times=times)


if __name__ == "__main__":
    main()
