"""The host chooses the forms of stacked chains between two blocks."""

import jax
import numpy as np
import pytest

import kinetograph as kg
from kinetograph.adaptation.form_choice import restarted
from kinetograph.adaptation.host_warmup import Tuner
from kinetograph.adaptation.metric import FisherMetric
from kinetograph.adaptation.metric_search import Tuned
from kinetograph.adaptation.schedule import Warmup
from kinetograph.kernels.directions import Directions

FORMS = Warmup(("scale",), (), (slice(0, 2),), np.arange(2))


def schools():
    mu, tau = kg.normal(0, 5), kg.half_cauchy(5)
    theta = kg.normal(mu, tau, shape=8)
    kg.observe([28.0, 8, -3, 7, -1, 1, 18, 12], kg.normal(theta, 12.0))
    return {"mu": mu, "tau": tau, "theta": theta}


def test_only_chains_with_new_forms_begin_a_new_metric():
    rng = np.random.default_rng(1)
    metric = jax.tree.map(lambda x: 1 + rng.random((2, *np.shape(x))), FisherMetric.start(3, float))
    directions = Directions(rng.normal(size=(2, 1, 3)), np.full((2, 1), 2.0), np.ones(2, np.int32))
    hyper = {"scale": np.ones((2, 3)), "directions": directions}
    changes = np.array([[True, False], [False, False]])
    scale = np.array([[7.0, 9.0], [7.0, 9.0]])
    after, tuned = restarted(metric, hyper, changes, scale, np.array([0, 2]))
    np.testing.assert_array_equal(tuned["scale"], [[7, 1, 1], [1, 1, 1]])
    for new, old in zip(jax.tree.leaves(after), jax.tree.leaves(metric), strict=True):
        np.testing.assert_array_equal(new[0], 0.0)
        np.testing.assert_array_equal(new[1], old[1])
    assert tuned["directions"].count.tolist() == [0, 1]
    np.testing.assert_array_equal(tuned["directions"].stretches, [[1.0], [2.0]])
    np.testing.assert_array_equal(hyper["scale"], 1.0)  # the given values stay


def test_a_scale_that_is_not_finite_is_not_taken():
    metric = jax.tree.map(lambda x: np.asarray(x)[None], FisherMetric.start(2, float))
    changes = np.ones((1, 2), bool)
    _, tuned = restarted(metric, {"scale": np.full((1, 2), 3.0)}, changes, [[np.nan, 5.0]], [0, 1])
    np.testing.assert_array_equal(tuned["scale"], [[3.0, 5.0]])


@pytest.mark.parametrize("tuned", [True, False])
def test_a_block_ends_where_forms_are_chosen(tuned):
    tuner, transition, found = Tuner(300, tuned, warmup=FORMS), 0, []
    while transition < tuner.end:
        transition = int(tuner.phases(transition, 0).stop)
        found += [transition] if tuner.chooses_at(transition) else []
    assert found == [50, 100, 150, 200]  # 255: the metric is fixed
    plain = Tuner(300, tuned, warmup=Warmup(("scale",)))
    assert not any(plain.chooses_at(transition) for transition in range(300))


def test_forms_are_chosen_once_at_a_transition():
    """A chain may wait there while others of its batch move."""
    chain = kg.chain(kg.model(schools), kg.samplers.NUTS(), warmup=120, seed=1)
    program, state = chain._program, jax.tree.map(lambda x: np.asarray(x)[None], chain.state)
    tuner = program.tuner(200)
    assert tuner.chooses_at(50)
    Tuner.chosen([tuner], [50], Tuned(state.hyper, state.adaptation))
    assert not tuner.chooses_at(50)
    assert tuner.chooses_at(100)
