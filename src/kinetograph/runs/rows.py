"""Rows of draws: views of a block, and sinks in memory."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..programs.state import Block, Where

__all__ = ["MemorySink", "TransitionRows", "Sink", "joint", "rows_of"]

FIRST = 1000  # rows allocated first, if the number of draws is not known


class TransitionRows(NamedTuple):
    """Rows of transitions."""

    targets: list[np.ndarray]
    statistics: np.ndarray

    def cut(self, first: int, until: int | None = None) -> "TransitionRows":
        """The rows `first` to `until`, as views."""
        return TransitionRows([t[first:until] for t in self.targets], self.statistics[first:until])

    def copied(self) -> "TransitionRows":
        """Copies of the rows."""
        return TransitionRows([np.array(t) for t in self.targets], np.array(self.statistics))

    @classmethod
    def joined(cls, parts: Sequence["TransitionRows"]) -> "TransitionRows":
        """The rows of all parts, one part after the other."""
        targets = zip(*(part.targets for part in parts), strict=True)
        joined = [np.concatenate(each) for each in targets]
        return cls(joined, np.concatenate([part.statistics for part in parts]))


def joint(parts: Sequence[np.ndarray]) -> np.ndarray | None:
    """The array whose rows are these parts, in their order.

    None if there is no such array.
    """
    shared = parts[0].base
    if not isinstance(shared, np.ndarray) or shared.shape != (len(parts), *parts[0].shape):
        return None
    places = [part.__array_interface__["data"][0] for part in shared]
    in_order = [p.__array_interface__["data"][0] for p in parts] == places
    are_rows = all(p.base is shared and p.shape == shared.shape[1:] for p in parts)
    return shared if in_order and are_rows and shared.size else None


def rows_of(block: Block, count: int | None = None) -> TransitionRows:
    """The rows of a block, as NumPy views of its arrays."""
    rows = int(Where(*np.asarray(block.progress)).rows) if count is None else count
    targets = [np.asarray(values)[:rows] for values in block.targets]
    return TransitionRows(targets, np.asarray(block.statistics)[:rows])


class Sink:
    """A receiver of draws; this base class only counts them.

    Attributes
    ----------
    count
        The number of draws received.
    """

    count = 0
    readable = False  # whether `rows` can return the draws

    def add(self, rows: TransitionRows) -> None:
        """Receive new draws, whose arrays will be overwritten afterwards."""
        self.count += len(rows.statistics)

    def rows(self, most: int | None = None) -> TransitionRows:
        """The first `most` draws received, or all."""
        raise NotImplementedError


class MemorySink(Sink):
    """A sink that keeps draws in memory.

    It has room for a given number of draws, or grows as needed. Another thread may read draws while
    some are added.
    """

    readable = True

    def __init__(
        self, blank: TransitionRows, room: int | None, buffer: TransitionRows | None = None
    ) -> None:
        self._blank = blank
        self._buffer = _room(blank, FIRST if room is None else room) if buffer is None else buffer

    @classmethod
    def side_by_side(
        cls, blank: TransitionRows, room: int | None, chains: int
    ) -> list["MemorySink"]:
        """The sinks of some chains.

        If the number of draws is known, the sinks share arrays, in which each chain has a part.
        """
        if room is None:
            return [cls(blank, None) for _ in range(chains)]
        shared = [np.empty((chains, room, *t.shape[1:]), t.dtype) for t in blank.targets]
        apart = TransitionRows([], blank.statistics)
        return [
            cls(
                blank,
                room,
                TransitionRows([array[i] for array in shared], _room(apart, room).statistics),
            )
            for i in range(chains)
        ]

    def add(self, rows: TransitionRows) -> None:
        """Copy new draws."""
        end = self.count + len(rows.statistics)
        if end > len(self._buffer.statistics):
            larger = _room(self._blank, max(end, 2 * self.count))
            _put(larger, self.rows(), 0)
            self._buffer = larger
        _put(self._buffer, rows, self.count)
        self.count = end

    def rows(self, most: int | None = None) -> TransitionRows:
        """The first `most` draws, or all, as views."""
        return self._buffer.cut(0, self.count if most is None else min(most, self.count))


def _put(buffer: TransitionRows, rows: TransitionRows, place: int) -> None:
    end = place + len(rows.statistics)
    buffer.statistics[place:end] = rows.statistics
    for column, values in zip(buffer.targets, rows.targets, strict=False):
        column[place:end] = values


def _room(blank: TransitionRows, count: int) -> TransitionRows:
    def empty(array: Any) -> np.ndarray:
        return np.empty((count, *array.shape[1:]), array.dtype)

    return TransitionRows([empty(t) for t in blank.targets], empty(blank.statistics))
