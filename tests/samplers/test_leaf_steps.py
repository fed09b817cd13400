"""Steps that are halved where their energy error is large."""

import jax.numpy as jnp
import numpy as np
import pytest
from tests.samplers.kernels import transitions
from tests.samplers.test_invariance import largest_score

import kinetograph as kg
from kinetograph import samplers
from kinetograph.samplers.leaf_steps import LeafSteps

FIXED = {"max_depth": 2, "tune": ()}


@pytest.mark.parametrize("integrator", ["leapfrog", "bcss2"])
def test_halved_steps_keep_the_target(integrator):
    """A score above 8 has a probability of 1e-14."""
    sampler = samplers.NUTS(halving_threshold=1.0, max_halvings=6, integrator=integrator, **FIXED)
    assert largest_score(sampler, "step_size", 2.0, "skewed", 40_000)[0] < 8


def test_without_the_way_back_the_target_is_not_kept(monkeypatch):
    judged = LeafSteps._judged

    def trusting(self, moment, way, before, stepped):
        """Take the leaf as soon as it is found."""
        after = judged(self, moment, way, before, stepped)
        found = (after.halving.back == 0) & (way.halving.back == -1)
        halving = after.halving._replace(back=jnp.where(found, -1, after.halving.back))
        leaf = after.leaf._replace(
            **{
                name: jnp.where(found, getattr(halving.position, name), value)
                for name, value in after.leaf._asdict().items()
            }
        )
        return after._replace(halving=halving, complete=after.complete | found, leaf=leaf)

    monkeypatch.setattr(LeafSteps, "_judged", trusting)
    sampler = samplers.NUTS(halving_threshold=1.0, max_halvings=5, **FIXED)
    assert largest_score(sampler, "step_size", 2.0, "skewed", 40_000)[0] > 8


def box(q):
    """A normal density in a box."""
    return jnp.where(jnp.max(jnp.abs(q)) < 1, -0.5 * jnp.sum(q * q), -jnp.inf)


def test_a_bound_without_a_transform_ends_the_search_soon():
    """No step is short enough to stop before it: at most 1 + 2 + 4 + 8 gradients are spent."""
    start = np.random.default_rng(1).uniform(-0.9, 0.9, size=(500, 2))
    sampler = samplers.NUTS(max_depth=1, tune=())
    after, found = transitions(sampler, box, start, step_size=1.0)
    assert np.abs(after).max() < 1
    lost = found["diverging"]
    assert lost.sum() > 100
    assert found["n_steps"][lost].max() <= 15
    assert set(found["halvings"][lost]) == {3}
    np.testing.assert_array_equal(after[lost], start[lost])


def test_steps_that_are_short_enough_are_whole():
    """A large threshold, or no halvings at most, gives the same draws."""
    x = kg.normal(0, 1, shape=3, name="x")
    runs = [
        kg.mcmc(kg.model(x), sampler, draws=50, warmup=100, chains=1, seed=1, progress=False)
        for sampler in (samplers.NUTS(halving_threshold=1e6), samplers.NUTS(max_halvings=0))
    ]
    np.testing.assert_allclose(*(tree["posterior"]["x"] for tree in runs), rtol=1e-9)
    assert (runs[0]["sample_stats"]["halvings"] == 0).all()
    assert "halvings" not in runs[1]["sample_stats"]


def test_a_narrow_neck_is_entered():
    """Eight schools: steps that were too long for some places are halved there."""
    y = np.array([28.0, 8, -3, 7, -1, 1, 18, 12])
    mu, tau = kg.normal(0, 5, name="mu"), kg.half_cauchy(5, name="tau")
    z = kg.normal(0, 1, shape=8, name="z")
    kg.observe(kg.data(y), kg.normal(mu + tau * z, [15.0, 10, 16, 11, 9, 11, 10, 18]))
    model = kg.model(mu, tau, z)
    tree = kg.mcmc(model, seed=1, progress=False)
    stats = tree["sample_stats"]
    assert not stats["diverging"].any()
    assert 0 < (stats["halvings"] > 0).mean() < 0.2
    # Each transition counts the gradients of all tries.
    assert (stats["n_steps"] > 2 ** stats["tree_depth"] - 1).any()
