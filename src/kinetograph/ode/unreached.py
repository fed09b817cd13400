"""The times that were not reached: the solution is NaN there, and so is its derivative.

NaN that is put in the place of a value is a constant, with derivatives of 0. Here they become NaN,
by all that the steps were computed from, however little of it they have got to use.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..graph.array import Array
from ..graph.checks import run_time_check
from ..graph.control.branches import cond
from ..graph.control.loops import While
from ..graph.errors import LoopError
from ..graph.lift import lift
from ..graph.node import PART, Apply, Data, Node, Operation
from ..graph.source import place_text
from .dense_output import Path
from .right import Leaves
from .times import Times

__all__ = ["Ending", "demand_the_end", "mark_rows", "mark_unreached"]


class Ending(NamedTuple):
    """Why the end was not reached."""

    stuck: Any  # no further step can be made
    limited: Any  # there were too many


def mark_unreached(results: Leaves, times: Times, path: Path) -> Leaves:
    """The values at times, NaN from the first one on that lies beyond the end or goes back."""
    return mark_rows(results, _reached(times.outputs, times.start, path.t), path)


def mark_rows(results: Leaves, reached: Array, path: Path) -> Leaves:
    """The rows that are reached, and NaN."""
    sources = _sources(path.t.node)
    return [Array(Apply(MARK, (r.node, reached.node, *sources), r.shape, r.dtype)) for r in results]


@lift
def _reached(ts: Any, start: Any, t: Any) -> Any:
    """How many times, from the first on, increase from the start and are not beyond t."""
    rising = ts >= jnp.append(start, ts[:-1])
    return jnp.argmin(jnp.append(rising & (ts <= t), False)).astype(np.int32)


def demand_the_end(results: Leaves, ending: Ending, steps: int, method: str) -> Leaves:
    """The results, which a compiled function raises for if the end was not reached.

    The demand stands in a branch that gives the results: so all that use these make it, and the
    log density of a model, which makes none, stays what it is.
    """
    reached = ~(ending.stuck | ending.limited)
    hint = "" if method == "rodas5p" else ', or method="rodas5p" if the equation is stiff'
    where = f"solve{place_text()}: the last of the times was not reached"

    def demanding() -> list[Any]:
        run_time_check(
            ~ending.limited,
            LoopError,
            f"{where} in max_steps = {steps} steps; give more of them, a larger rtol or atol{hint}",
        )
        run_time_check(
            ~ending.stuck,
            LoopError,
            f"{where}: steps became too small to change the time, as where f is not finite or the "
            "solution ends, or a time lies before another that it follows",
        )
        return results

    found = cond(reached, lambda: results, demanding)
    return found if isinstance(found, list) else [found]


def _sources(result: Node) -> list[Node]:
    """What goes into the loop, if there was any step to take, and may have derivatives."""
    if not (isinstance(result, Apply) and result.operation is PART):
        return []
    (loop,) = result.parents
    if not isinstance(loop, While) or loop.grad == "none":
        return []
    return [
        p for p in dict.fromkeys(loop.parents) if p.dtype.kind == "f" and not isinstance(p, Data)
    ]


@jax.custom_jvp
def _mark(values: Any, reached: Any, *sources: Any) -> Any:
    return jnp.where(_before(reached, values), values, jnp.nan)


def _before(reached: Any, values: Any) -> Any:
    return jnp.arange(len(values)).reshape(-1, *(1 for _ in values.shape[1:])) < reached


@_mark.defjvp
def _tangent(primals: Any, tangents: Any) -> Any:
    own, _, *others = tangents
    total = jnp.zeros((), own.dtype)
    for t in others:
        total = total + _spoilt(t).sum().astype(own.dtype)

    # Weights without a ratio, by which cotangents of several rows do not cancel.
    weights = jnp.sqrt(jnp.arange(2, 2 + own.size, dtype=own.dtype)).reshape(own.shape)
    return _mark(*primals), jnp.where(_before(primals[1], own), own, weights * _spoilt(total))


def _spoilt(t: Any) -> Any:
    """NaN for a tangent that is not 0, and 0 for 0, in linear operations: the same turned around.

    Rows that are not reached say nothing about a result that does not use them.
    """
    large = np.sqrt(np.finfo(t.dtype).max)
    # Unknown to XLA, which else would multiply them first.
    a, b = lax.optimization_barrier((jnp.asarray(large, t.dtype), jnp.asarray(large / 2, t.dtype)))
    up, down = t, -t
    for _ in range(5):  # enough for the smallest number
        up, down = up * a, down * b
    return up + down


MARK = Operation("unreached", _mark, search="kg.ode.solve")
