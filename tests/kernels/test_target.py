"""The target of a transition: reports on the loops of a log density."""

import jax
import numpy as np
from tests.models.test_control_flow import stopping

from kinetograph.graph.precision import x64
from kinetograph.kernels.target import Target
from kinetograph.models.density import data_environment


def trips_by_hand(u):
    """The number of trips of the loop in plain Python."""
    level, trips = 1.0, 0
    while level < 10:
        level, trips = level * (1.02 + 0.1 * np.exp(u)), trips + 1
    return trips


def test_of_all_walkers_the_longest_loop_is_reported():
    model, points = stopping(), np.array([[1.5], [0.3], [-6.0], [-2.0]])
    with x64():
        data = data_environment(model.arguments, model.argument_values)
        target = Target(model.density, data, model.capacity)
        _, (report,) = jax.jit(lambda q: target.evaluate(q, target.no_trips()))(points)
    trips = [trips_by_hand(u) for u in points[:, 0]]
    assert trips.index(max(trips)) == 2
    assert int(report.most) == max(trips)
