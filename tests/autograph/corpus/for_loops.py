"""`for` over rows of arrays, enumerate, zip, Python's containers."""

# ruff: noqa: B007

import numpy as np
from tests.autograph.harness import case

import kinetograph as kg


@case([1, 2, 3], [4, -5, 6])
def sum_of_elements(v):
    s = 0
    for x in v:
        s = s + x
    return s


@case([1.5, 2.0, 3.0], [4.0, -5.0, 6.0])
def sum_of_float_elements(v):
    s = 0.0
    for x in v:
        s = s + x
    return s


@case(np.array([[1, 2], [3, 4]]), np.array([[0, 1], [5, 6]]))
def rows(t):
    s = 0
    for r in t:
        s = s + r[0] * r[1]
    return s


@case(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[0.5, 1.0], [5.0, 6.0]]))
def rows_of_floats(t):
    s = 0.0
    for r in t:
        s = s + r[0] * r[1]
    return s


@case(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[0.5, 1.0], [5.0, 6.0]]))
def rows_unpacked(t):
    s = 0.0
    for a, b in t:
        s = s * a + b
    return s


@case(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[0.5, 1.0], [5.0, 6.0]]))
def rows_of_rows(t):
    s = 0.0
    for row in t:
        for x in row:
            s = 2 * s + x
    return s


@case(np.zeros((2, 2)), np.ones((2, 2)))
def vector_accumulated(t):
    s = np.zeros(2)
    for r in t:
        s = s + 2 * r
    return s


@case(np.zeros((0,)))
def no_rows(v):
    s = 1.0
    for x in v:
        s = s + x
    return s


@case(np.array([3.0]), np.array([4.0]))
def one_row(v):
    s = 1.0
    for x in v:
        s = s + x
    return s


@case((1, 2, 3), (4, 5, -6))
def python_list_of_symbols(a, b, c):
    s = 0
    for x in [a, b, c]:
        s = s * 2 + x
    return s


@case((1, 2, 3), (4, 5, -6))
def python_tuple_of_symbols(a, b, c):
    s = 0
    for x in (a, b, c):
        s = s * 2 + x
    return s


@case(((1, 2, 3),), ((4, 5, -6),))
def tuple_argument(items):
    s = 0
    for x in items:
        if x > 2:
            s = s + x
    return s


@case((1, 2), (3, -4))
def stacked_list(a, b):
    s = 0
    for x in kg.stack([a, b, a + b]):
        s = 3 * s + x
    return s


@case(1, 2)
def strings_in_python(x):
    for kind in ("double", "increment", "double"):
        if kind == "double":
            x = 2 * x
        else:
            x = x + 1
    return x


@case(2, 3)
def dict_items_in_python(x):
    s = 0
    for key, weight in {"a": 1, "bb": 10}.items():
        s = s + len(key) * weight * x
    return s


@case(2, 3)
def generator_in_python(x):
    def numbers():
        yield 1
        yield 2
        yield 3

    s = 0
    for k in numbers():
        s = s * x + k
    return s


@case(2, 3)
def python_iterator(x):
    s = 0
    for k in iter([3, 4]):
        s = s * x + k
    return s


@case(2, 3)
def python_reversed(x):
    s = 0
    for k in reversed(range(4)):
        s = s * x + k
    return s


@case([1, 2, 3], [3, 2, 1])
def enumerated(v):
    s = 0
    for i, x in enumerate(v):
        s = s + i * x
    return s


@case([1, 2, 3], [3, 2, 1])
def enumerated_from_one(v):
    s = 0
    for i, x in enumerate(v, start=1):
        s = s + i * x
    return s


@case(([1, 2, 3], [4, 5, 6]), ([1, 1, 1], [-1, 5, 2]))
def zipped(a, b):
    s = 0
    for x, y in zip(a, b):
        s = s + x * y
    return s


@case(([1, 2, 3], [4, 5, 6, 7]), ([1, 1, 1], [-1, 5, 2, 1]))
def zipped_to_the_shorter(a, b):
    s = 0
    for x, y in zip(a, b):
        s = s + x * y
    return s


@case(([1, 2, 3], [4, 5, 6]), ([1, 1, 1], [-1, 5, 2]))
def enumerated_zip(a, b):
    s = 0
    for i, (x, y) in enumerate(zip(a, b)):
        s = s + i * x * y
    return s


@case([1, 2, 3], [3, 2, 1])
def zipped_with_a_python_list(v):
    s = 0
    for x, w in zip(v, [10, 20, 30]):
        s = s + x * w
    return s


@case([1, 2, 3], [3, 2, -1])
def mapped(v):
    s = 0
    for y in map(lambda x: x * x, v):
        s = s + y
    return s


@case([1, -2, 3], [-3, -2, -1])
def branch_in_the_body(v):
    positive, negative = 0, 0
    for x in v:
        if x > 0:
            positive = positive + x
        else:
            negative = negative + x
    return positive, negative


@case([3, 1, 2], [1, 2, 3], [2, 2, 2])
def largest(v):
    best, where, i = v[0], 0, 0
    for x in v:
        if x > best:
            best = x
            where = i
        i += 1
    return best, where


@case([3, 1, 2], [1, 2, 3])
def target_after_the_loop(v):
    for x in v:
        pass
    return x


@case([1.0, 2.0, 3.0], [0.5, 0.25, 0.0])
def polynomial_by_horner(coefficients):
    x, y = 1.5, 0.0
    for c in coefficients:
        y = y * x + c
    return y


@case(([1, 2, 3], 2), ([1, 2, 3], 9))
def count_matches(v, wanted):
    n = 0
    for x in v:
        n = n + (x == wanted)
    return n


@case([1, 2, 3], [5, 2, 3])
def slice_of_an_array(v):
    s = 0
    for x in v[1:]:
        s = s * 2 + x
    return s + v[0]


@case([1, 2, 3], [5, 2, 3])
def reversed_array(v):
    s = 0
    for x in v[::-1]:
        s = s * 2 + x
    return s


@case(([1, 2, 3], 0), ([1, 2, 3], 5))
def iterated_variable_is_rebound(v, x):
    for e in v:
        v = e
        x = x + v
    return x


@case((3, 2), (0, 2))
def loop_of_a_comprehension(n, x):
    s = 0
    for i in kg.range(n):
        s = s + sum([i * k for k in range(3)]) * x
    return s
