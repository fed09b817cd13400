"""Scalar targets share an array in the block."""

import jax
import numpy as np
import pytest

import kinetograph as kg
from kinetograph.programs.engine import build
from kinetograph.programs.program import Program


def mixed():
    """Scalars of two types between vectors."""
    a = kg.normal(0, 1)
    b = kg.normal(0, 1, shape=(2, 3))
    c = kg.gamma(2, 1)
    above = a > 0
    return a, b, c, above, kg.exp(b), above & (c > 1)


def test_the_block_has_one_array_of_all_scalars():
    def many():
        return [kg.normal(0, 1, name=f"x{i}") for i in range(50)]

    model = kg.model(many)
    program = Program(model, kg.samplers.NUTS(), model.targets)
    block = jax.tree.leaves(build(program).compiled.block.out_info[1].targets)
    assert [x.shape[1:] for x in block] == [(50,)]


@pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")
def test_draws_of_scalars_and_vectors_agree_with_their_expressions():
    settings = {"draws": 50, "warmup": 50, "chains": 2, "progress": False}
    results = kg.mcmc(kg.model(mixed), seed=1, chain_method="batch", **settings)
    a, b, c, above, exp, both = results["posterior"].data_vars.values()
    np.testing.assert_array_equal(above, a > 0)
    np.testing.assert_array_equal(both, (a > 0) & (c > 1))
    np.testing.assert_allclose(exp, np.exp(b), rtol=1e-13)
    assert len(np.unique(a)) > 50
    assert len(np.unique(b)) > 300
