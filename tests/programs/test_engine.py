"""Compiler options of the programs of runs."""

import jax
import pytest

from kinetograph.programs.engine import _options

LEVEL = "xla_backend_optimization_level"


@pytest.mark.parametrize("disabled", [False, True])
def test_a_run_is_optimised_no_more_than_jax_is_set_to(disabled):
    before = jax.config.read("jax_disable_most_optimizations")
    jax.config.update("jax_disable_most_optimizations", disabled)
    try:
        assert (LEVEL in _options(None)) is not disabled
        assert LEVEL not in _options(2)
    finally:
        jax.config.update("jax_disable_most_optimizations", before)
