"""Votes in the 1988 election by state: a hierarchical logistic regression.

In the week before the election, 11,566 people were asked whether they would vote for Bush (Gelman
and Hill 2006, chapter 14). People of one sex, race, age, education and state are counted together.
Age, education, state and region each have varying effects with an unknown standard deviation. No
one was asked in Alaska and Hawaii. The effects of states and regions are centred, because each of
them has many answers.
"""

import json
from pathlib import Path

import numpy as np

import kinetograph as kg

text = (Path(__file__).parent / "data" / "election88.json").read_text()
polls = {name: np.array(column) for name, column in json.loads(text).items()}
age, edu, state, region = (polls[name] - 1 for name in ("age", "edu", "state", "region"))
black, female, previous = polls["black"], polls["female"], polls["previous"] - 0.5

b = kg.normal(0, 5, shape=5)
spread = kg.gamma(2, 4, shape=5)
by_age = spread[0] * kg.normal(0, 1, shape=4)
by_edu = spread[1] * kg.normal(0, 1, shape=4)
by_both = spread[2] * kg.normal(0, 1, shape=16)
by_state = kg.normal(0, spread[3], shape=51)
by_region = kg.normal(0, spread[4], shape=5)
eta = b[0] + b[1] * black + b[2] * female + b[3] * female * black + b[4] * previous
eta = eta + by_age[age] + by_edu[edu] + by_both[4 * age + edu] + by_state[state] + by_region[region]
kg.observe(polls["bush"], kg.binomial(polls["asked"], kg.ilogit(eta)))

model = kg.model(b, spread, by_state)

if __name__ == "__main__":
    sampler = kg.samplers.NUTS(target_acceptance=0.95)
    print(kg.summary(kg.mcmc(model, sampler, seed=1), "b", "spread"))
