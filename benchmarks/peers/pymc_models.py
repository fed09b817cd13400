"""The models in PyMC, for PyMC's own sampler and for nutpie."""

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from models import STARTS, UNKNOWNS, data, points


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
        elif name == "lotka_volterra":
            lotka_volterra(values)
        else:
            beta = pm.Normal("beta", 0.0, 2.5, shape=values["x"].shape[1])
            pm.Bernoulli("y", logit_p=values["x"] @ beta, observed=values["y"])
    return model


def lotka_volterra(values: dict[str, Any]) -> None:
    """Hares and lynxes, with PyMC's solver (odeint to 1.5e-8)."""
    from pymc.ode import DifferentialEquation

    def growth(z, t, theta):
        return [(theta[0] - theta[1] * z[1]) * z[0], (-theta[2] + theta[3] * z[0]) * z[1]]

    usual, spread = np.array([1, 0.05, 1, 0.05]), np.array([0.5, 0.05, 0.5, 0.05])
    starts = STARTS["lotka_volterra"]
    theta = pm.TruncatedNormal("theta", usual, spread, lower=0.0, initval=starts["theta"])
    z_init = pm.LogNormal("z_init", np.log(10.0), 1.0, shape=2, initval=starts["z_init"])
    sigma = pm.LogNormal("sigma", -1.0, 1.0, shape=2, initval=starts["sigma"])
    solve = DifferentialEquation(growth, values["times"][1:], n_states=2, n_theta=4, t0=0)
    z = pt.concatenate([z_init[None], solve(y0=z_init, theta=theta)])
    pm.LogNormal("y", pt.log(z), sigma, observed=values["y"])


def densities(name: str) -> list[float]:
    """The log density with Jacobians on the free space, at two points."""
    model = build(name)
    logp = model.compile_logp(jacobian=True)
    free = {k: model.rvs_to_values[model[k]].name for k in UNKNOWNS[name]}
    return [float(logp({free[k]: v for k, v in point.items()})) for point in points(name)]
