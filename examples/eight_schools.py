"""Eight schools: how much does coaching raise test scores? (Rubin 1981)

Each school estimated its own effect, with a known standard error. The effects are partially pooled:
tau is the standard deviation between schools. The model is non-centred (theta = mu + tau * z): with
little data per school, theta and tau would otherwise be strongly dependent.
"""

import json
from pathlib import Path

import kinetograph as kg

schools = json.loads((Path(__file__).parent / "data" / "eight_schools.json").read_text())
y = kg.data(schools["y"], dims="school")
sigma = kg.data(schools["sigma"], dims="school")

mu = kg.normal(0, 5)
tau = kg.half_cauchy(5)
z = kg.normal(0, 1, shape=8, dims="school")
theta = mu + tau * z
kg.observe(y, kg.normal(theta, sigma))

model = kg.model(mu, tau, theta, coords={"school": list("ABCDEFGH")})

if __name__ == "__main__":
    print(kg.summary(kg.mcmc(model, seed=1)))
