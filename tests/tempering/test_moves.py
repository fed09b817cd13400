"""Sweeps of particles until they have forgotten where they were."""

import numpy as np
import pytest

from kinetograph.tempering.moves import FORGOTTEN, NOISE, PATIENCE, Moves, correlations, steps_of
from kinetograph.tempering.points import Sweep

SIZE = 4000


class SlowPoints:
    """Points with moves x' = a x + sqrt(1 - a^2) noise, with an a for each coordinate."""

    def __init__(self, *factors):
        self.factors, self.rng = np.array(factors), np.random.default_rng(1)
        self.placed, self.changed = [], []

    def place(self, free, powers, hyper):
        self.free = free
        self.placed.append((powers, hyper))

    def change(self, hyper):
        self.changed.append(hyper)

    def sweep(self):
        noise = self.rng.normal(size=self.free.shape)
        self.free = self.factors * self.free + np.sqrt(1 - self.factors**2) * noise
        return Sweep(self.free, np.full(SIZE, 0.6), np.zeros(SIZE, bool), SIZE)

    def log_likelihood(self, free):
        return free[:, 0] - free[:, -1]


def moved(points, tunes=("step_size", "scale", "n_steps")):
    moves = Moves(points, frozenset(tunes), 0.8, 0.5)
    free = np.random.default_rng(2).normal(size=(SIZE, len(points.factors)))
    return moves, moves.move(free, points.log_likelihood(free), 0.3)


@pytest.mark.parametrize("factor", [0.0, 0.5, 0.9])
def test_sweeps_end_when_correlations_have_gone(factor):
    _, end = moved(SlowPoints(factor, factor))
    expected = (
        max(np.ceil(np.log(max(FORGOTTEN, NOISE / np.sqrt(SIZE))) / np.log(factor)), 1)
        if (factor)
        else 1
    )
    assert abs(end.sweeps - expected) <= 3
    assert end.correlation <= FORGOTTEN
    assert end.gradients == SIZE * end.sweeps


def test_a_coordinate_that_keeps_its_mode_ends_the_sweeps():
    class Stuck(SlowPoints):
        def log_likelihood(self, free):
            return free[:, 1]

    _, end = moved(Stuck(1.0, 0.0))
    assert PATIENCE < end.sweeps <= PATIENCE + 3
    assert end.correlation > 0.99


def test_step_size_follows_the_acceptance():
    points = SlowPoints(0.5, 0.5)
    moves, _ = moved(points)
    assert moves.step_size < 0.5  # the acceptance is 0.6, and the target 0.8
    powers, hyper = points.placed[0]
    assert (powers == 0.3).all()
    np.testing.assert_allclose(hyper["scale"][7], 1, rtol=0.1)
    assert hyper["n_steps"][0] == steps_of(0.5) == 4
    assert points.changed
    assert "scale" not in points.changed[0]
    untuned, _ = moved(SlowPoints(0.5, 0.5), ())
    assert untuned.step_size == 0.5


def test_correlations_of_constant_columns_are_zero():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(50, 1))
    before = np.column_stack([x, np.ones(50), x])
    after = np.column_stack([x, np.ones(50), -x])
    np.testing.assert_allclose(correlations(before, after), [1, 0, 1])
