#!/usr/bin/env python
"""The cost of a step of each sampler: see README.md.

    python benchmarks/samplers.py [--repeats 7] [--steps 100000] [--batch 4096]

Microseconds per step of one chain of eight schools (ten free numbers) on one core: the samplers of
the catalogue, the same samplers with three observables, hand-written BAOAB in JAX with the same
noise, and the corresponding samplers of BlackJAX, each in a compiled loop. Also compile times, and
whether another step size compiles anything. A batch of chains makes a hundredth of the steps and is
compared with BlackJAX under `jax.vmap`, in nanoseconds of elapsed time per step and chain, because
both may use all cores. All cases take turns in one process.
"""

import argparse
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import blackjax
import jax
import jax.numpy as jnp
import numpy as np
from environments import machine
from jax import lax
from records import record

import kinetograph as kg
from kinetograph.adaptation.schedule import Phases
from kinetograph.bits.draws import chain_key
from kinetograph.bits.source import normal
from kinetograph.graph.precision import x64
from kinetograph.observables.observable import as_observables
from kinetograph.programs.engine import build
from kinetograph.programs.program import Program
from kinetograph.programs.state import Plan
from kinetograph.runs.chain import RunningChain
from kinetograph.runs.control import beginnings
from kinetograph.samplers.noise import _numbers

H, FRICTION = 0.05, 1.0
S = kg.samplers


def eight_schools() -> kg.Model:
    mu = kg.normal(0, 5, name="mu")
    tau = kg.half_cauchy(5, name="tau")
    z = kg.normal(0, 1, shape=8, name="z")
    y = kg.data([28.0, 8, -3, 7, -1, 1, 18, 12], name="y")
    kg.observe(y, kg.normal(mu + tau * z, np.array([15.0, 10, 16, 11, 9, 11, 10, 18])))
    return kg.model(mu, tau)


def ours(model: kg.Model, sampler: Any, steps: int, observables: Any = ()) -> tuple[Any, float]:
    """A call that makes `steps` steps, and the seconds to compile it."""
    program = Program(model, sampler, model.targets, as_observables(observables))
    begun = time.perf_counter()
    engine = build(program)
    seconds = time.perf_counter() - begun
    with x64():
        data = jax.device_put(model.argument_values)
        start = RunningChain(chain_key(1, 0), np.zeros(model.free_size))
        (beginning,) = beginnings(program, [start])
        state = engine.find(beginning, data).chain
    plan = Plan(np.int32(steps), np.int64(2**62))
    state = state._replace(phases=Phases.of(0, steps))

    def call() -> Any:
        with x64():
            return jax.block_until_ready(engine.advance(state, data, plan)[0].position.q)

    return call, seconds


def our_batch(model: kg.Model, sampler: Any, steps: int, batch: int) -> Callable[[], Any]:
    """A call that makes steps of a batch and returns their seconds."""

    def call() -> Any:
        tree = kg.mcmc(
            model, sampler, 1, 0, batch, 1, thin=steps, chain_method="batch", progress=False,
            initial=np.zeros(model.free_size),
        )  # fmt: skip
        return tree.attrs["sampling_time"]

    return call


def their_batch(
    model: kg.Model, steps: int, batch: int, make: Callable[[Any], Any]
) -> Callable[[], Any]:
    """A BlackJAX sampler in a compiled loop, mapped over chains."""
    algorithm = make(lambda q: -model.potential()(q))

    def loop(q: Any, key: Any) -> Any:
        def body(carry: Any, key: Any) -> Any:
            state = algorithm.step(key, carry)[0]
            return state, (state.position, state.logdensity)

        return lax.scan(body, algorithm.init(q, key), jax.random.split(key, steps))

    program = jax.jit(jax.vmap(loop))

    def call() -> Any:
        with jax.enable_x64(True):
            keys = jax.random.split(jax.random.key(1), batch)
            return jax.block_until_ready(program(jnp.zeros((batch, model.free_size)), keys))

    return call


def by_hand(model: kg.Model, steps: int) -> Callable[[], Any]:
    """BAOAB in JAX, with the library's noise."""
    a = np.exp(-FRICTION * H)
    key = chain_key(1, 0)
    program = Program(model, S.NUTS(), model.targets)

    def loop(q: Any, data: Any) -> Any:
        target = program.target(data)

        def gradient(q: Any) -> Any:
            position, _ = target.evaluate(q, ())
            return position.log_density, -position.gradient

        def body(carry: Any) -> Any:
            i, q, p, u, g = carry
            words = jnp.stack([*key, jnp.uint32(0), i])
            noise = _numbers(
                words, np.uint32(0), convert=normal, shape=(10,), dtype=np.dtype(float)
            )
            p = p - 0.5 * H * g
            q = q + 0.5 * H * p
            p = a * p + np.sqrt(1 - a * a) * noise
            q = q + 0.5 * H * p
            u, g = gradient(q)
            return i + 1, q, p - 0.5 * H * g, u, g

        u, g = gradient(q)
        return lax.while_loop(lambda c: c[0] < steps, body, (jnp.uint32(0), q, 0 * q, u, g))[1]

    compiled = jax.jit(loop)

    def call() -> Any:
        with x64():
            start = np.zeros(model.free_size)
            return jax.block_until_ready(compiled(start, model.argument_values))

    return call


