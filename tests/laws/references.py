"""Example models of the field, of which `tests/references` has long runs of another library.

Each function takes the data of `tests/references/<name>.json` and gives a model whose targets are
named as the quantities there; `benchmarks/references.py` has the models once more, for NumPyro.
"""

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import kinetograph as kg

__all__ = ["MODELS", "build", "marginal_rats", "reference"]

ROOT = Path(__file__).parents[2]


def content(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((ROOT / "tests" / "references" / f"{name}.json").read_text())
    return found


def data(name: str) -> dict[str, Any]:
    """The data of a reference, or of the example of this name, lists as arrays."""
    found = content(name).get("data")
    if found is None:
        found = json.loads((ROOT / "examples" / "data" / f"{name}.json").read_text())
    return {k: np.asarray(v) for k, v in found.items()}


def reference(name: str) -> dict[str, dict[str, float]]:
    """What the long run says about each quantity."""
    found: dict[str, dict[str, float]] = content(name)["quantities"]
    return found


def linear(b: kg.Array, d: dict[str, Any]) -> kg.Model:
    error = kg.half_cauchy(2)
    kg.observe(d["y"], kg.normal(d["x"] @ b, error))
    return kg.model(b, error)


def ridge(d: dict[str, Any]) -> kg.Model:
    return linear(kg.normal(0, kg.half_normal(2), shape=15), d)


def lasso(d: dict[str, Any]) -> kg.Model:
    return linear(kg.laplace(0, kg.half_normal(2), shape=15), d)


def horseshoe(d: dict[str, Any]) -> kg.Model:
    width = kg.half_cauchy(0.2) * kg.half_cauchy(1, shape=15)
    return linear(width * kg.normal(0, 1, shape=15), d)


def finnish_horseshoe(d: dict[str, Any]) -> kg.Model:
    """Its widths end softly at 4."""
    width = kg.half_cauchy(0.2) * kg.half_cauchy(1, shape=15)
    return linear(width / kg.sqrt(1 + (width / 4) ** 2) * kg.normal(0, 1, shape=15), d)


def spike_and_slab(d: dict[str, Any]) -> kg.Model:
    share, error = kg.beta(1, 1), kg.half_cauchy(2)
    weights = kg.stack([1 - share, share])
    b = kg.mixture(kg.normal(0, 0.3), kg.normal(0, 3), weights=weights, shape=15)
    kg.observe(d["y"], kg.normal(d["x"] @ b, error))
    return kg.model(b, share, error)


def iris(d: dict[str, Any]) -> kg.Model:
    usual, spread = kg.normal(5, 5), kg.half_normal(2)
    level = kg.normal(usual, spread, shape=3)
    slope, error = kg.normal(0, 2), kg.half_normal(1)
    mean = level[d["species"]] + slope * (d["width"] - d["width"].mean())
    kg.observe(d["length"], kg.normal(mean, error))
    return kg.model(usual, spread, level, slope, error)


DAYS = np.array([-14, -7, 0, 7, 14])


def rats(d: dict[str, Any]) -> kg.Model:
    middle, slope = kg.normal(250, 100), kg.normal(0, 20)
    spread, error = kg.half_normal(50), kg.half_normal(20)
    middles = kg.normal(middle, spread, shape=(30, 1))
    kg.observe(d["grams"], kg.normal(middles + slope * DAYS, error))
    return kg.model(middle, slope, spread, error)


def marginal_rats(d: dict[str, Any]) -> kg.Model:
    """The same, the middles of the thirty integrated out."""
    middle, slope = kg.normal(250, 100), kg.normal(0, 20)
    spread, error = kg.half_normal(50), kg.half_normal(20)
    cov = spread**2 * np.ones((5, 5)) + error**2 * np.eye(5)
    kg.observe(d["grams"], kg.multivariate_normal(middle + slope * DAYS, cov))
    return kg.model(middle, slope, spread, error)


def network(d: dict[str, Any]) -> kg.Model:
    """Five hidden units; what it predicts has one mode, its weights have many."""
    inner, outer = kg.normal(0, 1, shape=(2, 5)), kg.normal(0, 1, shape=5)
    error = kg.half_normal(1)

    def predicted(x: np.ndarray) -> kg.Array:
        return kg.tanh(inner[0] + 2 * inner[1] * x[:, None]) @ outer

    kg.observe(d["y"], kg.normal(predicted(d["x"]), error))
    return kg.model(error, curve=predicted(d["grid"]))


def species_apart(d: dict[str, Any]) -> kg.Model:
    occupied, found = kg.beta(1, 1, shape=12), kg.beta(1, 1, shape=12)
    there = kg.bernoulli(occupied[:, None], shape=(12, 30))
    kg.observe(d["visits"], kg.binomial(4, found[:, None] * there))
    return kg.model(occupied, found)


def species_together(d: dict[str, Any]) -> kg.Model:
    usual, spread = kg.normal(0, 1.5, shape=2), kg.half_normal(1, shape=2)
    eta = usual + spread * kg.normal(0, 1, shape=(12, 2))
    occupied, found = kg.ilogit(eta[:, 0]), kg.ilogit(eta[:, 1])
    there = kg.bernoulli(occupied[:, None], shape=(12, 30))
    kg.observe(d["visits"], kg.binomial(4, found[:, None] * there))
    return kg.model(usual, spread, occupied)


def species_by_depth(d: dict[str, Any]) -> kg.Model:
    usual, spread = kg.normal(0, 1.5, shape=3), kg.half_normal(1, shape=3)
    eta = usual + spread * kg.normal(0, 1, shape=(8, 3))
    slope, found = eta[:, 1], kg.ilogit(eta[:, 2])
    there = kg.bernoulli(kg.ilogit(eta[:, :1] + slope[:, None] * d["depth"]))
    kg.observe(d["visits"], kg.binomial(5, found[:, None] * there))
    return kg.model(usual, spread, slope)


def poisson(d: dict[str, Any]) -> kg.Model:
    level, slope = kg.normal(0, 2), kg.normal(0, 1, shape=2)
    kg.observe(d["k"], kg.poisson(d["hours"] * kg.exp(level + d["x"] @ slope)))
    return kg.model(level, slope)


def wells(d: dict[str, Any]) -> kg.Model:
    """Flat priors."""
    near, high = (d["dist"] - d["dist"].mean()) / 100, d["arsenic"] - d["arsenic"].mean()
    beta = kg.variable(shape=4)
    design = np.column_stack([np.ones(len(near)), near, high, near * high])
    kg.observe(d["switched"], kg.bernoulli(logit=design @ beta))
    return kg.model(beta)


def seeds(d: dict[str, Any]) -> kg.Model:
    """A logistic regression with an error term for each plate."""
    b, spread = kg.normal(0, 10, shape=4), kg.half_normal(1)
    chance = kg.ilogit(d["design"] @ b + spread * kg.normal(0, 1, shape=21))
    kg.observe(d["grown"], kg.binomial(d["sown"], chance))
    return kg.model(b, spread)


def air(d: dict[str, Any]) -> kg.Model:
    """What was breathed differs from what was measured."""
    theta = kg.normal(0, 10, shape=2)
    x = kg.normal(4.48 + 0.76 * d["measured"], 9.0)
    kg.observe(d["ill"], kg.binomial(d["children"], kg.ilogit(theta[0] + theta[1] * x)))
    return kg.model(theta, x)


def irt_2pl(d: dict[str, Any]) -> kg.Model:
    sigma_theta, sigma_a, sigma_b = kg.half_cauchy(2), kg.half_cauchy(2), kg.half_cauchy(2)
    theta = sigma_theta * kg.normal(0, 1, shape=100)
    a, mu_b = kg.lognormal(0, sigma_a, shape=20), kg.normal(0, 5)
    b = kg.normal(mu_b, sigma_b, shape=20)
    kg.observe(d["y"], kg.bernoulli(logit=a[:, None] * (theta - b[:, None])))
    return kg.model(a, b, mu_b, sigma_a, sigma_b)


def election88(d: dict[str, Any]) -> kg.Model:
    path = ROOT / "examples" / "election88.py"
    spec = importlib.util.spec_from_file_location("election88", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return kg.model(b=module.b, spread=module.spread, state=module.by_state)


MODELS: dict[str, Callable[[dict[str, Any]], kg.Model]] = {
    "ridge": ridge,
    "lasso": lasso,
    "horseshoe": horseshoe,
    "finnish_horseshoe": finnish_horseshoe,
    "spike_and_slab": spike_and_slab,
    "iris": iris,
    "rats": rats,
    "network": network,
    "species_apart": species_apart,
    "species_together": species_together,
    "species_by_depth": species_by_depth,
    "poisson": poisson,
    "wells": wells,
    "seeds": seeds,
    "air": air,
    "irt_2pl": irt_2pl,
    "election88": election88,
}


def build(name: str) -> kg.Model:
    """The model of a reference, with its data."""
    return MODELS[name](data(name))
