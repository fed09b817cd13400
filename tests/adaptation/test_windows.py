"""Windows of moments, and when the host judges them."""

import re
from pathlib import Path

import jax
import numpy as np
import pytest

from kinetograph.adaptation.schedule import Phases
from kinetograph.adaptation.vector_choice import ROWS, VectorMoments
from kinetograph.adaptation.windows import (
    EVERY,
    FIRST,
    SKIPPED,
    added,
    is_judged,
    joined,
    log_spreads,
    next_judged,
    where_chains,
)
from kinetograph.graph.precision import x64
from kinetograph.kernels.moments import Moments


def filled(values):
    moments = Moments.start(values[0])
    for value in values:
        moments = moments.add(value)
    return moments


def test_the_spreads_of_stacked_chains():
    """Slopes that differ by rounding only have no spread; draws may differ by little."""
    rng = np.random.default_rng(2)
    values = rng.normal(5, 2, (3, 30, 4, 2))  # chains, draws, rows, elements
    close = 1.0 + 1e-15 * rng.integers(0, 2, (3, 30, 2))
    values[..., 1, :] = values[..., 3, :] = close
    stacked = jax.tree.map(lambda *x: np.stack(x), *map(filled, values))
    expected = np.log(values.std(1, ddof=1))
    expected[:, 3] = -np.inf
    np.testing.assert_allclose(log_spreads(stacked, slice(2, None)), expected, rtol=0.1)


@pytest.mark.parametrize("counts", [(7, 12), (0, 5), (5, 0), (0, 0), (1, 1)])
def test_joined_moments_are_those_of_all_values(counts):
    rng = np.random.default_rng(1)
    a, b = (rng.normal(3, 2, (n, 2, 4)) for n in counts)
    every = np.concatenate([a, b])
    both = joined(
        *(filled(part) if len(part) else Moments.start(every[:0].sum(0)) for part in (a, b))
    )
    assert both.count == sum(counts)
    if len(every):
        np.testing.assert_allclose(both.mean, every.mean(0), rtol=1e-12)
        np.testing.assert_allclose(both.squares, len(every) * every.var(0), rtol=1e-11, atol=1e-12)
    else:
        np.testing.assert_array_equal(both.squares, 0.0)


def test_joined_cross_products_are_those_of_all_values():
    rng = np.random.default_rng(2)
    rows = rng.normal(1, 2, (25, ROWS, 3))
    parts = []
    for part in (rows[:9], rows[9:]):
        moments = VectorMoments.start(3, float)
        for row in part:
            moments = moments.add(row)
        parts.append(jax.tree.map(lambda x: np.asarray(x)[None], moments))
    both = parts[0].joined(parts[1])
    f, g = (rows[:, i] - rows[:, i].mean(0) for i in (0, 1))
    np.testing.assert_allclose(both.cross[0], (f * g).sum(0), rtol=1e-11)


def test_the_first_transitions_are_left_out():
    window = Moments.start(np.zeros(2))
    with x64():
        for done in range(SKIPPED + 3):
            window = added(window, done, np.array([float(done), 1.0]))
    assert window.count == 3
    np.testing.assert_allclose(window.mean, [SKIPPED + 1, 1])


def test_windows_are_judged_at_equal_distances_until_late():
    found = [t for t in range(400) if is_judged(t, 300)]
    assert found == [FIRST + k * EVERY for k in range(len(found))]
    assert found[-1] == 250
    for transition in range(300):
        later = [t for t in range(transition + 1, 1000) if is_judged(t, 10**6)]
        assert next_judged(transition) == later[0]


def test_trees_are_chosen_for_each_chain():
    new, old = (
        {"a": np.ones((3, 2, 2)), "b": np.ones(3)},
        {"a": np.zeros((3, 2, 2)), "b": np.zeros(3)},
    )
    found = where_chains(np.array([True, False, True]), new, old)
    np.testing.assert_array_equal(found["b"], [1, 0, 1])
    np.testing.assert_array_equal(found["a"].sum((1, 2)), [4, 0, 4])


def test_the_shortest_warm_up_that_changes_forms():
    """The number in the docs."""
    text = (Path(__file__).parents[2] / "docs" / "how-a-run-works.md").read_text()
    (number,) = re.findall(r"fewer than (\d+) transitions changes no form", text)
    late = {length: int(Phases.of(length, 0).late) for length in range(300)}
    judged = [n for n, end in late.items() if any(is_judged(i, end) for i in range(end))]
    assert judged == list(range(int(number), 300))
