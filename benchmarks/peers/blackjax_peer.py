"""BlackJAX: a density written by hand in JAX, window adaptation, NUTS.

Variants: `threads` runs one compiled chain on one thread per core, `map` runs the chains one after
the other in one program (`jax.lax.map`), `vmap` as a batch.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import blackjax
import jax
import jax.numpy as jnp
import numpy as np
from common import Job, Run, job, printed, report, save, warm

from models import QUANTITIES, UNKNOWNS, data, points

jax.config.update("jax_enable_x64", True)


def normal(x, mean, sd):
    return jnp.sum(-0.5 * ((x - mean) / sd) ** 2 - jnp.log(sd) * jnp.ones_like(x))


def density(model):
    """The log density with Jacobians on the free space, without constants."""
    values = {k: jnp.asarray(v) for k, v in data(model).items()}

    def eight_schools(u):
        tau = jnp.exp(u["tau"])
        theta = u["mu"] + tau * u["z"]
        return (
            normal(u["mu"], 0.0, 5.0)
            - jnp.log1p((tau / 5.0) ** 2)
            + u["tau"]
            + normal(u["z"], 0.0, 1.0)
            + normal(values["y"], theta, values["sigma"])
        )

    def radon(u):
        scales = {k: jnp.exp(u[k]) for k in ("sigma_a", "sigma_b", "sigma_y")}
        county = values["county"]
        mean = u["alpha"][county] + u["beta"][county] * values["floor"]
        return (
            normal(u["mu_a"], 0.0, 10.0)
            + normal(u["mu_b"], 0.0, 10.0)
            + sum(normal(s, 0.0, 1.0) + u[k] for k, s in scales.items())
            + normal(u["alpha"], u["mu_a"], scales["sigma_a"])
            + normal(u["beta"], u["mu_b"], scales["sigma_b"])
            + normal(values["log_radon"], mean, scales["sigma_y"])
        )

    def radon_noncentred(u):
        scales = {k: jnp.exp(u[k]) for k in ("sigma_a", "sigma_b", "sigma_y")}
        county = values["county"]
        alpha = u["mu_a"] + scales["sigma_a"] * u["a"]
        beta = u["mu_b"] + scales["sigma_b"] * u["b"]
        mean = alpha[county] + beta[county] * values["floor"]
        return (
            normal(u["mu_a"], 0.0, 10.0)
            + normal(u["mu_b"], 0.0, 10.0)
            + sum(normal(s, 0.0, 1.0) + u[k] for k, s in scales.items())
            + normal(u["a"], 0.0, 1.0)
            + normal(u["b"], 0.0, 1.0)
            + normal(values["log_radon"], mean, scales["sigma_y"])
        )

    def logistic(u):
        eta = values["x"] @ u["beta"]
        return normal(u["beta"], 0.0, 2.5) + jnp.sum(values["y"] * eta - jax.nn.softplus(eta))

    return {
        "eight_schools": eight_schools,
        "radon": radon,
        "radon_noncentred": radon_noncentred,
        "logistic": logistic,
    }[model]


def quantities(model, u):
    """The quantities of a model from free draws (chain, draw, ...)."""
    out = dict(u)
    if model == "eight_schools":
        out["tau"] = np.exp(u["tau"])
        out["theta"] = u["mu"][..., None] + out["tau"][..., None] * u["z"]
    if model.startswith("radon"):
        out |= {k: np.exp(u[k]) for k in ("sigma_a", "sigma_b", "sigma_y")}
    if model == "radon_noncentred":
        for name, effect in (("alpha", "a"), ("beta", "b")):
            mean, sd = out[f"mu_{effect}"][..., None], out[f"sigma_{effect}"][..., None]
            out[name] = mean + sd * u[effect]
    return {name: out[name] for name in QUANTITIES[model]}


def sampler(job: Job):
    """A function of a seed that returns all chains' NumPy draws."""
    logdensity = density(job.model)
    shapes = UNKNOWNS[job.model]
    keep = blackjax.adaptation.base.get_filter_adapt_info_fn(info_keys={"num_integration_steps"})

    def chain(key):
        start_key, warm_key, draw_key = jax.random.split(key, 3)
        start = {
            name: jax.random.uniform(k, shape, minval=-2.0, maxval=2.0)
            for (name, shape), k in zip(
                shapes.items(), jax.random.split(start_key, len(shapes)), strict=True
            )
        }
        adapt = blackjax.window_adaptation(blackjax.nuts, logdensity, adaptation_info_fn=keep)
        (state, parameters), warm_info = adapt.run(warm_key, start, num_steps=job.warmup)
        kernel = blackjax.nuts(logdensity, **parameters).step

        def step(state, key):
            state, info = kernel(key, state)
            return state, (state.position, info.num_integration_steps, info.is_divergent)

        keys = jax.random.split(draw_key, job.draws)
        _, (positions, steps, diverging) = jax.lax.scan(step, state, keys)
        gradients = jnp.sum(steps) + jnp.sum(warm_info.info.num_integration_steps)
        return positions, gradients, jnp.sum(diverging)

    if job.variant == "threads":
        compiled = jax.jit(chain).lower(jax.random.key(0)).compile()
        pool = ThreadPoolExecutor(len(os.sched_getaffinity(0)))

        def run(keys):
            parts = pool.map(lambda key: jax.block_until_ready(compiled(key)), list(keys))
            return jax.tree.map(lambda *leaves: np.stack(leaves), *parts)

    else:
        batch = jax.vmap if job.variant == "vmap" else partial(partial, jax.lax.map)
        program = jax.jit(batch(chain))

        def run(keys):
            return jax.tree.map(np.asarray, program(keys))

    return lambda seed: run(jax.random.split(jax.random.key(seed), job.chains))


def main() -> None:
    task = job(variants=("threads", "map", "vmap"))
    if task.mode == "density":
        logdensity = jax.jit(density(task.model))
        return report(density=[float(logdensity(point)) for point in points(task.model)])

    def read(result):
        positions, gradients, divergences = result
        return Run(quantities(task.model, positions), int(gradients.sum()), int(divergences.sum()))

    sample = sampler(task)
    if task.mode == "warm":
        return warm(task, sample, read)
    run = read(sample(task.seed))
    from arviz_base import from_dict
    from arviz_stats import summary

    print(summary(from_dict({"posterior": run.draws})))
    printed()
    save(task, run.draws)


if __name__ == "__main__":
    main()
