"""Unknowns with an element for each row.

An example is an effect of each row.

The free state of some rows has all numbers of the unknowns without rows. Of an unknown with rows,
it has the numbers of these rows.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from ..distributions.variable import Variable
from .bijectors import bijector
from .density import Density

__all__ = ["RowUnknowns", "may_have_rows"]


def may_have_rows(density: Density, count: int) -> list[Variable]:
    """The unknowns whose free numbers are along an axis of rows."""
    long = [v for v in density.unknowns if density.bijectors[v].free_shape[:1] == (count,)]
    return [v for v in long if _has_any_length(v)]


def _has_any_length(unknown: Variable) -> bool:
    """Whether the bounds of an unknown fit any number of rows."""
    try:
        bijector(unknown.support, (1, *unknown.shape[1:]))
    except ValueError:
        return False
    return True


class RowUnknowns:
    """Places of unknowns with rows in the free state.

    Attributes
    ----------
    members
        The unknowns with rows.
    """

    def __init__(self, density: Density, members: Sequence[Variable], count: int) -> None:
        self.members, self.count = tuple(members), count
        self._widths = {v: density.bijectors[v].free_size // count for v in members}
        self._sizes = dict(zip(density.unknowns, density.sizes, strict=True))

    def shapes(self, count: int) -> Mapping[Variable, tuple[int, ...]]:
        """The shapes of the members with some number of rows."""
        return {v: (count, *v.shape[1:]) for v in self.members}

    def parted(self, free: Any, count: int) -> tuple[Any, tuple[Any, ...]]:
        """The free numbers without rows, and of each member, (count, width)."""
        if not self.members:
            return free, ()
        sizes = [count * self._widths.get(v, 0) or self._sizes[v] for v in self._sizes]
        pieces = dict(zip(self._sizes, jax.lax.split(free, sizes), strict=True))
        shared = [piece for v, piece in pieces.items() if v not in self._widths]
        rows = tuple(pieces[v].reshape(count, -1) for v in self.members)
        return jnp.concatenate([*shared, free[:0]]), rows

    def joined(self, shared: Any, rows: Sequence[Any]) -> Any:
        """The free state that `parted` divides."""
        if not self.members:
            return shared
        sizes = [size for v, size in self._sizes.items() if v not in self._widths]
        pieces = iter(jax.lax.split(shared, sizes) if sizes else ())
        by_member = dict(zip(self.members, rows, strict=True))
        return jnp.concatenate(
            [by_member[v].reshape(-1) if v in by_member else next(pieces) for v in self._sizes]
        )

    def taken(self, free: Any, places: Any) -> Any:
        """The free state of some rows."""
        shared, rows = self.parted(free, self.count)
        return self.joined(shared, [x[places] for x in rows])
