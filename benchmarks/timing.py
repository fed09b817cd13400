"""Compile time and gradient time of a density."""

import time
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

__all__ = ["timed"]


def timed(density: Callable[[Any], Any], free: Any, turns: int = 40) -> dict[str, float]:
    """Seconds to trace and compile, and the least microseconds per gradient."""
    start = time.perf_counter()
    gradient = jax.jit(jax.value_and_grad(density))
    value, slope = gradient.lower(free).compile()(free)
    compiled = time.perf_counter() - start
    assert np.isfinite(value)
    assert np.isfinite(slope).all()
    calls = 20

    @jax.jit
    def many(free: Any) -> Any:
        def step(_: int, free: Any) -> Any:
            value, slope = jax.value_and_grad(density)(free)
            return free + 1e-9 * slope + 0 * value

        return jax.lax.fori_loop(0, calls, step, free)

    many(free).block_until_ready()
    best = np.inf
    for _ in range(turns):
        start = time.perf_counter()
        many(free).block_until_ready()
        best = min(best, time.perf_counter() - start)
    return {"compile": compiled, "us": 1e6 * best / calls}