def theirs(model: kg.Model, steps: int, make: Callable[[Any], Any]) -> Callable[[], Any]:
    """A sampler of BlackJAX in a compiled loop."""
    algorithm = make(lambda q: -model.potential()(q))

    def loop(q: Any, key: Any) -> Any:
        def body(carry: Any, key: Any) -> Any:
            return algorithm.step(key, carry)[0], None

        keys = jax.random.split(key, steps)
        return lax.scan(body, algorithm.init(q, key), keys)[0]

    program = jax.jit(loop)

    def call() -> Any:
        with jax.enable_x64(True):
            return jax.block_until_ready(program(jnp.zeros(model.free_size), jax.random.key(1)))

    return call


def peers(model: kg.Model) -> dict[str, Callable[[Any], Any]]:
    """BlackJAX's samplers that have a counterpart, at the same step size."""
    mass = jnp.ones(model.free_size)

    def plain(make: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def made(log_density: Any) -> Any:
            algorithm = make(log_density)
            return algorithm._replace(init=lambda q, key, init=algorithm.init: init(q))

        return made

    walk = blackjax.additive_step_random_walk.normal_random_walk
    return {
        "HMC (5 steps)": plain(lambda f: blackjax.hmc(f, H, mass, num_integration_steps=5)),
        "MALA": plain(lambda f: blackjax.mala(f, H)),
        "RandomWalk": plain(lambda f: walk(f, H * mass)),
    }


def clocked(calls: dict[str, Callable[[], Any]], clock: Any, repeats: int) -> dict[str, Any]:
    """The seconds of each call, by turns, after one warm-up call.

    If a call returns a number, this number counts instead of the elapsed time.
    """
    times: dict[str, list[float]] = {name: [] for name in calls}
    for call in calls.values():
        call()
    for _ in range(repeats):
        for name, call in calls.items():
            begun = clock()
            answer = call()
            times[name].append(answer if isinstance(answer, float) else clock() - begun)
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--batch", type=int, default=4096)
    options = parser.parse_args()
    model, steps = eight_schools(), options.steps

    named = [kg.observables.virial, kg.observables.gradient_norm, kg.observables.total_energy]
    langevin = {"step_size": H, "friction": FRICTION}
    mine: dict[str, Any] = {
        "SGLD": S.SGLD(H),
        "LM": S.LM(H),
        "GLA1": S.GLA1(**langevin),
        "GLA2": S.GLA2(**langevin),
        "BAOAB": S.BAOAB(**langevin),
        "OBABO": S.Splitting("OBABO", **langevin),
        "UBU": S.UBU(**langevin),
        "SGNHT": S.SGNHT(**langevin),
        "MCLMC": S.MCLMC(H),
        "MALA": S.MALA(H, tune=()),
        "RandomWalk": S.RandomWalk(H, tune=()),
        "HMC (5 steps)": S.HMC(H, n_steps=5, step_jitter=0.0, path_jitter=0.0, tune=()),
    }
    calls: dict[str, Callable[[], Any]] = {}
    compiled: dict[str, float] = {}
    for name, sampler in mine.items():
        calls[name], compiled[name] = ours(model, sampler, steps)
    calls["BAOAB, three observables"], _ = ours(model, mine["BAOAB"], steps, named)
    _, compiled["BAOAB, another step size"] = ours(model, S.BAOAB(0.07, friction=2.0), steps)
    calls["BAOAB by hand"] = by_hand(model, steps)
    for name, make in peers(model).items():
        calls[f"BlackJAX {name}"] = theirs(model, steps, make)
    times = {
        name: [seconds / steps * 1e6 for seconds in values]
        for name, values in clocked(calls, time.process_time, options.repeats).items()
    }

    batch, few = options.batch, max(steps // 100, 1)
    batches = {name: our_batch(model, mine[name], few, batch) for name in ("BAOAB", *peers(model))}
    for name, make in peers(model).items():
        batches[f"BlackJAX {name}"] = their_batch(model, few, batch, make)
    batched = {
        name: median(values) / few / batch * 1e9
        for name, values in clocked(batches, time.perf_counter, options.repeats).items()
    }
    rows = [
        {
            "case": name,
            "us": median(values),
            "least": min(values),
            "most": max(values),
            "compile_s": compiled.get(name),
        }
        for name, values in times.items()
    ]
    by = {row["case"]: row["us"] for row in rows}
    ratios = {
        "BAOAB / by hand": by["BAOAB"] / by["BAOAB by hand"],
        "three observables / none": by["BAOAB, three observables"] / by["BAOAB"],
        **{f"{name} / BlackJAX": by[name] / by[f"BlackJAX {name}"] for name in peers(model)},
        **{
            f"{name} / BlackJAX, batch": batched[name] / batched[f"BlackJAX {name}"]
            for name in peers(model)
        },
        "compile another step size, s": compiled["BAOAB, another step size"],
    }
    lines = ["| case | us a step (CPU) | least-most | compile, s |", "|---|---|---|---|"]
    for row in rows:
        seconds = "" if row["compile_s"] is None else f"{row['compile_s']:.2f}"
        spread = f"{row['least']:.3f}-{row['most']:.3f}"
        lines.append(f"| {row['case']} | {row['us']:.3f} | {spread} | {seconds} |")
    lines += ["", f"| batch of {batch} chains, {few} steps | ns a step of a chain |", "|---|---|"]
    lines += [f"| {name} | {value:.1f} |" for name, value in batched.items()]
    lines += ["", "| ratio | |", "|---|---|", *(f"| {k} | {v:.2f} |" for k, v in ratios.items())]
    title = (
        f"# A step of a sampler\n\n{machine()['cpu']}; {steps} steps, medians of {options.repeats}"
    )
    record("samplers", "\n".join([title, "", *lines]), rows=rows, batch=batched, ratios=ratios)


if __name__ == "__main__":
    main()
