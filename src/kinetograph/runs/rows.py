"""Rows of draws: those of a block, and those that are kept in memory."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .state import Block, Where

__all__ = ["Kept", "Rows", "Sink", "joint", "rows_of"]

FIRST = 1000  # rows there is room for where nobody says how many come


class Rows(NamedTuple):
    """Rows of transitions."""

    targets: list[np.ndarray]
    statistics: np.ndarray

    def cut(self, first: int, until: int | None = None) -> "Rows":
        """Some of them, as views."""
        return Rows([t[first:until] for t in self.targets], self.statistics[first:until])

    def copied(self) -> "Rows":
        """Copies of them."""
        return Rows([np.array(t) for t in self.targets], np.array(self.statistics))

    @classmethod
    def joined(cls, parts: Sequence["Rows"]) -> "Rows":
        """One after the other."""
        targets = zip(*(part.targets for part in parts), strict=True)
        joined = [np.concatenate(each) for each in targets]
        return cls(joined, np.concatenate([part.statistics for part in parts]))


def joint(parts: Sequence[np.ndarray]) -> np.ndarray | None:
    """The array of which these are all rows, in their order, if there is one."""
    whole = parts[0].base
    if not isinstance(whole, np.ndarray) or whole.shape != (len(parts), *parts[0].shape):
        return None
    places = [part.__array_interface__["data"][0] for part in whole]
    same = [p.__array_interface__["data"][0] for p in parts] == places
    alike = all(p.base is whole and p.shape == whole.shape[1:] for p in parts)
    return whole if same and alike and whole.size else None


def rows_of(block: Block, count: int | None = None) -> Rows:
    """The rows of a block, as NumPy's views of them."""
    number = int(Where(*np.asarray(block.progress)).rows) if count is None else count
    targets = [np.asarray(values)[:number] for values in block.targets]
    return Rows(targets, np.asarray(block.statistics)[:number])


class Sink:
    """Where the draws of a chain go: nowhere, if it is not said.

    Attributes
    ----------
    count
        How many have come.
    """

    count = 0
    readable = False  # whether they can be had again

    def add(self, rows: Rows) -> None:
        """Take new draws, whose arrays will be overwritten."""
        self.count += len(rows.statistics)

    def rows(self) -> Rows:
        """All that there are."""
        raise NotImplementedError


class Kept(Sink):
    """Draws in memory: with room for all that will come, or as much as it takes.

    They may be read while another thread adds some.
    """

    readable = True

    def __init__(self, blank: Rows, room: int | None, held: Rows | None = None) -> None:
        self._blank = blank
        self._held = _room(blank, FIRST if room is None else room) if held is None else held

    @classmethod
    def side_by_side(cls, blank: Rows, room: int | None, chains: int) -> list["Kept"]:
        """Of some chains: if it is known how many draws come, parts of the same arrays."""
        if room is None:
            return [cls(blank, None) for _ in range(chains)]
        shared = [np.empty((chains, room, *t.shape[1:]), t.dtype) for t in blank.targets]
        apart = Rows([], blank.statistics)
        return [
            cls(blank, room, Rows([array[i] for array in shared], _room(apart, room).statistics))
            for i in range(chains)
        ]

    def add(self, rows: Rows) -> None:
        """Copy new draws."""
        end = self.count + len(rows.statistics)
        if end > len(self._held.statistics):
            larger = _room(self._blank, max(end, 2 * self.count))
            _put(larger, self.rows(), 0)
            self._held = larger
        _put(self._held, rows, self.count)
        self.count = end

    def rows(self) -> Rows:
        """All that there are, as views."""
        return self._held.cut(0, self.count)


def _put(held: Rows, rows: Rows, place: int) -> None:
    end = place + len(rows.statistics)
    held.statistics[place:end] = rows.statistics
    for column, values in zip(held.targets, rows.targets, strict=False):
        column[place:end] = values


def _room(blank: Rows, count: int) -> Rows:
    def more(array: Any) -> np.ndarray:
        return np.empty((count, *array.shape[1:]), array.dtype)

    return Rows([more(t) for t in blank.targets], more(blank.statistics))
