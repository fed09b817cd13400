"""Data of the models, and the points where densities are compared.

Each peer has the model in its own language; the data and the names come from here.

eight_schools  non-centred: mu ~ N(0, 5), tau ~ HalfCauchy(5), z[8] ~ N(0, 1), theta = mu + tau z
radon          varying intercept and slope, centred: alpha[85] ~ N(mu_a, sigma_a),
               beta[85] ~ N(mu_b, sigma_b), mu_a, mu_b ~ N(0, 10), all sigmas ~ HalfNormal(1),
               log_radon ~ N(alpha[county] + beta[county] floor, sigma_y)
radon_noncentred  the same posterior with alpha = mu_a + sigma_a a, beta = mu_b + sigma_b b,
               a[85], b[85] ~ N(0, 1)
logistic       1000 x 25, synthetic: beta ~ N(0, 2.5), y ~ Bernoulli(logit = X beta)
lotka_volterra hares and lynxes: theta[4] ~ N((1, 0.05, 1, 0.05), (0.5, 0.05, 0.5, 0.05)), positive;
               z_init[2] ~ LogNormal(log 10, 1), sigma[2] ~ LogNormal(-1, 1); z solves
               dz = ((theta1 - theta2 z2) z1, (-theta3 + theta4 z1) z2); y ~ LogNormal(log z, sigma)
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

MODELS = ("eight_schools", "radon", "radon_noncentred", "logistic", "lotka_volterra")

_SCALES: dict[str, tuple[int, ...]] = {
    "mu_a": (),
    "sigma_a": (),
    "mu_b": (),
    "sigma_b": (),
    "sigma_y": (),
}

# the unknowns and their shapes; positive unknowns are sampled as their logarithm
UNKNOWNS: dict[str, dict[str, tuple[int, ...]]] = {
    "eight_schools": {"mu": (), "tau": (), "z": (8,)},
    "radon": _SCALES | {"alpha": (85,), "beta": (85,)},
    "radon_noncentred": _SCALES | {"a": (85,), "b": (85,)},
    "logistic": {"beta": (25,)},
    "lotka_volterra": {"theta": (4,), "z_init": (2,), "sigma": (2,)},
}
POSITIVE = {"tau", "sigma_a", "sigma_b", "sigma_y", "theta", "z_init", "sigma"}

# the quantities whose effective sample size is taken
QUANTITIES: dict[str, tuple[str, ...]] = {
    "eight_schools": ("mu", "tau", "theta"),
    "radon": (*_SCALES, "alpha", "beta"),
    "radon_noncentred": (*_SCALES, "alpha", "beta"),
    "logistic": ("beta",),
    "lotka_volterra": ("theta", "z_init", "sigma"),
}

# Common starting points of all peers; for other models each library chooses its own. From distant
# points, chains of every library stay at cycles that do not resemble the data.
STARTS: dict[str, dict[str, list[float]]] = {
    "lotka_volterra": {
        "theta": [1.0, 0.05, 1.0, 0.05],
        "z_init": [10.0, 10.0],
        "sigma": [0.4, 0.4],
    }
}
TOLERANCES = {"rtol": 1e-6, "atol": 1e-8}  # of the solvers of differential equations

# from the 10,000 nearly independent reference draws of posteriordb
REFERENCE: dict[str, dict[str, tuple[Any, Any]]] = {
    "eight_schools": {  # mean and its Monte Carlo standard error
        "mu": (4.4105, 0.033),
        "tau": (3.6021, 0.0319),
        "theta": (
            [6.1505, 4.9396, 3.9059, 4.796, 3.6144, 4.0511, 6.3172, 4.884],
            [0.0557, 0.0462, 0.0542, 0.0475, 0.0461, 0.0485, 0.0499, 0.0543],
        ),
    },
    "lotka_volterra": {
        "theta": ([0.5469, 0.02775, 0.8001, 0.02409], [0.0006263, 4.116e-05, 0.0008841, 3.5e-05]),
        "z_init": ([34.04, 5.936], [0.02931, 0.005339]),
        "sigma": ([0.2481, 0.251], [0.0004394, 0.0004371]),
    },
}


def data(model: str) -> dict[str, Any]:
    """The data of a model: a dictionary of NumPy arrays and sizes."""
    if model == "eight_schools":
        return {
            "y": np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0]),
            "sigma": np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0]),
        }
    if model in ("radon", "radon_noncentred"):
        path = Path(__file__).parent / "data" / "radon_mn.json"
        raw = json.loads(path.read_text())
        return {
            "county": np.array(raw["county_idx"]) - 1,
            "floor": np.array(raw["floor_measure"], dtype=float),
            "log_radon": np.array(raw["log_radon"], dtype=float),
            "counties": int(raw["J"]),
        }
    if model == "logistic":
        rng = np.random.default_rng(20_260_101)
        x = rng.normal(size=(1000, 25))
        beta = rng.normal(0.0, 0.5, size=25)
        y = (rng.uniform(size=1000) < 1.0 / (1.0 + np.exp(-x @ beta))).astype(int)
        return {"x": x, "y": y}
    if model == "lotka_volterra":
        raw = json.loads((Path(__file__).parent / "data" / "lotka_volterra.json").read_text())
        return {
            "times": np.array([0.0, *raw["ts"]]),
            "y": np.array([raw["y_init"], *raw["y"]], dtype=float),
        }
    raise ValueError(f"no such model: {model!r}; there are {', '.join(MODELS)}")


def points(model: str) -> list[dict[str, np.ndarray]]:
    """Two points of the free space, by name; positive unknowns as logarithms."""
    rng = np.random.default_rng(7)
    if model == "lotka_volterra":
        center = {
            "theta": np.log([0.55, 0.028, 0.8, 0.024]),
            "z_init": np.log([34.0, 5.9]),
            "sigma": np.log([0.25, 0.25]),
        }
        near = lambda v: v + rng.normal(0.0, 0.05, v.shape)
        return [{name: near(v) for name, v in center.items()} for _ in range(2)]
    return [
        {name: rng.normal(0.0, 0.5, size=shape) for name, shape in UNKNOWNS[model].items()}
        for _ in range(2)
    ]
