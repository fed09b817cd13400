"""The tables of NumPy's and SciPy's functions."""

import numpy as np

from kinetograph.graph.numpy import curves, elements, matrices, protocol, reductions, shapes

TABLES = {
    "curves": curves.CURVES,
    "elements": elements.ELEMENTS,
    "matrices": matrices.MATRICES,
    "reductions": reductions.REDUCTIONS,
    "shapes": shapes.SHAPES,
}


def test_no_function_stands_in_two_tables():
    assert sum(map(len, TABLES.values())) == len({f for table in TABLES.values() for f in table})


def test_a_function_that_is_in_no_table_is_refused():
    assert not protocol.is_available(np.busday_count)
    assert protocol.is_available(np.sum)
