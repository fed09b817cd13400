"""Switching wells in Bangladesh: logistic regression (Gelman and Hill 2006, chapter 5).

Households were informed that their well contains too much arsenic. The model predicts which of them
switch to a safe well, by the distance to that well, the arsenic level and education. Distance (in
100 m) and arsenic are centred, so that main effects can be interpreted in the presence of their
interaction; education is in units of 4 years.
"""

import json
from pathlib import Path

import numpy as np

import kinetograph as kg

households = json.loads((Path(__file__).parent / "data" / "wells.json").read_text())
distance = np.array(households["dist"]) / 100
arsenic = np.array(households["arsenic"])
education = np.array(households["educ"]) / 4
distance = distance - distance.mean()
arsenic = arsenic - arsenic.mean()
predictors = ["distance", "arsenic", "distance:arsenic", "education"]

x = kg.data(np.column_stack([distance, arsenic, distance * arsenic, education]))
switched = kg.data(households["switched"])

intercept = kg.normal(0, 2.5)
slope = kg.normal(0, 2.5, shape=len(predictors), dims="predictor")
kg.observe(switched, kg.bernoulli(logit=intercept + x @ slope))

model = kg.model(intercept, slope, coords={"predictor": predictors})

if __name__ == "__main__":
    print(kg.summary(kg.mcmc(model, seed=1)))
