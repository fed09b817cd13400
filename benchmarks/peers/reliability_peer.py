"""A default run of another library on a density of reliability.py, from its own starting points.

The density and its transforms are kinetograph's, so that samplers are compared, not transforms.
What it finds is saved: free states, log densities, divergences, gradients.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1]))

from reliability import MODELS

CHAINS, WARMUP, DRAWS = 96, 1000, 1000
BOUND, TRIES = 2.0, 100  # of the starting points, uniform, the first with a finite density


def by_numpyro(model: Any) -> dict[str, Any]:
    import jax
    from numpyro.infer import MCMC, NUTS

    u = model.potential()
    rng = np.random.default_rng(1)
    candidates = rng.uniform(-BOUND, BOUND, size=(CHAINS, TRIES, model.free_size))
    good = np.isfinite(np.asarray(jax.jit(u)(candidates)))
    start = candidates[np.arange(CHAINS), good.argmax(1)]
    run = MCMC(
        NUTS(potential_fn=u),
        num_warmup=WARMUP,
        num_samples=DRAWS,
        num_chains=CHAINS,
        chain_method="vectorized",
        progress_bar=False,
    )
    key = jax.random.PRNGKey(1)
    run.warmup(key, init_params=start, extra_fields=("num_steps",), collect_warmup=True)
    gradients = int(run.get_extra_fields()["num_steps"].sum())
    run.run(key, extra_fields=("num_steps", "diverging", "potential_energy"))
    fields = run.get_extra_fields(group_by_chain=True)
    return {
        "free": run.get_samples(group_by_chain=True),
        "lp": -fields["potential_energy"],
        "diverging": fields["diverging"],
        "gradients": gradients + int(fields["num_steps"].sum()),
    }


def by_nutpie(model: Any) -> dict[str, Any]:
    import jax
    import nutpie
    from nutpie.compiled_pyfunc import from_pyfunc

    def make_logp() -> Any:
        both = jax.jit(jax.value_and_grad(lambda u: -model.potential()(u)))

        def logp(u: np.ndarray, **_: Any) -> tuple[float, np.ndarray]:
            value, slope = both(u)
            return float(value), np.asarray(slope, np.float64)

        return logp

    def make_expand(*_: Any) -> Any:
        return lambda u, **_: {"free": np.array(u)}

    compiled = from_pyfunc(
        ndim=model.free_size,
        make_logp_fn=make_logp,
        make_expand_fn=make_expand,
        expanded_dtypes=[np.dtype(np.float64)],
        expanded_shapes=[(model.free_size,)],
        expanded_names=["free"],
    )
    found = nutpie.sample(compiled, draws=DRAWS, chains=CHAINS, cores=2, seed=1, progress_bar=False)
    stats, warmup = found.sample_stats, found.warmup_sample_stats
    return {
        "free": found.posterior["free"].values,
        "lp": stats["logp"].values,
        "diverging": stats["diverging"].values,
        "gradients": int(stats["n_steps"].sum()) + int(warmup["n_steps"].sum()),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("peer", choices=("numpyro", "nutpie"))
    parser.add_argument("model", choices=list(MODELS))
    parser.add_argument("out", type=Path)
    task = parser.parse_args()
    run = by_numpyro if task.peer == "numpyro" else by_nutpie
    np.savez(task.out, **run(MODELS[task.model]()))


if __name__ == "__main__":
    main()
