"""The posteriors of posteriordb, written as kinetograph models.

Each function takes the data of `tests/posteriordb/<name>/data.json` and gives a model whose targets
are named as the reference quantities are. Flat priors are flat in the parameter itself.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import kinetograph as kg

__all__ = ["MODELS", "OPTIONS", "build", "data", "quantities", "reference"]

FOLDER = Path(__file__).parents[1] / "posteriordb"


def data(name: str) -> dict[str, Any]:
    """The data of a posterior, lists as arrays."""
    raw = json.loads((FOLDER / name / "data.json").read_text())
    return {k: np.asarray(v) if isinstance(v, list) else v for k, v in raw.items()}


def reference(name: str) -> dict[str, dict[str, float]]:
    """What the reference draws say about each quantity."""
    return json.loads((FOLDER / name / "reference.json").read_text())


def quantities(tree: Any) -> dict[str, np.ndarray]:
    """The draws of each scalar, (chain, draw), by the database's names: counted from 1."""
    found = {}
    for name, variable in tree["posterior"].dataset.data_vars.items():
        values = variable.values
        if values.ndim == 2:
            found[str(name)] = values
        else:
            for i in range(values.shape[2]):
                found[f"{name}[{i + 1}]"] = values[:, :, i]
    return found


def regression(columns: list[Any], y: np.ndarray, prior: Any = None, sigma: Any = None) -> kg.Model:
    """y ~ Normal(X beta, sigma), flat priors unless others are given."""
    design = np.column_stack(columns).astype(float)
    beta = kg.variable(shape=design.shape[1]) if prior is None else prior
    sigma = kg.variable(lower=0) if sigma is None else sigma
    response = kg.data(y)
    kg.observe(response, kg.normal(kg.data(design) @ beta, sigma))
    return kg.model(beta=beta, sigma=sigma)


def eight_schools(d: dict[str, Any]) -> kg.Model:
    y, sigma = kg.data(d["y"]), kg.data(d["sigma"])
    mu = kg.normal(0, 5)
    tau = kg.half_cauchy(5)
    z = kg.normal(0, 1, shape=d["J"])
    theta = mu + tau * z
    kg.observe(y, kg.normal(theta, sigma))
    return kg.model(mu, tau, theta)


def momhsiq(d: dict[str, Any]) -> kg.Model:
    columns = [np.ones(d["N"]), d["mom_hs"], d["mom_iq"]]
    return regression(columns, d["kid_score"], sigma=kg.half_cauchy(2.5))


def interaction(d: dict[str, Any]) -> kg.Model:
    h, q = (d[k] - d[k].mean() for k in ("mom_hs", "mom_iq"))
    return regression([np.ones(d["N"]), h, q, h * q], d["kid_score"])


def nes(d: dict[str, Any]) -> kg.Model:
    ages = [d["age_discrete"] == group for group in (2, 3, 4)]
    before, after = ("real_ideo", "race_adj"), ("educ1", "gender", "income")
    columns = [np.ones(d["N"]), *(d[k] for k in before), *ages, *(d[k] for k in after)]
    return regression(columns, d["partyid7"])


def mesquite(d: dict[str, Any]) -> kg.Model:
    volume = np.log(d["diam1"] * d["diam2"] * d["canopy_height"])
    area, shape = np.log(d["diam1"] * d["diam2"]), np.log(d["diam1"] / d["diam2"])
    total = np.log(d["total_height"])
    columns = [np.ones(d["N"]), volume, area, shape, total, d["group"]]
    return regression(columns, np.log(d["weight"]))


def autoregression(d: dict[str, Any]) -> kg.Model:
    y, lags, end = kg.data(d["y"]), d["K"], d["T"]
    later = kg.data(d["y"][lags:])
    alpha = kg.normal(0, 10)
    beta = kg.normal(0, 10, shape=lags)
    sigma = kg.half_cauchy(2.5)
    mean = alpha + sum(beta[k] * y[lags - 1 - k : end - 1 - k] for k in range(lags))
    kg.observe(later, kg.normal(mean, sigma))
    return kg.model(alpha, beta, sigma)


def garch(d: dict[str, Any]) -> kg.Model:
    """The variance follows the squared residuals, by a recursion over time."""
    y = kg.data(d["y"])
    mu = kg.variable()
    alpha0 = kg.variable(lower=0)
    alpha1 = kg.variable(lower=0, upper=1)
    beta1 = kg.variable(lower=0, upper=1 - alpha1)

    def next_variance(variance: kg.Array, y: kg.Array) -> tuple[kg.Array, kg.Array]:
        return alpha0 + alpha1 * (y - mu) ** 2 + beta1 * variance, variance

    _, variance = kg.scan(next_variance, d["sigma1"] ** 2.0, y)
    kg.observe(y, kg.normal(mu, kg.sqrt(variance)))
    return kg.model(mu, alpha0, alpha1, beta1)


