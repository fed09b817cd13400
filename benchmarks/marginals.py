"""Gradients of mixtures, marginalised unknowns and Gaussian processes, against NumPyro.

    python benchmarks/marginals.py                   # five models; some minutes on two cores

Each library has the same model, written as in its documentation, in float64. The figures are the
time to trace and compile value and gradient, and the time of one gradient. Fresh processes take
turns; each figure is a minimum. The log densities of both must agree to 1e-7 at three points, up to
a constant.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from environments import HERE, environment, own_python
from records import record


def components(count: int) -> np.ndarray:
    rng = np.random.default_rng(3)
    return rng.normal(np.array([-4.0, 0.0, 5.0])[rng.integers(0, 3, count)], 1.0)


def unknowns() -> tuple[Any, Any]:
    import kinetograph as kg

    return kg.normal(0, 5, shape=3, name="mu"), kg.half_normal(2, shape=3, name="sigma")


def mixture() -> Any:
    """A mixture of three normals, 1000 observations."""
    import kinetograph as kg

    w, (mu, sigma) = kg.dirichlet(np.ones(3), name="w"), unknowns()
    kg.observe(components(1000), kg.mixture(kg.normal(mu, sigma), weights=w))
    return kg.model(w, mu, sigma)


def labels() -> Any:
    """The mixture with a label for each observation, marginalised."""
    import kinetograph as kg

    w, (mu, sigma) = kg.dirichlet(np.ones(3), name="w"), unknowns()
    z = kg.categorical(w, shape=1000, name="z")
    kg.observe(components(1000), kg.normal(mu[z], sigma[z]))
    return kg.model(w, mu, sigma)


def hidden_markov() -> Any:
    """A hidden Markov chain of three states, 400 observations."""
    import kinetograph as kg

    (mu, sigma), moves = unknowns(), kg.dirichlet(np.ones((3, 3)), name="moves")
    z = kg.markov_chain(moves[0], moves, 400, name="z")
    kg.observe(components(400), kg.normal(mu[z], sigma[z]))
    return kg.model(mu, sigma, moves)


def counts() -> np.ndarray:
    rates = np.repeat([3.0, 1.0, 2.0], [40, 40, 31])
    return np.random.default_rng(5).poisson(rates)


def changes() -> Any:
    """Two change points among 59 years each, 111 counts."""
    import kinetograph as kg

    mu = kg.normal(0, 1, shape=3, name="mu")
    first, second = (kg.categorical(np.full(59, 1 / 59), name=name) for name in ("s", "r"))
    t = np.arange(111) / 2
    log_rate = kg.where(t < first, mu[0], kg.where(t < second, mu[1], mu[2]))
    kg.observe(counts(), kg.poisson(kg.exp(log_rate)))
    return kg.model(mu)


def points() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(4)
    x = np.sort(rng.uniform(0, 3, 150))
    return x, np.sin(3 * x) + 0.3 * rng.normal(size=150)


def process() -> Any:
    """A Gaussian process at 150 points, with noise."""
    import kinetograph as kg

    length = kg.lognormal(-1, 0.5, name="length")
    variance, noise = kg.half_normal(2, name="variance"), kg.half_normal(0.5, name="noise")
    x, y = points()
    gp = kg.gp.Process(kg.gp.rbf(length) * variance, jitter=0.0)
    kg.observe(y, gp.marginal(x, noise))
    return kg.model(length, variance, noise)


MODELS = {f.__name__: f for f in (mixture, labels, hidden_markov, changes, process)}


def own(name: str, stored: str, out: str) -> None:
    """Run in a process: values for the peer, and times of kinetograph."""
    import jax.numpy as jnp
    from timing import timed

    from kinetograph.graph.precision import x64

    model = MODELS[name]()
    rng = np.random.default_rng(1)
    with x64():
        values = [jnp.asarray(v) for v in model.argument_values]
        data = model.bind(values).data
        free = rng.normal(0, 0.3, (3, model.free_size))
        kept: dict[str, list[Any]] = {}
        for row in free:
            density = model.density.log_density(jnp.asarray(row), data, adjusted=False)
            kept.setdefault("log density", []).append(density)
            nodes = model.density.unknowns
            tensors = model.density.targets(jnp.asarray(row), nodes, data)
            for node, tensor in zip(nodes, tensors, strict=True):
                kept.setdefault(f"value {node.name}", []).append(tensor)
        series = {"process": points, "changes": lambda: (None, counts())}
        rows = 400 if name == "hidden_markov" else 1000
        x, y = series.get(name, lambda: (None, components(rows)))()
        known = {"data y": y} | ({} if x is None else {"data x": x})
        np.savez(stored, **{k: np.array(v) for k, v in kept.items()}, **known)
        found = timed(lambda q: model.density.log_density(q, data), jnp.asarray(0.1 * free[0]))
    Path(out).write_text(json.dumps(found))


def measure(name: str, folder: Path, repeats: int) -> dict[str, Any]:
    stored, out = folder / f"{name}.npz", folder / "times.json"
    script = HERE / "peers" / "marginals_peer.py"
    commands = {
        "kinetograph": [own_python(), __file__, "--own", name, stored, out],
        "numpyro": [environment("numpyro"), script, name, stored, out],
    }
    best: dict[str, dict[str, float]] = {}
    for _ in range(repeats):
        for peer, command in commands.items():
            subprocess.run([str(part) for part in command], check=True)
            found = json.loads(out.read_text())
            so_far = best.get(peer, found)
            best[peer] = {key: min(found[key], so_far[key]) for key in found}
    return {"model": name, **best}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=list(MODELS))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="keep the tables in results/")
    args = parser.parse_args()
    head = ["model", "us a gradient", "NumPyro's", "ratio", "compile, s", "NumPyro's", "ratio"]
    lines, rows = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"], []
    with tempfile.TemporaryDirectory() as folder:
        for name in args.models:
            row = measure(name, Path(folder), args.repeats)
            print(row, flush=True)
            rows.append(row)
            cells = [f"{name}: {(MODELS[name].__doc__ or '').rstrip('.')}"]
            for key in ("us", "compile"):
                ours, other = row["kinetograph"][key], row["numpyro"][key]
                cells += [f"{ours:.3g}", f"{other:.3g}", f"{ours / other:.2f}"]
            lines.append("| " + " | ".join(cells) + " |")
    page = "\n".join(lines)
    if args.write:
        record("marginals", page, rows=rows)
    else:
        print(page)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--own"]:
        own(*sys.argv[2:])
    else:
        main()
