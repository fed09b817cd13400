"""NaN for the solution at times that were not reached.

A NaN that replaces a value is a constant, whose derivatives are 0. Here the derivatives are NaN, by
every input of the loop of steps, even if the steps that were taken have not used that input.
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
from .right_hand_side import Leaves
from .tableaus import Tableau
from .times import Times

__all__ = ["Ending", "demand_the_end", "mark_rows", "mark_unreached"]


class Ending(NamedTuple):
    """The reason for which the last time was not reached."""

    stuck: Any  # whether no further step can be taken
    limited: Any  # whether the largest number of steps was reached


def mark_unreached(results: Leaves, times: Times, path: Path) -> Leaves:
    """Replace values by NaN from the first time that was not reached.

    A time that is out of order counts as not reached.
    """
    return mark_rows(results, _reached(times.outputs, times.start, path.t), path)


def mark_rows(results: Leaves, reached: Array, path: Path) -> Leaves:
    """Replace all rows but the first `reached` ones by NaN."""
    sources = _sources(path.t.node)
    return [Array(Apply(MARK, (r.node, reached.node, *sources), r.shape, r.dtype)) for r in results]


@lift
def _reached(ts: Any, start: Any, t: Any) -> Any:
    """The number of leading times that increase and do not exceed t."""
    rising = ts >= jnp.append(start, ts[:-1])
    return jnp.argmin(jnp.append(rising & (ts <= t), False)).astype(np.int32)


def demand_the_end(results: Leaves, ending: Ending, steps: int, method: str | Tableau) -> Leaves:
    """The results, with a run-time check that the last time was reached.

    The check is in a branch that returns the results, so every compiled function that uses them
    runs it. The log density of a model runs no checks, so it does not change.
    """
    reached = ~(ending.stuck | ending.limited)
    hint = "" if method == "rodas5p" else ', or method="rodas5p" if the equation is stiff'
    where = f"solve{place_text()}: the last of the times was not reached"

    def checking() -> list[Any]:
        run_time_check(
            ~ending.limited,
            LoopError,
            f"{where} in max_steps = {steps} steps; give a larger max_steps, rtol or atol{hint}",
        )
        run_time_check(
            ~ending.stuck,
            LoopError,
            f"{where}: the steps became too small to change the time, for example because f is not "
            "finite, the solution diverges, or the times are out of order",
        )
        return results

    checked = cond(reached, lambda: results, checking)
    return checked if isinstance(checked, list) else [checked]


def _sources(result: Node) -> list[Node]:
    """The inputs of the loop of steps that may have derivatives."""
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
    """The values, with NaN from row `reached` on.

    `sources` matter for the derivative only.
    """
    return jnp.where(_is_reached(reached, values), values, jnp.nan)


def _is_reached(reached: Any, values: Any) -> Any:
    return jnp.arange(len(values)).reshape(-1, *(1 for _ in values.shape[1:])) < reached


@_mark.defjvp
def _tangent(primals: Any, tangents: Any) -> Any:
    tangent, _, *source_tangents = tangents
    total = jnp.zeros((), tangent.dtype)
    for t in source_tangents:
        total = total + _nan_unless_zero(t).sum().astype(tangent.dtype)

    # Weights with irrational ratios, so that cotangents of several rows do not cancel.
    weights = jnp.sqrt(jnp.arange(2, 2 + tangent.size, dtype=tangent.dtype)).reshape(tangent.shape)
    return _mark(*primals), jnp.where(
        _is_reached(primals[1], tangent), tangent, weights * _nan_unless_zero(total)
    )


def _nan_unless_zero(t: Any) -> Any:
    """NaN for a tangent that is not 0, and 0 for 0.

    It is made of linear operations, so the transposed derivative does the same for cotangents: rows
    that were not reached do not affect a result that does not use them.
    """
    large = np.sqrt(np.finfo(t.dtype).max)
    # The barrier hides the numbers from XLA, which otherwise would multiply them first.
    a, b = lax.optimization_barrier((jnp.asarray(large, t.dtype), jnp.asarray(large / 2, t.dtype)))
    up, down = t, -t
    for _ in range(5):  # enough to make the smallest number infinite
        up, down = up * a, down * b
    return up + down


MARK = Operation("unreached", _mark, search="kg.ode.solve")
