"""Blocks of draws as chunks of zarr arrays, with a CRC-32C.

The files are written directly. With zarr an array would have to grow before anything can be written
to it, and readers would see draws that do not exist yet. Readers use zarr.
"""

import math
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...programs.sealed_files import Damaged, write_whole

__all__ = ["BlockFiles", "Column", "block_rows", "chunk_parts", "row_bytes", "write_chunk"]

BYTES = 2**22  # about, of a block of all arrays of a chain: making a file costs at least 0.1 ms,
LEAST_BYTES = 2**20  # and of a block of one walker, as there may be many,
ALL_BYTES = 2**30  # and of the blocks of all chains, which are in memory together,
SMALL_BYTES = 2**16  # but at least this much of each chain's block,
MOST = 40_000  # the largest number of draws in a block,
FEW = 1000  # and the least, even if fewer are requested: a run may be extended


class Column(NamedTuple):
    """An array of the store with a row for each draw."""

    path: str  # the path in the store
    dtype: np.dtype
    shape: tuple[int, ...]  # the shape of a row


def row_bytes(columns: Sequence[Column]) -> int:
    """The bytes of a draw in these arrays."""
    return sum(c.dtype.itemsize * math.prod(c.shape) for c in columns)


def block_rows(
    columns: Sequence[Column], walkers: int = 1, draws: int | None = None, chains: int = 1
) -> int:
    """The number of draws in a block of a chain or walker.

    `chains` is the number of chains that a process runs together, which may be 0.
    """
    together = max(chains, 1) * walkers
    most = min(max(BYTES // walkers, LEAST_BYTES), max(ALL_BYTES // together, SMALL_BYTES))
    fitting = most // max(row_bytes(columns), 1)
    requested = MOST if draws is None else max(draws, FEW)
    return min(max(fitting, 10), requested, MOST)


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
    except FileNotFoundError:  # the first chunk of an array
        array = path.parents[path.parts[::-1].index("c")]
        if not array.exists():  # the store has been moved
            raise
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, *parts)


class BlockFiles:
    """The blocks of one position along the axis of chains."""

    def __init__(self, root: Path, place: int, columns: Sequence[Column], rows: int) -> None:
        self.root, self.place, self.columns, self.rows = root, place, tuple(columns), rows

    def path(self, column: Column, number: int) -> Path:
        """The file of a block."""
        zeros = ["0"] * len(column.shape)
        return self.root.joinpath(column.path, "c", str(self.place), str(number), *zeros)

    def write(self, number: int, values: Sequence[np.ndarray]) -> None:
        """Write the arrays of a block."""
        for column, rows in zip(self.columns, values, strict=True):
            write_chunk(self.path(column, number), rows)

    def blank(self) -> list[np.ndarray]:
        """The arrays of a block, filled with zeros."""
        return [np.zeros((self.rows, *column.shape), column.dtype) for column in self.columns]

    def read(self, number: int) -> list[np.ndarray]:
        """The arrays of a block.

        Raises
        ------
        Damaged
            If a file is damaged or missing.
        """
        from google_crc32c import value as crc32c

        arrays = []
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
            arrays.append(rows.astype(column.dtype))
        return arrays
