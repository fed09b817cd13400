"""Runs of models whose loops need more room than any before: replayed, and nobody notices."""

import numpy as np
import pytest
from tests.models.test_control_flow import stopping

import kinetograph as kg

pytestmark = pytest.mark.medium


def draws(model, **options):
    settings = {"draws": 300, "warmup": 200, "chains": 2, "seed": 4, "progress": False}
    return kg.mcmc(model, **(settings | options))["posterior"]["a"].values


@pytest.fixture(scope="module")
def grown():
    model = stopping()
    return draws(model), model


@pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")
def test_draws_are_those_of_a_run_that_had_the_room(grown):
    values, model = grown
    (loop,) = model.density.loops
    assert model.room.of(loop) > 64  # it did grow
    roomy = stopping()
    roomy.room = roomy.room.grown({roomy.density.loops[0]: 4000})
    np.testing.assert_array_equal(draws(roomy), values)
    assert roomy.room.of(roomy.density.loops[0]) == 4096


@pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")
def test_a_bound_that_is_an_error_ends_the_run():
    with pytest.raises(kg.LoopError, match="reached maximum_iterations = 5"):
        draws(stopping(maximum_iterations=5, on_limit="error"))
