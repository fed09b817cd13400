"""Radon in Minnesota homes: intercept and slope vary by county.

See Gelman and Hill (2006), chapter 13. Some of the 85 counties have a single measured home; partial
pooling lets them borrow strength from the other counties. Both effects are non-centred
(alpha = mu_a + sd_a * z_a), because the data contain little information about the slopes, so that
slope and sd_b would otherwise be strongly dependent.
"""

import json
from pathlib import Path

import kinetograph as kg

homes = json.loads((Path(__file__).parent / "data" / "radon.json").read_text())
counties = homes["J"]
county = kg.data([i - 1 for i in homes["county_idx"]])  # the file counts from 1
floor = kg.data(homes["floor_measure"])  # 0 basement, 1 first floor
log_radon = kg.data(homes["log_radon"])

mu_a = kg.normal(0, 10)
mu_b = kg.normal(0, 10)
sd_a = kg.half_normal(1)
sd_b = kg.half_normal(1)
z_a = kg.normal(0, 1, shape=counties, dims="county")
z_b = kg.normal(0, 1, shape=counties, dims="county")
alpha = mu_a + sd_a * z_a
beta = mu_b + sd_b * z_b
sd_y = kg.half_normal(1)
kg.observe(log_radon, kg.normal(alpha[county] + beta[county] * floor, sd_y))

model = kg.model(mu_a, mu_b, sd_a, sd_b, sd_y, alpha, beta)

if __name__ == "__main__":
    print(kg.summary(kg.mcmc(model, seed=1), "mu_a", "mu_b", "sd_a", "sd_b", "sd_y"))
