import jax.numpy as jnp
import numpy as np
import pytest

import kinetograph as kg
from kinetograph.graph.numerics.integers import cast, floor_divide, power, remainder
from kinetograph.graph.operations.elementwise import elementwise
from kinetograph.graph.precision import x64

TYPES = ("int64", "int32", "uint8")
A = np.array([7, 0, 3, 100])
B = np.array([0, 0, 2, 1])


def test_values_by_zero_are_numpys():
    with x64(), np.errstate(all="ignore"):
        for t in TYPES:
            a, b = A.astype(t), B.astype(t)
            np.testing.assert_array_equal(floor_divide(jnp.asarray(a), b), a // b)
            np.testing.assert_array_equal(remainder(a, b), a % b)


def test_negative_powers_are_cut_to_whole_numbers():
    base, exponent = np.array([3, 1, -1, -1, -2, 0, 5]), np.array([-2, -7, -3, -2, -1, -1, 2])
    with x64():
        np.testing.assert_array_equal(power(base, exponent), [0, 1, -1, 1, 0, 0, 25])


def test_nan_becomes_no_plausible_number():
    x = np.array([np.nan, 2.7])
    with x64():
        for t in TYPES:
            found = np.asarray(cast(jnp.asarray(x), dtype=np.dtype(t)))
            limits = np.iinfo(t)
            assert found.tolist() == [limits.max if t == "uint8" else limits.min, 2]


@kg.function
def divided(x, y):
    return x // y


@kg.function
def rest(x, y):
    return x % y


@kg.function
def raised(x, y):
    return x**y


@pytest.mark.parametrize(
    ("function", "error", "text"),
    [
        (divided, ZeroDivisionError, r"integer division by zero: x // y.*test_integers.*kg.where"),
        (rest, ZeroDivisionError, r"integer division by zero: x % y"),
        (raised, ValueError, r"negative power of a whole number: x \*\* y.*float"),
    ],
)
def test_what_has_no_answer_is_an_error_when_it_runs(function, error, text):
    bad = -2 if error is ValueError else 0
    assert int(function(7, 2)) in (3, 1, 49)
    with pytest.raises(error, match=text):
        function(3, bad)


def test_divisors_that_become_zero_in_a_loop():
    @kg.function
    def greatest_divisor(a, b, spare):
        while b > spare:
            a, b = b, a % b
        return a

    assert int(greatest_divisor(12, 18, 0)) == 6
    with pytest.raises(ZeroDivisionError):
        greatest_divisor(12, 18, -1)


def test_branches_that_are_not_taken_divide_by_nothing():
    @kg.function
    def safe(a, b):
        return a // b if b != 0 else -1

    assert [int(safe(7, b)) for b in (2, 0)] == [3, -1]


def test_what_is_known_is_an_error_at_once():
    n = kg.placeholder((2,), int, name="n")
    for make in (lambda: n // 0, lambda: n % np.array([1, 0]), lambda: 1 // kg.data([0, 1])):
        with pytest.raises(ZeroDivisionError, match="integer division by zero"):
            make()
    with pytest.raises(ValueError, match="negative power"):
        n ** np.array([1, -1])
    with pytest.raises(kg.SymbolicError, match="negative integer powers"):
        n**-1
    assert (n / 0).dtype == float
    assert elementwise("floor_divide", n.astype(float), 0).dtype == float


def test_powers_wrap_around_for_exponents_of_any_size():
    bases = np.array([3, -2, 2, 2, -1, 5, 0, 7])
    exponents = np.array([100, 67, 63, 64, 2**63 - 1, 2**40 + 3, 0, 1])
    wanted = [
        (pow(int(x), int(y), 2**64) + 2**63) % 2**64 - 2**63 for x, y in zip(bases, exponents)
    ]
    with x64():
        np.testing.assert_array_equal(power(bases, exponents), wanted)
        unsigned = power(bases.astype(np.uint64), exponents.astype(np.uint64) | np.uint64(2**63))
        odd = [pow(int(x) % 2**64, int(y) | 2**63, 2**64) for x, y in zip(bases, exponents)]
        np.testing.assert_array_equal(unsigned, np.array(odd, np.uint64))
        narrow = power(np.array([[3], [2]], np.uint8), np.array([5, 70], np.uint8))
        np.testing.assert_array_equal(narrow, [[243, pow(3, 70, 256)], [32, 0]])
    assert kg.compile([], kg.data([3]) ** 100)() == np.array([3]) ** 100
