"""Where the draws of a stored chain go: to a block, and from there to the disk."""

import threading
from collections.abc import Callable, Sequence

import numpy as np

from ..rows import Rows, Sink
from .blocks import Blocks

__all__ = ["Stored"]

Out = Callable[[Rows, int], list[np.ndarray]]  # the columns of a walker
Back = Callable[[list[list[np.ndarray]]], Rows]  # of all walkers


class Stored(Sink):
    """Draws that are written, a block at a time; no more of them than a block are in memory.

    They may be read while another thread adds some.
    """

    readable = True

    def __init__(self, places: Sequence[Blocks], out: Out, back: Back) -> None:
        self._places, self._columns, self._back = places, out, back
        self.broken = False  # what came last could not be written
        self._block = [blocks.blank() for blocks in places]  # that is being filled
        self._held = 0  # rows of it,
        self._written = 0  # those that are on disk,
        self._number = 0  # and which one it is
        self._lock = threading.RLock()

    @property
    def size(self) -> int:
        """Rows of a block."""
        return self._places[0].rows

    def add(self, rows: Rows) -> None:
        """Take new draws; write the blocks that they fill."""
        with self._lock:
            first, count, self.broken = 0, len(rows.statistics), True
            while first < count:
                until = min(count, first + self.size - self._held)
                self._put(rows.cut(first, until), until - first)
                first = until
                if self._held == self.size:
                    self.flush()
                    self._number, self._held, self._written = self._number + 1, 0, 0
            self.count += count
            self.broken = False

    def _put(self, rows: Rows, count: int) -> None:
        end = self._held + count
        for walker, held in enumerate(self._block):
            for column, values in zip(held, self._columns(rows, walker), strict=True):
                column[self._held : end] = values
        self._held = end

    def flush(self) -> None:
        """Write the block as far as it goes."""
        if self._held == self._written:
            return
        for blocks, held in zip(self._places, self._block, strict=True):
            for column in held:
                column[self._held :] = 0
            blocks.write(self._number, held)
        self._written = self._held

    def go_on(self, count: int) -> None:
        """Begin after so many draws that are on disk.

        Raises
        ------
        Damaged
            If they are not there, or not whole.
        """
        for number in range(-(-count // self.size)):
            read = [blocks.read(number) for blocks in self._places]
        self._number, rest = divmod(count, self.size)
        if rest:
            self._block = read
        self._held = self._written = rest
        self.count = count

    def rows(self) -> Rows:
        """All draws, of which those of full blocks are read."""
        with self._lock:
            held = [[column[: self._held] for column in columns] for columns in self._block]
            last, count = self._back(held).copied(), self._number
        parts = [
            self._back([blocks.read(number) for blocks in self._places]) for number in range(count)
        ]
        return Rows.joined([*parts, last])
