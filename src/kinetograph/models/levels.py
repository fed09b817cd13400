"""Levels of unknowns, and places in the free state."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from ..distributions.variable import Variable

__all__ = ["Level", "joined_runs", "parts_of", "placed", "places_of", "replaced"]


class Level(NamedTuple):
    """Unknowns whose locations and scales are known together."""

    unknowns: tuple[Variable, ...]
    sizes: tuple[int, ...]  # of the free numbers of each
    runs: list[slice]  # of their free numbers in the free state
    centred: np.ndarray  # 1 for elements that are written centred, otherwise 0
    vectors: tuple[Variable, ...]

    @property
    def all(self) -> tuple[Variable, ...]:
        """Single unknowns and vectors."""
        return self.unknowns + self.vectors

    def of(self, vector: Any) -> Any:
        """The elements of a vector of the free state."""
        return jnp.concatenate([vector[run] for run in self.runs])

    def placed(self, new: Any, vector: Any) -> Any:
        """A vector of the free state with new values of the elements."""
        pieces, end, read = [], 0, 0
        for run in self.runs:
            size = run.stop - run.start
            pieces += [vector[end : run.start], new[read : read + size]]
            end, read = run.stop, read + size
        return jnp.concatenate([*pieces, vector[end:]])


def joined_runs(slices: Iterable[slice]) -> list[slice]:
    """The same places as slices that do not touch."""
    runs: list[slice] = []
    for one in slices:
        if runs and runs[-1].stop == one.start:
            runs[-1] = slice(runs[-1].start, one.stop)
        else:
            runs.append(one)
    return runs


def places_of(slices: Iterable[slice]) -> np.ndarray:
    """The free numbers of slices, by their places."""
    return np.concatenate([np.arange(0), *(np.arange(s.start, s.stop) for s in slices)])


def parts_of(sizes: Sequence[int]) -> list[slice]:
    """The slices of consecutive parts of these sizes."""
    ends = np.cumsum(sizes, dtype=int).tolist()
    return [slice(end - size, end) for size, end in zip(sizes, ends, strict=True)]


def replaced(vector: Any, place: slice, new: Any) -> Any:
    """A vector with new values in a slice."""
    return jnp.concatenate([vector[: place.start], new, vector[place.stop :]])


def placed(new: Any, places: np.ndarray, vector: Any) -> Any:
    """A vector with new values in places."""
    index = np.full(len(vector), -1)
    index[places] = np.arange(len(places))
    # A scatter would keep XLA from compiling the loop of transitions as one function.
    return jnp.where(index >= 0, new[index], vector)
