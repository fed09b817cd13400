"""Random models of alike pieces have the density and gradient of their terms one by one."""

import pytest
from tests.models.rewrites.random_pieces import agree


@pytest.mark.parametrize("seed", [1, 4, 20])
def test_3_random_models(seed):
    agree(seed)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(100, 600, 25))
def test_500_random_models(first):
    for seed in range(first, first + 25):
        agree(seed)
