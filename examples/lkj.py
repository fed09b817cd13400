"""Radon with intercepts and slopes correlated across counties: an LKJ prior.

Each county has a pair of effects (intercept, slope) from a bivariate normal distribution with
standard deviations `scale` and correlation matrix `correlation`. Compare `examples/radon.py`, which
assumes independent intercepts and slopes.

The model is non-centred: effects = mean + z @ L.T, where L @ L.T is the covariance matrix. The
centred form, `kg.multivariate_normal(mean, chol=factor, shape=(counties, 2))`, mixes poorly here,
because the data contain little information about the slopes.
"""

import json
from pathlib import Path

import kinetograph as kg

homes = json.loads((Path(__file__).parent / "data" / "radon.json").read_text())
counties = homes["J"]
county = kg.data([i - 1 for i in homes["county_idx"]])  # the file counts from 1
floor = kg.data(homes["floor_measure"])  # 0 basement, 1 first floor
log_radon = kg.data(homes["log_radon"])

mean = kg.normal(0, 10, shape=2, dims="effect")
scale = kg.half_normal(1, shape=2, dims="effect")
correlation = kg.lkj_correlation(2, 2)
rho = correlation[0, 1]
factor = scale[:, None] * kg.cholesky(correlation)
z = kg.normal(0, 1, shape=(counties, 2))
effects = mean + z @ factor.T
sd_y = kg.half_normal(1)
kg.observe(log_radon, kg.normal(effects[county, 0] + effects[county, 1] * floor, sd_y))

model = kg.model(mean, scale, rho, sd_y, effects, coords={"effect": ["intercept", "slope"]})

if __name__ == "__main__":
    print(kg.summary(kg.mcmc(model, seed=1), "mean", "scale", "rho", "sd_y"))
