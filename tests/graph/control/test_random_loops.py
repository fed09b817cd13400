"""Random loops over buffers: value, gradients and Hessian agree with plain Python."""

import pytest
from tests.graph.control.random_loops import agree, program


def check(numbers, twice):
    for number in numbers:
        source, size = program(number)
        try:
            agree(source, size, number % 6, twice(number))
        except Exception as error:
            error.add_note(f"program {number}:\n{source}")
            raise


@pytest.mark.parametrize("first", range(0, 24, 6))
def test_24_random_loops(first):
    """Check value and gradients, and all derivatives for one program in six."""
    check(range(first, first + 6), lambda number: number % 6 == first // 6)


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("first", range(0, 2000, 100))
def test_2000_random_loops(first):
    check(range(first, first + 100), lambda _: True)
