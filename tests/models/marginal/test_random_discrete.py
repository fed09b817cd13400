"""Random models with finite discrete unknowns have the density of the sum over their values."""

import pytest
from tests.models.marginal.random_discrete import agree


@pytest.mark.parametrize("seed", [7, 10, 23])
def test_3_random_models(seed):
    agree(seed)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(100, 400, 25))
def test_300_random_models(first):
    for seed in range(first, first + 25):
        agree(seed)
