"""The cost of sampling networks, against plain JAX, BlackJAX and `posteriors`.

    python benchmarks/networks.py                    # all studies; about ten minutes on two cores
    python benchmarks/networks.py --only steps walkers
    python benchmarks/networks.py --peers blackjax posteriors

Ways that are compared take turns, and the least of some turns counts: seconds on the clock and
seconds of the processor in brackets, which load of the machine hardly changes.
"""

import argparse
import itertools
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from environments import HERE, environment, machine
from records import record
from sklearn.datasets import load_digits

import kinetograph as kg

# Steps a second of TATi on a desktop computer by hidden units: BAOAB, batches of 100 digits.
TATI = {0: 555, 10: 280, 100: 75, 1000: 7.7}
Row = tuple[float, float]


def least(ways: dict[str, Callable[[], Any]], turns: int = 5) -> dict[str, Row]:
    """The least seconds of each way, by clock and by processor."""
    found = dict.fromkeys(ways, (np.inf, np.inf))
    for way in ways.values():
        way()
    for _ in range(turns):
        for name, way in ways.items():
            clock, processor = time.perf_counter(), time.process_time()
            way()
            now = time.perf_counter() - clock, time.process_time() - processor
            found[name] = tuple(map(min, found[name], now))
    return found


def table(head: list[str], rows: list[list[Any]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def images() -> tuple[np.ndarray, np.ndarray]:
    """Scikit-learn's digits, enlarged to 28 by 28, and their classes."""
    x, y = load_digits(return_X_y=True)
    wide = np.kron(x.reshape(-1, 8, 8) / 16 - 0.5, np.ones((1, 4, 4)))[:, 2:-2, 2:-2]
    return wide.reshape(len(x), 784).astype(np.float32), y


def simulation(hidden: int, sampler: str = "BAOAB", **options: Any) -> kg.neural.Simulation:
    x, y = images()
    settings = {
        "hidden_dimension": [hidden] if hidden else [],
        "loss": "categorical",
        "batch_size": 100,
        "sampler": sampler,
        "step_width": 1e-3,
        "inverse_temperature": 1e4,
        "every_nth": 100,
        "max_steps": 300 if hidden < 1000 else 100,
        "learning_rate": 1e-3,
        "optimizer": "gradient_descent",
        "seed": 1,
    }
    return kg.neural.Simulation([x, y], **settings | options)


def outputs(w: Any, x: Any) -> Any:
    return jax.nn.relu(x @ w[0] + w[1]) @ w[2] + w[3] if len(w) > 2 else x @ w[0] + w[1]


def by_hand(kind: str, hidden: int, steps: int) -> Callable[[], Any]:
    """SGD, SGLD or BAOAB of the same network by `lax.scan` and `jax.random`."""
    x, y = map(jnp.asarray, images())
    sizes, rng = [784, *([hidden] if hidden else []), 10], np.random.default_rng(0)
    w = []
    for into, out in itertools.pairwise(sizes):
        w += [jnp.asarray(0.05 * rng.normal(size=(into, out)), "f"), jnp.zeros(out, "f")]

    def loss(w: Any, rows: Any) -> Any:
        logs = jax.nn.log_softmax(outputs(w, x[rows]))
        return -jnp.mean(jnp.take_along_axis(logs, y[rows][:, None], 1))

    def noise(key: Any) -> Any:
        keys = jax.random.split(key, len(w))
        return [jax.random.normal(k, each.shape, "f") for k, each in zip(keys, w, strict=True)]

    def add(w: Any, *parts: tuple[float, Any]) -> Any:
        for factor, values in parts:
            w = [a + factor * b for a, b in zip(w, values, strict=True)]
        return w

    h, beta, decay = 1e-3, 1e4, float(np.exp(-1e-3))

    def step(carry: Any, key: Any) -> Any:
        w, p, gradient = carry
        rows = jax.random.choice(key, len(x), (100,))
        if kind == "SGD":
            return (add(w, (-h, jax.grad(loss)(w, rows))), p, gradient), None
        if kind == "SGLD":
            new = add(w, (-h, gradient), ((2 * h / beta) ** 0.5, noise(key)))
            return (new, p, jax.grad(loss)(new, rows)), None
        p = add(p, (-h / 2, gradient))
        w = add(w, (h / 2, p))
        p = add([decay * each for each in p], (((1 - decay**2) / beta) ** 0.5, noise(key)))
        w = add(w, (h / 2, p))
        gradient = jax.grad(loss)(w, rows)
        return (w, add(p, (-h / 2, gradient)), gradient), None

    @jax.jit
    def run(key: Any) -> Any:
        zero = [jnp.zeros_like(each) for each in w]
        return jax.lax.scan(step, (w, zero, zero), jax.random.split(key, steps))[0]

    return lambda: jax.block_until_ready(run(jax.random.key(1)))


def steps() -> str:
    """Steps a second by hidden units and sampler."""
    rows = []
    for hidden, published in TATI.items():
        names = ("SGLD", "GLA1", "BAOAB") if hidden == 100 else ("BAOAB",)
        made = {name: simulation(hidden, name) for name in names}
        count = made["BAOAB"].get_options("max_steps")
        ways: dict[str, Callable[[], Any]] = {n: nn.sample for n, nn in made.items()}
        if hidden == 100:
            bare = simulation(hidden, "BAOAB", do_accumulates=False)
            ways |= {"training": simulation(hidden).fit, "BAOAB, no accumulates": bare.sample}
            ways |= {f"{k}, by hand": by_hand(k, hidden, count) for k in ("SGD", "SGLD", "BAOAB")}
        for name, (clock, processor) in least(ways, 5 if hidden < 1000 else 2).items():
            rate = count / clock, count / processor
            times = rate[1] / published
            rows.append([hidden, name, f"{rate[0]:.0f} ({rate[1]:.0f})", f"{times:.0f}"])
    return table(["hidden units", "", "steps a second", "times TATi, by processor"], rows)


def loops() -> str:
    """BAOAB on all rows of small networks, against a scan by hand."""
    rows, count, h, decay = [], 2000, 1e-3, float(np.exp(-1e-3))
    for shape, size in (((2, 8, 1), 100), ((5, 16, 16, 2), 1200)):
        rng = np.random.default_rng(0)
        x, y = rng.normal(size=(size, shape[0])), rng.normal(size=(size, 1))
        network = kg.neural.mlp(shape[1:-1], "tanh")
        start = network.start(jax.random.key(0), x[0], shape[-1])
        layout = kg.neural.ParameterLayout(jax.tree.map(np.asarray, start))
        loss = kg.neural.Loss("squares", lambda z, y: jnp.sum((z - y) ** 2))
        with kg.precision("float32"):
            model = kg.neural.posterior(network, layout, loss, x, y)
            chain = kg.chain(model, kg.samplers.BAOAB(h, friction=1.0), seed=1)
        xs, ys = jnp.asarray(x.T, "f"), jnp.asarray(y.T, "f")

        def potential(w: Any, xs: Any = xs, ys: Any = ys, layout: Any = layout) -> Any:
            tree, values = layout.tree(w), xs
            last = len(tree.weights) - 1
            for i, (matrix, bias) in enumerate(zip(*tree, strict=True)):
                values = matrix.T @ values + bias[:, None]
                values = values if i == last else jnp.tanh(values)
            return jnp.sum((values - ys) ** 2) + 0.5 * w @ w

        def step(carry: Any, key: Any, potential: Any = potential) -> Any:
            q, p, gradient = carry
            p = p - h / 2 * gradient
            q = q + h / 2 * p
            noise = jax.random.normal(key, q.shape, "f")
            p = decay * p + (1 - decay**2) ** 0.5 * noise
            q = q + h / 2 * p
            _, gradient = jax.value_and_grad(potential)(q)
            return (q, p - h / 2 * gradient, gradient), None

        @jax.jit
        def scan(q: Any, step: Any = step) -> Any:
            zero = jnp.zeros_like(q)
            keys = jax.random.split(jax.random.key(1), count)
            return jax.lax.scan(step, (q, zero, zero), keys)[0]

        q = jnp.asarray(layout.vector(start), "f")
        found = least(
            {
                "by hand": lambda scan=scan, q=q: jax.block_until_ready(scan(q)),
                "kg.chain": lambda chain=chain: chain.step(count, keep=False),
            },
            15,
        )
        ratio = found["kg.chain"][1] / found["by hand"][1]
        rows.append(["-".join(map(str, shape)), size, *map(_micros(count), found.values())])
        rows[-1].append(f"{ratio:.2f}")
    return table(["network", "rows", "scan by hand, us", "`kg.chain`, us", "ratio"], rows)


def _micros(count: int) -> Callable[[Row], str]:
    return lambda row: f"{1e6 * row[0] / count:.1f} ({1e6 * row[1] / count:.1f})"


def plane(hidden: int, rows: int, **options: Any) -> kg.neural.Simulation:
    """A small network for points of the plane."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(rows, 2)).astype(np.float32)
    settings = {"step_width": 0.01, "inverse_temperature": 100.0, "every_nth": 100, "seed": 1}
    settings |= {"hidden_dimension": [hidden], "hidden_activation": "tanh"}
    return kg.neural.Simulation([x, np.sign(x[:, :1] * x[:, 1:])], **settings | options)


def writing() -> str:
    """Runs that write every 100th step, against runs that keep nothing."""
    rows = []
    for hidden, data, count in ((2, 500, 50_000), (50, 500, 20_000)):
        with tempfile.TemporaryDirectory() as folder:
            names = ("run_file", "trajectory_file", "averages_file")
            files = {name: f"{folder}/{name}.csv" for name in names}
            off, on = (plane(hidden, data, max_steps=count, **f) for f in ({}, files))
            ways = {"off": lambda off=off: off.sample(keep=False)}
            ways |= {"on": lambda on=on: on.sample(keep=False)}
            found = least(ways, 7)
            share = found["on"][1] / found["off"][1] - 1
            rows.append([off.num_parameters(), *map(_micros(count), found.values())])
            rows[-1].append(f"{share:.1%}")
    return table(["parameters", "no files, us a step", "three CSV files", "more"], rows)


def walkers() -> str:
    """64 walkers against one."""
    rows = []
    for hidden, data in ((2, 20), (8, 100)):
        settings = {"covariance_blending": 1.0, "covariance_after_steps": 100}
        runs = {
            "one": plane(hidden, data, max_steps=2000),
            "64 alone": plane(hidden, data, max_steps=2000, number_walkers=64),
            "64 coupled": plane(hidden, data, max_steps=2000, number_walkers=64, **settings),
        }
        found = least({name: nn.sample for name, nn in runs.items()}, 3)
        one = found.pop("one")
        for name, each in found.items():
            row = [f"2-{hidden}-1", data, name, _micros(2000)(one), _micros(2000)(each)]
            rows.append([*row, f"{each[0] / one[0]:.1f} ({each[1] / one[1]:.1f})"])
    return table(["network", "rows", "walkers", "one, us a step", "64, us a step", "ratio"], rows)


def analysis() -> str:
    """Diffusion maps of 10,000 points."""
    rows = []
    cases: list[tuple[int, dict[str, Any]]] = [
        (2, {"epsilon": 0.2}),
        (2, {"epsilon": 0.01, "neighbours": 128}),
        (10, {"epsilon": "bgh"}),
        (50, {"epsilon": "median"}),
    ]
    for width, options in cases:
        x = np.random.default_rng(0).standard_normal((10_000, width))
        begun, used = time.perf_counter(), time.process_time()
        kg.neural.analysis.diffusion_map(x, **options)
        times = f"{time.perf_counter() - begun:.1f} ({time.process_time() - used:.1f})"
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        rows.append([width, json.dumps(options)[1:-1].replace('"', ""), times, f"{peak:.1f}"])
    names = ["coordinates", "diffusion map", "seconds", "peak memory of the process, GiB"]
    return table(names, rows)


def surfaces() -> str:
    """A million points of the loss of a network with 9 parameters."""
    rng, rows, spans = np.random.default_rng(0), [], [(-1.0, 1.0, 999)] * 2
    for data in (20, 100):
        x = rng.normal(size=(data, 2))
        nn = kg.neural.Simulation(
            [x, np.sign(x[:, :1])], hidden_dimension=[2], hidden_activation="tanh", seed=1
        )
        vectors = rng.normal(size=(2, 9))
        ways = {
            "grid": lambda nn=nn, d=vectors: kg.neural.surfaces.subgrid(
                nn.landscape, np.array(nn.parameters), d, intervals=spans
            )
        }
        clock, processor = least(ways, 3)["grid"]
        rows.append([data, f"{clock:.1f} ({processor:.1f})", f"{1e6 / processor:,.0f}"])
    return table(["rows", "seconds for 10^6 points", "points a second of the processor"], rows)


def peers(names: list[str]) -> str:
    """Steps a second of other libraries, with 100 hidden units."""
    x, y = images()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        given, result = Path(folder) / "rows.npz", Path(folder) / "result.npz"
        np.savez(given, x=x, y=y, x_test=x[:10])
        for peer in names:
            for sampler in ("sgld", "sghmc"):
                script = HERE / "peers" / f"{peer}_sgmcmc.py"
                command = [str(environment(peer)), "-W", "ignore", str(script), str(given)]
                command += [str(result), "--sampler", sampler, "--steps", "500"]
                subprocess.run(command, check=True, stdout=sys.stderr)
                with np.load(result) as found:
                    rates = 1 / found["seconds"], 1 / found["processor"]
                rows.append([peer, sampler, f"{rates[0]:.0f} ({rates[1]:.0f})"])
    return table(["library", "sampler", "steps a second"], rows)


STUDIES = {f.__name__: f for f in (steps, loops, writing, walkers, analysis, surfaces)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", nargs="+", choices=STUDIES, default=list(STUDIES))
    parser.add_argument("--peers", nargs="*", choices=["blackjax", "posteriors"], default=[])
    given = parser.parse_args()
    here = machine()
    parts = ["# Networks", f"{here['cpu']}, {here['cores']} cores, load {here['load'][0]}."]
    for name in given.only:
        parts += [f"## {STUDIES[name].__doc__}", STUDIES[name]()]
        print(parts[-1], flush=True)
    if given.peers:
        parts += [f"## {peers.__doc__}", peers(given.peers)]
    record("networks", "\n\n".join(parts))


if __name__ == "__main__":
    main()
