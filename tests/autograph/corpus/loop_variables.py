"""Variables that loops make or carry: used after, of changing type."""

# ruff: noqa: B007

import numpy as np
from tests.autograph.harness import case

import kinetograph as kg


@case(3, 1)
def made_in_a_while_and_used_after(n):
    i = 0
    while i < n:
        last = i * 10
        i += 1
    return last


@case(3, 0, raises=UnboundLocalError)
def made_in_a_while_that_may_not_run(n):
    i = 0
    while i < n:
        last = i * 10
        i += 1
    return last


@case(3, 0, raises=UnboundLocalError)
def made_in_a_for_that_may_not_run(n):
    for i in kg.range(n):
        last = i * 10
    return last


@case(3, 0, raises=UnboundLocalError)
def target_of_a_for_that_may_not_run(n):
    for i in kg.range(n):
        pass
    return i


@case([1, 2, 3], [4, 5, 6])
def made_in_a_for_over_rows(v):
    for x in v:
        last = x * 10
    return last


@case(3, 1)
def made_float_and_vector(n):
    i = 0
    while i < n:
        half = i / 2
        pair = (i, half + 1)
        i += 1
    return half, pair


@case(3, 1)
def made_and_carried_on(n):
    i = 0
    while i < n:
        if i == 0:
            acc = 0
        else:
            acc = 5
        acc = acc + i
        i += 1
    return acc


@case(3, 1)
def made_in_both_branches_in_a_loop(n):
    for i in kg.range(n):
        if i % 2 == 0:
            kind = 1
        else:
            kind = 2
    return kind


@case((3, 2), (1, 1))
def made_in_the_inner_loop(n, m):
    for i in kg.range(n):
        for j in kg.range(m):
            product = i * j + i + j
    return product


@case((3, 2), (3, 0), raises=UnboundLocalError)
def made_in_an_inner_loop_that_may_not_run(n, m):
    for i in kg.range(n):
        for j in kg.range(m):
            product = i * j + i
    return product


@case(3, 0)
def made_but_not_used_after(n):
    s = 0
    while n > 0:
        square = n * n
        cube = square * n
        s += cube - square
        n -= 1
    return s


@case(3, 1)
def made_in_a_loop_before_another(n):
    i = 0
    while i < n:
        size = i + 2
        i += 1
    s = 0
    while s < size:
        s += 2
    return s, size


@case(3, staged_raises=(ValueError, "'acc' must be defined before the loop"))
def carried_but_not_defined(n):
    i = 0
    while i < n:
        if i > 0:
            acc = acc + i  # noqa: F821
        else:
            acc = acc if i > 5 else 1
        i += 1
    return acc


@case(3, 0, promotes=True)
def integer_becomes_float(n):
    x = 0
    while n > 0:
        x = x + 0.5
        n -= 1
    return x


@case(3, 1, promotes=True)
def integer_becomes_float_by_division(n):
    x = 100
    for i in kg.range(n):
        x = x / 2
    return x


@case(3, 0, promotes=True)
def chain_of_promotions(n):
    a, b, c = 0, 1, 2
    i = 0
    while i < n:
        a, b, c = b, c, c + 0.5
        i += 1
    return a, b, c


@case((3, 2), (0, 2), promotes=True)
def promotion_in_nested_loops(n, m):
    x = 1
    for i in kg.range(n):
        for j in kg.range(m):
            x = x * 1.5
    return x


@case((3, 2), staged_raises=(TypeError, "'x' has dtype int64 before the loop, but dtype float64"))
def array_becomes_float(x, n):
    while n > 0:
        x = x * 0.5
        n -= 1
    return x


@case(
    (np.array([1.0]), 2),
    staged_raises=(ValueError, r"'t' has shape \(1,\) before the loop, but shape \(2,\) after"),
)
def shape_changes(t, n):
    while n > 0:
        t = np.concatenate([t, t])
        n -= 1
    return t


@case((1.5, 4), (1.5, 0))
def float_and_integer_carried(x, n):
    k = 0
    while k < n:
        x = x * 0.5 + k
        k = k + 1
    return x, k


@case(3, 0)
def boolean_from_a_comparison_carried(n):
    positive = False
    while n > 0:
        positive = n > 1
        n -= 2
    return positive
