"""Small models for the tests of optimisers, with modes in closed form."""

from functools import cache
from typing import Any

import numpy as np

import kinetograph as kg

__all__ = [
    "CENTRE",
    "SCALE",
    "WAITS",
    "bimodal",
    "compound",
    "found",
    "quadratic",
    "regression",
    "waits",
]

WAITS = np.random.default_rng(0).exponential(0.5, size=20)
CENTRE, SCALE = np.array([1.0, -2.0]), np.array([1.0, 0.5])


@cache
def waits() -> kg.Model:
    """A rate with a flat prior, and exponential waiting times: modes n / S and (n + 1) / S."""
    rate = kg.variable(lower=0, name="rate")
    kg.observe(kg.data(WAITS), kg.exponential(rate))
    return kg.model(rate)


@cache
def quadratic() -> kg.Model:
    """A potential that is quadratic in two numbers, with curvatures 1 and 4."""
    x = kg.normal(CENTRE, SCALE, name="x")
    return kg.model(x)


@cache
def bimodal() -> kg.Model:
    """Modes near -1 and 1, of which the second is higher."""
    x = kg.variable(name="x")
    return kg.model(x, factors=[-4.0 * (x * x - 1.0) ** 2 + x])


def compound(goal: float) -> kg.Model:
    """A sum grows by a rate for 200 trips of a loop without a known bound; its log is observed.

    200 log(1 + rate / 200) = goal at the mode.
    """
    rate = kg.variable(name="rate")
    trips = kg.data(200)
    _, sum_ = kg.while_loop(
        lambda i, s: i < trips,
        lambda i, s: (i + 1, s * (1.0 + rate / 200.0)),
        [kg.data(0), kg.data(1.0)],
    )
    kg.observe(kg.data(goal), kg.normal(kg.log(sum_), 0.5))
    return kg.model(rate)


@cache
def regression() -> tuple[kg.Model, np.ndarray, np.ndarray]:
    """Linear regression with a known error of 0.7; the design and the responses."""
    rng = np.random.default_rng(2)
    design = rng.normal(size=(40, 3))
    responses = design @ [1.0, 2.0, 3.0] + 0.7 * rng.normal(size=40)
    slope = kg.variable(shape=3, name="slope")
    kg.observe(kg.data(responses), kg.normal(kg.data(design) @ slope, 0.7))
    return kg.model(slope), design, responses


def found(model: kg.Model, optimizer: Any = "lbfgs", **options: Any) -> kg.Optimum:
    """What is found, from a fixed seed."""
    return kg.opt(model, optimizer, **({"seed": 1} | options))
