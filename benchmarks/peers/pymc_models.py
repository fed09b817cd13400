"""The models in PyMC, for PyMC's own sampler and for nutpie."""

import pymc as pm

from models import POSITIVE, UNKNOWNS, data, points


def build(name: str) -> pm.Model:
    """The model of that name."""
    values = data(name)
    with pm.Model() as model:
        if name == "eight_schools":
            mu = pm.Normal("mu", 0.0, 5.0)
            tau = pm.HalfCauchy("tau", 5.0)
            z = pm.Normal("z", 0.0, 1.0, shape=8)
            theta = pm.Deterministic("theta", mu + tau * z)
            pm.Normal("y", theta, values["sigma"], observed=values["y"])
        elif name.startswith("radon"):
            mu_a = pm.Normal("mu_a", 0.0, 10.0)
            mu_b = pm.Normal("mu_b", 0.0, 10.0)
            sigma_a = pm.HalfNormal("sigma_a", 1.0)
            sigma_b = pm.HalfNormal("sigma_b", 1.0)
            sigma_y = pm.HalfNormal("sigma_y", 1.0)
            county, size = values["county"], values["counties"]
            if name == "radon":
                alpha = pm.Normal("alpha", mu_a, sigma_a, shape=size)
                beta = pm.Normal("beta", mu_b, sigma_b, shape=size)
            else:
                a = pm.Normal("a", 0.0, 1.0, shape=size)
                b = pm.Normal("b", 0.0, 1.0, shape=size)
                alpha = pm.Deterministic("alpha", mu_a + sigma_a * a)
                beta = pm.Deterministic("beta", mu_b + sigma_b * b)
            mean = alpha[county] + beta[county] * values["floor"]
            pm.Normal("y", mean, sigma_y, observed=values["log_radon"])
        else:
            beta = pm.Normal("beta", 0.0, 2.5, shape=values["x"].shape[1])
            pm.Bernoulli("y", logit_p=values["x"] @ beta, observed=values["y"])
    return model


def densities(name: str) -> list[float]:
    """The log density on the free space, Jacobians included, at the two points."""
    logp = build(name).compile_logp(jacobian=True)
    free = {k: f"{k}_log__" if k in POSITIVE else k for k in UNKNOWNS[name]}
    return [float(logp({free[k]: v for k, v in point.items()})) for point in points(name)]
