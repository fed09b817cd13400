"""`for` over kg.range, of both signs, with symbolic bounds, of floats."""

# ruff: noqa: B007

from tests.autograph.harness import case, log

import kinetograph as kg


@case(5, 1, 0)
def range_to_symbolic_stop(n):
    s = 0
    for i in kg.range(n):
        s = s + i
    return s


@case(10, 20)
def range_to_static_stop(x):
    for i in kg.range(3):
        x = x + i
    return x


@case((2, 6), (6, 2), (3, 3))
def range_from_symbolic_start(a, b):
    s = 0
    for i in kg.range(a, b):
        s = 10 * s + i
    return s


@case((0, 10, 3), (10, 0, -3), (0, 10, 20), (5, 5, 1))
def range_with_symbolic_step(a, b, c):
    s, n = 0, 0
    for i in kg.range(a, b, c):
        s = 11 * s + i
        n += 1
    return s, n


@case(4, 0)
def range_downwards(n):
    s = 0
    for i in kg.range(n, 0, -1):
        s = 10 * s + i
    return s


@case(100, 200)
def range_downwards_static(x):
    for i in kg.range(5, -1, -2):
        x = 3 * x + i
    return x


@case((0, 5, 0), raises=ValueError)
def range_with_step_zero(a, b, c):
    s = 0
    for i in kg.range(a, b, c):
        s += i
    return s


@case(1.0, 2.5, 0.0)
def range_of_floats(stop):
    s = 0.0
    for t in kg.range(0.0, stop, 0.5):
        s = s + t
    return s


@case(2.0, 3.0)
def static_range_of_floats(x):
    for t in kg.range(0.0, 1.0, 0.25):
        x = x * 2 + t
    return x


@case((3, 4), (0, 4), (3, 0))
def nested_ranges(n, m):
    s = 0
    for i in kg.range(n):
        for j in kg.range(m):
            s = s + i * j + 1
    return s


@case(4, 1, 0)
def inner_range_depends_on_outer(n):
    s = 0
    for i in kg.range(n):
        for j in kg.range(i):
            s = 2 * s + j
    return s


@case(3, 5)
def python_range_is_unrolled(x):
    for i in range(4):
        x = x + i
    return x


@case((3, 2), (5, 0), static=("n",), staged_log=[0, 1])
def python_range_runs_at_tracing(x, n):
    for i in range(n):
        log(i)
        x = x + i
    return x


@case(4, 0)
def enumerated_range(n):
    s = 0
    for i, k in enumerate(kg.range(n, 0, -1)):
        s = s * 3 + i * k
    return s


@case(([1, 2, 3], 2), ([1, 1, 1], 3), ([1, 2, 3], 9))
def zipped_with_a_range(a, n):
    s = 0
    for x, i in zip(a, kg.range(n)):
        s = s + x * i
    return s


@case(3, 5)
def range_target_after_the_loop(n):
    i = -1
    for i in kg.range(n):
        pass
    return i


@case(0, 3)
def defined_target_survives_no_trips(n):
    i = -1
    for i in kg.range(n):
        pass
    return i


@case(3, staged_raises=(TypeError, "iterating over a 0-d array"))
def range_needed(n):
    s = 0
    for i in [0, 1, 2] if isinstance(n, int) else n:
        s += i
    return s
