"""Many short chains: the time until nested R-hat is below 1.01.

    python benchmarks/many_chains.py                              # kinetograph
    python benchmarks/many_chains.py --library blackjax           # in an environment with BlackJAX
    python benchmarks/many_chains.py --library numpyro --chains 512

K = 4 superchains of M walkers make a warm-up and 10 draws. The warm-up is doubled, from 5, until

    nested R-hat = sqrt(1 + B / W) < 1.01

for every unknown: B is the variance of the means of superchains, and W the mean over superchains of
the variance between the means of walkers and the variance within walkers. The walkers of a
superchain begin at one point, or near it (0.1) in an ensemble; superchains do not depend on each
other. The table has the processor and wall seconds of the first run with this warm-up, compilation
included, and of a second one.

Source: C. Margossian, M. Hoffman, P. Sountsov, L. Riou-Durand, A. Vehtari, A. Gelman, Nested R-hat,
Bayesian Analysis (2024).
"""

import argparse
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

SUPERCHAINS, DRAWS = 4, 10
LIMIT, FIRST, MOST = 1.01, 5, 640
Draws = np.ndarray  # (superchain, walker, draw, unknown)


def regression_rows() -> tuple[np.ndarray, np.ndarray]:
    """1,000 rows of 25 predictors, the size of the German credit data."""
    rng = np.random.default_rng(1)
    x = np.column_stack([np.ones(1000), rng.normal(size=(1000, 24))])
    return x, rng.binomial(1, 1 / (1 + np.exp(-x @ rng.normal(0, 0.5, 25))))


def answers() -> np.ndarray:
    """Answers of 100 persons to 20 items."""
    rng = np.random.default_rng(2)
    ability, difficulty, slope = (
        rng.normal(size=100),
        rng.normal(size=20),
        rng.lognormal(0, 0.4, 20),
    )
    return rng.binomial(1, 1 / (1 + np.exp(-slope[:, None] * (ability - difficulty[:, None]))))


def potentials() -> dict[str, tuple[int, Callable[[Any], Any]]]:
    """The size and log density of each model, for peers."""
    import jax
    import jax.numpy as jnp

    x, y = map(jnp.asarray, regression_rows())
    solved = jnp.asarray(answers())

    def logistic(u: Any) -> Any:
        eta = x @ u
        return -0.5 * jnp.sum(u**2) + jnp.sum(y * eta - jax.nn.softplus(eta))

    def item_response(u: Any) -> Any:
        ability, slope, difficulty, log_sd = u[:100], jnp.exp(u[100:120]), u[120:140], u[140]
        eta = slope[:, None] * (ability - difficulty[:, None] * jnp.exp(log_sd))
        prior = -0.5 * (u[:140] ** 2).sum() - 0.5 * jnp.exp(2 * log_sd) + log_sd
        return prior + jnp.sum(solved * eta - jax.nn.softplus(eta))

    return {"logistic": (25, logistic), "item response": (141, item_response)}


def models() -> dict[str, Any]:
    """The same models with kinetograph."""
    import kinetograph as kg

    def logistic() -> Any:
        x, y = regression_rows()
        b = kg.normal(0, 1, shape=25, name="b")
        kg.observe(y, kg.bernoulli(logits=x @ b))
        return kg.model(b)

    def item_response() -> Any:
        ability = kg.normal(0, 1, shape=100, name="ability")
        slope = kg.lognormal(0, 1, shape=(20, 1), name="slope")
        difficulty = kg.normal(0, 1, shape=(20, 1), name="difficulty")
        sd = kg.half_normal(1.0, name="sd")
        kg.observe(answers(), kg.bernoulli(logits=slope * (ability - difficulty * sd)))
        return kg.model(ability, slope, difficulty, sd)

    return {"logistic": logistic(), "item response": item_response()}


def nested_r_hat(draws: Draws) -> float:
    """The largest nested R-hat of the unknowns."""
    means = draws.mean(2)
    between = means.mean(1).var(0, ddof=1)
    within = (means.var(1, ddof=1) + draws.var(2, ddof=1).mean(1)).mean(0)
    return float(np.sqrt(1 + between / within).max())


def kinetograph_runs(name: str, walkers: int) -> dict[str, Callable[[int, int], Draws]]:
    """Functions of the warm-up and the seed."""
    import kinetograph as kg

    model = models()[name]

    def meads(warmup: int, seed: int) -> Draws:
        sampler = kg.samplers.MEADS(walkers=walkers)
        rng, size = np.random.default_rng(seed), model.free_size
        points = rng.normal(0, 0.5, (SUPERCHAINS, 1, size))
        points = points + 0.1 * rng.normal(size=(SUPERCHAINS, walkers, size))
        settings = {"chains": SUPERCHAINS, "draws": DRAWS, "warmup": warmup, "progress": False}
        settings["initial"] = points
        tree = kg.mcmc(model, sampler, seed=seed, **settings)["posterior"]
        parts = [tree[v].values.reshape(SUPERCHAINS, walkers, DRAWS, -1) for v in tree.data_vars]
        return np.concatenate(parts, -1)

    def single(sampler: Any, warmup: int, seed: int) -> Draws:
        rng = np.random.default_rng(seed)
        points = np.repeat(rng.normal(0, 0.5, (SUPERCHAINS, model.free_size)), walkers, 0)
        settings = {"draws": DRAWS, "warmup": warmup, "progress": False, "initial": points}
        chains = SUPERCHAINS * walkers
        tree = kg.mcmc(model, sampler, seed=seed, chains=chains, **settings)["posterior"]
        parts = [tree[v].values.reshape(SUPERCHAINS, walkers, DRAWS, -1) for v in tree.data_vars]
        return np.concatenate(parts, -1)

    return {
        "MEADS": meads,
        "NUTS": partial(single, kg.samplers.NUTS()),
        "HMC": partial(single, kg.samplers.HMC()),
    }


