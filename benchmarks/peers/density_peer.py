"""A default run of any library on a density of reliability.py.

All libraries sample the density and transforms of kinetograph, so that samplers are compared, not
models. Free states, log densities, divergences and numbers of gradients are saved, and on request
the seconds of a second call in this process.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1]))

from reliability import MODELS

WARMUP, DRAWS = 1000, 1000
BOUND, TRIES = 2.0, 100  # starting points are uniform: the first with a finite density
CORES = len(os.sched_getaffinity(0))

Found = dict[str, Any]
Run = Callable[[int], Found]  # a function of the seed


def by_kinetograph(model: Any, chains: int) -> Run:
    import kinetograph as kg

    def run(seed: int) -> Found:
        tree = kg.mcmc(model, chains=chains, seed=seed, progress=False)
        stats, posterior = tree["sample_stats"], tree["posterior"]
        return {
            "draws": {name: posterior[name].values for name in model.names},
            "lp": stats["lp"].values,
            "diverging": stats["diverging"].values,
            "gradients": int(tree.attrs["gradients"]),
            "sampling": float(tree.attrs["sampling_time"]),
        }

    return run


def in_threads(model: Any, chains: int, one_chain: Callable[[Any, Any], Any]) -> Run:
    """Run chains of a compiled function of key and start, in threads."""
    import jax

    finite = jax.jit(lambda u: jax.numpy.isfinite(model.potential()(u)))
    example = jax.random.key(0), np.zeros(model.free_size)
    compiled = jax.jit(one_chain).lower(*example).compile()

    def sample(seed: int) -> Found:
        rng = np.random.default_rng(seed)
        candidates = rng.uniform(-BOUND, BOUND, size=(chains, TRIES, model.free_size))
        start = candidates[np.arange(chains), np.asarray(finite(candidates)).argmax(1)]
        keys = jax.random.split(jax.random.key(seed), chains)
        with ThreadPoolExecutor(CORES) as pool:
            parts = pool.map(lambda *a: jax.block_until_ready(compiled(*a)), list(keys), start)
            names = ("free", "lp", "diverging", "gradients")
            found: Found = dict(zip(names, map(np.stack, zip(*parts, strict=True)), strict=True))
        return {**found, "gradients": int(found["gradients"].sum())}

    return sample


def by_numpyro(model: Any, chains: int) -> Run:
    from numpyro.infer import MCMC, NUTS

    def one_chain(key: Any, start: Any) -> Any:
        kernel = NUTS(potential_fn=model.potential())
        run = MCMC(kernel, num_warmup=WARMUP, num_samples=DRAWS, progress_bar=False)
        run.warmup(key, init_params=start, extra_fields=("num_steps",), collect_warmup=True)
        gradients = run.get_extra_fields()["num_steps"].sum()
        run.run(key, extra_fields=("num_steps", "diverging", "potential_energy"))
        fields = run.get_extra_fields()
        gradients += fields["num_steps"].sum()
        return run.get_samples(), -fields["potential_energy"], fields["diverging"], gradients

    return in_threads(model, chains, one_chain)


def by_blackjax(model: Any, chains: int) -> Run:
    import blackjax
    import jax

    def log_density(u: Any) -> Any:
        return -model.potential()(u)

    keep = blackjax.adaptation.base.get_filter_adapt_info_fn(info_keys={"num_integration_steps"})

    def one_chain(key: Any, start: Any) -> Any:
        warm_key, draw_key = jax.random.split(key)
        adapt = blackjax.window_adaptation(blackjax.nuts, log_density, adaptation_info_fn=keep)
        (state, parameters), warm = adapt.run(warm_key, start, num_steps=WARMUP)
        kernel = blackjax.nuts(log_density, **parameters).step

        def step(state: Any, key: Any) -> Any:
            state, info = kernel(key, state)
            told = info.is_divergent, info.num_integration_steps
            return state, (state.position, state.logdensity, *told)

        keys = jax.random.split(draw_key, DRAWS)
        _, (free, lp, diverging, steps) = jax.lax.scan(step, state, keys)
        return free, lp, diverging, steps.sum() + warm.info.num_integration_steps.sum()

    return in_threads(model, chains, one_chain)


def by_nutpie(model: Any, chains: int) -> Run:
    import jax
    import nutpie
    from nutpie.compiled_pyfunc import from_pyfunc

    def make_logp() -> Any:
        both = jax.jit(jax.value_and_grad(lambda u: -model.potential()(u)))

        def logp(u: np.ndarray, **_: Any) -> tuple[float, np.ndarray]:
            value, slope = both(u)
            return float(value), np.asarray(slope, np.float64)

        return logp

    compiled = from_pyfunc(
        ndim=model.free_size,
        make_logp_fn=make_logp,
        make_expand_fn=lambda *_: lambda u, **_: {"free": np.array(u)},
        expanded_dtypes=[np.dtype(np.float64)],
        expanded_shapes=[(model.free_size,)],
        expanded_names=["free"],
    )

    def run(seed: int) -> Found:
        found = nutpie.sample(
            compiled, draws=DRAWS, chains=chains, cores=CORES, seed=seed, progress_bar=False
        )
        stats, warmup = found["sample_stats"], found["warmup_sample_stats"]
        return {
            "free": found["posterior"]["free"].values,
            "lp": stats["logp"].values,
            "diverging": stats["diverging"].values,
            "gradients": int(stats["n_steps"].sum()) + int(warmup["n_steps"].sum()),
        }

    return run


PEERS = {
    "kinetograph": by_kinetograph,
    "numpyro": by_numpyro,
    "blackjax": by_blackjax,
    "nutpie": by_nutpie,
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("peer", choices=list(PEERS))
    parser.add_argument("model", choices=list(MODELS))
    parser.add_argument("out", type=Path)
    parser.add_argument("--chains", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--warm", action="store_true", help="time a second call")
    task = parser.parse_args()
    model = MODELS[task.model]()
    run = PEERS[task.peer](model, task.chains)
    if task.warm:
        run(task.seed + 1_000_000)
    begun = time.perf_counter()
    found = run(task.seed)
    found["seconds"] = time.perf_counter() - begun
    found.setdefault("sampling", found["seconds"])
    draws = found.pop("draws", None) or model.transform(found.pop("free"))
    np.savez(
        task.out,
        allow_pickle=False,
        **found,
        **{f"draws of {name}": values for name, values in draws.items()},
    )


if __name__ == "__main__":
    main()
