"""A run holds its draws and little more."""

import tracemalloc

import numpy as np
import pytest
from tests.runs.models import run

import kinetograph as kg

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")

SAMPLER = kg.samplers.GLA2(0.5)  # of a gradient a draw


@pytest.mark.slow
def test_memory_is_the_draws_and_a_constant():
    """Peak of NumPy's allocations, without the compiler's: the draws, and a stacked copy."""
    x = kg.normal(0, 1, shape=1000)
    model = kg.model(x)
    run(model, draws=10, sampler=SAMPLER)
    tracemalloc.start()
    tree = run(model, draws=4000, warmup=50, sampler=SAMPLER)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    size = sum(v.nbytes for v in tree["posterior"].dataset.data_vars.values())
    assert size == 2 * 4000 * 1000 * 8
    # The check of convergence works on a part at a time, some tens of MiB.
    assert peak < 3 * size + 60e6, f"{peak / size:.1f} times the draws"


@pytest.mark.slow
def test_only_targets_are_kept():
    """A large unknown that is no target leaves no rows behind."""
    z = kg.normal(0, 1, shape=300)
    total = kg.sum(z)
    tree = run(kg.model(total), draws=100, sampler=SAMPLER)
    assert list(tree["posterior"].dataset.data_vars) == ["total"]
    rows = sum(
        v.nbytes for g in ("posterior", "sample_stats") for v in tree[g].dataset.data_vars.values()
    )
    assert rows < 2 * 100 * 8 * 10
    assert np.isfinite(tree["posterior"]["total"]).all()
