"""Blocks of draws as chunks of zarr arrays, written by file: bytes and a CRC-32C.

zarr itself would have each array grow before anything can be written to it, so that readers saw
draws that are not there yet. Reading is zarr's.
"""

import math
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..sealed import Damaged, write_whole

__all__ = ["Blocks", "Column", "block_rows", "chunk_parts", "write_chunk"]

BYTES = 2**22  # of a block of all arrays of a chain, about: making a file costs 0.1 ms and more,
LEAST_BYTES = 2**20  # of that of a walker, of which a chain may have many,
MOST = 40_000  # draws in a block,
FEW = 1000  # and as many as are wanted, but for these: a run may go on to more


class Column(NamedTuple):
    """An array of the store with a row a draw."""

    path: str  # in the store
    dtype: np.dtype
    shape: tuple[int, ...]  # of a row


def block_rows(columns: Sequence[Column], walkers: int = 1, draws: int | None = None) -> int:
    """How many draws a block of a chain, or of one of its walkers, holds."""
    width = sum(c.dtype.itemsize * math.prod(c.shape) for c in columns)
    room = max(BYTES // walkers, LEAST_BYTES) // max(width, 1)
    wanted = MOST if draws is None else max(draws, FEW)
    return min(max(room, 10), wanted, MOST)


def chunk_parts(values: np.ndarray) -> tuple[memoryview, bytes]:
    """The bytes of a chunk of a zarr array, and their checksum."""
    from google_crc32c import value as crc32c

    ordered = np.ascontiguousarray(values, values.dtype.newbyteorder("<"))
    data = ordered.reshape(-1).view(np.uint8)
    return data.data, struct.pack("<I", crc32c(data))


def write_chunk(path: Path, values: np.ndarray) -> None:
    """Write a chunk of a zarr array as a file."""
    parts = chunk_parts(values)
    try:
        write_whole(path, *parts)
    except FileNotFoundError:  # the first chunk of its kind
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, *parts)


class Blocks:
    """The blocks of one place along the axis of chains."""

    def __init__(self, root: Path, place: int, columns: Sequence[Column], rows: int) -> None:
        self.root, self.place, self.columns, self.rows = root, place, tuple(columns), rows

    def path(self, column: Column, number: int) -> Path:
        """The file of a block."""
        rest = ["0"] * len(column.shape)
        return self.root.joinpath(column.path, "c", str(self.place), str(number), *rest)

    def write(self, number: int, values: Sequence[np.ndarray]) -> None:
        """Write the arrays of a block."""
        for column, rows in zip(self.columns, values, strict=True):
            write_chunk(self.path(column, number), rows)

    def blank(self) -> list[np.ndarray]:
        """The arrays of a block, of zeros."""
        return [np.zeros((self.rows, *column.shape), column.dtype) for column in self.columns]

    def read(self, number: int) -> list[np.ndarray]:
        """The arrays of a block.

        Raises
        ------
        Damaged
            If it is not as it was written.
        """
        from google_crc32c import value as crc32c

        found = []
        for column in self.columns:
            path = self.path(column, number)
            name = f"{column.path}, block {number}"
            try:
                data = path.read_bytes()
            except OSError as error:
                raise Damaged(f"{name}: {error.strerror}") from error
            body, checksum = data[:-4], data[-4:]
            dtype = column.dtype.newbyteorder("<")
            size = self.rows * int(np.prod(column.shape, dtype=int)) * dtype.itemsize
            if len(body) != size or struct.pack("<I", crc32c(body)) != checksum:
                raise Damaged(f"{name} is damaged")
            rows = np.frombuffer(body, dtype).reshape((self.rows, *column.shape))
            found.append(rows.astype(column.dtype))
        return found
