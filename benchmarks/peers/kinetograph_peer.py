"""kinetograph, as its README says: `kg.mcmc` with its defaults.

In addition to the modes of the peers, `memory` reports the peak memory of a process that makes one
run, and `bare` the peak memory of a process that only starts JAX.
"""

from pathlib import Path

from common import Run, job, printed, report, save, warm

from models import QUANTITIES, STARTS, TOLERANCES, data, points


def build(name):
    """The model of that name."""
    import kinetograph as kg

    values = data(name)
    if name == "eight_schools":
        y, sigma = kg.data(values["y"]), kg.data(values["sigma"])
        mu = kg.normal(0, 5, name="mu")
        tau = kg.half_cauchy(5, name="tau")
        z = kg.normal(0, 1, shape=(8,), name="z")
        theta = mu + tau * z
        kg.observe(y, kg.normal(theta, sigma))
        return kg.model(mu, tau, theta=theta)
    if name == "logistic":
        x, y = kg.data(values["x"]), kg.data(values["y"])
        beta = kg.normal(0, 2.5, shape=(values["x"].shape[1],), name="beta")
        kg.observe(y, kg.bernoulli(logit=x @ beta))
        return kg.model(beta)
    if name == "lotka_volterra":
        return lotka_volterra(kg, values)
    county, floor = kg.data(values["county"]), kg.data(values["floor"])
    log_radon, size = kg.data(values["log_radon"]), (values["counties"],)
    mu_a, mu_b = kg.normal(0, 10, name="mu_a"), kg.normal(0, 10, name="mu_b")
    sigma_a = kg.half_normal(1, name="sigma_a")
    sigma_b = kg.half_normal(1, name="sigma_b")
    sigma_y = kg.half_normal(1, name="sigma_y")
    if name == "radon":
        alpha = kg.normal(mu_a, sigma_a, shape=size, name="alpha")
        beta = kg.normal(mu_b, sigma_b, shape=size, name="beta")
        effects = {}
    else:
        alpha = mu_a + sigma_a * kg.normal(0, 1, shape=size, name="a")
        beta = mu_b + sigma_b * kg.normal(0, 1, shape=size, name="b")
        effects = {"alpha": alpha, "beta": beta}
    mean = alpha[county] + beta[county] * floor
    kg.observe(log_radon, kg.normal(mean, sigma_y))
    scales = (mu_a, sigma_a, mu_b, sigma_b, sigma_y)
    return kg.model(*scales, **effects) if effects else kg.model(*scales, alpha, beta)


def lotka_volterra(kg, values):
    """Hares and lynxes, with the solver of kinetograph."""
    import numpy as np

    usual, spread = np.array([1, 0.05, 1, 0.05]), np.array([0.5, 0.05, 0.5, 0.05])
    y = kg.data(values["y"])
    theta = kg.variable(lower=0, shape=4, name="theta")
    z_init = kg.lognormal(np.log(10), 1, shape=2, name="z_init")
    sigma = kg.lognormal(-1, 1, shape=2, name="sigma")

    def growth(t, z):
        return [(theta[0] - theta[1] * z[1]) * z[0], (-theta[2] + theta[3] * z[0]) * z[1]]

    z = kg.ode.solve(growth, z_init, values["times"], **TOLERANCES)
    kg.observe(y, kg.lognormal(kg.log(z), sigma))
    prior = -0.5 * (((theta - usual) / spread) ** 2).sum()
    return kg.model(theta, z_init, sigma, factors=[prior])


def density(name):
    """The log density at the two points, for any order of unknowns."""
    import numpy as np

    model = build(name)
    free = [np.concatenate([np.ravel(p[n]) for n in model.names]) for p in points(name)]
    return [float(model.log_prob(u)) for u in free]


def peak_mb():
    """The peak resident memory of this process, without its parent process."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("this system does not tell the peak memory of a process")


def main() -> None:
    task = job(("cold", "warm", "density", "memory", "bare"))
    if task.mode == "bare":
        import jax.numpy as jnp

        jnp.ones(3).block_until_ready()
        return report(peak_mb=peak_mb())
    if task.mode == "density":
        return report(density=density(task.model))

    import kinetograph as kg

    model = build(task.model)

    def sample(seed):
        return kg.mcmc(
            model,
            draws=task.draws,
            warmup=task.warmup,
            chains=task.chains,
            seed=seed,
            initial=STARTS.get(task.model),
            progress=False,
        )

    def read(tree):
        draws = {name: tree["posterior"][name].values for name in QUANTITIES[task.model]}
        diverging = int(tree["sample_stats"]["diverging"].values.sum())
        return Run(draws, int(tree.attrs["gradients"]), diverging)

    if task.mode == "warm":
        return warm(task, sample, read)
    if task.mode == "memory":
        before = peak_mb()
        tree = sample(task.seed)
        draws_mb = sum(v.nbytes for v in tree["posterior"].data_vars.values()) / 2**20
        return report(peak_mb=peak_mb(), before_run_mb=before, draws_mb=draws_mb)
    tree = sample(task.seed)
    print(kg.summary(tree))
    printed()
    save(task, read(tree).draws)


if __name__ == "__main__":
    main()
