"""Swaps of replicas whose moves are exact draws of their densities.

The prior is normal(0, 1) in each coordinate, and L = exp(-k q^2 / 2). At the power b each
coordinate is normal with the precision 1 + b k, and Z = (1 + k)^(-d / 2).
"""

import numpy as np
import pytest

from kinetograph.tempering.barrier import ladder_of, round_trip_rate
from kinetograph.tempering.evidence import stepping_stones, thermodynamic
from kinetograph.tempering.moves import Moves
from kinetograph.tempering.points import Sweep
from kinetograph.tempering.replicas import Replicas

SIZE, STIFFNESS, CHAINS = 4, 50.0, 20


class ExactPoints:
    """Points that move to new draws of their densities."""

    def __init__(self, rng):
        self.rng = rng

    def place(self, free, powers, hyper):
        self.powers = powers[:, 0]

    def sweep(self):
        spread = 1 / np.sqrt(1 + STIFFNESS * self.powers)
        free = self.rng.normal(size=(len(spread), SIZE)) * spread[:, None]
        return Sweep(free, np.full(len(spread), 0.8), np.zeros(len(spread), bool), len(spread))

    def log_likelihood(self, free):
        return -0.5 * STIFFNESS * (free**2).sum(-1)


def replicas(kind=Replicas, rungs=12):
    rng = np.random.default_rng(1)
    fine = np.linspace(0, 1, 400)
    # The log likelihood is gamma distributed: its spread is proportional to k / (1 + b k).
    powers = ladder_of(fine, np.log1p(STIFFNESS * fine), rungs)
    points = ExactPoints(rng)
    scales, steps = np.ones((rungs - 1, SIZE)), np.ones(rungs - 1)
    moves = Moves(points, frozenset(), 0.8, 1.0)
    free = rng.normal(size=(CHAINS, rungs, SIZE))

    def prior(count):
        return rng.normal(size=(count, SIZE))

    return kind(points, prior, free, powers, scales, steps, moves, rng)


def test_round_trips_and_rejections():
    states = replicas()
    scans = 2000
    scanned = states.scan(scans, False, lambda: None)
    # The ladder rejects equally often at each pair.
    assert np.ptp(scanned.rejections) < 0.05
    expected = round_trip_rate(scanned.rejections)
    rate = scanned.round_trips / scans
    error = rate.std(ddof=1) / np.sqrt(CHAINS)
    # A first trip starts with the scans, so that a part of one trip is missing in each chain.
    assert rate.mean() == pytest.approx(expected, abs=8 * error + 1.5 / scans)
    # Control: the rate without the rejections is another one.
    assert rate.mean() < 0.5 * round_trip_rate(np.zeros(11))
    assert sorted(states.replica[0]) == list(range(12))


def test_swaps_keep_the_densities():
    scanned = replicas().scan(2000, False, lambda: None)
    spread = scanned.free.reshape(-1, SIZE).std(0)
    np.testing.assert_allclose(spread, 1 / np.sqrt(1 + STIFFNESS), rtol=6 / np.sqrt(2 * 40_000))


def evidence_of(states):
    scanned = states.scan(500, False, lambda: None)
    return (
        stepping_stones(scanned.log_likelihood, states.powers),
        thermodynamic(scanned.log_likelihood, states.powers),
    )


def test_evidence():
    truth = -0.5 * SIZE * np.log1p(STIFFNESS)
    stones, integral = evidence_of(replicas())
    assert abs(stones.value - truth) < 6 * stones.error < 0.3
    assert integral == pytest.approx(truth, abs=0.1)


def test_retuned_ladder_rejects_equally():
    states = replicas()
    states.powers = np.linspace(0, 1, 12)  # nearly all rejections are at the lowest pair
    first = states.scan(300, False, lambda: None)
    assert np.ptp(first.rejections) > 0.4
    for _ in range(4):
        states.retune(states.scan(300, False, lambda: None).rejections)
    assert np.ptp(states.scan(1000, False, lambda: None).rejections) < 0.15


class AlwaysSwapped(Replicas):
    """Replicas that accept each swap: wrong."""

    def _chances(self, pairs):
        return np.ones((CHAINS, len(pairs)))


class Frozen(ExactPoints):
    """Points that never move: only swaps change the rungs."""

    def place(self, free, powers, hyper):
        self.free = free

    def sweep(self):
        size = len(self.free)
        return Sweep(self.free, np.full(size, 0.8), np.zeros(size, bool), size)


@pytest.mark.parametrize("kind", [Replicas, AlwaysSwapped])
def test_swaps_between_frozen_replicas_are_reversible(kind):
    """Two rungs, states fixed but for swaps and new draws of the prior: b = 1 must be kept."""
    states = replicas(kind, rungs=2)
    states.points.__class__ = Frozen
    # Start at the stationary density of b = 1.
    states.free[:, 1] = states.rng.normal(size=(CHAINS, SIZE)) / np.sqrt(1 + STIFFNESS)
    free = states.scan(6000, False, lambda: None).free
    squares = (free[:, 3000:] ** 2).mean((1, 2)) * (1 + STIFFNESS)
    away = abs(squares.mean() - 1) / (squares.std(ddof=1) / np.sqrt(CHAINS))
    assert (away < 8) == (kind is Replicas)
