#!/usr/bin/env python
"""The cost of solving differential equations, against diffrax.

    python benchmarks/ode.py [--repeats 7] [--times 20 200 1000 5000]

See README.md. The equations of Lotka and Volterra are solved over 20 years by Tsit5 with the same
tolerances and several numbers of output times. The value is the sum of the logarithms of the
solution at all times; the gradient is taken with respect to 4 rates and 2 initial values. In the
last rows the value is the time of an event: the number of hares falls to 20. Both libraries run by
turns in one process (the environment of the peer NumPyro). Each figure is the time of one execution
inside a program that makes many, one after the other (a scan whose carry they change), so that the
call from Python does not count. The compile time is measured at the first call.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable
from datetime import date
from statistics import median
from typing import Any

import numpy as np
from environments import HERE, ROOT, environment, machine
from records import record

POINT = np.array([0.55, 0.028, 0.8, 0.024, 34.0, 5.9])
SPAN = 20.0
LEVEL = 20.0  # number of hares at the event
TOLERANCES = {"rtol": 1e-6, "atol": 1e-8}
MANY = 30  # executions per call


def growth(p: Any, z: Any) -> list[Any]:
    """The right-hand side."""
    return [(p[0] - p[1] * z[1]) * z[0], (-p[2] + p[3] * z[0]) * z[1]]


def ours(times: np.ndarray | None, gradient: bool) -> Callable[[Any], Any]:
    """The program of kinetograph."""
    import kinetograph as kg

    def once(p: Any, _: Any) -> Any:
        right = lambda t, z: growth(p, z)
        if times is None:
            falls = kg.ode.Event(lambda t, z: z[0] - LEVEL, direction=-1)
            value = kg.ode.solve(right, p[4:], [0.0, SPAN], events=falls, **TOLERANCES).events.t
        else:
            value = kg.log(kg.ode.solve(right, p[4:], times, **TOLERANCES)).sum()
        result = kg.gradients(value, p) if gradient else value
        return p + 1e-300 * result, result

    p = kg.placeholder((6,), name="p")
    return kg.compile([p], kg.scan(once, p, None, length=MANY)[1])


def theirs(times: np.ndarray | None, gradient: bool) -> Callable[[Any], Any]:
    """The program of diffrax, with its default adjoint."""
    import diffrax
    import jax
    import jax.numpy as jnp
    import optimistix

    jax.config.update("jax_enable_x64", True)

    if times is None:
        finder = optimistix.Newton(1e-10, 1e-10)
        falls = diffrax.Event(lambda t, y, *_, **__: y[0] - LEVEL, finder, direction=False)
        end, more = SPAN, {"saveat": diffrax.SaveAt(t1=True), "event": falls}
    else:
        end, more = times[-1], {"saveat": diffrax.SaveAt(ts=times)}

    def value(p: Any) -> Any:
        found = diffrax.diffeqsolve(
            diffrax.ODETerm(lambda t, z, p: jnp.stack(growth(p, z))),
            diffrax.Tsit5(),
            0.0,
            end,
            None,
            p[4:],
            p,
            stepsize_controller=diffrax.PIDController(**TOLERANCES),
            throw=False,
            **more,
        )
        return found.ts[-1] if times is None else jnp.log(found.ys).sum()

    def once(p: Any, _: Any) -> Any:
        result = (jax.grad(value) if gradient else value)(p)
        return p + 1e-300 * result, result

    program = jax.jit(lambda p: jax.lax.scan(once, p, None, MANY)[1])
    return lambda p: np.asarray(program(p))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--times", type=int, nargs="+", default=[20, 200, 1000, 5000])
    parser.add_argument("--dry", action="store_true", help="print, write nothing")
    options = parser.parse_args()
    try:
        import diffrax  # noqa: F401
    except ImportError:
        peer = str(environment("numpyro"))
        paths = os.pathsep.join([str(ROOT / "src"), str(HERE), os.environ.get("PYTHONPATH", "")])
        os.execve(peer, [peer, *sys.argv], os.environ | {"PYTHONPATH": paths})
    load = os.getloadavg()[0]
    lines = [
        "# Differential equations by output times",
        "",
        f"{date.today().isoformat()}; {machine()['cpu']}, {machine()['cores']} cores, load at the "
        f"start {load:.1f}; float64; us an execution inside one program, medians of "
        f"{options.repeats} (least-greatest), ratios of the least; compilation in seconds.",
        "",
        "| times | | kinetograph | diffrax | ratio | compilation | diffrax |",
        "|---|---|---|---|---|---|---|",
    ]
    everything = {}
    for count in [*options.times, "event"]:
        times = None if count == "event" else np.linspace(0.0, SPAN, count)
        for gradient in (False, True):
            makers = {"kinetograph": ours, "diffrax": theirs}
            programs, first, found = {}, {}, {name: [] for name in makers}
            values = {}
            for name, make in makers.items():
                start = time.process_time()
                programs[name] = make(times, gradient)
                values[name] = programs[name](POINT)[0]
                first[name] = time.process_time() - start
            np.testing.assert_allclose(values["kinetograph"], values["diffrax"], rtol=1e-2)
            for _ in range(options.repeats):
                for name, program in programs.items():
                    start = time.perf_counter()
                    program(POINT)
                    found[name].append((time.perf_counter() - start) / MANY * 1e6)
            what = "gradient" if gradient else "value"
            ratio = min(found["kinetograph"]) / min(found["diffrax"])
            cells = [str(count), what, *(spread(found[name]) for name in makers), f"{ratio:.2f}"]
            cells += [f"{first[name]:.1f}" for name in makers]
            lines.append("| " + " | ".join(cells) + " |")
            print(lines[-1], flush=True)
            everything[f"{count} {what}"] = {"microseconds": found, "compilation": first}
    page = "\n".join(lines)
    if options.dry:
        print(page)
    else:
        record("ode", page, **everything)


def spread(values: list[float]) -> str:
    return f"{median(values):.0f} ({min(values):.0f}-{max(values):.0f})"


if __name__ == "__main__":
    main()
