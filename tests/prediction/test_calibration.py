"""Ranks of simulated unknowns among posterior draws, for right and wrong samplers."""

import numpy as np
import pytest

import kinetograph as kg


def two_levels():
    mu = kg.normal(0, 1, name="mu", shape=2)
    kg.observe(np.zeros((3, 2)), kg.normal(mu, 1.0), name="y")
    return kg.model(mu)


def test_a_right_sampler_has_uniform_ranks_and_a_wrong_one_has_not():
    model = two_levels()
    options = {"ranks": 19, "draws": 100, "chains": 2, "seed": 4}
    found = kg.calibration(model, 60, warmup=100, **options)
    assert found["ranks"]["mu"].shape == (60, 2)
    assert found["ranks"]["mu"].min() >= 0
    assert found["ranks"]["mu"].max() <= 19
    assert found["p_values"]["mu"].min() > 1e-6
    # Unadjusted steps as long as the posterior is wide give draws that are too wide.
    wrong = kg.samplers.SGLD(step_size=1.0)
    bad = kg.calibration(model, 60, sampler=wrong, warmup=50, **options)
    assert bad["p_values"]["mu"].max() < 1e-6
    # The model has its original data again.
    np.testing.assert_array_equal(model.value_of(model.observed[0]), np.zeros((3, 2)))


def test_ranks_of_discrete_unknowns_are_spread_over_ties():
    z = kg.bernoulli(0.4, name="z")
    x = kg.normal(0, 1, name="x")
    kg.observe(0.5, kg.normal(x + 2.0 * z, 0.5), name="y")
    found = kg.calibration(kg.model(x, z), 60, ranks=9, draws=50, chains=2, warmup=100, seed=2)
    assert found["p_values"]["z"] > 1e-6
    assert len(np.unique(found["ranks"]["z"])) > 5


def test_bad_input():
    mu = kg.normal(0, 1, name="mu")
    with pytest.raises(kg.ModelError, match="observes nothing"):
        kg.calibration(kg.model(mu))
    kg.observe([0.0], kg.normal(mu, 1), name="y")
    with pytest.raises(ValueError, match="ranks=99 exceeds the 20 draws"):
        kg.calibration(kg.model(mu), 3, draws=10, chains=2)
    with pytest.raises(TypeError, match=r"the array .*, not a model"):
        kg.calibration(mu)
