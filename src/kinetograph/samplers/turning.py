"""The U-turn check of a trajectory that grows leaf by leaf.

A stretch of the trajectory with the momenta p_first .. p_last and their sum rho is straight while

    rho . p_first > 0   and   rho . p_last > 0

When two halves join, the left half with the first leaf of the right half, and the last leaf of the
left half with the right half, must be straight, too.

A stretch of 2**k leaves is checked while its leaves arrive: leaf number n completes as many
half-trees as n has trailing bits that are 1. Of a finished half-tree only the first momentum, the
last momentum and the sum are needed later.

Source   M. Betancourt, arXiv:1701.02434, appendix A; the checks across halves: Stan pull request
         2800.
"""

from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import lax

__all__ = ["HalfTrees", "read", "straight", "write"]


Stretch = tuple[Any, Any, Any]  # the first, the last and the summed momentum


def straight(left: Stretch, right: Stretch) -> Any:
    """Whether two neighbouring stretches are straight when joined."""
    (first, last, total), (first_2, last_2, total_2) = left, right
    return (
        _straight(total + total_2, first, last_2)
        & _straight(total + first_2, first, first_2)
        & _straight(last + total_2, last, last_2)
    )


def _straight(rho: Any, first: Any, last: Any) -> Any:
    return (jnp.sum(rho * first) > 0) & (jnp.sum(rho * last) > 0)


class HalfTrees(NamedTuple):
    """The finished half-trees of a growing stretch; row k has 2**k leaves.

    Rows are written before they are read, so rows that an earlier stretch has left do no harm.
    """

    first: Any
    last: Any
    sums: Any

    @classmethod
    def room(cls, levels: int, size: int, dtype: Any) -> "HalfTrees":
        """Empty rows for stretches of at most 2**levels leaves."""
        rows = jnp.zeros((levels + 1, size), dtype)
        return cls(rows, rows, rows)

    def add(self, leaf: Any, p: Any) -> "tuple[HalfTrees, Any]":
        """Add leaf number `leaf`, with momentum p.

        Also returns whether a stretch that the leaf completes has turned.
        """

        def newest(level: Any) -> Any:
            """The first momentum of the stretch that the leaf ends."""
            return jnp.where(level == 0, p, read(self.first, level - 1))

        def continues(carry: tuple[Any, Any, Any]) -> Any:
            level, _, turning = carry
            return (((leaf >> level) & 1) == 1) & ~turning

        def join(carry: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
            level, total, _ = carry
            left = self.whole(level)
            return level + 1, left[2] + total, ~straight(left, (newest(level), p, total))

        level, total, turning = lax.while_loop(continues, join, (jnp.int32(0), p, jnp.array(False)))
        rows = zip(self, (newest(level), p, total), strict=True)
        return HalfTrees(*(write(row, value, level) for row, value in rows)), turning

    def whole(self, level: Any) -> Stretch:
        """The complete half-tree of 2**level leaves."""
        first, last, total = (read(rows, level) for rows in self)
        return first, last, total


def read(rows: Any, row: Any) -> Any:
    """The row of an index that is computed."""
    return lax.dynamic_index_in_dim(rows, row, keepdims=False)


def write(rows: Any, value: Any, row: Any) -> Any:
    """Replace the row of an index that is computed."""
    return lax.dynamic_update_index_in_dim(rows, value, row, 0)
