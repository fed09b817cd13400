"""The log density with data: reports on its loops."""

import jax
import numpy as np
from tests.models.test_control_flow import stopping

from kinetograph.graph.precision import x64


def trips_by_hand(u):
    """The number of trips of the loop in plain Python."""
    level, trips = 1.0, 0
    while level < 10:
        level, trips = level * (1.02 + 0.1 * np.exp(u)), trips + 1
    return trips


def test_of_all_walkers_the_longest_loop_is_reported():
    model, points = stopping(), np.array([[1.5], [0.3], [-6.0], [-2.0]])
    with x64():
        density = model.bind()
        _, (report,) = jax.jit(lambda q: density.evaluate(q, density.no_trips()))(points)
    trips = [trips_by_hand(u) for u in points[:, 0]]
    assert trips.index(max(trips)) == 2
    assert int(report.most) == max(trips)
