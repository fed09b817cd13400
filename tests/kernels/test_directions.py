"""Directions of a scale."""

import jax
import numpy as np
import pytest

from kinetograph.graph.precision import x64
from kinetograph.kernels.directions import Directions


def some(count: int = 2) -> Directions:
    rng = np.random.default_rng(1)
    vectors = np.linalg.qr(rng.normal(size=(5, 3)))[0].T
    return Directions(vectors, np.array([0.1, 7.0, 3.0]), np.int32(count))


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_a_product_stretches_along_those_in_use(count):
    directions, p = some(count), np.arange(5.0) - 1.0
    vectors, stretches = directions.vectors[:count], directions.stretches[:count]
    expected = p + vectors.T @ ((stretches - 1) * (vectors @ p))
    with x64():
        np.testing.assert_allclose(jax.jit(Directions.stretched)(directions, p), expected)


def test_without_any_nothing_changes():
    p = np.arange(5.0)
    with x64():
        found = jax.jit(Directions.stretched)(Directions.none(3, 5, np.float64), p)
    np.testing.assert_array_equal(found, p)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"count": np.int32(4)}, "from 0 to 3, got 4"),
        ({"count": np.int32(-1)}, "from 0 to 3, got -1"),
        ({"stretches": np.array([0.0, 1.0, 1.0])}, "must be positive"),
        ({"stretches": np.array([np.nan, 1.0, 1.0])}, "must be positive"),
        ({"stretches": np.array([np.inf, 1.0, 1.0])}, "must be positive"),
        ({"stretches": np.array([1.0, np.inf, np.nan]), "count": np.int32(3)}, "must be positive"),
        ({"vectors": np.full((3, 5), np.inf)}, "orthonormal"),
        ({"vectors": np.ones((3, 5))}, "orthonormal"),
        ({"vectors": np.full((3, 5), np.nan)}, "orthonormal"),
    ],
)
def test_wrong_ones_are_refused(wrong, message):
    some().check("NUTS")
    with pytest.raises(ValueError, match=message):
        some()._replace(**wrong).check("NUTS")
