"""Seeds: right runs pass, and each fault is found."""

from itertools import count

import numpy as np
import pytest

from kinetograph import laws


def run(seed):
    return np.stack([laws.autoregression(0.8, 4, 2000, seed=10 * seed + i) for i in (1, 2)], -1)


def test_a_run_that_its_seed_fixes():
    assert laws.reproducibility(run).passed(1e-3)


def test_a_run_that_its_seed_does_not_fix():
    calls = count()
    found = laws.reproducibility(lambda seed: run(seed + 5 * next(calls)))
    assert not found.same
    assert not found.passed()
    tiny = count()
    assert not laws.reproducibility(lambda seed: run(seed) + 1e-15 * next(tiny)).same


@pytest.mark.parametrize(
    "wrong",
    [
        lambda seed: run(0),  # the seed is not used
        lambda seed: run(seed)[[0, 1, 2, 0]],  # two chains are one
        lambda seed: run(0) if seed == 1 else run(0)[::-1],  # the seeds share their chains
    ],
)
def test_chains_that_are_the_same(wrong):
    found = laws.reproducibility(wrong)
    assert found.same
    assert not found.different
    assert not found.passed()


def test_chains_that_share_some_of_their_noise():
    def mixed(seed):
        x = run(seed)
        x[1] = 0.9 * x[1] + 0.4 * x[0]
        return x

    found = laws.reproducibility(mixed)
    assert found.different
    assert not found.passed()


def test_runs_of_different_length():
    with pytest.raises(ValueError, match="give draws of the shapes"):
        laws.reproducibility(lambda seed: run(1)[:, : 100 * seed])