def moving_average(d: dict[str, Any]) -> kg.Model:
    """Each prediction has a share of the last one's error."""
    y = kg.data(d["y"])
    mu, phi, theta = kg.normal(0, 10), kg.normal(0, 2), kg.normal(0, 2)
    sigma = kg.half_cauchy(2.5)

    def predicted(error: kg.Array, now: tuple[kg.Array, ...]) -> tuple[kg.Array, kg.Array]:
        before, value = now
        ahead = mu + phi * before + theta * error
        return value - ahead, ahead

    before = kg.concatenate([kg.stack([mu]), y[:-1]])
    _, ahead = kg.scan(predicted, 0.0, (before, y))
    kg.observe(y, kg.normal(ahead, sigma))
    return kg.model(mu, phi, theta, sigma)


def lotka_volterra(d: dict[str, Any]) -> kg.Model:
    """Hares and lynxes follow a differential equation, which an adaptive solver integrates."""
    times = np.concatenate([[0.0], d["ts"]])
    counts = kg.data(np.vstack([d["y_init"], d["y"]]))
    theta = kg.variable(lower=0, shape=4)
    z_init = kg.lognormal(np.log(10), 1, shape=2)
    sigma = kg.lognormal(-1, 1, shape=2)

    def growth(t: kg.Array, z: kg.Array) -> list[kg.Array]:
        hares, lynxes = z[0], z[1]
        return [
            (theta[0] - theta[1] * lynxes) * hares,
            (-theta[2] + theta[3] * hares) * lynxes,
        ]

    z = kg.ode.solve(growth, z_init, times)
    kg.observe(counts, kg.lognormal(kg.log(z), sigma))
    prior = (theta - [1, 0.05, 1, 0.05]) / [0.5, 0.05, 0.5, 0.05]
    return kg.model(theta, z_init, sigma, factors=[-0.5 * kg.sum(prior**2)])


def hidden_markov(d: dict[str, Any]) -> kg.Model:
    theta1, theta2 = kg.simplex_variable(2), kg.simplex_variable(2)
    mu = kg.ordered_variable(2)
    state = kg.markov_chain([0.5, 0.5], kg.stack([theta1, theta2]), len(d["y"]))
    kg.observe(d["y"], kg.normal(mu[state], 1.0))
    prior = -0.5 * (mu[0] - 3) ** 2 - 0.5 * (mu[1] - 10) ** 2
    return kg.model(theta1, theta2, mu, factors=[prior])


def drives(d: dict[str, Any]) -> kg.Model:
    """A chain of two states, each of which tells of itself by two numbers."""
    theta1, theta2 = kg.dirichlet(d["alpha"][0]), kg.dirichlet(d["alpha"][1])
    phi, lambda_ = kg.ordered_variable(2, positive=True), kg.ordered_variable(2, positive=True)
    state = kg.markov_chain([0.5, 0.5], kg.stack([theta1, theta2]), d["N"])
    kg.observe(d["u"], kg.exponential(phi[state]))
    kg.observe(d["v"], kg.exponential(lambda_[state]))
    kg.factor(kg.log_density(kg.normal([0, 3], 1), phi))
    kg.factor(kg.log_density(kg.normal([0, 3], 1), lambda_))
    return kg.model(theta1, theta2, phi, **{"lambda": lambda_})


def hidden_markov_by_hand(d: dict[str, Any]) -> kg.Model:
    """The forward recursion as a product of 2 x 2 matrices, halved until one is left."""
    theta1, theta2 = kg.simplex_variable(2), kg.simplex_variable(2)
    mu = kg.ordered_variable(2)
    log_emission = -0.5 * (kg.data(d["y"])[:, None] - mu) ** 2  # (time, state)
    top = kg.max(log_emission, axis=1)
    emission = kg.exp(log_emission - top[:, None])
    transition = kg.stack([theta1, theta2])
    steps = transition * emission[1:, None, :]
    total = kg.sum(top)
    while steps.shape[0] > 1:
        if steps.shape[0] % 2:
            steps = kg.concatenate([steps, np.eye(2)[None]])
        steps = steps[0::2] @ steps[1::2]
        size = kg.sum(steps, axis=(1, 2))
        steps = steps / size[:, None, None]
        total = total + kg.sum(kg.log(size))
    likelihood = kg.log(kg.sum(emission[0] @ steps[0])) + total
    prior = -0.5 * (mu[0] - 3) ** 2 - 0.5 * (mu[1] - 10) ** 2
    return kg.model(theta1, theta2, mu, factors=[likelihood, prior])


