"""Which array of a likelihood has an axis of length 1, and how to write it."""

import numpy as np
import pytest

import kinetograph as kg

COLUMN, ROW, ONE = np.ones((4, 1)), np.ones((1, 4)), np.ones((1, 1))


def unknown(*shape):
    return kg.normal(0, 1, shape=shape, name="b")


CASES = {
    "a column": (lambda: kg.normal(unknown(4, 1), 1), "b has an axis of length 1: write b[:, 0]."),
    "a row": (lambda: kg.normal(unknown(1, 4), 1), "b has an axis of length 1: write b[0, :]."),
    "an expression": (
        lambda: kg.normal(COLUMN * unknown(), 1),
        "COLUMN * b has an axis of length 1: write (COLUMN * b)[:, 0].",
    ),
    "two parameters": (
        lambda: kg.normal(unknown(4), COLUMN),
        "b has shape (4,) and COLUMN has shape (4, 1), which together make (4, 4): write "
        "COLUMN[:, 0].",
    ),
    "the first of two parameters": (
        lambda: kg.normal(COLUMN, kg.exp(unknown(4))),
        "COLUMN has shape (4, 1) and exp(b) has shape (4,), which together make (4, 4): write "
        "COLUMN[:, 0].",
    ),
    "two operands": (
        lambda: kg.normal(kg.exp(2.0 * (unknown(4) - COLUMN)), 1),
        "b has shape (4,) and COLUMN has shape (4, 1), which together make (4, 4): write "
        "COLUMN[:, 0].",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_an_axis_of_length_1(case):
    make, advice = CASES[case]
    with pytest.raises(kg.ShapeError) as caught:
        kg.observe(np.zeros(4), make())
    assert str(caught.value).endswith(f"  {advice}")


def test_a_matrix_of_one_number():
    with pytest.raises(kg.ShapeError, match=r"b has an axis of length 1: write b\[:, 0\]"):
        kg.observe([1.0], kg.normal(unknown(1, 1), 1))


def test_shapes_without_advice():
    """No axis of length 1 is the reason."""
    for make in (
        lambda: kg.normal(unknown(3), 1),
        lambda: kg.normal(unknown(3), COLUMN),
        lambda: kg.normal(unknown(4, 3) @ np.ones((3, 4)), 1),
    ):
        with pytest.raises(kg.ShapeError, match=r"broadcast to the shape of the data\.$"):
            kg.observe(np.zeros(4), make())


def test_a_column_of_a_data_frame():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"y": np.zeros(4)})
    with pytest.raises(kg.ShapeError, match=r"observe the column, as in df\['y'\]\.$"):
        kg.observe(frame[["y"]], kg.normal(unknown(4), 1))
