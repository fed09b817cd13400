#!/usr/bin/env python
"""What loops cost in the graph, against the same by hand in JAX: see README.md.

    python benchmarks/loops.py [--repeats 7]

Each figure is that of one execution inside a program that makes many, one after the other (a scan
whose carry they change), so that the 10 us of a call from Python do not count. Times alternate
between the two sides; medians of the repeats, with the least and the greatest.
"""

import argparse
import os
import time
from collections.abc import Callable
from datetime import date
from statistics import median
from typing import Any

import numpy as np
from environments import machine
from records import record

TRIPS = 400
MANY = 300  # executions in a call
TURN = 0.05
START = np.array([1.0, 0.0])


def turned(x: Any, w: Any, stack: Callable[[Any], Any]) -> Any:
    """A trip: a damped turn of a plane vector, with a little curvature."""
    a = x[0] - TURN * w * x[1]
    b = x[1] + TURN * w * x[0] * (1.0 - 0.01 * x[0])
    return stack([a, b])


def graph(kind: str, gradient: bool) -> Callable[[Any], Any]:
    """The loop in kinetograph; `kind` is bounded, or open: until a value is reached."""
    import kinetograph as kg

    def loop(x: Any, w: Any) -> Any:
        if kind == "scan":
            return kg.scan(lambda x, _: (turned(x, w, kg.stack), None), x, None, length=TRIPS)[0]
        bound = TRIPS if kind == "bounded" else None
        _, x = kg.while_loop(
            lambda t, x: t < TRIPS * w,
            lambda t, x: (t + 1, turned(x, w, kg.stack)),
            [0.0, x],
            bound,
        )
        return x

    def once(w: Any, _: Any) -> Any:
        value = loop(kg.data(START), w).sum()
        result = kg.gradients(value, w) if gradient else value
        return w + 1e-300 * result, result

    w = kg.placeholder(name="w")
    return kg.compile([w], kg.scan(once, w, None, length=MANY)[1].sum())


def by_hand(kind: str, gradient: bool) -> Callable[[Any], Any]:
    """The same in JAX, with the reverse loop written out."""
    import jax
    import jax.numpy as jnp
    from jax import lax

    jax.config.update("jax_enable_x64", True)

    def step(x: Any, w: Any) -> Any:
        return turned(x, w, jnp.stack)

    def forward(w: Any) -> Any:
        def body(state: Any) -> Any:
            t, x = state
            return t + 1, step(x, w)

        return lax.while_loop(lambda s: s[0] < TRIPS * w, body, (0.0, jnp.asarray(START)))[1].sum()

    def backward(w: Any) -> Any:
        def body(state: Any) -> Any:
            t, i, x, kept = state
            kept = lax.dynamic_update_slice(kept, x[None], (i, jnp.int32(0)))
            return t + 1, i + 1, step(x, w), kept

        first = (0.0, jnp.int32(0), jnp.asarray(START), jnp.zeros((512, 2)))
        _, trips, _, kept = lax.while_loop(lambda s: s[0] < TRIPS * w, body, first)

        def back(state: Any) -> Any:
            i, ct, ct_w = state
            x = lax.dynamic_slice(kept, (i - 1, jnp.int32(0)), (1, 2))[0]
            _, pull = jax.vjp(step, x, w)
            ct, more = pull(ct)
            return i - 1, ct, ct_w + more

        return lax.while_loop(lambda s: s[0] > 0, back, (trips, jnp.ones(2), 0.0))[2]

    def scanned(w: Any) -> Any:
        return lax.scan(lambda x, _: (step(x, w), None), jnp.asarray(START), None, TRIPS)[0].sum()

    plain = scanned if kind == "scan" else forward
    derived = jax.grad(scanned) if kind == "scan" else backward

    def once(w: Any, _: Any) -> Any:
        result = (derived if gradient else plain)(w)
        return w + 1e-300 * result, result

    program = jax.jit(lambda w: lax.scan(once, w, None, MANY)[1].sum())
    return lambda w: np.asarray(program(w))


def timed(functions: dict[str, Callable[[Any], Any]], repeats: int) -> dict[str, list[float]]:
    """Microseconds an execution, all functions in turn."""
    found: dict[str, list[float]] = {name: [] for name in functions}
    for function in functions.values():
        function(1.0)
    for _ in range(repeats):
        for name, function in functions.items():
            start = time.perf_counter()
            function(1.0)
            found[name].append((time.perf_counter() - start) / MANY * 1e6)
    return found


def spread(values: list[float]) -> str:
    return f"{median(values):.1f} ({min(values):.1f}-{max(values):.1f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    repeats = parser.parse_args().repeats
    functions: dict[str, Callable[[Any], Any]] = {}
    for kind in ("bounded", "open", "scan"):
        for gradient in (False, True):
            what = "gradient" if gradient else "forward"
            functions[f"kinetograph {kind} {what}"] = graph(kind, gradient)
            functions[f"by hand {kind} {what}"] = by_hand(kind, gradient)
    load = os.getloadavg()[0]
    for kind in ("bounded", "open", "scan"):
        for what in ("forward", "gradient"):
            ours, other = (
                functions[f"{who} {kind} {what}"](1.0) for who in ("kinetograph", "by hand")
            )
            if abs(ours - other) > 1e-9 * abs(other):
                raise SystemExit(f"{kind} {what}: {ours} is not {other}")
    found = timed(functions, repeats)
    lines = [
        "# Loops",
        "",
        f"{date.today().isoformat()}; {machine()['cpu']}, {machine()['cores']} cores, load at the "
        f"start {load:.1f}; float64; {TRIPS} trips over a 2-vector; us an execution inside one "
        f"program, medians of {repeats} (least-greatest). The gradient includes the forward run.",
        "",
        "| loop | forward | gradient | gradient / forward | by hand: forward | gradient |",
        "|---|---|---|---|---|---|",
    ]
    names = {
        "bounded": "`kg.while_loop`, maximum_iterations=400",
        "open": "`kg.while_loop`, no bound",
        "scan": "`kg.scan`",
    }
    for kind, name in names.items():
        ours = [found[f"kinetograph {kind} {what}"] for what in ("forward", "gradient")]
        other = [found[f"by hand {kind} {what}"] for what in ("forward", "gradient")]
        ratios = [b / a for a, b in zip(*ours, strict=True)]
        cells = [name, *map(spread, ours), spread(ratios), *map(spread, other)]
        lines.append("| " + " | ".join(cells) + " |")
    lines += [
        "",
        "Goals: gradient / forward at most 5; gradient of the loop without a bound at most 20 us.",
    ]
    record("loops", "\n".join(lines), microseconds=found)


if __name__ == "__main__":
    main()