def mixture(d: dict[str, Any]) -> kg.Model:
    mu = kg.ordered_variable(2)
    sigma = kg.half_normal(2, shape=2)
    theta = kg.beta(5, 5)
    second = kg.bernoulli(1 - theta, shape=len(d["y"]))
    kg.observe(d["y"], kg.normal(mu[second.astype(int)], sigma[second.astype(int)]))
    return kg.model(mu, sigma, theta, factors=[-0.5 * (mu / 2) ** 2])


def mixture_by_hand(d: dict[str, Any]) -> kg.Model:
    mu = kg.ordered_variable(2)
    sigma = kg.half_normal(2, shape=2)
    theta = kg.beta(5, 5)
    y = kg.data(d["y"])[:, None]
    log_normal = -0.5 * ((y - mu) / sigma) ** 2 - kg.log(sigma)
    likelihood = kg.logaddexp(
        kg.log(theta) + log_normal[:, 0], kg.log(1 - theta) + log_normal[:, 1]
    )
    prior = -0.5 * (mu / 2) ** 2
    return kg.model(mu, sigma, theta, factors=[likelihood, prior])


def gaussian_process(d: dict[str, Any]) -> kg.Model:
    x = d["x"]
    rho = kg.gamma(25, 4)
    alpha = kg.half_normal(2)
    sigma = kg.half_normal(1)
    process = kg.gp.Process(kg.gp.rbf(rho, alpha), jitter=0.0)
    kg.observe(d["y"], process.marginal(x, kg.sqrt(sigma)))
    return kg.model(rho, alpha, sigma)


def poisson_process(d: dict[str, Any]) -> kg.Model:
    rho, alpha = kg.gamma(25, 4), kg.half_normal(2)
    f = kg.gp.Process(kg.gp.rbf(rho, alpha), jitter=1e-10).latent(d["x"])
    kg.observe(d["k"], kg.poisson(kg.exp(f)))
    return kg.model(rho, alpha, f)


def gaussian_process_by_hand(d: dict[str, Any]) -> kg.Model:
    x = d["x"]
    rho = kg.gamma(25, 4)
    alpha = kg.half_normal(2)
    sigma = kg.half_normal(1)
    squares = kg.data((x[:, None] - x) ** 2.0)
    cov = alpha**2 * kg.exp(-squares / (2 * rho**2)) + sigma * np.eye(len(x))
    y = kg.data(d["y"])
    kg.observe(y, kg.multivariate_normal(np.zeros(len(x)), cov))
    return kg.model(rho, alpha, sigma)


def weak_priors(d: dict[str, Any]) -> kg.Model:
    beta, sigma = kg.normal(0, 10, shape=d["D"]), kg.half_normal(10)
    return regression([d["X"]], d["y"], beta, sigma)


def log_earnings(d: dict[str, Any]) -> kg.Model:
    columns = [np.ones(d["N"]), d["height"], d["male"], d["height"] * d["male"]]
    return regression(columns, np.log(d["earn"]))


MODELS: dict[str, Callable[[dict[str, Any]], kg.Model]] = {
    "eight_schools-eight_schools_noncentered": eight_schools,
    "kidiq-kidscore_momhsiq": momhsiq,
    "kidiq_with_mom_work-kidscore_interaction_c": interaction,
    "nes1980-nes": nes,
    "mesquite-logmesquite_logvash": mesquite,
    "arK-arK": autoregression,
    "garch-garch11": garch,
    "arma-arma11": moving_average,
    "hudson_lynx_hare-lotka_volterra": lotka_volterra,
    "hmm_example-hmm_example": hidden_markov,
    "bball_drive_event_0-hmm_drive_0": drives,
    "low_dim_gauss_mix-low_dim_gauss_mix": mixture,
    "gp_pois_regr-gp_regr": gaussian_process,
    "gp_pois_regr-gp_pois_regr": poisson_process,
    "sblri-blr": weak_priors,
    "earnings-logearn_interaction": log_earnings,
}

# What a run needs beside its defaults. Cycles of hares and lynxes far from those in the data have
# modes of their own, in which a quarter of the chains end that begin at the priors' centres.
OPTIONS: dict[str, dict[str, Any]] = {
    "hudson_lynx_hare-lotka_volterra": {
        "warmup": 1000,
        "initial": {"theta": [0.6, 0.03, 0.7, 0.02], "z_init": [30, 6], "sigma": [0.4, 0.4]},
    },
    # As the reference runs, whose trees may be deeper still.
    "gp_pois_regr-gp_pois_regr": {
        "sampler": kg.samplers.NUTS(target_acceptance=0.99, max_depth=12)
    },
}


def build(name: str) -> kg.Model:
    """The model of a posterior, with its data."""
    return MODELS[name](data(name))
