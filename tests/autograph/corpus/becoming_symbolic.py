"""Loops that begin as Python's and go on as the graph's, because a condition becomes symbolic."""

import numpy as np
from tests.autograph.harness import case

X = np.array([0.5, 2.0, -1.0, 4.0, 3.0])


@case(0, 5, 9, 40)
def break_at_a_symbolic_number(k):
    i = 0
    while i < 12:
        if i == k:
            break
        i += 1
    return i


@case(3.0, 0.7, 0.1)
def steps_of_a_symbolic_length(y):
    t, n = 0.0, 0
    while t < 1.03:
        h = 0.1 if y > 0.5 else 0.05
        y = y - h * y
        n += 1
        t = t + h
    return t, y, n


@case((2.5, 4), (0.5, 4), (9.0, 4))
def condition_that_is_python_for_some_trips(x, k):
    i, trips = 0, []
    while i < 3 or i < x:
        trips.append(0)
        i = i + 1 if len(trips) < 3 else i + k
        if len(trips) == 3:
            trips = trips[:2]
    return i


@case(3, 0, -2)
def endless_with_a_break(x):
    while True:
        if x <= 0:
            break
        x = x - 1
    return x


@case((3, 10), (0, 2), (5, 3))
def endless_with_two_jumps(x, limit):
    n = 0
    while True:
        n += 1
        if n > limit:
            return -n, x
        if n % 2:
            continue
        x = x - n
        if x < 0:
            break
    else:
        n = 100
    return n, x


@case(0, 3, 8)
def walrus_in_the_condition(x):
    n = 0
    while (m := n * n) < 30:
        n = n + 1
        if m > x:
            n = n + x + 1
    return n, m


@case((X, 1.0), (X, 3.5), (X, 10.0))
def first_above(x, k):
    for i in range(len(x)):
        if x[i] > k:
            break
    else:
        i = -1
    return i


@case((X, 1.0), (X, 3.5), (X, 10.0))
def backwards_by_two(x, k):
    s = 0.0
    for i in range(4, -1, -2):
        if x[i] < k - 4:
            continue
        if x[i] > k:
            return i, s
        s += i * x[i]
    return -1, s


@case(6, 0, 24, 77)
def both_of_two_loops(k):
    for i in range(4):
        for j in range(7):
            if i * j == k:
                return i, j
    return -1, -1


@case((2, 3), (0, 9), (5, 0))
def inner_loop_alone(a, b):
    found = 0
    for i in range(3):
        for j in range(3):
            if i + j > a:
                break
            found = found + 10 * i + j
        else:
            found = found + 1000
        if found > 100 * b:
            found = found - b
    return found


@case(0.0, 1.0, 2.5, 9.0)
def elements_that_are_no_numbers(k):
    total = 0.0
    for name, size in [("a", 1), ("b", 2), ("c", 3)]:
        if k == size:
            continue
        total = total + np.ones(size).sum() * len(name)
        if total > k:
            break
    return total


@case(0, 1, 2, 5)
def dictionary(k):
    for name, value in {"one": 1, "two": 2, "three": 3}.items():
        if value > k:
            return value * len(name)
    return -1


@case((1.0, 4.0, 0), (0.0, 4.0, 9), (7.0, 3.0, 2))
def pairs_of_lists(x, y, k):
    for i, (a, b) in enumerate(zip([x, y, 1.0], [y, 2.0, x], strict=True), 5):
        if a * b > k:
            return i
    return 0


@case(0, 2, 7)
def last_element(k):
    for i in (4, 7):
        if i > 4 and k > 0:
            break
        if i == k:
            return "never" if i < 0 else 9
    return i


@case(1, 3, 6, 20)
def return_of_a_later_element(k):
    for i, x in enumerate([1, 4, 9]):
        if i == 1:
            if x > k:
                return 100 + i
        elif x > k:
            break
    return x


@case(0, 1, 2, 3)
def nested_in_a_branch(k):
    r = 0
    if k > 0:
        for i in range(1, 4):
            while True:
                r += i
                if r > k:
                    break
            if r > 2 * k:
                break
    return r


@case(-1, 0, 2, 9)
def made_in_the_loop(k):
    i = 0
    while i < 4:
        last = i * 2
        if last > k:
            break
        i += 1
    return last