def blackjax_runs(name: str, walkers: int) -> dict[str, Callable[[int, int], Draws]]:
    """MEADS and ChEES of BlackJAX; four superchains as a batch."""
    import blackjax
    import jax
    import optax

    size, density = potentials()[name]

    def starts(key: Any) -> Any:
        keys = jax.random.split(key)
        near = 0.1 * jax.random.normal(keys[0], (walkers, size))
        return 0.5 * jax.random.normal(keys[1], (size,)) + near

    def drawn(kernel: Any, states: Any, key: Any) -> Any:
        def step(states: Any, key: Any) -> Any:
            keys = jax.random.split(key, walkers)
            states, _ = jax.vmap(kernel)(keys, states)
            return states, states.position

        return jax.lax.scan(step, states, jax.random.split(key, DRAWS))[1].swapaxes(0, 1)

    def meads(warmup: int, key: Any) -> Any:
        first, second, third = jax.random.split(key, 3)
        (states, settings), _ = blackjax.meads_adaptation(density, walkers).run(
            second, starts(first), warmup
        )
        return drawn(blackjax.ghmc(density, **settings).step, states, third)

    def chees(warmup: int, key: Any) -> Any:
        first, second, third = jax.random.split(key, 3)
        (states, settings), _ = blackjax.chees_adaptation(density, walkers).run(
            second, starts(first), 0.1, optax.adam(0.05), warmup
        )
        return drawn(blackjax.dynamic_hmc(density, **settings).step, states, third)

    def compiled(run: Any) -> Callable[[int, int], Draws]:
        batch = jax.jit(jax.vmap(run, (None, 0)), static_argnums=0)

        def run_batch(warmup: int, seed: int) -> Draws:
            return np.asarray(batch(warmup, jax.random.split(jax.random.key(seed), SUPERCHAINS)))

        return run_batch

    return {"MEADS": compiled(meads), "ChEES": compiled(chees)}


def numpyro_runs(name: str, walkers: int) -> dict[str, Callable[[int, int], Draws]]:
    """NumPyro's NUTS, all chains as a batch."""
    import jax
    from numpyro.infer import MCMC, NUTS

    size, density = potentials()[name]

    def nuts(warmup: int, seed: int) -> Draws:
        rng = np.random.default_rng(seed)
        points = np.repeat(rng.normal(0, 0.5, (SUPERCHAINS, size)), walkers, 0)
        mcmc = MCMC(
            NUTS(potential_fn=lambda u: -density(u)),
            num_warmup=warmup,
            num_samples=DRAWS,
            num_chains=len(points),
            chain_method="vectorized",
            progress_bar=False,
        )
        mcmc.run(jax.random.key(seed), init_params=points)
        draws = np.asarray(mcmc.get_samples(group_by_chain=True))
        return draws.reshape(SUPERCHAINS, walkers, DRAWS, size)

    return {"NUTS": nuts}


def main() -> None:
    libraries = {
        "kinetograph": kinetograph_runs,
        "blackjax": blackjax_runs,
        "numpyro": numpyro_runs,
    }
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--library", default="kinetograph", choices=list(libraries))
    parser.add_argument("--chains", type=int, default=4096)
    parser.add_argument("--models", nargs="+", default=["logistic", "item response"])
    parser.add_argument("--samplers", nargs="+", default=None)
    args = parser.parse_args()
    if args.library != "kinetograph":
        import jax

        jax.config.update("jax_enable_x64", True)
    warnings.simplefilter("ignore")
    head = (
        "model library sampler chains warm-up R-hat first,_CPU_s first,_s second,_CPU_s second,_s"
    )
    print("| " + " | ".join(word.replace("_", " ") for word in head.split()) + " |")
    print("|---" * 10 + "|")
    for name in args.models:
        for sampler, run in libraries[args.library](name, args.chains // SUPERCHAINS).items():
            if args.samplers is not None and sampler not in args.samplers:
                continue
            warmup = FIRST
            while True:
                cells = []
                for seed in (1, 2):
                    used, begun = time.process_time(), time.perf_counter()
                    r_hat = nested_r_hat(run(warmup, seed))
                    seconds = time.process_time() - used, time.perf_counter() - begun
                    cells += [f"{value:.1f}" for value in seconds]
                    if r_hat >= LIMIT:
                        break
                if r_hat < LIMIT or 2 * warmup > MOST:
                    break
                warmup *= 2
            about = [name, args.library, sampler, str(args.chains), str(warmup), f"{r_hat:.4f}"]
            print("| " + " | ".join([*about, *cells]) + " |", flush=True)


if __name__ == "__main__":
    main()
