"""`continue` in both loops, nested, with `break`, in `with` and `try`."""

import contextlib

from tests.autograph.harness import case

import kinetograph as kg


@case((6, 2), (6, 5), (0, 2))
def continue_in_a_while(n, skip):
    s, i = 0, 0
    while i < n:
        i += 1
        if i == skip:
            continue
        s += i
    return s


@case((6, 2), (6, 5), (0, 2))
def continue_in_a_for(n, skip):
    s = 0
    for i in kg.range(n):
        if i == skip:
            continue
        s = s + i
    return s


@case(([1, -2, 3, -4],), ([-1, -2, -3, -4],), ([1, 2, 3, 4],))
def continue_over_rows(v):
    s = 0
    for x in v:
        if x < 0:
            continue
        s = s + x
    return s


@case(10, 0)
def continue_at_once(n):
    s = 0
    for i in kg.range(n):
        s += i
        continue
    return s


@case(12, 5)
def two_continues(n):
    s = 0
    for i in kg.range(n):
        if i % 2 == 0:
            continue
        s += 1
        if i % 3 == 0:
            continue
        s += 10
    return s


@case(12, 5)
def continue_in_the_else_branch(n):
    s = 0
    for i in kg.range(n):
        if i % 3 == 0:
            s += 100
        else:
            continue
        s += 1
    return s


@case(12, 5)
def continue_in_a_nested_if(n):
    s = 0
    for i in kg.range(n):
        if i % 2 == 0:
            if i % 3 == 0:
                continue
            s += 10
        s += 1
    return s


@case(5, 2)
def continue_of_the_inner_loop(n):
    s = 0
    for i in kg.range(n):
        for j in kg.range(n):
            if i == j:
                continue
            s = s + i - j + 10
        s = s * 2
    return s


@case((5, 3), (2, 0))
def continue_of_the_outer_loop(n, k):
    s = 0
    for i in kg.range(n):
        if i == k:
            continue
        for j in kg.range(i):
            s = s + j + 1
    return s


@case((12, 7), (4, 7), (12, 2))
def break_and_continue(n, stop):
    s = 0
    for i in kg.range(n):
        if i % 2 == 0:
            continue
        if i > stop:
            break
        s = s + i
    return s


@case((12, 7), (4, 7), (12, 1))
def break_then_continue_in_a_while(n, stop):
    s, i = 0, 0
    while i < n:
        i += 1
        if i > stop:
            break
        if i % 3 == 0:
            continue
        s += i
    return s, i


@case((6, 4), (6, 20), (1, 4))
def break_and_continue_in_nested_loops(n, limit):
    s = 0
    for i in kg.range(n):
        if i == 1:
            continue
        for j in kg.range(n):
            if j == 2:
                continue
            if j > i:
                break
            s = s + 1
        if s > limit:
            break
    return s


@case(5, 20)
def python_continue_in_a_python_loop(x):
    for i in range(6):
        if i % 2:
            continue
        x = x * 2 + i
    return x


@case(1, 5)
def symbolic_continue_in_a_python_loop(x):
    s = 0
    for i in range(4):
        if x > i:
            continue
        s = s + i
    return s


@case((6, True), (6, False), static=("skip",))
def python_continue_in_a_symbolic_loop(n, skip):
    s = 0
    for i in kg.range(n):
        s = s + i
        if skip:
            continue
        s = s * 2
    return s


@case((6, 3), (6, 9))
def continue_in_with(n, k):
    s = 0
    for i in kg.range(n):
        with contextlib.nullcontext():
            if i == k:
                continue
            s = s + i
        s = s + 1
    return s


@case((6, 3), (6, 9))
def continue_in_try(n, k):
    s = 0
    for i in kg.range(n):
        try:
            if i == k:
                continue
            s = s + i
        finally:
            s = s + 100
    return s


@case(3, 0)
def names_like_the_generated_ones(n):
    break_, continue_, do_return, retval_ = 1, 2, 3, 4
    while n > 0:
        n -= 1
        if n == 1:
            continue
        if n == 5:
            break
        break_ += 1
    return break_, continue_, do_return, retval_


@case((30, 5), (30, 50))
def first_prime_above(n, k):
    found = 0
    for i in kg.range(2, n):
        if i <= k:
            continue
        composite = False
        for d in kg.range(2, i):
            if i % d == 0:
                composite = True
                break
        if composite:
            continue
        found = i
        break
    return found
