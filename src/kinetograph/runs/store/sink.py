"""The sink of a stored chain, which writes draws in blocks."""

import threading
from collections.abc import Callable, Sequence

import numpy as np

from ..rows import Sink, TransitionRows
from .blocks import BlockFiles

__all__ = ["StoredSink"]

Out = Callable[[TransitionRows, int], list[np.ndarray]]  # from rows to the columns of a walker
Back = Callable[[list[list[np.ndarray]]], TransitionRows]  # from the columns of all walkers to rows


class StoredSink(Sink):
    """A sink that writes draws to disk, one block at a time.

    At most one block of draws is in memory. Another thread may read draws while some are added.
    """

    readable = True

    def __init__(self, places: Sequence[BlockFiles], out: Out, back: Back) -> None:
        self._places, self._columns, self._back = places, out, back
        self.broken = False  # the last rows could not be written
        self._block = [blocks.blank() for blocks in places]  # being filled, for each walker
        self._filled = 0  # rows in the block,
        self._written = 0  # rows of the block on disk,
        self._number = 0  # and the number of the block
        self._lock = threading.RLock()

    @property
    def size(self) -> int:
        """The number of rows of a block."""
        return self._places[0].rows

    def add(self, rows: TransitionRows) -> None:
        """Take new draws, and write the blocks that are full."""
        with self._lock:
            first, count, self.broken = 0, len(rows.statistics), True
            while first < count:
                until = min(count, first + self.size - self._filled)
                self._put(rows.cut(first, until), until - first)
                first = until
                if self._filled == self.size:
                    self.flush()
                    self._number, self._filled, self._written = self._number + 1, 0, 0
            self.count += count
            self.broken = False

    def _put(self, rows: TransitionRows, count: int) -> None:
        end = self._filled + count
        for walker, columns in enumerate(self._block):
            for column, values in zip(columns, self._columns(rows, walker), strict=True):
                column[self._filled : end] = values
        self._filled = end

    def flush(self) -> None:
        """Write the block as far as it is filled."""
        if self._filled == self._written:
            return
        for blocks, columns in zip(self._places, self._block, strict=True):
            for column in columns:
                column[self._filled :] = 0
            blocks.write(self._number, columns)
        self._written = self._filled

    def continue_after(self, count: int) -> None:
        """Continue after `count` draws that are on disk.

        Raises
        ------
        Damaged
            If some of them are missing or damaged.
        """
        for number in range(-(-count // self.size)):
            read = [blocks.read(number) for blocks in self._places]
        self._number, filled = divmod(count, self.size)
        if filled:
            self._block = read
        self._filled = self._written = filled
        self.count = count

    def rows(self, most: int | None = None) -> TransitionRows:
        """The first `most` draws, or all; full blocks are read from disk."""
        with self._lock:
            filled = [[column[: self._filled] for column in columns] for columns in self._block]
            last, count = self._back(filled).copied(), self._number
        needed = count if most is None else min(count, -(-most // self.size))
        parts = [
            self._back([blocks.read(number) for blocks in self._places]) for number in range(needed)
        ]
        return TransitionRows.joined([*parts, *([last] if needed == count else [])]).cut(0, most)
