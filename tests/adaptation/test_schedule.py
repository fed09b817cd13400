"""When warm-up does what."""

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from kinetograph.adaptation.schedule import Adaptation, Phases, Warmup
from kinetograph.graph.precision import x64
from kinetograph.kernels.contract import Info
from kinetograph.models.bound_density import Position

SIZE = 2


class Seen(NamedTuple):
    """Where warm-up is after a transition."""

    state: Adaptation
    hyper: dict[str, Any]

    @property
    def metric(self) -> Any:
        return self.state.metric

    @property
    def step(self) -> Any:
        return self.state.step


def warm(length: int, diverging: frozenset[int] = frozenset(), acceptance=0.8, step_size=0.5):
    """The states of a warm-up whose draws are noise: the first, and one after each transition.

    `acceptance` is one number, or one for each transition.
    """
    warmup = Warmup(("step_size", "scale"))
    draws = np.random.default_rng(1).normal(size=(length, SIZE))
    flags = np.array([done in diverging for done in range(length)], bool)

    def step(state, row):
        q, done, flag, accepted = row
        position = Position(q, jnp.float64(0), -q * np.array([1.0, 9.0]))
        info = Info(accepted, 1, flag, None)
        state = Seen(*warmup.update(*state, done, Phases.of(length, length), position, info))
        return state, state

    with x64():
        first = Position(np.ones(SIZE), np.float64(0), np.array([-4.0, 0.25]))
        hyper = {"step_size": step_size, "scale": np.ones(SIZE), "target_acceptance": 0.8}
        guess = np.array([0.5, 2.0])
        start = Seen(*warmup.start(first, jax.tree.map(jnp.asarray, hyper), guess))
        accepted = np.broadcast_to(np.float64(acceptance), length)
        rows = (draws, np.arange(length, dtype=np.int32), flags, accepted)
        _, states = jax.jit(lambda s, r: lax.scan(step, s, r))(start, rows)
        host = jax.device_get(states)
        return [
            jax.device_get(start),
            *(jax.tree.map(lambda leaf, i=i: leaf[i], host) for i in range(length)),
        ]


def test_starts_from_a_first_guess_and_the_samplers_step_size():
    state = warm(0, step_size=0.3)[0]
    np.testing.assert_allclose(state.hyper["scale"], [0.5, 2.0])
    assert float(state.hyper["step_size"]) == 0.3


def test_the_metric_is_updated_from_the_second_draw_on():
    states = warm(100)
    np.testing.assert_allclose(states[1].hyper["scale"], [0.5, 2.0])
    share = 2 / (2 + 5)  # towards 1 and 1 / 3
    expected = [0.5 * 2**share, 2 * (1 / 6) ** share]
    np.testing.assert_allclose(states[2].hyper["scale"], expected, rtol=1e-10)
    np.testing.assert_allclose(states[20].hyper["scale"], [1.0, 1 / 3], rtol=1e-6)


def test_windows_are_short_early_and_long_late():
    states = warm(1000)
    young = [float(s.metric.next.count) for s in states[1:]]
    early, late = young[:300], young[300:850]
    assert max(early) < 10
    assert max(late) > 60
    # The window in use always has at least a window's draws, once there was a switch.
    used = [float(s.metric.current.count) for s in states[1:]]
    assert min(used[10:300]) >= 10
    assert min(used[-300:]) >= 80


@pytest.mark.parametrize(
    ("length", "switches"),
    [
        (1000, [*range(9, 300, 10), *range(379, 700, 80)]),
        # The next switch would be 80 transitions before the metric is fixed, and 81.
        (423, [*range(9, 127, 10), 199]),
        (424, [*range(9, 127, 10), 199, 279]),
    ],
)
def test_when_the_windows_change(length, switches):
    young = np.array([float(s.metric.next.count) for s in warm(length)[1:]])
    assert np.flatnonzero(young == 0).tolist() == switches


def test_the_metric_is_fixed_at_the_end_and_the_step_size_is_not():
    states = warm(1000, acceptance=0.5)
    scales = np.array([s.hyper["scale"] for s in states[851:]])
    assert np.all(scales == scales[0])
    assert float(states[850].metric.current.count) == float(states[-1].metric.current.count)
    steps = [float(s.hyper["step_size"]) for s in states[851:]]
    assert len(set(steps)) == len(steps)


