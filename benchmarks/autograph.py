#!/usr/bin/env python
"""The cost of plain Python control flow against hand-written graphs.

    python benchmarks/autograph.py [--repeats 9]

See README.md. It measures the conversion of a function, calls with plain values, the time to build
a graph, and the resulting loops. The sides take turns; figures are medians of the repeats, with
minimum and maximum.
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

TRIPS = 20_000


def twenty_lines(x: Any, n: Any) -> Any:
    """20 lines with nested loops, branches, break, continue and early return."""
    total = 0.0
    i = 0
    while i < n:
        if x[i] > 3:
            total = total + x[i]
            if total > 100:
                break
        elif x[i] < -3:
            i = i + 1
            continue
        else:
            total = total - 1
        j = 0
        while j < i:
            total = total + j
            j = j + 1
        i = i + 1
    if total < 0:
        return -total
    return total


def by_hand(x: Any, n: Any) -> Any:
    """`twenty_lines` with kg.cond and kg.while_loop."""
    import kinetograph as kg

    def rest(i: Any, total: Any) -> Any:
        _, total = kg.while_loop(lambda j, t: j < i, lambda j, t: (j + 1, t + j), [0, total])
        return i + 1, total, False

    def large(i: Any, total: Any) -> Any:
        total = total + x[i]
        return kg.cond(total > 100, lambda: (i, total, True), lambda: rest(i, total))

    def body(i: Any, total: Any, ended: Any) -> Any:
        return kg.cond(
            x[i] > 3,
            lambda: large(i, total),
            lambda: kg.cond(x[i] < -3, lambda: (i + 1, total, False), lambda: rest(i, total - 1)),
        )

    def going_on(i: Any, total: Any, ended: Any) -> Any:
        return (i < n) & ~ended

    _, total, _ = kg.while_loop(going_on, body, [0, 0.0, kg.data(False)])
    return kg.cond(total < 0, lambda: -total, lambda: total)


def walk(x: Any, k: Any) -> Any:
    """A loop with a branch."""
    s = 0.0
    i = 0
    while i < k:
        if x > s:
            s = s + 0.1 * x
        else:
            s = s * 0.5
        i = i + 1
    return s


def walk_by_hand(x: Any, k: Any) -> Any:
    """`walk` with kg.while_loop and kg.cond."""
    import kinetograph as kg

    def body(i: Any, s: Any) -> Any:
        return i + 1, kg.cond(x > s, lambda: s + 0.1 * x, lambda: s * 0.5)

    return kg.while_loop(lambda i, s: i < k, body, [0, 0.0])[1]


def small(x: Any, y: Any) -> Any:
    """A function that is called with plain values."""
    total = 0
    for i in (1, 2, 3):
        if x > y:
            total += i
    return total


def graph(function: Callable[..., Any], gradient: bool = False) -> Callable[[Any], Any]:
    """A compiled program of the walk."""
    import kinetograph as kg

    x, k = kg.placeholder(name="x"), kg.placeholder((), int, name="k")
    y = function(x, k)
    compiled = kg.compile([x, k], kg.gradients(y, x) if gradient else y)
    return lambda value: compiled(value, TRIPS)


def built(function: Callable[..., Any]) -> Callable[[Any], Any]:
    """Building the graph of the 20-line function."""
    import kinetograph as kg

    def build(_: Any) -> Any:
        function(kg.placeholder((50,), name="x"), kg.placeholder((), int, name="n"))

    return build


def repeated(function: Callable[..., Any], times: int) -> Callable[[Any], Any]:
    def run(_: Any) -> None:
        for _ in range(times):
            function(3, 4)

    return run


def timed(sides: dict[str, Callable[[Any], Any]], repeats: int, per: float) -> dict[str, Any]:
    """Times of all sides by turns, in units of `per` seconds."""
    found: dict[str, list[float]] = {name: [] for name in sides}
    for side in sides.values():
        side(1.0)
    for _ in range(repeats):
        for name, side in sides.items():
            start = time.perf_counter()
            side(1.0)
            found[name].append((time.perf_counter() - start) / per)
    return found


def spread(values: list[float]) -> str:
    return f"{median(values):.3g} ({min(values):.3g}-{max(values):.3g})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=9)
    repeats = parser.parse_args().repeats
    import kinetograph as kg
    from kinetograph.autograph import transform

    load = os.getloadavg()[0]
    convert = kg.autograph.convert

    def conversion(_: Any) -> None:
        transform._CONVERTED_CODES.clear()
        transform.transform(twenty_lines)

    data = np.linspace(-5, 5, 50)
    staged = kg.function(twenty_lines)
    x, n = kg.placeholder((50,), name="x"), kg.placeholder((), int, name="n")
    hand = kg.compile([x, n], by_hand(x, n))
    for count in (0, 30, 50):
        values = [float(f(data, count)) for f in (twenty_lines, staged, hand)]
        if not np.allclose(values, values[0], rtol=1e-12):
            raise SystemExit(f"results differ: {values}")
    found = {
        "converting 20 lines, ms": timed({"kinetograph": conversion}, 3 * repeats, 1e-3),
        "a call that nothing symbolic reaches, us": timed(
            {
                "kinetograph": repeated(convert(small), 1000),
                "by hand": repeated(small, 1000),
            },
            repeats,
            1e-3,
        ),
        "building the graph of the 20 lines, ms": timed(
            {"kinetograph": built(convert(twenty_lines)), "by hand": built(by_hand)},
            repeats,
            1e-3,
        ),
        "a trip of a loop with a branch, ns": timed(
            {"kinetograph": graph(convert(walk)), "by hand": graph(walk_by_hand)},
            repeats,
            TRIPS * 1e-9,
        ),
        "the same with its gradient, ns": timed(
            {"kinetograph": graph(convert(walk), True), "by hand": graph(walk_by_hand, True)},
            repeats,
            TRIPS * 1e-9,
        ),
    }
    lines = [
        "# Plain Python control flow",
        "",
        f"{date.today().isoformat()}; {machine()['cpu']}, {machine()['cores']} cores, load at the "
        f"start {load:.1f}; float64; medians (least-greatest). By hand: the same with `kg.cond` "
        "and `kg.while_loop`; for the call, the function that was not converted.",
        "",
        "| | converted | by hand |",
        "|---|---|---|",
    ]
    for what, sides in found.items():
        other = spread(sides["by hand"]) if "by hand" in sides else ""
        lines.append(f"| {what} | {spread(sides['kinetograph'])} | {other} |")
    lines += [
        "",
        "Goals: converting a function of 20 lines at most 20 ms; a call that nothing symbolic "
        "reaches at most 2 us more than the call of the original.",
    ]
    record("autograph", "\n".join(lines), times=found)


if __name__ == "__main__":
    main()
