"""A sampler of a user's own: the protocol, written out in forty lines, is all that a run needs."""

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.laws.helpers import assert_moments
from tests.runs.models import gaussian, run, same_draws, schools

import kinetograph as kg
from kinetograph.samplers.protocol import Info, Position, Sampler, Statistic

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")


class Proposal(NamedTuple):
    start: Position
    point: Position
    accepted: Any
    probability: Any
    finished: Any


@dataclass(frozen=True)
class RandomWalk:
    """Metropolis: q + h s R is accepted with probability min(1, pi(q') / pi(q))."""

    target_acceptance: float = 0.3
    tunes_scale: bool = True
    initial_step_size: float = 1.0
    statistics = (
        Statistic("lp", float, "log density"),
        Statistic("accepted", bool, "whether the proposal was taken"),
    )

    def begin(self, position, tuned, noise):
        no = jnp.array(False)
        return Proposal(position, position, no, jnp.zeros_like(position.log_density), no)

    def ask(self, state, tuned):
        # The proposal is drawn where it is asked for, from the noise kept in the state.
        return state.point.q

    def tell(self, state, point, tuned, noise):
        # The first turn only draws; its gradient is that of the start.
        drawn = state.start.q + tuned.step_size * tuned.scale * noise.normals(1, point.q.shape[0])
        first = state.probability == 0
        ratio = point.log_density - state.start.log_density
        probability = jnp.where(jnp.isnan(ratio), 0.0, jnp.exp(jnp.minimum(0.0, ratio)))
        accepted = noise.uniforms(2, 1)[0] < probability
        taken = jax.tree.map(lambda a, b: jnp.where(accepted, a, b), point, state.start)
        proposal = point._replace(q=drawn.astype(point.q.dtype))
        after = jax.tree.map(lambda a, b: jnp.where(first, a, b), proposal, taken)
        return Proposal(
            state.start,
            after,
            accepted & ~first,
            jnp.where(first, 1.0, probability),
            ~first,
        )

    def finished(self, state):
        return state.finished

    def end(self, state):
        statistics = jnp.stack([state.point.log_density, state.accepted.astype(float)])
        no = jnp.array(False)
        return state.point, Info(state.probability, 2, no, statistics)

    def settings(self):
        return asdict(self)


def correlated() -> kg.Model:
    x = kg.multivariate_normal([1.0, -2.0], [[1.0, 0.6], [0.6, 4.0]])
    return kg.model(x)


def test_it_is_a_sampler():
    assert isinstance(RandomWalk(), Sampler)
    assert isinstance(kg.samplers.NUTS(), Sampler)
    assert not isinstance(3, Sampler)


def test_it_samples_a_gaussian_right():
    tree = run(correlated(), sampler=RandomWalk(), draws=20_000, warmup=1000, chains=4)
    assert_moments(tree["posterior"]["x"].values, [1.0, -2.0], [1.0, 2.0])
    assert tree["sample_stats"]["accepted"].dtype == bool
    share = float(tree["sample_stats"]["accepted"].mean())
    assert share == pytest.approx(0.3, abs=0.1)  # the step size was tuned to it


def test_its_settings_and_state_are_saved():
    tree = run(correlated(), sampler=RandomWalk(target_acceptance=0.4))
    assert tree.attrs["sampler"] == "RandomWalk"
    assert '"target_acceptance": 0.4' in tree.attrs["sampler_settings"]
    assert np.all(tree["sampler_state"]["gradients"] >= 2 * 140)


def test_its_draws_obey_the_same_promises():
    sampler = RandomWalk()
    one = run(schools(), sampler=sampler, chains=4, threads=1)
    assert same_draws(run(schools(), sampler=sampler, chains=4, threads=2), one)
    thin = run(schools(), sampler=sampler, chains=4, draws=20, thin=3)
    assert np.array_equal(thin["posterior"]["mu"], one["posterior"]["mu"][:, 2::3])


def test_a_sampler_without_a_target_keeps_its_step_size():
    sampler = RandomWalk(target_acceptance=None, tunes_scale=False, initial_step_size=0.7)
    state = run(correlated(), sampler=sampler)["sampler_state"].dataset
    assert np.all(state["adaptation_tuned_step_size"] == 0.7)
    assert np.all(state["adaptation_tuned_scale"] == 1.0)


def test_a_sampler_with_a_fault_is_found():
    """The control: proposals are always taken."""

    class Always(RandomWalk):
        def tell(self, state, point, tuned, noise):
            told = super().tell(state, point, tuned, noise)
            kept = jax.tree.map(lambda a, b: jnp.where(told.finished, a, b), point, told.point)
            return told._replace(point=kept)

    sampler = Always(target_acceptance=None, initial_step_size=0.5)
    tree = run(correlated(), sampler=sampler, draws=5000, chains=4)
    with pytest.raises(AssertionError):
        assert_moments(tree["posterior"]["x"].values, [1.0, -2.0], [1.0, 2.0])


def test_a_setting_changed_between_runs_takes_effect():
    class Adjustable(kg.samplers.NUTS):
        """A sampler whose settings may be assigned, and which has no hash."""

        __hash__ = None

        def __init__(self, max_depth):
            super().__init__()
            object.__setattr__(self, "max_depth", max_depth)

    sampler = Adjustable(1)
    model = gaussian()
    short = run(model, sampler=sampler)
    object.__setattr__(sampler, "max_depth", 3)
    longer = run(model, sampler=sampler)
    assert short["sample_stats"]["tree_depth"].max() == 1
    assert longer["sample_stats"]["tree_depth"].max() > 1
