#!/usr/bin/env python
"""The cost of loops in the graph, against hand-written JAX.

    python benchmarks/loops.py [--repeats 7] [--only recursions] [--trips 200 5000] [--rows 1 5 20]

See README.md. There are three parts: loops over a 2-vector (`turns`), and the recursions and the
batches of `recursions.py`. Each figure is the time of one execution inside a program that makes
many, one after the other (a scan whose carry they change), so that the 10 us of a call from Python
do not count. The two sides take turns; figures are medians of the repeats, with minimum and
maximum.
"""

import argparse
import os
import time
from collections.abc import Callable, Sequence
from datetime import date
from statistics import median
from typing import Any

import numpy as np
from environments import machine
from records import record

TRIPS = 400
MANY = 300  # executions per call
TURN = 0.05
START = np.array([1.0, 0.0])


def turned(x: Any, w: Any, stack: Callable[[Any], Any]) -> Any:
    """One trip: a damped rotation of a plane vector, slightly nonlinear."""
    a = x[0] - TURN * w * x[1]
    b = x[1] + TURN * w * x[0] * (1.0 - 0.01 * x[0])
    return stack([a, b])


def graph(kind: str, gradient: bool) -> Callable[[Any], Any]:
    """The loop in kinetograph: bounded, or open until a value is reached."""
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
    """The loop in JAX, with the reverse loop written out."""
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
    """Microseconds per execution, all functions by turns."""
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


def inside_a_loop(f: Callable[[Any], Any], ours: bool, gradient: bool, many: int) -> Any:
    """Repeat a function, or its gradient, in one program."""
    import jax
    from jax import lax

    import kinetograph as kg

    derived: Callable[[Any], Any] = f
    if gradient:
        derived = (lambda w: kg.gradients(f(w), w)) if ours else jax.grad(f)

    def once(w: Any, _: Any) -> Any:
        result = derived(w)
        return w + 1e-300 * result, result

    if ours:
        w = kg.placeholder(name="w")
        return kg.compile([w], kg.scan(once, w, None, length=many)[1].mean())
    program = jax.jit(lambda w: lax.scan(once, w, None, many)[1].mean())
    return lambda w: np.asarray(program(w))


def compared(
    functions: dict[str, Callable[[Any], Any]], many: int, repeats: int
) -> dict[str, tuple[float, float]]:
    """The best microseconds per execution, and the seconds to compile."""
    results, compiling = {}, {}
    for name, function in functions.items():
        start = time.perf_counter()
        results[name] = float(function(1.0))
        compiling[name] = time.perf_counter() - start
    values = list(results.values())
    if not np.allclose(values, values[0], rtol=1e-8):
        raise SystemExit(f"results differ: {results}")
    best = dict.fromkeys(functions, np.inf)
    for _ in range(repeats):
        for name, function in functions.items():
            start = time.process_time()
            function(1.0)
            best[name] = min(best[name], (time.process_time() - start) / many * 1e6)
    return {name: (best[name], compiling[name]) for name in functions}


def recursions(trips: Sequence[int], repeats: int) -> tuple[list[str], dict[str, Any]]:
    """Table and figures of recursions against hand-written `lax.scan`."""
    from recursions import RECURSIONS

    lines = ["| recursion | trips | | kinetograph, us | by hand, us | ratio | compile, s |"]
    lines += ["|---|---|---|---|---|---|---|"]
    found: dict[str, Any] = {}
    for count in trips:
        y = np.random.default_rng(0).normal(size=count)
        many = 2_000_000 // count
        for name, make in RECURSIONS.items():
            for gradient in (False, True):
                ours, by_hand = make(y)
                pair = {
                    "ours": inside_a_loop(ours, True, gradient, many),
                    "by hand": inside_a_loop(by_hand, False, gradient, many),
                }
                (us, own), (other, others) = compared(pair, many, repeats).values()
                what = "gradient" if gradient else "value"
                found[f"{name} {count} {what}"] = [us, other, own, others]
                row = [name, count, what, f"{us:.1f}", f"{other:.1f}", f"{us / other:.2f}"]
                lines.append("| " + " | ".join(map(str, [*row, f"{own:.2f}, {others:.2f}"])) + " |")
    return lines, found


def batches(rows: Sequence[int], repeats: int) -> tuple[list[str], dict[str, Any]]:
    """Table and figures of gradients of batches of loops."""
    from recursions import batch

    lines = [
        "| rows | trips | a trip | kg.vmap, us | kg.scan over rows | by hand, masked | ratio |"
    ]
    lines += ["|---|---|---|---|---|---|---|"]
    found: dict[str, Any] = {}
    for apart in (False, True):
        for sine in (False, True):
            for count in rows:
                many = max(1, 5000 // count)
                functions = {
                    name: inside_a_loop(f, name.startswith("kg"), True, many)
                    for name, f in batch(count, apart, sine).items()
                }
                figures = compared(functions, many, repeats)
                us, *others = (best for best, _ in figures.values())
                length, trip = "apart" if apart else "alike", "a sine" if sine else "sums, products"
                found[f"{count} {length} {trip}"] = [us, *others]
                row = [count, length, trip, *(f"{v:.1f}" for v in (us, *others))]
                ratio = f"{us / min(others):.2f}"
                lines.append("| " + " | ".join(map(str, [*row, ratio])) + " |")
    return lines, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--only", choices=("turns", "recursions", "batches"))
    parser.add_argument("--trips", type=int, nargs="+", default=[200, 5000])
    parser.add_argument("--rows", type=int, nargs="+", default=[1, 5, 20, 100, 1000])
    options = parser.parse_args()
    import jax

    jax.config.update("jax_enable_x64", True)
    parts = {
        "turns": lambda: turns(options.repeats),
        "recursions": lambda: recursions(options.trips, options.repeats),
        "batches": lambda: batches(options.rows, options.repeats),
    }
    lines = [
        "# Loops",
        "",
        f"{date.today().isoformat()}; {machine()['cpu']}, {machine()['cores']} cores, load at the "
        f"start {os.getloadavg()[0]:.1f}; float64; us an execution inside one program.",
    ]
    found: dict[str, Any] = {}
    for name, part in parts.items():
        if options.only in (None, name):
            table, found[name] = part()
            lines += ["", f"## {name.capitalize()}", "", *table]
    if options.only is None:
        record("loops", "\n".join(lines), microseconds=found)
    else:
        print("\n".join(lines))


def turns(repeats: int) -> tuple[list[str], dict[str, Any]]:
    """Loops over a 2-vector, against a hand-written reverse loop."""
    functions: dict[str, Callable[[Any], Any]] = {}
    for kind in ("bounded", "open", "scan"):
        for gradient in (False, True):
            what = "gradient" if gradient else "forward"
            functions[f"kinetograph {kind} {what}"] = graph(kind, gradient)
            functions[f"by hand {kind} {what}"] = by_hand(kind, gradient)
    for kind in ("bounded", "open", "scan"):
        for what in ("forward", "gradient"):
            ours, other = (
                functions[f"{who} {kind} {what}"](1.0) for who in ("kinetograph", "by hand")
            )
            if abs(ours - other) > 1e-9 * abs(other):
                raise SystemExit(f"{kind} {what}: {ours} is not {other}")
    found = timed(functions, repeats)
    lines = [
        f"{TRIPS} trips; medians of {repeats} (least-greatest). The gradient includes the forward "
        "run.",
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
    return lines, found


if __name__ == "__main__":
    main()
