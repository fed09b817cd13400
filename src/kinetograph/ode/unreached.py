"""The times that were not reached: the solution is NaN there, and so is its derivative.

NaN that was written into a buffer is a constant, with derivatives of 0. Here they become NaN, by
all that the steps were computed from, however little of it they have got to use.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..graph.array import Array
from ..graph.control.loops import While
from ..graph.node import PART, Apply, Data, Node, Operation
from .right import Leaves

__all__ = ["mark_unreached"]


def mark_unreached(results: Leaves, reached: Any) -> Leaves:
    """The results of the loop of steps, whose rows from number `reached` on are NaN."""
    sources = _sources(results[0].node)
    if not sources:
        return results
    return [Array(Apply(MARK, (r.node, reached.node, *sources), r.shape, r.dtype)) for r in results]


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
    return values


@_mark.defjvp
def _tangent(primals: Any, tangents: Any) -> Any:
    own, _, *others = tangents
    total = jnp.zeros((), own.dtype)
    for t in others:
        total = total + _spoilt(t).sum().astype(own.dtype)
    rows = jnp.arange(len(own)).reshape(-1, *(1 for _ in own.shape[1:]))
    lost = _spoilt(jnp.broadcast_to(total, own.shape))
    return primals[0], jnp.where(rows < primals[1], own, lost)


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


MARK = Operation("unreached", _mark)
