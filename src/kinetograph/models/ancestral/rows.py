"""A forward program, compiled once and run for many rows."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import jax
import numpy as np

from ...graph.compiling.compiled import limit_reached
from ...graph.faults import fault_error
from ...graph.precision import x64
from .forward import Forward

__all__ = ["forget", "in_rows", "run_rows"]

NUMBERS = 2**24  # largest number of values that are computed at once
MOST_PROGRAMS = 32  # number of compiled programs that are cached


def run_rows(
    forward: Forward, key: np.ndarray, count: int, given: Sequence[np.ndarray] = ()
) -> list[np.ndarray]:
    """The targets of `count` rows.

    `given` holds the values of `forward.given`, one for each row. Row k is a function of the key,
    k, and the values given in that row.

    Raises
    ------
    BoundsError
        If an index falls outside of its axis.
    LoopError
        If a loop with `on_limit="error"` reached its bound.
    """
    block_size = max(1, min(count, NUMBERS // forward.size))
    results: list[list[np.ndarray]] = [[] for _ in forward.targets]
    with x64():
        program = _compiled(forward)
        data = [node.value for node in forward.data]
        for first in range(0, count, block_size):
            # All blocks have one length, so that the program is compiled once.
            rows = np.minimum(np.arange(first, first + block_size), count - 1).astype(np.uint32)
            values, reports = program(key, rows, [values[rows] for values in given], data)
            _check(forward, reports)
            for blocks, value in zip(results, values, strict=True):
                blocks.append(np.asarray(value)[: count - first])
    return [
        np.concatenate(blocks) if blocks else np.empty((0, *node.shape), node.dtype)
        for blocks, node in zip(results, forward.targets, strict=True)
    ]


def in_rows(value: np.ndarray, count: int) -> np.ndarray:
    """The same value in every row."""
    return np.broadcast_to(value, (count, *value.shape))


@lru_cache(maxsize=MOST_PROGRAMS)
def _compiled(forward: Forward) -> Any:
    return jax.jit(jax.vmap(forward.row, (None, 0, 0, None)))


def forget() -> None:
    """Discard all compiled programs."""
    _compiled.cache_clear()


def _check(forward: Forward, reports: Sequence[Any]) -> None:
    *loops, fault = reports
    for loop, report in zip(forward.loops, loops, strict=True):
        if np.any(report.truncated):
            raise limit_reached(loop)
    failed = np.asarray(fault.most)
    if np.any(failed):
        raise fault_error(int(failed[failed != 0][0]), forward.indices)
