"""Data for the tests of formulas, and a comparison of two densities."""

import numpy as np
import pandas as pd

import kinetograph as kg
from kinetograph.models.discovery import unknowns_above

ROWS = 40


def frame():
    rng = np.random.default_rng(20261124)
    x, z = rng.normal(2, 1.5, ROWS), rng.normal(size=ROWS)
    counts = rng.poisson(2.0, ROWS)
    data = pd.DataFrame(
        {
            "x": x,
            "z": z,
            "g": np.tile(list("abcd"), ROWS // 4),
            "h": np.repeat(["u", "v"], ROWS // 2),
            "t": rng.permutation(np.tile(["low", "mid", "high", "top"], ROWS // 4)),
            "y": 1 + 0.5 * x + rng.normal(size=ROWS),
            "positive": rng.gamma(2, 1, ROWS) + 0.1,
            "share": rng.beta(2, 3, ROWS),
            "angle": rng.uniform(-3, 3, ROWS),
            "count": counts,
            "n": counts + rng.integers(1, 5, ROWS),
            "b": np.tile([0, 1, 1, 0, 1], ROWS // 5),
            "grade": rng.permutation(np.tile([1, 2, 3, 4], ROWS // 4)),
            "w": rng.uniform(0.5, 2, ROWS),
            "kind": rng.permutation(np.tile(["p", "q", "r", "s"], ROWS // 4)),
        }
    )
    return data.assign(rain=data["positive"] * data["b"], cover=data["share"] * data["b"])


def assert_same_density(model, other, tolerance=1e-10):
    """Compare the log densities of two models at random points."""
    rng = np.random.default_rng(3)
    assert set(model.names) == set(other.names)
    for free in rng.normal(0, 0.7, (4, model.free_size)):
        values = model.transform(free)
        got, expected = model.log_prob(values), other.log_prob(values)
        assert np.isfinite(expected)
        assert abs(got - expected) < tolerance * max(1.0, abs(expected))


def computed(model, array, values):
    """The value of an array at values of the unknowns by name."""
    needed = set(unknowns_above([array.node]))
    given = {model[name]: value for name, value in values.items() if model[name].node in needed}
    return kg.calculate(array=array, values=given)["array"]
