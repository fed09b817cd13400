"""How many draws a block of a store holds."""

import numpy as np
import pytest

from kinetograph.runs.store.blocks import Column, block_rows

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