def test_sampling_takes_the_averaged_step_size():
    states = warm(50, acceptance=0.7)
    last, before = states[-1], states[-2]
    assert float(last.hyper["step_size"]) == pytest.approx(float(np.exp(last.step.log_average)))
    assert float(before.hyper["step_size"]) == pytest.approx(float(np.exp(before.step.log_step)))


def test_a_diverging_transition_does_not_enter_the_metric():
    with_all, without = warm(20), warm(20, diverging=frozenset({5}))
    assert float(with_all[-1].metric.next.count) == float(without[-1].metric.next.count) + 1


@pytest.mark.parametrize("acceptance", [np.nan, np.inf, -np.inf])
def test_an_acceptance_that_is_not_finite_counts_as_zero(acceptance):
    states, zero = warm(10, acceptance=acceptance), warm(10, acceptance=0.0)
    assert float(states[-1].hyper["step_size"]) == float(zero[-1].hyper["step_size"])


@pytest.mark.parametrize("length", [1, 2, 5, 19])
def test_very_short_warm_ups_end_well(length):
    last = warm(length)[-1]
    assert np.all(np.isfinite(last.hyper["scale"]))
    assert np.all(np.asarray(last.hyper["scale"]) > 0)
    assert float(last.hyper["step_size"]) > 0


def plain_dual_averaging(step_size, acceptances, target, last_phase=None):
    """The last step size and its average, by the formulas of Hoffman and Gelman.

    The update number `last_phase` starts again at the average, as after 2500 updates.
    """
    mu = math.log(10 * step_size)
    mean_error, count, averaged, average = 0.0, 0, 0, math.log(step_size)
    for number, acceptance in enumerate(acceptances):
        if number == last_phase:
            mu, mean_error, count, averaged = average, 0.0, 2500, 0
        count, averaged = count + 1, averaged + 1
        mean_error += (target - acceptance - mean_error) / (count + 10)
        x = mu - math.sqrt(count) / 0.05 * mean_error
        average += averaged**-0.75 * (x - average)
    return math.exp(x), math.exp(average)


def test_the_average_of_the_step_size_starts_again_when_the_metric_is_fixed():
    acceptances = np.random.default_rng(2).uniform(0.5, 1, 200)
    states = warm(200, acceptance=acceptances)
    expected = [
        plain_dual_averaging(0.5, acceptances[:number], 0.8, last_phase=170)
        for number in (60, 61, 170, 171, 199, 200)
    ]
    for number, (step_size, average) in zip((60, 61, 170, 171, 199, 200), expected, strict=True):
        found = float(states[number].hyper["step_size"])
        assert found == pytest.approx(average if number == 200 else step_size, rel=1e-9)


def test_transitions_without_a_step_of_an_inner_sampler_do_not_tune_it():
    """The step size follows the transitions in which the inner sampler ran, and only these."""
    name, length = "inner.step_size", 30
    warmup = Warmup((), (name,))
    acceptances = np.random.default_rng(3).uniform(0.5, 1, length)
    ran = np.arange(length) % 3 == 1
    position = Position(np.zeros(SIZE), np.float64(0), np.zeros(SIZE))

    def step(state, row):
        done, acceptance = row
        info = Info(jnp.float64(0), 1, np.False_, None, within={name: acceptance})
        phases = Phases.of(length, length)
        state = warmup.update(*state, done, phases, position, info)
        return state, state[1][name]

    with x64():
        hyper = {name: jnp.float64(0.5), "inner.target_acceptance": jnp.float64(0.7)}
        rows = np.arange(length, dtype=np.int32), np.where(ran, acceptances, np.nan)
        state = warmup.start(position, hyper, None)
        _, found = jax.jit(lambda state, rows: lax.scan(step, state, rows))(state, rows)
    expected = [0.5]
    for done in range(length):
        tuned = acceptances[: done + 1][ran[: done + 1]]
        last = done == length - 1
        expected.append(plain_dual_averaging(0.5, tuned, 0.7)[last] if len(tuned) else 0.5)
    np.testing.assert_allclose(found, expected[1:], rtol=1e-9)
