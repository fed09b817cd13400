"""NumPyro: its NUTS, its own summary.

Variants: `threads` compiles `MCMC.run` of one chain once (`jax.jit`) and runs it on one thread per
core; `batch` compiles it once for all chains on one device (`jax.vmap`). `parallel`, `vectorized`
and `sequential` are NumPyro's own ways to run chains. They compile again at every call of
`MCMC.run` (NumPyro 0.22), which is most of their warm time; hence `threads` and `batch`.
`forward` is `threads` with derivatives of the model by forward mode, for differential equations.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import numpyro
from common import Run, job, printed, report, save, warm
from numpyro import distributions as dist
from numpyro.diagnostics import print_summary

from models import QUANTITIES, STARTS, TOLERANCES, data, points

task = job(variants=("threads", "batch", "parallel", "vectorized", "sequential", "forward"))
if task.variant == "parallel":
    numpyro.set_host_device_count(task.chains)
numpyro.enable_x64()

import jax  # noqa: E402  (after the settings above)
import jax.numpy as jnp  # noqa: E402
from numpyro.infer import MCMC, NUTS, init_to_value  # noqa: E402


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


def lotka_volterra(times, y):
    """Solved by diffrax, with its default adjoint (recursive checkpoints)."""
    usual, spread = jnp.array([1, 0.05, 1, 0.05]), jnp.array([0.5, 0.05, 0.5, 0.05])
    theta = numpyro.sample("theta", dist.TruncatedNormal(usual, spread, low=0.0).to_event(1))
    z_init = numpyro.sample("z_init", dist.LogNormal(np.log(10.0), 1.0).expand([2]).to_event(1))
    sigma = numpyro.sample("sigma", dist.LogNormal(-1.0, 1.0).expand([2]).to_event(1))
    z = solution(theta, z_init, times)
    numpyro.sample("y", dist.LogNormal(jnp.log(z), sigma), obs=y)


def solution(theta, z_init, times):
    """Hares and lynxes at the times; NaN after too many steps."""
    import diffrax

    def growth(t, z, theta):
        a, b, c, d = theta
        return jnp.stack([(a - b * z[1]) * z[0], (-c + d * z[0]) * z[1]])

    found = diffrax.diffeqsolve(
        diffrax.ODETerm(growth),
        diffrax.Tsit5(),
        times[0],
        times[-1],
        None,
        z_init,
        theta,
        saveat=diffrax.SaveAt(ts=times),
        stepsize_controller=diffrax.PIDController(**TOLERANCES),
        max_steps=1084,  # as kinetograph
        throw=False,
        adjoint=diffrax.ForwardMode() if FORWARD else diffrax.RecursiveCheckpointAdjoint(),
    )
    return jnp.where(found.result == diffrax.RESULTS.successful, found.ys, jnp.nan)


FORWARD = task.variant == "forward"  # derivatives by forward mode, of the whole model
MODEL = {
    "eight_schools": eight_schools,
    "logistic": logistic,
    "lotka_volterra": lotka_volterra,
}.get(task.model, radon)
DATA = data(task.model)
FIELDS = ("num_steps", "diverging")


def mcmc(chains, method="sequential"):
    """NumPyro's driver of NUTS."""
    starts = STARTS.get(task.model)
    options = {"forward_mode_differentiation": FORWARD}
    if starts:
        values = {name: jnp.array(value) for name, value in starts.items()}
        options["init_strategy"] = init_to_value(values=values)
    return MCMC(
        NUTS(MODEL, **options),
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
    """A function of a seed that returns draws and extra fields."""
    if task.variant in ("threads", "forward"):
        compiled = jax.jit(one_chain).lower(jax.random.key(0)).compile()
        pool = ThreadPoolExecutor(len(os.sched_getaffinity(0)))

        def sample(seed):
            keys = list(jax.random.split(jax.random.key(seed), task.chains))
            parts = pool.map(lambda key: jax.block_until_ready(compiled(key)), keys)
            return jax.tree.map(lambda *leaves: np.stack(leaves), *parts)

    elif task.variant == "batch":
        keys = jax.random.split(jax.random.key(0), task.chains)
        batched = jax.jit(jax.vmap(one_chain)).lower(keys).compile()

        def sample(seed):
            keys = jax.random.split(jax.random.key(seed), task.chains)
            return jax.tree.map(np.asarray, batched(keys))

    else:
        driver = mcmc(task.chains, task.variant)

        def sample(seed):
            driver.run(jax.random.key(seed), extra_fields=FIELDS, **DATA)
            groups = driver.get_samples(True), driver.get_extra_fields(True)
            return jax.tree.map(np.asarray, groups)

    return sample


def warmup_steps():
    """The leapfrog steps of a warm-up, from a separate untimed run."""

    def steps(key):
        driver = mcmc(1)
        driver.warmup(key, extra_fields=FIELDS, collect_warmup=True, **DATA)
        return driver.get_extra_fields()["num_steps"].sum()

    keys = jax.random.split(jax.random.key(task.seed), task.chains)
    over = jax.vmap(steps) if task.variant == "batch" else partial(jax.lax.map, steps)
    return int(jax.jit(over)(keys).sum())


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
