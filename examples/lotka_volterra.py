"""Hares and lynxes: a differential equation with unknown rates.

The Hudson's Bay Company counted the pelts it bought, in thousands, from 1900 to 1920. Hares u feed
lynxes v (Lotka 1925, Volterra 1926):

    du/dt = (alpha - beta v) u,    dv/dt = (-gamma + delta u) v

The steps of the solver depend on the rates, and derivatives are taken through the solver. Priors
and data come from B. Carpenter's case study (2018). Chains start near the centres of the priors:
from other starting points, some chains stay at cycles that do not resemble the data.
"""

import json
from pathlib import Path

import numpy as np

import kinetograph as kg

pelts = json.loads((Path(__file__).parent / "data" / "lotka_volterra.json").read_text())
years = np.concatenate([[0.0], pelts["ts"]])
counts = kg.data(np.vstack([pelts["y_init"], pelts["y"]]), dims=("year", "species"))

usual, spread = np.array([1.0, 0.05, 1.0, 0.05]), np.array([0.5, 0.05, 0.5, 0.05])
rate = kg.variable(lower=0, shape=4, dims="term")
prior = -0.5 * (((rate - usual) / spread) ** 2).sum()
start = kg.lognormal(np.log(10), 1, shape=2, dims="species")
noise = kg.lognormal(-1, 1, shape=2, dims="species")


def growth(t, z):
    """The rates of change of hares and lynxes per year."""
    hares, lynxes = z[0], z[1]
    return [(rate[0] - rate[1] * lynxes) * hares, (-rate[2] + rate[3] * hares) * lynxes]


pelts_expected = kg.ode.solve(growth, start, years)
kg.observe(counts, kg.lognormal(kg.log(pelts_expected), noise))

model = kg.model(
    rate,
    start,
    noise,
    factors=[prior],
    coords={
        "term": ["alpha", "beta", "gamma", "delta"],
        "species": ["hare", "lynx"],
        "year": [1900 + int(year) for year in years],
    },
)
initial = {"rate": usual, "start": [10, 10], "noise": [0.4, 0.4]}

if __name__ == "__main__":
    print(kg.summary(kg.mcmc(model, warmup=1000, initial=initial, seed=1)))
