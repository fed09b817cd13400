"""How many draws a block of a store holds, and what its file contains."""

import numpy as np
import pytest

from kinetograph.runs.rows import TransitionRows
from kinetograph.runs.store.blocks import BlockFiles, Column, block_rows
from kinetograph.runs.store.sink import StoredSink

NARROW = [Column("posterior/mu", np.dtype(float), ())] * 26  # 208 bytes a draw
WIDE = [Column("posterior/theta", np.dtype(float), (100_000,))]


@pytest.mark.parametrize(
    ("columns", "walkers", "draws", "rows"),
    [
        (NARROW, 1, None, 2**22 // 208),
        (NARROW, 1, 10_000_000, 2**22 // 208),
        (NARROW, 24, None, 2**20 // 208),  # of many walkers each block is smaller
        (NARROW, 1, 3000, 3000),  # no block is longer than the draws that are wanted
        (NARROW, 1, 10, 1000),  # but for a few: more may be wanted later
        (WIDE, 1, None, 10),
        ([], 1, None, 40_000),
    ],
)
def test_rows_of_a_block(columns, walkers, draws, rows):
    assert block_rows(columns, walkers, draws) == rows


@pytest.mark.parametrize("chains", [1, 256, 4096, 100_000])
def test_blocks_of_many_chains_are_smaller(chains):
    """All of them are in memory together, but a file has at least 64 KiB."""
    size = 208 * block_rows(NARROW, 1, None, chains)
    assert size <= 2**22
    assert chains * size <= max(2**30, chains * 2**16)
    assert size > 2**22 - 208 or chains > 256


def test_a_block_that_is_filled_in_part_ends_with_zeros(tmp_path):
    """The file has no rows of the block before; the last four bytes are the checksum."""
    column = Column("posterior/x", np.dtype(float), (2,))
    (tmp_path / column.path).mkdir(parents=True)  # blocks are written into an array that exists
    files = BlockFiles(tmp_path, 0, [column], 5)
    sink = StoredSink([files], lambda rows, walker: [rows.statistics], lambda parts: parts)
    draws = np.arange(1.0, 17.0).reshape(8, 2)
    sink.add(TransitionRows([], draws))
    sink.flush()
    blocks = [np.frombuffer(files.path(column, n).read_bytes()[:-4], "<f8") for n in (0, 1)]
    expected = np.concatenate([draws, np.zeros((2, 2))])
    np.testing.assert_array_equal(np.concatenate(blocks).reshape(10, 2), expected)
