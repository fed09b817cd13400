"""NumPyro: its NUTS, its own summary.

Variants: `threads` compiles `MCMC.run` of one chain once (`jax.jit`) and runs it on one thread per
core; `parallel`, `vectorized` and `sequential` are NumPyro's own ways to run chains. Those compile
anew at every call of `MCMC.run` (NumPyro 0.22), which is most of their warm time; hence `threads`.
"""

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpyro
from common import Run, job, printed, report, save, warm
from numpyro import distributions as dist
from numpyro.diagnostics import print_summary

from models import QUANTITIES, data, points

task = job(variants=("threads", "parallel", "vectorized", "sequential"))
if task.variant == "parallel":
    numpyro.set_host_device_count(task.chains)
numpyro.enable_x64()

import jax  # noqa: E402  (after the settings above)
from numpyro.infer import MCMC, NUTS  # noqa: E402


def eight_schools(y, sigma):
    mu = numpyro.sample("mu", dist.Normal(0.0, 5.0))
    tau = numpyro.sample("tau", dist.HalfCauchy(5.0))
    z = numpyro.sample("z", dist.Normal(0.0, 1.0).expand([8]).to_event(1))
    theta = numpyro.deterministic("theta", mu + tau * z)
    numpyro.sample("y", dist.Normal(theta, sigma), obs=y)


def radon(county, floor, log_radon, counties):
    mu_a = numpyro.sample("mu_a", dist.Normal(0.0, 10.0))
    mu_b = numpyro.sample("mu_b", dist.Normal(0.0, 10.0))
    sigma_a = numpyro.sample("sigma_a", dist.HalfNormal(1.0))
    sigma_b = numpyro.sample("sigma_b", dist.HalfNormal(1.0))
    sigma_y = numpyro.sample("sigma_y", dist.HalfNormal(1.0))
    if task.model == "radon":
        alpha = numpyro.sample("alpha", dist.Normal(mu_a, sigma_a).expand([counties]).to_event(1))
        beta = numpyro.sample("beta", dist.Normal(mu_b, sigma_b).expand([counties]).to_event(1))
    else:
        a = numpyro.sample("a", dist.Normal(0.0, 1.0).expand([counties]).to_event(1))
        b = numpyro.sample("b", dist.Normal(0.0, 1.0).expand([counties]).to_event(1))
        alpha = numpyro.deterministic("alpha", mu_a + sigma_a * a)
        beta = numpyro.deterministic("beta", mu_b + sigma_b * b)
    mean = alpha[county] + beta[county] * floor
    numpyro.sample("y", dist.Normal(mean, sigma_y), obs=log_radon)


def logistic(x, y):
    beta = numpyro.sample("beta", dist.Normal(0.0, 2.5).expand([x.shape[1]]).to_event(1))
    numpyro.sample("y", dist.Bernoulli(logits=x @ beta), obs=y)


MODEL = {"eight_schools": eight_schools, "logistic": logistic}.get(task.model, radon)
DATA = data(task.model)
FIELDS = ("num_steps", "diverging")


def mcmc(chains, method="sequential"):
    """NumPyro's driver of NUTS."""
    return MCMC(
        NUTS(MODEL),
        num_warmup=task.warmup,
        num_samples=task.draws,
        num_chains=chains,
        chain_method=method,
        progress_bar=False,
    )


def one_chain(key):
    """A run of one chain, to be compiled as a whole."""
    driver = mcmc(1)
    driver.run(key, extra_fields=FIELDS, **DATA)
    return driver.get_samples(), driver.get_extra_fields()


def sampler():
    """A function of a seed that gives draws and extra fields (chain, draw, ...) in NumPy."""
    if task.variant == "threads":
        compiled = jax.jit(one_chain).lower(jax.random.key(0)).compile()
        pool = ThreadPoolExecutor(len(os.sched_getaffinity(0)))

        def sample(seed):
            keys = list(jax.random.split(jax.random.key(seed), task.chains))
            parts = pool.map(lambda key: jax.block_until_ready(compiled(key)), keys)
            return jax.tree.map(lambda *leaves: np.stack(leaves), *parts)

    else:
        driver = mcmc(task.chains, task.variant)

        def sample(seed):
            driver.run(jax.random.key(seed), extra_fields=FIELDS, **DATA)
            groups = driver.get_samples(True), driver.get_extra_fields(True)
            return jax.tree.map(np.asarray, groups)

    return sample


def warmup_steps():
    """The leapfrog steps of a warm-up: only a separate one shows them (untimed, own seeds)."""

    def steps(key):
        driver = mcmc(1)
        driver.warmup(key, extra_fields=FIELDS, collect_warmup=True, **DATA)
        return driver.get_extra_fields()["num_steps"].sum()

    keys = jax.random.split(jax.random.key(task.seed), task.chains)
    return int(jax.jit(lambda keys: jax.lax.map(steps, keys))(keys).sum())


def main() -> None:
    if task.mode == "density":
        potential = numpyro.infer.util.potential_energy
        return report(density=[-float(potential(MODEL, (), DATA, p)) for p in points(task.model)])

    def quantities(draws):
        return {name: draws[name] for name in QUANTITIES[task.model]}

    def read(result):
        draws, fields = result
        gradients = int(fields["num_steps"].sum()) + warmup_steps()
        return Run(quantities(draws), gradients, int(fields["diverging"].sum()))

    sample = sampler()
    if task.mode == "warm":
        return warm(task, sample, read)
    draws, _ = sample(task.seed)
    print_summary(quantities(draws), group_by_chain=True)
    printed()
    save(task, quantities(draws))


if __name__ == "__main__":
    main()
